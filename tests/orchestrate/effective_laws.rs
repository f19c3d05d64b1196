//! Laws of what is effective, tried on random templates: plans look at what nodes and relations
//! have, not at who says so. Each template is written twice, each time with other parts in types;
//! what is expected of a change is read from the table of classes in `docs/plans.md`, and shares no
//! code with the library.
//!
//! `PROPTEST_CASES=10000 cargo test --test orchestrate effective_laws` tries harder.

use crate::adapting::{WRITTEN, classes, plans, reasons};
use crate::laws::cases;
use crate::topologies::{CONFIGURE, STANDARD};
use cuvee::deploy::plan::ChangeClass;
use cuvee::source::{FileSystem, MemoryFiles};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A source of decisions.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }

    fn coin(&mut self) -> bool {
        self.roll(2) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

/// What an input of an operation is told.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Number(usize),
    /// A property of the element that has the operation.
    Own,
    /// The input of the topology.
    Size,
    /// The port of another node; of a relation that of its target.
    Port(usize),
    /// An attribute of another node; of a relation that of its target.
    Live(usize),
}

/// An operation that has something to run.
#[derive(Clone, Debug, PartialEq)]
struct Called {
    script: usize,
    needs: Vec<usize>,
    timeout: Option<usize>,
    host: Option<&'static str>,
    inputs: BTreeMap<&'static str, Told>,
    output: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
struct Link {
    target: usize,
    user: usize,
    calls: BTreeMap<&'static str, Called>,
}

#[derive(Clone, Debug, PartialEq)]
struct Thing {
    is_machine: bool,
    /// The number in the name of its type, by which types differ.
    kind: usize,
    host: Option<usize>,
    /// A property that changes in place.
    port: usize,
    /// A property that does not.
    engine: usize,
    /// A property of a capability.
    limit: usize,
    calls: BTreeMap<&'static str, Called>,
    /// An operation that is none of the life cycle.
    check: Option<Called>,
    /// The file of an artifact, and whether it is a deployment artifact.
    image: Option<(usize, bool)>,
    links: Vec<Link>,
}

/// What is effective in a template.
#[derive(Clone, Debug, PartialEq)]
struct World {
    things: BTreeMap<usize, Thing>,
    /// The contents of the files; not all files are there.
    files: Vec<Option<usize>>,
    size: usize,
}

const FILES: usize = 5;

impl World {
    fn random(dice: &mut Dice, count: usize) -> Self {
        let mut world = Self {
            things: BTreeMap::new(),
            files: (0..FILES).map(|file| (file > 0).then(|| dice.roll(3))).collect(),
            size: dice.roll(3),
        };
        for at in 0..count {
            let thing = world.thing(at, dice);
            world.things.insert(at, thing);
        }
        world
    }

    fn thing(&self, at: usize, dice: &mut Dice) -> Thing {
        let before: Vec<usize> = self.things.keys().copied().filter(|other| *other < at).collect();
        let is_machine = before.is_empty() || dice.roll(4) == 0;
        let host = (!is_machine && dice.roll(4) > 0).then(|| dice.one(&before));
        let mut thing = Thing {
            is_machine,
            kind: dice.roll(8) / 7,
            host,
            port: dice.roll(3),
            engine: dice.roll(2),
            limit: dice.roll(3),
            calls: BTreeMap::new(),
            check: None,
            image: None,
            links: Vec::new(),
        };
        if is_machine {
            return thing;
        }
        for operation in STANDARD {
            if dice.coin() {
                thing.calls.insert(operation, self.called(&before, dice));
            }
        }
        thing.check = dice.coin().then(|| self.called(&before, dice));
        thing.image = dice.coin().then(|| (dice.roll(FILES), dice.coin()));
        for _ in 0..dice.roll(3) {
            let link = self.link(dice.one(&before), dice);
            thing.links.push(link);
        }
        thing
    }

    fn link(&self, target: usize, dice: &mut Dice) -> Link {
        let mut calls = BTreeMap::new();
        let is_machine = self.things[&target].is_machine;
        for operation in CONFIGURE {
            // What the orchestrator brings as a whole has no states in between.
            if dice.roll(3) == 0 && !(is_machine && operation.ends_with("configure_target")) {
                calls.insert(operation, self.called_between(target, dice));
            }
        }
        Link { target, user: dice.roll(2), calls }
    }

    fn called(&self, others: &[usize], dice: &mut Dice) -> Called {
        let host = dice.one(&[None, None, Some("ORCHESTRATOR"), Some("SELF"), Some("HOST")]);
        Called { host, ..self.told_anywhere(others, dice) }
    }

    /// An operation of a relation.
    fn called_between(&self, target: usize, dice: &mut Dice) -> Called {
        let host = dice.one(&[None, None, Some("ORCHESTRATOR"), Some("SOURCE"), Some("TARGET")]);
        Called { host, ..self.told_anywhere(&[target], dice) }
    }

