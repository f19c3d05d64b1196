//! Checks the keynames of a file of TOSCA 2.0 against the grammar, and the contents below them.

use super::by;
use super::function::CallChecker;
use crate::diagnostic::{Advice, Code, Diagnostic, closest};
use crate::tosca::import::is_url;
use crate::tosca::v2_0::function::{BuiltIn, may_be_truth};
use crate::tosca::v2_0::grammar::{
    ElementGrammar, ElementKeyname, EntityKind, FILE, KeynameContent, PARAMETER, Short,
};
use crate::tosca::v2_0::{self, called, written};
use crate::variability::template::shape::is_keyword;
use cuvee_text::yaml::{Document, Node, NodeKind};

/// Reports what is wrong in one file.
pub(super) struct KeynameChecker<'n, 'a, 'd> {
    functions: &'n CallChecker<'n, 'a, 'd>,
    /// Whether the words of variability may stand beside keynames, and lists of alternatives in
    /// place of maps. Who reads them checks them.
    is_variable: bool,
    found: &'n mut Vec<KeynameFinding>,
}

/// What is wrong with an element.
pub(in crate::validate) struct KeynameFinding {
    pub diagnostic: Diagnostic,
    /// The keyname that is missing, if that is what is wrong.
    pub lacking: Option<&'static str>,
}

impl From<Diagnostic> for KeynameFinding {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, lacking: None }
    }
}

/// Where an element stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeynamePlace {
    /// It stands for itself.
    Own,
    /// It may refine what another type says, and then needs none of its keynames.
    Refining,
}

impl<'n, 'a, 'd> KeynameChecker<'n, 'a, 'd> {
    pub(super) fn new(
        functions: &'n CallChecker<'n, 'a, 'd>,
        document: &'d Document,
        found: &'n mut Vec<KeynameFinding>,
    ) -> Self {
        let topology = document.root().get("topology_template");
        let is_variable = topology.is_some_and(|topology| topology.get("variability").is_some());
        Self { functions, is_variable, found }
    }

    /// Checks the whole file.
    pub(super) fn file(&mut self, root: Node<'d>) {
        self.element(root, root, &FILE, KeynamePlace::Own);
        let first = root.entries().next().map(|(key, _)| key);
        let is_version = |key: &Node<'_>| key.text() == Some("tosca_definitions_version");
        if let Some(key) = first.filter(|key| !is_version(key)) {
            let message = "`tosca_definitions_version` has to be the first key of a file";
            self.invalid(key, message, "6.1");
        }
        let service = root.get("topology_template");
        let of_service = |keyname| service.and_then(|service| service.get(keyname));
        let parts = ["inputs", "outputs", "groups"].into_iter().filter_map(of_service);
        let policies = of_service("policies").into_iter().flat_map(Node::items);
        let policies = policies.flat_map(Node::entries).filter_map(|(_, it)| it.get("properties"));
        for part in parts.chain(policies) {
            self.without(part, "node_index", "in a node");
            self.without(part, "relationship_index", "in a relationship");
        }
        let variability = service.and_then(|service| service.get("variability")?.get("inputs"));
        let listed = variability.into_iter().flat_map(Node::items).flat_map(Node::entries);
        for (_, input) in variability.into_iter().flat_map(Node::entries).chain(listed) {
            self.variability_input(input);
        }
        let find = |name| root.entries().map(|(key, _)| key).find(|key| written(*key) == name);
        if let Some(key) = find("profile").filter(|_| find("service_template").is_some()) {
            let message = "a file with a `profile` has no `service_template`";
            self.invalid(key, message, "6.7");
        }
    }

    /// Checks the validations of a variability input and of its entries.
    fn variability_input(&mut self, schema: Node<'d>) {
        if let Some(validation) = schema.get("validation") {
            self.calls(validation);
            self.conditions(validation, "validation", &PARAMETER);
        }
        let parts = ["key_schema", "entry_schema"].into_iter().filter_map(|part| schema.get(part));
        parts.for_each(|part| self.variability_input(part));
    }

