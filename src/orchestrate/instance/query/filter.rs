//! Decides which places pass a filter.

use super::ModelReading;
use super::evaluate::{QueryAnswer, QueryRow};
use super::parse::{Comparison, FilterTest, InstanceQuery, QueryFilter};
use super::place::{ModelEntity, ModelPlace, PlaceContent, PlaceWalk};
use super::{holds_secret, query_value};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::orchestrate::instance::model::{ByName, InstanceModel, NodeInstance};
use crate::tosca::filter::{CapabilityFilter, NodeFilter, PropertyFilter};
use crate::tosca::value::fulfils_clause;
use crate::tosca::{meant, v2_0};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, Node, parse, write_flow};

/// Whether a place passes a filter.
pub(super) fn fulfils<'m>(
    walk: &PlaceWalk<'m, '_>,
    place: &ModelPlace<'m>,
    filter: &QueryFilter,
) -> bool {
    let mut found = vec![place.clone()];
    for name in &filter.path {
        let mut parts = Vec::new();
        for place in &found {
            let before = parts.len();
            walk.step(place, name.as_deref(), &mut parts);
            // A place in a collection also has a name.
            if parts.len() == before && name.as_deref() == Some("name") {
                parts.extend(value_of(place).map(|_| ModelPlace {
                    what: PlaceContent::Value(place.name.into()),
                    ..place.clone()
                }));
            }
        }
        found = parts;
    }
    let is_type = matches!(filter.path.last(), Some(Some(name)) if name == "type");
    let mut values = found.iter().filter_map(|place| Some((value_of(place)?, place)));
    let passes = |test: &FilterTest, value: &Value, place: &ModelPlace<'m>| {
        test.holds(value, walk.form(place).as_ref())
    };
    match &filter.test {
        None => !found.is_empty(),
        Some(FilterTest::Missing) => found.is_empty(),
        Some(FilterTest::Compare(Comparison::Equal, wanted)) if is_type => {
            values.any(|(own, _)| is_of(walk, &own, wanted))
        }
        Some(FilterTest::Compare(Comparison::Unequal, wanted)) if is_type => {
            !values.any(|(own, _)| is_of(walk, &own, wanted))
        }
        Some(FilterTest::Compare(Comparison::Unequal, wanted)) => {
            let equal = FilterTest::Compare(Comparison::Equal, wanted.clone());
            !values.any(|(value, place)| passes(&equal, &value, place))
        }
        Some(test) => values.any(|(value, place)| passes(test, &value, place)),
    }
}

/// The value of a place; for a node its id.
fn value_of(place: &ModelPlace<'_>) -> Option<Value> {
    match (&place.what, place.entity) {
        (PlaceContent::Value(value) | PlaceContent::Report(value, _), _) => Some(value.clone()),
        (PlaceContent::Entity, ModelEntity::Node(id, _)) => Some(Value::String(id.clone())),
        (PlaceContent::Entity, ModelEntity::Group(id, _)) => Some(Value::String(id.clone())),
        _ => None,
    }
}

fn is_of(walk: &PlaceWalk<'_, '_>, own: &Value, wanted: &str) -> bool {
    own.as_str().is_some_and(|own| own == wanted || (walk.reading.derives)(own, wanted))
}

