//! Judges whether a template can substitute a node, and how: where the node's properties,
//! capabilities and relations go.

use super::view::{TemplateView, ViewedNode, ViewedRequirement, entry, is_of_2_0, key_span};
use crate::diagnostic::Diagnostics;
use crate::orchestrate::fulfil::{GraphNode, NodeSubject};
use crate::orchestrate::tree::{entries, key_name};
use crate::topology::TopologyNode;
use crate::tosca::filter::{FilterReason, FilterVerdict, NodeFilter};
use crate::tosca::mapping::{
    MappedRequirement, MappingProblem, OpenSlots, RequirementMappings, SlotCounts,
};
use crate::tosca::requirement::{AssignedCount, bounds};
use crate::tosca::substitution::{
    MappedPart, MappingTarget, PartMapping, Substitution, SubstitutionMapping,
};
use crate::tosca::types::PropertyDefinition;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::{Family, TypeId, Types, v2_0};
use cuvee_text::decimal::Decimal;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeIdentity, Out, OutNode};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A template of the catalogue.
pub(crate) struct CatalogueTemplate<'a> {
    /// Its path, as it is shown and as users name it.
    pub name: String,
    pub file: FileId,
    pub substitution: Substitution<'a>,
    /// The type that it substitutes, if that is known.
    pub kind: Option<TypeId>,
    /// The names of files that it uses, as the template in which it substitutes a node calls them.
    pub names: FxHashMap<NodeIdentity, String>,
}

/// A variant of a template of the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct CandidateVariant<'a> {
    /// The preset that gives the variant; `None` for the variant by defaults.
    pub preset: Option<String>,
    /// Other presets that give the same variant.
    pub also: Vec<String>,
    /// Variability inputs that do not have their defaults.
    pub inputs: Vec<(String, Value)>,
    /// The weight of the nodes that stay. A node counts 1 unless it says otherwise.
    pub weight: Decimal,
    /// The weight of the nodes that are substituted in turn; `None` if there are none.
    pub facades: Option<Decimal>,
    /// If time ran out before it was proven that no variant costs less: a lower bound for the
    /// weight of all of them.
    pub least: Option<Decimal>,
    /// The inputs of another variant with the same weight and other nodes, if nothing decides
    /// between the two.
    pub rival: Option<Vec<(String, Value)>>,
    /// Whether the template permits any of several equally good variants.
    pub is_settled: bool,
    /// The resolved template.
    pub view: Rc<TemplateView<'a>>,
}

/// A node that is to be substituted, as the rest of its template sees it.
pub(crate) struct Facade<'v, 'a> {
    pub node: &'v ViewedNode<'a>,
    pub kind: TypeId,
    /// The node with the values of its properties, as far as they are known.
    pub values: &'v TopologyNode,
    /// Where the node stands, for filters that ask for more.
    pub place: GraphNode<'v>,
    /// The relationship templates that its relations may name.
    pub relationships: Option<Out<'a>>,
    /// The capabilities that relations lead to, each with the place of one such relation.
    pub capabilities: BTreeMap<String, Span>,
    /// Its assigned requirements, with their slots in the order in which they are mapped.
    pub requirements: Vec<FacadeRequirement>,
}

/// The slots of a requirement of a node that is to be substituted.
pub(crate) struct FacadeRequirement {
    pub name: String,
    pub slots: Vec<usize>,
    /// How many of the slots are certain to exist.
    pub min: u64,
}

/// The place to which something of a substituted node is mapped: a node of the template, and the
/// name of one of its parts.
pub(crate) type MappedTo = (String, String);

/// What of a node gives an input of a template its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FedInput {
    /// A property of this name.
    Property(String),
    /// The property of a part, by the position of its mapping.
    Part(usize),
}

