//! Keeps targets with an instance (I-45): texts under their digests, and a manifest that names
//! them. The digest of the manifest is the digest of the target.

use super::model::{ByName, InstanceModel};
use crate::diagnostic::{Code, Diagnostic};
use crate::topology::sensitive::SecretPlaces;
use crate::tosca::digest::sha256;
#[cfg(feature = "cli")]
use cuvee_text::source::FileId;
use cuvee_text::source::{MemoryFiles, is_yaml};
use cuvee_text::value::Value;
#[cfg(feature = "cli")]
use cuvee_text::yaml;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
#[cfg(feature = "cli")]
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The texts of a resolved template, with secrets replaced.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TargetSources {
    /// The path of the template and of its texts.
    pub template: String,
    /// The template of exactly this instance: functions evaluated, counts expanded.
    pub concrete: String,
    /// The same template with functions unevaluated.
    pub written: String,
    /// The template without its topology. Types are read much more often than the topology.
    pub types: String,
    /// The files that the template names, and its library, by path.
    pub files: Vec<(String, Vec<u8>)>,
    /// The digests of named files that are not kept, by path. They show that a content changes.
    pub digests: Vec<(String, String)>,
    /// Addresses, and the file that stands for each.
    pub maps: Vec<(String, String)>,
    /// Whether the types of chapter 9 of TOSCA are defined as well.
    pub non_normative: bool,
    /// The model of a new instance of this target.
    pub model: Arc<InstanceModel>,
    /// Which values are secret.
    pub secrets: SecretPlaces,
    /// The outputs whose values are known only from the deployed instance.
    pub outputs: BTreeMap<String, ComputedOutput>,
}

/// An output whose value functions give, once the instance is deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComputedOutput {
    /// The value with its functions, as YAML on one line.
    pub value: String,
    /// Whether the value, or a part of it, is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_secret: bool,
}

/// The texts that define the types of a resolved template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TargetTypes {
    /// The path of the template and of its text.
    pub template: String,
    /// The template. It has no topology if a text without one was kept.
    pub text: String,
    /// The YAML files that the template names, and its library, by path.
    pub files: Vec<(String, Vec<u8>)>,
    /// Addresses, and the file that stands for each.
    pub maps: Vec<(String, String)>,
    /// Whether the types of chapter 9 of TOSCA are defined as well.
    pub non_normative: bool,
}

/// The manifest: the digests and names of the texts of a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TargetManifest {
    format: u32,
    template: String,
    concrete: String,
    written: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    types: Option<String>,
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secrets: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<String, ComputedOutput>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<(String, String)>,
    /// Digests of files that are not kept, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    digests: Vec<(String, String)>,
    /// Addresses, and the name of the file that stands for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    maps: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    non_normative: bool,
}

/// The digests of the texts that a manifest names; none if the contents are no manifest.
pub(super) fn texts_of(manifest: &[u8]) -> Vec<String> {
    let Ok(manifest) = serde_json::from_slice::<TargetManifest>(manifest) else {
        return Vec::new();
    };
    let TargetManifest { concrete, written, types, model, files, secrets, .. } = manifest;
    let files = files.into_iter().map(|(_, digest)| digest);
    files.chain([concrete, written, model]).chain(types).chain(secrets).collect()
}

/// Keeps a blob, and gives its digest.
type KeepBlob<'k> = dyn FnMut(Cow<'_, [u8]>) -> Result<String, Diagnostic> + 'k;

/// The format of manifests that this version writes.
const FORMAT: u32 = 1;

