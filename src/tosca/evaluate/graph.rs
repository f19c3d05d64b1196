//! Evaluates the functions of TOSCA 2.0 that ask nodes and relations (section 10.2.1), and follows
//! the paths in them (section 10.3).
//!
//! A path is read as a list of [`Hop`]s first, whatever is there. Then each hop leads from all places
//! that the path has come to on to others. A path is not known as soon as one of these places is not,
//! such as the target of a requirement that is not fulfilled yet.

use super::{
    AlreadyReported, FunctionEvaluator, FunctionResult, FunctionScope, Representation, ScopeValue,
    ValueStep, fulfilling,
};
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0};
use crate::tosca::function::Name;
use crate::tosca::requirement::bounds;
use crate::tosca::types::PropertyDefinition;
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::{BuiltIn, FormedValue, PlainText};
use crate::tosca::value::{TextType, UnitSize, in_base_unit};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};

/// To how many places a path leads at most.
const PLACES: u64 = 100_000;

/// Which of several nodes or relations a path goes on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathIndex {
    One(u64),
    All,
}

/// A step from the places that a path has come to.
#[derive(Debug, PartialEq, Eq)]
enum Hop<'p> {
    /// From a node to relations of this requirement.
    Outgoing(&'p str, PathIndex),
    /// From a node to relations that lead to this capability.
    Incoming(&'p str, PathIndex),
    /// From a node to this capability.
    Capability(&'p str),
    Source,
    Target,
    /// From a relation to relations of the same requirement.
    Siblings(PathIndex),
    /// From a relation to the capability that it leads to.
    TargetCapability,
}

/// A place that a path has come to.
#[derive(Clone)]
pub(crate) enum PathPlace<'e, E> {
    /// A node, a relation or a group.
    Element(Representation<E>),
    Capability(Representation<E>, &'e str),
}

/// Where a filter stands. In that of a requirement, `SELF` is the relation to the node, else the node.
#[derive(Clone, Copy)]
pub(crate) struct FilterSite<'s, E> {
    /// The node that is judged; `None` for one that the scope does not have.
    pub(crate) node: Option<E>,
    pub(crate) relation: Option<FilteredRelation<'s, E>>,
}

/// A relation that would lead to a node that is judged.
#[derive(Clone, Copy)]
pub(crate) struct FilteredRelation<'s, E> {
    /// The relation itself, if the filter is its own.
    pub(crate) relation: Option<E>,
    /// The node that has the requirement, if the filter asks for it.
    pub(crate) source: Option<E>,
    /// The capability that the relation would lead to, if only one fits.
    pub(crate) capability: Option<&'s str>,
}

/// What paths lead to; `is_list` where they have an `ALL`.
struct Reached<'e, E> {
    places: Vec<PathPlace<'e, E>>,
    is_list: bool,
}

/// The names of steps.
pub(super) fn names(steps: &[ValueStep<'_>]) -> Vec<String> {
    steps.iter().map(|step| step.name().into_owned()).collect()
}

/// Reads the steps of a path behind its start, and tells how many steps these are.
fn hops<'p>(words: &[&'p str], mut is_relation: bool) -> (Vec<Hop<'p>>, usize) {
    let (mut hops, mut used) = (Vec::new(), 0);
    loop {
        let rest = &words[used..];
        let (hop, length, leads_to_relation) = match (is_relation, rest) {
            (false, ["RELATIONSHIP", requirement, rest @ ..]) => {
                let (index, length) = path_index(rest);
                (Hop::Outgoing(requirement, index), 2 + length, true)
            }
            (false, ["CAPABILITY", capability, "RELATIONSHIP", rest @ ..]) => {
                let (index, length) = path_index(rest);
                (Hop::Incoming(capability, index), 3 + length, true)
            }
            (false, ["CAPABILITY", capability, ..]) => {
                hops.push(Hop::Capability(capability));
                return (hops, used + 2);
            }
            (true, ["SOURCE", ..]) => (Hop::Source, 1, false),
            (true, ["TARGET", ..]) => (Hop::Target, 1, false),
            (true, ["CAPABILITY", "RELATIONSHIP", rest @ ..]) => {
                let (index, length) = path_index(rest);
                (Hop::Siblings(index), 2 + length, true)
            }
            (true, ["CAPABILITY", ..]) => {
                hops.push(Hop::TargetCapability);
                return (hops, used + 1);
            }
            _ => return (hops, used),
        };
        hops.push(hop);
        (used, is_relation) = (used + length, leads_to_relation);
    }
}

