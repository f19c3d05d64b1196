//! Reads the written document back: whatever differs from the original is kept in extensions and
//! reported.

use super::names::{EXTENSION, QualifiedName};
use super::one_document::TypesInOne;
use super::part::XmlPart;
use super::said::{entries, step};
use super::{ConvertedVariant, XmlConverter};
use crate::convert::loss::{Loss, LossKind};
use crate::convert::patch::{self, Patch, SearchedValue};
use crate::convert::to_yaml::{ToYamlSettings, to_yaml};
use crate::convert::well_known::TARGET_NAME;
use crate::diagnostic::Diagnostics;
use crate::parallel::beside;
use crate::topology::diff::{self, Change, Edit};
use crate::tosca::v1_0::{self, Library, PropertySchemas};
use crate::tosca::{Family, TypeId, profile};
use cuvee_text::source::{FileId, SourceText, Span};
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::write_flow;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The entries of a map.
type ValueEntries = Vec<(Arc<str>, Value)>;

/// The sections of elements, and the names of their parts in paths.
const PARTS: [(&str, &str); 5] = [
    ("properties", "property"),
    ("attributes", "attribute"),
    ("capabilities", "capability"),
    ("requirements", "requirement"),
    ("artifacts", "artifact"),
];

impl XmlConverter<'_, '_> {
    /// Reads the written document back, reports the differences, and keeps them.
    pub(super) fn verify(
        &mut self,
        root: &mut XmlPart,
        main: (&str, &SourceText),
        others: &[(String, String)],
    ) {
        let (original, back) = beside(|| read_back(main, others), |back| (self.original(), back()));
        let Some(back) = back else { return };
        let [was, is] = [&original, &back].map(normal);
        // A part that comes back although XML has no notation of its own for it is neither kept nor
        // lost.
        let sides = [[&original, &back], [&was, &is]];
        let sides = sides.map(|sides| sides.map(SearchedValue::new));
        self.losses.retain(|loss| {
            let path = plural(&loss.path);
            let is_in = |[was, is]: &[SearchedValue<'_>; 2]| {
                was.at(&path).is_some_and(|it| is.at(&path) == Some(it))
            };
            let comes_back = || sides.iter().any(is_in);
            matches!(loss.kind, LossKind::Supplied | LossKind::Opaque) || !comes_back()
        });
        if self.settings.leaves_out {
            return self.tell_differences(&was, &is);
        }
        let (digest, patches) = beside(
            || (patch::digest(&back), patch::between(&back, &original)),
            |kept| {
                self.tell_differences(&was, &is);
                kept()
            },
        );
        let mut extension =
            XmlPart::new("Extension").with("namespace", EXTENSION).with("mustUnderstand", "no");
        if !patches.is_empty() {
            self.uses_extensions = true;
            extension.set("v:of", digest);
        }
        for Patch { path, value } in patches {
            root.extend(match value {
                Some(value) => {
                    XmlPart::new("v:Kept").with("path", path).with_text(write_flow(&value))
                }
                None => XmlPart::new("v:Added").with("path", path),
            });
        }
        if self.uses_extensions {
            self.prefixes.of(EXTENSION);
            root.push_in("Extensions", vec![extension]);
        }
    }

    /// The variant and the types that it imports as one document, in the form in which it would be
    /// read back.
    fn original(&self) -> Value {
        let ConvertedVariant { document, types, file, .. } = self.variant;
        let mut all = ValueEntries::new();
        let is_type = |key: &str| Family::of_keyword(key).is_some();
        for (key, value) in entries(document).filter(|(key, _)| !is_type(key)) {
            match (&**key, super::service::distant_imports(value)) {
                ("imports", None) => {}
                ("imports", Some(distant)) => all.push((Arc::clone(key), distant)),
                _ => all.push((Arc::clone(key), value.clone())),
            }
        }
        let version = Value::from("tosca_simple_yaml_1_3");
        all.retain(|(key, _)| &**key != "tosca_definitions_version");
        all.insert(0, ("tosca_definitions_version".into(), version));
        let in_one = TypesInOne::of(self);
        let mut all: ValueEntries =
            entries(&in_one.document(&Value::Map(all.into()), *file)).cloned().collect();
        let mut sections: IndexMap<&'static str, ValueEntries> = IndexMap::new();
        for id in types.ids() {
            let definition = types.definition(id);
            let of = definition.key.span().file;
            if profile::is_built_in(of) {
                continue;
            }
            let value = definition.value.to_value();
            let value = in_one.definition(&value, of, definition.family);
            let value = self.with_target_name(id, in_one.name(id), value);
            let section = sections.entry(definition.family.keyword()).or_default();
            section.push((in_one.name(id).into(), self.with_names(&value, of)));
        }
        let sections = sections.into_iter();
        all.extend(sections.map(|(section, of)| (section.into(), Value::Map(of.into()))));
        self.with_names(&Value::Map(all.into()), *file)
    }

