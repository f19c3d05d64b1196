//! Writes templates of artifacts and policies whose namespace is another than that of the
//! definitions. They have the namespace of their document, so each namespace gets a document.

use super::XmlConverter;
use super::names::{DocumentIds, QualifiedName};
use super::part::XmlPart;
use crate::tosca::v1_0::TOSCA;

/// The templates of a namespace.
#[derive(Debug, Default)]
pub(super) struct OtherTemplates {
    ids: DocumentIds,
    parts: Vec<XmlPart>,
}

impl XmlConverter<'_, '_> {
    /// The name of a new template: the one that metadata record, which may have a namespace of its
    /// own, or else `wanted`. One document holds templates of one namespace only.
    pub(super) fn template_name(&mut self, known: Option<&str>, wanted: &str) -> QualifiedName {
        let own =
            |local: &str| QualifiedName { namespace: self.target.clone(), local: local.to_owned() };
        let said = known.and_then(QualifiedName::read);
        let said = said.unwrap_or_else(|| own(known.unwrap_or(wanted)));
        let QualifiedName { namespace, local } = match self.settings.is_single {
            true => own(&said.local),
            false => said,
        };
        let ids = match namespace == self.target {
            true => &mut self.ids,
            false => &mut self.other_templates.entry(namespace.clone()).or_default().ids,
        };
        QualifiedName { local: ids.take(&local), namespace }
    }

    /// Adds a template to the document of its namespace, and returns its name with a prefix.
    pub(super) fn add_template(&mut self, name: &QualifiedName, template: XmlPart) -> String {
        match self.other_templates.get_mut(&name.namespace) {
            Some(others) => others.parts.push(template),
            None => self.templates.push(template),
        }
        self.prefixes.name(name)
    }

    /// The documents of templates of other namespaces, with their names. They and the definitions
    /// import each other.
    pub(super) fn other_documents(
        &mut self,
        root: &mut XmlPart,
        id: &str,
    ) -> Vec<(String, String)> {
        let import = |namespace: &str, location: &str| {
            let part = XmlPart::new("Import").with("namespace", namespace);
            part.with("location", location).with("importType", TOSCA)
        };
        let mut documents = Vec::new();
        for (namespace, templates) in std::mem::take(&mut self.other_templates) {
            let own = format!("{id}-{}", self.prefixes.of(&namespace));
            let name = format!("{own}.tosca");
            root.push(import(&namespace, &name));
            let mut other = XmlPart::new("Definitions").with("id", own);
            other.set("targetNamespace", namespace);
            other.push(import(&self.target, &format!("{id}.tosca")));
            templates.parts.into_iter().for_each(|template| other.push(template));
            documents.push((name, other));
        }
        let written = documents.into_iter();
        written.map(|(name, mut part)| (name, self.canonical(self.draft(&mut part)))).collect()
    }
}
