//! Targets as they are kept with an instance (I-45): texts under their digests, and a manifest that
//! names them. The digest of the manifest is that of the target.

use super::model::{ByName, InstanceModel};
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::digest::sha256;
use crate::text::source::{MemoryFiles, is_yaml};
use crate::text::value::Value;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// What is kept of a resolved template, secrets replaced.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TargetSources {
    /// The path of the template, which is that of its texts.
    pub template: String,
    /// The template of exactly this instance: functions evaluated, counts expanded.
    pub concrete: String,
    /// The same with its functions as they are written.
    pub written: String,
    /// The template without its topology: types are read much more often than what is made of them.
    pub types: String,
    /// The files that it names, and its library, by their paths.
    pub files: Vec<(String, Vec<u8>)>,
    /// Which of these files stands for which address.
    pub maps: Vec<(String, String)>,
    /// Whether the types of TOSCA's chapter 9 are defined as well.
    pub non_normative: bool,
    /// What an instance of it is that nothing is there of yet.
    pub model: InstanceModel,
}

/// What is kept of the types of a resolved template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TargetTypes {
    /// The path of the template, which is that of its text.
    pub template: String,
    /// The template, without its topology where that was kept.
    pub text: String,
    /// The files of YAML that it names, and its library, by their paths.
    pub files: Vec<(String, Vec<u8>)>,
    /// Which of these files stands for which address.
    pub maps: Vec<(String, String)>,
    /// Whether the types of TOSCA's chapter 9 are defined as well.
    pub non_normative: bool,
}

/// The names of what belongs to a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TargetManifest {
    format: u32,
    template: String,
    concrete: String,
    written: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    types: Option<String>,
    model: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<(String, String)>,
    /// The names of files by the addresses that they stand for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    maps: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    non_normative: bool,
}

/// What manifests look like that this version writes.
const FORMAT: u32 = 1;

impl TargetSources {
    /// Its digest, and what is to be kept: the texts, and last the manifest.
    ///
    /// # Errors
    /// Where a value cannot be written as JSON.
    pub fn blobs(&self) -> Result<(String, Vec<Vec<u8>>), Diagnostic> {
        let mut blobs = Vec::new();
        let mut keep = |bytes: Vec<u8>| {
            let digest = sha256(&bytes);
            blobs.push(bytes);
            digest
        };
        let files = self.files.iter().map(|(name, bytes)| (name.clone(), keep(bytes.clone())));
        let manifest = TargetManifest {
            format: FORMAT,
            template: self.template.clone(),
            files: files.collect(),
            concrete: keep(self.concrete.clone().into_bytes()),
            written: keep(self.written.clone().into_bytes()),
            types: Some(keep(self.types.clone().into_bytes())),
            model: keep(serde_json::to_vec(&self.model).map_err(unwritable)?),
            maps: self.maps.clone(),
            non_normative: self.non_normative,
        };
        let digest = keep(serde_json::to_vec(&manifest).map_err(unwritable)?);
        Ok((digest, blobs))
    }

    /// Reads a target: `blob` gives what is kept under a digest.
    ///
    /// # Errors
    /// As `blob` gives them, and `store-corrupt` where they are no target.
    pub fn read(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let manifest = TargetManifest::read(digest, blob)?;
        Ok(Self {
            files: manifest.files(&|_| true, blob)?,
            concrete: text(&manifest.concrete, blob)?,
            written: text(&manifest.written, blob)?,
            types: text(manifest.types(), blob)?,
            model: model(&manifest, blob)?,
            template: manifest.template,
            maps: manifest.maps,
            non_normative: manifest.non_normative,
        })
    }

    /// Reads of a target only what an instance of it is that nothing is there of yet.
    ///
    /// # Errors
    /// As [`TargetSources::read`].
    pub fn read_model(
        digest: &str,
        blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<InstanceModel, Diagnostic> {
        model(&TargetManifest::read(digest, blob)?, blob)
    }

    /// Its files, the template among them with this text.
    pub fn system(&self, template: &str) -> MemoryFiles {
        let template = (self.template.clone(), template.as_bytes().to_vec());
        self.files.iter().cloned().chain([template]).collect()
    }
}

impl TargetTypes {
    /// Reads of a target only its types.
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
    /// Under which digest its types are kept; earlier versions kept no text of these alone.
    fn types(&self) -> &str {
        self.types.as_ref().unwrap_or(&self.concrete)
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
            let message = "the instance came without the template that it was made of";
            return Err(Diagnostic::error(Code::UnresolvedInstance, message)
                .help("plan it to one first: `cuvee instance plan NAME TEMPLATE`"));
        }
        let manifest: Self = serde_json::from_str(&text(digest, blob)?)
            .map_err(|error| no_target(digest, &error.to_string()))?;
        match manifest.format {
            FORMAT => Ok(manifest),
            format => {
                let message = format!("the target {digest} has the format {format}");
                Err(Diagnostic::error(Code::StoreVersion, message)
                    .help("a newer version of cuvee reads it"))
            }
        }
    }
}

fn text(
    digest: &str,
    blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
) -> Result<String, Diagnostic> {
    String::from_utf8(blob(digest)?).map_err(|_| no_target(digest, "its text is none"))
}

fn model(
    manifest: &TargetManifest,
    blob: &dyn Fn(&str) -> Result<Vec<u8>, Diagnostic>,
) -> Result<InstanceModel, Diagnostic> {
    serde_json::from_str(&text(&manifest.model, blob)?)
        .map_err(|error| no_target(&manifest.model, &error.to_string()))
}

fn no_target(digest: &str, why: &str) -> Diagnostic {
    let message = format!("what is kept under {digest} is no target: {why}");
    Diagnostic::error(Code::StoreCorrupt, message)
        .help("`cuvee instance verify` says what else is wrong")
}

fn unwritable(error: serde_json::Error) -> Diagnostic {
    Diagnostic::error(Code::File, format!("what is to be kept cannot be written: {error}"))
}

/// What was chosen, as it is kept.
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
