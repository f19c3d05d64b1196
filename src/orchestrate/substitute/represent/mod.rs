//! Makes the representations of the node templates of TOSCA 2.0 (chapter 14). A template with
//! `count` stands for that many nodes, and each of them has an index from 0 that never changes: the
//! template `site` becomes the nodes `site@0`, `site@1` and so on, as in instances.
//!
//! First the nodes are repeated, and whatever names their templates names them instead
//! ([`rewrite`], [`sections`]). Then requirements get their targets among them ([`link`], [`matching`]). What is
//! not known before deployment stays as it is.

mod known;
mod link;
mod matching;
mod rewrite;
mod sections;

use super::defaults;
use super::view::{entry, is_copy, is_of_2_0, key_span, uncopied};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::orchestrate::representation;
use crate::orchestrate::tree::{MapEntries, entries, key_name, like, within_topology};
use crate::topology::{Spanned, type_named};
use crate::tosca::v2_0::function::NODE_INDEX;
use crate::tosca::{Family, PropertyDefinition, Types, v2_0};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutKey, OutNode};
use known::{Indices, KnownInputs};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// How many nodes all templates stand for at most, and how many relations lead to these.
const REPRESENTATIONS: u64 = 100_000;

/// A document in which no node template stands for several nodes, as far as counts are known.
pub(crate) struct RepresentedDocument<'a> {
    pub document: Out<'a>,
    /// The document with the values of functions, if there is one.
    pub evaluated: Option<Out<'a>>,
    pub nodes: RepresentedNodes,
    /// Whether it is another document than the given one.
    pub is_changed: bool,
}

/// The nodes that each template with a count stands for.
#[derive(Default)]
pub(crate) struct RepresentedNodes {
    by_template: FxHashMap<String, Vec<String>>,
}

impl RepresentedNodes {
    /// The nodes of each template that has a count.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (&String, &[String])> {
        self.by_template.iter().map(|(template, nodes)| (template, &**nodes))
    }

    /// Whether a template has a count.
    pub(crate) fn is_counted(&self, template: &str) -> bool {
        self.by_template.contains_key(template)
    }

    /// The nodes that a template stands for: one of its own name, if it has no count.
    pub(super) fn of<'n>(&'n self, template: &'n String) -> impl Iterator<Item = &'n String> {
        let nodes = self.by_template.get(template).map(Vec::as_slice);
        nodes.unwrap_or(std::slice::from_ref(template)).iter()
    }
}

/// The numbers of nodes that templates stand for.
struct NodeCounts {
    by_template: FxHashMap<String, u64>,
}

/// The making of representations.
struct Representing<'r, 't> {
    counts: &'r NodeCounts,
    known: &'r KnownInputs,
    types: &'r Types<'t>,
    /// Whether functions are replaced by their values where indices decide these.
    evaluates: bool,
    found: RefCell<Diagnostics>,
}

/// Makes the representations of a document. `inputs` are the given values of topology inputs.
///
/// # Errors
/// `invalid-value` for counts that are none, `duplicate` for nodes of one name,
/// `dangling-reference` for paths to nodes that do not exist, and `unfulfilled-requirement` for
/// requirements that get no target.
pub(crate) fn represented<'a>(
    document: Out<'a>,
    evaluated: Option<Out<'a>>,
    inputs: &FxHashMap<String, Value>,
    types: &Types<'_>,
) -> Result<RepresentedDocument<'a>, Diagnostics> {
    if !is_of_2_0(&document) {
        let nodes = RepresentedNodes::default();
        return Ok(RepresentedDocument { document, evaluated, nodes, is_changed: false });
    }
    let judged = evaluated.as_ref().unwrap_or(&document);
    let section = section(judged, "node_templates");
    let has_copies = section.iter().flat_map(entries).any(|(_, body)| is_copy(&body));
    let templates = section.map(|all| uncopied(&all)).unwrap_or_default();
    let known = known_inputs(judged, inputs);
    let counts = NodeCounts::of(&templates, &known)?;
    let repeats = !counts.by_template.is_empty() || has_copies;
    let repeated = |document: Out<'a>, evaluates: bool| {
        if !repeats {
            return Ok(document);
        }
        let found = RefCell::default();
        let representing = Representing { counts: &counts, known: &known, types, evaluates, found };
        let document = representing.document(&document);
        let found = representing.found.into_inner();
        // The same errors are found in both documents.
        if found.has_errors() { Err(found) } else { Ok(document) }
    };
    let (document, evaluated) =
        (repeated(document, false)?, evaluated.map(|it| repeated(it, true)).transpose()?);
    let judged = evaluated.as_ref().unwrap_or(&document);
    let links = match counts.by_template.is_empty() && !link::are_needed(&templates) {
        true => None,
        false => Some(link::links(judged, &counts, &known, types)?).filter(|it| !it.is_empty()),
    };
    let is_changed = repeats || links.is_some();
    let (document, evaluated) = match links {
        None => (document, evaluated),
        Some(links) => {
            let write = |of: (&Out<'a>, bool)| links.write(of, &known, types);
            (write((&document, false)), evaluated.as_ref().map(|it| write((it, true))))
        }
    };
    Ok(RepresentedDocument { document, evaluated, nodes: counts.names(), is_changed })
}

