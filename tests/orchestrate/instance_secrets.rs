//! A law about secrets: random templates with secrets in every place, each a text of its own, and
//! everything that writes or shows something of an instance or of a plan. None of these texts is
//! anywhere afterwards. Which values are secret is taken from section "Secrets" of
//! `docs/instances.md`.
//!
//! `PROPTEST_CASES=10000 cargo test --test orchestrate instance_secrets` tries harder.

#![cfg(feature = "render")]

use crate::laws::cases;
use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use cuvee::deploy::instance::{
    DerivesFrom, EventLog, InstanceModel, InstancePlanQuery, InstanceQuery, InstanceSettings,
    LockHolder, MemoryStore, ModelAt, ModelEdit, ModelExport, ModelReading, RecordAuthor,
    RecordAuthorNow, RecordOrigin, ReportLines, SecretsMode, Store, StoredInstance, TakenReports,
    diff_models, export_bindings, export_json, export_log, export_yaml, import_instance,
    import_log, import_model, instance_names, plan_instance, query_function, read_model,
    view_entity, view_model,
};
use cuvee::deploy::plan::{
    Adaptation, OrderOptions, Plan, PlanQuery, SimulationOptions, StartStates, decide, simulate,
};
use cuvee::explore::Answer;
use cuvee::output::draw::instance as shown;
use cuvee::output::draw::plan::{
    PlanDocument, bpmn, dot, human, make, mermaid, simulated, svg, yaml,
};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use cuvee::source::value::Value;
use cuvee::{Failure, Resolver};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};
use std::io::Read;
use std::time::Duration;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Property,
    Attribute,
    CapabilityProperty,
    CapabilityAttribute,
    RelationProperty,
    RelationAttribute,
    /// An input of an operation, with its default in the type.
    TypeInput,
    /// An input of an operation that its type declares, with a value of the node.
    NodeInput,
    /// An input that the node declares itself.
    DeclaredInput,
    /// An input of an operation of a relationship, with its default in the type.
    LinkTypeInput,
    LinkInput,
    Input,
    Output,
    WorkflowInput,
    GroupProperty,
    PolicyProperty,
}

const PLACES: [Place; 16] = [
    Place::Property,
    Place::Attribute,
    Place::CapabilityProperty,
    Place::CapabilityAttribute,
    Place::RelationProperty,
    Place::RelationAttribute,
    Place::TypeInput,
    Place::NodeInput,
    Place::DeclaredInput,
    Place::LinkTypeInput,
    Place::LinkInput,
    Place::Input,
    Place::Output,
    Place::WorkflowInput,
    Place::GroupProperty,
    Place::PolicyProperty,
];

/// Why a value is secret, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Metadata,
    /// The definition refines one that says so.
    Inherited,
    Credential,
    OfCredential,
    /// A field of its data type says so.
    Field,
    /// The name of a field does.
    NamedField,
    /// Its data type says so.
    DataType,
    /// Its data type, which derives from a string, does.
    TextType,
    Name,
    /// The name contains what `--sensitive` adds.
    Pattern,
    /// An entry of a map has the name of a secret.
    Key,
    Open,
    /// Its name is that of a secret, but its definition says that it is none.
    Cleared,
}

const REASONS: [Reason; 13] = [
    Reason::Metadata,
    Reason::Inherited,
    Reason::Credential,
    Reason::OfCredential,
    Reason::Field,
    Reason::NamedField,
    Reason::DataType,
    Reason::TextType,
    Reason::Name,
    Reason::Pattern,
    Reason::Key,
    Reason::Open,
    Reason::Cleared,
];

/// What is around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Nothing,
    List,
    Map,
    /// It is a property of a data type.
    Data,
    /// It is in a list that is a property of a data type.
    ListInData,
}

const AROUND: [Around; 5] =
    [Around::Nothing, Around::List, Around::Map, Around::Data, Around::ListInData];

/// A value in a template.
#[derive(Clone, Debug)]
struct Slot {
    number: usize,
    place: Place,
    reason: Reason,
    around: Around,
    is_integer: bool,
    /// Whether its definition has it as a default.
    is_default: bool,
    /// The earlier slot that it is computed from, if any, and by which function.
    from: Option<(usize, u8)>,
}

/// Who brings a value. Each brings a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Written,
    Rewritten,
    Given,
    Reported,
    Edited,
    Wrong,
}

const ARRIVALS: [Arrival; 6] = [
    Arrival::Written,
    Arrival::Rewritten,
    Arrival::Given,
    Arrival::Reported,
    Arrival::Edited,
    Arrival::Wrong,
];

impl Slot {
    /// A part of the value of the slot that no other value has.
    fn core(&self, by: Arrival) -> String {
        let by = ARRIVALS.iter().position(|one| *one == by).unwrap();
        match self.is_integer {
            true => format!("{}", 70_430_000 + self.number * 10 + by),
            false => format!("zq{}w{by}k7hxj", self.number),
        }
    }

    fn text(&self, by: Arrival) -> serde_json::Value {
        let core = self.core(by);
        match (self.is_integer, self.number % 4) {
            (true, _) => json!(core.parse::<u64>().unwrap()),
            (_, 0) => json!(core),
            (_, 1) => json!(format!("{core}-{core}")),
            (_, 2) => json!(format!("{core} \"{core}\" \\ é {core}")),
            _ => json!(format!("{core}\n{core}\n")),
        }
    }