    fn told_anywhere(&self, others: &[usize], dice: &mut Dice) -> Called {
        let mut inputs = BTreeMap::new();
        for name in ["a", "b"] {
            if dice.coin() {
                inputs.insert(name, self.told(others, dice));
            }
        }
        Called {
            script: dice.roll(FILES),
            needs: (0..dice.roll(2)).map(|_| dice.roll(FILES)).collect(),
            timeout: dice.coin().then(|| dice.roll(2)),
            host: None,
            inputs,
            output: dice.one(&[None, Some("address"), Some("state")]),
        }
    }

    fn told(&self, others: &[usize], dice: &mut Dice) -> Told {
        match dice.roll(5) {
            0 => Told::Own,
            1 => Told::Size,
            2 => Told::Port(dice.one(others)),
            3 => Told::Live(dice.one(others)),
            _ => Told::Number(dice.roll(3)),
        }
    }

    /// Changes something, or adds or removes a thing that nobody needs.
    fn change(&mut self, dice: &mut Dice) {
        let all: Vec<usize> = self.things.keys().copied().collect();
        let last = all.len();
        match dice.roll(12) {
            0 => self.size = dice.roll(3),
            1 => {
                let file = 1 + dice.roll(FILES - 1);
                self.files[file] = Some(dice.roll(3));
            }
            2 if last < 6 => {
                let thing = self.thing(last, dice);
                self.things.insert(last, thing);
            }
            3 if last > 1 => drop(self.things.remove(&(last - 1))),
            _ => {
                let at = dice.one(&all);
                let mut thing = self.things[&at].clone();
                self.change_thing(at, &mut thing, dice);
                self.things.insert(at, thing);
            }
        }
    }

    fn change_thing(&self, at: usize, thing: &mut Thing, dice: &mut Dice) {
        let before: Vec<usize> = (0..at).collect();
        match dice.roll(8) {
            0 => thing.port = dice.roll(3),
            1 => thing.engine = dice.roll(2),
            2 => thing.limit = dice.roll(3),
            _ if thing.is_machine => thing.kind = dice.roll(2),
            3 => match dice.coin() {
                true => thing.host = Some(dice.one(&before)),
                false => thing.image = dice.coin().then(|| (dice.roll(FILES), dice.coin())),
            },
            4 => thing.check = dice.coin().then(|| self.called(&before, dice)),
            5 => match dice.roll(thing.links.len() + 1) {
                0 => thing.links.push(self.link(dice.one(&before), dice)),
                link if dice.coin() => drop(thing.links.remove(link - 1)),
                link => {
                    let link = &mut thing.links[link - 1];
                    match self.link(link.target, dice) {
                        new if dice.coin() => link.user = new.user,
                        new => link.calls = new.calls,
                    }
                }
            },
            6 => {
                let new = self.thing(at, dice).calls;
                if new.is_empty() || dice.coin() { thing.calls.clear() } else { thing.calls = new }
            }
            _ => {
                let operation = dice.one(&STANDARD);
                let new = self.called(&before, dice);
                match thing.calls.get_mut(operation) {
                    Some(call) => match dice.roll(6) {
                        0 => call.script = new.script,
                        1 => call.needs = new.needs,
                        2 => call.timeout = new.timeout,
                        3 => call.host = new.host,
                        4 => call.inputs = new.inputs,
                        _ => call.output = new.output,
                    },
                    None => drop(thing.calls.insert(operation, new)),
                }
            }
        }
    }
}

/// Where types are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TypesAt {
    /// In the template.
    Here,
    /// In a file beside it.
    Beside,
    /// In a file of another directory, from which scripts have other paths.
    Below,
}

/// Writes a world as a template, and decides what its types say of it.
struct Writer<'w> {
    world: &'w World,
    dice: Dice,
    types_at: TypesAt,
    node_types: Map<String, Value>,
    relationship_types: Map<String, Value>,
    relationship_templates: Map<String, Value>,
}

/// A part of a template and the same part of a type.
struct Both<'b> {
    own: &'b mut Map<String, Value>,
    of_type: &'b mut Map<String, Value>,
}

fn map() -> Map<String, Value> {
    Map::new()
}

fn object(of: Value) -> Map<String, Value> {
    of.as_object().unwrap().clone()
}

impl<'w> Writer<'w> {
    fn files(world: &'w World, seed: u64) -> MemoryFiles {
        let mut dice = Dice(seed);
        let types_at = dice.one(&[TypesAt::Here, TypesAt::Beside, TypesAt::Below]);
        let (node_types, relationship_types, relationship_templates) = (map(), map(), map());
        let mut writer =
            Self { world, dice, types_at, node_types, relationship_types, relationship_templates };
        let mut nodes = map();
        for (&at, thing) in &world.things {
            let node = match thing.is_machine {
                true => writer.machine(at, thing),
                false => writer.software(at, thing),
            };
            nodes.insert(format!("n{at}"), node);
        }
        writer.written(nodes)
    }

