//! Converts declared inputs to a feature model with the same valid configurations.
//!
//! In the tree, `c ⇒ p` holds for every child `c` of `p`. So `c` may become a child if a rule of
//! `p` implies that, as `mandatory` and `optional` do; `choices` and `alternatives` among such
//! children become groups. Each feature has only one parent, so rules that the tree does not
//! express become constraints across it.

use super::logic::{Domain, Logic};
use super::model::{Feature, FeatureId, FeatureModel, FeatureType, GroupKind, Proposition};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::value::{Clause, Primitive};
use crate::variability::inputs::{
    Declaration, Declarations, FeatureKeyword, FeatureRule, InputId, InputValue, InputValues,
};
use crate::variability::prepared::Prepared;
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, write_yaml};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part that the model does not express, with its place.
struct Note(Span, String);

impl Note {
    fn text(&self, sources: &SourceMap) -> String {
        format!("line {}: {}", sources.location(self.0).line, self.1)
    }
}

/// The feature model of the inputs that templates declare, with their rules and constraints.
///
/// # Errors
/// Errors in constraints, or two features that would share a name.
pub(crate) fn feature_model(prepared: &Prepared<'_>) -> Result<FeatureModel, Diagnostics> {
    let (mut model, notes) = declared(prepared)?;
    model.notes = notes.into_iter().map(|note| note.text(prepared.sources())).collect();
    Ok(model)
}

fn declared(prepared: &Prepared<'_>) -> Result<(FeatureModel, Vec<Note>), Diagnostics> {
    let template = prepared.graph.template;
    let mut evaluator = prepared.evaluator();
    let mut diagnostics = Diagnostics::default();
    evaluator.validate_cycles(&mut diagnostics);
    let constraints = &template.variability.constraints;
    constraints
        .iter()
        .map(|&constraint| prepared.graph.syntax.read(constraint))
        .for_each(|constraint| evaluator.validate(constraint, None, &mut diagnostics));
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let declarations = &prepared.inputs.declarations;
    let mut builder = FeatureModelBuilder {
        declarations,
        values: &prepared.inputs.values,
        tree: FeatureTree::of(declarations),
        model: FeatureModel::new(Feature {
            is_abstract: true,
            ..Feature::new(root_name(declarations))
        }),
        domains: (0..declarations.len()).map(|_| Domain::Other).collect(),
        notes: Vec::new(),
    };
    builder.features();
    builder.unique_names()?;
    builder.chosen();
    builder.rules();
    let mut logic = Logic::new(declarations, &builder.domains, &prepared.graph);
    for &constraint in constraints {
        match logic.proposition(constraint) {
            Some(proposition) => builder.model.constrain(proposition),
            None => builder.notes.push(Note(
                constraint.span(),
                "a constraint is left out: it refers to more than features".into(),
            )),
        }
    }
    builder.notes.sort_by_key(|note| note.0);
    Ok((builder.model, builder.notes))
}

/// The name of the root: `inputs`, with underscores appended if an input has this name.
fn root_name(declarations: &Declarations<'_>) -> String {
    let mut name = String::from("inputs");
    while declarations.id(&name).is_some() {
        name.push('_');
    }
    name
}

/// The tree of features: which inputs are features, and which is the parent of which.
struct FeatureTree {
    features: Vec<bool>,
    /// For each input, its parent, and the kind of the group there.
    parents: Vec<Option<(InputId, GroupKind)>>,
    /// For each input, its groups.
    groups: Vec<Vec<(GroupKind, Vec<InputId>)>>,
    /// The rules that the tree expresses, by input and position.
    said: FxHashSet<(InputId, usize)>,
}

impl FeatureTree {
    fn of(declarations: &Declarations<'_>) -> Self {
        let count = declarations.len();
        let mut tree = Self {
            features: features(declarations),
            parents: vec![None; count],
            groups: vec![Vec::new(); count],
            said: FxHashSet::default(),
        };
        let mut joined = UnionFind::<u32>::new(count);
        for (parent, declaration) in declarations.iter() {
            if tree.is_feature(parent) {
                tree.group(parent, &declaration.rules, &mut joined);
                tree.single(parent, &declaration.rules, &mut joined);
            }
        }
        tree
    }

    fn is_feature(&self, id: InputId) -> bool {
        self.features.get(id.index()).copied().unwrap_or_default()
    }