/// How many nodes the node templates of a document stand for that say so, as far as the defaults of
/// inputs decide it.
pub(crate) fn counts(document: &Out<'_>) -> FxHashMap<String, u64> {
    let templates = section(document, "node_templates").filter(|_| is_of_2_0(document));
    let templates = templates.map(|all| uncopied(&all)).unwrap_or_default();
    let counts = NodeCounts::of(&templates, &known_inputs(document, &FxHashMap::default()));
    // What is wrong with a count is reported where the nodes are repeated.
    counts.map(|counts| counts.by_template).unwrap_or_default()
}

fn section<'a>(document: &Out<'a>, name: &str) -> Option<Out<'a>> {
    entry(&entry(document, "topology_template")?, name)
}

fn known_inputs(document: &Out<'_>, given: &FxHashMap<String, Value>) -> KnownInputs {
    let declared = section(document, "inputs");
    KnownInputs::of(declared.as_ref().map(OutNode::root), given)
}

impl NodeCounts {
    /// Reads the counts of node templates.
    fn of(templates: &MapEntries<'_>, known: &KnownInputs) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut by_template = FxHashMap::default();
        let mut all = 0_u64;
        for (key, body) in templates {
            let Some(count) = entry(body, "instance_count") else { continue };
            let (name, place) = (key_name(key), OutNode::root(&count).span());
            let place = if place.is_detached() { key_span(key) } else { place };
            // Outside of nodes that are there, the index is that of a single one.
            let at = Indices { node: Some(0), ..Indices::default() };
            match known.value(&count, at).map(|value| value.map(|value| (whole(&value), value))) {
                Ok(None | Some((None, Value::Null))) => {}
                Ok(Some((Some(count), _))) => {
                    all = all.saturating_add(count);
                    if all > REPRESENTATIONS {
                        let message = format!(
                            "the node templates stand for more than {REPRESENTATIONS} nodes together"
                        );
                        errors.push(invalid(message, place).help("lower the `count`"));
                        break;
                    }
                    by_template.insert(name.into_owned(), count);
                }
                Ok(Some((None, other))) => {
                    let message =
                        format!("the `count` of `{name}` is an integer from 0 up, not `{other}`");
                    errors.push(invalid(message, place));
                }
                Err(why) => {
                    let message = format!("the `count` of `{name}` has no value: {why}");
                    errors.push(invalid(message, place));
                }
            }
        }
        let counts = Self { by_template };
        errors.0.extend(counts.equal_names(templates));
        if errors.has_errors() { Err(errors) } else { Ok(counts) }
    }

    /// Reports node templates that have the name of a node of another one.
    fn equal_names(&self, templates: &MapEntries<'_>) -> Vec<Diagnostic> {
        let by_name: FxHashMap<_, _> =
            templates.iter().map(|(key, _)| (key_name(key).into_owned(), key_span(key))).collect();
        let error = |(key, _): &(OutKey<'_>, Out<'_>)| {
            let name = key_name(key);
            let (template, index) = name.rsplit_once('@')?;
            let is_node = index.parse().is_ok_and(|index: u64| {
                representation(template, index) == *name && self.get(template) > Some(index)
            });
            let first = by_name.get(template).filter(|_| is_node)?;
            let message =
                format!("`{name}` is the name of a node of the template `{template}`, too");
            let error = Diagnostic::error(Code::Duplicate, message).at(key_span(key));
            let error = error.label(*first, "this is the template with a `count`");
            Some(error.help("give one of them another name"))
        };
        templates.iter().filter_map(error).collect()
    }