    fn written(self, nodes: Map<String, Value>) -> MemoryFiles {
        const VERSION: &str = "tosca_simple_yaml_1_3";
        let types = json!({
            "tosca_definitions_version": VERSION,
            "interface_types": {
                "Care": {"derived_from": "tosca.interfaces.Root", "operations": {"check": {}}},
            },
            "capability_types": {
                "Gate": {
                    "derived_from": "tosca.capabilities.Root",
                    "properties": {"limit": {"type": "integer", "required": false}},
                },
            },
            "artifact_types": {
                "Pack": {"derived_from": "tosca.artifacts.Deployment.Image"},
                "Note": {"derived_from": "tosca.artifacts.Root"},
            },
            "node_types": self.node_types,
            "relationship_types": self.relationship_types,
        });
        let mut template = match self.types_at {
            TypesAt::Here => object(types.clone()),
            TypesAt::Beside => object(json!({"imports": ["types.yaml"]})),
            TypesAt::Below => object(json!({"imports": ["kinds/types.yaml"]})),
        };
        template.insert("tosca_definitions_version".to_owned(), VERSION.into());
        let size = json!({"type": "integer", "default": self.world.size});
        let mut topology = object(json!({"inputs": {"size": size}, "node_templates": nodes}));
        if !self.relationship_templates.is_empty() {
            let templates = self.relationship_templates.into();
            topology.insert("relationship_templates".to_owned(), templates);
        }
        template.insert("topology_template".to_owned(), topology.into());
        // JSON is YAML.
        let text = |value: &Value| value.to_string().into_bytes();
        let mut files = vec![("t.yaml".to_owned(), text(&template.into()))];
        match self.types_at {
            TypesAt::Here => {}
            TypesAt::Beside => files.push(("types.yaml".to_owned(), text(&types))),
            TypesAt::Below => files.push(("kinds/types.yaml".to_owned(), text(&types))),
        }
        for (file, content) in self.world.files.iter().enumerate() {
            let content = content.map(|content| format!("echo {content}\n").into_bytes());
            files.extend(content.map(|content| (format!("scripts/f{file}.sh"), content)));
        }
        files.into_iter().collect()
    }

    fn file(&self, file: usize, in_type: bool) -> String {
        let up = if in_type && self.types_at == TypesAt::Below { "../" } else { "" };
        format!("{up}scripts/f{file}.sh")
    }

    /// What people read, which means nothing.
    fn remark(&mut self, of: &mut Map<String, Value>) {
        if self.dice.roll(3) == 0 {
            let text = format!("It is number {}.", self.dice.roll(9));
            of.insert("description".to_owned(), text.into());
        }
    }

    fn name(&mut self, normative: &str) -> String {
        let prefix = if self.dice.coin() { "tosca.nodes." } else { "" };
        format!("{prefix}{normative}")
    }

    /// Says a property: as the default of the type, or at the element. The element says it, too, if
    /// the type says something else.
    fn property(&mut self, name: &str, value: usize, metadata: Option<Value>, both: Both<'_>) {
        let mut definition = object(json!({"type": "integer", "required": false}));
        definition.extend(metadata.map(|it| ("metadata".to_owned(), it)));
        self.remark(&mut definition);
        let said = [None, Some(value), Some(self.dice.roll(4))][self.dice.roll(3)];
        definition.extend(said.map(|said| ("default".to_owned(), said.into())));
        both.of_type.insert(name.to_owned(), definition.into());
        if said != Some(value) || self.dice.roll(4) == 0 {
            both.own.insert(name.to_owned(), value.into());
        }
    }

    fn machine(&mut self, at: usize, thing: &Thing) -> Value {
        let (mut properties, mut own) = (map(), map());
        self.property("port", thing.port, None, Both { own: &mut own, of_type: &mut properties });
        let recreate = Some(json!({"recreate": "true"}));
        let both = Both { own: &mut own, of_type: &mut properties };
        self.property("engine", thing.engine, recreate, both);
        let (mut limits, mut limit) = (map(), map());
        let both = Both { own: &mut limit, of_type: &mut limits };
        self.property("limit", thing.limit, None, both);
        let kind = format!("M{at}k{}", thing.kind);
        let mut of_type = object(json!({
            "derived_from": self.name("Compute"),
            "properties": properties,
            "capabilities": {"gate": {"type": "Gate", "properties": limits}},
        }));
        self.remark(&mut of_type);
        self.node_types.insert(kind.clone(), of_type.into());
        let mut node = object(json!({"type": kind, "properties": own}));
        if !limit.is_empty() {
            node.insert("capabilities".to_owned(), json!({"gate": {"properties": limit}}));
        }
        self.remark(&mut node);
        node.into()
    }

