//! Converts conditions: the clauses and filters of version 1.3, and the expressions of version 2.0.

use super::paths::named_parts;
use super::{AssignedTo, Converter, SelfScope, call, inline_list, inline_map, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::types::{EffectiveType, TypeId};
use crate::tosca::v2_0;
use crate::tosca::v2_0::clause::{ClauseArgument, ExpressionClause, OF_LENGTH, SAME, conjuncts};
use crate::tosca::v2_0::grammar::{ElementGrammar, EntityKind};
use crate::tosca::value::Primitive;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};

/// Whether a name is that of an operator of clauses, in either version.
fn is_clause(name: &str) -> bool {
    let is_of_length = OF_LENGTH.iter().any(|(of_length, _)| *of_length == name);
    SAME.contains(&name) || is_of_length || matches!(name, "pattern" | "matches")
}

/// What a filter or a condition says of one name, with its clauses.
type NamedClauses<'a> = Vec<(String, Vec<Out<'a>>)>;

/// What is made of conditions, below the comments in them.
pub(super) fn commented<'a>(node: Node<'a>, made: Out<'a>) -> Out<'a> {
    let mut parts = Vec::new();
    add_parts(node, &mut parts);
    if parts.is_empty() { made } else { Out::Below(parts, Box::new(made)) }
}

/// Adds the entries and items of conditions. What clauses compare with keeps its own comments.
fn add_parts<'a>(node: Node<'a>, parts: &mut Vec<Node<'a>>) {
    if node.is_flow() {
        return;
    }
    for (key, value) in node.entries() {
        parts.push(key);
        let name = key.text().unwrap_or_default();
        if !is_clause(name.strip_prefix('$').unwrap_or(name)) {
            add_parts(value, parts);
        }
    }
    for item in node.items() {
        parts.push(item);
        add_parts(item, parts);
    }
}

/// A list of what is made of items, below the comments in these. Those of the items stay at them.
fn items_below<'a>(node: Node<'a>, made: Vec<(Option<Node<'a>>, Out<'a>)>) -> Out<'a> {
    let mut parts = Vec::new();
    node.items().for_each(|item| add_parts(item, &mut parts));
    let list = Out::Seq { items: made.into(), like: None };
    if parts.is_empty() { list } else { Out::Below(parts, Box::new(list)) }
}

/// All of these conditions.
fn all<'a>(mut conditions: Vec<Out<'a>>) -> Option<Out<'a>> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(call("and", conditions)),
    }
}

/// The path of a call of this function, as texts.
fn path_of<'a>(node: Node<'a>, function: &str) -> Option<Vec<&'a str>> {
    let (_, arguments) = v2_0::called(node).filter(|(name, _)| *name == function)?;
    arguments?.items().map(|item| item.text()).collect()
}

/// Adds a clause to those about a name.
fn add<'a>(all: &mut NamedClauses<'a>, name: &str, clause: Out<'a>) {
    match all.iter_mut().find(|(known, _)| known == name) {
        Some((_, clauses)) => clauses.push(clause),
        None => all.push((name.to_owned(), vec![clause])),
    }
}

/// Named clauses as a list of maps.
fn listed<'a>(all: NamedClauses<'a>) -> Out<'a> {
    let items = all.into_iter().map(|(name, clauses)| {
        let mut clauses = clauses;
        let body = match clauses.len() {
            1 => clauses.pop().unwrap_or_else(|| inline_list(Vec::new())),
            _ => inline_list(clauses),
        };
        (None, inline_map(name, body))
    });
    Out::Seq { items: items.collect(), like: None }
}

