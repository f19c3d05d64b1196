//! Converts TOSCA 1.0 to TOSCA Simple Profile 1.3, that to TOSCA 2.0, and back. Every part of a document is either
//! expressed in the other format or listed in a report of losses.

mod fragment;
mod layout;
mod loss;
mod mapping;
mod patch;
mod to_xml;
mod to_yaml;
mod unique;
mod versions;
mod well_known;

pub use loss::{Loss, LossEntry, LossKind, LossReport, Losses};
pub(crate) use to_xml::{ConvertedVariant, ConvertedXml, LocatedFile, ToXmlSettings, to_xml};
pub(crate) use to_yaml::{ConvertedYaml, ToYamlSettings, TypeCounterparts, to_yaml};
pub(crate) use versions::{
    NamedPart, NeededType, TargetVersion, VersionContext, VersionedDocument, converted,
    converted_part, is_supplied_file, renamed_types, supplied_document,
};