/// How a template substitutes a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateFit {
    /// For each input what gives its value; other inputs have their defaults.
    pub inputs: BTreeMap<String, FedInput>,
    /// The places of its capabilities.
    pub capabilities: FxHashMap<String, MappedTo>,
    /// The places to which its relations are mapped.
    pub requirements: Vec<FitRequirement>,
}

/// The places to which the relations of one requirement are mapped.
#[derive(Clone, Debug)]
pub(crate) struct FitRequirement {
    pub name: String,
    pub mappings: Vec<FitMapping>,
    /// For each slot the mapping that takes it.
    pub taken: Vec<usize>,
    /// For each slot the position of its assignment.
    pub slots: Vec<usize>,
    /// The mappings in the order in which they take slots, each with the number of these.
    pub runs: Vec<(usize, u64)>,
    /// The number of mappings, with groups written out.
    pub entries: u64,
    /// How many of them lead to mandatory requirements.
    pub mandatory: u64,
}

/// A mapping of a requirement.
#[derive(Clone, Debug)]
pub(crate) struct FitMapping {
    /// The place of the mapping in the source.
    pub span: Span,
    /// The requirements of nodes that it leads to.
    pub targets: Vec<MappedTo>,
    /// The selected nodes that it leads to.
    pub selected: Vec<String>,
    pub is_mandatory: bool,
}

/// The reason why a template cannot substitute a node.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// How near the template was to fitting.
    pub rank: u8,
    pub message: String,
    /// The place in the template.
    pub at: Span,
    /// The place at the node.
    pub here: Option<Span>,
    pub kind: RefusalKind,
}

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The template does not fit.
    Unfit,
    /// Whether the template fits is only known at run time.
    Undecided,
    /// The template would contain itself.
    Cyclic,
    /// Several variants of the template are equally good.
    Ambiguous,
    /// No variant of the template was found in time.
    Interrupted,
}

impl Refusal {
    pub(crate) fn new(rank: u8, message: impl Into<String>, at: Span) -> Self {
        Self { rank, message: message.into(), at, here: None, kind: RefusalKind::Unfit }
    }

    pub(crate) fn of_kind(self, kind: RefusalKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn here(self, here: Span) -> Self {
        Self { here: Some(here), ..self }
    }
}

/// Whether a type is another one or derives from it. Types that two files define alike are the
/// same.
pub(crate) fn is_a(types: &Types<'_>, kind: TypeId, ancestor: TypeId) -> bool {
    types.chain(kind).any(|kind| kind == ancestor || types.is_alike(kind, (types, ancestor)))
}

/// Judges whether a template is for nodes of this type.
pub(crate) fn judge_kind(
    types: &Types<'_>,
    facade: &Facade<'_, '_>,
    template: &CatalogueTemplate<'_>,
) -> Result<TypeId, Refusal> {
    let substitution = &template.substitution;
    let at = substitution.node_type.unwrap_or(substitution.node).span();
    let wanted = types.definition(facade.kind).name;
    let known = template.kind;
    let kind = known.ok_or_else(|| Refusal::new(0, "its `node_type` is not known", at))?;
    let version = |node: Node<'_>| v2_0::is_of(node.document());
    let is_of_other = version(substitution.node) != version(types.definition(facade.kind).value);
    let is_it = is_a(types, kind, facade.kind);
    if is_it && !is_of_other {
        judge_filter(types, facade, template)?;
        return Ok(kind);
    }
    let own = types.definition(kind).name;
    let message = match own == wanted {
        // A file has one version, and its functions mean nothing in the other one.
        is_same if is_of_other && (is_it || is_same) => {
            "it is of another version of TOSCA: convert one of the two templates".to_owned()
        }
        true => format!("it is for another type `{own}`, with a different definition"),
        false => format!("it is for a `{own}`, which is no `{wanted}`"),
    };
    Err(Refusal::new(1, message, at).here(facade.node.span))
}

/// Judges whether the node passes the filter of a template (M2).
fn judge_filter(
    types: &Types<'_>,
    facade: &Facade<'_, '_>,
    template: &CatalogueTemplate<'_>,
) -> Result<(), Refusal> {
    let Some(filter) = template.substitution.node.get("substitution_filter") else {
        return Ok(());
    };
    // Validation reports errors in the shape of the filter.
    let filter = NodeFilter::read(filter, &mut Diagnostics::default());
    let schemas = Schemas::new(types);
    let refused = |reason: FilterReason| Refusal::new(2, reason.message, reason.at);
    match filter.verdict(&NodeSubject::of(types, &schemas, facade.values, facade.place)) {
        FilterVerdict::Holds => Ok(()),
        FilterVerdict::Fails(reason) => Err(refused(reason).here(facade.node.span)),
        FilterVerdict::Undecided(reason) => {
            let refusal = refused(reason).here(facade.node.span);
            Err(refusal.of_kind(RefusalKind::Undecided))
        }
    }
}

/// Whether a node has an instance count other than one.
pub(crate) fn is_counted(node: &ViewedNode<'_>) -> bool {
    let once = Value::from(1_i64);
    let count = entry(&node.body, "instance_count");
    count.is_some_and(|count| OutNode::root(&count).to_value() != once)
}

/// Judges how a variant of a template substitutes a node.
pub(crate) fn judge<'a>(
    types: &Types<'_>,
    facade: &Facade<'_, 'a>,
    template: &CatalogueTemplate<'a>,
    view: &TemplateView<'a>,
) -> Result<CandidateFit, Refusal> {
    let judging = Judging { types, facade, template, view };
    let kind = judge_kind(types, facade, template)?;
    judging.constants()?;
    let requirements = judging.requirements(kind)?;
    let inputs = judging.inputs(kind)?;
    let capabilities = judging.capabilities()?;
    Ok(CandidateFit { inputs, capabilities, requirements })
}