    fn is_secret(&self, slots: &[Slot], with_patterns: bool) -> bool {
        let of_source =
            self.from.is_some_and(|(from, _)| slots[from].is_secret(slots, with_patterns));
        match self.reason {
            Reason::Open => of_source,
            // What is said to be open is open.
            Reason::Cleared => false,
            Reason::Pattern => with_patterns || of_source,
            _ => true,
        }
    }

    /// The name of what is secret: of the slot, or of a part of it.
    fn inner_name(&self) -> String {
        const NAMES: [&str; 5] = ["db_password", "passwd", "mySecret", "API_TOKEN", "private_key"];
        match self.reason {
            Reason::Name | Reason::Cleared => {
                format!("{}{}", NAMES[self.number % NAMES.len()], self.number)
            }
            Reason::Pattern => format!("my_zebra{}", self.number),
            _ => format!("v{}", self.number),
        }
    }

    fn is_in_data(&self) -> bool {
        matches!(self.around, Around::Data | Around::ListInData)
    }

    fn name(&self) -> String {
        if self.is_in_data() { format!("v{}", self.number) } else { self.inner_name() }
    }

    /// The definition of the value itself, without what is around it.
    fn inner_type(&self) -> &'static str {
        match self.reason {
            Reason::Credential => "tosca.datatypes.Credential",
            Reason::OfCredential => "Login",
            Reason::Field => "Pinned",
            Reason::NamedField => "Named",
            Reason::DataType => "Sealed",
            Reason::TextType => "SealedText",
            Reason::Key => "map",
            _ if self.is_integer => "integer",
            _ => "string",
        }
    }

    fn schema(&self) -> serde_json::Value {
        match self.reason {
            Reason::Key => json!({"type": "map", "entry_schema": {"type": "string"}}),
            _ => json!({"type": self.inner_type()}),
        }
    }

    /// The definition of the slot; `refined` if another one refines it.
    fn definition(&self) -> serde_json::Value {
        let mut definition = match self.around {
            Around::List | Around::ListInData => {
                json!({"type": "list", "entry_schema": self.schema()})
            }
            Around::Map => json!({"type": "map", "entry_schema": self.schema()}),
            Around::Nothing | Around::Data => self.schema(),
        };
        match self.reason {
            Reason::Metadata => definition["metadata"] = json!({"sensitive": "true"}),
            Reason::Cleared => definition["metadata"] = json!({"sensitive": "false"}),
            // Where nothing can be inherited, the definition says so itself.
            Reason::Inherited if self.is_in_data() || self.place != Place::Property => {
                definition["metadata"] = json!({"sensitive": true});
            }
            _ => {}
        }
        match self.is_in_data() {
            true => json!({"type": format!("Data{}", self.number)}),
            false => definition,
        }
    }

    /// The data type that is around the value, if there is one.
    fn data_type(&self) -> Option<(String, serde_json::Value)> {
        let outer = Self {
            around: match self.around {
                Around::Data => Around::Nothing,
                Around::ListInData => Around::List,
                _ => return None,
            },
            ..self.clone()
        };
        let properties =
            json!({outer.inner_name(): outer.definition(), "other": {"type": "string"}});
        Some((format!("Data{}", self.number), json!({"properties": properties})))
    }

    /// The value with a text of its own.
    fn value(&self, by: Arrival) -> serde_json::Value {
        self.value_of(self.text(by))
    }

    fn value_of(&self, text: serde_json::Value) -> serde_json::Value {
        let value = match self.reason {
            Reason::Credential | Reason::OfCredential => json!({"token": text, "user": "ann"}),
            Reason::Field => json!({"pin": text, "user": "ann"}),
            Reason::NamedField => json!({"door_password": text, "user": "ann"}),
            Reason::DataType => json!({"a": text}),
            Reason::Key => json!({"user": "ann", "session_token": text}),
            _ => text,
        };
        match self.around {
            Around::Nothing => value,
            Around::List => json!([value]),
            Around::Map => json!({"one": value}),
            Around::Data => json!({self.inner_name(): value, "other": "x"}),
            Around::ListInData => json!({self.inner_name(): [value], "other": "x"}),
        }
    }

    /// A value that its definition rejects.
    fn wrong(&self) -> serde_json::Value {
        self.value_of(json!({"zz": self.text(Arrival::Wrong)}))
    }

    /// The arguments that lead a function to the text of the slot.
    fn path(&self) -> Vec<serde_json::Value> {
        let mut path = Vec::new();
        match self.around {
            Around::Nothing => {}
            Around::List => path.push(json!(0)),
            Around::Map => path.push(json!("one")),
            Around::Data => path.push(json!(self.inner_name())),
            Around::ListInData => path.extend([json!(self.inner_name()), json!(0)]),
        }
        match self.reason {
            Reason::Credential | Reason::OfCredential => path.push(json!("token")),
            Reason::Field => path.push(json!("pin")),
            Reason::NamedField => path.push(json!("door_password")),
            Reason::DataType => path.push(json!("a")),
            Reason::Key => path.push(json!("session_token")),
            _ => {}
        }
        path
    }

    /// A call that gives the text of the slot; `None` if functions cannot read it.
    fn read(&self) -> Option<serde_json::Value> {
        let (function, before) = match self.place {
            Place::Property => ("get_property", vec![json!("shop"), json!(self.name())]),
            Place::Attribute => ("get_attribute", vec![json!("shop"), json!(self.name())]),
            Place::CapabilityProperty => {
                ("get_property", vec![json!("shop"), json!("door"), json!(self.name())])
            }
            Place::Input => ("get_input", vec![json!(self.name())]),
            _ => return None,
        };
        let arguments = [before, self.path()].concat();
        Some(json!({function: arguments}))
    }

    /// The value of the slot in a template.
    fn written(&self, slots: &[Slot], by: Arrival) -> serde_json::Value {
        let Some((from, function)) = self.from else { return self.value(by) };
        let read = slots[from].read().unwrap();
        match function % 4 {
            // A number is no text.
            0 if !slots[from].is_integer => read,
            0 | 1 => json!({"concat": ["at ", read, "/x"]}),
            2 => json!({"join": [[read, "x"], "+"]}),
            _ => json!({"token": [read, "-", 0]}),
        }
    }
}

