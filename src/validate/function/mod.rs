//! Checks calls of intrinsic functions (chapter 4): their arguments, the entities that they refer
//! to, and whether their results fit.
//!
//! Every value of a template is searched for calls. The checks of values have recorded before what
//! is expected where ([`Checker::expects`]). Where nothing was recorded, a map counts as a call
//! only if it cannot be anything else.

mod applied;
mod circle;
mod definition;
mod kind;
mod output;
mod path;
mod target;

use super::checker::Checker;
use super::v2_0::DeclaredFunctions;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0, did_you_mean};
use crate::tosca::function::{Arguments, Call, Function, Name};
use crate::tosca::v2_0::function::BuiltIn;
use crate::tosca::value::{Primitive, Undecided, UndecidedReason, function, function_not_map};
use crate::tosca::{Family, Named, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::ElementId;
use crate::variability::template::PropertyValue;
use applied::JudgedExpression;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use kind::{Fit, KnownValue, ValueType};
pub(super) use path::{ActivityPlace, PathStop, ReachedNode, ReachedRelationship};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use target::ConditionalValue;

/// The data for checks of function calls.
#[derive(Default)]
pub(super) struct FunctionChecks<'c, 'a> {
    /// The expectations of the calls, by place.
    expected: RefCell<FxHashMap<Span, Vec<Expected>>>,
    /// The relations that use named relationship templates, by name.
    relationships: OnceCell<FxHashMap<&'a str, ElementId>>,
    /// The topology inputs, by name.
    inputs: OnceCell<FxHashMap<&'a str, Vec<ElementId>>>,
    /// Whether requirements are left open.
    has_open_relations: OnceCell<bool>,
    /// The functions that files declare.
    declared: OnceCell<DeclaredFunctions<'c>>,
}

/// The type that is expected of a call while some elements are present; `None` if the type is not
/// defined.
struct Expected {
    when: Vec<ElementId>,
    kind: Option<ValueType>,
}

/// The context of a value.
struct FunctionSite {
    /// The element that contains the value.
    from: ElementId,
    /// The entity that `SELF` refers to.
    entity: Option<ElementId>,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Records the type that is expected of a function call. Returns false if the value is
    /// undecided for another reason.
    pub(super) fn expects(&self, when: &[ElementId], undecided: &Undecided<'_>) -> bool {
        if !matches!(undecided.reason, UndecidedReason::Function(_))
            || function(undecided.node).is_none()
        {
            return false;
        }
        let kind = undecided.schema.and_then(|schema| self.declared_type(schema));
        let expected = Expected { when: when.to_vec(), kind };
        self.functions
            .expected
            .borrow_mut()
            .entry(undecided.node.span())
            .or_default()
            .push(expected);
        true
    }

    /// Records that a call of TOSCA 2.0 is expected to give a value of this type.
    pub(super) fn expects_one(&self, when: &[ElementId], call: Node<'_>, primitive: Primitive) {
        if v2_0::is_of(call.document()) && function(call).is_some() {
            let kind = Some(ValueType::of(primitive));
            let mut expected = self.functions.expected.borrow_mut();
            let at_place = expected.entry(call.span()).or_default();
            at_place.push(Expected { when: when.to_vec(), kind });
        }
    }

    /// Reports calls with a wrong operand in a value of no declared type, where a map with the name
    /// of a function can be nothing else. Other calls are found by [`Self::check_functions`].
    pub(super) fn untyped(&self, when: &[ElementId], value: Node<'_>) {
        if function_not_map(value).is_some() {
            return;
        }
        match Call::read(value) {
            Some(Err(error)) => self.report_when(when, &[], error),
            _ => value.parts().for_each(|part| self.untyped(when, part)),
        }
    }

    /// Checks all calls.
    pub(super) fn check_functions(&self) {
        let graph = self.graph;
        if self.documents.iter().any(|document| v2_0::is_of(document)) {
            self.taken_values();
            self.defined_values();
            self.validated_inputs();
            self.circles();
        }
        self.circles_of_defaults();
        for property in &graph.properties {
            if let PropertyValue::Value(value) = property.property.value {
                self.search(&self.site(property.id), value);
            }
        }
        let inputs = graph.inputs.iter().map(|input| (input.id, input.parameter));
        for (id, parameter) in
            inputs.chain(graph.outputs.iter().map(|output| (output.id, output.parameter)))
        {
            let body = parameter.declared.value();
            match v2_0::calls(body) && v2_0::called(body).is_some() {
                // The single-line grammar.
                true => self.search(&self.site(id), body),
                false => self.search_rest(
                    &self.site(id),
                    body,
                    &["constraints", "entry_schema", "key_schema"],
                ),
            }
        }
        for node in &graph.nodes {
            const ELEMENTS: &[&str] =
                &["type", "properties", "requirements", "artifacts", "technology"];
            self.search_rest(&self.site(node.id), node.template.declared.value(), ELEMENTS);
        }
        for relation in &graph.relations {
            // The requirement is part of its node; only the relationship has a source and a target.
            let body = relation.requirement.declared.value();
            let site = match v2_0::is_of(body.document()) {
                // There, `SELF` is the relationship (TOSCA 2.0, section 10.3).
                true => self.site(relation.id),
                false => {
                    let entity = Some(graph.node(relation.source).id);
                    FunctionSite { from: relation.id, entity }
                }
            };
            self.search_rest(&site, body, &["node", "relationship"]);
            // The index of a target.
            body.get("node").unwrap_or(body).items().for_each(|part| self.search(&site, part));
            if let Some(template) = relation.relationship {
                self.search_rest(
                    &self.site(relation.id),
                    template.declared.value(),
                    &["type", "properties"],
                );
            }
        }
        for artifact in &graph.artifacts {
            self.search_rest(
                &self.site(artifact.id),
                artifact.artifact.declared.value(),
                &["type", "properties"],
            );
        }
        for group in &graph.groups {
            self.search_rest(
                &self.site(group.id),
                group.group.declared.value(),
                &["type", "properties", "members"],
            );
        }
        for policy in &graph.policies {
            self.search_rest(
                &self.site(policy.id),
                policy.policy.declared.value(),
                &["type", "properties", "targets"],
            );
        }
    }

    /// Searches the body of an element, except for the keys `without`, conditions and metadata.
    fn search_rest(&self, site: &FunctionSite, body: Node<'a>, without: &[&str]) {
        const TEXTS: [&str; 4] = ["conditions", "implies", "metadata", "description"];
        let is_rest = |keyword: &str| !without.contains(&keyword) && !TEXTS.contains(&keyword);
        for (key, value) in body.entries() {
            if key.text().is_some_and(is_rest) {
                self.search(site, value);
            }
        }
    }

    /// The context of the values of an element.
    fn site(&self, from: ElementId) -> FunctionSite {
        let mut around = std::iter::successors(Some(from), |&id| self.graph.element(id).container);
        let is_entity = |id: &ElementId| {
            matches!(
                self.graph.element(*id).kind,
                ElementKind::Node
                    | ElementKind::Relation
                    | ElementKind::Group
                    | ElementKind::Policy
            )
        };
        FunctionSite { from, entity: around.find(is_entity) }
    }

    fn search(&self, site: &FunctionSite, value: Node<'a>) {
        let is_of_2_0 = v2_0::is_of(value.document()) && v2_0::called(value).is_some();
        if value.kind() == NodeKind::Scalar && !is_of_2_0 || !self.counts(site.from) {
            return;
        }
        if is_of_2_0 {
            return self.expressed(site, value);
        }
        let is_call = function_not_map(value).is_some() || self.is_expected(value);
        if is_call && Call::read(value).is_some() {
            self.call(site, value);
        } else {
            let keys = value.entries().map(|(key, _)| key);
            let called = keys.filter(|key| v2_0::called_as_key(*key).is_some());
            called.chain(value.parts()).for_each(|part| self.search(site, part));
        }
    }

    /// Checks a call of TOSCA 2.0 and all calls in it.
    fn expressed(&self, site: &FunctionSite, value: Node<'a>) {
        let ask = |node: Node<'a>| {
            let Some((call, answers)) = self.asked(site.entity, node) else {
                if let Some(error) = self.group_at_start(node) {
                    self.report(site.from, error);
                    return Some(Vec::new());
                }
                return Call::read(node).map(|_| self.call(site, node));
            };
            let (_, path) = v2_0::called(node).unwrap_or_default();
            path.into_iter().flat_map(Node::items).for_each(|step| self.search(site, step));
            Some(self.answered(site, &call, answers))
        };
        if ask(value).is_none() {
            let expression = JudgedExpression { when: &[site.from], value: None, ask: &ask };
            let answers = self.judged(expression, value);
            self.fits_expected(site, value, &answers, &|fit| fit == Fit::No);
        }
    }

    /// The functions that files declare.
    fn declared_functions(&self) -> &DeclaredFunctions<'c> {
        let declared = || DeclaredFunctions::of(self.documents, &self.prepared.links);
        self.functions.declared.get_or_init(declared)
    }

    /// Whether a map was recorded as a call by the check of its type.
    fn is_expected(&self, value: Node<'_>) -> bool {
        function(value).is_some() && self.functions.expected.borrow().contains_key(&value.span())
    }

    /// Checks a call, and returns its possible results.
    fn call(&self, site: &FunctionSite, node: Node<'a>) -> Vec<ConditionalValue> {
        let call = match Call::read(node) {
            Some(Ok(call)) => call,
            Some(Err(error)) => {
                self.report(site.from, error);
                return Vec::new();
            }
            None => return Vec::new(),
        };
        let answers = self.answers(site, &call);
        self.answered(site, &call, answers)
    }

    /// Reports what is wrong with the possible results of a call, and returns them.
    fn answered(
        &self,
        site: &FunctionSite,
        call: &Call<'a>,
        mut answers: Vec<ConditionalValue>,
    ) -> Vec<ConditionalValue> {
        for ConditionalValue { when, outcome } in &mut answers {
            when.push(site.from);
            if let Err(error) = outcome {
                self.report_when(when, &[], error.clone());
            }
        }
        self.fits_expected(site, call.node, &answers, &|_| true);
        answers
    }

    fn answers(&self, site: &FunctionSite, call: &Call<'a>) -> Vec<ConditionalValue> {
        match &call.arguments {
            Arguments::Parts(parts) => parts.iter().for_each(|part| self.string(site, *part)),
            Arguments::Join(list, delimiter) => {
                list.items().chain(*delimiter).for_each(|part| self.string(site, part));
                if function(*list).is_some() {
                    self.takes(site, *list, "a list", |kind| self.is_list(kind));
                }
            }
            Arguments::Token(parts) => parts.iter().for_each(|part| self.string(site, *part)),
            Arguments::Input(input, path) => return self.input_call(*input, path),
            Arguments::Path(entity, path) => return self.value(site, call, *entity, path),
            Arguments::Output(names) => return self.output_call(site, call, *names),
            Arguments::NodeType(name) => {
                return vec![ConditionalValue::always(self.node_type(*name))];
            }
            Arguments::Artifact(entity, artifact) => {
                return self.artifact_call(site, call, *entity, *artifact);
            }
        }
        vec![ConditionalValue::always(Ok(KnownValue::Text))]
    }

    /// Checks a part of a string, which may be a call.
    fn string(&self, site: &FunctionSite, part: Node<'a>) {
        if function(part).is_some() {
            self.takes(site, part, "a string", |kind| self.is_scalar(kind));
        }
    }

    /// Checks a call that is an argument of another call.
    fn takes(
        &self,
        site: &FunctionSite,
        argument: Node<'a>,
        what: &str,
        is_right: impl Fn(&ValueType) -> bool,
    ) {
        let section = |node| Call::read(node)?.ok().map(|call| call.function.section());
        for ConditionalValue { when, outcome } in self.call(site, argument) {
            let given = match outcome {
                Ok(KnownValue::Typed(kind)) if !is_right(&kind) => self.described(&kind),
                Ok(KnownValue::Text) if what == "a list" => "a string".to_owned(),
                _ => continue,
            };
            let message = format!(
                "expected {what}, got {given} from `{}`",
                function(argument).unwrap_or_default()
            );
            let error = Diagnostic::error(Code::InvalidValue, message).at(argument.span());
            self.report_when(&when, &[], error.section(section(argument).unwrap_or("4.3")));
        }
    }

    /// The results of `get_input`.
    fn input_call(&self, operand: Node<'_>, path: &[Node<'_>]) -> Vec<ConditionalValue> {
        let graph = self.graph;
        let ids = match operand.scalar() {
            // A position that does not exist has already been reported.
            Some(Scalar::Int(index)) => {
                let input = usize::try_from(index).ok().and_then(|index| graph.inputs.get(index));
                input.map(|input| input.id).into_iter().collect()
            }
            _ => {
                let name = operand.text().unwrap_or_default();
                let Some(ids) = self.inputs().get(name) else {
                    let message = format!("there is no topology input `{name}`");
                    let error = Diagnostic::error(Code::UnknownElement, message)
                        .at(operand.span())
                        .section("4.4.1");
                    let known = graph.inputs.iter().map(|input| input.parameter.declared.name());
                    return vec![ConditionalValue::always(Err(
                        error.help_opt(did_you_mean(name, known))
                    ))];
                };
                ids.clone()
            }
        };
        let answer = |id: ElementId| {
            let declared = &graph.inputs[graph.element(id).slot as usize].parameter.declared;
            // Errors in the declaration are reported with the declaration.
            let definition = declared.parameter_definition(&mut Diagnostics::default());
            let outcome = match definition.expected() {
                Some(schema) => self
                    .part(self.declared_type(schema), path)
                    .map_err(|error| error.section("4.4.1")),
                None => Ok(KnownValue::RunTime),
            };
            ConditionalValue { when: vec![id], outcome }
        };
        ids.into_iter().filter(|&id| self.counts(id)).map(answer).collect()
    }

    /// Reports calls in a workflow that ask for inputs that neither it nor the topology has.
    pub(super) fn inputs_asked_in(&self, workflow: Node<'a>, own: &[Named<'a>]) {
        if let Some(Ok(Call { arguments: Arguments::Input(input, _), .. })) =
            function_not_map(workflow).and_then(|_| Call::read(workflow))
        {
            let is_own = own.iter().any(|own| Some(own.name) == input.text());
            let answers = if is_own { Vec::new() } else { self.input_call(input, &[]) };
            for error in answers.into_iter().filter_map(|answer| answer.outcome.err()) {
                self.report_when(&[], &[], error);
            }
        }
        workflow.parts().for_each(|part| self.inputs_asked_in(part, own));
    }

    fn inputs(&self) -> &FxHashMap<&'a str, Vec<ElementId>> {
        self.functions.inputs.get_or_init(|| {
            let mut inputs: FxHashMap<_, Vec<_>> = FxHashMap::default();
            for input in &self.graph.inputs {
                inputs.entry(input.parameter.declared.name()).or_default().push(input.id);
            }
            inputs
        })
    }

    fn relationships(&self) -> &FxHashMap<&'a str, ElementId> {
        self.functions.relationships.get_or_init(|| {
            let relations = self
                .graph
                .relations
                .iter()
                .filter(|relation| relation.requirement.relationship().is_some());
            relations
                .filter_map(|relation| Some((relation.relationship?.declared.name(), relation.id)))
                .collect()
        })
    }

    fn node_type(&self, name: Name<'_>) -> Result<KnownValue, Diagnostic> {
        let found = self.types.named(Family::Node, name.text, name.at.span());
        found
            .map(|_| KnownValue::RunTime)
            .map_err(|error| error.section(Function::GetNodesOfType.section()))
    }

    /// Checks that the results of a call fit what is expected at its place; `is_told` says what is
    /// reported.
    fn fits_expected(
        &self,
        site: &FunctionSite,
        call: Node<'a>,
        answers: &[ConditionalValue],
        is_told: &dyn Fn(Fit) -> bool,
    ) {
        let expected = self.functions.expected.borrow();
        let at_place = expected.get(&call.span()).into_iter().flatten();
        // A YAML alias occurs at several places, each with its own expectations.
        let of_site = at_place.filter(|expected| {
            expected.when.iter().any(|&id| self.root(id) == self.root(site.from))
        });
        let mut is_noted = false;
        for Expected { when: of_type, kind } in of_site {
            let Some(kind) = kind else { continue };
            for ConditionalValue { when, outcome } in answers {
                let Ok(outcome) = outcome else { continue };
                let mut when = [&of_type[..], &when[..]].concat();
                when.sort_unstable();
                when.dedup();
                match self.fit(outcome, kind) {
                    Fit::Yes => {}
                    Fit::No => self.report_when(&when, &[], self.misfit(call, outcome, kind)),
                    fit if is_noted || !is_told(fit) => {}
                    fit => {
                        is_noted = true;
                        self.report_when(&when, &[], undecidable(call, fit));
                    }
                }
            }
        }
    }

    /// The outermost element that contains an element.
    fn root(&self, id: ElementId) -> ElementId {
        std::iter::successors(Some(id), |&id| self.graph.element(id).container).last().unwrap_or(id)
    }

    /// The error that the result of a call is of another type than is expected.
    fn misfit(&self, call: Node<'_>, outcome: &KnownValue, expected: &ValueType) -> Diagnostic {
        let (expected, given) = (self.described(expected), self.shown(outcome));
        let message = format!(
            "expected {expected}, got {given} from `{}`",
            function(call).unwrap_or_default()
        );
        cited(call, Diagnostic::error(Code::InvalidValue, message))
    }
}

fn undecidable(call: Node<'_>, fit: Fit) -> Diagnostic {
    let what = if fit == Fit::Constraints { "fulfils the constraints here" } else { "fits here" };
    let name = function(call).unwrap_or_default();
    let message = format!("whether the result of `{name}` {what} is known at run time only");
    cited(call, Diagnostic::note(Code::Undecidable, message))
}

/// A diagnostic about the result of a call, with the section of the function.
fn cited(call: Node<'_>, diagnostic: Diagnostic) -> Diagnostic {
    let name = function(call).unwrap_or_default();
    let found = diagnostic.at(call.span());
    match (Function::named(name), BuiltIn::named(name)) {
        (Some(function), _) => found.section(function.section()),
        (None, of_2_0) => {
            let section = of_2_0.map_or("10.4", |function| function.section);
            found.rule(Rule::new(&TOSCA_2_0, section))
        }
    }
}