    /// Makes a group of the children that `choices` or `alternatives` lists, if all of them may
    /// become children.
    fn group(&mut self, parent: InputId, rules: &[FeatureRule], joined: &mut UnionFind<u32>) {
        let demanding = rules.iter().filter(|rule| {
            matches!(rule.keyword, FeatureKeyword::Mandatory | FeatureKeyword::Optional)
        });
        let demanding: FxHashSet<InputId> =
            demanding.flat_map(|rule| rule.targets.iter().copied()).collect();
        for (position, rule) in rules.iter().enumerate() {
            let kind = match rule.keyword {
                FeatureKeyword::Choices => GroupKind::Or,
                FeatureKeyword::Alternatives => GroupKind::Alternative,
                _ => continue,
            };
            let distinct: FxHashSet<InputId> = rule.targets.iter().copied().collect();
            let fits =
                |child: &InputId| demanding.contains(child) && self.is_free(*child, parent, joined);
            if !distinct.is_empty()
                && distinct.len() == rule.targets.len()
                && rule.targets.iter().all(fits)
            {
                self.adopt(parent, kind, rule.targets.clone(), joined);
                self.said.insert((parent, position));
            }
        }
    }

    /// Makes the remaining inputs that `mandatory` and `optional` list children. An input in both
    /// lists is mandatory.
    fn single(&mut self, parent: InputId, rules: &[FeatureRule], joined: &mut UnionFind<u32>) {
        let keywords = [
            (FeatureKeyword::Mandatory, GroupKind::Mandatory),
            (FeatureKeyword::Optional, GroupKind::Optional),
        ];
        for (keyword, kind) in keywords {
            for &child in
                rules.iter().filter(|rule| rule.keyword == keyword).flat_map(|rule| &rule.targets)
            {
                if self.is_free(child, parent, joined) {
                    self.adopt(parent, kind, vec![child], joined);
                }
            }
        }
    }

    /// Whether a feature may become a child of another: it has no parent, and is not an ancestor of
    /// the other. A feature without a parent is the root of its set in `joined`.
    fn is_free(&self, child: InputId, parent: InputId, joined: &UnionFind<u32>) -> bool {
        self.is_feature(child)
            && self.parents.get(child.index()) == Some(&None)
            && !joined.equiv(child.0, parent.0)
    }

    fn adopt(
        &mut self,
        parent: InputId,
        kind: GroupKind,
        children: Vec<InputId>,
        joined: &mut UnionFind<u32>,
    ) {
        for child in &children {
            joined.union(parent.0, child.0);
            self.parents[child.index()] = Some((parent, kind));
        }
        self.groups[parent.index()].push((kind, children));
    }
}

