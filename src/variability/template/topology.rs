//! Parses the service template and its topology template.

use super::conditional::{Declared, invalid};
use super::entity::{
    self, CollectionEntry, Group, NodeTemplate, Parameter, Policy, RelationshipTemplate, entries,
    list_entries,
};
use super::misplaced;
use super::plain;
use super::shape::{self, is_keyword};
use super::variability::{self, Variability};
use super::{OLDER_VERSIONS, PLAIN_VERSION};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::import::ImportDefinition;
use crate::tosca::shape::{Reading, Vocabulary};
use crate::tosca::{profile, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::options;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};

/// The version whose defaults variable templates have where their version says nothing of
/// variability.
/// The newest version of variable templates.
pub(crate) const NEWEST_VERSION: &str = "tosca_variability_1_0";

/// A variable service template ("Service Template").
#[derive(Clone, Debug)]
pub(crate) struct ServiceTemplate<'a> {
    /// The whole document.
    pub root: Node<'a>,
    /// The documents of imported files whose topologies are part of this one.
    pub imported: Vec<Node<'a>>,
    /// `tosca_definitions_version`, or the version that it is treated as.
    pub version: &'a str,
    /// `topology_template.variability`
    pub variability: Variability<'a>,
    /// `imports`
    pub imports: Vec<Import<'a>>,
    /// `topology_template.inputs`
    pub inputs: Vec<Parameter<'a>>,
    /// `topology_template.outputs`
    pub outputs: Vec<Parameter<'a>>,
    /// `topology_template.node_templates`
    pub nodes: Vec<NodeTemplate<'a>>,
    /// `topology_template.relationship_templates`
    pub relationships: Vec<RelationshipTemplate<'a>>,
    /// `topology_template.groups`
    pub groups: Vec<Group<'a>>,
    /// `topology_template.policies`
    pub policies: Vec<Policy<'a>>,
    /// Errors at places that have a notation of variable templates, although the template declares
    /// itself plain.
    pub foreign: Vec<Diagnostic>,
}

impl ServiceTemplate<'_> {
    /// Whether it is plain TOSCA, without variability.
    pub(crate) fn is_plain(&self) -> bool {
        plain::is_plain(self.root)
    }

    /// Whether it is plain and has no notation of variable templates.
    pub(crate) fn is_only_plain(&self) -> bool {
        self.is_plain() && self.foreign.is_empty()
    }
}

impl<'a> ServiceTemplate<'a> {
    /// The topologies that it consists of: its own, and the imported ones.
    pub(crate) fn topologies(&self) -> impl Iterator<Item = Node<'a>> {
        let roots = std::iter::once(&self.root).chain(&self.imported);
        roots.filter_map(|root| root.get("topology_template"))
    }

    /// Whether this place is in an imported file.
    pub(crate) fn is_imported(&self, at: Span) -> bool {
        !self.imported.is_empty() && at.file != self.root.document().file()
    }
}

/// An import ("Import Definition").
#[derive(Clone, Debug)]
pub(crate) struct Import<'a> {
    /// Its name, which is the file, its places and variability settings.
    pub declared: Declared<'a>,
    /// The definition of the import.
    pub definition: ImportDefinition<'a>,
}

/// Parses a service template; parts that cannot be understood are reported and left out.
///
/// # Errors
/// `unsupported-version`, because keynames of another version may have another meaning.
pub(crate) fn parse<'a>(
    root: Node<'a>,
    diagnostics: &mut Diagnostics,
) -> Result<ServiceTemplate<'a>, Diagnostic> {
    let mut template = ServiceTemplate {
        root,
        imported: Vec::new(),
        version: version(root, diagnostics)?,
        variability: Variability::default(),
        imports: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        nodes: Vec::new(),
        relationships: Vec::new(),
        groups: Vec::new(),
        policies: Vec::new(),
        foreign: Vec::new(),
    };
    for (key, value) in root.entries() {
        match key.text().unwrap_or_default() {
            "imports" => template.imports = imports(value, diagnostics),
            "topology_template" => topology(value, &mut template, diagnostics),
            "tosca_definitions_version" => {}
            "service_template" => {
                let help =
                    "it is `topology_template` in version 1.3; `service_template` is of TOSCA 2.0";
                diagnostics.0.extend(shape::SERVICE.misplaced(key, help));
            }
            "variability" => {
                let help = "move it below `topology_template`";
                diagnostics.0.extend(shape::SERVICE.misplaced(key, help));
            }
            _ if entity::is_like_a_node(value) => {
                indented_wrongly(key, &shape::SERVICE, diagnostics)
            }
            _ => diagnostics.0.extend(shape::SERVICE.unknown(key, Reading::Lenient)),
        }
    }
    diagnostics.0.extend(v2_0::mistaken_keynames(root.document(), &is_keyword));
    template.foreign = plain::variability(&template);
    if !plain::is_plain(root) {
        misplaced::words(root, diagnostics);
    }
    Ok(template)
}