    /// How many nodes a template stands for, if it says so.
    fn get(&self, template: &str) -> Option<u64> {
        self.by_template.get(template).copied()
    }

    /// The names of the nodes that a template stands for, if it says how many.
    fn nodes(&self, template: &str) -> Option<Vec<String>> {
        let count = self.get(template)?;
        Some((0..count).map(|index| representation(template, index)).collect())
    }

    fn names(&self) -> RepresentedNodes {
        let names = self.by_template.keys();
        let names = names.filter_map(|template| Some((template.clone(), self.nodes(template)?)));
        RepresentedNodes { by_template: names.collect() }
    }
}

/// A number from 0 up.
fn whole(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    u64::try_from(number.as_int().filter(|_| number.is_integer())?).ok()
}

fn invalid(message: String, place: Span) -> Diagnostic {
    let error = Diagnostic::error(Code::InvalidValue, message).at(place);
    error.rule(Rule::new(&TOSCA_2_0, "14.1"))
}

impl Representing<'_, '_> {
    fn document<'a>(&self, document: &Out<'a>) -> Out<'a> {
        within_topology(document, &mut |section, value| match section {
            "node_templates" => self.nodes(value),
            "groups" => self.groups(value),
            "policies" => self.policies(value),
            "workflows" => self.workflows(value),
            "substitution_mappings" => self.mappings(value),
            "inputs" => value.clone(),
            "outputs" => {
                self.without_index(value);
                self.value(value, Indices::default())
            }
            _ => self.value(value, Indices::default()),
        })
    }

    /// Reports outputs that ask for the index of a node, which they are not in.
    fn without_index(&self, outputs: &Out<'_>) {
        for (key, output) in entries(outputs) {
            if v2_0::calls_function(&OutNode::root(&output).to_value(), NODE_INDEX) {
                let message = "`$node_index` has a meaning in a node only";
                let error = Diagnostic::error(Code::InvalidFunction, message).at(key_span(&key));
                let error = error.rule(Rule::new(&TOSCA_2_0, "10.2.1.6"));
                self.found.borrow_mut().push(error);
            }
        }
    }

    fn nodes<'a>(&self, section: &Out<'a>) -> Out<'a> {
        let mut all = Vec::new();
        for (key, body) in uncopied(section) {
            let name = key_name(&key);
            let Some(count) = self.counts.get(&name) else {
                all.push((key, self.value(&body, Indices::default())));
                continue;
            };
            let mut body_entries = entries(&body);
            body_entries.retain(|(key, _)| key_name(key) != "instance_count");
            self.add_defaults(&mut body_entries);
            let body = like(&body, body_entries);
            for index in 0..count {
                let new = representation(&name, index);
                let key = match &key {
                    OutKey::Source(key) | OutKey::Renamed(key, _) if index == 0 => {
                        OutKey::Renamed(*key, new.into())
                    }
                    _ => OutKey::New(new.into()),
                };
                let at = Indices { node: Some(index), ..Indices::default() };
                all.push((key, self.value(&body, at)));
            }
        }
        like(section, all)
    }

    /// Adds the values of the types of a node that ask for its index: in the result, types do not
    /// know it.
    fn add_defaults(&self, body: &mut MapEntries<'_>) {
        let kind = body.iter().find(|(key, _)| key_name(key) == "type");
        let kind = kind.map(|(_, kind)| OutNode::root(kind)).and_then(|kind| {
            let name = Spanned { value: kind.text()?.into_owned(), span: kind.span() };
            type_named(self.types, Family::Node, &name)
        });
        if let Some(kind) = kind {
            let own = |definition: &PropertyDefinition<'_>| index_asked(definition, NODE_INDEX);
            defaults::add_to_template(body, self.types.effective(kind), &own);
        }
    }
}

/// The value that a definition gives, if it asks for an index.
pub(super) fn index_asked<'a>(
    definition: &PropertyDefinition<'_>,
    function: &str,
) -> Option<Out<'a>> {
    let value = definition.value.or(definition.default)?.to_value();
    v2_0::calls_function(&value, function).then_some(Out::Value(value))
}
