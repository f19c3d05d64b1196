//! Describes what stands at a place, for people who point at it.

use super::TemplateAnalysis;
use super::grammar::{FilePurpose, NameFamily};
use super::owners::DefinedMember;
use super::symbols::{NameAtPlace, SymbolKey};
use super::walk::{WordRole, operator_of, walk_as};
use crate::diagnostic::page;
use crate::explore::{Opened, Space, VariantShare, words};
use crate::tosca::types::Parts;
use crate::tosca::types::schemas::defined_units;
use crate::tosca::v2_0::function::BuiltIn;
use crate::tosca::v2_0::grammar::{ElementGrammar, KeynameContent};
use crate::tosca::{Family, TypeId, Types, v2_0};
use crate::variability::expression::InputCase;
use crate::variability::graph::ElementId;
use crate::variability::inputs::{Declaration, InputId};
use crate::variability::options;
use crate::variability::prepared::Prepared;
use cuvee_text::source::{Span, normalize};
use cuvee_text::yaml::{Node, NodeKind};
use std::fmt::Write;
use std::path::Path;

/// How many steps counting the variants with an element may take.
const EFFORT: u64 = 200_000;

/// How many elements a template may have so that variants are counted. Of larger ones that takes
/// longer than somebody waits who points at a word.
const ELEMENTS: usize = 5_000;

/// How many cases of an input are shown.
const CASES: usize = 20;

/// Each operator with the heading of its section in the page on the language, and what it does.
const OPERATORS: &str = include_str!("../../presets/operators.tsv");

impl TemplateAnalysis<'_> {
    /// What stands at an offset of a file, described in Markdown, with its place. In how many
    /// variants an element is, is counted within the limits of the resolver.
    ///
    /// ```
    /// use cuvee::source::MemoryFiles;
    /// let text = "tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     box: { type: tosca.nodes.Compute }
    /// ";
    /// let resolver = cuvee::Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text)]));
    /// let offset = text.find("box").unwrap();
    /// let (_, said) = resolver
    ///     .analysis(None, |analysis| analysis.description("t.yaml".as_ref(), offset))
    ///     .unwrap();
    /// assert_eq!(said, "**box** (node template)\n\nin every variant");
    /// ```
    pub fn description(&self, path: &Path, offset: usize) -> Option<(Span, String)> {
        let at = self.read_span(path, offset)?;
        self.describe_word(path, at).or_else(|| self.describe_2_0(at))
    }

    fn describe_word(&self, path: &Path, at: Span) -> Option<(Span, String)> {
        let mut found = None;
        let here = self.roots.iter().filter(|(root, _)| root.document().file() == at.file);
        here.for_each(|&(root, content)| {
            walk_as(root, content, &mut |word| {
                let span = word.node.span();
                if span.file == at.file && (span.start..=span.end).contains(&at.start) {
                    found = Some((word.node, word.role, word.key));
                }
            });
        });
        let (node, role, key) = found?;
        let text = match role {
            WordRole::OptionName => describe_option(node.text()?)?,
            WordRole::OptionValue => describe_option(key?.text()?)?,
            WordRole::Operator => describe_operator(operator_of(node)?.keyword())?,
            WordRole::FileName(FilePurpose::Import) => self.describe_import(path, node.text()?)?,
            _ => {
                let (found, span) = self.name_at(at)?;
                return Some((self.typed_word(span)?, self.describe_found(&found)?));
            }
        };
        Some((self.typed_word(self.inner(node)?)?, text))
    }

    fn describe_found(&self, found: &NameAtPlace<'_, '_>) -> Option<String> {
        let text = match found {
            NameAtPlace::Symbol(SymbolKey::Type(id), _) => describe_type(self.types?, *id),
            NameAtPlace::Symbol(SymbolKey::Named(family, _), symbol) => {
                self.describe_name(&symbol.definitions, *family, &symbol.name)
            }
            NameAtPlace::Member(member) => {
                let types = self.types?;
                let parts = member.parts.iter();
                parts
                    .map(|part| describe_member(types, part, member.name))
                    .collect::<Vec<_>>()
                    .join("\n\n")
            }
        };
        Some(text)
    }

    /// A keyname of TOSCA 2.0, or a function that is called.
    fn describe_2_0(&self, at: Span) -> Option<(Span, String)> {
        let document = self.documents.iter().find(|it| it.file() == at.file)?;
        if !v2_0::is_of(document) {
            return None;
        }
        let (map, word) = word_at(document.root(), at.start)?;
        let text = match word.as_str().and_then(v2_0::function_name) {
            Some(name) => describe_function(name)?,
            None => {
                let element = v2_0::elements(document).get(&map?.position()).copied()?;
                describe_keyname(element, v2_0::written(word))?
            }
        };
        Some((self.typed_span(word.span())?, text))
    }

    /// A file that is imported, if it was read: what it says of itself, and how much it defines.
    fn describe_import(&self, path: &Path, name: &str) -> Option<String> {
        let file = normalize(&path.parent().unwrap_or(path).join(name));
        let root = self.document(&file)?.root();
        let sections =
            root.entries().filter(|(key, _)| key.text().and_then(Family::of_keyword).is_some());
        let types: usize = sections.map(|(_, types)| types.entries().len()).sum();
        let plural = if types == 1 { "" } else { "s" };
        let description = root.get("description").and_then(Node::as_str).unwrap_or_default();
        let text = format!("**{name}**: {types} type{plural}\n\n{}", description.trim());
        Some(text.trim_end().to_owned())
    }

    fn describe_name(&self, definitions: &[Span], family: NameFamily, name: &str) -> String {
        let mut text = format!("**{name}** ({})", family.noun());
        let Some(prepared) = self.prepared else { return text };
        match family {
            NameFamily::VariabilityInput => {
                let mut inputs = prepared.inputs.declarations.iter();
                if let Some((id, declaration)) = inputs.find(|(_, it)| it.name == name) {
                    describe_input(prepared, id, declaration, &mut text);
                }
            }
            NameFamily::Expression => {
                let expressions = &prepared.graph.template.variability.expressions;
                let it = expressions.iter().find(|(key, _)| key.text() == Some(name));
                if let Some((_, expression)) = it {
                    let _ = write!(text, "\n\n{}", words::words(&expression.to_value()));
                }
            }
            _ => self.describe_elements(definitions, &mut text),
        }
        text
    }

    /// When the elements of a name are present, and in how many variants.
    fn describe_elements(&self, definitions: &[Span], text: &mut String) {
        let is_here = |span: Span| definitions.contains(&span);
        for hint in self.conditional(&is_here) {
            let _ = write!(text, "\n\npresent if {}", hint.condition);
        }
        let Some(prepared) = self.prepared else { return };
        let graph = &prepared.graph;
        let mut ids = graph.ids().filter(|id| is_here(graph.element(*id).span));
        // Of alternatives with one name, each has its own place.
        if let Some(id) = ids.next().filter(|id| !graph.is_of_variability_group(*id)) {
            let _ = write!(text, "\n\n{}", share_in_words(prepared, id));
        }
    }
}

