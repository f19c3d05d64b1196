//! The meaning of a template, read directly from the specification and decided by looking at every
//! assignment of presence.

use std::collections::BTreeSet;

use super::logic::{Logic, Models};
use super::options::{Half, Options};
use super::template::{Condition, Element, Id, Kind, Of, Operator, Template, Value};

/// A condition that has to hold, and how messages refer to it.
#[derive(Clone, Debug)]
pub(crate) struct Requirement {
    /// The beginning of the message.
    pub message: String,
    /// The text of the expression that the message points to, if it points to one.
    pub text: Option<String>,
    pub holds: Logic,
}

/// The result that the resolver has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// This variant, as the presence of each element.
    Variant(Vec<bool>),
    /// An error with one of these codes, and with no other.
    Rejected(BTreeSet<&'static str>),
}

pub(crate) struct Oracle<'t> {
    pub template: &'t Template,
    options: Options,
}

impl<'t> Oracle<'t> {
    pub(crate) fn new(template: &'t Template) -> Self {
        Self { template, options: Options::of(template) }
    }

    /// The outcome of resolving; `None` where there are too many assignments to look at.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let rejected =
            |codes: &[&'static str]| Some(Outcome::Rejected(codes.iter().copied().collect()));
        let requirements = self.requirements();
        let formulas: Vec<_> =
            requirements.iter().map(|requirement| requirement.holds.clone()).collect();
        let models = Models::of(&formulas, &self.preference(), self.template.elements.len())?;
        let Some(least) = models.iter().map(|model| self.costs(model)).min() else {
            return rejected(&["unsatisfiable"]);
        };
        let mut best = models.iter().filter(|model| self.costs(model) == least);
        // Models are ordered by preference.
        let first = best.next()?;
        if self.options.flag("optimization_topology_unique", true)
            && self.has_ambiguous_topology(&models, &least)
        {
            return rejected(&["ambiguous-topology"]);
        }
        let technologies = self.template.of_kind(Kind::Technology);
        if self.options.flag("optimization_technologies_unique", false)
            && best.any(|other| technologies.iter().any(|&id| first[id] != other[id]))
        {
            return rejected(&["ambiguous-technologies"]);
        }
        let illformed = self.illformed(first);
        if illformed.is_empty() {
            Some(Outcome::Variant(first.clone()))
        } else {
            Some(Outcome::Rejected(illformed))
        }
    }

    /// Whether two of the best models differ in nodes; by an option, those with the best topology
    /// are compared instead.
    fn has_ambiguous_topology(&self, models: &[Vec<bool>], least: &[i64]) -> bool {
        let first = self.options.flag("optimization_topology_unique_first", false);
        let judged = if first { 1 } else { least.len() };
        let mut best = models.iter().filter(|model| self.costs(model)[..judged] == least[..judged]);
        let Some(taken) = best.next() else { return false };
        let backward = self.options.flag("optimization_topology_unique_backward", true);
        let nodes = self.template.of_kind(Kind::Node);
        best.any(|other| nodes.iter().any(|&id| taken[id] != other[id] && (backward || taken[id])))
    }

    /// The elements, beginning with those that are rather absent: nodes come before all others.
    pub(crate) fn preference(&self) -> Vec<Id> {
        let others =
            self.template.ids().filter(|&id| self.template.elements[id].kind != Kind::Node);
        let first = self.options.flag("optimization_technologies_first", false);
        // Where the first technology is preferred, the last one of a node is the first to be
        // absent.
        let turned = others.map(|id| match self.template.elements[id].kind {
            Kind::Technology if first => {
                let all = self.alternatives(id);
                let at = all.iter().rev().position(|&other| other == id).unwrap_or_default();
                all[at]
            }
            _ => id,
        });
        self.template.of_kind(Kind::Node).into_iter().chain(turned).collect()
    }