struct Judging<'j, 't, 'v, 'a> {
    types: &'j Types<'t>,
    facade: &'j Facade<'v, 'a>,
    template: &'j CatalogueTemplate<'a>,
    view: &'j TemplateView<'a>,
}

impl<'a> Judging<'_, '_, '_, 'a> {
    /// Checks constant property mappings, which are deprecated: the property has to have that value
    /// (M2).
    fn constants(&self) -> Result<(), Refusal> {
        for mapping in &self.template.substitution.properties {
            let Some(wanted) = mapping.value.map(Node::to_value) else { continue };
            let name = mapping.named.name;
            let own = self.facade.node.property(name).map(|own| OutNode::root(&own).to_value());
            let own = own.or_else(|| {
                let kinds = [self.facade.kind, self.template.kind.unwrap_or(self.facade.kind)];
                value_of_type(self.types, kinds, name).map(Node::to_value)
            });
            if own.as_ref() != Some(&wanted) {
                let message = format!("it is for nodes whose `{name}` is {wanted}");
                let refusal = Refusal::new(2, message, mapping.named.key.span());
                return Err(refusal.here(self.facade.node.span));
            }
        }
        Ok(())
    }

    /// Checks that every input without a default gets its value from a property (M4).
    fn inputs(&self, kind: TypeId) -> Result<BTreeMap<String, FedInput>, Refusal> {
        let mut fed = BTreeMap::new();
        let Substitution { properties: mappings, part_properties: parts, .. } =
            &self.template.substitution;
        for (key, declaration) in
            self.view.section("inputs").map(|it| entries(&it)).unwrap_or_default()
        {
            let input = key_name(&key).into_owned();
            let leads_here = |mapping: &&SubstitutionMapping<'a>| matches!(mapping.path(), [name] if name.text() == Some(&*input));
            let own = mappings.iter().find(leads_here).map(|mapping| mapping.named.name);
            let part = parts.iter().position(|mapping| mapping.to.text() == Some(&*input));
            let value = match (own, part) {
                (None, Some(part)) => {
                    let Facade { node, relationships, .. } = self.facade;
                    mapped_value(
                        self.types,
                        node,
                        relationships.as_ref(),
                        &parts[part],
                        &|it, _| it,
                    )
                    .map(|_| FedInput::Part(part))
                }
                // TOSCA 2.0 maps nothing by its name (section 15.2).
                (own, _) => own
                    .or((!is_of_2_0(&self.view.document)).then_some(&*input))
                    .filter(|property| self.has_value(property, kind))
                    .map(|property| FedInput::Property(property.to_owned())),
            };
            if let Some(value) = value {
                fed.insert(input, value);
                continue;
            }
            let whole = OutNode::root(&declaration);
            let is_optional =
                whole.get("required").is_some_and(|it| it.to_value() == Value::Bool(false));
            let has_value = ["default", "value"].iter().any(|key| whole.get(key).is_some());
            if !is_optional && !has_value {
                let message =
                    format!("its input `{input}` has no default, and no property gives it a value");
                let at = key_span(&key);
                return Err(Refusal::new(4, message, at).here(self.facade.node.span));
            }
        }
        Ok(fed)
    }

    /// Whether a property of the node has a value, assigned or by its type.
    fn has_value(&self, property: &str, kind: TypeId) -> bool {
        self.facade.node.property(property).is_some()
            || value_of_type(self.types, [self.facade.kind, kind], property).is_some()
    }

    /// Checks that the capabilities that relations lead to are mapped to existing nodes (M6).
    fn capabilities(&self) -> Result<FxHashMap<String, MappedTo>, Refusal> {
        let substitution = &self.template.substitution;
        let mut mapped = FxHashMap::default();
        for mapping in &substitution.capabilities {
            if let [node, capability] = mapping.path()
                && let (Some(node), Some(capability)) = (node.text(), capability.text())
                && self.view.node(node).is_some()
            {
                let to = (node.to_owned(), capability.to_owned());
                mapped.insert(mapping.named.name.to_owned(), to);
            }
        }
        for (capability, here) in &self.facade.capabilities {
            if mapped.contains_key(capability) {
                continue;
            }
            let written = substitution.capabilities.iter().find(|it| it.named.name == capability);
            let at = written.map_or(substitution.node, |mapping| mapping.named.key).span();
            let message = match written {
                Some(_) => format!("its variant has no node for the capability `{capability}`"),
                None => format!("it does not map the capability `{capability}`, which is used"),
            };
            return Err(Refusal::new(6, message, at).here(*here));
        }
        Ok(mapped)
    }

    /// Checks that the mappings of requirements work for this node (M3).
    fn requirements(&self, kind: TypeId) -> Result<Vec<FitRequirement>, Refusal> {
        let effective = &self.types.effective(kind).requirements;
        let mut all = Vec::new();
        for (name, part) in effective.iter() {
            let written = self.template.substitution.requirements.iter();
            let written: Vec<_> = written.filter(|mapping| mapping.named.name == *name).collect();
            let rules = RequirementMappings {
                bounds: bounds(&part.definition),
                mappings: Vec::new(),
                open: Vec::new(),
            };
            let (onto, mappings) = (FxHashMap::default(), Vec::new());
            let mut mapped = RulesInMaking { rules, onto, mappings };
            for mapping in written {
                self.mapping(mapping, &mut mapped)?;
            }
            all.extend(self.performed(name, mapped)?);
        }
        Ok(all)
    }

    fn performed(
        &self,
        name: &str,
        mapped: RulesInMaking,
    ) -> Result<Option<FitRequirement>, Refusal> {
        let RulesInMaking { rules, mut mappings, .. } = mapped;
        let facade = self.facade.requirements.iter().find(|it| it.name == name);
        if mappings.is_empty() && facade.is_none() {
            return Ok(None);
        }
        let place = |mapping: usize| {
            mappings.get(mapping).map_or(self.template.substitution.node.span(), |it| it.span)
        };
        let problem = rules.problems().into_iter().find(|problem| !problem.is_harmless());
        if let Some(problem) = problem {
            let (at, message) = match problem {
                MappingProblem::TooManyMandatory(count, at) => {
                    let min = rules.bounds.min;
                    let at = at.get(min as usize).or(at.last()).copied().unwrap_or(0);
                    (
                        at,
                        format!(
                            "it maps `{name}` onto mandatory requirements {count} times, but only {min} of its relations are certain"
                        ),
                    )
                }
                MappingProblem::TakesNoMore { mapping, .. } => (
                    mapping,
                    format!("it maps `{name}` onto a requirement that takes no more relations"),
                ),
                MappingProblem::BehindRest(at)
                | MappingProblem::Surplus(at)
                | MappingProblem::BoundedRest(at) => {
                    (at, format!("an earlier mapping of `{name}` takes all remaining relations"))
                }
            };
            return Err(Refusal::new(3, message, place(at)).here(self.facade.node.span));
        }
        let own = facade.map(|facade| facade.slots.clone()).unwrap_or_default();
        let slots = own.len();
        let min = facade.map_or(rules.bounds.min, |facade| facade.min);
        let taken = rules.perform(slots as u64, min);
        let runs = rules.ordered(min);
        let mandatory = rules.mandatory(slots as u64);
        let entries = rules.entries(slots as u64);
        let count = mandatory.iter().map(|(_, count)| *count).sum();
        if count > slots as u64 && facade.is_some() {
            let message =
                format!("it needs {count} relations of `{name}`, but the node has {slots}");
            let at = mandatory.last().map_or(0, |(at, _)| *at);
            return Err(Refusal::new(3, message, place(at)).here(self.facade.node.span));
        }
        for (at, _) in &mandatory {
            mappings[*at].is_mandatory = true;
        }
        Ok(Some(FitRequirement {
            name: name.to_owned(),
            mappings,
            taken,
            slots: own,
            runs,
            entries,
            mandatory: count,
        }))
    }

    fn mapping(
        &self,
        mapping: &SubstitutionMapping<'a>,
        mapped: &mut RulesInMaking,
    ) -> Result<(), Refusal> {
        let (mut targets, mut selected, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for target in &mapping.targets {
            for (node, requirement) in self.onto(target) {
                let key = (node.clone(), requirement.clone());
                let position = match mapped.onto.get(&key) {
                    Some(&position) => position,
                    None => {
                        let position = mapped.rules.open.len();
                        mapped.rules.open.push(self.open(&node, requirement.as_deref(), target)?);
                        mapped.onto.insert(key, position);
                        position
                    }
                };
                positions.push(position);
                match requirement {
                    Some(requirement) => targets.push((node, requirement)),
                    None => selected.push(node),
                }
            }
        }
        // A mapping that leads to no existing node is left out.
        if !positions.is_empty() {
            mapped
                .rules
                .mappings
                .push(MappedRequirement { share: mapping.share, targets: positions });
            let span = mapping.named.key.span();
            mapped.mappings.push(FitMapping { span, targets, selected, is_mandatory: false });
        }
        Ok(())
    }

    /// The things that a target of a mapping names, as far as they exist: a requirement of a node,
    /// or selected nodes.
    fn onto(&self, target: &MappingTarget<'a>) -> Vec<(String, Option<String>)> {
        let is_selected = |name: &&str| self.view.node(name).is_some_and(|node| node.is_selected);
        let names: Vec<_> = target.path.iter().filter_map(|name| name.text()).collect();
        if let [node, requirement] = names[..] {
            let found = self.view.node(node);
            let has = |kind| self.types.effective(kind).requirements.contains_key(requirement);
            let is_pair = found.is_some_and(|node| node.kind.is_some_and(has));
            if is_pair || !names.iter().all(is_selected) {
                let pair = (node.to_owned(), Some(requirement.to_owned()));
                return found.map(|_| pair).into_iter().collect();
            }
        }
        let there = names.into_iter().filter(|name| self.view.node(name).is_some());
        there.map(|name| (name.to_owned(), None)).collect()
    }

    fn open(
        &self,
        node: &str,
        requirement: Option<&str>,
        target: &MappingTarget<'a>,
    ) -> Result<OpenSlots, Refusal> {
        let at = target.path.first().map_or(self.template.substitution.node.span(), |it| it.span());
        let (Some(view), Some(requirement)) = (self.view.node(node), requirement) else {
            return Ok(OpenSlots { mandatory: 0, takes: 1 });
        };
        let effective = view.kind.map(|kind| self.types.effective(kind));
        let part = effective.and_then(|it| it.requirements.get(requirement));
        let Some(part) = part else {
            let message = format!("`{node}` has no requirement `{requirement}`");
            return Err(Refusal::new(3, message, at));
        };
        let mut slots = SlotCounts::default();
        for assignment in view.of_name(requirement) {
            let count = assignment.count;
            match assignment.target {
                Some(_) => slots.fulfilled += count.max.unwrap_or(count.min.max(1)),
                None => {
                    slots.mandatory += count.min;
                    let more = count.max.unwrap_or(u64::MAX).saturating_sub(count.min);
                    slots.optional = slots.optional.saturating_add(more);
                }
            }
        }
        Ok(slots.open(bounds(&part.definition)))
    }
}

