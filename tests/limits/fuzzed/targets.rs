//! The fuzz targets. For any bytes, nothing panics, nothing hangs, and messages point into the
//! text.

#[path = "canonical.rs"]
#[allow(clippy::unwrap_used, clippy::panic, reason = "what is not as it has to be has to be seen")]
mod canonical;

use cuvee::deploy::instance::{
    Draft, EventLog, InstanceLog, InstanceModel, LockHolder, MemoryStore, ModelAt, ModelReading,
    RecordAuthor, RecordOrigin, Store, ask_about_entity, read_model, read_states, verify,
    view_entity,
};
use cuvee::diagnostic::{Diagnostic, Diagnostics};
use cuvee::parts::yaml::{Document, Limits, Node, Out, parse, write_yaml};
use cuvee::source::csar::{Archive, Limits as ArchiveLimits};
use cuvee::source::{FileId, FileSystem, MemoryFiles, SourceMap};
use cuvee::validate::Validation;
use cuvee::{Failure, Resolver};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

/// The YAML layer: a document that is written is read as the same again, and the quick reader reads
/// the same as the parser.
pub(crate) fn yaml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let read = |text: &str| parse(FileId::DETACHED, text.into(), &Limits::default());
    let document = read(text);
    // A directive keeps the quick reader from reading the text, so the parser reads all of it. A
    // text with markers is read by the parser anyway.
    let marks = ["%", "---", "...", "\u{feff}"];
    let is_marker = |line: &str| marks.iter().any(|mark| line.starts_with(mark));
    if !text.split(['\n', '\r']).any(is_marker) {
        let slow = read(&format!("{DIRECTIVE}{text}"));
        match (&document, &slow) {
            (Ok(document), Ok(slow)) => alike(document.root(), slow.root()),
            (Err(error), Err(slow)) => assert_eq!(error.message, slow.message),
            (document, slow) => assert_eq!(document.is_ok(), slow.is_ok(), "{text}"),
        }
    }
    let Ok(document) = document else { return };
    let written = write_yaml(&Out::Source(document.root()));
    let again = read(&written).map(|again| again.root().to_value());
    // Compared as text, since NaN does not equal itself.
    assert_eq!(
        format!("{again:?}"),
        format!("{:?}", Ok::<_, Diagnostic>(document.root().to_value())),
        "\n{written}"
    );
}

const DIRECTIVE: &str = "%YAML 1.2\n---\n";

/// Asserts that two trees are the same, where the text of the second is behind [`DIRECTIVE`].
fn alike(node: Node<'_>, behind: Node<'_>) {
    let place = |node: Node<'_>, before: usize| {
        (node.span().start as usize + before, node.span().end as usize + before)
    };
    // A node that is absent from the text has no place.
    if node.span().end > 0 {
        assert_eq!(place(node, DIRECTIVE.len()), place(behind, 0), "{:?}", node.text());
    }
    assert_eq!((node.kind(), node.is_plain()), (behind.kind(), behind.is_plain()));
    assert_eq!(node.text(), behind.text());
    assert_eq!(node.items().len(), behind.items().len());
    assert_eq!(node.entries().len(), behind.entries().len());
    node.items().zip(behind.items()).for_each(|(item, other)| alike(item, other));
    for ((key, value), (other_key, other_value)) in node.entries().zip(behind.entries()) {
        alike(key, other_key);
        alike(value, other_value);
    }
}

/// The XML layer and the definitions of TOSCA 1.0: places point into the text, and a document that
/// is written is read as the same again.
pub(crate) fn xml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    canonical::holds(text);
    let files = MemoryFiles::from([("fuzz.tosca", text)]);
    let Validation { diagnostics, sources, .. } =
        Resolver::new("fuzz.tosca").files(files).validate();
    placed(&diagnostics, &sources);
}

