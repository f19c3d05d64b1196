//! Implements `automatic_default_alternatives`: of several alternatives, the only one whose
//! presence its author does not restrict is the default alternative.

use super::conditional::Declared;
use super::entity::{NodeTemplate, Property};
use super::topology::ServiceTemplate;
use rustc_hash::FxHashMap;

/// Elements that are alternatives of each other.
#[derive(Default)]
struct AlternativeScope<'t, 'a> {
    members: usize,
    has_default: bool,
    /// The elements with neither conditions nor a value of `default_alternative`.
    open: Vec<&'t mut Declared<'a>>,
}

/// Declares default alternatives that authors left out, among properties, requirements, artifacts
/// and outputs of one name, and among the technologies of a node.
pub(crate) fn choose_default_alternatives(template: &mut ServiceTemplate<'_>) {
    choose_by_name(template.outputs.iter_mut().map(|output| &mut output.declared));
    template.nodes.iter_mut().for_each(of_node);
    let others = template.groups.iter_mut().map(|group| &mut *group.properties);
    let others = others.chain(template.policies.iter_mut().map(|policy| &mut *policy.properties));
    let relationships = template.relationships.iter_mut();
    others
        .chain(relationships.map(|relationship| &mut *relationship.properties))
        .for_each(of_properties);
}

fn of_node(node: &mut NodeTemplate<'_>) {
    of_properties(&mut node.properties);
    for requirement in &mut node.requirements {
        requirement.inline.iter_mut().for_each(|inline| of_properties(&mut inline.properties));
    }
    node.artifacts.iter_mut().for_each(|artifact| of_properties(&mut artifact.properties));
    choose_by_name(node.requirements.iter_mut().map(|requirement| &mut requirement.declared));
    choose_by_name(node.artifacts.iter_mut().map(|artifact| &mut artifact.declared));
    let technologies = node.technologies.iter_mut();
    choose(technologies.map(|technology| ("", &mut technology.declared)));
}

fn of_properties(properties: &mut [Property<'_>]) {
    choose_by_name(properties.iter_mut().map(|property| &mut property.declared));
}

fn choose_by_name<'t, 'a: 't>(all: impl Iterator<Item = &'t mut Declared<'a>>) {
    choose(all.map(|declared| (declared.name(), declared)));
}

fn choose<'t, 'a: 't>(all: impl Iterator<Item = (&'t str, &'t mut Declared<'a>)>) {
    let mut scopes: FxHashMap<&str, AlternativeScope<'_, '_>> = FxHashMap::default();
    for (name, declared) in all {
        let scope = scopes.entry(name).or_default();
        scope.members += 1;
        match declared.default_alternative() {
            None if declared.conditions().is_none() => scope.open.push(declared),
            alternative => scope.has_default |= alternative == Some(true),
        }
    }
    for scope in scopes.into_values().filter(|scope| scope.members > 1 && !scope.has_default) {
        let mut open = scope.open;
        if let [only] = &mut open[..] {
            only.make_default_alternative();
        }
    }
}