/// The mappings of one requirement while they are read.
struct RulesInMaking {
    rules: RequirementMappings,
    /// The positions of their targets: requirements of nodes, or nodes themselves.
    onto: FxHashMap<(String, Option<String>), usize>,
    mappings: Vec<FitMapping>,
}

/// The value that the first of these types gives a property: a fixed one, or a default.
pub(super) fn value_of_type<'t>(
    types: &Types<'t>,
    kinds: [TypeId; 2],
    property: &str,
) -> Option<Node<'t>> {
    kinds.into_iter().find_map(|kind| {
        let part = types.effective(kind).properties.get(property)?;
        part.definition.value.or(part.definition.default)
    })
}

impl<'v, 'a> Facade<'v, 'a> {
    /// The value of a property of the node with its place: what is assigned, as far as that is known,
    /// else what its type gives.
    pub(crate) fn value_of(
        &self,
        types: &Types<'_>,
        kind: Option<TypeId>,
        property: &str,
    ) -> Option<(Value, Span)> {
        let mut own = self.values.described.properties.iter();
        if let Some(own) = own.find(|own| own.name == property) {
            return Some((own.value.value.clone(), own.value.span));
        }
        let given = value_of_type(types, [self.kind, kind.unwrap_or(self.kind)], property)?;
        let value = self.place.graph.evaluated(given, self.place.node);
        Some((value.unwrap_or_else(|| given.to_value()), self.node.span))
    }