/// The template parser and everything that follows: resolving and validating.
pub(crate) fn template(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    whole(
        Resolver::from_text("fuzz.yaml", text)
            .files(MemoryFiles::from([("lib/types.yaml", TYPES)])),
    );
}

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  a: {properties: {p: {type: string, required: false}}, requirements: [host: {capability: tosca.capabilities.Node}]}
  b: {derived_from: a, artifacts: {image: {type: tosca.artifacts.File, file: b.img}}}
";

/// Expressions: as a condition, as the value of a property, and as a selection of variants.
pub(crate) fn expression(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let files = MemoryFiles::from([("lib/types.yaml", TYPES)]);
    let indented = text.replace('\n', "\n          ");
    let template = EXPRESSIONS.replace("CONDITION", &indented).replace("VALUE", &indented);
    whole(Resolver::from_text("fuzz.yaml", template).files(files.clone()));
    let asked = Resolver::from_text(
        "fuzz.yaml",
        EXPRESSIONS.replace("CONDITION", "true").replace("VALUE", "1"),
    )
    .files(files);
    match asked.only_where(text).variants(&cuvee::explore::Query::default()) {
        Ok(answer) => placed(&answer.warnings, &answer.sources),
        Err(failure) => failed(&failure),
    }
}

const EXPRESSIONS: &str = "tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      flag: {type: boolean, default: true}
      size: {type: integer, default: 3, constraints: [in_range: [0, 9]]}
      name: {type: string, default: eu, constraints: [valid_values: [eu, us, asia]]}
      list: {type: list, default: [1, 2]}
    expressions:
      named: {variability_input: flag}
  node_templates:
    shop:
      type: a
      requirements:
      - host:
          node: vm
      properties:
      - p:
          expression:
          VALUE
    vm:
      type:
      - a: {conditions: {variability_input: flag}}
      - b: {default_alternative: true}
      conditions:
          CONDITION
";

/// The archive reader: every entry is unpacked, and an archive that may contain a template is
/// resolved.
pub(crate) fn csar(data: &[u8]) {
    // Small limits, so that time goes into variety rather than into unpacking.
    let limits =
        ArchiveLimits { archive: 1 << 20, entries: 64, entry: 1 << 18, total: 1 << 20, ratio: 50 };
    let archive = match Archive::new("fuzz.csar", data.to_vec(), &limits) {
        Ok(archive) => archive,
        Err(refused) => return placed(&refused.0, &SourceMap::default()),
    };
    let mut open = vec![Path::new("fuzz.csar:").to_owned()];
    while let Some(path) = open.pop() {
        if archive.is_dir(&path) {
            open.extend(archive.list(&path).unwrap_or_default());
        } else if let Ok(bytes) = archive.read(&path) {
            assert!(bytes.len() as u64 <= limits.entry);
        }
    }
    whole(Resolver::new("fuzz.csar:").files(archive));
}

/// The log of an instance: the bytes as they are, and with a correct chain in each line.
pub(crate) fn log(data: &[u8]) {
    let mut chain = String::new();
    let mut chained = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        let body = line.strip_suffix(b"}").unwrap_or(line);
        let digest = Sha256::digest([chain.as_bytes(), body].concat());
        chain = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        chained.extend_from_slice(body);
        chained.extend_from_slice(format!(",\"chain\":\"{chain}\"}}\n").as_bytes());
    }
    log_of(data);
    log_of(&chained);
    // The writer was interrupted.
    log_of(&chained[..chained.len() - chained.len() / 7]);
}

