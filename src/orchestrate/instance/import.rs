//! Imports instances from exports and logs of other stores.

use super::apply::impossible;
use super::begin::{BegunInstance, random_name};
use super::blobs::{NamedBlobs, of_target};
use super::event::{Event, NodeAdded, ReportOutcome};
use super::log_text::ExportedLines;
use super::model::{
    Annotations, ByName, GroupInstance, InstanceModel, InstanceState, InstanceTarget,
    ReportedValue, SecretsMode, relation_identifier,
};
use super::open::RecordAuthor;
use super::secrets::KeptSecrets;
use super::store::{Draft, EventLog, MemoryStore, Store};
use crate::diagnostic::{Code, Diagnostic};
use cuvee_text::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Makes an instance of a model. One record contains all that is known of it. The instance has a
/// lineage of its own. It knows only the name of its target's template, so it has to be planned
/// anew. Returns its revision.
///
/// # Errors
/// `instance-name`, `instance-exists`, `store-locked`, `file`
pub fn import_instance(
    store: &dyn Store,
    name: &str,
    model: &InstanceModel,
    author: &RecordAuthor<'_>,
) -> Result<u64, Diagnostic> {
    let begun = BegunInstance {
        lineage: random_name(store)?,
        uri: model.uri.to_string(),
        secrets: model.secrets,
        sensitive: model.sensitive.clone(),
        target: target(&model.target),
        beside: beside(model),
    };
    let actor = author.holder.actor.as_str();
    let said = (author.time.to_string(), actor, author.origin);
    let (_, mut events) = begun.events(model, said).map_err(impossible)?;
    let (log, ()) = EventLog::create(store, name, author.holder, author.timeout, |writer| {
        let secrets = KeptSecrets::new(model.secrets, writer.put_key()?, &model.sensitive);
        events.iter_mut().for_each(|event| seal(event, &secrets));
        let (time, origin, key) = (author.time, author.origin, None);
        let events = &events;
        writer.commit(&[Draft { time, actor, origin, orchestration: None, key, events }])?;
        Ok(())
    })?;
    Ok(log.revision())
}

/// The names of a target whose texts are not kept here.
fn target(of: &InstanceTarget) -> Option<InstanceTarget> {
    let unkept = InstanceTarget { digest: "".into(), ..of.clone() };
    (unkept != InstanceTarget::default()).then_some(unkept)
}

/// The events for what no target contains: states, links of nodes, and annotations of inputs and
/// outputs.
fn beside<'m>(model: &'m InstanceModel) -> Vec<Event> {
    let mut events = Vec::new();
    let initial = InstanceState::default();
    let mut state = |entity: String, to: &InstanceState| {
        if *to != initial {
            let (entity, from, to) = (entity.into(), initial.clone(), to.clone());
            events.push(Event::State { entity, from, to, skipped: Vec::new(), forced: false });
        }
    };
    for (id, node) in &model.nodes {
        state(format!("node.{id}"), &node.state);
    }
    for (source, requirement, relation) in model.relations() {
        state(relation_identifier(source, requirement, relation.position), &relation.state);
    }
    let none = ByName::new();
    let of_nodes = model.nodes.iter().map(|(id, node)| ("node", id, &node.links, &none));
    let said = |kind, said: &'m ByName<Annotations>| {
        said.iter().map(move |(name, it)| (kind, name, &it.links, &it.metadata))
    };
    let of_inputs = said("input", &model.input_annotations);
    let of_outputs = said("output", &model.output_annotations);
    for (kind, name, links, metadata) in of_nodes.chain(of_inputs).chain(of_outputs) {
        let entity: Arc<str> = format!("{kind}.{name}").into();
        for (name, uri) in links {
            let (entity, name, uri) = (Arc::clone(&entity), Arc::clone(name), Arc::clone(uri));
            events.push(Event::Linked { entity, name, uri: Some(uri) });
        }
        for (name, value) in metadata {
            let (name, value) = (Arc::clone(name), Some(value.clone()));
            events.push(Event::Metadata { entity: Some(Arc::clone(&entity)), name, value });
        }
    }
    events
}

/// An instance that was made of an exported log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportedLog {
    /// Its last revision.
    pub revision: u64,
    /// A warning if the export lacks blobs that its records name.
    pub warnings: Vec<Diagnostic>,
}