    /// Makes the facade of a node of a template. `uses` are the relations that lead to it, each
    /// with the capability that it leads to.
    pub(crate) fn of(
        types: &Types<'_>,
        node: &'v ViewedNode<'a>,
        kind: TypeId,
        (values, place): (&'v TopologyNode, GraphNode<'v>),
        relationships: Option<Out<'a>>,
        capabilities: BTreeMap<String, Span>,
    ) -> Self {
        let mut requirements = Vec::new();
        for (name, part) in types.effective(kind).requirements.iter() {
            let all = node.assignments.iter().enumerate();
            let own: Vec<_> = all.filter(|(_, assignment)| assignment.name == *name).collect();
            let of = |is_open: bool, count: &dyn Fn(AssignedCount) -> u64| {
                let wanted = own.iter().filter(|(_, it)| it.target.is_none() == is_open);
                let repeated = wanted
                    .flat_map(|(at, it)| (0..count(it.count).min(REPEATED)).map(move |_| *at));
                repeated.collect::<Vec<_>>()
            };
            let slots = [
                of(false, &|count| count.max.unwrap_or(count.min.max(1))),
                of(true, &|count| count.min),
                of(true, &|count| count.max.unwrap_or(count.min).saturating_sub(count.min)),
            ]
            .concat();
            if !slots.is_empty() {
                let min = bounds(&part.definition).min;
                requirements.push(FacadeRequirement { name: (*name).to_owned(), slots, min });
            }
        }
        Self { node, kind, values, place, relationships, capabilities, requirements }
    }
}

