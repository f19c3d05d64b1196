//! XML with places: a tree in which every element, attribute and text knows where it stands, and
//! the same tree as text again.
//!
//! What is read is well-formed, its namespaces are resolved, and its size is bounded. A document
//! type is refused wherever it stands, so no entity can be declared, let alone expanded; nothing is
//! ever fetched because a document says so.

mod characters;
mod escape;
mod read;
pub(crate) mod schema;
mod tree;
mod walk;
mod write;

pub(crate) use characters::{is_allowed, is_space};
pub use characters::{is_name, is_unprefixed_name};
pub use escape::XmlText;
pub use read::{XmlLimits, is_xml, parse};
pub(crate) use tree::with_line_feeds;
pub use tree::{XmlAttribute, XmlDocument, XmlElement, XmlName, XmlNode};
pub use walk::XmlStep;
pub(crate) use write::XmlOutput;
pub use write::XmlTree;

/// The namespace that the prefix `xml` means.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// The namespace that declarations of namespaces belong to.
pub const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

#[cfg(test)]
mod tests;