impl TargetSources {
    /// The digest of the target, and the blobs to keep: first the texts, then the manifest.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn blobs(&self) -> Result<(String, Vec<Vec<u8>>), Diagnostic> {
        let mut blobs = Vec::new();
        let digest = self.keep(&mut |bytes| {
            let digest = sha256(&bytes);
            blobs.push(bytes.into_owned());
            Ok(digest)
        })?;
        Ok((digest, blobs))
    }

    /// The digest of the target. `keep` keeps one blob after the other, and gives the digest of each.
    pub(crate) fn keep(&self, keep: &mut KeepBlob<'_>) -> Result<String, Diagnostic> {
        let files = self
            .files
            .iter()
            .map(|(name, bytes)| Ok((name.clone(), keep(bytes.as_slice().into())?)));
        let manifest = TargetManifest {
            format: FORMAT,
            template: self.template.clone(),
            files: files.collect::<Result<_, Diagnostic>>()?,
            digests: self.digests.clone(),
            concrete: keep(self.concrete.as_bytes().into())?,
            written: keep(self.written.as_bytes().into())?,
            types: Some(keep(self.types.as_bytes().into())?),
            model: keep(json(&*self.model)?)?,
            secrets: Some(keep(json(&self.secrets)?)?),
            outputs: self.outputs.clone(),
            maps: self.maps.clone(),
            non_normative: self.non_normative,
        };
        keep(json(&manifest)?)
    }

    /// Reads a target. `blob` returns the contents of a digest.
    ///
    /// # Errors
    /// The errors of `blob`, and `store-corrupt` if the contents are no target.
    pub fn read(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let texts = Self::read_texts(digest, blob)?;
        Ok(Self { model: Self::read_model(digest, blob)?.into(), ..texts })
    }

    /// Reads a target except for its model, which is empty.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub(crate) fn read_texts(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let manifest = TargetManifest::read(digest, blob)?;
        Ok(Self {
            files: manifest.files(&|_| true, blob)?,
            concrete: text(&manifest.concrete, blob)?,
            written: text(&manifest.written, blob)?,
            types: text(manifest.types(), blob)?,
            model: Arc::default(),
            secrets: manifest.secrets(blob)?.unwrap_or_default(),
            template: manifest.template,
            outputs: manifest.outputs,
            digests: manifest.digests,
            maps: manifest.maps,
            non_normative: manifest.non_normative,
        })
    }

    /// Reads only the outputs of a target whose values are known only from the deployed instance.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub(crate) fn read_outputs(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<BTreeMap<String, ComputedOutput>, Diagnostic> {
        Ok(TargetManifest::read(digest, blob)?.outputs)
    }

    /// Adds the names of the outputs of operations that functions in the target ask for.
    #[cfg(feature = "cli")]
    pub(crate) fn asked_outputs(&self, names: &mut BTreeSet<String>) {
        let files = self.files.iter().filter(|(name, _)| is_yaml(Path::new(name)));
        let texts = files.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
        for text in texts.chain([self.written.as_str()]) {
            // Most templates have no such function, and reading them takes time.
            if memchr::memmem::find(text.as_bytes(), b"get_operation_output").is_none() {
                continue;
            }
            let parsed = yaml::parse(FileId::DETACHED, text.into(), &yaml::Limits::default());
            let document = parsed.map(|document| document.root().to_value());
            document.into_iter().for_each(|document| asked_outputs(&document, names));
        }
    }

    /// Reads only the model of a new instance from a target.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub fn read_model(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<InstanceModel, Diagnostic> {
        model(&TargetManifest::read(digest, blob)?, blob)
    }

    /// Reads only which values of a target are secret. Earlier versions kept nothing about that.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub(crate) fn read_secrets(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Option<SecretPlaces>, Diagnostic> {
        TargetManifest::read(digest, blob)?.secrets(blob)
    }

    /// The files of the target, with this text as the template.
    pub fn system(&self, template: &str) -> MemoryFiles {
        let template = (self.template.clone(), template.as_bytes().to_vec());
        self.files.iter().cloned().chain([template]).collect()
    }
}

#[cfg(feature = "cli")]
fn asked_outputs(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| asked_outputs(item, names)),
        Value::Map(entries) => entries.iter().for_each(|(name, value)| match value {
            Value::List(path) if &**name == "get_operation_output" => {
                names.extend(path.get(3).and_then(Value::as_str).map(str::to_owned));
            }
            other => asked_outputs(other, names),
        }),
        _ => {}
    }
}

