//! Checks calls of functions in values of TOSCA 2.0 (section 10).

use super::by;
use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics, Severity, closest};
use crate::tosca::types::scope::{Links, Scopes};
use crate::tosca::v2_0::function::{ALLOCATION, BuiltIn, FUNCTIONS};
use crate::tosca::v2_0::{called, called_as_key, function_name, listed};
use crate::tosca::value::{DataTypes, Primitive, Schema, check_value};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Node, NodeKind};
use rustc_hash::FxHashMap;

/// The functions that files declare (section 10.4).
pub(in crate::validate) struct DeclaredFunctions<'d> {
    scopes: Scopes,
    /// The declarations by name, each with the position of its file.
    declared: FxHashMap<&'d str, Vec<(usize, Node<'d>)>>,
    /// The declarations in service templates, which may refine others.
    refining: FxHashMap<&'d str, Vec<(usize, Node<'d>)>>,
}

/// Checks calls of functions, whose arguments are of these types.
pub(super) struct CallChecker<'t, 'a, 'd> {
    pub(super) types: &'t dyn DataTypes<'a>,
    pub(super) functions: DeclaredFunctions<'d>,
}

impl<'d> DeclaredFunctions<'d> {
    /// The functions that these files declare, and their service templates.
    pub(in crate::validate) fn of(documents: &[&'d Document], links: &Links) -> Self {
        let files: Vec<FileId> = documents.iter().map(|document| document.file()).collect();
        let of = |place: fn(Node<'d>) -> Option<Node<'d>>| {
            let mut all: FxHashMap<_, Vec<_>> = FxHashMap::default();
            for (position, document) in documents.iter().enumerate() {
                let functions = place(document.root()).and_then(|it| it.get("functions"));
                for (key, definition) in functions.into_iter().flat_map(Node::entries) {
                    let name = key.text().unwrap_or_default();
                    all.entry(name).or_default().push((position, definition));
                }
            }
            all
        };
        let declared = of(Some);
        let refining = of(|root| root.get("topology_template"));
        Self { scopes: Scopes::of(&files, links), declared, refining }
    }

    /// The signatures of the function that a name in a file means; behind the namespace of an import,
    /// one of the imported file. Those that a service template adds come last (section 10.4).
    pub(in crate::validate) fn find(&self, file: FileId, name: &str) -> Option<Vec<Node<'d>>> {
        let [declared, refining] = [&self.declared, &self.refining].map(|all| {
            let known = |name: &str| all.get(name).into_iter().flatten().copied();
            self.scopes.find(Some(file), name, known)
        });
        let mut signatures: Vec<_> = declared.into_iter().flat_map(signatures).collect();
        let more = refining.into_iter().flat_map(self::signatures).skip(signatures.len());
        let more: Vec<_> = more.collect();
        signatures.extend(more);
        declared.or(refining).map(|_| signatures)
    }
}

impl CallChecker<'_, '_, '_> {
    /// Checks the types in signatures, and that service templates only refine how functions are
    /// implemented.
    pub(super) fn definitions(&self, found: &mut Vec<Diagnostic>) {
        for definition in
            self.functions.declared.values().chain(self.functions.refining.values()).flatten()
        {
            for schema in signatures(definition.1).flat_map(schemas) {
                self.schema_type(schema, found);
            }
        }
        let built_in = self.functions.declared.iter().filter(|it| BuiltIn::named(it.0).is_some());
        for (name, (_, definition)) in
            built_in.flat_map(|(name, all)| all.iter().map(move |it| (name, it)))
        {
            let message = format!("`${name}` calls the function that TOSCA has, and not this one");
            let warning = Diagnostic::warning(Code::InvalidDefinition, message);
            let warning = warning.at(definition.span()).help("give this function another name");
            found.push(by(warning, "10.2"));
        }
        for (_, definition) in self.functions.declared.values().flatten() {
            let is_empty = |it: &Node<'_>| it.items().len() == 0 && it.entries().len() == 0;
            if let Some(none) = definition.get("signatures").filter(is_empty) {
                let message = "a function has at least one signature";
                let error = Diagnostic::error(Code::InvalidDefinition, message).at(none.span());
                let help = "an empty one takes no arguments: `signatures: [{}]`";
                found.push(by(error.help(help), "10.4"));
            }
        }
        for (name, (_, definition)) in self
            .functions
            .refining
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |it| (name, it)))
        {
            let file = definition.document().file();
            let known =
                |name: &str| self.functions.declared.get(name).into_iter().flatten().copied();
            let declared = self.functions.scopes.find(Some(file), name, known);
            let there = declared.map_or(0, |it| signatures(it).count());
            let refined = signatures(*definition).count();
            if refined < there {
                let message = format!(
                    "the function `{name}` has {there} signatures, and this refines {refined}"
                );
                let warning = Diagnostic::warning(Code::InvalidRefinement, message);
                let at = definition.get("signatures").unwrap_or(*definition);
                let help = "add an empty one, `{}`, for each that stays as it is";
                found.push(by(warning.at(at.span()).help(help), "10.4"));
            }
            let pairs = signatures(*definition).zip(declared.into_iter().flat_map(signatures));
            for (keyname, own, before) in pairs.flat_map(|(own, before)| {
                CALLED.map(|keyname| (keyname, own.get(keyname), before.get(keyname)))
            }) {
                let Some(own) = own else { continue };
                if before.map(Node::to_value) != Some(own.to_value()) {
                    let message = format!(
                        "a service template cannot change the `{keyname}` of the function `{name}`"
                    );
                    let error = Diagnostic::error(Code::InvalidRefinement, message).at(own.span());
                    let help = "change only its `implementation`, or add a signature at the end";
                    found.push(by(error.help(help), "10.4"));
                }
            }
        }
    }

    /// Reports a type that is not defined.
    fn schema_type(&self, schema: Node<'_>, found: &mut Vec<Diagnostic>) {
        let kind = schema.as_str().map(|_| schema).or_else(|| schema.get("type"));
        if let Some((kind, name)) = kind.and_then(|kind| Some((kind, kind.as_str()?))) {
            let is_known = Primitive::of_2_0(name).is_some()
                || self.types.data_type_in(Some(kind.document().file()), name).is_some();
            if !is_known {
                let message = format!("there is no data type `{name}`");
                found.push(by(
                    Diagnostic::error(Code::UnknownType, message).at(kind.span()),
                    "10.4",
                ));
            }
        }
        let parts = ["key_schema", "entry_schema"].into_iter().filter_map(|part| schema.get(part));
        parts.for_each(|part| self.schema_type(part, found));
    }

    /// What files see of each other.
    pub(super) fn scopes(&self) -> &Scopes {
        &self.functions.scopes
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
                        Some(name) => found.push(beside_others(key, name)),
                        None => {}
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
        let arguments = arguments.filter(|arguments| !arguments.is_null());
        let count = listed(arguments).len();
        let bounds = match self.functions.find(at.document().file(), name) {
            Some(signatures) => match refused(&signatures, arguments, self.types) {
                Some(refused) => return found.push(refused_call(at, name, &refused)),
                None => return,
            },
            None => match BuiltIn::named(name) {
                Some(function) if function.value.is_some() && is_unlisted(arguments) => {
                    return found.push(unlisted(at, function));
                }
                Some(function) => (function.least, function.most),
                None => return found.push(undeclared(at, name)),
            },
        };
        let (least, most) = bounds;
        if (least..=most).contains(&count) {
            found.extend(unnamed_start(name, arguments));
            return;
        }
        let wanted = match (least, most) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, usize::MAX) => format!("{least} or more arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        let message = format!("`${name}` takes {wanted}, not {count}");
        let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
        found.push(by(error, "10"));
    }
}