    /// The errors of results that cannot be written even with all checks off: an element without
    /// its type, or a managed node without a technology.
    fn illformed(&self, model: &[bool]) -> BTreeSet<&'static str> {
        let template = self.template;
        let lacks = |id: Id, kind: Kind| {
            let children = template.children(id, kind);
            !children.is_empty() && !children.iter().any(|&child| model[child])
        };
        let present = || template.ids().filter(|&id| model[id]);
        let untyped = present().any(|id| lacks(id, Kind::Type)).then_some("ambiguous-type");
        let undeployed = present()
            .any(|id| template.elements[id].managed != Some(false) && lacks(id, Kind::Technology));
        untyped.into_iter().chain(undeployed.then_some("expected-technology")).collect()
    }

    /// The costs to minimise, the most important one first.
    fn costs(&self, model: &[bool]) -> Vec<i64> {
        let template = self.template;
        let present = |kind| template.of_kind(kind).into_iter().filter(|&id| model[id]);
        let weight = |id: Id| template.elements[id].weight.unwrap_or(1000) as i64;
        let directed = |option: &str, sum: i64| match self.options.text(option) {
            "max" => -sum,
            "min" | "true" => sum,
            _ => 0,
        };
        let topology = match self.options.text("optimization_topology_mode") {
            "count" => present(Kind::Node).count() as i64,
            _ => present(Kind::Node).map(weight).sum(),
        };
        let weights: i64 = present(Kind::Technology).map(weight).sum();
        let names: BTreeSet<_> =
            present(Kind::Technology).map(|id| &template.elements[id].name).collect();
        let count = names.len() as i64;
        let technologies = |sum| directed("optimization_technologies", sum);
        let mut costs = vec![directed("optimization_topology", topology)];
        costs.extend(match self.options.text("optimization_technologies_mode") {
            "weight" => vec![technologies(weights)],
            // The fewest technologies among those with the best weight, whatever the direction of
            // the weights.
            "weight-count" if technologies(1) != 0 => vec![technologies(weights), count],
            "weight-count" => vec![],
            _ => vec![technologies(count)],
        });
        costs
    }

    /// Every requirement of a variant.
    pub(crate) fn requirements(&self) -> Vec<Requirement> {
        let mut requirements = Vec::new();
        for id in self.template.ids() {
            let (manual, generated) = (self.manual(id), self.generated(id));
            let present = Logic::Present(id);
            let all = || {
                Logic::And(manual.iter().chain(&generated).map(|one| one.holds.clone()).collect())
            };
            let unconditional = self.template.elements[id].conditions.is_empty();
            let message = if self.template.is_plain_type(id) {
                "is present if the element that has this type is"
            } else if unconditional {
                "has no conditions of its own"
            } else {
                "is present if all of its conditions hold"
            };
            requirements.push(self.because(id, message, all().implies(present.clone())));
            self.implications(id, &mut requirements);
            let conditions = manual.into_iter().chain(generated);
            requirements.extend(
                conditions
                    .map(|one| Requirement { holds: present.clone().implies(one.holds), ..one }),
            );
        }
        self.ends(&mut requirements);
        for node in self.template.of_kind(Kind::Node) {
            self.node(node, &mut requirements);
        }
        self.unique(&mut requirements);
        requirements.extend(self.template.constraints.iter().map(|constraint| Requirement {
            message: "this constraint has to hold".into(),
            text: Some(self.template.condition(constraint)),
            holds: self.condition(constraint),
        }));
        self.define_manuals(&mut requirements);
        requirements
    }

    /// Defines what `manual(e)` means for each element that a requirement asks it of.
    fn define_manuals(&self, requirements: &mut Vec<Requirement>) {
        let mut defined = BTreeSet::new();
        loop {
            let mut used = BTreeSet::new();
            requirements.iter().for_each(|requirement| requirement.holds.manuals(&mut used));
            let new: Vec<_> = used.difference(&defined).copied().collect();
            if new.is_empty() {
                return;
            }
            for id in new {
                defined.insert(id);
                let conditions =
                    Logic::And(self.manual(id).into_iter().map(|one| one.holds).collect());
                requirements.push(Requirement {
                    message: format!("these are the conditions of {}", self.template.display(id)),
                    text: None,
                    holds: Logic::Manual(id).iff(conditions),
                });
            }
        }
    }

    fn because(&self, id: Id, message: &str, holds: Logic) -> Requirement {
        Requirement {
            message: format!("{} {message}", self.template.display(id)),
            text: None,
            holds,
        }
    }

    /// The conditions that the author gave an element.
    fn manual(&self, id: Id) -> Vec<Requirement> {
        let template = self.template;
        let element = &template.elements[id];
        if self.default_alternative(id) == Some(true) {
            let others = self.alternatives(id).into_iter().filter(|&other| other != id);
            let none = Logic::any(others).not();
            return vec![self.because(
                id,
                "is the default: present only if no other alternative is",
                none,
            )];
        }
        let mut conditions = Vec::new();
        let mut written = |conditions_of: Id, message: &str| {
            conditions.extend(template.elements[conditions_of].conditions.iter().map(
                |condition| Requirement {
                    text: Some(template.condition(condition)),
                    ..self.because(id, message, self.condition(condition))
                },
            ));
        };
        if !element.variability {
            written(id, "is present only if this holds");
        }
        let groups = template
            .of_kind(Kind::Group)
            .into_iter()
            .filter(|&group| template.elements[group].variability);
        for group in groups.filter(|&group| template.elements[group].ends.contains(&id)) {
            written(
                group,
                &format!(
                    "is present only if this holds, as a member of {}",
                    template.display(group)
                ),
            );
        }
        if element.variability {
            conditions.push(self.because(
                id,
                "is a variability group, which is never present",
                Logic::Constant(false),
            ));
        }
        let named = template.named_inputs.iter().find(|(named, _)| *named == id);
        if let Some(&(_, value)) =
            named.filter(|_| self.options.flag("enrich_input_condition", true))
        {
            let message = "is present only if the variability input of its name says so";
            conditions.push(self.because(id, message, Logic::Constant(value)));
        }
        if self.default_alternative(id) == Some(false) && conditions.is_empty() {
            conditions.push(self.because(
                id,
                "is an alternative that no condition selects",
                Logic::Constant(false),
            ));
        }
        conditions
    }

    /// Whether an element is a default alternative, as its author says or as is derived
    /// automatically.
    fn default_alternative(&self, id: Id) -> Option<bool> {
        let elements = &self.template.elements;
        let said = elements[id].settings.default_alternative;
        let kinds =
            [Kind::Property, Kind::Relation, Kind::Artifact, Kind::Output, Kind::Technology];
        if !self.options.flag("automatic_default_alternatives", false)
            || !kinds.contains(&elements[id].kind)
        {
            return said;
        }
        let scope = self.alternatives(id);
        let is_open = |id: Id| {
            elements[id].conditions.is_empty()
                && elements[id].settings.default_alternative.is_none()
        };
        let open: Vec<_> = scope.iter().copied().filter(|&other| is_open(other)).collect();
        let chosen = scope.len() > 1
            && open == [id]
            && scope
                .iter()
                .all(|&other| elements[other].settings.default_alternative != Some(true));
        said.or(chosen.then_some(true))
    }

    /// The other alternatives, if this one is the only one without manual conditions and the part
    /// `default` applies to it.
    fn replaces(&self, id: Id) -> Option<Vec<Id>> {
        let element = &self.template.elements[id];
        let mode =
            element.settings.mode.as_deref().unwrap_or_else(|| self.options.mode(element.kind));
        let replaced =
            self.type_specific(id).is_some_and(|specific| specific.consistency == Some(true));
        let in_force = mode.split('-').any(|part| part == "default")
            && !replaced
            && self.taken(id, Half::Consistency).is_some();
        let scope = self.alternatives(id);
        let free: Vec<_> =
            scope.iter().copied().filter(|&other| self.manual(other).is_empty()).collect();
        (in_force && scope.len() > 1 && free == [id])
            .then(|| scope.into_iter().filter(|&other| other != id).collect())
    }

    /// The scope of a default alternative: all types or all technologies of a container, but other
    /// elements only if they have the same name.
    fn alternatives(&self, id: Id) -> Vec<Id> {
        let elements = &self.template.elements;
        let Element { kind, name, container, .. } = &elements[id];
        let by_name = !matches!(kind, Kind::Type | Kind::Technology);
        let shares = |&other: &Id| {
            elements[other].container == *container && (!by_name || elements[other].name == *name)
        };
        self.template.of_kind(*kind).into_iter().filter(shares).collect()
    }

    /// The requirements of default conditions and of pruning.
    fn generated(&self, id: Id) -> Vec<Requirement> {
        let element = &self.template.elements[id];
        let taken = Half::ALL.map(|half| self.taken(id, half).filter(|_| !element.persistent));
        let mut conditions = Vec::new();
        let mut replaced = [false, false];
        if let Some(specific) = self.type_specific(id) {
            replaced = [specific.consistency.unwrap_or(false), specific.semantic.unwrap_or(true)];
            if (0..2).any(|half| replaced[half] && taken[half].is_some()) {
                conditions.push(Requirement {
                    text: Some(self.template.condition(&specific.condition)),
                    ..self.because(
                        id,
                        "is present only if the default condition of its type holds",
                        self.condition(&specific.condition),
                    )
                });
            }
        }
        for (part, halves, holds) in self.generic(id) {
            let by = halves
                .iter()
                .rev()
                .find_map(|&half| taken[half as usize].filter(|_| !replaced[half as usize]));
            let part = if part.is_empty() { String::new() } else { format!(" `{part}`") };
            conditions.extend(by.map(|by| {
                self.because(id, &format!("is present only if its {by}{part} holds"), holds)
            }));
        }
        if self.template.is_plain_type(id) && taken[Half::Consistency as usize].is_none() {
            let container = self.presence(Of::Container, id);
            let message = "is present only if the element that has this type is";
            conditions.push(self.because(id, message, container));
        }
        conditions
    }

    /// Whether a half applies to an element, and due to what: pruning, if it and the half are on,
    /// or the default condition, if it and the half are on and the element has no conditions.
    /// Settings of the element override options.
    fn taken(&self, id: Id, half: Half) -> Option<&'static str> {
        let Element { kind, settings, .. } = &self.template.elements[id];
        let decide = |wide: Option<bool>, own: Option<bool>, option: &dyn Fn(Half) -> bool| {
            let enabled = wide.unwrap_or_else(|| Half::ALL.iter().any(|&half| option(half)));
            enabled && own.or(wide).unwrap_or_else(|| option(half))
        };
        let pruning = |half| self.options.pruning(*kind, half);
        let default = |half| self.options.default_condition(*kind, half);
        if decide(settings.pruning, settings.pruning_halves[half as usize], &pruning) {
            return Some("pruning");
        }
        let default =
            decide(settings.default_condition, settings.default_halves[half as usize], &default);
        (default && self.manual(id).is_empty()).then_some("default condition")
    }

    /// The default condition of the element's type, or for a property of its container's type, if
    /// there is exactly one type.
    fn type_specific(&self, id: Id) -> Option<&super::template::TypeSpecific> {
        let element = &self.template.elements[id];
        let (typed, property) = match element.kind {
            Kind::Property => (element.container?, Some(&element.name)),
            _ => (id, None),
        };
        let [only] = self.template.children(typed, Kind::Type)[..] else { return None };
        let name = &self.template.elements[only].name;
        self.template
            .type_specific
            .iter()
            .find(|one| one.type_name == *name && one.property.as_ref() == property)
    }

    /// The generic default conditions: their part, the halves that they belong to, and what they
    /// demand.
    fn generic(&self, id: Id) -> Vec<(&str, &'static [Half], Logic)> {
        use Half::{Consistency, Semantic};
        let template = self.template;
        let element = &template.elements[id];
        let whole = |halves: &'static [Half], of| vec![("", halves, self.presence(of, id))];
        match element.kind {
            Kind::Import => return vec![],
            Kind::Type => return whole(&[Consistency], Of::Container),
            Kind::Input => return whole(&[Semantic], Of::Consumers),
            Kind::Policy => return whole(&[Semantic], Of::Targets),
            Kind::Group => return whole(&[Semantic], Of::Members),
            Kind::Node
            | Kind::Relation
            | Kind::Property
            | Kind::Artifact
            | Kind::Technology
            | Kind::Output => {}
        }
        let mode =
            element.settings.mode.as_deref().unwrap_or_else(|| self.options.mode(element.kind));
        let part = |part| {
            // A default condition does not ask for elements that the variable template does not
            // have.
            let exists = match part {
                "incoming" | "incomingnaive" | "source" if element.kind == Kind::Node => {
                    !self.incoming(id).is_empty()
                }
                "outgoing" | "outgoingnaive" => !template.children(id, Kind::Relation).is_empty(),
                "artifact" | "artifactnaive" => !template.children(id, Kind::Artifact).is_empty(),
                "host" => !self.hosting(id).is_empty(),
                "consuming" => !self.consumed(id).is_empty(),
                "default" => self.replaces(id).is_some(),
                // Conditions by rules hold whatever the mode.
                "scenario" => false,
                _ => true,
            };
            let (half, holds): (&[Half], _) = match (element.kind, part) {
                (Kind::Node, "source") => (&[Semantic], self.presence(Of::Sources, id)),
                (_, "incoming") => (&[Semantic], self.presence(Of::Incoming, id)),
                (_, "incomingnaive") => (&[Semantic], self.presence(Of::IncomingNaive, id)),
                (_, "outgoing") => (&[Semantic], self.presence(Of::Outgoing, id)),
                (_, "outgoingnaive") => (&[Semantic], self.presence(Of::OutgoingNaive, id)),
                (_, "host") => (&[Semantic], self.presence(Of::Hosts, id)),
                (_, "artifact") => (&[Semantic], self.presence(Of::Artifacts, id)),
                (_, "artifactnaive") => (&[Semantic], self.presence(Of::ArtifactsNaive, id)),
                (_, "managed") => (&[Semantic], self.presence(Of::Managed, id)),
                (_, "source") => (&[Consistency], self.presence(Of::Source, id)),
                (_, "target") => (&[Consistency], self.presence(Of::Target, id)),
                (_, "container") => (&[Consistency], self.presence(Of::Container, id)),
                (_, "produced") => (&[Consistency, Semantic], self.presence(Of::Producers, id)),
                (_, "default") => {
                    (&[Consistency], Logic::any(self.replaces(id).unwrap_or_default()).not())
                }
                (_, "scenario") => (&[Semantic], Logic::Constant(true)),
                (_, "consuming") => (&[Consistency], Logic::any(self.consumed(id))),
                (_, "other") => {
                    let others = self.alternatives(id).into_iter().filter(|&other| other != id);
                    (&[Consistency], Logic::any(others).not())
                }
                _ => unreachable!("{part}"),
            };
            let named = if part == "produced" { "" } else { part };
            exists.then_some((named, half, holds))
        };
        mode.split('-').filter_map(part).collect()
    }

    /// The requirements of `implied` and `implies`.
    fn implications(&self, id: Id, requirements: &mut Vec<Requirement>) {
        let element = &self.template.elements[id];
        let is_selected = || {
            let others = self.alternatives(id).into_iter().filter(|&other| other != id);
            others.filter_map(|other| self.replaces(other)).next().is_some()
        };
        let by_default = match element.kind {
            Kind::Property => true,
            Kind::Relation => {
                !self.is_hosting(id) && self.options.flag("relation_default_implied", false)
                    || is_selected()
            }
            _ => false,
        };
        let holder = match element.settings.implied {
            Some("false") => None,
            Some("TARGET") => Some(Of::Target),
            None if !by_default => None,
            Some(_) | None => Some(Of::Container),
        };
        if let Some(premise) = holder.and_then(|holder| self.implying(id, holder)) {
            let others = self.replaces(id).unwrap_or_default();
            let none =
                Logic::Or(others.into_iter().map(|other| self.all_manual(other)).collect()).not();
            let all = Logic::And(vec![premise, self.all_manual(id), none]);
            requirements.push(self.because(id, "is implied", all.implies(Logic::Present(id))));
        }
        for (target, condition) in &element.settings.implies {
            let condition = condition
                .as_ref()
                .map_or(Logic::Constant(true), |condition| self.condition(condition));
            let premise = Logic::And(vec![Logic::Present(id), condition]);
            requirements.push(Requirement {
                text: Some(self.template.condition(target)),
                ..self.because(id, "implies this", premise.implies(self.condition(target)))
            });
        }
    }

    /// The premise of the implication of an element, without its own conditions; `None` if options
    /// keep it from being implied.
    fn implying(&self, id: Id, holder: Of) -> Option<Logic> {
        let element = &self.template.elements[id];
        let on = |option: &str| self.options.flag(option, false);
        let held = self.presence(holder, id);
        match element.kind {
            Kind::Node => on("node_implication_mode").then_some(Logic::Constant(true)),
            Kind::Relation if on("relation_enhanced_implication_mode") => {
                let other = if holder == Of::Target {
                    element.container
                } else {
                    element.ends.first().copied()
                };
                let other = other.map_or(Logic::Constant(true), |other| self.all_manual(other));
                Some(Logic::And(vec![held, other]))
            }
            Kind::Property if on("property_enhanced_implication_mode") => {
                let consumed = self.consumed(id);
                let is_input = |&id: &Id| self.template.elements[id].kind == Kind::Input;
                let any = consumed.iter().map(|&id| self.all_manual(id)).collect();
                consumed.iter().any(is_input).then(|| Logic::And(vec![held, Logic::Or(any)]))
            }
            _ => Some(held),
        }
    }

    fn all_manual(&self, id: Id) -> Logic {
        Logic::And(self.manual(id).into_iter().map(|one| one.holds).collect())
    }

    /// Adds what a constraint demands of an element, if its option is on.
    fn constrain(&self, option: &str, id: Id, holds: Logic, requirements: &mut Vec<Requirement>) {
        if self.options.constraint(option) {
            requirements.push(self.because(id, &format!("is bound by `{option}`"), holds));
        }
    }

    fn ends(&self, requirements: &mut Vec<Requirement>) {
        for id in self.template.ids() {
            let needs: &[(&str, Of)] = match self.template.elements[id].kind {
                Kind::Relation => &[
                    ("relation_source_constraint", Of::Source),
                    ("relation_target_constraint", Of::Target),
                ],
                Kind::Artifact => &[("artifact_container_constraint", Of::Container)],
                Kind::Property => &[("property_container_constraint", Of::Container)],
                Kind::Type => &[("type_container_constraint", Of::Container)],
                _ => &[],
            };
            for &(option, of) in needs {
                self.constrain(
                    option,
                    id,
                    Logic::Present(id).implies(self.presence(of, id)),
                    requirements,
                );
            }
        }
    }

    fn node(&self, id: Id, requirements: &mut Vec<Requirement>) {
        let template = self.template;
        let present = |then: Logic| Logic::Present(id).implies(then);
        let hosting = self.hosting(id);
        if !hosting.is_empty() {
            self.constrain(
                "hosting_stack_constraint",
                id,
                present(Logic::exactly_one(hosting.clone())),
                requirements,
            );
            self.constrain(
                "single_hosting_constraint",
                id,
                Logic::at_most_one(hosting),
                requirements,
            );
        }
        let technologies = template.children(id, Kind::Technology);
        if template.elements[id].managed != Some(false) {
            self.constrain(
                "technology_constraint",
                id,
                present(Logic::exactly_one(technologies.clone())),
                requirements,
            );
            self.constrain(
                "unique_technology_constraint",
                id,
                Logic::at_most_one(technologies),
                requirements,
            );
        }
        let artifacts = template.children(id, Kind::Artifact);
        if !artifacts.is_empty() {
            self.constrain(
                "required_artifact_constraint",
                id,
                present(Logic::exactly_one(artifacts)),
                requirements,
            );
        }
        let incoming = self.incoming(id);
        if !incoming.is_empty() {
            self.constrain(
                "required_incoming_relation_constraint",
                id,
                present(Logic::any(incoming)),
                requirements,
            );
        }
        let relations = template.children(id, Kind::Relation);
        let each =
            relations.iter().map(|&relation| Logic::at_most_one(self.alternatives(relation)));
        self.constrain(
            "unique_relation_constraint",
            id,
            present(Logic::And(each.collect())),
            requirements,
        );
    }

    fn unique(&self, requirements: &mut Vec<Requirement>) {
        for kind in [Kind::Property, Kind::Artifact, Kind::Input, Kind::Output] {
            for id in self.template.of_kind(kind) {
                let alternatives = self.alternatives(id);
                if alternatives[0] == id {
                    self.constrain(
                        &format!("unique_{}_constraint", kind.word()),
                        id,
                        Logic::at_most_one(alternatives),
                        requirements,
                    );
                }
            }
        }
    }

    /// The condition as logic.
    pub(crate) fn condition(&self, condition: &Condition) -> Logic {
        match condition {
            Condition::Constant(value) => Logic::Constant(*value),
            Condition::Input("count") => Logic::Constant(self.template.count > 0),
            Condition::Input("flag") => Logic::Constant(self.template.flag),
            // A string counts as true.
            Condition::Input(_) => Logic::Constant(true),
            Condition::SizeIs(size) => Logic::Constant(self.template.size == *size),
            Condition::Presence(of, id, _) => self.presence(*of, *id),
            Condition::Identifier(id) => Logic::Present(*id),
            Condition::Named(index) => self.condition(&self.template.expressions[*index]),
            Condition::Not(inner) => self.condition(inner).not(),
            Condition::Many(operator, inner) => {
                let inner: Vec<_> = inner.iter().map(|one| self.condition(one)).collect();
                match operator {
                    Operator::And => Logic::And(inner),
                    Operator::Or => Logic::Or(inner),
                    Operator::Xor => Logic::Odd(inner),
                    Operator::Exo => Logic::ExactlyOne(inner),
                    Operator::Amo => Logic::AtMostOne(inner),
                    Operator::Implies => inner[0].clone().implies(inner[1].clone()),
                }
            }
        }
    }

    /// What a presence operator demands of an element.
    fn presence(&self, of: Of, id: Id) -> Logic {
        let template = self.template;
        let element = &template.elements[id];
        let container = || element.container.map_or(Logic::Constant(false), Logic::Present);
        let source = |relation: Id| Logic::any(template.elements[relation].container);
        let target = |relation: Id| Logic::any(template.elements[relation].ends.clone());
        let and_manual =
            |relation: &Id, end: Logic| Logic::And(vec![Logic::Manual(*relation), end]);
        let children = |kind| template.children(id, kind);
        match of {
            Of::Itself => Logic::Present(id),
            Of::Container | Of::Source => container(),
            Of::Target => target(id),
            Of::Hosts => Logic::Or(self.hosting(id).into_iter().map(target).collect()),
            Of::Sources => Logic::Or(self.incoming(id).into_iter().map(source).collect()),
            Of::Incoming => {
                Logic::Or(self.incoming(id).iter().map(|r| and_manual(r, source(*r))).collect())
            }
            Of::IncomingNaive => Logic::any(self.incoming(id)),
            Of::Outgoing => Logic::Or(
                children(Kind::Relation).iter().map(|r| and_manual(r, target(*r))).collect(),
            ),
            Of::OutgoingNaive => Logic::any(children(Kind::Relation)),
            Of::Artifacts => {
                Logic::Or(children(Kind::Artifact).into_iter().map(Logic::Manual).collect())
            }
            Of::ArtifactsNaive => Logic::any(children(Kind::Artifact)),
            Of::Managed => Logic::any(self.managers(id)),
            Of::Consumers => {
                Logic::any(template.ids().filter(|&consumer| self.consumed(consumer).contains(&id)))
            }
            Of::Producers => Logic::any(self.consumed(id)),
            Of::Members => Logic::any(element.ends.clone()),
            Of::Targets => Logic::any(element.ends.iter().flat_map(|&target| {
                match template.elements[target].kind {
                    Kind::Group => template.elements[target].ends.clone(),
                    _ => vec![target],
                }
            })),
        }
    }

    /// The relations that target a node.
    fn incoming(&self, node: Id) -> Vec<Id> {
        let relations = self.template.of_kind(Kind::Relation).into_iter();
        relations
            .filter(|&relation| self.template.elements[relation].ends.contains(&node))
            .collect()
    }

    /// The hosting relations of a node.
    fn hosting(&self, node: Id) -> Vec<Id> {
        self.template
            .children(node, Kind::Relation)
            .into_iter()
            .filter(|&relation| self.is_hosting(relation))
            .collect()
    }

    /// Whether a relation is for a host: by its type if the type is known to be a hosting one, else
    /// by its name.
    fn is_hosting(&self, relation: Id) -> bool {
        let elements = &self.template.elements;
        let typed = self
            .template
            .children(relation, Kind::Type)
            .iter()
            .any(|&id| elements[id].name == HOSTED_ON);
        typed || elements[relation].name.split('_').any(|word| word == "host")
    }

    /// The technologies of the artifact's node that manage artifacts of a type that the artifact
    /// may have.
    fn managers(&self, artifact: Id) -> Vec<Id> {
        let elements = &self.template.elements;
        let types: Vec<_> = self
            .template
            .children(artifact, Kind::Type)
            .iter()
            .map(|&id| elements[id].name.as_str())
            .collect();
        let is_of = |wanted: &str| {
            types.contains(&wanted) || types.is_empty() && wanted == DEFAULT_ARTIFACT_TYPE
        };
        let technologies = elements[artifact]
            .container
            .map_or(vec![], |node| self.template.children(node, Kind::Technology));
        technologies
            .into_iter()
            .filter(|&id| elements[id].artifact.as_deref().is_some_and(is_of))
            .collect()
    }

    /// The elements that the value of a property or an output is taken from: every alternative with
    /// the name.
    fn consumed(&self, id: Id) -> Vec<Id> {
        match self.template.elements[id].value {
            Value::Input(input, true) | Value::Property(input) => self.alternatives(input),
            Value::Input(id, false) | Value::Attribute(id) => vec![id],
            Value::Plain | Value::Expression(_) => vec![],
        }
    }
}

pub(crate) const HOSTED_ON: &str = "tosca.relationships.HostedOn";
pub(crate) const DEFAULT_ARTIFACT_TYPE: &str = "tosca.artifacts.File";