/// A random slot; what does not fit is made fit.
fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let choice = (0..PLACES.len(), 0..REASONS.len(), 0..AROUND.len(), any::<[bool; 2]>());
    let from = proptest::option::weighted(0.4, (any::<prop::sample::Index>(), any::<u8>()));
    vec((choice, from), 1..9).prop_map(|seeds| {
        let mut slots: Vec<Slot> = Vec::new();
        for ((place, reason, around, [is_integer, is_default]), from) in seeds {
            let [place, reason, around] = [place, reason, around];
            let mut slot = Slot {
                number: slots.len(),
                place: PLACES[place],
                reason: REASONS[reason],
                around: AROUND[around],
                is_integer: is_integer
                    && matches!(
                        REASONS[reason],
                        Reason::Metadata | Reason::Name | Reason::Pattern | Reason::Open
                    ),
                is_default,
                from: None,
            };
            let readable: Vec<_> = slots.iter().filter(|slot| slot.read().is_some()).collect();
            let computes = !matches!(slot.place, Place::Input | Place::WorkflowInput);
            if let Some((index, function)) = from
                && computes
                && !readable.is_empty()
            {
                slot.from = Some((index.get(&readable).number, function));
                slot.around = Around::Nothing;
                slot.is_integer = false;
                // `init` takes values for unresolved whose types compute their defaults.
                slot.is_default &= slot.place == Place::DeclaredInput;
                // A definition that clears what it computes would show its sources.
                if !matches!(slot.reason, Reason::Metadata | Reason::Name) {
                    slot.reason = Reason::Open;
                }
            }
            slots.push(slot);
        }
        slots
    })
}

type Entries = Map<String, serde_json::Value>;

/// A template with slots, whose values are those of `by`.
struct Template<'s> {
    slots: &'s [Slot],
    by: &'s dyn Fn(&Slot) -> serde_json::Value,
}

