//! Evaluates the path of a query in a model.

use super::ModelReading;
use super::filter::fulfils;
use super::parse::{InstanceQuery, ModelCollection, QueryFilter, QueryStep, QueryWay};
use super::place::{ModelEntity, ModelPlace, PlaceContent, PlaceWalk};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::instance::model::{InstanceModel, NodeInstance, RelationInstance};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The answer to a query.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QueryAnswer {
    /// The rows that were found, in the order of the model.
    pub rows: Vec<QueryRow>,
    /// Warnings about a path that may not mean what its author wanted.
    pub warnings: Vec<Diagnostic>,
}

/// One result: an entity, or a value in one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QueryRow {
    /// The entity: `node.shop`, `relation.db@0.node.shop`, `input.size`.
    pub entity: String,
    /// The path in the entity: `attributes/url`; empty for the entity itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The value; `None` for an entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// For an entity: the name of its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<Arc<str>>,
    /// For a node or relation: its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// For an attribute: the number of the record that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// For an attribute: the time of that record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Arc<str>>,
    /// Whether it is an attribute of a node in a transitional state.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unstable: bool,
}

impl InstanceQuery {
    /// Evaluates the path in a model.
    ///
    /// # Errors
    /// `unknown-element` for an entity that does not exist, `unknown-keyword` for a part that no
    /// such entity has, and `invalid-expression` for an axis that does not start at nodes.
    pub fn run(
        &self,
        model: &InstanceModel,
        reading: &ModelReading<'_>,
    ) -> Result<QueryAnswer, Diagnostic> {
        let mut walk = QueryWalk {
            places: PlaceWalk::new(model, reading),
            incoming: OnceCell::new(),
            warnings: Vec::new(),
        };
        let places = walk.places_of(self)?;
        let mut rows = Vec::with_capacity(places.len());
        places.into_iter().for_each(|place| walk.rows(place, &mut rows));
        walk.tell_hidden(self.span);
        Ok(QueryAnswer { rows, warnings: walk.warnings })
    }
}

/// Relations by the ids of their targets.
type Incoming<'m> = FxHashMap<&'m str, Vec<(&'m Arc<str>, &'m str)>>;

pub(super) struct QueryWalk<'m, 'r> {
    places: PlaceWalk<'m, 'r>,
    incoming: OnceCell<Incoming<'m>>,
    warnings: Vec<Diagnostic>,
}

