//! Reads and writes XML. The tree that is read knows the place of every element, attribute and
//! text.
//!
//! A document that is read is well-formed, its namespaces are resolved, and its size is bounded. A
//! document type is refused anywhere, so that no entity can be declared, let alone expanded.
//! Nothing is ever fetched because a document refers to it.

mod characters;
mod escape;
mod read;
mod tree;
mod walk;
mod write;

pub use characters::{is_allowed, is_space};
pub use characters::{is_name, is_unprefixed_name};
pub use escape::XmlText;
pub use read::{XmlLimits, is_xml, parse};
pub use tree::{XmlAttribute, XmlDocument, XmlElement, XmlName, XmlNode};
pub use tree::{collapsed, with_line_feeds};
pub use walk::XmlStep;
pub use write::XmlOutput;

/// The namespace of the prefix `xml`.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// The namespace of the attributes that declare namespaces.
pub const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

#[cfg(test)]
mod tests;