    /// A type with the metadata that record its namespace and name in XML, where reading back adds
    /// them.
    fn with_target_name(&self, id: TypeId, in_one: &str, value: Value) -> Value {
        let is_other = |it: &&QualifiedName| it.namespace != self.target || it.local != in_one;
        let Some(name) = self.names.get(&id).filter(is_other) else { return value };
        let record = (TARGET_NAME.into(), format!("{{{}}}{}", name.namespace, name.local).into());
        let metadata = entries(&value).find(|(key, _)| &**key == "metadata");
        let metadata = metadata.into_iter().flat_map(|(_, metadata)| entries(metadata));
        let metadata = metadata.filter(|(key, _)| &**key != TARGET_NAME).cloned();
        let metadata = Value::Map(metadata.chain([record]).collect());
        let others = entries(&value).filter(|(key, _)| &**key != "metadata").cloned();
        Value::Map(others.chain([("metadata".into(), metadata)]).collect())
    }

    /// A value of a file, with file names relative to the root.
    fn with_names(&self, value: &Value, file: FileId) -> Value {
        if self.renamed.is_empty() {
            return value.clone();
        }
        let renamed = value.replaced(&mut |part| match part {
            Value::String(text) => match self.renamed.get(&(file, text.to_string())) {
                Some(name) if **name != **text => ReplacedPart::By(name.as_str().into()),
                _ => ReplacedPart::Stays,
            },
            Value::Map(_) | Value::List(_) => ReplacedPart::Within,
            _ => ReplacedPart::Stays,
        });
        renamed.unwrap_or_else(|| value.clone())
    }

    /// Reports the differences that are not in the report yet.
    fn tell_differences(&mut self, was: &Value, is: &Value) {
        let told = self.losses.entries().iter().map(|loss| singular(&loss.path));
        let told: FxHashSet<String> = told.collect();
        let types = self.places_of_types();
        let changes = match self.settings.leaves_out {
            true => diff::diff(was, is).changes,
            // What is only there when read back is removed by a patch.
            false => diff::lost(was, is),
        };
        for Change { element, path, edit } in changes {
            let whole = match (&*element, &*path) {
                (diff::DOCUMENT, path) => path.to_owned(),
                (element, "") => element.to_owned(),
                (element, path) => {
                    format!("{element}{}{path}", if path.starts_with('[') { "" } else { "." })
                }
            };
            let was = match &edit {
                Edit::Removed { from } | Edit::Changed { from, .. } => Some(from),
                Edit::Added { .. } => None,
            };
            if !told.is_empty() && is_told(&told, &singular(&whole))
                || was.is_some_and(|it| all_told(&told, &whole, it))
            {
                continue;
            }
            let kind = match edit {
                Edit::Added { .. } => LossKind::Supplied,
                Edit::Removed { .. } | Edit::Changed { .. } => self.kind_of_kept(),
            };
            let why = match kind {
                LossKind::Supplied => "XML requires it where YAML does not",
                _ => "XML says it in another way",
            };
            let span = match element.split_once('.') {
                Some((part, name)) => self.named.place(part, name),
                None => type_in(&types, &whole),
            };
            let construct = format!("`{whole}`");
            self.losses.push(Loss { path: whole, span, construct, why: why.to_owned(), kind });
        }
    }

    /// The places of the types of the template, by their paths; of several types with one path,
    /// that of the first.
    fn places_of_types(&self) -> FxHashMap<String, Span> {
        let types = self.variant.types;
        let places = types.ids().map(|id| (id, types.definition(id).key.span()));
        let own = places.filter(|(_, span)| !profile::is_built_in(span.file));
        let mut first = FxHashMap::default();
        for (id, span) in own {
            first.entry(self.path_of(id)).or_insert(span);
        }
        first
    }
}