impl<'m> QueryWalk<'m, '_> {
    fn places_of(&mut self, query: &InstanceQuery) -> Result<Vec<ModelPlace<'m>>, Diagnostic> {
        let mut steps = query.steps.iter();
        let mut found = Vec::new();
        // If the collection has no filter, the next step names one of its entities.
        let is_named = query.filters.is_empty()
            && query.steps.first().is_some_and(|step| step.way == QueryWay::Into);
        match steps.next().filter(|_| is_named) {
            Some(step) => {
                self.entities(query.start, step, &mut found)?;
                self.filter(&step.filters, &mut found)?;
            }
            None => {
                self.places.entities(query.start, None, &mut found);
                self.filter(&query.filters, &mut found)?;
                steps = query.steps.iter();
            }
        }
        for step in steps {
            found = match step.way {
                QueryWay::Into => self.into(&found, step)?,
                QueryWay::Along { back, transitive } => {
                    self.along(&found, step, back, transitive)?
                }
            };
            self.filter(&step.filters, &mut found)?;
        }
        Ok(found)
    }

    fn entities(
        &self,
        collection: ModelCollection,
        step: &QueryStep,
        found: &mut Vec<ModelPlace<'m>>,
    ) -> Result<(), Diagnostic> {
        self.places.entities(collection, step.name.as_deref(), found);
        let Some(name) = step.name.as_deref().filter(|_| found.is_empty()) else { return Ok(()) };
        let names = self.places.names(collection);
        let message = format!("`{}` of this instance has no `{name}`", collection.name());
        let error = Diagnostic::error(Code::UnknownElement, message).at(step.span);
        let counted: Vec<_> = names
            .iter()
            .filter(|own| own.rsplit_once('@').is_some_and(|(of, _)| of == name))
            .collect();
        Err(match (did_you_mean(name, names.iter().map(|name| &**name)), &counted[..]) {
            (_, [first, ..]) if collection == ModelCollection::Nodes => {
                let count = counted.len();
                let are = if count == 1 { "node is" } else { "nodes are" };
                error.help(format!("{count} {are} of that template: name one of them, such as `{first}`, or write `nodes[template={name}]`"))
            }
            (Some(help), _) => error.help(help),
            (None, _) => error,
        })
    }

    /// Steps into places by name. A name that none of them has may be a mistake.
    fn into(
        &mut self,
        places: &[ModelPlace<'m>],
        step: &QueryStep,
    ) -> Result<Vec<ModelPlace<'m>>, Diagnostic> {
        let mut found = Vec::new();
        let hidden = self.places.hidden.get();
        places.iter().for_each(|place| self.places.step(place, step.name.as_deref(), &mut found));
        let is_hidden = self.places.hidden.get() > hidden;
        if let Some(name) =
            step.name.as_deref().filter(|_| found.is_empty() && !is_hidden && !places.is_empty())
        {
            self.not_there(places, name, step.span)?;
        }
        Ok(found)
    }

    /// Judges a name that was not found. Parts of entities have fixed names, so it is an error
    /// there; a value that a type defines may be missing.
    fn not_there(
        &mut self,
        places: &[ModelPlace<'m>],
        name: &str,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let is_entity = |place: &ModelPlace<'_>| {
            matches!(place.what, PlaceContent::Entity | PlaceContent::Capability(_))
        };
        let known = part_names(places, &self.places);
        let help = did_you_mean(name, known.iter().map(|name| &**name));
        if places.iter().all(is_entity) && !fixed_names(places).contains(&name) {
            let message = format!("no element at this path has a part `{name}`");
            let error = Diagnostic::error(Code::UnknownKeyword, message).at(span);
            let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            return Err(match help {
                Some(help) => error.help(help),
                None => error.help(format!("there are {}", names.join(", "))),
            });
        }
        if let Some(help) = help {
            let message = format!("no element at this path has a value `{name}`");
            self.warnings
                .push(Diagnostic::warning(Code::UnknownProperty, message).at(span).help(help));
        }
        Ok(())
    }

    fn filter(
        &self,
        filters: &[QueryFilter],
        found: &mut Vec<ModelPlace<'m>>,
    ) -> Result<(), Diagnostic> {
        if filters.is_empty() {
            return Ok(());
        }
        if found.iter().any(ModelPlace::is_collection) {
            let mut all = Vec::new();
            for place in found.drain(..) {
                match place.is_collection() {
                    true => self.places.step(&place, None, &mut all),
                    false => all.push(place),
                }
            }
            *found = all;
        }
        for filter in filters {
            self.is_known(filter, found)?;
            found.retain(|place| fulfils(&self.places, place, filter));
        }
        Ok(())
    }

    /// Checks that a filter begins with a name that the filtered places can have.
    fn is_known(&self, filter: &QueryFilter, found: &[ModelPlace<'m>]) -> Result<(), Diagnostic> {
        let Some(Some(first)) = filter.path.first() else { return Ok(()) };
        let names = fixed_names(found);
        if names.is_empty() || names.contains(&first.as_str()) {
            return Ok(());
        }
        let error = Diagnostic::error(
            Code::UnknownKeyword,
            format!("no element at this path has a part `{first}`"),
        )
        .at(filter.span);
        let in_properties = found.iter().any(|place| match place.entity {
            ModelEntity::Node(_, node) => node.properties.contains_key(first.as_str()),
            _ => false,
        });
        Err(match did_you_mean(first, names.iter().copied()) {
            _ if in_properties => error.help(format!("write `properties/{first}`")),
            Some(help) => error.help(help),
            None => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                error.help(format!("there are {}", names.join(", ")))
            }
        })
    }

    fn along(
        &self,
        places: &[ModelPlace<'m>],
        step: &QueryStep,
        back: bool,
        transitive: bool,
    ) -> Result<Vec<ModelPlace<'m>>, Diagnostic> {
        let mut open = Vec::new();
        for place in places {
            match (place.entity, &place.what) {
                (ModelEntity::Node(id, node), PlaceContent::Entity) => open.push((id, node)),
                _ => {
                    let message = "relations lead from nodes, but the path before this step does not lead to nodes";
                    return Err(Diagnostic::error(Code::InvalidExpression, message).at(step.span));
                }
            }
        }
        let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
        let mut next = 0;
        while let Some(&(id, node)) = open.get(next) {
            next += 1;
            for id in self.ends(id, node, step.name.as_deref(), back) {
                let Some(place) = self.places.node(id).filter(|_| seen.insert(id)) else {
                    continue;
                };
                if let (true, ModelEntity::Node(id, node)) = (transitive, place.entity) {
                    open.push((id, node));
                }
                found.push(place);
            }
        }
        Ok(found)
    }

    /// The ends of the relations of this name that lead from a node or to it.
    fn ends(
        &self,
        id: &'m Arc<str>,
        node: &'m NodeInstance,
        name: Option<&str>,
        back: bool,
    ) -> Vec<&'m str> {
        let is_meant = |own: &str| name.is_none_or(|name| name == own);
        if back {
            let incoming = self.incoming.get_or_init(|| incoming(self.places.model)).get(&**id);
            let incoming = incoming.into_iter().flatten().filter(|(_, own)| is_meant(own));
            return incoming.map(|(source, _)| &***source).collect();
        }
        let outgoing = node.requirements.iter().filter(|(own, _)| is_meant(own));
        outgoing
            .flat_map(|(_, relations)| relations)
            .filter_map(|one| one.target.as_deref())
            .collect()
    }

    /// Adds a row for an entity or a value; for a collection, a row for each of its members.
    fn rows(&self, place: ModelPlace<'m>, rows: &mut Vec<QueryRow>) {
        match &place.what {
            PlaceContent::Entity | PlaceContent::Value(_) | PlaceContent::Report(..) => {
                rows.push(self.row(place));
            }
            _ => {
                let mut parts = Vec::new();
                self.places.step(&place, None, &mut parts);
                parts.into_iter().for_each(|part| self.rows(part, rows));
            }
        }
    }

    fn row(&self, place: ModelPlace<'m>) -> QueryRow {
        let ModelPlace { entity, path, what, .. } = place;
        let (value, report) = match what {
            PlaceContent::Value(value) => (Some(value), None),
            PlaceContent::Report(value, report) => (Some(value), Some(report)),
            _ => (None, None),
        };
        let is_entity = value.is_none();
        let (type_name, state) = match entity {
            ModelEntity::Node(_, node) => (Some(&node.type_name), Some(&node.state)),
            ModelEntity::Relation(.., relation) => {
                (relation.relationship.as_ref(), Some(&relation.state))
            }
            ModelEntity::Group(_, group) => (Some(&group.type_name), None),
            ModelEntity::Policy(_, policy) => (Some(&policy.type_name), None),
            ModelEntity::Input(_) | ModelEntity::Output(_) | ModelEntity::Metadata(_) => {
                (None, None)
            }
        };
        let unstable = matches!(entity, ModelEntity::Node(_, node) if report.is_some() && !node.has_attributes());
        QueryRow {
            entity: entity.identifier(),
            path,
            value,
            type_name: type_name.filter(|_| is_entity).map(Arc::clone),
            state: state.filter(|_| is_entity).map(|state| state.as_str().to_owned()),
            revision: report.map(|report| report.revision),
            time: report.map(|report| Arc::clone(&report.time)),
            unstable,
        }
    }

    /// Warns that attributes were left out (I-37).
    fn tell_hidden(&mut self, span: Span) {
        let count = self.places.hiding.borrow().len();
        if count > 0 {
            let nodes =
                if count == 1 { "1 node is".to_owned() } else { format!("{count} nodes are") };
            let message =
                format!("{nodes} in no stable state from `created` on, so attributes are left out");
            let warning = Diagnostic::warning(Code::NotVisible, message).at(span);
            self.warnings.push(warning.help("show them as they are with `--unstable`"));
        }
    }
}