impl TargetTypes {
    /// Reads only the types of a target.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub fn read(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let manifest = TargetManifest::read(digest, blob)?;
        let is_mapped = |name: &str| manifest.maps.iter().any(|(_, file)| file == name);
        let is_asked = |name: &str| is_yaml(Path::new(name)) || is_mapped(name);
        Ok(Self {
            text: text(manifest.types(), blob)?,
            files: manifest.files(&is_asked, blob)?,
            template: manifest.template,
            maps: manifest.maps,
            non_normative: manifest.non_normative,
        })
    }
}

impl TargetManifest {
    /// The digest of the text with the types. Earlier versions kept no such text.
    fn types(&self) -> &str {
        self.types.as_ref().unwrap_or(&self.concrete)
    }

    fn secrets(
        &self,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Option<SecretPlaces>, Diagnostic> {
        let Some(digest) = &self.secrets else { return Ok(None) };
        let secrets = serde_json::from_str(&text(digest, blob)?);
        secrets.map(Some).map_err(|error| no_target(digest, &error.to_string()))
    }

    fn files(
        &self,
        is_asked: &dyn Fn(&str) -> bool,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Vec<(String, Vec<u8>)>, Diagnostic> {
        let files = self.files.iter().filter(|(name, _)| is_asked(name));
        files.map(|(name, digest)| Ok((name.clone(), blob(digest)?))).collect()
    }

    fn read(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        if digest.is_empty() {
            let message = "the instance was imported without its template";
            return Err(Diagnostic::error(Code::UnresolvedInstance, message).help(
                "plan the instance to a template first: `cuvee instance plan NAME TEMPLATE`",
            ));
        }
        let manifest: Self = serde_json::from_str(&text(digest, blob)?)
            .map_err(|error| no_target(digest, &error.to_string()))?;
        match manifest.format {
            FORMAT => Ok(manifest),
            format => {
                let message = format!("the target {digest} has the format {format}");
                Err(Diagnostic::error(Code::StoreVersion, message)
                    .help("use a newer version of cuvee"))
            }
        }
    }
}

fn text(
    digest: &str,
    blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
) -> Result<String, Diagnostic> {
    String::from_utf8(blob(digest)?).map_err(|_| no_target(digest, "it is not UTF-8 text"))
}

fn model(
    manifest: &TargetManifest,
    blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
) -> Result<InstanceModel, Diagnostic> {
    serde_json::from_str(&text(&manifest.model, blob)?)
        .map_err(|error| no_target(&manifest.model, &error.to_string()))
}

fn no_target(digest: &str, why: &str) -> Diagnostic {
    let message = format!("the content kept under {digest} is not a target: {why}");
    Diagnostic::error(Code::StoreCorrupt, message)
        .help("look for other damage with `cuvee instance verify`")
}

fn json(part: &impl Serialize) -> Result<Cow<'static, [u8]>, Diagnostic> {
    serde_json::to_vec(part).map(Cow::Owned).map_err(|error| {
        let message = format!("the target cannot be written for the store: {error}");
        Diagnostic::error(Code::File, message)
    })
}

/// The choices of a resolution, as they are kept.
#[must_use]
pub fn choice_of(presets: &[String], inputs: &[(String, Value)]) -> ByName<Value> {
    let mut choice = ByName::default();
    if !presets.is_empty() {
        let presets: Vec<_> = presets.iter().map(|name| Value::from(&**name)).collect();
        choice.insert("presets".into(), Value::from(presets));
    }
    if !inputs.is_empty() {
        let inputs = inputs.iter().map(|(name, value)| (Arc::from(&**name), value.clone()));
        choice.insert("inputs".into(), Value::Map(inputs.collect()));
    }
    choice
}