    /// Checks the calls of functions in a value.
    fn calls(&mut self, value: Node<'_>) {
        let mut found = Vec::new();
        self.functions.check(value, &mut found);
        self.found.extend(found.into_iter().map(KeynameFinding::from));
    }

    /// Checks a value, in which some functions have no meaning.
    fn value(&mut self, value: Node<'_>, entity: &ElementGrammar) {
        // Expressions and conditions of variability have operators of their own.
        let is_own = ["expression", "conditions"].iter().any(|word| value.get(word).is_some());
        if self.is_variable && is_own {
            return value.get("value").into_iter().for_each(|value| self.value(value, entity));
        }
        self.calls(value);
        let is_of_node = matches!(entity.kind, EntityKind::NodeTemplate | EntityKind::NodeType);
        let of_relationship = is_of_node.then_some(("relationship_index", "in a relationship"));
        for (name, place) in of_relationship.into_iter().chain([("value", "in a `validation`")]) {
            self.without(value, name, place);
        }
    }

    /// Reports a call of a function that has a meaning only in another place.
    fn without(&mut self, value: Node<'_>, name: &str, place: &str) {
        self.found.extend(misplaced(value, name, place).map(KeynameFinding::from));
    }

    fn push(&mut self, at: Node<'_>, error: Diagnostic, section: &'static str) {
        self.found.push(by(error.at(at.span()), section).into());
    }

    fn invalid(&mut self, at: Node<'_>, message: impl Into<String>, section: &'static str) {
        self.push(at, Diagnostic::error(Code::InvalidTemplate, message), section);
    }

    /// Checks an element; what it lacks is reported at `at`, which is its name where it has one.
    fn element(
        &mut self,
        at: Node<'d>,
        node: Node<'d>,
        entity: &'static ElementGrammar,
        place: KeynamePlace,
    ) {
        if place == KeynamePlace::Own {
            self.entry_schema(at, node, entity);
        }
        if node.kind() != NodeKind::Mapping || self.is_value(entity, node) {
            return self.short(node, entity, place);
        }
        for (key, value) in node.entries() {
            let name = if key.kind() == NodeKind::Scalar { written(key) } else { &*key.key_text() };
            match entity.keyname(name) {
                Some(keyname) => {
                    self.content(value, keyname, entity, below(place, node, entity));
                    self.conditions(value, keyname.name, entity);
                    self.named(value, keyname.name, entity);
                }
                None if self.is_variable && is_keyword(name) => {}
                None => self.found.push(entity.unknown(key, name).into()),
            }
        }
        let has_keyname = |keyname: &ElementKeyname| {
            let renamed = entity.gone.iter().filter(|gone| gone.renamed == Some(keyname.name));
            let mut names = renamed.map(|gone| gone.name).chain([keyname.name]);
            names.any(|name| has(node, name))
        };
        // A copy has the type of what it copies.
        let is_copied =
            |name| name == "type" && entity.keyname("copy").is_some() && has(node, "copy");
        let lacking = entity.keynames.iter().filter(|keyname| {
            keyname.mandatory && !has_keyname(keyname) && !is_copied(keyname.name)
        });
        for keyname in lacking.filter(|_| place == KeynamePlace::Own) {
            let message = format!("{} has to have `{}`", entity.what, keyname.name);
            let error = Diagnostic::error(Code::InvalidTemplate, message);
            self.found.push(KeynameFinding {
                diagnostic: by(error.at(at.span()), entity.section),
                lacking: Some(keyname.name),
            });
        }
        self.together(node, entity);
    }

    /// Reports conditions that are neither true nor false.
    fn conditions(&mut self, value: Node<'d>, name: &str, entity: &ElementGrammar) {
        const CONDITIONS: [&str; 5] =
            ["condition", "node_filter", "precondition", "substitution_filter", "validation"];
        let own = CONDITIONS.contains(&name).then_some(value);
        let listed = (name == "filter").then(|| value.items()).into_iter().flatten();
        for condition in own.into_iter().chain(listed).filter(|it| !may_be_truth(*it)) {
            let got = match called(condition) {
                Some((function, _)) => format!("`${function}`"),
                None => condition.describe().to_string(),
            };
            let message = format!("`{name}` has to be true or false, or a call that is, not {got}");
            self.invalid(condition, message, entity.section);
        }
    }