/// The key or scalar at an offset, and the map that has it for a key.
fn word_at(node: Node<'_>, at: u32) -> Option<(Option<Node<'_>>, Node<'_>)> {
    let is_here = |node: &Node<'_>| (node.span().start..=node.span().end).contains(&at);
    if node.kind() == NodeKind::Scalar {
        return is_here(&node).then_some((None, node));
    }
    if let Some((key, _)) = node.entries().find(|(key, _)| is_here(key)) {
        return Some((Some(node), key));
    }
    node.parts().filter(is_here).find_map(|part| word_at(part, at))
}

fn describe_function(name: &str) -> Option<String> {
    let BuiltIn { takes, section, .. } = BuiltIn::named(name)?;
    let call = if takes.is_empty() { String::new() } else { format!(": {takes}") };
    Some(format!("**${name}** (function): `${name}{call}`\n\nsection {section} of TOSCA 2.0"))
}

fn describe_keyname(element: &ElementGrammar, name: &str) -> Option<String> {
    let keyname = element.keyname(name)?;
    let ElementGrammar { what, section, .. } = element;
    let mandatory = if keyname.mandatory { ", mandatory" } else { "" };
    let mut text = format!("**{name}** (keyname of {what}{mandatory})");
    if let KeynameContent::Words(words) = keyname.holds {
        let _ = write!(text, "\n\nvalues: {}", words.join(", "));
    }
    let _ = write!(text, "\n\nsection {section} of TOSCA 2.0");
    Some(text)
}

/// In how many variants an element is.
fn share_in_words(prepared: &Prepared<'_>, id: ElementId) -> String {
    const NOT_COUNTED: &str = "not counted";
    if prepared.graph.elements.len() > ELEMENTS {
        return NOT_COUNTED.to_owned();
    }
    let space = Space::of(prepared, true, &mut ()).ok().filter(|_| !prepared.limit.is_over());
    match space.and_then(|space| space.share(id, EFFORT)) {
        Some(VariantShare::Every) => "in every variant".to_owned(),
        Some(VariantShare::None) => "in no variant".to_owned(),
        Some(VariantShare::Void) => "there is no variant".to_owned(),
        Some(VariantShare::Some(Some([with, all]))) => format!("in {with} of {all} variants"),
        Some(VariantShare::Some(None)) => format!("in some variants, {NOT_COUNTED}"),
        None => NOT_COUNTED.to_owned(),
    }
}