/// The place of the type that a path leads into.
fn type_in(types: &FxHashMap<String, Span>, path: &str) -> Option<Span> {
    starts(path).find_map(|start| types.get(start)).copied()
}

/// A path and the beginnings of it that are paths, too, the shortest first.
fn starts(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
    ends.chain([path.len()]).filter_map(|end| path.get(..end))
}

/// The template that results from reading a document back, with those that it imports.
fn read_back(main: (&str, &SourceText), others: &[(String, String)]) -> Option<Value> {
    let others = others.iter().map(|(name, text)| (&**name, text.as_str().into()));
    let loaded = v1_0::load_written(main.0, others.chain([(main.0, main.1.clone())]));
    let mut ignored = Diagnostics::default();
    let mut library = Library::of(&loaded, &mut ignored);
    let schemas = PropertySchemas::of(&library, &mut ignored);
    let settings =
        ToYamlSettings { is_single: true, has_no_texts: true, ..ToYamlSettings::default() };
    to_yaml(&mut library, &schemas, &settings).ok().map(|converted| converted.said)
}

/// Whether a path, or a part that contains it, is already reported.
fn is_told(told: &FxHashSet<String>, path: &str) -> bool {
    starts(path).any(|start| told.contains(start))
}

/// Whether every part of a map is already reported.
fn all_told(told: &FxHashSet<String>, path: &str, value: &Value) -> bool {
    let mut parts = entries(value).peekable();
    parts.peek().is_some()
        && parts.all(|(key, value)| {
            let path = format!("{path}{}", step(key));
            told.contains(&singular(&path)) || all_told(told, &path, value)
        })
}

/// A path of the template in the notation of reports, where parts of elements are in the singular.
pub(super) fn singular(path: &str) -> String {
    let is_of_element = ["node.", "relationship.", "group.", "policy."];
    let is_part = |step: &str| PARTS.iter().any(|(section, _)| *section == step);
    if !is_of_element.iter().any(|start| path.starts_with(start))
        || !path.split(['.', '[']).any(is_part)
    {
        return path.to_owned();
    }
    PARTS.iter().fold(path.to_owned(), |path, (section, part)| replaced(path, section, part))
}

/// A path with other names for its steps of this name.
fn replaced(path: String, step: &str, by: &str) -> String {
    let is_step = |(at, _): (usize, &str)| {
        let behind = path.get(at + 1..).and_then(|rest| rest.strip_prefix(step));
        behind.is_some_and(|behind| behind.starts_with(['.', '[']))
    };
    if !path.match_indices('.').any(is_step) {
        return path;
    }
    let path = path.replace(&format!(".{step}."), &format!(".{by}."));
    path.replace(&format!(".{step}["), &format!(".{by}["))
}

/// The sections of the topology, by the prefixes of their elements in reports.
const SECTIONS: [(&str, &str); 6] = [
    ("node.", "node_templates"),
    ("relationship.", "relationship_templates"),
    ("policy.", "policies"),
    ("input.", "inputs"),
    ("output.", "outputs"),
    ("group.", "groups"),
];

/// A path of a report in the notation of the template; the inverse of [`singular`].
fn plural(path: &str) -> String {
    let of = SECTIONS.iter().find_map(|(part, section)| Some((path.strip_prefix(part)?, section)));
    let Some((rest, section)) = of else { return path.to_owned() };
    let whole = format!("topology_template.{section}.{rest}");
    PARTS.iter().fold(whole, |path, (section, part)| replaced(path, part, section))
}

/// A template whose types are in their long notation, without values that hold by default.
fn normal(template: &Value) -> Value {
    let normal = |(key, value): &(Arc<str>, Value)| {
        let is_section = key.ends_with("_types");
        let value = if is_section { mapped(value, normal_type) } else { value.clone() };
        (Arc::clone(key), value)
    };
    Value::Map(entries(template).map(normal).collect())
}

