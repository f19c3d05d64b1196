//! Checks calls of functions in values of TOSCA 2.0 (section 10).

use super::by;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity, closest};
use crate::tosca::types::scope::{Links, Scopes};
use crate::tosca::v2_0::function::{BuiltIn, FUNCTIONS};
use crate::tosca::v2_0::{called, called_as_key, function_name};
use crate::tosca::value::{DataTypes, Schema, check_value};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Node, NodeKind};
use rustc_hash::FxHashMap;

/// The functions that files declare (section 10.4).
pub(super) struct DeclaredFunctions<'t, 'a, 'd> {
    types: &'t dyn DataTypes<'a>,
    scopes: Scopes,
    /// The declarations by name, each with the position of its file.
    declared: FxHashMap<&'d str, Vec<(usize, Node<'d>)>>,
}

impl<'t, 'a, 'd> DeclaredFunctions<'t, 'a, 'd> {
    /// The functions that these files declare, and their service templates.
    pub(super) fn of(
        documents: &[&'d Document],
        links: &Links,
        types: &'t dyn DataTypes<'a>,
    ) -> Self {
        let files: Vec<FileId> = documents.iter().map(|document| document.file()).collect();
        let mut declared: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (position, document) in documents.iter().enumerate() {
            let root = document.root();
            let places = [Some(root), root.get("topology_template")];
            let all = places.into_iter().flatten().filter_map(|it| it.get("functions"));
            for (key, definition) in all.flat_map(Node::entries) {
                let name = key.text().unwrap_or_default();
                declared.entry(name).or_default().push((position, definition));
            }
        }
        Self { types, scopes: Scopes::of(&files, links), declared }
    }

    /// The declaration that a name in a file means; behind the namespace of an import, one of the
    /// imported file.
    fn find(&self, file: FileId, name: &str) -> Option<Node<'d>> {
        let known = |name: &str| self.declared.get(name).into_iter().flatten().copied();
        self.scopes.find(Some(file), name, known)
    }

    /// What files see of each other.
    pub(super) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Checks all calls in a value.
    pub(super) fn check(&self, node: Node<'_>, found: &mut Vec<Diagnostic>) {
        match node.kind() {
            NodeKind::Scalar => {
                if let Some(name) = node.as_str().and_then(function_name) {
                    self.call(node, name, None, found);
                }
            }
            NodeKind::Sequence => node.items().for_each(|item| self.check(item, found)),
            NodeKind::Mapping => {
                let is_call = called(node).is_some();
                for (key, value) in node.entries() {
                    self.key(key, found);
                    match key.as_str().and_then(function_name) {
                        Some(name) if is_call => self.call(key, name, Some(value), found),
                        // `$f$1` as a key is the value of a call.
                        Some(name) if !name.contains('$') => found.push(beside_others(key, name)),
                        _ => {}
                    }
                    self.check(value, found);
                }
            }
        }
    }

    /// Checks a call that stands in place of a key.
    fn key(&self, key: Node<'_>, found: &mut Vec<Diagnostic>) {
        let Some((name, arguments)) = called_as_key(key) else { return };
        self.call(key, name, arguments, found);
        arguments.into_iter().for_each(|arguments| self.check(arguments, found));
    }

    fn call(
        &self,
        at: Node<'_>,
        name: &str,
        arguments: Option<Node<'_>>,
        found: &mut Vec<Diagnostic>,
    ) {
        let count = arguments.map_or(0, |it| match it.kind() {
            NodeKind::Sequence => it.items().len(),
            _ => 1,
        });
        let bounds = match self.find(at.document().file(), name) {
            Some(definition) => match self.refused(definition, arguments) {
                Some(refused) => return found.push(refused_call(at, name, &refused)),
                None => return,
            },
            None => match BuiltIn::named(name) {
                Some(function) => (function.least, function.most),
                None => return found.push(undeclared(at, name)),
            },
        };
        let (least, most) = bounds;
        if (least..=most).contains(&count) {
            return;
        }
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, usize::MAX) => format!("{least} or more"),
            (least, most) => format!("{least} to {most}"),
        };
        let message = format!("`${name}` takes {wanted} arguments, not {count}");
        let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
        found.push(by(error, "10"));
    }
}

fn beside_others(key: Node<'_>, name: &str) -> Diagnostic {
    let message = format!("`${name}` calls a function, and other keys stand beside it");
    let error = Diagnostic::error(Code::InvalidFunction, message).at(key.span());
    by(error.help(format!("write `$${name}` where a key is meant")), "10.1")
}

fn undeclared(at: Node<'_>, name: &str) -> Diagnostic {
    let message = format!("no function `{name}` is declared, so nothing is known of its value");
    let meant = closest(name, FUNCTIONS.iter().map(|it| it.name));
    let meant = meant.map(|meant| format!("did you mean `${meant}`?"));
    let warning = Diagnostic::warning(Code::InvalidFunction, message).at(at.span());
    by(warning.help("declare it under `functions`").help_opt(meant), "10.2")
}

fn refused_call(at: Node<'_>, name: &str, why: &str) -> Diagnostic {
    let message = format!("no signature of `${name}` takes these arguments: {why}");
    by(Diagnostic::error(Code::InvalidFunction, message).at(at.span()), "10.4")
}

impl DeclaredFunctions<'_, '_, '_> {
    /// Why no signature of a function takes these arguments; `None` if one takes them. Signatures
    /// are tried in order.
    fn refused(&self, definition: Node<'_>, arguments: Option<Node<'_>>) -> Option<String> {
        let arguments: Vec<_> = match arguments {
            Some(list) if list.kind() == NodeKind::Sequence => list.items().collect(),
            one => one.into_iter().collect(),
        };
        let signatures = definition.get("signatures")?.items();
        let mut refusals = signatures.map(|signature| self.refusal(signature, &arguments));
        // A function without signatures is wrong in another place.
        let first = refusals.next()??;
        refusals.all(|refusal| refusal.is_some()).then_some(first)
    }

    /// Why a signature does not take these arguments.
    fn refusal(&self, signature: Node<'_>, arguments: &[Node<'_>]) -> Option<String> {
        let listed = |keyname| signature.get(keyname).into_iter().flat_map(Node::items);
        let least = listed("arguments").count();
        let schemas: Vec<_> = listed("arguments").chain(listed("optional_arguments")).collect();
        let is_variadic = signature.get("variadic").and_then(Node::as_bool) == Some(true);
        let count = arguments.len();
        if count < least || count > schemas.len() && !is_variadic {
            return Some(format!(
                "it takes {}, not {count}",
                counted(least, schemas.len(), is_variadic)
            ));
        }
        // The last schema holds for all further arguments.
        let of = |at: usize| schemas.get(at).or(schemas.last()).copied();
        arguments.iter().enumerate().find_map(|(at, argument)| {
            let schema = Schema::read(of(at)?, &mut Diagnostics::default());
            let found = check_value(*argument, &schema, self.types);
            let wrong = found.diagnostics.into_iter().find(|it| it.severity == Severity::Error)?;
            Some(wrong.message)
        })
    }
}

fn counted(least: usize, most: usize, is_variadic: bool) -> String {
    match (least, most) {
        _ if is_variadic => format!("{least} or more"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}
