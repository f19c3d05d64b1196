//! Walks through all elements of a document without recursion, however deep they are.

use super::tree::{XmlDocument, XmlElement, XmlNode};

/// A step of a walk.
#[derive(Clone, Copy, Debug)]
pub enum XmlStep<'d> {
    /// The start of an element.
    Start(XmlElement<'d>),
    /// The end of an element, after everything in it.
    End(XmlElement<'d>),
}

impl XmlDocument {
    /// Walks through the elements as they start and end in the text.
    ///
    /// ```
    /// use cuvee_text::source::FileId;
    /// use cuvee_text::xml::{XmlLimits, XmlStep, parse};
    /// let document = parse(FileId::DETACHED, "<a><b/></a>".into(), &XmlLimits::default()).unwrap();
    /// let steps = document.walk().map(|step| match step {
    ///     XmlStep::Start(element) => format!("<{}>", element.written_name()),
    ///     XmlStep::End(element) => format!("</{}>", element.written_name()),
    /// });
    /// assert_eq!(steps.collect::<String>(), "<a><b></b></a>");
    /// ```
    pub fn walk(&self) -> impl Iterator<Item = XmlStep<'_>> {
        // Nodes are in the order of the text, so an element ends before the first node that is not
        // in it.
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