/// The value that a node has for the property of one of its parts: what is assigned, otherwise the
/// default. Of all relations of a requirement it is a list. `own` makes of a value what it is in this
/// place: in the assignment at a position, or in the node itself.
pub(super) fn mapped_value<'a>(
    types: &Types<'_>,
    node: &ViewedNode<'a>,
    relationships: Option<&Out<'a>>,
    mapping: &PartMapping<'_>,
    own: &dyn Fn(Out<'a>, Option<usize>) -> Out<'a>,
) -> Option<Out<'a>> {
    let [part, property] = mapping.names();
    let effective = node.kind.map(|kind| types.effective(kind))?;
    let value = |definition: &PropertyDefinition<'_>| {
        let value = definition.value.or(definition.default)?;
        Some(Out::Value(value.to_value()))
    };
    if mapping.part == MappedPart::Capability {
        let said = entry(&node.body, "capabilities").and_then(|all| entry(&all, part));
        let said = said.and_then(|said| entry(&entry(&said, "properties")?, property));
        let definition = || effective.capabilities.get(part)?.definition.properties.get(property);
        return said.or_else(|| value(&definition()?.definition)).map(|value| own(value, None));
    }
    let definition = &effective.requirements.get(part)?.definition;
    let of_relation = |(position, assignment): (usize, &ViewedRequirement<'a>)| {
        // A name is that of a relationship template, or else of a type.
        let relationship = entry(&assignment.body, "relationship").map(|said| {
            let name = OutNode::root(&said).text().map(|name| name.into_owned());
            name.and_then(|name| entry(relationships?, &name)).unwrap_or(said)
        });
        let said = relationship.as_ref().and_then(|it| entry(&entry(it, "properties")?, property));
        let kind = relationship.and_then(|it| {
            let named = entry(&it, "type").unwrap_or(it);
            types.find(Family::Relationship, &OutNode::root(&named).text()?)
        });
        let defined = || {
            let name = definition.relationship?;
            types.find_in(Some(name.span().file), Family::Relationship, name.text()?)
        };
        let defined = || {
            let kind = kind.or_else(defined)?;
            value(&types.effective(kind).properties.get(property)?.definition)
        };
        said.or_else(defined).map(|value| own(value, Some(position)))
    };
    let all = node.assignments.iter().enumerate().filter(|(_, it)| it.name == part);
    let mut relations = all.flat_map(|(position, assignment)| {
        let count = assignment.count.max.unwrap_or(assignment.count.min).min(REPEATED);
        std::iter::repeat_n((position, assignment), usize::try_from(count).unwrap_or(0))
    });
    match mapping.part {
        MappedPart::Relationship(index) => {
            of_relation(relations.nth(usize::try_from(index).ok()?)?)
        }
        _ => {
            let values = relations.filter_map(of_relation).map(|value| (None, value));
            Some(Out::Seq { items: values.collect(), like: None })
        }
    }
}

/// How often a repeated requirement is written out at most.
const REPEATED: u64 = 100_000;

/// The node type of this name in a template of the catalogue.
pub(crate) fn kind_of(types: &Types<'_>, name: Option<Node<'_>>) -> Option<TypeId> {
    let name = name?;
    types.find_in(Some(name.span().file), Family::Node, name.text()?)
}

/// The value of an input if nobody gives one.
pub(crate) fn default_of<'a>(declaration: &Out<'a>) -> Option<Out<'a>> {
    entry(declaration, "value").or_else(|| entry(declaration, "default"))
}