    fn software(&mut self, at: usize, thing: &Thing) -> Value {
        let kind = format!("S{at}k{}", thing.kind);
        let mut node = object(json!({"type": kind}));
        let mut of_type = object(json!({"derived_from": self.name("SoftwareComponent")}));
        let (mut properties, mut own) = (map(), map());
        self.property("port", thing.port, None, Both { own: &mut own, of_type: &mut properties });
        let recreate = Some(json!({"recreate": "true"}));
        let both = Both { own: &mut own, of_type: &mut properties };
        self.property("engine", thing.engine, recreate, both);
        of_type.insert("properties".to_owned(), properties.into());
        node.insert("properties".to_owned(), own.into());
        let (mut limits, mut limit) = (map(), map());
        let both = Both { own: &mut limit, of_type: &mut limits };
        self.property("limit", thing.limit, None, both);
        of_type.insert(
            "capabilities".to_owned(),
            json!({"gate": {"type": "Gate", "properties": limits}}),
        );
        if !limit.is_empty() {
            node.insert("capabilities".to_owned(), json!({"gate": {"properties": limit}}));
        }
        if let Some((file, is_deployment)) = thing.image {
            let both = Both { own: &mut node, of_type: &mut of_type };
            self.artifact(file, is_deployment, both);
        }
        let (mut standard, mut of_standard) = (map(), map());
        for (operation, call) in &thing.calls {
            let both = Both { own: &mut standard, of_type: &mut of_standard };
            self.call(operation, call, "port", both);
        }
        // An operation with nothing to run is none.
        for operation in STANDARD {
            if !thing.calls.contains_key(operation) && self.dice.roll(4) == 0 {
                let idle =
                    json!({"inputs": {"a": {"type": "integer", "default": self.dice.roll(3)}}});
                of_standard.insert(operation.to_owned(), idle);
            }
        }
        let (mut care, mut of_care) = (map(), map());
        if let Some(check) = &thing.check {
            self.call("check", check, "port", Both { own: &mut care, of_type: &mut of_care });
        }
        let interfaces = json!({
            "Standard": self.interface(of_standard, Some("tosca.interfaces.node.lifecycle.Standard")),
            "Care": {"type": "Care", "operations": of_care},
        });
        of_type.insert("interfaces".to_owned(), interfaces);
        let mut interfaces = map();
        if !standard.is_empty() || self.dice.roll(4) == 0 {
            let standard = self.interface(standard, None);
            interfaces.insert("Standard".to_owned(), standard);
        }
        if !care.is_empty() {
            interfaces.insert("Care".to_owned(), json!({"operations": care}));
        }
        if !interfaces.is_empty() {
            node.insert("interfaces".to_owned(), interfaces.into());
        }
        self.requirements(at, thing, Both { own: &mut node, of_type: &mut of_type });
        self.remark(&mut node);
        self.remark(&mut of_type);
        self.node_types.insert(kind, of_type.into());
        node.into()
    }

    fn interface(&mut self, operations: Map<String, Value>, kind: Option<&str>) -> Value {
        let mut interface = match self.dice.coin() {
            true => object(json!({"operations": operations})),
            false => operations,
        };
        let kind = kind.filter(|_| self.dice.coin());
        interface.extend(kind.map(|kind| ("type".to_owned(), kind.into())));
        interface.into()
    }

    fn artifact(&mut self, file: usize, is_deployment: bool, both: Both<'_>) {
        let kind = if is_deployment { "Pack" } else { "Note" };
        let said = |file: String, kind: &str| json!({"image": {"type": kind, "file": file}});
        match self.dice.roll(3) {
            0 => {
                drop(both.of_type.insert("artifacts".to_owned(), said(self.file(file, true), kind)))
            }
            other => {
                if other == 1 {
                    let another = self.dice.roll(FILES);
                    let file = self.file(another, true);
                    both.of_type.insert("artifacts".to_owned(), said(file, "Note"));
                }
                both.own.insert("artifacts".to_owned(), said(self.file(file, false), kind));
            }
        }
    }

    /// Says an operation in the type, in the template, or partly in both.
    fn call(&mut self, name: &str, call: &Called, property: &str, both: Both<'_>) {
        let (mut own, mut of_type) = (map(), map());
        let said = self.dice.roll(3);
        if said > 0 {
            let implementation = self.implementation(call, false);
            own.insert("implementation".to_owned(), implementation);
        }
        let in_type = match said {
            0 => Some(call.clone()),
            1 => None,
            _ => Some(Called { script: self.dice.roll(FILES), needs: Vec::new(), ..call.clone() }),
        };
        if let Some(call) = in_type {
            let implementation = self.implementation(&call, true);
            of_type.insert("implementation".to_owned(), implementation);
        }
        let (mut inputs, mut of_inputs) = (map(), map());
        for (input, told) in &call.inputs {
            let said = self.dice.roll(3);
            let in_type = [Some(told.clone()), None, Some(Told::Number(7))][said].clone();
            if let Some(told) = in_type {
                let value = written(&told, property);
                let value = match self.dice.coin() {
                    true => json!({"type": "integer", "default": value}),
                    false => value,
                };
                of_inputs.insert((*input).to_owned(), value);
            }
            if said > 0 {
                inputs.insert((*input).to_owned(), written(told, property));
            }
        }
        let put = |of: &mut Map<String, Value>, key: &str, value: Map<String, Value>| {
            if !value.is_empty() {
                of.insert(key.to_owned(), value.into());
            }
        };
        put(&mut own, "inputs", inputs);
        put(&mut of_type, "inputs", of_inputs);
        if let Some(attribute) = call.output {
            let of = |attribute: &str| object(json!({"result": ["SELF", attribute]}));
            match self.dice.roll(3) {
                0 => put(&mut of_type, "outputs", of(attribute)),
                other => {
                    put(&mut own, "outputs", of(attribute));
                    if other == 1 {
                        put(&mut of_type, "outputs", of("address"));
                    }
                }
            }
        }
        for (all, one) in [(both.own, own), (both.of_type, of_type)] {
            if !one.is_empty() {
                let short = one.get("implementation").filter(|it| it.is_string() && one.len() == 1);
                let value =
                    short.filter(|_| self.dice.coin()).cloned().unwrap_or(one.clone().into());
                all.insert(name.to_owned(), value);
            }
        }
    }