/// The relations of a model, by target.
pub(crate) fn incoming(model: &InstanceModel) -> FxHashMap<&str, Vec<(&Arc<str>, &str)>> {
    let mut incoming: FxHashMap<&str, Vec<_>> = FxHashMap::default();
    for (source, name, RelationInstance { target, .. }) in model.relations() {
        if let Some(target) = target {
            incoming.entry(target).or_default().push((source, &**name));
        }
    }
    incoming
}

/// The names that parts of places may have, whatever their types; empty if any of the places is a
/// value.
fn fixed_names(places: &[ModelPlace<'_>]) -> Vec<&'static str> {
    let mut names = BTreeSet::new();
    for place in places {
        names.extend(match (&place.what, place.entity) {
            (PlaceContent::Entity, ModelEntity::Node(..)) => NODE,
            (PlaceContent::Entity, ModelEntity::Relation(..)) => RELATION,
            (PlaceContent::Entity, ModelEntity::Group(..)) => GROUP,
            (PlaceContent::Entity, _) => POLICY,
            (PlaceContent::Capability(_), _) => CAPABILITY,
            _ => return Vec::new(),
        });
    }
    names.into_iter().copied().collect()
}

const NODE: &[&str] = &[
    "id",
    "type",
    "template",
    "state",
    "index",
    "generation",
    "tosca_id",
    "note",
    "properties",
    "attributes",
    "capabilities",
    "requirements",
    "links",
    "metadata",
];
const RELATION: &[&str] = &[
    "id",
    "name",
    "source",
    "target",
    "capability",
    "template",
    "type",
    "state",
    "position",
    "hosting",
    "links",
    "metadata",
];
const GROUP: &[&str] = &[
    "id",
    "type",
    "template",
    "members",
    "properties",
    "attributes",
    "capabilities",
    "requirements",
    "links",
    "metadata",
];
const POLICY: &[&str] = &["id", "type", "template", "targets", "properties", "links", "metadata"];
const CAPABILITY: &[&str] = &["name", "type", "properties", "attributes"];

/// The names of the parts of places.
fn part_names<'m>(places: &[ModelPlace<'m>], walk: &PlaceWalk<'m, '_>) -> BTreeSet<String> {
    let fixed = fixed_names(places);
    if !fixed.is_empty() {
        return fixed.into_iter().map(str::to_owned).collect();
    }
    let mut parts = Vec::new();
    places.iter().for_each(|place| walk.step(place, None, &mut parts));
    parts.iter().map(|part| part.name.to_owned()).collect()
}