/// The error about a call that asks for an input, or for what a path leads to, and begins with no name.
fn unnamed_start(name: &str, arguments: Option<Node<'_>>) -> Option<Diagnostic> {
    const PATHS: [&str; 4] = ["get_property", "get_attribute", "get_artifact", ALLOCATION];
    let wanted = match name {
        "get_input" => "the name of an input",
        _ if PATHS.contains(&name) => "`SELF` or the name of a node or relationship template",
        _ => return None,
    };
    let start = *listed(arguments).first()?;
    let is_name = start.as_str().is_some() || called(start).is_some();
    // Names may be written as numbers.
    let is_number = start.kind() == NodeKind::Scalar && start.as_bool().is_none();
    if is_name || name == "get_input" && is_number {
        return None;
    }
    let got = start.text().map_or(start.describe().to_string(), |text| format!("`{text}`"));
    let message = format!("`${name}` begins with {wanted}, not with {got}");
    let section = BuiltIn::named(name).map_or("10.2.1", |function| function.section);
    Some(by(Diagnostic::error(Code::InvalidFunction, message).at(start.span()), section))
}

/// Whether arguments are written, and no list.
fn is_unlisted(arguments: Option<Node<'_>>) -> bool {
    arguments.is_some_and(|it| it.kind() != NodeKind::Sequence && called(it).is_none())
}