    fn implementation(&mut self, call: &Called, in_type: bool) -> Value {
        let primary = self.file(call.script, in_type);
        let mut long = object(json!({"primary": primary}));
        let needs: Vec<_> = call.needs.iter().map(|file| self.file(*file, in_type)).collect();
        if !needs.is_empty() {
            long.insert("dependencies".to_owned(), needs.into());
        }
        long.extend(call.timeout.map(|timeout| ("timeout".to_owned(), timeout.into())));
        long.extend(call.host.map(|host| ("operation_host".to_owned(), host.into())));
        if long.len() == 1 && self.dice.coin() { primary.into() } else { long.into() }
    }

    fn requirements(&mut self, at: usize, thing: &Thing, both: Both<'_>) {
        let mut own = Vec::new();
        if let Some(host) = thing.host {
            let host = format!("n{host}");
            own.push(if self.dice.coin() {
                json!({"host": host})
            } else {
                json!({"host": {"node": host}})
            });
        }
        let kind = format!("R{at}");
        // The type says what the first relation has, and the others say what they have themselves.
        let in_type = |operation: &str, first: &Called| {
            thing.links.iter().all(|link| {
                link.calls.get(operation).is_some_and(|call| {
                    call.inputs.keys().eq(first.inputs.keys())
                        && call.output.is_some() == first.output.is_some()
                })
            })
        };
        let (mut properties, mut of_configure) = (map(), map());
        let mut links = Vec::new();
        for (at_link, link) in thing.links.iter().enumerate() {
            let (mut assigned, mut configure) = (map(), map());
            for (operation, call) in &link.calls {
                if at_link == 0 && in_type(operation, call) {
                    let of_type = &mut of_configure;
                    self.call(operation, call, "user", Both { own: &mut configure, of_type });
                } else {
                    self.whole(operation, call, &mut configure);
                }
            }
            match at_link {
                0 => {
                    let both = Both { own: &mut assigned, of_type: &mut properties };
                    self.property("user", link.user, None, both);
                }
                _ => drop(assigned.insert("user".to_owned(), link.user.into())),
            }
            links.push((link.target, assigned, configure));
        }
        if properties.is_empty() {
            properties.insert("user".to_owned(), json!({"type": "integer", "required": false}));
        }
        let mut of_relation = object(json!({
            "derived_from": "tosca.relationships.DependsOn",
            "properties": properties,
        }));
        self.remark(&mut of_relation);
        let mut definition = object(json!({
            "capability": "tosca.capabilities.Node",
            "relationship": kind,
            "occurrences": [0, "UNBOUNDED"],
        }));
        let of_configure = self.interface(of_configure, None);
        // The requirement may say what the type of its relationship would.
        match self.dice.roll(3) == 0 && !thing.links.is_empty() {
            true => {
                let relationship = json!({"type": kind, "interfaces": {"Configure": of_configure}});
                definition.insert("relationship".to_owned(), relationship);
            }
            false => {
                let interfaces = json!({"Configure": of_configure});
                of_relation.insert("interfaces".to_owned(), interfaces);
            }
        }
        self.relationship_types.insert(kind.clone(), of_relation.into());
        both.of_type.insert("requirements".to_owned(), json!([{"link": definition}]));
        for (at_link, (target, assigned, configure)) in links.into_iter().enumerate() {
            let target = format!("n{target}");
            if assigned.is_empty() && configure.is_empty() && self.dice.coin() {
                own.push(json!({"link": target}));
                continue;
            }
            let mut relationship = object(json!({"type": kind}));
            if !assigned.is_empty() {
                relationship.insert("properties".to_owned(), assigned.into());
            }
            if !configure.is_empty() {
                let interfaces = json!({"Configure": self.interface(configure, None)});
                relationship.insert("interfaces".to_owned(), interfaces);
            }
            let relationship: Value = match self.dice.roll(3) {
                0 => {
                    let name = format!("r{at}x{at_link}");
                    self.relationship_templates.insert(name.clone(), relationship.into());
                    name.into()
                }
                _ => relationship.into(),
            };
            own.push(json!({"link": {"node": target, "relationship": relationship}}));
        }
        if !own.is_empty() {
            both.own.insert("requirements".to_owned(), own.into());
        }
    }