/// Makes an instance of an exported log. All its records are checked and written in their order and
/// with their times, and so are the blobs that they name. The instance has a lineage of its own. It
/// knows only the name of a target of which the export lacks a part.
///
/// # Errors
/// `store-corrupt` if the log was changed or damaged, and as [`import_instance`].
pub fn import_log(
    store: &dyn Store,
    name: &str,
    text: &str,
    author: &RecordAuthor<'_>,
) -> Result<ImportedLog, Diagnostic> {
    let lineage: Arc<str> = random_name(store)?.into();
    let read = MemoryStore::new(0);
    let ExportedLines { records, blobs } = ExportedLines::read(text)?;
    let failed = |why: std::io::Error| Diagnostic::error(Code::File, why.to_string());
    read.create(name).map_err(failed)?;
    read.append(name, "log-1.ndjson", records.as_bytes()).map_err(failed)?;
    let missing = MissingBlobs::of(&read, name, &blobs)?;
    let mut log = EventLog::open_at_start(&read, name)?;
    let (log, ()) = EventLog::create(store, name, author.holder, author.timeout, |writer| {
        let key = writer.put_key()?;
        let mut secrets = KeptSecrets::new(SecretsMode::default(), key, [""; 0]);
        blobs.values().try_for_each(|blob| writer.put_blob(blob).map(drop))?;
        let mut is_open = false;
        while let Some(record) = log.next_record()? {
            let mut events = record.events()?;
            for event in &mut events {
                seal(event, &secrets);
                missing.leave_out(event);
                match event {
                    Event::InstanceCreated { lineage: was, secrets: mode, sensitive, .. } => {
                        *was = Arc::clone(&lineage);
                        secrets = KeptSecrets::new(*mode, key, &*sensitive);
                    }
                    Event::OrchestrationStarted { .. } => is_open = true,
                    Event::OrchestrationEnded { .. } => is_open = false,
                    _ => {}
                }
            }
            writer.commit(&[Draft {
                time: record.time,
                actor: &record.actor,
                origin: record.origin,
                orchestration: record.orchestration.as_deref(),
                key: record.key.as_deref(),
                events: &events,
            }])?;
        }
        if is_open {
            // The orchestrator that carried the change out does not know the new instance.
            let events = &[Event::OrchestrationEnded { outcome: ReportOutcome::Cancelled }];
            let (time, actor, origin) = (author.time, &*author.holder.actor, author.origin);
            let (orchestration, key) = (None, None);
            writer.commit(&[Draft { time, actor, origin, orchestration, key, events }])?;
        }
        Ok(())
    })?;
    Ok(ImportedLog { revision: log.revision(), warnings: missing.warning().into_iter().collect() })
}

/// The blobs that an exported log names and lacks.
#[derive(Default)]
struct MissingBlobs {
    digests: BTreeSet<Arc<str>>,
    /// The targets of which a part is missing.
    targets: BTreeSet<Arc<str>>,
    named: usize,
}

impl MissingBlobs {
    fn of(
        store: &dyn Store,
        name: &str,
        blobs: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, Diagnostic> {
        let find = |digest: &str| Ok(blobs.get(digest).cloned());
        let (mut missing, mut named) = (Self::default(), NamedBlobs::default());
        let mut log = EventLog::open_at_start(store, name)?;
        while let Some(record) = log.next_record()? {
            let events = record.events()?;
            for target in events.iter().filter_map(Event::target) {
                let is_whole = of_target(target, &find)?.iter().all(|(_, found)| found.is_some());
                if !is_whole {
                    missing.targets.insert(Arc::clone(target));
                }
            }
            for (digest, found) in named.new_in(&events, &find)? {
                missing.named += 1;
                missing.digests.extend(found.is_none().then_some(digest));
            }
        }
        if let Some(bytes) = log.torn() {
            let message = format!("the last line of the log is unfinished: {bytes} bytes of it");
            return Err(Diagnostic::error(Code::StoreCorrupt, message)
                .help("export the log again: `cuvee instance export NAME --format log`"));
        }
        Ok(missing)
    }

    /// Makes an event name no target of which a part is missing.
    fn leave_out(&self, event: &mut Event) {
        let is_left_out = event.target().is_some_and(|digest| self.targets.contains(digest));
        match event {
            _ if !is_left_out => {}
            Event::TargetSet(target) | Event::OrchestrationStarted { target: Some(target), .. } => {
                target.digest = "".into();
            }
            Event::NodeAdded(added) => added.target = None,
            Event::NodeDefined { target, .. } => *target = None,
            _ => {}
        }
    }

    fn warning(&self) -> Option<Diagnostic> {
        let first = self.digests.first()?;
        let (count, named) = (self.digests.len(), self.named);
        let message = format!(
            "the export lacks {count} of {named} texts that its records name, the first is `{first}`"
        );
        let help = match self.targets.is_empty() {
            true => "nothing that can still be done needs them",
            false => {
                "export the log again with this version, or plan the instance to a template: `cuvee instance plan NAME TEMPLATE`"
            }
        };
        Some(Diagnostic::warning(Code::UnresolvedInstance, message).help(help))
    }
}

/// Seals the values of an event from elsewhere. Only their names and marks tell which are secret:
/// what an export brings along says nothing of types.
fn seal(event: &mut Event, secrets: &KeptSecrets) {
    let seal = |name: &str, value: &mut Value| *value = secrets.taken(name, value);
    let all = |values: &mut ByName<Value>| values.iter_mut().for_each(|(name, it)| seal(name, it));
    let reported = |values: &mut ByName<ReportedValue>| {
        values.iter_mut().for_each(|(name, it)| seal(name, &mut it.value));
    };
    match event {
        Event::Property { name, value: Some(value), .. }
        | Event::CapabilityProperty { name, value: Some(value), .. }
        | Event::Attribute { name, value: Some(value), .. }
        | Event::Input { name, value: Some(value) }
        | Event::Output { name, value: Some(value) }
        | Event::Metadata { name, value: Some(value), .. } => seal(name, value),
        Event::NodeAdded(added) => {
            let NodeAdded { properties, attributes, metadata, .. } = &mut **added;
            [properties, attributes, metadata].into_iter().for_each(all);
            for capability in added.capabilities.values_mut() {
                all(&mut capability.properties);
                reported(&mut capability.attributes);
            }
        }
        Event::RelationAdded(added) => all(&mut added.metadata),
        Event::Group { value: Some(group), .. } => {
            let GroupInstance { properties, attributes, metadata, .. } = group;
            [properties, metadata].into_iter().for_each(all);
            reported(attributes);
        }
        Event::Policy { value: Some(policy), .. } => {
            [&mut policy.properties, &mut policy.metadata].into_iter().for_each(all);
        }
        Event::TargetSet(target) => all(&mut target.choice),
        Event::OrchestrationStarted { target: Some(target), .. } => all(&mut target.choice),
        _ => {}
    }
}