impl Template<'_> {
    fn of(&self, place: Place) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| slot.place == place)
    }

    /// The definitions of the slots of a place, each with its default.
    fn definitions(&self, place: Place) -> Entries {
        let definition = |slot: &Slot| {
            let mut definition = slot.definition();
            let has_default =
                slot.is_default || matches!(slot.place, Place::TypeInput | Place::LinkTypeInput);
            match has_default {
                true => definition["default"] = (self.by)(slot),
                false => definition["required"] = json!(false),
            }
            (slot.name(), definition)
        };
        self.of(place).map(definition).collect()
    }

    /// The values of the slots of a place that no default gives.
    fn values(&self, place: Place) -> Entries {
        let own = self.of(place).filter(|slot| !slot.is_default);
        own.map(|slot| (slot.name(), (self.by)(slot))).collect()
    }

    fn node_types(&self) -> serde_json::Value {
        let inherited = self.of(Place::Property).filter(|slot| slot.reason == Reason::Inherited);
        let marked = inherited.map(|slot| {
            let mut definition = slot.definition();
            definition["required"] = json!(false);
            definition["metadata"] = json!({"sensitive": "true"});
            (slot.name(), definition)
        });
        let marked: Entries = marked.collect();
        let mut inputs = self.definitions(Place::TypeInput);
        inputs.extend(self.definitions(Place::NodeInput));
        json!({
            "Base": {"derived_from": "SoftwareComponent", "properties": marked},
            "App": {
                "derived_from": "Base",
                "properties": self.definitions(Place::Property),
                "attributes": self.definitions(Place::Attribute),
                "capabilities": {"door": "Door"},
                "requirements": [{"peer": {
                    "capability": "tosca.capabilities.Node",
                    "relationship": "Link",
                    "occurrences": [0, 1],
                }}],
                "interfaces": {"Standard": {"operations": {
                    "create": {"implementation": "create.sh", "inputs": inputs},
                    "start": "start.sh",
                }}},
            },
        })
    }

    fn types(&self) -> Entries {
        let mut data: Entries = self.slots.iter().filter_map(Slot::data_type).collect();
        let fixed = json!({
            "Login": {"derived_from": "tosca.datatypes.Credential"},
            "Pinned": {"properties": {
                "pin": {"type": "string", "metadata": {"sensitive": "true"}},
                "user": {"type": "string"},
            }},
            "Named": {"properties": {
                "door_password": {"type": "string"}, "user": {"type": "string"},
            }},
            "Sealed": {"metadata": {"sensitive": "true"}, "properties": {"a": {"type": "string"}}},
            "SealedText": {"derived_from": "string", "metadata": {"sensitive": "true"}},
        });
        data.extend(fixed.as_object().unwrap().clone());
        let mut link_inputs = self.definitions(Place::LinkTypeInput);
        link_inputs.extend(self.definitions(Place::LinkInput));
        let types = json!({
            "data_types": data,
            "capability_types": {"Door": {
                "derived_from": "tosca.capabilities.Root",
                "properties": self.definitions(Place::CapabilityProperty),
                "attributes": self.definitions(Place::CapabilityAttribute),
            }},
            "relationship_types": {"Link": {
                "derived_from": "tosca.relationships.DependsOn",
                "properties": self.definitions(Place::RelationProperty),
                "attributes": self.definitions(Place::RelationAttribute),
                "interfaces": {"Configure": {"operations": {"pre_configure_source": {
                    "implementation": "link.sh",
                    "inputs": link_inputs,
                }}}},
            }},
            "node_types": self.node_types(),
            "group_types": {"Zone": {
                "derived_from": "tosca.groups.Root",
                "properties": self.definitions(Place::GroupProperty),
            }},
            "policy_types": {"Rule": {
                "derived_from": "tosca.policies.Root",
                "properties": self.definitions(Place::PolicyProperty),
            }},
        });
        types.as_object().unwrap().clone()
    }

    /// Inputs of operations that a template declares itself, or just assigns.
    fn assigned(&self, assigned: Place, declared: Option<Place>) -> Entries {
        let mut inputs = self.values(assigned);
        for slot in declared.into_iter().flat_map(|place| self.of(place)) {
            let mut definition = slot.definition();
            definition[if slot.is_default { "default" } else { "value" }] = (self.by)(slot);
            inputs.insert(slot.name(), definition);
        }
        inputs
    }

    fn nodes(&self) -> serde_json::Value {
        let inputs = self.assigned(Place::NodeInput, Some(Place::DeclaredInput));
        json!({
            "house": {"type": "Compute"},
            "shop": {
                "type": "App",
                "properties": self.values(Place::Property),
                "attributes": self.values(Place::Attribute),
                "capabilities": {"door": {
                    "properties": self.values(Place::CapabilityProperty),
                    "attributes": self.values(Place::CapabilityAttribute),
                }},
                "requirements": [
                    {"host": "house"},
                    {"peer": {"node": "other", "relationship": "link"}},
                ],
                "interfaces": {"Standard": {"operations": {"create": {"inputs": inputs}}}},
            },
            "other": {"type": "App", "requirements": [{"host": "house"}]},
        })
    }

    fn text(&self) -> String {
        let outputs = self.of(Place::Output).map(|slot| {
            let mut definition = slot.definition();
            definition["value"] = (self.by)(slot);
            (slot.name(), definition)
        });
        let outputs: Entries = outputs.collect();
        let audit = json!({
            "inputs": self.definitions(Place::WorkflowInput),
            "steps": {"look": {"target": "shop", "activities": [
                {"call_operation": {"operation": "Standard.create", "inputs":
                    self.assigned(Place::NodeInput, None)}},
            ]}},
        });
        let link = json!({
            "type": "Link",
            "properties": self.values(Place::RelationProperty),
            "attributes": self.values(Place::RelationAttribute),
            "interfaces": {"Configure": {"operations": {"pre_configure_source": {
                "inputs": self.assigned(Place::LinkInput, None)}}}},
        });
        let mut document = self.types();
        document.insert("tosca_definitions_version".into(), json!("tosca_simple_yaml_1_3"));
        document.insert(
            "topology_template".into(),
            json!({
                "inputs": self.definitions(Place::Input),
                "node_templates": self.nodes(),
                "relationship_templates": {"link": link},
                "groups": {"zone": {"type": "Zone", "members": ["shop"],
                    "properties": self.values(Place::GroupProperty)}},
                "policies": [{"rule": {"type": "Rule", "targets": ["shop"],
                    "properties": self.values(Place::PolicyProperty)}}],
                "workflows": {"audit": audit},
                "outputs": outputs,
            }),
        );
        serde_json::to_string_pretty(&document).unwrap()
    }
}

/// Everything that was shown, each with what showed it.
#[derive(Default)]
struct Told(Vec<(String, String)>);

impl Told {
    fn add(&mut self, by: impl Into<String>, text: impl Into<String>) {
        self.0.push((by.into(), text.into()));
    }

    fn failure(&mut self, by: &str, failure: &Failure) {
        self.add(format!("messages of {by}"), failure.render());
        self.add(
            format!("messages of {by} as JSON"),
            cuvee::diagnostic::render::json(
                failure.diagnostics.iter().map(|it| (it, &failure.sources)),
            ),
        );
    }

    /// The result, unless it is an error.
    fn result<T>(&mut self, by: &str, result: Result<Answer<T>, Failure>) -> Option<Answer<T>> {
        match result {
            Ok(answer) => {
                let found = answer.warnings.iter().map(|it| (it, &answer.sources));
                self.add(format!("warnings of {by}"), cuvee::diagnostic::render::plain(found));
                Some(answer)
            }
            Err(failure) => {
                self.failure(by, &failure);
                None
            }
        }
    }

