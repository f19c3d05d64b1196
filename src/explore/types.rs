//! The types of a template, as they are shown.

use super::Answer;
use crate::Failure;
use crate::Resolver;
use crate::resolver::with_sources;
use crate::text::diagnostic::Diagnostics;
use crate::text::source::SourceMap;
use crate::tosca::{TypeReport, Types, TypesReport};
use crate::variability::graph::VARIABILITY_GROUPS;

impl Resolver {
    /// All types of the template: the normative ones, and those of its library, its imports and its
    /// own.
    ///
    /// What is wrong with definitions is among the warnings of the answer; types are shown as far
    /// as they are right.
    ///
    /// # Errors
    /// A [`Failure`] where a file cannot be read.
    ///
    /// ```
    /// let types = cuvee::Resolver::new("examples/shop").types()?.result.types;
    /// assert!(types.iter().any(|entry| entry.name == "tosca.nodes.Root" && entry.place.starts_with("tosca_simple_1_3.yaml")));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn types(&self) -> Result<Answer<TypesReport>, Failure> {
        self.ask_types(|types, sources| Ok(TypesReport::of(types, sources)))
    }

    /// The types of this name, one of each family that has one, with all that they inherit.
    ///
    /// # Errors
    /// `unknown-type` where there is none, and as [`Resolver::types`].
    pub fn effective_types(&self, name: &str) -> Result<Answer<Vec<TypeReport>>, Failure> {
        self.ask_types(|types, sources| Ok(TypeReport::of(types, name, sources)?))
    }

    fn ask_types<T>(
        &self,
        ask: impl FnOnce(&Types<'_>, &SourceMap) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let ((result, warnings), sources) = with_sources(|sources| {
            let (documents, links) = self.documents(sources)?;
            let types = Types::linked(
                self.beside_profiles(&documents, sources),
                &links,
                &VARIABILITY_GROUPS,
            );
            Ok((ask(&types, sources)?, types.validate()))
        })?;
        Ok(Answer { result, warnings: warnings.0, sources })
    }
}