/// An input with its values: all that conditions tell apart.
fn describe_input(
    prepared: &Prepared<'_>,
    id: InputId,
    declaration: &Declaration<'_>,
    text: &mut String,
) {
    if let Some(kind) = declaration.primitive() {
        let _ = write!(text, ": {}", kind.name());
    }
    if let Some(description) = declaration.description {
        let _ = write!(text, "\n\n{}", description.trim());
    }
    for constraint in declaration.constraints() {
        let _ = write!(text, "\n\n`{}`", constraint.text());
    }
    if let Some(default) = declaration.default_value() {
        let _ = write!(text, "\n\ndefault: `{default}`");
    }
    if let Some(computed) = declaration.computed_default() {
        let _ = write!(text, "\n\ndefault: {}", words::words(&computed.to_value()));
    }
    let opened = Opened::new(prepared, true, &mut ()).ok();
    let cases = opened.as_ref().and_then(|opened| opened.cases_of(id)).unwrap_or_default();
    let shown: Vec<_> = cases.iter().take(CASES).map(|case: &InputCase| &*case.label).collect();
    match shown.as_slice() {
        [] => {}
        [_] => text.push_str("\n\nno condition tells its values apart"),
        several => {
            let more = if cases.len() > CASES { ", ..." } else { "" };
            let _ = write!(text, "\n\ncases: {}{more}", several.join(" | "));
        }
    }
}

fn describe_option(name: &str) -> Option<String> {
    let option = options::known().find(|it| it.name == name)?;
    let (description, values) = (option.description, option.values.join(", "));
    let page = link("options", &option.section.to_ascii_lowercase().replace(' ', "-"));
    Some(format!("**{name}** (option): {description}\n\nvalues: {values}\n\n{page}"))
}

fn describe_operator(keyword: &str) -> Option<String> {
    let mut lines = OPERATORS.lines().map(|line| line.splitn(3, '\t'));
    let mut line = lines.find_map(|mut line| (line.next() == Some(keyword)).then_some(line))?;
    let (heading, text) = (line.next()?, line.next()?);
    Some(format!("**{keyword}** (operator): {text}\n\n{}", link("language", heading)))
}

/// A link to a page; as long as there is no site, the name of the page.
fn link(name: &str, heading: &str) -> String {
    let file = format!("docs/{name}.md#{heading}");
    page(name, heading).map_or_else(|| format!("`{file}`"), |page| format!("[{file}]({page})"))
}

/// A part of a type with the type that has it, and what is said of it.
fn describe_member(types: &Types<'_>, part: &DefinedMember<'_>, name: &str) -> String {
    let said = |key: &str| part.body.get(key)?.as_str().map(str::trim);
    let kind_of_value = said("type").map(|it| format!(": {it}")).unwrap_or_default();
    let (noun, owner) = (part.kind.noun(), types.definition(part.owner).name);
    let description = said("description").map(|it| format!("\n\n{it}")).unwrap_or_default();
    format!("**{name}**{kind_of_value} ({noun} of {owner}){description}")
}

/// A type with its parents and what it effectively has.
fn describe_type(types: &Types<'_>, id: TypeId) -> String {
    let definition = types.definition(id);
    let parents: Vec<_> = types.chain(id).skip(1).map(|id| types.definition(id).name).collect();
    let mut text = format!("**{}** ({})", definition.name, definition.family.noun());
    if let Some(description) = definition.description.and_then(Node::as_str) {
        let _ = write!(text, "\n\n{}", description.trim());
    }
    if !parents.is_empty() {
        let _ = write!(text, "\n\nderives from {}", parents.join(", "));
    }
    let units: Vec<_> = defined_units(types, id).into_iter().map(|(unit, _)| unit).collect();
    if !units.is_empty() {
        let _ = write!(text, "\n\nunits: {}", units.join(", "));
    }
    let effective = types.effective(id);
    let mut list = |what: &str, parts: Vec<(&str, TypeId)>| {
        for (index, (name, owner)) in parts.iter().enumerate() {
            let heading = if index == 0 { format!("\n\n{what}:") } else { String::new() };
            let owner = if *owner == id {
                String::new()
            } else {
                format!(" (of {})", types.definition(*owner).name)
            };
            let _ = write!(text, "{heading}\n- `{name}`{owner}");
        }
    };
    list("properties", origins(&effective.properties));
    list("attributes", origins(&effective.attributes));
    list("capabilities", origins(&effective.capabilities));
    list("requirements", origins(&effective.requirements));
    list("interfaces", origins(&effective.interfaces));
    list("artifacts", origins(&effective.artifacts));
    list("inputs", origins(&effective.interface.inputs));
    list("operations", origins(&effective.interface.operations));
    list("notifications", origins(&effective.interface.notifications));
    let valid = effective.valid_types.iter().flatten().filter_map(|name| name.text());
    let valid: Vec<_> = valid.map(|name| format!("`{name}`")).collect();
    if !valid.is_empty() {
        let _ = write!(text, "\n\ngoes with {}", valid.join(", "));
    }
    text
}

/// The names of parts, each with the type that it comes from.
fn origins<'a, T>(parts: &Parts<'a, T>) -> Vec<(&'a str, TypeId)> {
    parts.values().map(|part| (part.named.name, part.owner)).collect()
}