    /// A plan in all formats.
    fn plan(&mut self, by: &str, planned: Result<Answer<Plan>, Failure>) -> Option<String> {
        let answer = self.result(by, planned)?;
        let plan = &answer.result;
        let document = PlanDocument::of(plan, &answer.sources, false);
        let written = serde_json::to_string(&document).unwrap();
        let how = SimulationOptions::default();
        if let Ok(simulation) = simulate(plan, &StartStates::default(), &how) {
            let document = PlanDocument::of(plan, &answer.sources, false).simulated(&simulation);
            self.add(format!("{by} simulated"), simulated(plan, &simulation));
            self.add(format!("{by} simulated"), serde_json::to_string(&document).unwrap());
        }
        for (format, text) in [
            ("human", human(plan, true, false)),
            ("json", written.clone()),
            ("mermaid", mermaid(plan)),
            ("dot", dot(plan)),
            ("svg", svg(plan)),
            ("bpmn", bpmn(plan, false)),
            (
                "make",
                decide(plan, &StartStates::default()).map_or_else(
                    |failure| format!("{failure:?}"),
                    |decided| make(plan, &decided, false),
                ),
            ),
            ("yaml", yaml(plan).unwrap_or_default()),
        ] {
            self.add(format!("{by} as {format}"), text);
        }
        Some(written.replacen('{', "{\"version\":1,", 1))
    }

    /// A model in all forms in which it is shown.
    fn model(&mut self, by: &str, model: &InstanceModel) {
        let reading = ModelReading { unstable: true, ..ModelReading::default() };
        let view = view_model(model, &reading);
        self.add(format!("{by}: show"), shown::model(&view));
        self.add(format!("{by}: show"), serde_json::to_string(&view).unwrap());
        let relations = model
            .relations()
            .map(|(source, name, it)| format!("relation.{name}@{}.node.{source}", it.position));
        let nodes = model.nodes.keys().map(ToString::to_string);
        let inputs = model.inputs.keys().map(|name| format!("input.{name}"));
        let outputs = model.outputs.keys().map(|name| format!("output.{name}"));
        let others = ["group.zone".to_owned(), "policy.rule".to_owned()];
        for entity in nodes.chain(relations).chain(inputs).chain(outputs).chain(others) {
            match view_entity(model, &entity, &reading) {
                Ok(view) => {
                    self.add(format!("{by}: show {entity}"), shown::entity(&view));
                    self.add(format!("{by}: show"), serde_json::to_string(&view).unwrap());
                }
                Err(error) => self.failure(by, &error.into()),
            }
        }
        for path in [
            "nodes/properties",
            "nodes/attributes",
            "nodes/capabilities/door/properties",
            "nodes/capabilities/door/attributes",
            "inputs",
            "outputs",
            "groups/properties",
            "policies/properties",
        ] {
            let query = InstanceQuery::parse(path, FileId::DETACHED).unwrap();
            match query.run(model, &reading) {
                Ok(answer) => self.add(format!("{by}: query {path}"), shown::rows(&answer.rows)),
                Err(error) => self.failure(by, &error.into()),
            }
        }
        let how = ModelExport { unstable: true, ..ModelExport::default() };
        for export in [export_yaml, export_json, export_bindings] {
            self.add(format!("{by}: export"), export(model, how));
        }
    }
}

/// Runs commands, and collects what they tell.
struct Run<'s> {
    slots: &'s [Slot],
    store: MemoryStore,
    holder: LockHolder,
    told: Told,
    mode: SecretsMode,
}