/// The index at the start of some steps, and how many steps that takes. None means the first.
fn path_index(words: &[&str]) -> (PathIndex, usize) {
    match words.first().map(|word| (*word, word.parse())) {
        Some(("ALL", _)) => (PathIndex::All, 1),
        Some((_, Ok(index))) => (PathIndex::One(index), 1),
        _ => (PathIndex::One(0), 0),
    }
}

impl<'e, S: FunctionScope<'e>> FunctionEvaluator<'_, 'e, S> {
    /// The value of a function that depends on more than its arguments.
    pub(super) fn graph_function(
        &mut self,
        node: Node<'_>,
        name: &str,
        arguments: Option<Node<'_>>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        let Some(arguments) = arguments else { return self.index_function(name, site) };
        let Some(steps) = self.path_steps(arguments, site)? else { return Ok(None) };
        match (name, &*steps) {
            ("get_input", [input, path @ ..]) => self.input(node, input.at, path),
            ("get_property" | "available_allocation", path) => {
                let Some((reached, used)) = self.reached(path, site)? else { return Ok(None) };
                self.values(name, reached, &path[used..])
            }
            // Attributes are known after deployment, and artifacts when they are there.
            _ => self.index_function(name, site),
        }
    }

    /// The value of a function in a filter, and what the type of the property makes of texts.
    pub(crate) fn in_filter(
        &mut self,
        function: &str,
        path: Node<'_>,
        site: FilterSite<'_, S::Element>,
    ) -> FunctionResult<FormedValue<TextType>> {
        if !matches!(function, "get_property" | "available_allocation") {
            return Ok(None);
        }
        let Some(steps) = self.path_steps(path, None)? else { return Ok(None) };
        let words: Vec<_> = steps.iter().map(|step| step.name()).collect();
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let found = match self.filter_start(&words, site)? {
            Some((place, used)) => {
                let start = Reached { places: vec![place], is_list: false };
                self.behind(start, &words, used, &steps[0])?
            }
            None if words.first() == Some(&"SELF") => None,
            None => self.reached(&steps, None)?,
        };
        let Some((reached, used)) = found else { return Ok(None) };
        let form = self.form_at(&reached, &steps[used..]);
        Ok(self.values(function, reached, &steps[used..])?.map(|value| (value, form)))
    }

    /// The only place that a path leads to, and how many of its steps that takes.
    pub(crate) fn end(
        &mut self,
        path: Node<'_>,
        site: Option<S::Element>,
    ) -> FunctionResult<(PathPlace<'e, S::Element>, usize)> {
        let site = site.map(|site| self.representation(site)).transpose()?;
        let Some(steps) = self.path_steps(path, site)? else { return Ok(None) };
        let Some((mut reached, used)) = self.reached(&steps, site)? else { return Ok(None) };
        let is_one = reached.places.len() == 1 && !reached.is_list;
        Ok(reached.places.pop().filter(|_| is_one).map(|place| (place, used)))
    }

    /// How many places a path leads to.
    pub(crate) fn ends(
        &mut self,
        path: Node<'_>,
        site: Option<S::Element>,
    ) -> FunctionResult<usize> {
        let site = site.map(|site| self.representation(site)).transpose()?;
        let Some(steps) = self.path_steps(path, site)? else { return Ok(None) };
        Ok(self.reached(&steps, site)?.map(|(reached, _)| reached.places.len()))
    }