/// Reads a log, verifies it, and writes to it; earlier records stay as they were.
fn log_of(data: &[u8]) {
    let store = MemoryStore::new(1);
    let kept = store.create("shop").and_then(|()| store.append("shop", "log-1.ndjson", data));
    assert!(kept.is_ok());
    let revisions = |store: &MemoryStore| -> Result<u64, Diagnostic> {
        let mut log = EventLog::open(store, "shop")?;
        while let Some(record) = log.next_record()? {
            let _ = record.events().map_err(|wrong| placed(&[wrong], &SourceMap::default()));
            assert!(record.place().starts_with("shop/log-1.ndjson:"));
        }
        Ok(log.revision())
    };
    let before = revisions(&store);
    let verification = verify(&store, "shop", &mut |_| Ok(()));
    assert!(
        verification.is_ok_and(|found| before.as_ref().is_ok_and(|last| *last == found.revision)
            || !found.diagnostics.is_empty())
    );
    let holder = LockHolder { actor: "fuzz".to_owned(), process: 1 };
    let draft = Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "fuzz",
        origin: RecordOrigin::Edit,
        orchestration: Some("1"),
        key: Some("1"),
        events: &[],
    };
    let written = EventLog::open(&store, "shop").and_then(|mut log| {
        log.writer(&holder, Duration::ZERO)?.commit(&[draft]).map(|committed| committed[0])
    });
    models(&store);
    match (before, written) {
        (Ok(before), Ok(written)) => {
            assert!(written.repeated || written.revision > before);
            assert!(revisions(&store).is_ok_and(|after| after >= written.revision));
        }
        (Err(wrong), Err(_)) => placed(&[wrong], &SourceMap::default()),
        (before, written) => unreachable!("{before:?}, and then {written:?}"),
    }
}

/// If a log gives a model, the model is the same behind a snapshot, and parts of it are read as
/// they are in it.
fn models(store: &MemoryStore) {
    let Ok(model) = read_model(store, "shop", ModelAt::Latest) else { return };
    let holder = LockHolder { actor: "fuzz".to_owned(), process: 1 };
    let (timeout, time) = (Duration::ZERO, jiff::Timestamp::UNIX_EPOCH);
    let author = RecordAuthor { holder: &holder, timeout, time, origin: RecordOrigin::Client };
    let compacted = InstanceLog::open(store, "shop").and_then(|mut log| log.compact(&author));
    assert!(compacted.is_ok() || model.is_later);
    assert!(read_model(store, "shop", ModelAt::Latest).is_ok_and(|again| again == model));
    let states = read_states(store, "shop", ModelAt::Latest).map(|it| it.nodes.len());
    assert!(states.is_ok_and(|count| count == model.nodes.len()));
    let reading = ModelReading::default();
    for id in model.nodes.keys().take(4) {
        let view = |model: &InstanceModel| view_entity(model, id, &reading);
        let part = ask_about_entity(store, "shop", ModelAt::Latest, id, &view);
        assert!(part.is_ok_and(|part| view(&model).is_ok_and(|whole| part == whole)));
    }
}

/// Validates and resolves a template, and parses and packs the result.
fn whole(resolver: Resolver) {
    let validation = resolver.validate();
    placed(&validation.diagnostics, &validation.sources);
    match resolver.resolve() {
        Err(failure) => failed(&failure),
        Ok(resolution) => {
            placed(resolution.warnings(), resolution.source_map());
            let again: Result<Document, Diagnostic> =
                parse(FileId::DETACHED, resolution.to_yaml().into(), &Limits::default());
            assert!(again.is_ok(), "the result is no YAML:\n{}", resolution.to_yaml());
            // Packing may fail because a file is missing, with a message.
            let _ = resolution.to_csar().map_err(|failure| failed(&failure));
        }
    }
}

fn failed(failure: &Failure) {
    assert!(Diagnostics(failure.diagnostics.clone()).has_errors(), "a failure without an error");
    placed(&failure.diagnostics, &failure.sources);
}

/// Asserts that every message can be shown with its place.
fn placed(diagnostics: &[Diagnostic], sources: &SourceMap) {
    for diagnostic in diagnostics {
        let spans =
            diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span));
        spans.for_each(|span| {
            assert!(sources.location(span).line > 0 && sources.snippet(span).len() < usize::MAX)
        });
        assert!(!diagnostic.one_line(sources).is_empty());
    }
}