impl Run<'_> {
    fn author(&self, origin: RecordOrigin) -> RecordAuthor<'_> {
        let time = "2026-01-01T00:00:00Z".parse().unwrap();
        RecordAuthor { holder: &self.holder, timeout: Duration::from_secs(1), time, origin }
    }

    /// The variant whose odd slots have other values in the second template.
    fn resolver(&self, by: Arrival) -> Resolver {
        let value = |slot: &Slot| {
            let by = if slot.number % 2 == 1 { by } else { Arrival::Written };
            slot.written(self.slots, by)
        };
        let text = Template { slots: self.slots, by: &value }.text();
        Resolver::from_text("shop.yaml", text)
    }

    fn given(&self, resolver: Resolver) -> Resolver {
        let inputs = self.slots.iter().filter(|slot| slot.place == Place::Input);
        inputs.fold(resolver, |resolver, slot| {
            resolver.deployment_input(slot.name(), value(&slot.value(Arrival::Given)))
        })
    }

    /// Plans and reports without an instance.
    fn without_instance(&mut self) {
        let (from, to) = (self.resolver(Arrival::Written), self.resolver(Arrival::Rewritten));
        let inputs = self.slots.iter().filter(|slot| slot.place == Place::WorkflowInput);
        let inputs = inputs.map(|slot| (slot.name(), value(&slot.value(Arrival::Given))));
        let audit = PlanQuery {
            workflow: "audit".to_owned(),
            inputs: inputs.collect(),
            ..PlanQuery::default()
        };
        let given = self.given(from.clone()).evaluate_functions();
        for (by, query) in [("plan", PlanQuery::default()), ("audit", audit)] {
            self.told.plan(by, from.plan(&query));
            self.told.plan(by, given.plan(&query));
        }
        let adapted = from.adapt(&to, &Adaptation::default(), &OrderOptions::default());
        self.told.plan("plan --from --to", adapted);
        match from.report(&["cuvee".to_owned()]) {
            Ok(page) => self.told.add("report", page),
            Err(failure) => self.told.failure("report", &failure),
        }
    }

    /// The messages about a template in which one value is wrong.
    fn rejected(&mut self) {
        // One slot is enough, since each of them is the last one of some template.
        for wrong in self.slots.iter().rev().filter(|slot| slot.from.is_none()).take(1) {
            let value = |slot: &Slot| match slot.number == wrong.number {
                true => wrong.wrong(),
                false => slot.written(self.slots, Arrival::Written),
            };
            let text = Template { slots: self.slots, by: &value }.text();
            let resolver = Resolver::from_text("shop.yaml", text);
            let found = resolver.validate();
            let found = found.diagnostics.iter().map(|it| (it, &found.sources));
            self.told.add("validate", cuvee::diagnostic::render::plain(found));
            self.told.result("plan", resolver.plan(&PlanQuery::default()));
            let settings = InstanceSettings::default();
            let author = RecordAuthor { holder: &self.holder, ..self.author(RecordOrigin::Client) };
            let begun = resolver.init_instance(&self.store, "wrong", &settings, &author);
            self.told.result("init", begun);
        }
    }

    fn init(&mut self) -> bool {
        let settings = InstanceSettings {
            secrets: self.mode,
            sensitive: vec!["zebra".to_owned()],
            ..InstanceSettings::default()
        };
        let resolver = self.given(self.resolver(Arrival::Written));
        let author = RecordAuthor { holder: &self.holder, ..self.author(RecordOrigin::Client) };
        let begun = resolver.init_instance(&self.store, "shop", &settings, &author);
        self.told.result("init", begun).is_some()
    }

    /// Plans for the instance, and carries the plan out if it can be.
    fn adapt(&mut self, by: Arrival) {
        let resolver = self.resolver(by);
        let (store, holder) = (&self.store, &self.holder);
        let author = RecordAuthor { holder, ..self.author(RecordOrigin::Client) };
        let mut instance = StoredInstance::open(store, "shop").unwrap();
        let query = InstancePlanQuery { name: "shop".into(), ..InstancePlanQuery::default() };
        let resolver = instance.with_inputs(resolver);
        let planned = plan_instance(&mut instance, &self.given(resolver), &query, &author);
        let repaired = instance.plan_repair(&query);
        let removed = instance.plan_removal(&query);
        let planned = planned.map(|(answer, _)| answer);
        let planned = self.told.plan("instance plan", planned);
        self.told.plan("instance plan (repair)", repaired);
        self.told.plan("instance plan --undeploy", removed);
        let Some(document) = planned else { return };
        match instance.apply(&document, &author, None, true) {
            Ok(changed) => self.told.add("apply", format!("{:?}", changed.warnings)),
            Err(error) => self.told.failure("apply", &error.into()),
        }
    }

    /// Reports a value for each slot that can have one, and one that is rejected.
    fn report(&mut self) {
        for by in [Arrival::Reported, Arrival::Wrong] {
            for slot in self.slots {
                let value = if by == Arrival::Wrong { slot.wrong() } else { slot.value(by) };
                let (name, value) = (slot.name(), value);
                let report = match slot.place {
                    Place::Attribute => json!({"node": "shop", "attributes": {name: value}}),
                    Place::CapabilityAttribute => {
                        json!({"node": "shop", "capabilities": {"door": {name: value}}})
                    }
                    Place::Output => json!({"outputs": {name: value}}),
                    // Of metadata only names say anything.
                    _ if slot.reason == Reason::Name && !slot.is_in_data() => {
                        json!({"node": "other", "metadata": {name: value}})
                    }
                    _ => continue,
                };
                self.streamed(&report.to_string());
            }
        }
    }

    fn streamed(&mut self, line: &str) {
        let author = RecordAuthorNow {
            holder: self.holder.clone(),
            timeout: Duration::from_secs(1),
            time: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut instance = StoredInstance::open(&self.store, "shop").unwrap();
        let mut lines = Some(ReportLines { author, lines: vec![line.to_owned()] });
        let mut told = String::new();
        let streamed = instance.stream(TakenReports::default(), false, &mut |answers| {
            told += &serde_json::to_string(answers).unwrap();
            Ok(lines.take())
        });
        self.told.add("record --stream", told);
        if let Err(failure) = streamed {
            self.told.failure("record --stream", &failure);
        }
    }

    fn edit(&mut self) {
        for by in [Arrival::Edited, Arrival::Wrong] {
            for slot in self.slots {
                let name = slot.name();
                let path = match slot.place {
                    Place::Property => format!("nodes/shop/properties/{name}"),
                    Place::Attribute => format!("nodes/shop/attributes/{name}"),
                    Place::CapabilityProperty => {
                        format!("nodes/shop/capabilities/door/properties/{name}")
                    }
                    Place::CapabilityAttribute => {
                        format!("nodes/shop/capabilities/door/attributes/{name}")
                    }
                    Place::GroupProperty => format!("groups/zone/properties/{name}"),
                    Place::Input => format!("inputs/{name}"),
                    Place::Output => format!("outputs/{name}"),
                    _ => continue,
                };
                let said = if by == Arrival::Wrong { slot.wrong() } else { slot.value(by) };
                let edit = ModelEdit::Set { path, value: Some(value(&said)) };
                let mut instance = StoredInstance::open(&self.store, "shop").unwrap();
                let author = self.author(RecordOrigin::Edit);
                if let Err(failure) = instance.edit(&edit, &author, None, false) {
                    self.told.failure("edit", &failure);
                }
            }
        }
    }

    /// Shows all of the instance, and of what changed in it.
    fn show(&mut self, name: &str) {
        let model = read_model(&self.store, name, ModelAt::Latest).unwrap();
        let first = read_model(&self.store, name, ModelAt::Revision(1)).unwrap();
        self.told.model(name, &model);
        let differences = diff_models(&first, &model);
        self.told.add("diff", serde_json::to_string(&differences).unwrap());
        let mut log = EventLog::open_at_start(&self.store, name).unwrap();
        while let Some(record) = log.next_record().unwrap() {
            self.told.add("log", shown::log_line(&record, false).unwrap());
            self.told.add("log --format json", record.line_without_secrets());
        }
        let instance = StoredInstance::open(&self.store, name).unwrap();
        if model.target.is_kept() {
            match instance.template(&model, false) {
                Ok(text) => self.told.add("export --format template", text),
                Err(failure) => self.told.failure("export --format template", &failure),
            }
        }
        let derives: DerivesFrom<'_> = &|one, other| one == other;
        let reading = ModelReading { derives, unstable: true, ..ModelReading::default() };
        for call in self.slots.iter().filter_map(Slot::read) {
            for call in [json!({"concat": ["x", call]}), call] {
                let text = call.to_string();
                let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
                match query_function(&model, document.root(), None, &reading) {
                    Ok(value) => self.told.add("query --function", format!("{value:?}")),
                    Err(error) => self.told.failure("query --function", &error.into()),
                }
            }
        }
    }

    /// Imports what was exported.
    fn import(&mut self) {
        let model = read_model(&self.store, "shop", ModelAt::Latest).unwrap();
        let exported = export_log(&self.store, "shop").unwrap();
        assert!(exported.warnings.is_empty(), "{:?}", exported.warnings);
        // The log of an instance that keeps its secrets contains them.
        if self.mode != SecretsMode::Keep {
            self.told.add("export --format log", exported.text.as_str());
        }
        let author = self.author(RecordOrigin::Import);
        let imported = import_log(&self.store, "again", &exported.text, &author).unwrap();
        assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
        let text = export_yaml(&model, ModelExport { unstable: true, ..ModelExport::default() });
        let document = parse(FileId::DETACHED, text.as_str().into(), &Limits::default()).unwrap();
        let model = import_model(document.root()).unwrap();
        import_instance(&self.store, "copy", &model, &author).unwrap();
    }

    fn run(&mut self) {
        self.without_instance();
        self.rejected();
        assert!(self.init(), "{:?}", self.told.0.last());
        self.adapt(Arrival::Written);
        self.report();
        self.edit();
        self.adapt(Arrival::Rewritten);
        self.show("shop");
        self.import();
        self.show("copy");
        self.show("again");
    }
}