/// A map with its values replaced.
fn mapped(map: &Value, of: impl Fn(&Value) -> Value) -> Value {
    let Value::Map(all) = map else { return map.clone() };
    Value::Map(all.iter().map(|(key, value)| (Arc::clone(key), of(value))).collect())
}

/// A value as a map; a text is the value of `key`.
fn long(value: &Value, key: &str) -> ValueEntries {
    match value {
        Value::String(_) => vec![(key.into(), value.clone())],
        value => entries(value).cloned().collect(),
    }
}

/// A list of maps with one entry each, as one map.
fn listed(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::Map(items.iter().flat_map(entries).cloned().collect()),
        other => other.clone(),
    }
}

fn normal_type(body: &Value) -> Value {
    let artifacts = entries(body).find(|(key, _)| &**key == "artifacts").map(|(_, all)| all);
    let occurs = |least: i64, most: Value| Value::from(vec![Value::from(least), most]);
    let without = |value: &Value, short: &str, usual: &Value| {
        let mut said = long(value, short);
        said.retain(|(key, value)| &**key != "occurrences" || value != usual);
        Value::Map(said.into())
    };
    let normal = |(key, value): &(Arc<str>, Value)| {
        let value = match &**key {
            "properties" | "attributes" => mapped(value, normal_property),
            "capabilities" => {
                mapped(value, |it| without(it, "type", &occurs(1, "UNBOUNDED".into())))
            }
            "requirements" => mapped(&listed(value), |it| {
                without(it, "capability", &occurs(1, Value::from(1_i64)))
            }),
            "interfaces" => mapped(value, |it| normal_interface(it, artifacts)),
            "artifacts" => mapped(value, |it| Value::Map(long(it, "file").into())),
            _ => value.clone(),
        };
        (Arc::clone(key), value)
    };
    Value::Map(entries(body).map(normal).collect())
}

fn normal_property(body: &Value) -> Value {
    let mut said = long(body, "type");
    said.retain(|(key, value)| &**key != "required" || *value != Value::Bool(true));
    for (key, value) in &mut said {
        match &**key {
            "entry_schema" | "key_schema" => *value = Value::Map(long(value, "type").into()),
            "constraints" => *value = bounds_apart(value),
            _ => {}
        }
    }
    Value::Map(said.into())
}

/// Constraints in which each bound of a range is a constraint of its own.
fn bounds_apart(constraints: &Value) -> Value {
    let Value::List(clauses) = constraints else { return constraints.clone() };
    let mut all = Vec::new();
    for clause in &**clauses {
        let range = entries(clause).find(|(name, _)| &**name == "in_range").map(|(_, it)| it);
        let Some(Value::List(bounds)) = range else {
            all.push(clause.clone());
            continue;
        };
        for (name, bound) in ["greater_or_equal", "less_or_equal"].into_iter().zip(&**bounds) {
            if bound.as_str() != Some("UNBOUNDED") {
                all.push(Value::Map([(name.into(), bound.clone())].into()));
            }
        }
    }
    all.into()
}

/// The operations of an interface, each with the file that implements it.
fn normal_interface(body: &Value, artifacts: Option<&Value>) -> Value {
    let file = |by: &Value| {
        let by = entries(by).find(|(key, _)| &**key == "primary").map_or(by, |(_, by)| by);
        let named = artifacts.into_iter().flat_map(entries);
        let mut named = named.filter(|(name, _)| by.as_str() == Some(name));
        let file = named.next().and_then(|(_, it)| {
            long(it, "file").into_iter().find(|(key, _)| &**key == "file").map(|(_, file)| file)
        });
        file.unwrap_or_else(|| by.clone())
    };
    let operation = |it: &Value| {
        let mut said = long(it, "implementation");
        for (_, by) in said.iter_mut().filter(|(key, _)| &**key == "implementation") {
            *by = file(by);
        }
        Value::Map(said.into())
    };
    let mut all = Vec::new();
    for (key, value) in entries(body) {
        match &**key {
            "type" | "inputs" | "notifications" | "metadata" | "description" => {
                all.push((Arc::clone(key), value.clone()));
            }
            "operations" => {
                all.extend(entries(value).map(|(name, it)| (Arc::clone(name), operation(it))));
            }
            _ => all.push((Arc::clone(key), operation(value))),
        }
    }
    Value::Map(all.into())
}