/// The inputs that are features: booleans, and inputs without a known type that only serve rules.
fn features(declarations: &Declarations<'_>) -> Vec<bool> {
    let rules = declarations.iter().flat_map(|(_, declaration)| &declaration.rules);
    let listed: FxHashSet<InputId> = rules.flat_map(|rule| rule.targets.iter().copied()).collect();
    let is_feature = |(id, declaration): (InputId, &Declaration<'_>)| match declaration.primitive()
    {
        Some(Primitive::Boolean) => true,
        None => {
            valid_values(declaration).is_none()
                && (!declaration.rules.is_empty() || listed.contains(&id))
        }
        _ => false,
    };
    declarations.iter().map(is_feature).collect()
}

/// The name of the primitive type of an input.
fn named_type(declaration: &Declaration<'_>) -> Option<&'static str> {
    declaration.primitive().map(Primitive::name)
}

/// The valid values of an input, if its declaration lists values.
fn valid_values(declaration: &Declaration<'_>) -> Option<Vec<Value>> {
    let listed = declaration.listed_values()?;
    let mut valid: Vec<Value> = Vec::new();
    for value in listed {
        if declaration.problems(&value).is_empty() && !valid.contains(&value) {
            valid.push(value);
        }
    }
    Some(valid)
}

struct FeatureModelBuilder<'b, 'a> {
    declarations: &'b Declarations<'a>,
    values: &'b InputValues<'a>,
    tree: FeatureTree,
    model: FeatureModel,
    domains: Vec<Domain>,
    notes: Vec<Note>,
}

impl<'b> FeatureModelBuilder<'b, '_> {
    /// Adds the features: those without a parent below the root, each followed by its descendants.
    fn features(&mut self) {
        let root = self.model.root();
        for (id, declaration) in self.declarations.iter() {
            let computed =
                declaration.default.is_some_and(|default| default.kind() == NodeKind::Mapping);
            if computed || declaration.default_expression.is_some() {
                let text =
                    format!("the default of `{}` is computed and left out", declaration.name);
                self.notes.push(Note(declaration.span, text));
            }
            if self.tree.parents[id.index()].is_some() {
                continue;
            }
            if self.tree.is_feature(id) {
                let feature = self.model.add(
                    root,
                    GroupKind::Optional,
                    feature(declaration, declaration.name.into()),
                );
                self.below(id, feature);
            } else if let Some(values) = valid_values(declaration) {
                self.alternatives(id, declaration, values);
            } else {
                self.typed(id, declaration);
            }
        }
    }

    /// Adds the descendants of a feature.
    fn below(&mut self, top: InputId, feature_of_top: FeatureId) {
        let mut open = vec![(top, feature_of_top)];
        while let Some((input, id)) = open.pop() {
            self.domains[input.index()] = Domain::Feature(id);
            for (kind, children) in std::mem::take(&mut self.tree.groups[input.index()]) {
                let shared = matches!(kind, GroupKind::Mandatory | GroupKind::Optional);
                let group = if shared { None } else { Some(self.model.add_group(id, kind)) };
                for child in children {
                    let Some(declaration) = self.declarations.get(child) else { continue };
                    let feature = feature(declaration, declaration.name.into());
                    let added = match group {
                        Some(group) => self.model.add_to(id, group, feature),
                        None => self.model.add(id, kind, feature),
                    };
                    open.push((child, added));
                }
            }
        }
    }

    fn alternatives(&mut self, id: InputId, declaration: &Declaration<'_>, values: Vec<Value>) {
        // For strings, integers and floats, the type follows from how the values are written.
        let value_type =
            named_type(declaration).filter(|name| !matches!(*name, "string" | "integer" | "float"));
        let value_type = value_type.map(str::to_owned);
        let chosen = Feature {
            is_abstract: true,
            value_type,
            ..feature(declaration, format!("{} =", declaration.name))
        };
        let chosen = self.model.add(self.model.root(), GroupKind::Mandatory, chosen);
        if values.is_empty() {
            self.model.constrain(Proposition::Constant(false));
            return;
        }
        let group = self.model.add_group(chosen, GroupKind::Alternative);
        let mut cases = Vec::with_capacity(values.len());
        for value in values {
            let name = format!("{} = {}", declaration.name, in_one_line(&value));
            cases.push((
                value,
                self.model.add_to(
                    chosen,
                    group,
                    Feature { span: Some(declaration.span), ..Feature::new(name) },
                ),
            ));
        }
        self.domains[id.index()] = Domain::Values(cases);
    }

    fn typed(&mut self, id: InputId, declaration: &Declaration<'_>) {
        let kind = match declaration.primitive() {
            Some(Primitive::Integer) => FeatureType::Integer,
            Some(Primitive::Float) => FeatureType::Real,
            Some(
                Primitive::String
                | Primitive::Version
                | Primitive::Timestamp
                | Primitive::ScalarUnit(_)
                | Primitive::Bytes
                | Primitive::Scalar,
            ) => FeatureType::String,
            other => {
                let what = other.map_or("a value", Primitive::describe);
                let text = format!("`{}` is left out: it is {what}", declaration.name);
                self.notes.push(Note(declaration.span, text));
                return;
            }
        };
        let assigned =
            self.assigned(id).map(|value| Value::Map([("equal".into(), value.clone())].into()));
        let clauses =
            declaration.constraints().iter().map(Clause::to_value).chain(assigned).collect();
        let value_type =
            named_type(declaration).filter(|name| *name != kind.value_type()).map(str::to_owned);
        let feature =
            Feature { kind, value_type, clauses, ..feature(declaration, declaration.name.into()) };
        self.model.add(self.model.root(), GroupKind::Mandatory, feature);
    }

    fn assigned(&self, id: InputId) -> Option<&'b Value> {
        if let InputValue::Assigned(value) = self.values.get(id) { Some(value) } else { None }
    }

    fn unique_names(&self) -> Result<(), Diagnostic> {
        let mut spans = FxHashMap::default();
        for (_, feature) in self.model.features() {
            if let Some(first) = spans.insert(&*feature.name, feature.span) {
                let message =
                    format!("two inputs would become features with the name `{}`", feature.name);
                let error = Diagnostic::error(Code::Duplicate, message)
                    .at(feature.span)
                    .help("rename one of the inputs");
                return Err(first
                    .into_iter()
                    .fold(error, |error, first| error.label(first, "the other input")));
            }
        }
        Ok(())
    }

    /// Adds constraints for booleans that can have only one value, and for inputs that are already
    /// assigned.
    fn chosen(&mut self) {
        for (id, declaration) in self.declarations.iter() {
            match (&self.domains[id.index()], self.assigned(id)) {
                (Domain::Feature(feature), assigned) => {
                    let may_be = |truth: bool| {
                        assigned.is_none_or(|value| value.is_truthy() == truth)
                            && (declaration.primitive() != Some(Primitive::Boolean)
                                || declaration.problems(&truth.into()).is_empty())
                    };
                    let selected = Proposition::Feature(*feature);
                    match (may_be(true), may_be(false)) {
                        (true, true) => {}
                        (true, false) => self.model.constrain(selected),
                        (false, true) => self.model.constrain(!selected),
                        (false, false) => self.model.constrain(Proposition::Constant(false)),
                    }
                }
                (Domain::Values(cases), Some(value)) => {
                    let chosen = cases.iter().find(|(case, _)| declaration.equal(case, value));
                    let chosen = chosen.map_or(Proposition::Constant(false), |(_, feature)| {
                        Proposition::Feature(*feature)
                    });
                    self.model.constrain(chosen);
                }
                (Domain::Other, _) | (Domain::Values(_), None) => {}
            }
        }
    }

    /// Adds constraints for the rules that the tree does not express.
    fn rules(&mut self) {
        for (id, declaration) in self.declarations.iter() {
            for (position, rule) in declaration.rules.iter().enumerate() {
                if self.tree.said.contains(&(id, position)) {
                    continue;
                }
                let propositions = match rule.keyword {
                    FeatureKeyword::Choices | FeatureKeyword::Alternatives => {
                        vec![self.of_all(id, rule)]
                    }
                    _ => rule
                        .targets
                        .iter()
                        .map(|&target| self.of_each(id, rule.keyword, target))
                        .collect(),
                };
                if propositions.contains(&None) {
                    let text = format!(
                        "`{}` is left out for an input that is no feature",
                        rule.keyword.as_str()
                    );
                    self.notes.push(Note(rule.span, text));
                }
                propositions
                    .into_iter()
                    .flatten()
                    .for_each(|proposition| self.model.constrain(proposition));
            }
        }
    }

    /// A rule about all of its inputs together, as a proposition; `None` if one of them is not a
    /// feature.
    fn of_all(&self, id: InputId, rule: &FeatureRule) -> Option<Proposition> {
        let listed =
            rule.targets.iter().map(|&target| self.truth(target)).collect::<Option<Vec<_>>>()?;
        let demanded = if rule.keyword == FeatureKeyword::Choices {
            Proposition::or(listed)
        } else {
            Proposition::exactly_one(listed)
        };
        Some(self.truth(id)?.implies(demanded))
    }

    /// A rule about one of its inputs, as a proposition, beyond what the tree expresses; `None` if
    /// the input is not a feature.
    fn of_each(
        &self,
        id: InputId,
        keyword: FeatureKeyword,
        target: InputId,
    ) -> Option<Proposition> {
        let (parent, child) = (self.truth(id)?, self.truth(target)?);
        let group = self
            .tree
            .parents
            .get(target.index())?
            .filter(|&(above, _)| above == id)
            .map(|(_, kind)| kind);
        Some(match (keyword, group) {
            (FeatureKeyword::Mandatory, Some(GroupKind::Mandatory))
            | (FeatureKeyword::Optional, Some(_)) => Proposition::Constant(true),
            (FeatureKeyword::Mandatory, None) => parent.iff(child),
            (FeatureKeyword::Optional, None) => child.implies(parent),
            (FeatureKeyword::Excludes, _) => parent.implies(!child),
            _ => parent.implies(child),
        })
    }

    fn truth(&self, id: InputId) -> Option<Proposition> {
        match self.domains.get(id.index())? {
            Domain::Feature(feature) => Some(Proposition::Feature(*feature)),
            Domain::Values(cases) if cases.iter().all(|(value, _)| value.is_truthy()) => {
                Some(Proposition::Constant(true))
            }
            Domain::Values(cases) => {
                let truthy = cases.iter().filter(|(value, _)| value.is_truthy());
                Some(Proposition::or(truthy.map(|&(_, feature)| Proposition::Feature(feature))))
            }
            Domain::Other => None,
        }
    }
}

fn feature(declaration: &Declaration<'_>, name: String) -> Feature {
    Feature {
        name,
        description: declaration.description.map(str::to_owned),
        default: declaration
            .default
            .filter(|default| default.kind() == NodeKind::Scalar && !default.is_null())
            .map(|default| default.to_value()),
        span: Some(declaration.span),
        ..Feature::default()
    }
}

/// A value as YAML on one line, or as JSON if YAML needs several lines.
fn in_one_line(value: &Value) -> String {
    let text = write_yaml(&Out::Value(value.clone()));
    match text.trim_end_matches('\n') {
        // Values can always be serialised.
        text if text.contains('\n') => serde_json::to_string(value).unwrap_or_default(),
        text => text.to_owned(),
    }
}