    /// What the type of a value at the end of a path makes of texts.
    fn form_at(
        &self,
        reached: &Reached<'e, S::Element>,
        rest: &[ValueStep<'_>],
    ) -> Option<TextType> {
        let (property, rest) = rest.split_first()?;
        let definition = self.definition(reached.places.first()?, &property.name())?;
        self.scope.text_type(definition.expected()?, &names(rest))
    }

    /// What the type of the value of an expression makes of texts, where it is known.
    pub(super) fn form(
        &mut self,
        node: Node<'_>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<TextType> {
        let Some((name, arguments)) = v2_0::called(node) else {
            return self.first_form(node.parts(), site);
        };
        match (name, arguments) {
            ("get_property" | "available_allocation", Some(path)) => {
                let Some(steps) = self.path_steps(path, site)? else { return Ok(None) };
                let found = self.reached(&steps, site)?;
                Ok(found.and_then(|(reached, used)| self.form_at(&reached, &steps[used..])))
            }
            ("get_input", Some(path)) => {
                let Some(steps) = self.path_steps(path, site)? else { return Ok(None) };
                let Some((input, rest)) = steps.split_first() else { return Ok(None) };
                let schema = self.scope.input(input.at).and_then(|input| input.schema);
                Ok(schema.and_then(|schema| self.scope.text_type(&schema, &names(rest))))
            }
            (name, Some(arguments)) if BuiltIn::named(name).is_some_and(BuiltIn::keeps_form) => {
                self.first_form(arguments.items(), site)
            }
            _ => Ok(None),
        }
    }

    /// The first form that one of these has.
    pub(super) fn first_form<'n>(
        &mut self,
        mut nodes: impl Iterator<Item = Node<'n>>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<TextType> {
        nodes.find_map(|node| self.form(node, site).transpose()).transpose()
    }

    /// Where a path that begins with `SELF` starts in a filter, and how many steps that takes.
    fn filter_start(
        &mut self,
        words: &[&str],
        site: FilterSite<'_, S::Element>,
    ) -> FunctionResult<(PathPlace<'e, S::Element>, usize)> {
        let own = site.node.map(|node| self.representation(node)).transpose()?;
        let Some(relation) = site.relation else {
            let own = own.filter(|_| words.first() == Some(&"SELF"));
            return Ok(own.map(|own| (PathPlace::Element(own), 1)));
        };
        Ok(match *words {
            ["SELF", "SOURCE", ..] => match relation.source {
                Some(source) => Some((PathPlace::Element(self.representation(source)?), 2)),
                None => None,
            },
            ["SELF", "TARGET", ..] => own.map(|own| (PathPlace::Element(own), 2)),
            ["SELF", "CAPABILITY", ..] => own.zip(relation.capability).and_then(|(own, name)| {
                let name = self.capability(own.element, name)?;
                Some((PathPlace::Capability(own, name), 2))
            }),
            ["SELF", property, ..] => match relation.relation {
                Some(it) if self.has_property(it, property) => {
                    Some((PathPlace::Element(self.representation(it)?), 1))
                }
                _ => None,
            },
            _ => None,
        })
    }

    fn has_property(&self, element: S::Element, name: &str) -> bool {
        self.effective(element).is_some_and(|effective| effective.properties.contains_key(name))
    }