    /// Says all of an operation in one place.
    fn whole(&mut self, name: &str, call: &Called, of: &mut Map<String, Value>) {
        let inputs = call.inputs.iter();
        let inputs = inputs.map(|(name, told)| ((*name).to_owned(), written(told, "user")));
        let mut whole = map();
        whole.insert("implementation".to_owned(), self.implementation(call, false));
        let inputs: Map<_, _> = inputs.collect();
        if !inputs.is_empty() {
            whole.insert("inputs".to_owned(), inputs.into());
        }
        let output = call.output.map(|attribute| json!({"result": ["SELF", attribute]}));
        whole.extend(output.map(|output| ("outputs".to_owned(), output)));
        of.insert(name.to_owned(), whole.into());
    }
}

/// What an input is told, of an element whose own property has this name.
fn written(told: &Told, property: &str) -> Value {
    let of = |of: &usize| if property == "user" { "TARGET".to_owned() } else { format!("n{of}") };
    match told {
        Told::Number(number) => json!(number),
        Told::Own => json!({"get_property": ["SELF", property]}),
        Told::Size => json!({"get_input": "size"}),
        Told::Port(other) => json!({"get_property": [of(other), "port"]}),
        Told::Live(other) => json!({"get_attribute": [of(other), "address"]}),
    }
}

/// The table of classes, applied to two worlds.
struct Expected<'e> {
    from: &'e World,
    to: &'e World,
    /// Whether the values of functions are known.
    evaluates: bool,
    classes: BTreeMap<usize, ChangeClass>,
}

/// The relation of the old world that a relation of the new one is: relations meet by their target.
fn partners<'l>(old: &'l [Link], new: &'l [Link]) -> Vec<(&'l Link, Option<&'l Link>)> {
    let mut left: Vec<Option<&Link>> = old.iter().map(Some).collect();
    let partner = |link: &'l Link| {
        let at = left.iter().position(|it| it.is_some_and(|it| it.target == link.target));
        (link, at.and_then(|at| left[at].take()))
    };
    new.iter().map(partner).collect()
}

impl<'e> Expected<'e> {
    fn of(from: &'e World, to: &'e World, evaluates: bool) -> BTreeMap<String, ChangeClass> {
        let mut expected = Self { from, to, evaluates, classes: BTreeMap::new() };
        for at in from.things.keys().chain(to.things.keys()) {
            let class = match (from.things.get(at), to.things.get(at)) {
                (Some(was), Some(is)) => expected.own(was, is),
                (None, _) => ChangeClass::Add,
                (_, None) => ChangeClass::Remove,
            };
            expected.classes.insert(*at, class);
        }
        expected.hosts();
        expected.reached();
        expected.rewired();
        expected.restarts();
        let named = expected.classes.into_iter();
        named.map(|(at, class)| (format!("node.n{at}"), class)).collect()
    }

    fn class(&self, at: usize) -> ChangeClass {
        self.classes[&at]
    }

    /// Gives a node a class if it comes before the one that it has.
    fn raise(&mut self, at: usize, class: ChangeClass) {
        const ORDER: [ChangeClass; 7] = [
            ChangeClass::Add,
            ChangeClass::Remove,
            ChangeClass::Recreate,
            ChangeClass::Reconfigure,
            ChangeClass::Restart,
            ChangeClass::Rewire,
            ChangeClass::Keep,
        ];
        let rank = |class| ORDER.iter().position(|known| *known == class);
        if rank(class) < rank(self.class(at)) {
            self.classes.insert(at, class);
        }
    }

    /// Whether two names stand for the same file with the same content.
    fn is_same(&self, was: usize, is: usize) -> bool {
        let (old, new) = (self.from.files[was], self.to.files[is]);
        was == is && (old.is_none() || new.is_none() || old == new)
    }

    /// Whether the same is run, for the same time, in the same place.
    fn runs_same(&self, was: &Called, is: &Called, place: &dyn Fn(&Called) -> String) -> bool {
        let needs = was.needs.iter().zip(&is.needs).all(|(was, is)| self.is_same(*was, *is));
        self.is_same(was.script, is.script)
            && was.needs.len() == is.needs.len()
            && needs
            && was.timeout == is.timeout
            && place(was) == place(is)
    }

    /// What an input comes to, as far as that can be known. `own` is the element's own property.
    fn value(&self, world: &World, told: &Told, own: usize) -> Told {
        match told {
            _ if !self.evaluates => told.clone(),
            Told::Own => Told::Number(own),
            Told::Size => Told::Number(world.size),
            Told::Port(of) => Told::Number(world.things[of].port),
            Told::Number(_) | Told::Live(_) => told.clone(),
        }
    }