    /// What stands in place of the map of an element.
    fn short(&mut self, node: Node<'d>, entity: &'static ElementGrammar, place: KeynamePlace) {
        let is_text = node.as_str().is_some();
        let fits = |short: &Short| match short {
            Short::Text | Short::Type => is_text,
            Short::List => node.kind() == NodeKind::Sequence,
            Short::Value => true,
        };
        let is_empty = node.is_null()
            && (place == KeynamePlace::Refining
                || entity.keynames.iter().all(|keyname| !keyname.mandatory));
        match entity.short.iter().find(|short| fits(short)) {
            Some(Short::Value) => self.value(node, entity),
            Some(Short::Text | Short::Type | Short::List) => {}
            None if is_empty => {}
            None => {
                let message = format!("{} has to be a map, not {}", entity.what, node.describe());
                self.invalid(node, message, entity.section);
            }
        }
    }

    fn content(
        &mut self,
        node: Node<'d>,
        keyname: &ElementKeyname,
        entity: &ElementGrammar,
        place: KeynamePlace,
    ) {
        let name = keyname.name;
        let wrong = |checker: &mut Self, at: Node<'_>, expected: &str| {
            let message = format!("`{name}` has to be {expected}, not {}", at.describe());
            checker.invalid(at, message, entity.section);
        };
        match keyname.holds {
            // A text, or what YAML makes of one without quotes, such as `1.0`.
            KeynameContent::Any if name == "artifact_version" => {
                if node.text().is_none() || node.as_bool().is_some() || node.is_null() {
                    wrong(self, node, "a string");
                }
            }
            KeynameContent::Any if MAPS.contains(&name) => {
                self.is_map(node, &wrong);
            }
            KeynameContent::Any => {}
            KeynameContent::Text
                if node.as_str().is_some() || name == "description" && node.is_null() => {}
            // A function may give it (section 10.1).
            KeynameContent::Text
                if entity.kind == EntityKind::Artifact && called(node).is_some() =>
            {
                self.value(node, entity);
            }
            KeynameContent::Text => wrong(self, node, "a string"),
            KeynameContent::Bool if node.as_bool().is_some() => {}
            KeynameContent::Bool => wrong(self, node, "true or false"),
            KeynameContent::List => {
                if self.is_list(node, &wrong) {
                    self.calls(node);
                }
            }
            KeynameContent::Words(words) => {
                self.is_list(node, &wrong);
                for item in node.items() {
                    self.word(item, name, words, entity.section);
                }
            }
            KeynameContent::Value if name == "validation" => self.calls(node),
            KeynameContent::Value => self.value(node, entity),
            KeynameContent::Values | KeynameContent::Named(_)
                if self.has_alternatives(node, name, entity) =>
            {
                for (key, body) in node.items().flat_map(Node::entries) {
                    match keyname.holds {
                        KeynameContent::Named(below) => self.element(key, body, below, place),
                        _ => self.value(body, entity),
                    }
                }
            }
            KeynameContent::Values => {
                if called(node).is_none() && self.is_map(node, &wrong) {
                    node.entries().for_each(|(_, value)| self.value(value, entity));
                }
            }
            KeynameContent::Type
                if node.as_str().is_none()
                    && node.text() != Some("null")
                    && !(self.is_variable && node.kind() == NodeKind::Mapping)
                    && !self.has_alternatives(node, name, entity) =>
            {
                wrong(self, node, "the name of a type");
            }
            KeynameContent::Type => {}
            KeynameContent::Types => {
                self.is_list(node, &wrong);
                for item in node.items().filter(|item| item.as_str().is_none()) {
                    wrong(self, item, "a list of names of types");
                }
            }
            KeynameContent::One(below) => self.element(node, node, below, place),
            KeynameContent::Named(below) => {
                if self.is_map(node, &wrong) {
                    for (key, body) in node.entries() {
                        self.name(key, below);
                        self.element(key, body, below, place);
                    }
                }
            }
            KeynameContent::Listed(below) => {
                self.is_list(node, &wrong);
                for item in node.items() {
                    match item.entries().len() {
                        1 => {
                            let entries = item.entries();
                            entries.for_each(|(key, body)| self.element(key, body, below, place));
                        }
                        _ => self.invalid(
                            item,
                            format!(
                                "each item of `{name}` has to be a map of one name to its content"
                            ),
                            entity.section,
                        ),
                    }
                }
            }
            KeynameContent::Items(below) => {
                self.is_list(node, &wrong);
                node.items().for_each(|item| self.element(item, item, below, place));
            }
        }
    }

    /// Warns of a name that YAML reads as no string.
    fn name(&mut self, key: Node<'_>, entity: &ElementGrammar) {
        if key.kind() == NodeKind::Scalar && key.as_str().is_none() {
            let text = key.text().unwrap_or_default();
            let message = format!("the name of {} is a string, and `{text}` is none", entity.what);
            let warning = Diagnostic::warning(Code::InvalidTemplate, message);
            self.push(key, warning.help("write it in quotes"), entity.section);
        }
    }

    /// Whether what stands here is a value instead of a definition.
    fn is_value(&self, entity: &ElementGrammar, node: Node<'_>) -> bool {
        let is_call = entity.short.contains(&Short::Value) && called(node).is_some();
        let is_word = |name: &str| self.is_variable && is_keyword(name);
        is_call || node.entries().len() > 0 && entity.takes_value(node, &is_word)
    }

    /// Whether a list of alternatives stands in place of a map or a name. So it may where resolving
    /// makes a map or a name of it again.
    fn has_alternatives(&self, node: Node<'_>, name: &str, entity: &ElementGrammar) -> bool {
        use EntityKind as Kind;
        let becomes_map = match entity.kind {
            Kind::ServiceTemplate => name != "workflows" && name != "functions",
            Kind::NodeTemplate => ["properties", "artifacts", "type"].contains(&name),
            Kind::RelationshipTemplate
            | Kind::AssignedRelationship
            | Kind::Artifact
            | Kind::Group
            | Kind::Policy => ["properties", "type"].contains(&name),
            _ => false,
        };
        self.is_variable && becomes_map && node.kind() == NodeKind::Sequence
    }

    fn is_list(&mut self, node: Node<'_>, wrong: &dyn Fn(&mut Self, Node<'_>, &str)) -> bool {
        let fits = node.kind() == NodeKind::Sequence || node.is_null();
        if !fits {
            wrong(self, node, "a list");
        }
        fits
    }

    fn is_map(&mut self, node: Node<'_>, wrong: &dyn Fn(&mut Self, Node<'_>, &str)) -> bool {
        let fits = node.kind() == NodeKind::Mapping || node.is_null();
        if !fits {
            wrong(self, node, "a map");
        }
        fits
    }

    fn word(&mut self, item: Node<'_>, name: &str, words: &[&'static str], section: &'static str) {
        let text = item.text().unwrap_or_default();
        if words.contains(&text) {
            return;
        }
        let message = match item.text() {
            Some(text) => format!("`{text}` is none of `{name}`"),
            None => format!("`{name}` has to be a list of words, not of {}", item.describe()),
        };
        let known = words.iter().copied();
        let meant = closest(text, known.clone()).map(|meant| Advice::did_you_mean(text, meant));
        let help = meant.unwrap_or_else(|| format!("known are {}", words.join(", ")).into());
        self.push(item, Diagnostic::error(Code::InvalidTemplate, message).help(help), section);
    }

    /// Keynames that exclude or need each other.
    fn together(&mut self, node: Node<'_>, entity: &ElementGrammar) {
        const EXCLUSIVE: [(EntityKind, &str, &str); 3] = [
            (EntityKind::Import, "url", "profile"),
            (EntityKind::Workflow, "steps", "implementation"),
            (EntityKind::Parameter, "value", "mapping"),
        ];
        let has = |name: &str| has(node, name);
        for (kind, one, other) in EXCLUSIVE {
            if kind == entity.kind && has(one) && has(other) {
                let message = format!("{} has `{one}` or `{other}`, not both", entity.what);
                self.invalid(node, message, entity.section);
            }
        }
        match entity.kind {
            EntityKind::Import if has("repository") => self.import_from_repository(node),
            EntityKind::Import if !["url", "profile", "file"].into_iter().any(has) => {
                self.invalid(node, "an import has to have `url` or `profile`", entity.section);
            }
            EntityKind::Artifact if has("checksum") && !has("checksum_algorithm") => {
                let message = "a `checksum` needs a `checksum_algorithm`";
                self.invalid(node, message, entity.section);
            }
            EntityKind::Activity => self.activity(node, entity),
            EntityKind::Property | EntityKind::Parameter => self.default_of_optional(node, entity),
            _ => {}
        }
    }

    /// Checks that only a path leads into a repository (sections 6.8.1 and 6.8.2.2).
    fn import_from_repository(&mut self, import: Node<'_>) {
        let Some(repository) = import.get("repository") else { return };
        if !has(import, "url") {
            let message = "a `repository` is for an import with `url`";
            self.invalid(repository, message, "6.8.1");
        } else if import.get("file").and_then(Node::as_str).is_some_and(is_url) {
            let message = "a `repository` is for a path, and not for a URL with a scheme";
            self.invalid(repository, message, "6.8.2.2");
        }
    }

    /// Checks that an activity is one, with the keynames that its kind has beside (section 13.2.3).
    fn activity(&mut self, node: Node<'_>, entity: &ElementGrammar) {
        const KINDS: [(&str, &[&str]); 4] = [
            ("delegate", &["workflow", "inputs"]),
            ("set_state", &[]),
            ("call_operation", &["operation", "inputs"]),
            ("inline", &["workflow", "inputs"]),
        ];
        let said: Vec<_> = KINDS.iter().filter(|(name, _)| has(node, name)).collect();
        let [(kind, beside)] = said[..] else {
            return self.invalid(node, "an activity has exactly one keyname", entity.section);
        };
        for name in ["workflow", "operation", "inputs"] {
            if has(node, name) && !beside.contains(&name) {
                let message = format!("an activity with `{kind}` has no `{name}`");
                self.invalid(node, message, entity.section);
            }
        }
    }

    /// Checks elements as their place wants them: what comes in has no fixed value, what goes out
    /// is mapped nowhere (section 9.7), artifacts of nodes are maps (section 12.2), and names of
    /// functions have no `$` (section 10.1).
    fn named(&mut self, all: Node<'d>, name: &str, entity: &ElementGrammar) {
        use EntityKind::{File, Interface, InterfaceType, NodeTemplate, NodeType};
        use EntityKind::{Notification, Operation, ServiceTemplate};
        let listed = all.items().flat_map(Node::entries);
        let bodies = all.entries().chain(listed).map(|(_, body)| body);
        let excluded = match (entity.kind, name) {
            (NodeType | NodeTemplate, "artifacts") => {
                for body in bodies.filter(|body| body.as_str().is_some()) {
                    let message = "an artifact definition has to be a map with `type` and `file`";
                    self.invalid(body, message, "12.2");
                }
                return;
            }
            (File | ServiceTemplate, "functions") => {
                let names = all.entries().map(|(key, _)| key);
                for key in names.filter(|key| key.text().is_some_and(|it| it.contains('$'))) {
                    self.invalid(key, "the name of a function has no `$`", "10.1");
                }
                return;
            }
            (Operation | Notification, "outputs") => "value",
            (Interface | InterfaceType | Operation, "inputs") | (ServiceTemplate, "outputs") => {
                "mapping"
            }
            _ => return,
        };
        for body in bodies {
            let mapping = v2_0::output_mapping(body);
            if excluded == "value" && mapping.kind() == NodeKind::Scalar && !mapping.is_null() {
                let message = "an output is mapped to a list of a keyword and an attribute, such as `[SELF, state]`";
                self.invalid(mapping, message, "9.9");
            }
            if body.kind() != NodeKind::Mapping {
                continue;
            }
            if name == "outputs" && entity.kind != ServiceTemplate {
                self.output(body);
            }
            if let Some((key, _)) = body.entries().find(|(key, _)| written(*key) == excluded) {
                let message = format!("`{excluded}` is not for `{name}` of {}", entity.what);
                self.push(key, Diagnostic::warning(Code::InvalidDefinition, message), "9.7");
            }
        }
    }

    /// Checks the definition of an output, which is a mapping in short, and no value (section 9.7).
    fn output(&mut self, body: Node<'d>) {
        if !self.is_value(&PARAMETER, body) {
            return self.element(body, body, &PARAMETER, KeynamePlace::Refining);
        }
        let keys = body.entries().map(|(key, _)| key);
        let unknown = keys.map(|key| PARAMETER.unknown(key, written(key)).into());
        self.found.extend(unknown);
    }

    /// Warns of a `default` where no value is needed.
    fn default_of_optional(&mut self, node: Node<'_>, entity: &ElementGrammar) {
        let is_optional = node.get("required").and_then(Node::as_bool) == Some(false);
        let default = node.entries().find(|(key, _)| key.text() == Some("default"));
        if let Some((key, _)) = default.filter(|_| is_optional) {
            let noun = if entity.kind == EntityKind::Property { "property" } else { "parameter" };
            self.found.push(v2_0::default_of_optional(noun, key).into());
        }
    }

    /// Reports a list or a map whose entries have no schema. A refinement may have that of what it
    /// refines.
    fn entry_schema(&mut self, at: Node<'_>, node: Node<'_>, entity: &ElementGrammar) {
        let short = entity.short.contains(&Short::Type).then_some(node);
        let is_collection = matches!(
            node.get("type").and_then(Node::as_str).or_else(|| short.and_then(Node::as_str)),
            Some("list" | "map")
        );
        let may_have = entity.keyname("entry_schema").is_some();
        if is_collection && may_have && node.get("entry_schema").is_none() {
            let kind = node.get("type").unwrap_or(node).text().unwrap_or_default();
            let message =
                format!("{} of the type `{kind}` has to have `entry_schema`", entity.what);
            let error = Diagnostic::error(Code::InvalidDefinition, message);
            let help = "say which type the entries have: `entry_schema: string`";
            self.push(at, error.help(help), entity.section);
        }
    }
}