/// Finds the nodes that a node filter of TOSCA accepts (section 3.6.5 of TOSCA Simple Profile 1.3,
/// section 8.8 of TOSCA 2.0, where it is an expression and `SELF` the node).
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelReading, NodeInstance, query_by_filter};
/// use cuvee::source::FileId;
/// use cuvee::parts::yaml::{Limits, parse};
/// let mut model = InstanceModel::default();
/// for (id, size) in [("small", "1 GB"), ("large", "4096 MB")] {
///     let mut node = NodeInstance::default();
///     node.properties.insert("size".into(), size.into());
///     model.nodes.insert(id.into(), node);
/// }
/// let filter = parse(FileId::DETACHED, "properties: [{size: {greater_than: 2 GB}}]".into(), &Limits::default()).unwrap();
/// let rows = query_by_filter(&model, filter.root(), &ModelReading::default()).unwrap().rows;
/// assert_eq!(rows.iter().map(|row| &*row.entity).collect::<Vec<_>>(), ["node.large"]);
/// ```
///
/// # Errors
/// The errors of the filter, as `cuvee validate` reports them.
pub fn query_by_filter(
    model: &InstanceModel,
    filter: Node<'_>,
    reading: &ModelReading<'_>,
) -> Result<QueryAnswer, Diagnostics> {
    let mut wrong = Diagnostics::default();
    // In a template the filter is under this key.
    let filter = filter.get("node_filter").unwrap_or(filter);
    if v2_0::called(filter).is_some() {
        // A model has the text `$$x` of a template as it is meant: `$x`.
        let meant = write_flow(&meant::value(filter.to_value()));
        let meant = parse(FileId::DETACHED, meant.into(), &Limits::default())?;
        let found = query_by_expression(model, meant.root(), reading);
        return Ok(found.map_err(|error| error.without_labels().at(filter.span()))?);
    }
    let node_filter = NodeFilter::read(filter, &mut wrong);
    let properties = node_filter.properties.iter();
    let all = properties.chain(node_filter.capabilities.iter().flat_map(|one| &one.properties));
    for unknown in all.flat_map(|filter| &filter.unknown) {
        let message = "functions have no value in a filter that stands outside of a template";
        wrong.push(
            Diagnostic::error(Code::InvalidFunction, message).at(unknown.span()).section("3.6.5"),
        );
    }
    if wrong.has_errors() {
        return Err(wrong);
    }
    let walk = PlaceWalk::new(model, reading);
    let is_meant = |node: &NodeInstance| {
        has_properties(&walk, &node.properties, &node_filter.properties)
            && node_filter.capabilities.iter().all(|filter| has_capability(&walk, node, filter))
    };
    let mut answer =
        InstanceQuery::parse("nodes", FileId::DETACHED).and_then(|all| all.run(model, reading))?;
    let rows: Vec<QueryRow> = std::mem::take(&mut answer.rows);
    let rows = rows.into_iter().zip(model.nodes.values());
    answer.rows = rows.filter(|(_, node)| is_meant(node)).map(|(row, _)| row).collect();
    Ok(answer)
}

/// Finds the nodes of which an expression of TOSCA 2.0 is true. A value that a node does not have
/// is not found.
fn query_by_expression(
    model: &InstanceModel,
    filter: Node<'_>,
    reading: &ModelReading<'_>,
) -> Result<QueryAnswer, Diagnostic> {
    let mut answer =
        InstanceQuery::parse("nodes", FileId::DETACHED).and_then(|all| all.run(model, reading))?;
    let rows: Vec<QueryRow> = std::mem::take(&mut answer.rows);
    for (row, id) in rows.into_iter().zip(model.nodes.keys()) {
        match query_value(model, filter, Some(id), reading) {
            Ok(Value::Bool(true)) => answer.rows.push(row),
            Ok(Value::Bool(false)) => {}
            Ok(value) if holds_secret(&value) => {}
            Ok(value) => {
                let message = format!("a filter is true or false, not {}", value.describe());
                let error = Diagnostic::error(Code::InvalidFunction, message).at(filter.span());
                return Err(error.rule(Rule::new(&TOSCA_2_0, "8.8")));
            }
            Err(error) if error.code == Code::InvalidFunction => return Err(error),
            Err(_) => {}
        }
    }
    Ok(answer)
}

fn has_properties(
    walk: &PlaceWalk<'_, '_>,
    own: &ByName<Value>,
    filters: &[PropertyFilter<'_>],
) -> bool {
    filters.iter().all(|filter| {
        let value = own.get(filter.name()).map(|value| walk.shown.value(value));
        value
            .is_some_and(|value| filter.clauses.iter().all(|clause| fulfils_clause(&value, clause)))
    })
}

/// Whether a node has a matching capability. The filter names a capability or a type.
fn has_capability(
    walk: &PlaceWalk<'_, '_>,
    node: &NodeInstance,
    filter: &CapabilityFilter<'_>,
) -> bool {
    let wanted = filter.key.text().unwrap_or_default();
    node.capabilities.iter().any(|(name, capability)| {
        let own = &*capability.type_name;
        let is_meant = **name == *wanted || own == wanted || (walk.reading.derives)(own, wanted);
        is_meant && has_properties(walk, &capability.properties, &filter.properties)
    })
}
