//! Writes models of instances as documents and reads them back: object trees in YAML or JSON (seed
//! "instance model", sections 5.5 and 5.6).
//!
//! Both encodings write the same tree, with maps sorted by name. What the specification knows is in
//! its place there. What only this program knows of an entity is in its metadata, under `cuvee`.

mod facts;
mod read;
mod reference;
#[cfg(test)]
mod tests;
mod tree;

pub use read::import_model;

use super::model::InstanceModel;
use cuvee_text::yaml::{write_json, write_yaml};

/// The version of the model format that is written.
const VERSION: &str = "tosca_simple_yaml_1_0";
/// The specification spells the version in two ways; both are read.
const VERSIONS: [&str; 2] = [VERSION, "toscasimpleyaml_1_0"];
/// The metadata key of the version.
const VERSION_KEY: &str = "tosca_instance_version";
/// The metadata key of the facts that only this program knows.
const FACTS: &str = "cuvee";

/// Names in the metadata of an instance that the program uses itself; for entities only the second
/// one.
pub const RESERVED_METADATA: [&str; 2] = [VERSION_KEY, FACTS];

/// The parts of a model that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelExport {
    /// Whether attributes of nodes in transitional states are written as well, with a mark.
    pub unstable: bool,
    /// Whether secrets are revealed, if the instance keeps them.
    pub reveal: bool,
}

/// Writes a model as YAML.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelExport, NodeInstance, export_yaml};
/// let mut model = InstanceModel::default();
/// model.uri = "cuvee:default/default/demo".into();
/// let mut node = NodeInstance::default();
/// node.type_name = "tosca.nodes.Compute".into();
/// model.nodes.insert("server".into(), node);
/// let text = export_yaml(&model, ModelExport::default());
/// assert!(text.contains("tosca_id: cuvee:default/default/demo#/nodes/server"), "{text}");
/// ```
pub fn export_yaml(model: &InstanceModel, how: ModelExport) -> String {
    write_yaml(&tree::tree(model, how))
}

/// Writes a model as JSON: the same tree as [`export_yaml`].
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelExport, export_json};
/// let text = export_json(&InstanceModel::default(), ModelExport::default());
/// assert!(text.contains("\"tosca_instance_version\": \"tosca_simple_yaml_1_0\""));
/// ```
pub fn export_json(model: &InstanceModel, how: ModelExport) -> String {
    write_json(&tree::tree(model, how))
}

/// Writes a model in the form of the dump in section 5.7: the values of inputs, and the nodes,
/// hosts first.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, ModelExport, export_bindings};
/// let mut model = InstanceModel::default();
/// model.target.template = "shop.yaml".into();
/// let text = export_bindings(&model, ModelExport::default());
/// assert!(text.starts_with("tosca_instance_version: tosca_simple_yaml_1_0\ntemplate: shop.yaml\n"));
/// ```
pub fn export_bindings(model: &InstanceModel, how: ModelExport) -> String {
    write_yaml(&tree::bindings(model, how))
}