impl<'t, 'a> Converter<'t, 'a> {
    /// The expression for a clause of version 1.3 about a subject.
    fn clause(
        &mut self,
        (key, argument): (Node<'a>, Node<'a>),
        subject: &dyn Fn() -> Out<'a>,
    ) -> Option<Out<'a>> {
        let operator = key.text()?;
        if SAME.contains(&operator) {
            let argument = self.value(argument)?;
            return Some(call(operator, vec![subject(), argument]));
        }
        if let Some((_, compares)) = OF_LENGTH.iter().find(|(name, _)| *name == operator) {
            let argument = self.value(argument)?;
            return Some(call(compares, vec![call("length", vec![subject()]), argument]));
        }
        let pattern = argument.text().filter(|_| operator == "pattern")?;
        Some(call("matches", vec![subject(), text(format!("^(?:{pattern})$"))]))
    }

    /// The expressions for clauses: a map of one, or a list. A scalar has to be equal.
    fn clauses(&mut self, node: Node<'a>, subject: &dyn Fn() -> Out<'a>) -> Option<Vec<Out<'a>>> {
        match node.kind() {
            NodeKind::Scalar => Some(vec![call("equal", vec![subject(), self.value(node)?])]),
            _ => named_parts(node).map(|pair| self.clause(pair, subject)).collect(),
        }
    }

    /// The expression for the constraints of a definition, and those that have none.
    pub(super) fn validation(
        &mut self,
        node: Node<'a>,
        is_range: bool,
    ) -> (Option<Out<'a>>, Vec<(Node<'a>, Node<'a>)>) {
        let items: Vec<_> = match node.kind() {
            NodeKind::Sequence => node.items().collect(),
            _ => vec![node],
        };
        let (mut conditions, mut kept) = (Vec::new(), Vec::new());
        for item in items {
            for (key, argument) in item.entries() {
                let bounds: Vec<_> = argument.items().collect();
                let made = match (is_range && key.text() == Some("in_range"), &bounds[..]) {
                    (true, [low, high]) => self.range_within(*low, *high),
                    _ => {
                        let subject = text("$value");
                        self.clause((key, argument), &|| subject.clone()).map(|it| vec![it])
                    }
                };
                match made {
                    Some(made) => conditions.extend(made),
                    None => kept.push((item, key)),
                }
            }
        }
        (all(conditions), kept)
    }

    /// The bounds of a range lie within others.
    fn range_within(&mut self, low: Node<'a>, high: Node<'a>) -> Option<Vec<Out<'a>>> {
        let mut conditions = Vec::new();
        for (at, bound, compares) in [(0, low, "greater_or_equal"), (1, high, "less_or_equal")] {
            if bound.as_str() != Some("UNBOUNDED") {
                let bound = self.value(bound)?;
                conditions.push(call(compares, vec![self.subject_of(Some(at)), bound]));
            }
        }
        Some(conditions)
    }

    fn effective(&self, id: Option<TypeId>) -> Option<&'t EffectiveType<'a>> {
        id.map(|id| self.context.types.effective(id))
    }

    /// The path to what a filter is about.
    fn filtered(entity: &ElementGrammar) -> &'static [&'static str] {
        match entity.kind {
            EntityKind::Requirement | EntityKind::RequirementAssignment => &["SELF", "TARGET"],
            _ => &["SELF"],
        }
    }

    /// The expression for a filter of version 1.3 in an element. Returns nothing where a part has
    /// none.
    pub(super) fn filter_to_2_0(
        &mut self,
        entity: &ElementGrammar,
        element: Node<'a>,
        node: Node<'a>,
    ) -> Option<Out<'a>> {
        let conditions = self
            .filtering(entity, element, |this, base, of| this.filter_conditions(base, of, node));
        all(conditions?)
    }

    /// Converts a filter in an element, by the path to what it is about and the type of that.
    fn filtering<T>(
        &mut self,
        entity: &ElementGrammar,
        element: Node<'a>,
        step: impl FnOnce(&mut Self, &[&str], Option<&'t EffectiveType<'a>>) -> T,
    ) -> T {
        let of = self.effective(self.filtered_type(entity, element));
        let around = self.scope;
        self.scope = self.filtering_scope(entity);
        let made = step(self, Self::filtered(entity), of);
        self.scope = around;
        made
    }

    /// What `SELF` means in a filter.
    fn filtering_scope(&self, entity: &ElementGrammar) -> SelfScope<'a> {
        match (entity.kind, self.scope) {
            (
                EntityKind::Requirement | EntityKind::RequirementAssignment,
                SelfScope::Node(node),
            ) => SelfScope::Source(node),
            (_, scope) => scope,
        }
    }

    /// The expressions for the parts of a filter about what is at a path.
    fn filter_conditions(
        &mut self,
        base: &[&str],
        of: Option<&'t EffectiveType<'a>>,
        node: Node<'a>,
    ) -> Option<Vec<Out<'a>>> {
        let mut conditions = Vec::new();
        for (key, value) in node.entries() {
            match key.text()? {
                "properties" => conditions.extend(self.filtered_properties(value, base, of)?),
                "capabilities" => {
                    for (capability, filter) in named_parts(value) {
                        if filter.entries().any(|(key, _)| key.text() != Some("properties")) {
                            return None;
                        }
                        let name = self.filtered_capability(of, capability.text()?)?;
                        let path = [base, &["CAPABILITY", name]].concat();
                        let properties = filter.get("properties")?;
                        let of = of.and_then(|it| self.type_of_capability(it, name));
                        conditions.extend(self.filtered_properties(properties, &path, of)?);
                    }
                }
                _ => return None,
            }
        }
        Some(conditions)
    }

    /// The capability that a filter names. A type stands for whatever capability has it.
    fn filtered_capability(
        &self,
        of: Option<&'t EffectiveType<'a>>,
        named: &'a str,
    ) -> Option<&'a str> {
        let types = self.context.types;
        let Some(kind) = types.find_in(self.file(), Family::Capability, named) else {
            return Some(named);
        };
        let mut of_type = of?.capabilities.iter().filter_map(|(name, part)| {
            let own = self.named_type(Family::Capability, part.definition.kind?)?;
            types.chain(own).any(|id| id == kind).then_some(*name)
        });
        of_type.next().filter(|_| of_type.next().is_none())
    }

    fn type_of_capability(
        &self,
        of: &'t EffectiveType<'a>,
        name: &str,
    ) -> Option<&'t EffectiveType<'a>> {
        let kind = of.capabilities.get(name)?.definition.kind?;
        self.effective(self.named_type(Family::Capability, kind))
    }

    /// The type of the nodes that the filter of an element is about.
    fn filtered_type(&self, entity: &ElementGrammar, element: Node<'a>) -> Option<TypeId> {
        let named = match entity.kind {
            EntityKind::NodeTemplate => return self.template_node(element).0,
            EntityKind::Requirement => element
                .get("node")
                .or_else(|| self.of_parent()?.requirements.get(self.name)?.definition.node),
            EntityKind::RequirementAssignment => element.get("node").or_else(|| {
                let SelfScope::Node((id, _)) = self.scope else { return None };
                self.context.types.effective(id?).requirements.get(self.name)?.definition.node
            }),
            _ => element.get("node_type"),
        };
        let template = named?.text().and_then(|name| self.template("node_templates", name));
        match template {
            Some(template) => self.template_node(template).0,
            None => self.declared_type(Family::Node, named?),
        }
    }

    fn filtered_properties(
        &mut self,
        node: Node<'a>,
        base: &[&str],
        of: Option<&'t EffectiveType<'a>>,
    ) -> Option<Vec<Out<'a>>> {
        let mut conditions = Vec::new();
        for (property, clauses) in named_parts(node) {
            let path = [base, &[property.text()?]].concat();
            conditions.extend(self.about("get_property", &path, of, clauses)?);
        }
        Some(conditions)
    }

    /// The expressions for clauses about a property or an attribute of something of a type.
    fn about(
        &mut self,
        function: &str,
        path: &[&str],
        of: Option<&'t EffectiveType<'a>>,
        clauses: Node<'a>,
    ) -> Option<Vec<Out<'a>>> {
        let subject = self.got(function, path);
        let schema = of.zip(path.last()).and_then(|(of, &name)| AssignedTo::Type(of).schema(name));
        self.expecting(schema, |this| this.clauses(clauses, &|| subject.clone()))
    }

    /// The expression for a condition about the attributes of a node of a type.
    fn condition(
        &mut self,
        node: Node<'a>,
        target: &[&str],
        of: Option<&'t EffectiveType<'a>>,
    ) -> Option<Vec<Out<'a>>> {
        if node.kind() == NodeKind::Sequence {
            let parts = node.items().map(|item| self.condition(item, target, of));
            return parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat());
        }
        let mut conditions = Vec::new();
        for (key, value) in node.entries() {
            match key.text()? {
                "and" | "assert" => conditions.extend(self.condition(value, target, of)?),
                "or" => {
                    let mut some = Vec::new();
                    for item in value.items() {
                        some.push(all(self.condition(item, target, of)?)?);
                    }
                    conditions.push(match some.len() {
                        1 => some.pop()?,
                        0 => return None,
                        _ => call("or", some),
                    });
                }
                "not" => {
                    let inner = all(self.condition(value, target, of)?)?;
                    conditions.push(call("not", vec![inner]));
                }
                attribute => {
                    let path = [target, &[attribute]].concat();
                    conditions.extend(self.about("get_attribute", &path, of, value)?);
                }
            }
        }
        Some(conditions)
    }

    /// The expression for the preconditions of a workflow.
    pub(super) fn preconditions_to_2_0(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut conditions = Vec::new();
        for item in node.items() {
            let target = item.get("target")?.text()?;
            self.template("node_templates", target).or_else(|| self.template("groups", target))?;
            let known = |key: Node<'_>| matches!(key.text(), Some("target" | "condition"));
            if !item.entries().all(|(key, _)| known(key)) {
                return None;
            }
            let of = self.effective(self.type_of_target(target));
            conditions.extend(self.condition(item.get("condition")?, &[target], of)?);
        }
        all(conditions)
    }

    /// The expressions for the filter of a step. Only nodes have names in paths.
    pub(super) fn step_filter_to_2_0(&mut self, step: Node<'a>, node: Node<'a>) -> Option<Out<'a>> {
        let target = step.get("target")?.text()?;
        let is_node = step.get("target_relationship").is_none()
            && self.template("node_templates", target).is_some();
        let target = if is_node { target } else { "SELF" };
        let of = self.effective(self.type_of_step(step));
        let mut items = Vec::new();
        for item in node.items() {
            items.push((Some(item), all(self.condition(item, &[target], of)?)?));
        }
        Some(items_below(node, items))
    }

    /// The expression for the condition of a trigger, which is about the target of its filter.
    pub(super) fn trigger_condition_to_2_0(
        &mut self,
        trigger: Node<'a>,
        node: Node<'a>,
    ) -> Option<Out<'a>> {
        let filter = trigger.get("target_filter")?;
        let target = filter.get("node")?.text()?;
        self.template("node_templates", target)?;
        let has_more = node.get("constraint").is_some() && node.entries().len() > 1;
        if has_more || filter.get("requirement").is_some() {
            return None;
        }
        let clauses = node.get("constraint").unwrap_or(node);
        let of = self.effective(self.type_of_target(target));
        let conditions = match filter.get("capability") {
            Some(capability) => {
                let name = capability.text()?;
                let of = self.type_of_capability(of?, name);
                self.condition(clauses, &[target, "CAPABILITY", name], of)?
            }
            None => self.condition(clauses, &[target], of)?,
        };
        all(conditions)
    }

    /// A clause of version 1.3.
    fn write_clause(
        &mut self,
        operator: &'static str,
        argument: ClauseArgument<'a>,
    ) -> Option<Out<'a>> {
        let node = match argument {
            ClauseArgument::Node(node) => node,
            ClauseArgument::Pattern(pattern) => {
                return Some(inline_map(operator, text(pattern.to_owned())));
            }
        };
        // The lower bound is one in version 1.3.
        let bounds: Vec<_> = node.items().collect();
        Some(match bounds[..] {
            [low, high] if operator == "in_range" && low.as_str() == Some("UNBOUNDED") => {
                inline_map("less_or_equal", self.value(high)?)
            }
            _ => inline_map(operator, self.value(node)?),
        })
    }

    /// The constraints for a validation of version 2.0. What is no clause about the value itself
    /// is lost.
    pub(super) fn constraints_to_1_3(&mut self, node: Node<'a>, is_range: bool) -> Option<Out<'a>> {
        let mut items = Vec::new();
        let mut bounds = [None, None];
        for condition in conjuncts(node) {
            let Some(clause) = ExpressionClause::read(condition) else {
                self.lose_condition(condition);
                continue;
            };
            let (name, path) = v2_0::called(clause.subject).unwrap_or_default();
            let index: Vec<_> =
                path.into_iter().flat_map(Node::items).filter_map(Node::text).collect();
            let made = match (name, &index[..], clause.argument) {
                ("value", ["0"], ClauseArgument::Node(low))
                    if is_range && clause.operator == "greater_or_equal" =>
                {
                    bounds[0] = Some(low);
                    continue;
                }
                ("value", ["1"], ClauseArgument::Node(high))
                    if is_range && clause.operator == "less_or_equal" =>
                {
                    bounds[1] = Some(high);
                    continue;
                }
                ("value", [], argument) => self.write_clause(clause.operator, argument),
                _ => None,
            };
            match made {
                Some(made) => items.push((None, made)),
                None => self.lose_condition(condition),
            }
        }
        if bounds.iter().any(Option::is_some) {
            let bounds = bounds.map(|bound| bound.map_or_else(|| text("UNBOUNDED"), Out::Source));
            items.push((None, inline_map("in_range", inline_list(bounds.into()))));
        }
        (!items.is_empty()).then_some(Out::Seq { items: items.into(), like: None })
    }

    /// Whether a type is a scalar of TOSCA 2.0, whose values are only texts in version 1.3.
    pub(super) fn is_gone_scalar(&self, name: Node<'a>) -> bool {
        let is_primitive = |name: &str| Primitive::from_name(name).is_some();
        let types = self.context.types;
        let id = self.named_type(Family::Data, name);
        let is_known =
            id.is_some_and(|id| types.chain(id).any(|id| is_primitive(types.definition(id).name)));
        !is_known && matches!(self.primitive(name), Some("scalar" | "scalar-unit"))
    }

    pub(super) fn lose_condition(&mut self, condition: Node<'a>) {
        let why = "TOSCA 1.3 has no such clause";
        self.report(LossKind::Lost, condition, "a condition", why);
    }

    /// The filter of version 1.3 for an expression.
    pub(super) fn filter_to_1_3(
        &mut self,
        entity: &ElementGrammar,
        element: Node<'a>,
        node: Node<'a>,
    ) -> Option<Out<'a>> {
        self.filtering(entity, element, |this, base, of| this.filter_clauses(base, of, node))
    }

    /// The filter about what is at a path.
    fn filter_clauses(
        &mut self,
        base: &[&str],
        of: Option<&'t EffectiveType<'a>>,
        node: Node<'a>,
    ) -> Option<Out<'a>> {
        let mut properties: NamedClauses<'a> = Vec::new();
        let mut capabilities: Vec<(String, NamedClauses<'a>)> = Vec::new();
        for condition in conjuncts(node) {
            let made = ExpressionClause::read(condition).and_then(|clause| {
                let path = path_of(clause.subject, "get_property")?;
                let rest = path.strip_prefix(base)?.to_vec();
                let (of, property) = match rest[..] {
                    ["CAPABILITY", name, property] => {
                        (of.and_then(|of| self.type_of_capability(of, name)), property)
                    }
                    _ => (of, *rest.first()?),
                };
                let kind = of.and_then(|it| it.properties.get(property)?.definition.schema.kind);
                kind.is_none_or(|kind| !self.is_gone_scalar(kind)).then_some(())?;
                Some((rest, self.write_clause(clause.operator, clause.argument)?))
            });
            match made {
                Some((rest, clause)) => match rest[..] {
                    [property] => add(&mut properties, property, clause),
                    ["CAPABILITY", capability, property] => {
                        let at = capabilities.iter().position(|(name, _)| name == capability);
                        let at = at.unwrap_or_else(|| {
                            capabilities.push((capability.to_owned(), Vec::new()));
                            capabilities.len() - 1
                        });
                        if let Some((_, clauses)) = capabilities.get_mut(at) {
                            add(clauses, property, clause);
                        }
                    }
                    _ => self.lose_condition(condition),
                },
                None => self.lose_condition(condition),
            }
        }
        let mut entries = Vec::new();
        if !properties.is_empty() {
            entries.push((OutKey::New("properties".into()), listed(properties)));
        }
        if !capabilities.is_empty() {
            let items = capabilities.into_iter().map(|(name, clauses)| {
                let body = vec![(OutKey::New("properties".into()), listed(clauses))];
                let body = Out::Map { entries: body.into(), like: None };
                (
                    None,
                    Out::Map { entries: vec![(OutKey::New(name.into()), body)].into(), like: None },
                )
            });
            let items = Out::Seq { items: items.collect(), like: None };
            entries.push((OutKey::New("capabilities".into()), items));
        }
        (!entries.is_empty()).then_some(Out::Map { entries: entries.into(), like: None })
    }

    /// The condition of version 1.3 for an expression about attributes, and the path to what has
    /// them all.
    fn condition_to_1_3(&mut self, node: Node<'a>) -> Option<(Vec<&'a str>, Out<'a>)> {
        match v2_0::called(node)? {
            (name @ ("and" | "or" | "not"), Some(arguments)) => {
                let mut target = None;
                let mut items = Vec::new();
                for item in arguments.items() {
                    let (of, made) = self.condition_to_1_3(item)?;
                    if target.get_or_insert_with(|| of.clone()) != &of {
                        return None;
                    }
                    items.push(made);
                }
                Some((target?, inline_map(name.to_owned(), inline_list(items))))
            }
            _ => {
                let clause = ExpressionClause::read(node)?;
                let path = path_of(clause.subject, "get_attribute")?;
                let (attribute, target) = path.split_last()?;
                let clause = self.write_clause(clause.operator, clause.argument)?;
                let made = inline_map((*attribute).to_owned(), inline_list(vec![clause]));
                Some((target.to_vec(), made))
            }
        }
    }

    /// The preconditions for the precondition of a workflow.
    pub(super) fn preconditions_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut all: NamedClauses<'a> = Vec::new();
        for condition in conjuncts(node) {
            let made = self.condition_to_1_3(condition);
            match made.as_ref().map(|(of, made)| (&of[..], made)) {
                Some(([target], made)) if *target != "SELF" => {
                    add(&mut all, target, made.clone());
                }
                _ => self.lose_condition(condition),
            }
        }
        let items = all.into_iter().map(|(target, conditions)| {
            let entries = vec![
                (OutKey::New("target".into()), text(target)),
                (OutKey::New("condition".into()), inline_list(conditions)),
            ];
            (None, Out::Map { entries: entries.into(), like: None })
        });
        let items: Vec<_> = items.collect();
        (!items.is_empty()).then_some(Out::Seq { items: items.into(), like: None })
    }

    /// The filter of a step for the expressions about its target.
    pub(super) fn step_filter_to_1_3(&mut self, step: Node<'a>, node: Node<'a>) -> Option<Out<'a>> {
        // Where the step is about a relationship, no path leads to its node.
        let target = match step.get("target_relationship") {
            None => step.get("target").and_then(Node::text).unwrap_or("SELF"),
            Some(_) => "SELF",
        };
        let mut items = Vec::new();
        for item in node.items() {
            let is_about = |of: &[&str]| matches!(of, [of] if *of == target || *of == "SELF");
            match self.condition_to_1_3(item).filter(|(of, _)| is_about(of)) {
                Some((_, made)) => items.push((Some(item), made)),
                None => self.lose_condition(item),
            }
        }
        (!items.is_empty()).then(|| items_below(node, items))
    }

    /// The condition of a trigger, and the filter that says which node or capability it is about.
    pub(super) fn trigger_condition_to_1_3(&mut self, node: Node<'a>) -> Option<[Out<'a>; 2]> {
        let mut target: Option<Vec<&str>> = None;
        let mut items = Vec::new();
        for condition in conjuncts(node) {
            let made = self.condition_to_1_3(condition);
            let is_whole =
                |of: &[&str]| matches!(of, [name] | [name, "CAPABILITY", _] if *name != "SELF");
            let made = made.filter(|(of, _)| is_whole(of));
            let made = made.filter(|(of, _)| target.get_or_insert_with(|| of.clone()) == of);
            match made {
                Some((_, made)) => items.push((None, made)),
                None => self.lose_condition(condition),
            }
        }
        let target = target?;
        let words = ["node", "capability"].into_iter().zip(target.iter().step_by(2));
        let filter = words.map(|(key, name)| (OutKey::New(key.into()), text((*name).to_owned())));
        let filter = Out::Map { entries: filter.collect(), like: None };
        Some([Out::Seq { items: items.into(), like: None }, filter])
    }
}
