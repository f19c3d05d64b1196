//! All elements of a document, however deep, without recursion.

use super::tree::{XmlDocument, XmlElement, XmlNode};

/// Where a walk is.
#[derive(Clone, Copy, Debug)]
pub enum XmlStep<'d> {
    /// An element begins.
    Start(XmlElement<'d>),
    /// It ends: all that is in it was there.
    End(XmlElement<'d>),
}

impl XmlDocument {
    /// Its elements, as they begin and end in the text.
    ///
    /// ```
    /// use cuvee::source::FileId;
    /// use cuvee::xml::{XmlLimits, XmlStep, parse};
    /// let document = parse(FileId::DETACHED, "<a><b/></a>".into(), &XmlLimits::default()).unwrap();
    /// let steps = document.walk().map(|step| match step {
    ///     XmlStep::Start(element) => format!("<{}>", element.written_name()),
    ///     XmlStep::End(element) => format!("</{}>", element.written_name()),
    /// });
    /// assert_eq!(steps.collect::<String>(), "<a><b></b></a>");
    /// ```
    pub fn walk(&self) -> impl Iterator<Item = XmlStep<'_>> {
        // Nodes stand in the order of the text, so that an element ends before what is not in it.
        let mut open: Vec<XmlElement<'_>> = Vec::new();
        let mut index = 0;
        std::iter::from_fn(move || {
            loop {
                if let Some(ended) = open.pop_if(|element| element.following() <= index) {
                    return Some(XmlStep::End(ended));
                }
                let node = self.node(index)?;
                index += 1;
                if let XmlNode::Element(element) = node {
                    open.push(element);
                    return Some(XmlStep::Start(element));
                }
            }
        })
    }
}
