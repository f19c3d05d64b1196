//! Checks property assignments (section 3.6.11) of elements that have a type.

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::TypeId;
use crate::tosca::v2_0::function::{FormedValue, PlainText, constant};
use crate::tosca::value::{
    PropertyDefinition, PropertyRule, RuleDemand, TextType, check_assignment,
    check_assignment_asking, check_taken,
};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, NodeId};
use crate::variability::template::{Property, PropertyValue};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Limits, Node};
use std::cell::RefCell;

impl<'c> Checker<'c, '_> {
    /// Checks the properties of an element against one of its types, while all of `of_type` are
    /// present: each assigned alternative is defined and fits, and required properties are
    /// assigned.
    pub(super) fn properties(
        &self,
        owner: ElementId,
        properties: &[ElementId],
        kind: TypeId,
        of_type: &[ElementId],
    ) {
        self.assigned_properties(properties, kind, of_type);
        let when: Vec<_> = of_type.iter().copied().chain([owner]).collect();
        self.missing_properties(Typed { id: owner, kind, when: &when }, properties, &[]);
    }

    /// Checks that each alternative is defined by the type and fits, while all of `of_type` are
    /// present.
    pub(super) fn assigned_properties(
        &self,
        properties: &[ElementId],
        kind: TypeId,
        of_type: &[ElementId],
    ) {
        let definitions = &self.schemas.of(kind).properties;
        for id in self.counting(properties) {
            let when: Vec<_> = of_type.iter().copied().chain([id]).collect();
            self.property(id, kind, definitions, &when);
        }
    }

    /// Checks that for each required property an alternative is present, unless the property is
    /// `given` otherwise.
    pub(super) fn missing_properties(
        &self,
        of: Typed<'_>,
        properties: &[ElementId],
        given: &[&str],
    ) {
        // A property without a type has been reported already, or inherits from an unknown type.
        let is_missing = |definition: &&PropertyDefinition<'_>| {
            let is_typed = definition.schema.is_typed();
            is_typed && definition.needs_value() && !given.contains(&definition.named.name)
        };
        let assigned = |names: &[&str]| -> Vec<_> {
            let is_named = |id: &ElementId| names.contains(&self.graph.element(*id).name);
            properties.iter().copied().filter(is_named).collect()
        };
        let schema = self.schemas.of(of.kind);
        for definition in schema.properties.iter().copied().filter(is_missing) {
            let assigned = assigned(&[definition.named.name]);
            let message = format!(
                "{} needs a value of the property `{}`",
                self.graph.display(of.id),
                definition.named.name
            );
            let error = Diagnostic::error(Code::MissingProperty, message)
                .at(self.graph.element(of.id).span)
                .section("3.6.10.5")
                .help("assign it under `properties`, or give its definition a `default`");
            self.report_when(
                of.when,
                &assigned,
                error.label(definition.named.key.span(), "the property is defined here"),
            );
        }
        self.taken_properties(of, properties, given);
        for rule in &schema.rules {
            if let RuleDemand::OneOf(names) = rule.demand
                && !names
                    .iter()
                    .any(|name| given.contains(name) || self.has_default(of.kind, name, rule))
            {
                let element = self.graph.element(of.id);
                let error =
                    rule.missing(&self.graph.display(of.id).to_string(), names, Some(element.span));
                self.report_when(of.when, &assigned(names), error);
            }
        }
    }

    /// Checks the values that an element takes from its type, if their validations ask for others of
    /// the element: of properties that no alternative among `properties` assigns.
    fn taken_properties(&self, of: Typed<'_>, properties: &[ElementId], given: &[&str]) {
        let asking = self.schemas.of(of.kind).properties.iter().copied();
        let asking = asking.filter(|it| it.schema.asks() && !given.contains(&it.named.name));
        for definition in asking {
            let also = RefCell::new(Vec::new());
            let ask = |function: &str, path: Option<Node<'_>>| {
                self.known((of.id, of.kind), function, path?, &also)
            };
            let at = self.graph.element(of.id).span;
            let found = check_taken(definition, at, &self.schemas, &ask).diagnostics;
            let when = [of.when, &also.take()].concat();
            let is_named = |id: &ElementId| self.graph.element(*id).name == definition.named.name;
            let assigned: Vec<_> = properties.iter().copied().filter(is_named).collect();
            found.into_iter().for_each(|error| self.report_when(&when, &assigned, error));
        }
    }

    /// Whether a type that derives from the type of a rule gives a property a value. Defaults of
    /// the rule's own type or its ancestors do not count.
    fn has_default(&self, kind: TypeId, property: &str, rule: &PropertyRule) -> bool {
        let part = self.types.effective(kind).properties.get(property);
        part.is_some_and(|part| {
            let is_of_rule = |id| self.types.definition(id).name == rule.type_name;
            (part.definition.default.is_some() || part.definition.value.is_some())
                && self.types.chain(part.owner).skip(1).any(is_of_rule)
        })
    }

    fn property(
        &self,
        id: ElementId,
        kind: TypeId,
        definitions: &[&PropertyDefinition<'c>],
        when: &[ElementId],
    ) {
        let element = self.graph.element(id);
        let Some(definition) =
            definitions.iter().copied().find(|definition| definition.named.name == element.name)
        else {
            if !self.is_open(kind) {
                let error = undefined(&self.called(kind), element.name, definitions);
                self.report_when(when, &[], error.at(element.span));
            }
            return;
        };
        match self.graph.properties[element.slot as usize].property.value {
            PropertyValue::Value(value) => {
                let also = RefCell::new(Vec::new());
                let ask = |function: &str, path: Option<Node<'_>>| {
                    self.known((element.container?, kind), function, path?, &also)
                };
                let mut found = check_assignment_asking(value, definition, &self.schemas, &ask);
                for wrong in &mut found.diagnostics {
                    if wrong.code == Code::InvalidValue && wrong.help.is_none() {
                        let (property, owner) = (self.graph.display(id), self.called(kind));
                        let expected = definition.schema.type_name;
                        wrong.help = Some(
                            format!("{property} is of the type `{expected}`, as `{owner}` defines")
                                .into(),
                        );
                    }
                }
                self.report_values_with(when, &also.take(), found);
            }
            PropertyValue::Expression(expression) => {
                // The value of an expression is only known within a variant.
                let read = self.graph.syntax.read(expression);
                let value = self
                    .evaluator
                    .as_ref()
                    .map(|evaluator| evaluator.borrow_mut().value(read, Some(id)));
                match value {
                    None => {}
                    Some(Ok(value)) => self.computed(expression.span(), value, definition, when),
                    Some(Err(error)) => self.report_when(when, &[], error),
                }
            }
        }
    }

    /// What a validation of a property of this owner asks for: the value of a property of the node or
    /// relationship that is `SELF` there, where it is the same in all variants that have it. The
    /// elements without which it is another one are added to `also`.
    pub(super) fn known(
        &self,
        (owner, kind): (ElementId, TypeId),
        function: &str,
        path: Node<'_>,
        also: &RefCell<Vec<ElementId>>,
    ) -> Option<FormedValue<TextType>> {
        let steps: Option<Vec<_>> = path.items().map(|step| step.as_str()).collect();
        match (function, &*steps?) {
            ("get_property", ["SELF", way @ ..]) => self.known_at((owner, kind), way, also),
            _ => None,
        }
    }

    /// The same for a path behind its start.
    pub(super) fn known_at(
        &self,
        (owner, kind): (ElementId, TypeId),
        path: &[&str],
        also: &RefCell<Vec<ElementId>>,
    ) -> Option<FormedValue<TextType>> {
        let (name, way) = path.split_last()?;
        let element = self.graph.element(owner);
        let types = self.types.effective(kind);
        let (value, when, part) = match (element.kind, way) {
            (ElementKind::Node, []) => {
                let found = self.needed(NodeId(element.slot), name)?;
                (found.value, found.when, types.properties.get(*name)?)
            }
            (ElementKind::Node, ["CAPABILITY", capability]) => {
                let part = types.capabilities.get(*capability)?.definition.properties.get(*name)?;
                let node = self.graph.node(NodeId(element.slot));
                let assigned = self.assigned_to_capability(node, capability, name).ok()?;
                (assigned.or_else(|| part.definition.taken())?, vec![owner], part)
            }
            (ElementKind::Relation, []) => {
                let relation = &self.graph.relations[element.slot as usize];
                let part = types.properties.get(*name)?;
                let refined = self.refined_properties(relation).into_iter();
                let mut refined = refined.filter(|it| it.named.name == *name);
                match self.assigned_once(&relation.properties, name).ok()? {
                    Some((id, value)) => (value, vec![owner, id], part),
                    None => {
                        let refined = refined.find_map(|it| it.taken());
                        (refined.or_else(|| part.definition.taken())?, vec![owner], part)
                    }
                }
            }
            _ => return None,
        };
        let value = constant(value, &PlainText).ok()??;
        also.borrow_mut().extend(when);
        Some((value, TextType::of_part(&part.definition.schema, &[], &self.schemas)))
    }

    /// The only value that is assigned to a property, and its element; `Err` if that depends on the
    /// variant.
    pub(super) fn assigned_once(
        &self,
        properties: &[ElementId],
        name: &str,
    ) -> Result<Option<(ElementId, Node<'c>)>, ()> {
        let mut all = self.counting(properties).filter(|id| self.graph.element(*id).name == name);
        let (id, others) = (all.next(), all.next());
        match id.map(|id| self.graph.properties[self.graph.element(id).slot as usize].property) {
            None => Ok(None),
            Some(Property { value: PropertyValue::Value(value), .. }) if others.is_none() => {
                Ok(id.map(|id| (id, *value)))
            }
            Some(_) => Err(()),
        }
    }

    /// Checks a computed value as if it were written at the place of its expression.
    fn computed(
        &self,
        at: Span,
        value: Value,
        definition: &PropertyDefinition<'c>,
        when: &[ElementId],
    ) {
        let written = yaml::write_json(&yaml::Out::Value(value));
        let Ok(document) = yaml::parse(at.file, written.into(), &Limits::default()) else { return };
        let found = check_assignment(document.root(), definition, &self.schemas);
        let undecided: Vec<_> =
            found.undecided.iter().map(|undecided| undecided.diagnostic()).collect();
        for diagnostic in found.diagnostics.into_iter().chain(undecided) {
            self.report_when(when, &[], diagnostic.at(at));
        }
    }
}

/// The error that a type does not have a property.
pub(super) fn undefined(owner: &str, name: &str, known: &[&PropertyDefinition<'_>]) -> Diagnostic {
    let names = known.iter().map(|definition| definition.named.name);
    let error =
        Diagnostic::error(Code::UnknownProperty, format!("`{owner}` has no property `{name}`"))
            .section("3.6.11");
    error.help_opt(did_you_mean(name, names))
}
