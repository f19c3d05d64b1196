//! Checks properties against their schemas (statements C17, C18 and C20).

use super::checker::DefinitionsChecker;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::tosca::v1_0::definitions::{DefinedComponent, EntityTemplate, EntityType, SaidText};
use crate::tosca::v1_0::{ComponentId, ExpectedProperties, property_steps};
use crate::tosca::xml_schema::{SchemaPath, SchemaValueType};
use cuvee_text::source::Span;
use cuvee_text::xml::XmlElement;

impl<'d> DefinitionsChecker<'_, 'd> {
    /// Checks the properties of a type: they agree with those of its ancestors, and are not
    /// declared twice.
    pub(super) fn defined_properties(
        &mut self,
        id: ComponentId,
        component: &DefinedComponent<'d>,
        said: &EntityType<'d>,
    ) {
        let own = self.schemas.own(id);
        if let (Some(defined), Some(keyed), Some(keys)) = (own.defined, own.keyed, &said.keys) {
            self.same_properties(defined, ExpectedProperties::Element(keyed), keys.span, component);
        }
        let (Some(definition), Some(defined)) = (&said.properties, own.defined) else { return };
        let Some(parent) = self.library.parent(id) else { return };
        let of_parent = self.schemas.value_type(self.schemas.expected(self.library, parent));
        let of = self.schemas.value_type(defined);
        if self.schemas.set.derives(of, of_parent) == Some(false) {
            let message = format!(
                "the properties of `{}` do not extend those of `{}`, from which it derives",
                component.name.text,
                self.name(parent)
            );
            let warning = Diagnostic::warning(Code::InvalidRefinement, message).at(definition.span);
            self.say(warning, component.kind.derivation_section());
        }
    }

    /// Checks that keys beside a schema declare the same properties as the schema.
    fn same_properties(
        &mut self,
        defined: ExpectedProperties,
        keyed: ExpectedProperties,
        at: Span,
        component: &DefinedComponent<'d>,
    ) {
        let set = &self.schemas.set;
        let name = |expected| match expected {
            ExpectedProperties::Element(id) => {
                let declared = set.declared(id);
                Some((&*declared.namespace, &*declared.name))
            }
            ExpectedProperties::Type(_) | ExpectedProperties::Unknown => None,
        };
        let is_other_name = name(defined).is_some_and(|defined| Some(defined) != name(keyed));
        let types = (self.schemas.value_type(defined), self.schemas.value_type(keyed));
        if is_other_name || set.differ(types.0, types.1) == Some(true) {
            let message = "these keys differ from those of `PropertiesDefinition`";
            let warning = Diagnostic::warning(Code::InvalidDefinition, message).at(at);
            self.say(warning, component.kind.section());
        }
    }

    /// Checks the properties of a template.
    pub(super) fn properties(
        &mut self,
        type_id: ComponentId,
        said: &EntityTemplate<'d>,
        section: &'static str,
    ) {
        let expected = self.schemas.expected(self.library, type_id);
        for constraint in &said.constraints {
            self.leads(constraint, expected, section);
        }
        if let Some(root) = said.properties {
            self.properties_root(root, type_id, expected, section);
        }
    }

    /// Checks the root element of the properties of an instance of a type.
    pub(super) fn properties_root(
        &mut self,
        root: XmlElement<'d>,
        type_id: ComponentId,
        expected: ExpectedProperties,
        section: &'static str,
    ) {
        let schemas = self.schemas;
        if let ExpectedProperties::Element(id) = expected {
            let (declared, name) = (schemas.set.declared(id), root.name());
            if (&*declared.namespace, &*declared.name) != (name.namespace, name.local) {
                let message = format!(
                    "the properties of `{}` are a `{}` of {}, not a {name}",
                    self.name(type_id),
                    declared.name,
                    declared.namespace
                );
                // Tools that write keys of Winery do not care for the namespace.
                let is_warning = *declared.namespace != *name.namespace && self.has_keys(type_id);
                let severity = if is_warning { Severity::Warning } else { Severity::Error };
                let found = Diagnostic::error(Code::InvalidTemplate, message).at(root.span());
                let found = found.with_severity(severity).label(declared.span, "declared here");
                self.say(found, section);
                return;
            }
        }
        for found in schemas.set.check(root, schemas.value_type(expected)) {
            self.say(found, section);
        }
    }

    /// Whether keys of Winery define the properties of templates of a type, beside a schema or alone.
    fn has_keys(&self, type_id: ComponentId) -> bool {
        let mut all = self.library.ancestry(type_id).map(|id| self.schemas.own(id));
        let own = all.find(|own| own.defined.is_some() || own.keyed.is_some());
        own.is_some_and(|own| own.keyed.is_some())
    }

    /// The type of the property that a path leads to; reports paths that lead nowhere.
    pub(super) fn leads(
        &mut self,
        path: &SaidText<'d>,
        expected: ExpectedProperties,
        section: &'static str,
    ) -> Option<SchemaValueType> {
        let Some(steps) = property_steps(&path.text) else {
            let message =
                format!("the target of the path `{}` cannot be determined here", path.text);
            self.say(Diagnostic::note(Code::Undecidable, message).at(path.span), section);
            return None;
        };
        let root = match expected {
            ExpectedProperties::Element(id) => &*self.schemas.set.declared(id).name,
            ExpectedProperties::Type(_) | ExpectedProperties::Unknown => "",
        };
        match self.schemas.set.follow((root, self.schemas.value_type(expected)), steps.into_iter())
        {
            SchemaPath::To(SchemaValueType::Unknown) | SchemaPath::Unknown => None,
            SchemaPath::To(of) => Some(of),
            SchemaPath::Nowhere => {
                let message = format!("`{}` leads to no property", path.text);
                let error = Diagnostic::error(Code::UnknownProperty, message).at(path.span);
                self.say(error, section);
                None
            }
        }
    }
}