    /// Whether two calls of a node are told the same.
    fn is_told_same(&self, (was, old): (&Called, usize), (is, new): (&Called, usize)) -> bool {
        let values = |world: &World, call: &Called, own: usize| -> Vec<_> {
            call.inputs.iter().map(|(name, told)| (*name, self.value(world, told, own))).collect()
        };
        was.output == is.output && values(self.from, was, old) == values(self.to, is, new)
    }

    /// What differs at a node by itself.
    fn own(&self, was: &Thing, is: &Thing) -> ChangeClass {
        let place = |call: &Called| match (call.host, is.host) {
            (Some("ORCHESTRATOR"), _) => "orchestrator".to_owned(),
            (_, Some(_)) => "host".to_owned(),
            (Some("SELF"), None) => "itself".to_owned(),
            _ => "orchestrator".to_owned(),
        };
        let runs_same = |was: Option<&Called>, is: Option<&Called>| match (was, is) {
            (Some(was), Some(is)) => self.runs_same(was, is, &place),
            (was, is) => was.is_none() && is.is_none(),
        };
        let old_port = was.port;
        let told_same = |was: Option<&Called>, other: Option<&Called>| {
            let both = was.zip(other);
            both.is_none_or(|(one, other)| self.is_told_same((one, old_port), (other, is.port)))
        };
        let image =
            |was: (usize, bool), is: (usize, bool)| was.1 == is.1 && self.is_same(was.0, is.0);
        let is_same_image = match (was.image, is.image) {
            (Some(was), Some(is)) => image(was, is),
            (was, is) => was == is,
        };
        let is_deployed = [was.image, is.image].into_iter().flatten().any(|image| image.1);
        let call = |of: &'_ Thing, name: &str| of.calls.get(name).cloned();
        let create = (call(was, "create"), call(is, "create"));
        if was.kind != is.kind
            || was.is_machine != is.is_machine
            || was.host != is.host
            || was.engine != is.engine
            || !runs_same(create.0.as_ref(), create.1.as_ref())
            || is_deployed && !is_same_image
        {
            return ChangeClass::Recreate;
        }
        let calls = STANDARD.iter().map(|name| (call(was, name), call(is, name)));
        let mut calls = calls.chain([(was.check.clone(), is.check.clone())]);
        let is_same = calls.all(|(was, is)| {
            runs_same(was.as_ref(), is.as_ref()) && told_same(was.as_ref(), is.as_ref())
        });
        match is_same && is_same_image && was.port == is.port && was.limit == is.limit {
            true => ChangeClass::Keep,
            false => ChangeClass::Reconfigure,
        }
    }

    /// What stands on a node that is made again is made again.
    fn hosts(&mut self) {
        for (&at, is) in &self.to.things {
            let is_anew =
                |host: usize| matches!(self.class(host), ChangeClass::Recreate | ChangeClass::Add);
            if is.host.is_some_and(is_anew) {
                self.raise(at, ChangeClass::Recreate);
            }
        }
    }

    /// Operations that are told something else because of another node, and relations that differ.
    fn reached(&mut self) {
        let has_other_port = |at: &usize| match (self.from.things.get(at), self.to.things.get(at)) {
            (Some(was), Some(is)) => was.port != is.port,
            _ => false,
        };
        let is_anew =
            |at: &usize| matches!(self.class(*at), ChangeClass::Recreate | ChangeClass::Add);
        let size = self.from.size != self.to.size;
        let is_reached = |call: &Called| {
            call.inputs.values().any(|told| match told {
                // Where they are known, values are compared.
                Told::Size => size && !self.evaluates,
                Told::Port(of) => has_other_port(of) && !self.evaluates,
                Told::Live(of) => is_anew(of),
                Told::Number(_) | Told::Own => false,
            })
        };
        let mut reached = BTreeSet::new();
        for (&at, is) in &self.to.things {
            if is.calls.values().chain(&is.check).any(is_reached) {
                reached.insert(at);
            }
            let old = self.from.things.get(&at).map_or(&[][..], |was| &was.links);
            for (link, partner) in partners(old, &is.links) {
                for (operation, call) in &link.calls {
                    let end = if operation.ends_with("target") { link.target } else { at };
                    if operation.contains("configure") && is_reached(call) {
                        reached.insert(end);
                    }
                }
                let differing = partner.map(|was| self.link((at, is), was, link));
                reached.extend(differing.unwrap_or_default());
            }
        }
        reached.into_iter().for_each(|at| self.raise(at, ChangeClass::Reconfigure));
    }