/// The keynames whose values are maps of anything (sections 5.3.1 and 9.1.2.2).
const MAPS: [&str; 2] = ["metadata", "unit_symbol_map"];

/// The error about a call of a function that has a meaning only in another place.
pub(in crate::validate) fn misplaced(
    value: Node<'_>,
    name: &str,
    place: &str,
) -> Option<Diagnostic> {
    let call = call_of(value, name)?;
    let message = format!("`${name}` has a meaning {place} only");
    let error = Diagnostic::error(Code::InvalidFunction, message).at(call.span());
    Some(by(error, BuiltIn::named(name).map_or("10.2", |it| it.section)))
}

/// The first call of a function in a value.
fn call_of<'n>(value: Node<'n>, name: &str) -> Option<Node<'n>> {
    if called(value).is_some_and(|(function, _)| function == name) {
        return Some(value);
    }
    value.parts().find_map(|part| call_of(part, name))
}

/// Whether a map has a keyname, as its author wrote it.
fn has(node: Node<'_>, name: &str) -> bool {
    node.entries().any(|(key, _)| written(key) == name)
}

/// Where the parts of this element stand: types that derive, capabilities and relationships may
/// refine what other types say.
fn below(place: KeynamePlace, node: Node<'_>, entity: &'static ElementGrammar) -> KeynamePlace {
    let is_part =
        matches!(entity.kind, EntityKind::Capability | EntityKind::RequirementRelationship);
    let refines = is_part || node.get("derived_from").is_some();
    if refines { KeynamePlace::Refining } else { place }
}