fn value(of: &serde_json::Value) -> Value {
    serde_json::from_value(of.clone()).unwrap()
}

/// What a text looks like in Base64, whatever is around it.
fn encoded(core: &str) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let text = format!("{}{core}", "\0".repeat(before));
        for engine in [BASE64_STANDARD, BASE64_URL_SAFE] {
            let encoded = engine.encode(&text);
            let start = (before * 8).div_ceil(6);
            all.push(encoded[start..text.len() * 8 / 6].to_owned());
        }
    }
    all
}

/// The contents of all files of a store.
fn stored(store: &MemoryStore) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for instance in instance_names(store).unwrap() {
        for file in store.files(&instance).unwrap() {
            let mut bytes = Vec::new();
            store.read(&instance, &file.name, 0).unwrap().read_to_end(&mut bytes).unwrap();
            all.push((format!("{instance}/{}", file.name), bytes));
        }
    }
    all
}

/// All secrets that are somewhere.
fn leaks(run: &Run<'_>, template: &str) -> Vec<String> {
    let mut places = Vec::new();
    for (by, text) in &run.told.0 {
        // Without an instance nobody has said which further names are secret.
        let knows_patterns =
            !["plan", "audit", "report", "validate", "init", "warnings", "messages"]
                .iter()
                .any(|it| by.starts_with(it));
        places.push((by.clone(), text.as_bytes().to_vec(), knows_patterns));
    }
    if run.mode != SecretsMode::Keep {
        places.extend(stored(&run.store).into_iter().map(|(name, bytes)| {
            let knows_patterns = !name.starts_with("wrong/");
            (format!("store: {name}"), bytes, knows_patterns)
        }));
    }
    found_in(run.slots, &places, template)
}

/// A place, what is there, and whether whoever wrote that knew which further names are secret.
type SearchedPlace = (String, Vec<u8>, bool);

