//! Models of instances as documents: an object tree in YAML or JSON (seed "instance model",
//! sections 5.5 and 5.6), and back.
//!
//! Both encodings are of one tree, whose maps are sorted by name. What stands in the specification
//! stands where it says; what only we know of an entity stands in its metadata, as `cuvee`.

mod facts;
mod read;
mod reference;
#[cfg(test)]
mod tests;
mod tree;

pub use read::import_model;

use super::model::InstanceModel;
use crate::text::yaml::{write_json, write_yaml};

/// The version of models that is written.
const VERSION: &str = "tosca_simple_yaml_1_0";
/// The specification writes it in two ways: both are read.
const VERSIONS: [&str; 2] = [VERSION, "toscasimpleyaml_1_0"];
/// Where that stands.
const VERSION_KEY: &str = "tosca_instance_version";
/// Where in metadata our own facts stand.
const FACTS: &str = "cuvee";

/// Names in the metadata of an instance that are not free; in those of entities it is the second
/// one.
pub const RESERVED_METADATA: [&str; 2] = [VERSION_KEY, FACTS];

/// How much of a model is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelExport {
    /// Attributes of nodes between stable states as well, which are marked.
    pub unstable: bool,
    /// Secrets, where the instance keeps them.
    pub reveal: bool,
}

/// Writes a model as YAML.
///
/// ```
/// use cuvee::instance::{InstanceModel, ModelExport, NodeInstance, export_yaml};
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
/// use cuvee::instance::{InstanceModel, ModelExport, export_json};
/// let text = export_json(&InstanceModel::default(), ModelExport::default());
/// assert!(text.contains("\"tosca_instance_version\": \"tosca_simple_yaml_1_0\""));
/// ```
pub fn export_json(model: &InstanceModel, how: ModelExport) -> String {
    write_json(&tree::tree(model, how))
}

/// Writes a model as the derivation of section 5.7 dumps it: what inputs are bound to, and nodes,
/// those that host others first.
///
/// ```
/// use cuvee::instance::{InstanceModel, ModelExport, export_bindings};
/// let mut model = InstanceModel::default();
/// model.target.template = "shop.yaml".into();
/// let text = export_bindings(&model, ModelExport::default());
/// assert!(text.starts_with("tosca_instance_version: tosca_simple_yaml_1_0\ntemplate: shop.yaml\n"));
/// ```
pub fn export_bindings(model: &InstanceModel, how: ModelExport) -> String {
    write_yaml(&tree::bindings(model, how))
}