fn topology<'a>(node: Node<'a>, template: &mut ServiceTemplate<'a>, diagnostics: &mut Diagnostics) {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        diagnostics.push(invalid(node, "`topology_template` has to be a map"));
    }
    for (key, value) in node.entries() {
        let keyword = key.text().unwrap_or_default();
        match keyword {
            "variability" => template.variability = variability::parse(value, diagnostics),
            "inputs" => {
                template.inputs = collection(value, keyword, diagnostics, |e, d| {
                    entity::parameter(ElementKind::Input, e, d)
                })
            }
            "outputs" => {
                template.outputs = collection(value, keyword, diagnostics, |e, d| {
                    entity::parameter(ElementKind::Output, e, d)
                })
            }
            "node_templates" => {
                template.nodes = collection(value, keyword, diagnostics, entity::node_template);
                unique(
                    "node",
                    value,
                    template.nodes.iter().map(|node| (node.declared.name(), node.declared.key())),
                    diagnostics,
                );
            }
            "relationship_templates" => {
                template.relationships =
                    collection(value, keyword, diagnostics, entity::relationship_template);
                unique(
                    "relationship template",
                    value,
                    template
                        .relationships
                        .iter()
                        .map(|template| (template.declared.name(), template.declared.key())),
                    diagnostics,
                );
            }
            "groups" => {
                template.groups = collection(value, keyword, diagnostics, entity::group);
                unique(
                    "group",
                    value,
                    template
                        .groups
                        .iter()
                        .map(|group| (group.declared.name(), group.declared.key())),
                    diagnostics,
                );
            }
            "policies" => {
                let list = list_entries(value, keyword, diagnostics);
                template.policies =
                    list.into_iter().map(|entry| entity::policy(entry, diagnostics)).collect();
            }
            _ if entity::is_like_a_node(value) => {
                indented_wrongly(key, &shape::TOPOLOGY, diagnostics)
            }
            _ => diagnostics.0.extend(shape::TOPOLOGY.unknown(key, Reading::Lenient)),
        }
    }
}

fn indented_wrongly(key: Node<'_>, vocabulary: &Vocabulary, diagnostics: &mut Diagnostics) {
    let help = "indent it below `node_templates` if it is a node template";
    diagnostics.0.extend(vocabulary.misplaced(key, help));
}

fn collection<'a, T>(
    node: Node<'a>,
    what: &str,
    diagnostics: &mut Diagnostics,
    parse: impl Fn(CollectionEntry<'a>, &mut Diagnostics) -> T,
) -> Vec<T> {
    let list = entries(node, what, diagnostics);
    list.into_iter().map(|entry| parse(entry, diagnostics)).collect()
}

/// Reports repeated names in a list; in a map they are duplicate keys, which the YAML parser
/// reports.
fn unique<'a>(
    what: &str,
    collection: Node<'_>,
    declared: impl Iterator<Item = (&'a str, Node<'a>)>,
    diagnostics: &mut Diagnostics,
) {
    if collection.kind() == NodeKind::Mapping {
        return;
    }
    let mut seen = rustc_hash::FxHashMap::default();
    for (name, key) in declared {
        if let Some(first) = seen.insert(name, key.span()) {
            let message = format!("a second {what} is named `{name}`");
            diagnostics.push(
                Diagnostic::error(Code::Duplicate, message)
                    .at(key.span())
                    .label(first, "the first is here"),
            );
        }
    }
}

fn version<'a>(root: Node<'a>, diagnostics: &mut Diagnostics) -> Result<&'a str, Diagnostic> {
    let error = |message: String| Diagnostic::error(Code::UnsupportedVersion, message);
    let Some(node) = root.get("tosca_definitions_version") else {
        let help = "start the template with `tosca_definitions_version: tosca_variability_1_0`";
        return Err(error("there is no `tosca_definitions_version`".into())
            .at(root.span())
            .help(help));
    };
    let version = node.text().unwrap_or_default();
    if version == profile::NAMESPACE {
        return Ok(PLAIN_VERSION);
    }
    if version == v2_0::VERSION {
        // TOSCA 2.0 has no version of its own for variable templates.
        return Ok(if plain::is_plain(root) { PLAIN_VERSION } else { NEWEST_VERSION });
    }
    if OLDER_VERSIONS.contains(&version) {
        let message = format!("`{version}` is read as `{PLAIN_VERSION}`");
        diagnostics.push(Diagnostic::warning(Code::UnsupportedVersion, message).at(node.span()));
        return Ok(PLAIN_VERSION);
    }
    if options::known_version(version) {
        return Ok(version);
    }
    let known: Vec<_> = std::iter::once(v2_0::VERSION).chain(options::versions()).collect();
    let help = did_you_mean(version, known.iter().copied())
        .unwrap_or_else(|| format!("it can be {}", known.join(", ")).into());
    Err(error(format!("the definitions version `{version}` cannot be resolved"))
        .at(node.span())
        .help(help))
}

fn imports<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Import<'a>> {
    if node.kind() != NodeKind::Sequence && !node.is_null() {
        diagnostics.push(invalid(node, "`imports` has to be a list"));
    }
    node.items().filter_map(|item| import(item, diagnostics)).collect()
}

fn import<'a>(item: Node<'a>, diagnostics: &mut Diagnostics) -> Option<Import<'a>> {
    // The value of a keyword of variability is not a file name.
    let is_named = |definition: &ImportDefinition<'_>| {
        definition.name.is_none_or(|name| !name.text().is_some_and(is_keyword))
    };
    let Some(definition) = ImportDefinition::read(item).filter(is_named) else {
        let expected = match v2_0::is_of(item.document()) {
            true => "an import has to be a URL, or a map with `url` or `profile`",
            false => "an import has to be the name of a file, or a map with `file`",
        };
        diagnostics.push(invalid(item, expected));
        return None;
    };
    let mut declared = Declared::new(item, Some(definition.body));
    for (key, value) in definition.body.entries() {
        if !declared.take(ElementKind::Import, key, value, diagnostics) {
            diagnostics.0.extend(shape::IMPORT.unknown(key, Reading::Strict));
        }
    }
    Some(Import { declared, definition })
}