/// The secrets of a template in places.
fn found_in(slots: &[Slot], places: &[SearchedPlace], template: &str) -> Vec<String> {
    let (mut forms, mut of) = (Vec::new(), Vec::new());
    for slot in slots {
        for by in ARRIVALS {
            let core = slot.core(by);
            for form in encoded(&core).into_iter().chain([core]) {
                forms.push(form);
                of.push((slot, by));
            }
        }
    }
    let finder = AhoCorasick::new(&forms).unwrap();
    let mut found = Vec::new();
    for (place, bytes, knows_patterns) in places {
        for leaked in finder.find_iter(bytes) {
            let (slot, by) = of[leaked.pattern().as_usize()];
            if slot.is_secret(slots, *knows_patterns) {
                let around =
                    leaked.start().saturating_sub(120)..(leaked.end() + 60).min(bytes.len());
                let around = String::from_utf8_lossy(&bytes[around]);
                found.push(format!("{place} tells what {by:?} in {slot:?}: ...{around}..."));
            }
        }
    }
    if !found.is_empty() {
        found.truncate(6);
        found.push(template.to_owned());
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 400, ..cases(24) })]

    #[test]
    fn no_secret_is_told(slots in slots(), mode in 0..3_usize) {
        let mode = [SecretsMode::Digest, SecretsMode::Drop, SecretsMode::Keep][mode];
        let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
        let (store, told) = (MemoryStore::new(7), Told::default());
        let mut run = Run { slots: &slots, store, holder, told, mode };
        run.run();
        let value = |slot: &Slot| slot.written(&slots, Arrival::Written);
        let template = Template { slots: &slots, by: &value }.text();
        let found = leaks(&run, &template);
        prop_assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// A directory with a template whose scripts tell all that they are given.
#[cfg(all(unix, feature = "cli"))]
struct CommandTrial {
    directory: tempfile::TempDir,
    places: Vec<SearchedPlace>,
}

#[cfg(all(unix, feature = "cli"))]
impl CommandTrial {
    fn new(slots: &[Slot], template: &str) -> Self {
        use std::fs::write;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        write(path.join("shop.yaml"), template).unwrap();
        let of = |place| slots.iter().filter(move |slot: &&Slot| slot.place == place);
        let inputs = of(Place::Input).map(|slot| (slot.name(), slot.value(Arrival::Given)));
        write(path.join("inputs.yaml"), json!(inputs.collect::<Entries>()).to_string()).unwrap();
        let outputs = of(Place::Attribute).map(|slot| (slot.name(), slot.value(Arrival::Reported)));
        write(path.join("outputs.json"), json!(outputs.collect::<Entries>()).to_string()).unwrap();
        let tells = "env\ncat $CUVEE_INPUTS\nbase64 <$CUVEE_INPUTS | tr -d '\\n'\necho\n";
        write(path.join("create.sh"), tells).unwrap();
        write(path.join("link.sh"), tells).unwrap();
        // What is computed from a secret at one node is none where another node reports it.
        let outputs = path.join("outputs.json");
        let reports = format!(
            "case $CUVEE_STEP in node.shop/*) cp {} $CUVEE_OUTPUTS;; esac\n",
            outputs.display()
        );
        write(path.join("start.sh"), reports).unwrap();
        Self { directory, places: Vec::new() }
    }

    /// Runs a command, and keeps what it tells. Returns whether it succeeded.
    fn run(&mut self, words: &[&str]) -> bool {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cuvee"));
        command.arg("instance").args(words).current_dir(self.directory.path());
        command.env("CUVEE_STORE", "store").env("USER", "ann");
        let output = command.output().unwrap();
        self.places.push((words.join(" "), [output.stdout, output.stderr].concat(), true));
        output.status.success()
    }

    /// Adds all files below a directory.
    fn keep_files(&mut self, directory: &std::path::Path, is_meant: &dyn Fn(&str) -> bool) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            match path.is_dir() {
                true => self.keep_files(&path, is_meant),
                false if is_meant(&name) => {
                    self.places.push((name, std::fs::read(&path).unwrap(), true));
                }
                false => {}
            }
        }
    }
}

#[cfg(all(unix, feature = "cli"))]
proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..cases(2) })]

    #[test]
    fn no_secret_is_told_by_a_run(slots in slots(), mode in 0..3_usize) {
        let mode = ["digest", "drop", "keep"][mode];
        let value = |slot: &Slot| slot.written(&slots, Arrival::Written);
        let template = Template { slots: &slots, by: &value }.text();
        let mut trial = CommandTrial::new(&slots, &template);
        let run = [
            "run", "shop", "shop.yaml", "--deployment-inputs", "inputs.yaml", "--secrets", mode,
            "--sensitive", "zebra", "--provider", "house=local", "--yes", "--verbose",
        ];
        trial.run(&[&run[..], &["--dry-run"]].concat());
        let is_done = trial.run(&[&run[..], &["--format", "json"]].concat());
        trial.run(&["show", "shop"]);
        trial.run(&["log", "shop", "--format", "json"]);
        trial.run(&["export", "shop", "--format", "log"]);
        trial.run(&["check", "shop"]);
        let store = trial.directory.path().join("store");
        trial.keep_files(&store, &|name| mode != "keep" || name.contains("/runs/"));
        let found = found_in(&slots, &trial.places, &template);
        prop_assert!(found.is_empty(), "{}", found.join("\n"));
        let told: Vec<_> =
            trial.places.iter().take(2).map(|(_, it, _)| String::from_utf8_lossy(it)).collect();
        // Dropped secrets cannot be given to scripts, and what `shop` reports not to those before it.
        let is_early = told.iter().any(|it| it.contains("of `shop`, which nobody gave"));
        let is_expected = is_early || mode == "drop";
        prop_assert!(is_done || is_expected, "{}\n{template}", told.join("\n"));
    }
}