    /// The nodes that are configured again because a relation differs.
    fn link(&self, (at, source): (usize, &Thing), was: &Link, is: &Link) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if was.user != is.user || !was.calls.keys().eq(is.calls.keys()) {
            found.insert(at);
        }
        for (operation, call) in &is.calls {
            let Some(old) = was.calls.get(operation) else { continue };
            let place = |call: &Called| {
                let is_at_target = operation.ends_with("configure_target")
                    || ["add_source", "remove_source"].contains(operation);
                let target = || self.place(is.target, &self.to.things[&is.target]);
                match call.host {
                    Some("ORCHESTRATOR") => "orchestrator".to_owned(),
                    Some("SOURCE") => self.place(at, source),
                    Some("TARGET") => target(),
                    _ if is_at_target => target(),
                    _ => self.place(at, source),
                }
            };
            let names = old.inputs.keys().eq(call.inputs.keys());
            if !self.runs_same(old, call, &place) || old.output != call.output || !names {
                found.insert(at);
            }
            let end = if operation.ends_with("target") { is.target } else { at };
            for (before, now) in
                old.inputs.iter().filter_map(|(name, it)| Some((it, call.inputs.get(name)?)))
            {
                let values =
                    (self.value(self.from, before, was.user), self.value(self.to, now, is.user));
                match values.0 != values.1 {
                    true if before != now => drop(found.insert(at)),
                    // Another value of the same function counts where the operation runs again.
                    true if operation.contains("configure") => drop(found.insert(end)),
                    _ => {}
                }
            }
        }
        found
    }

    /// Where the operations of a relation run that belong to a node.
    fn place(&self, at: usize, thing: &Thing) -> String {
        match thing.host {
            Some(host) => self
                .place(host, &self.to.things[&host])
                .replace("orchestrator", &format!("n{host}")),
            None if thing.is_machine => format!("n{at}"),
            None => "orchestrator".to_owned(),
        }
    }

    fn rewired(&mut self) {
        let mut rewired = Vec::new();
        for (at, is) in &self.to.things {
            let Some(was) = self.from.things.get(at) else { continue };
            let all = partners(&was.links, &is.links);
            let kept = all.iter().filter(|(_, partner)| partner.is_some()).count();
            if kept < all.len() || kept < was.links.len() {
                rewired.push(*at);
            }
        }
        rewired.into_iter().for_each(|at| self.raise(at, ChangeClass::Rewire));
    }

    /// What has to stop because something else does.
    fn restarts(&mut self) {
        for (at, is) in &self.to.things {
            let old = self.from.things.get(at).map_or(&[][..], |was| &was.links);
            let stays = partners(old, &is.links).into_iter().filter(|(_, was)| was.is_some());
            let anew = |(link, _): (&Link, _)| self.class(link.target) == ChangeClass::Recreate;
            let mut stays = stays;
            let host = is.host.map(|host| (host, &self.to.things[&host]));
            // Hosts come before what they host.
            let stops = |(host, thing): (usize, &Thing)| {
                let class = self.class(host);
                let is_down = matches!(class, ChangeClass::Reconfigure | ChangeClass::Restart);
                is_down && !thing.is_machine
            };
            if stays.any(anew) || host.is_some_and(stops) {
                self.raise(*at, ChangeClass::Restart);
            }
        }
    }
}

fn texts(files: &MemoryFiles) -> String {
    ["t.yaml", "types.yaml", "kinds/types.yaml"]
        .iter()
        .filter_map(|name| files.read(Path::new(name)).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

proptest! {
    #![proptest_config(cases(24))]

    /// Saying in types what was said in nodes, or the other way round, changes nothing.
    #[test]
    fn who_says_it_changes_nothing(seed in any::<u64>(), one in any::<u64>(), other in any::<u64>(), count in 1_usize..5) {
        let world = World::random(&mut Dice(seed), count);
        let (from, to) = (Writer::files(&world, one), Writer::files(&world, other));
        for (how, plan) in plans(&from, &to) {
            prop_assert!(plan.steps.is_empty(), "{how}: {}\n{}\n{}", reasons(&plan), texts(&from), texts(&to));
            let kept = classes(&plan).into_values().all(|class| class == ChangeClass::Keep);
            prop_assert!(kept, "{how}: {}", reasons(&plan));
        }
    }

    /// What differs in effect has the class that the table of classes gives it.
    #[test]
    fn what_differs_is_what_is_effective(
        seed in any::<u64>(),
        one in any::<u64>(),
        other in any::<u64>(),
        count in 1_usize..5,
        changes in 1_usize..4,
    ) {
        let mut dice = Dice(seed);
        let was = World::random(&mut dice, count);
        let mut is = was.clone();
        (0..changes).for_each(|_| is.change(&mut dice));
        let (from, to) = (Writer::files(&was, one), Writer::files(&is, other));
        for (how, plan) in plans(&from, &to) {
            let expected = Expected::of(&was, &is, how != WRITTEN);
            let found = classes(&plan);
            prop_assert_eq!(&found, &expected, "{}: {}\n{:#?}\n{:#?}\n{}\n{}", how, reasons(&plan), was, is, texts(&from), texts(&to));
            let is_kept = found.into_values().all(|class| class == ChangeClass::Keep);
            prop_assert!(!is_kept || plan.steps.is_empty());
        }
    }
}