    /// The capability of a node with this name, as its type has it.
    fn capability(&self, node: S::Element, name: &str) -> Option<&'e str> {
        let known = self.effective(node)?.capabilities.get_key_value(name);
        known.map(|(name, _)| *name)
    }

    /// The definition of a property at a place.
    fn definition(
        &self,
        place: &PathPlace<'e, S::Element>,
        property: &str,
    ) -> Option<&'e PropertyDefinition<'e>> {
        match place {
            PathPlace::Element(owner) => self.own_property(owner.element, property),
            PathPlace::Capability(node, name) => {
                self.capability_property(node.element, name, property)
            }
        }
    }

    /// The steps of a path, with the values of functions in them.
    fn path_steps<'n>(
        &mut self,
        path: Node<'n>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<Vec<ValueStep<'n>>> {
        let single = (path.kind() != NodeKind::Sequence).then_some(path);
        let mut steps = Vec::new();
        for at in single.into_iter().chain(path.items()) {
            match self.value(at, site)? {
                Some(value @ (Value::String(_) | Value::Number(_))) => {
                    steps.push(ValueStep { value, at });
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(steps))
    }

    /// The value of a function that asks for an index.
    pub(super) fn index_function(
        &mut self,
        name: &str,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult {
        let Some(site) = site else { return Ok(None) };
        let index = match name {
            "node_index" if self.is_group(site.element) => None,
            "node_index" => site.index,
            "relationship_index" => self.position(site)?,
            _ => None,
        };
        Ok(index.and_then(|index| i64::try_from(index).ok()).map(Value::from))
    }

    fn is_group(&self, element: S::Element) -> bool {
        self.scope.ends(element).is_none() && !self.scope.is_node(element)
    }

    /// What an element is by itself: of a template that stands for one node, that node.
    pub(super) fn representation(
        &mut self,
        element: S::Element,
    ) -> Result<Representation<S::Element>, AlreadyReported> {
        let node = match self.scope.ends(element) {
            Some([source, _]) => source,
            None => Some(element),
        };
        let count = node.map_or(Ok(None), |node| self.count(node))?;
        Ok(Representation { element, index: (count == Some(1)).then_some(0) })
    }

    /// How many nodes or relations an element stands for, if that is known.
    fn count(&mut self, element: S::Element) -> FunctionResult<u64> {
        let Some(count) = self.scope.count(element) else { return Ok(Some(1)) };
        // In a requirement, `SELF` is the relationship.
        let is_relation = self.scope.ends(element).is_some();
        self.whole(count, is_relation.then_some(Representation { element, index: None }))
    }

    fn whole(
        &mut self,
        value: ScopeValue<'e>,
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<u64> {
        Ok(match self.within(value, &[], site)?.flatten() {
            Some(Value::Number(number)) => {
                number.as_int().and_then(|number| u64::try_from(number).ok())
            }
            _ => None,
        })
    }

    /// The values of a property at all places that a path leads to; behind an `ALL` one flat list.
    fn values(
        &mut self,
        function: &str,
        reached: Reached<'e, S::Element>,
        path: &[ValueStep<'_>],
    ) -> FunctionResult {
        let mut values = Vec::new();
        for place in reached.places {
            let value = match (function, place) {
                ("get_property", PathPlace::Element(owner)) => self.own(owner, path)?.flatten(),
                ("get_property", PathPlace::Capability(node, name)) => {
                    self.of_capability(node, name, path)?.flatten()
                }
                (_, PathPlace::Capability(node, name)) => self.available(node, name, path)?,
                _ => None,
            };
            let Some(value) = value else { return Ok(None) };
            values.push(value);
        }
        Ok(if reached.is_list { Some(values.into()) } else { values.pop() })
    }

    /// Where a path leads, and how many of its steps that takes.
    fn reached(
        &mut self,
        path: &[ValueStep<'_>],
        site: Option<Representation<S::Element>>,
    ) -> FunctionResult<(Reached<'e, S::Element>, usize)> {
        let words: Vec<_> = path.iter().map(|step| step.name()).collect();
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let Some((first, rest)) = words.split_first() else { return Ok(None) };
        let (start, used) = match *first {
            "SELF" => (site.map(|site| vec![site]), 1),
            name => {
                let element = self.scope.named(Name { text: name, at: path[0].at });
                let is_relation = element.is_some_and(|it| self.scope.ends(it).is_some());
                let (index, length) = if is_relation { path_index(&[]) } else { path_index(rest) };
                let start = element.map_or(Ok(None), |it| self.nodes(it, index, &path[0]))?;
                (start, 1 + length)
            }
        };
        let Some(start) = start else { return Ok(None) };
        let is_list = used == 2 && words[1] == "ALL";
        let places = start.into_iter().map(PathPlace::Element).collect();
        self.behind(Reached { places, is_list }, &words, used, &path[0])
    }

    /// Follows a path on from where its first steps lead.
    fn behind(
        &mut self,
        start: Reached<'e, S::Element>,
        words: &[&str],
        used: usize,
        at: &ValueStep<'_>,
    ) -> FunctionResult<(Reached<'e, S::Element>, usize)> {
        let (hops, length) = match start.places.first() {
            Some(PathPlace::Capability(..)) => (Vec::new(), 0),
            Some(PathPlace::Element(it)) => {
                hops(&words[used..], self.scope.ends(it.element).is_some())
            }
            None => hops(&words[used..], false),
        };
        let reached = self.hopped(start, &hops, at)?;
        Ok(reached.map(|reached| (reached, used + length)))
    }

    /// The nodes of a template that an index means.
    fn nodes(
        &mut self,
        template: S::Element,
        index: PathIndex,
        at: &ValueStep<'_>,
    ) -> FunctionResult<Vec<Representation<S::Element>>> {
        if self.scope.ends(template).is_some() {
            return Ok(Some(vec![self.representation(template)?]));
        }
        let node = |index| Representation { element: template, index: Some(index) };
        let Some(count) = self.count(template)? else { return Ok(None) };
        match index {
            PathIndex::One(index) if index < count => Ok(Some(vec![node(index)])),
            PathIndex::One(index) => {
                let template = at.name();
                let message = format!(
                    "`{template}` has no node of the index {index}: its `count` is {count}"
                );
                self.dangles(at, message, "name one that exists, or raise the `count`")
            }
            PathIndex::All => {
                self.bounded(count, at)?;
                Ok(Some((0..count).map(node).collect()))
            }
        }
    }

    /// Follows hops from some places.
    fn hopped(
        &mut self,
        start: Reached<'e, S::Element>,
        hops: &[Hop<'_>],
        at: &ValueStep<'_>,
    ) -> FunctionResult<Reached<'e, S::Element>> {
        let mut reached = start;
        for hop in hops {
            let mut next = Vec::new();
            for place in &reached.places {
                let PathPlace::Element(from) = place else { return Ok(None) };
                let Some(found) = self.hop(*from, hop, at)? else { return Ok(None) };
                self.bounded((next.len() + found.len()) as u64, at)?;
                next.extend(found);
            }
            let is_all = matches!(
                hop,
                Hop::Outgoing(_, PathIndex::All)
                    | Hop::Incoming(_, PathIndex::All)
                    | Hop::Siblings(PathIndex::All)
            );
            reached = Reached { places: next, is_list: reached.is_list || is_all };
        }
        Ok(Some(reached))
    }

    /// Where a hop leads from one place.
    fn hop(
        &mut self,
        from: Representation<S::Element>,
        hop: &Hop<'_>,
        at: &ValueStep<'_>,
    ) -> FunctionResult<Vec<PathPlace<'e, S::Element>>> {
        let relations =
            |all: Option<Vec<_>>| all.map(|all| all.into_iter().map(PathPlace::Element).collect());
        let ends = || self.scope.ends(from.element);
        match hop {
            Hop::Outgoing(requirement, index) => {
                let all = self.outgoing(from, requirement)?;
                Ok(relations(self.chosen(all, *index, requirement, at)?))
            }
            Hop::Incoming(capability, index) => {
                let all = self.incoming(from, capability)?;
                Ok(relations(self.chosen(all, *index, capability, at)?))
            }
            Hop::Siblings(index) => {
                let Some([Some(source), _]) = ends() else { return Ok(None) };
                let (requirement, _) = self.scope.requirement(from.element);
                let all = self.outgoing(Representation { element: source, ..from }, requirement)?;
                Ok(relations(self.chosen(all, *index, requirement, at)?))
            }
            Hop::Source => {
                let source = ends().and_then(|[source, _]| source);
                Ok(relations(source.map(|element| vec![Representation { element, ..from }])))
            }
            Hop::Target => Ok(relations(self.target(from)?.map(|target| vec![target]))),
            Hop::Capability(name) => {
                let known = self.capability(from.element, name);
                Ok(known.map(|name| vec![PathPlace::Capability(from, name)]))
            }
            Hop::TargetCapability => {
                let Some(target) = self.target(from)? else { return Ok(None) };
                let name = self.used_capability(from.element);
                Ok(name.map(|name| vec![PathPlace::Capability(target, name)]))
            }
        }
    }

    /// The relations of a node for a requirement; `None` where not all of them are known.
    fn outgoing(
        &mut self,
        node: Representation<S::Element>,
        requirement: &str,
    ) -> FunctionResult<Vec<Representation<S::Element>>> {
        let all = self.scope.relations(node.element, requirement);
        for &relation in &all {
            if self.count(relation)? != Some(1) {
                return Ok(None);
            }
        }
        let effective = self.effective(node.element);
        let definition = effective.and_then(|it| it.requirements.get(requirement));
        let is_whole = self.state.ignores_open
            || definition.is_some_and(|part| bounds(&part.definition).min <= all.len() as u64)
                && !self.scope.is_exposed(node.element);
        let one = |element| Representation { element, ..node };
        Ok(is_whole.then(|| all.into_iter().map(one).collect()))
    }

    /// The relations that lead to a capability of a node; `None` where not all of them are known.
    fn incoming(
        &mut self,
        node: Representation<S::Element>,
        capability: &str,
    ) -> FunctionResult<Vec<Representation<S::Element>>> {
        let is_whole =
            self.state.ignores_open || !self.scope.is_exposed(node.element) && self.is_complete();
        if !is_whole || self.count(node.element)? != Some(1) {
            return Ok(None);
        }
        let mut all = Vec::new();
        for relation in self.scope.incoming(node.element) {
            if self.used_capability(relation) != Some(capability) {
                continue;
            }
            let source = self.scope.ends(relation).and_then(|[source, _]| source);
            let sources = source.map_or(Ok(None), |source| self.count(source))?;
            let (Some(sources), Some(1)) = (sources, self.count(relation)?) else {
                return Ok(None);
            };
            if all.len() as u64 + sources > PLACES {
                return Ok(None);
            }
            let one = |index| Representation { element: relation, index: Some(index) };
            all.extend((0..sources).map(one));
        }
        Ok(Some(all))
    }

    /// Whether no requirement is left open, so that no other relation may lead to a node.
    fn is_complete(&mut self) -> bool {
        if let Some(known) = self.state.is_complete {
            return known;
        }
        let has_target = |relation: &S::Element| {
            self.scope.ends(*relation).is_some_and(|[_, target]| target.is_some())
        };
        let is_complete = self.scope.nodes().all(|(node, _)| {
            let requirements = self.effective(node).map(|effective| effective.requirements.iter());
            requirements.is_some_and(|mut all| {
                all.all(|(name, part)| {
                    let relations = self.scope.relations(node, name);
                    let least = bounds(&part.definition).min;
                    relations.len() as u64 >= least && relations.iter().all(has_target)
                })
            })
        });
        self.state.is_complete = Some(is_complete);
        is_complete
    }

    /// The capability of its target that a relation leads to: the first that fits.
    fn used_capability(&self, relation: S::Element) -> Option<&'e str> {
        let [Some(source), Some(target)] = self.scope.ends(relation)? else { return None };
        fulfilling(self.scope, [source, relation, target]).first().copied()
    }

    /// The node that a relation leads to. Of several nodes of a template it may be any, where the
    /// relation does not say which.
    fn target(
        &mut self,
        relation: Representation<S::Element>,
    ) -> FunctionResult<Representation<S::Element>> {
        let target = self.scope.ends(relation.element).and_then(|[_, target]| target);
        let Some(element) = target else { return Ok(None) };
        let Some(count) = self.count(element)? else { return Ok(None) };
        let index = match self.scope.target_index(relation.element) {
            Some(index) => self.whole(index, Some(relation))?.filter(|index| *index < count),
            None => (count == 1).then_some(0),
        };
        Ok((count > 0).then_some(Representation { element, index }))
    }

    /// The relations that an index means among all.
    fn chosen<T: Clone>(
        &mut self,
        all: Option<Vec<T>>,
        index: PathIndex,
        of: &str,
        at: &ValueStep<'_>,
    ) -> FunctionResult<Vec<T>> {
        match (all, index) {
            (None, _) => Ok(None),
            (Some(all), PathIndex::All) => Ok(Some(all)),
            (Some(all), PathIndex::One(index)) => {
                match usize::try_from(index).ok().and_then(|index| all.get(index)) {
                    Some(one) => Ok(Some(vec![one.clone()])),
                    None => {
                        let message = match all.len() {
                            1 => format!(
                                "`{of}` has 1 relationship here, and none of the index {index}"
                            ),
                            count => format!(
                                "`{of}` has {count} relationships here, and none of the index {index}"
                            ),
                        };
                        self.dangles(at, message, "name one that exists")
                    }
                }
            }
        }
    }

    /// The index of a relation among those of its requirement.
    fn position(&mut self, site: Representation<S::Element>) -> FunctionResult<u64> {
        let Some([Some(source), _]) = self.scope.ends(site.element) else { return Ok(None) };
        let (requirement, _) = self.scope.requirement(site.element);
        let mut before = 0_u64;
        for relation in self.scope.relations(source, requirement) {
            let Some(count) = self.count(relation)? else { return Ok(None) };
            if relation == site.element {
                return Ok((count == 1).then_some(before));
            }
            before = before.saturating_add(count);
        }
        Ok(None)
    }

    /// What is left of a capability's property beside what relations allocate of it.
    fn available(
        &mut self,
        node: Representation<S::Element>,
        capability: &str,
        path: &[ValueStep<'_>],
    ) -> FunctionResult {
        let [property] = path else { return Ok(None) };
        let name = property.name();
        let there = self.of_capability(node, capability, path)?;
        let definition = self.capability_property(node.element, capability, &name);
        let Some((there, definition)) = there.flatten().zip(definition) else { return Ok(None) };
        let Some(relations) = self.incoming(node, capability)? else { return Ok(None) };
        let mut taken = Vec::new();
        for relation in relations {
            let Some(amount) = self.scope.allocation(relation.element, &name) else { continue };
            let Some(amount) = self.within(amount, &[], Some(relation))?.flatten() else {
                return Ok(None);
            };
            taken.push(amount);
        }
        Ok(left(there, taken, &self.scope.units(definition)))
    }

    fn bounded(&mut self, count: u64, at: &ValueStep<'_>) -> Result<(), AlreadyReported> {
        if count <= PLACES {
            return Ok(());
        }
        let message = format!("the path leads to more than {PLACES} places");
        self.dangles(at, message, "lower the `count` of the nodes on it")
    }

    fn dangles<T>(
        &mut self,
        at: &ValueStep<'_>,
        message: String,
        help: &'static str,
    ) -> Result<T, AlreadyReported> {
        let error = Diagnostic::error(Code::DanglingReference, message).at(at.at.span());
        self.stop(error.rule(Rule::new(&TOSCA_2_0, "10.3")).help(help))
    }
}

/// What is left of an amount; scalars are in the base unit of their type, unless nothing is taken.
pub(crate) fn left(there: Value, taken: Vec<Value>, units: &[UnitSize]) -> Option<Value> {
    if taken.is_empty() {
        return Some(there);
    }
    let is_scalar = there.as_str().is_some();
    let difference = BuiltIn::named("difference")?.value?;
    let start = in_base_unit(there, units);
    let left = taken.into_iter().try_fold(start, |left, amount| {
        difference(&[left, in_base_unit(amount, units)], &PlainText).ok()?
    })?;
    let base = units.iter().find(|(_, size)| size.as_deref() == Some("1"));
    match (&left, base) {
        (Value::Number(number), Some((unit, _))) if is_scalar => {
            Some(format!("{number} {unit}").into())
        }
        _ => Some(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_their_grammar_says() {
        use Hop::*;
        use PathIndex::{All, One};
        let cases: [(&str, bool, Vec<Hop<'_>>, usize); 9] = [
            ("p", false, vec![], 0),
            ("RELATIONSHIP host p", false, vec![Outgoing("host", One(0))], 2),
            (
                "RELATIONSHIP host 1 TARGET RELATIONSHIP db ALL CAPABILITY port",
                false,
                vec![Outgoing("host", One(1)), Target, Outgoing("db", All), TargetCapability],
                8,
            ),
            ("CAPABILITY host cpus", false, vec![Capability("host")], 2),
            (
                "CAPABILITY host RELATIONSHIP ALL SOURCE name",
                false,
                vec![Incoming("host", All), Source],
                5,
            ),
            ("CAPABILITY RELATIONSHIP 2 p", true, vec![Siblings(One(2))], 3),
            ("CAPABILITY p q", true, vec![TargetCapability], 1),
            ("TARGET CAPABILITY host p", true, vec![Target, Capability("host")], 3),
            // The words mean nothing where their context is another one.
            ("TARGET SOURCE", false, vec![], 0),
        ];
        for (path, is_relation, expected, used) in cases {
            let words: Vec<_> = path.split(' ').collect();
            assert_eq!(hops(&words, is_relation), (expected, used), "{path}");
        }
    }

    #[test]
    fn what_is_allocated_is_not_available() {
        let units =
            [("MB".to_owned(), Some("1".to_owned())), ("GB".to_owned(), Some("1000".to_owned()))];
        let texts = |all: &[&str]| all.iter().map(|text| Value::from(*text)).collect::<Vec<_>>();
        assert_eq!(left("4 GB".into(), vec![], &units), Some("4 GB".into()));
        let some = left("4 GB".into(), texts(&["1 GB", "500 MB"]), &units);
        assert_eq!(some, Some("2500 MB".into()));
        assert_eq!(
            left(8_i64.into(), vec![3_i64.into(), 6_i64.into()], &[]),
            Some((-1_i64).into())
        );
        assert_eq!(left(8_i64.into(), texts(&["many"]), &[]), None);
    }
}
