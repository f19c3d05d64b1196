//! Follows functions to what values are computed from.

use super::{SecretOwner, Sensitivity};
use crate::topology::NodeIndex;
use crate::tosca::function::Function;
use crate::tosca::secrecy::{Secrecy, SecretParts};
use crate::tosca::v2_0::function::{BuiltIn, computing};
use cuvee_text::value::Value;
use std::borrow::Cow;
use std::sync::Arc;

impl<'t> Sensitivity<'t, '_> {
    /// What is secret of a value because it is computed from secrets. Literals are not, unless they
    /// have come from secret variability inputs.
    pub(crate) fn computed(&self, value: &Value, owner: Option<SecretOwner>) -> Secrecy {
        match value {
            Value::List(items) => SecretParts::of_each(self.either_of(items, owner)),
            Value::Map(entries) => match (Function::called_in(value), computing(value)) {
                (Some(call), _) => self.called(call, owner),
                (None, Some(call)) => self.built_in(call, owner),
                (None, None) => {
                    let parts =
                        entries.iter().map(|(key, it)| (Arc::clone(key), self.computed(it, owner)));
                    let named = parts.filter(|(_, secrecy)| !secrecy.is_open()).collect();
                    SecretParts { named, ..SecretParts::default() }.secrecy()
                }
            },
            scalar if self.is_of_input(scalar) => Secrecy::Computed,
            _ => Secrecy::Open,
        }
    }

    /// What is secret of the result of a function that depends on nothing but its arguments.
    fn built_in(
        &self,
        (function, arguments): (&BuiltIn, &Value),
        owner: Option<SecretOwner>,
    ) -> Secrecy {
        match self.computed(arguments, owner) {
            Secrecy::Open => Secrecy::Open,
            _ if function.tells_little() && !self.has_literal(arguments) => Secrecy::Open,
            _ => Secrecy::Computed,
        }
    }

    /// Whether the value of a secret variability input is written in a value.
    fn has_literal(&self, value: &Value) -> bool {
        match value {
            Value::List(items) => items.iter().any(|item| self.has_literal(item)),
            Value::Map(entries) => entries.iter().any(|(_, value)| self.has_literal(value)),
            scalar => self.is_of_input(scalar),
        }
    }

    /// Whether the value of a secret variability input is in a scalar.
    fn is_of_input(&self, scalar: &Value) -> bool {
        let secrets = &self.topology.secrets;
        let is_in = |text: &str| secrets.iter().any(|secret| text.contains(secret));
        !secrets.is_empty() && is_in(&scalar.to_string())
    }

    fn either_of(&self, items: &[Value], owner: Option<SecretOwner>) -> Secrecy {
        let found = items.iter().map(|item| self.computed(item, owner));
        found.fold(Secrecy::Open, |all, one| self.data().either(all, one))
    }

    /// What is secret of the result of a function.
    fn called(
        &self,
        (function, arguments): (Function, &Value),
        owner: Option<SecretOwner>,
    ) -> Secrecy {
        let arguments = match arguments {
            Value::List(items) => items,
            one => std::slice::from_ref(one),
        };
        let found = match function {
            Function::Concat | Function::Join | Function::Token => {
                match self.either_of(arguments, owner) {
                    Secrecy::Open => Secrecy::Open,
                    _ => Secrecy::Computed,
                }
            }
            Function::GetInput => self.of_input(arguments),
            Function::GetProperty | Function::GetAttribute => match arguments.split_first() {
                Some((entity, path)) => self.of_entities(entity, path, owner),
                None => Secrecy::Open,
            },
            Function::GetOperationOutput => self.of_operation(arguments, owner),
            Function::GetNodesOfType | Function::GetArtifact => Secrecy::Open,
        };
        // What is a literal elsewhere is not one here.
        if found == Secrecy::Whole { Secrecy::Computed } else { found }
    }

    /// An input by its name or its position, and a path into its value.
    fn of_input(&self, arguments: &[Value]) -> Secrecy {
        let Some((input, path)) = arguments.split_first() else { return Secrecy::Open };
        let by_position = || match input {
            Value::Number(at) => self.topology.inputs.get(usize::try_from(at.as_int()?).ok()?),
            _ => None,
        };
        let secrecy = match by_position() {
            Some(input) => self.given(input),
            None => self.input(&input.to_string()),
        };
        self.at_path(&secrecy, path)
    }

    fn at_path(&self, secrecy: &Secrecy, path: &[Value]) -> Secrecy {
        let steps: Vec<_> = path.iter().map(step).collect();
        self.data().at(secrecy, steps.iter().map(|step| &**step), self.names())
    }

    fn of_entities(&self, entity: &Value, path: &[Value], owner: Option<SecretOwner>) -> Secrecy {
        let found = self.entities(&step(entity), owner);
        if found.is_empty() {
            // An entity that is not known here, such as the target of a requirement that leads
            // nowhere yet: only names say anything.
            let is_secret = path.iter().any(|part| self.names().has(&step(part)));
            return if is_secret { Secrecy::Computed } else { Secrecy::Open };
        }
        let found = found.into_iter().map(|entity| self.of_path(entity, path));
        found.fold(Secrecy::Open, |all, one| self.data().either(all, one))
    }

    /// The elements that the first argument of a function may refer to.
    fn entities(&self, entity: &str, owner: Option<SecretOwner>) -> Vec<SecretOwner> {
        let topology = self.topology;
        let relation = match owner {
            Some(SecretOwner::Relation(relation)) => Some(topology.relation(relation)),
            _ => None,
        };
        let node = match owner {
            Some(SecretOwner::Node(node)) => Some(node),
            _ => relation.map(|relation| relation.source),
        };
        let all: Vec<_> = match entity {
            "SELF" => return owner.into_iter().collect(),
            "SOURCE" => node.into_iter().collect(),
            "TARGET" => relation.and_then(|relation| relation.target).into_iter().collect(),
            "HOST" => {
                let host = |node: NodeIndex| topology.hosted_on(node);
                let chain = std::iter::successors(node.and_then(host), |&node| host(node));
                chain.take(topology.nodes.len()).collect()
            }
            name => match self.nodes_named(name) {
                [] => return self.others_named(name),
                nodes => nodes.to_vec(),
            },
        };
        all.into_iter().map(SecretOwner::Node).collect()
    }

    /// The relations of a relationship template, or the group, of this name.
    pub(super) fn others_named(&self, name: &str) -> Vec<SecretOwner> {
        let mut all = self.relationships_named(name);
        all.extend(self.named.groups.get(name).map(|id| SecretOwner::Group(*id)));
        all
    }

    /// The relations that have the relationship template of this name; the template itself if there
    /// are none.
    pub(super) fn relationships_named(&self, name: &str) -> Vec<SecretOwner> {
        let Some(&id) = self.named.relationships.get(name) else { return Vec::new() };
        match self.named.relations(name) {
            [] => vec![SecretOwner::Relationship(id)],
            used => used.iter().map(|id| SecretOwner::Relation(*id)).collect(),
        }
    }

    /// What is secret of the value at a path of an element. The first name may be that of a
    /// capability or a requirement, behind which comes the name of the property.
    fn of_path(&self, owner: SecretOwner, path: &[Value]) -> Secrecy {
        let Some((first, rest)) = path.split_first() else { return Secrecy::Open };
        let first = step(first);
        let mut found = Vec::new();
        if let (SecretOwner::Node(node), Some((name, rest))) = (owner, rest.split_first()) {
            found.extend(self.of_part(node, &first, &step(name), rest));
        }
        if self.has_slot(owner, None, &first) {
            found.push(self.at_path(&self.slot(owner, None, &first), rest));
        }
        if found.is_empty() {
            const WORDS: [&str; 4] = ["CAPABILITY", "RELATIONSHIP", "SOURCE", "TARGET"];
            let is_secret = path.iter().any(|part| {
                self.names().has(&step(part))
                    || WORDS.contains(&&*first) && self.is_secret_somewhere(&step(part))
            });
            return if is_secret { Secrecy::Computed } else { Secrecy::Open };
        }
        found.into_iter().fold(Secrecy::Open, |all, one| self.data().either(all, one))
    }

    /// Whether any node, capability or relation has a secret of this name. Paths of TOSCA 2.0 that
    /// version 1.3 does not have may lead to many.
    fn is_secret_somewhere(&self, name: &str) -> bool {
        let is_secret = |owner: SecretOwner, capability: Option<&str>| {
            self.has_slot(owner, capability, name) && !self.slot(owner, capability, name).is_open()
        };
        let mut nodes = self.topology.node_ids().map(SecretOwner::Node);
        let mut relations = self.topology.relation_ids().map(SecretOwner::Relation);
        let of_node = |node: SecretOwner| {
            is_secret(node, None)
                || self.capabilities(node).iter().any(|name| is_secret(node, Some(name)))
        };
        nodes.any(of_node) || relations.any(|relation| is_secret(relation, None))
    }

    /// What is secret of the value at a path of a capability of a node, or of what one of its
    /// requirements leads to.
    fn of_part(&self, node: NodeIndex, part: &str, name: &str, path: &[Value]) -> Vec<Secrecy> {
        let mut found = Vec::new();
        let mut look = |owner: SecretOwner, capability: Option<&str>| {
            if self.has_slot(owner, capability, name) {
                found.push(self.at_path(&self.slot(owner, capability, name), path));
            }
        };
        look(SecretOwner::Node(node), Some(part));
        for &id in &self.topology.node(node).relations {
            let relation = self.topology.relation(id);
            if relation.name != part {
                continue;
            }
            look(SecretOwner::Relation(id), None);
            let Some(target) = relation.target.map(SecretOwner::Node) else { continue };
            look(target, None);
            for capability in self.capabilities(target) {
                look(target, Some(&capability));
            }
        }
        found
    }

    /// The names of the capabilities of a node.
    pub(super) fn capabilities(&self, owner: SecretOwner) -> Vec<Cow<'t, str>> {
        let defined = self.effective(owner).map(|it| it.capabilities.keys());
        let mut all: Vec<Cow<'_, str>> =
            defined.into_iter().flatten().map(|name| name.to_string().into()).collect();
        if let SecretOwner::Node(node) = owner {
            let written = self.topology.node(node).capabilities.iter();
            all.extend(written.map(|capability| Cow::Borrowed(&*capability.name)));
        }
        all
    }

    /// What is secret of an output of an operation: by its name, and by the attribute that it is
    /// written to.
    fn of_operation(&self, arguments: &[Value], owner: Option<SecretOwner>) -> Secrecy {
        let split = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect();
        let names: Vec<String> = match arguments {
            // All arguments may be one string with commas.
            [Value::String(text)] => split(text),
            arguments => arguments.iter().map(Value::to_string).collect(),
        };
        let [entity, interface, operation, output] = &*names else { return Secrecy::Open };
        if self.names().has(output) {
            return Secrecy::Computed;
        }
        let mut found = Secrecy::Open;
        for entity in self.entities(entity, owner) {
            for path in self.output_paths(entity, (interface, operation), output) {
                let Value::List(path) = &path else { continue };
                let Some((element, path)) = path.split_first() else { continue };
                let own = self.of_entities(element, path, Some(entity));
                found = self.data().either(found, own);
            }
        }
        found
    }

    /// The attributes that an output of an operation is written to, as paths of functions.
    fn output_paths(
        &self,
        owner: SecretOwner,
        (interface, operation): (&str, &str),
        output: &str,
    ) -> Vec<Value> {
        let interfaces = self.described(owner).map(|it| &it.interfaces).into_iter().flatten();
        let operations = interfaces
            .filter(|one| one.name == interface)
            .flat_map(|one| one.operations.iter().filter(|it| it.name == operation));
        let outputs = operations.flat_map(|one| &one.outputs);
        let written = outputs.filter(|one| one.name == output);
        let mut found: Vec<_> = written.map(|one| one.value.value.clone()).collect();
        let part = self.effective(owner).and_then(|it| it.interfaces.get(interface));
        let said = part.and_then(|part| part.definition.operations.get(operation));
        let outputs = said.map(|said| said.definition.outputs.iter()).into_iter().flatten();
        let defined = outputs.filter(|one| one.name == output);
        found.extend(defined.map(|one| one.value.to_value()));
        found
    }
}

/// A part of a path: a name or a position.
fn step(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