fn unlisted(at: Node<'_>, function: &BuiltIn) -> Diagnostic {
    let BuiltIn { name, takes, section, .. } = function;
    let message = format!("`${name}` takes a list of arguments");
    let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
    by(error.help(format!("write it as `${name}: {takes}`")), section)
}

fn beside_others(key: Node<'_>, name: &str) -> Diagnostic {
    let message = format!("`${name}` calls a function, and other keys stand beside it");
    let error = Diagnostic::error(Code::InvalidFunction, message).at(key.span());
    by(error.help(format!("write `$${name}` where a key is meant")), "10.1")
}

fn undeclared(at: Node<'_>, name: &str) -> Diagnostic {
    let message = format!("no function `{name}` is declared, so nothing is known of its value");
    let meant = closest(name, FUNCTIONS.iter().map(|it| it.name));
    let meant = meant.map(|it| Advice::did_you_mean(&format!("${name}"), &format!("${it}")));
    let warning = Diagnostic::warning(Code::InvalidFunction, message).at(at.span());
    by(warning.help("declare it under `functions`").help_opt(meant), "10.2")
}

pub(in crate::validate) fn refused_call(at: Node<'_>, name: &str, why: &str) -> Diagnostic {
    let message = format!("no signature of `${name}` takes these arguments: {why}");
    by(Diagnostic::error(Code::InvalidFunction, message).at(at.span()), "10.4")
}

/// Why no signature of a function takes these arguments; `None` if one takes them. Signatures are
/// tried in order.
fn refused(
    signatures: &[Node<'_>],
    arguments: Option<Node<'_>>,
    types: &dyn DataTypes<'_>,
) -> Option<String> {
    let arguments = listed(arguments);
    let mut refusals = signatures.iter().map(|signature| refusal(*signature, &arguments, types));
    // A function without signatures is wrong in another place.
    let first = refusals.next()??;
    refusals.all(|refusal| refusal.is_some()).then_some(first)
}

/// Why a signature does not take these arguments, as far as they are written.
pub(in crate::validate) fn refusal(
    signature: Node<'_>,
    arguments: &[Node<'_>],
    types: &dyn DataTypes<'_>,
) -> Option<String> {
    let (least, schemas) = taken(signature);
    let is_variadic = signature.get("variadic").and_then(Node::as_bool) == Some(true);
    let count = arguments.len();
    if count < least || count > schemas.len() && !is_variadic {
        return Some(format!(
            "it takes {}, not {count}",
            counted(least, schemas.len(), is_variadic)
        ));
    }
    arguments.iter().zip(each(&schemas)).find_map(|(argument, schema)| {
        let schema = Schema::read(schema, &mut Diagnostics::default());
        let found = check_value(*argument, &schema, types);
        let wrong = found.diagnostics.into_iter().find(|it| it.severity == Severity::Error)?;
        Some(wrong.message)
    })
}

/// How many arguments a signature needs, and the schemas of those that it knows.
pub(in crate::validate) fn taken(signature: Node<'_>) -> (usize, Vec<Node<'_>>) {
    let listed = |keyname| signature.get(keyname).into_iter().flat_map(Node::items);
    let all = listed("arguments").chain(listed("optional_arguments")).collect();
    (listed("arguments").count(), all)
}

/// The schema of each argument: the last one holds for all further arguments.
pub(in crate::validate) fn each<'s>(schemas: &[Node<'s>]) -> impl Iterator<Item = Node<'s>> {
    let last = schemas.last().copied().into_iter().cycle();
    schemas.iter().copied().chain(last)
}

/// The keynames of a signature that say how it is called.
const CALLED: [&str; 4] = ["arguments", "optional_arguments", "variadic", "result"];

/// The signatures of a declaration.
fn signatures(definition: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    definition.get("signatures").into_iter().flat_map(Node::items)
}

/// The schemas in a signature.
fn schemas(signature: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let listed = ["arguments", "optional_arguments"].into_iter();
    let listed = listed.filter_map(move |keyname| signature.get(keyname)).flat_map(Node::items);
    listed.chain(signature.get("result"))
}

fn counted(least: usize, most: usize, is_variadic: bool) -> String {
    match (least, most) {
        _ if is_variadic => format!("{least} or more"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}
