//! The document that a variant of a template has to be written as.

use serde_yaml::{Mapping, Value as Yaml};

use super::oracle::{DEFAULT_ARTIFACT_TYPE, Oracle};
use super::template::{Id, Kind, Template, Value};

struct Writer<'t> {
    template: &'t Template,
    present: &'t [bool],
}

/// The resolved template for the elements that are present.
pub(crate) fn expected(template: &Template, present: &[bool]) -> Yaml {
    let writer = Writer { template, present };
    let mut topology = Mapping::new();
    let mut put = |keyword: &str, entries: Mapping| insert_some(&mut topology, keyword, entries);
    put("inputs", writer.named(template.of_kind(Kind::Input), |_| one("type", "string".into())));
    put("node_templates", writer.named(template.of_kind(Kind::Node), |id| writer.node(id)));
    put("relationship_templates", writer.relationships());
    put("groups", writer.named(template.of_kind(Kind::Group), |id| writer.group(id)));
    let policies: Vec<_> = writer
        .among(template.of_kind(Kind::Policy))
        .map(|id| writer.item(id, writer.policy(id)))
        .collect();
    if !policies.is_empty() {
        topology.insert("policies".into(), policies.into());
    }
    insert_some(
        &mut topology,
        "outputs",
        writer.named(template.of_kind(Kind::Output), |id| one("value", writer.value(id))),
    );
    let mut document = Mapping::new();
    document.insert("tosca_definitions_version".into(), "tosca_simple_yaml_1_3".into());
    let imports: Vec<Yaml> =
        writer.among(template.of_kind(Kind::Import)).map(|id| writer.name(id)).collect();
    if !imports.is_empty() {
        document.insert("imports".into(), imports.into());
    }
    insert_some(&mut document, "topology_template", topology);
    document.into()
}

fn one(key: &str, value: Yaml) -> Mapping {
    [(Yaml::from(key), value)].into_iter().collect()
}

fn insert_some(map: &mut Mapping, keyword: &str, entries: Mapping) {
    if !entries.is_empty() {
        map.insert(keyword.into(), entries.into());
    }
}

impl Writer<'_> {
    fn among(&self, ids: Vec<Id>) -> impl Iterator<Item = Id> {
        ids.into_iter().filter(|&id| self.present[id])
    }

    fn name(&self, id: Id) -> Yaml {
        self.template.elements[id].name.as_str().into()
    }

    /// The present elements by name. Of two with the same name, the later one takes the place of
    /// the first.
    fn named(&self, ids: Vec<Id>, body: impl Fn(Id) -> Mapping) -> Mapping {
        self.among(ids).map(|id| (self.name(id), body(id).into())).collect()
    }

    fn item(&self, id: Id, body: impl Into<Yaml>) -> Yaml {
        [(self.name(id), body.into())].into_iter().collect::<Mapping>().into()
    }

    fn properties(&self, id: Id, body: &mut Mapping) {
        let properties = self
            .among(self.template.children(id, Kind::Property))
            .map(|id| (self.name(id), self.value(id)));
        insert_some(body, "properties", properties.collect());
    }

    fn typed(&self, id: Id) -> Mapping {
        let chosen = self.among(self.template.children(id, Kind::Type)).next();
        let mut body: Mapping =
            chosen.map(|id| ("type".into(), self.name(id))).into_iter().collect();
        self.properties(id, &mut body);
        body
    }

    fn value(&self, id: Id) -> Yaml {
        let name = |id: Id| self.name(id);
        match &self.template.elements[id].value {
            Value::Plain => format!("v{id}").into(),
            Value::Input(input, _) => one("get_input", name(*input)).into(),
            Value::Property(property) => {
                let node = self.template.elements[*property].container.unwrap();
                one("get_property", vec![name(node), name(*property)].into()).into()
            }
            Value::Attribute(node) => {
                one("get_attribute", vec![name(*node), "address".into()].into()).into()
            }
            Value::Expression(expression) => {
                let logic = Oracle::new(self.template).condition(expression);
                logic.holds(self.present).map_or(Yaml::Null, Yaml::from)
            }
        }
    }

    fn node(&self, id: Id) -> Mapping {
        let mut body = self.typed(id);
        if let Some(technology) = self.among(self.template.children(id, Kind::Technology)).next() {
            body.insert("type".into(), self.assigned(id, technology).into());
        }
        let relations = self.among(self.template.children(id, Kind::Relation));
        let relations: Vec<_> = relations.map(|id| self.item(id, self.requirement(id))).collect();
        if !relations.is_empty() {
            body.insert("requirements".into(), relations.into());
        }
        insert_some(
            &mut body,
            "artifacts",
            self.named(self.template.children(id, Kind::Artifact), |id| self.artifact(id)),
        );
        body
    }

    /// The type that a technology gives its node: the one that it assigns, or else
    /// `<type>~<component>[#<artifact>]::<technology>`.
    fn assigned(&self, node: Id, technology: Id) -> String {
        let elements = &self.template.elements;
        let technology = &elements[technology];
        technology.assign.clone().unwrap_or_else(|| {
            let name = &elements[self.template.children(node, Kind::Type)[0]].name;
            let artifact = technology
                .artifact
                .as_ref()
                .map(|artifact| format!("#{artifact}"))
                .unwrap_or_default();
            format!("{name}~{name}{artifact}::{}", technology.name)
        })
    }

    fn requirement(&self, id: Id) -> Yaml {
        let element = &self.template.elements[id];
        let target = self.name(element.ends[0]);
        let relationship = match element.named_relationship {
            true => self.template.relationship_name(id).into(),
            false if self.template.children(id, Kind::Type).is_empty() => return target,
            false => self.typed(id).into(),
        };
        let mut body = one("node", target);
        body.insert("relationship".into(), relationship);
        body.into()
    }

    /// The relationship templates of the relations that are written; a relation without its source
    /// is not written.
    fn relationships(&self) -> Mapping {
        let elements = &self.template.elements;
        let is_written =
            |&id: &Id| elements[id].container.is_some_and(|source| self.present[source]);
        let relations = self.among(self.template.of_kind(Kind::Relation)).filter(is_written);
        let named = relations.filter(|&id| elements[id].named_relationship);
        named
            .map(|id| (self.template.relationship_name(id).into(), self.typed(id).into()))
            .collect()
    }

    fn artifact(&self, id: Id) -> Mapping {
        let mut body = Mapping::new();
        if self.template.children(id, Kind::Type).is_empty() {
            body.insert("type".into(), DEFAULT_ARTIFACT_TYPE.into());
        }
        body.extend(self.typed(id));
        body.insert("file".into(), format!("f{id}").into());
        body
    }

    fn group(&self, id: Id) -> Mapping {
        let member = |id: Id| {
            let element = &self.template.elements[id];
            match element.container {
                Some(node) => vec![self.name(node), (element.index as u64).into()].into(),
                None => self.name(id),
            }
        };
        let members: Vec<Yaml> =
            self.among(self.template.elements[id].ends.clone()).map(member).collect();
        let mut body = self.typed(id);
        body.insert("members".into(), members.into());
        body
    }

    fn policy(&self, id: Id) -> Mapping {
        let targets = self.among(self.template.elements[id].ends.clone());
        let targets: Vec<Yaml> = targets.map(|id| self.name(id)).collect();
        let mut body = self.typed(id);
        body.insert("targets".into(), targets.into());
        body
    }
}
