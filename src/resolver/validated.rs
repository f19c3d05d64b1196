//! Whether what is to be substituted can be, in all variants.

use super::Resolver;
use super::substitution::SubstitutionQuery;
use crate::explore::{Assigned, Query};
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::{Code, Diagnostic, Severity};
use crate::tosca::load::Extent;
use crate::validate::Validation;
use std::sync::Arc;

/// So many variants are looked at one by one.
const VARIANTS: usize = 1_000;

impl Resolver {
    /// Whether each node that is to be substituted has a candidate, and one only, in all variants of the
    /// template; where a preset or inputs are given, in their variant. What else is wrong is for
    /// [`Resolver::validate`] to say.
    ///
    /// Each variant is substituted: the first 1,000 of them.
    pub fn validate_substitutions(&self, query: &SubstitutionQuery) -> Validation {
        let loaded = match self.loaded(Extent::Whole) {
            Ok(loaded) => loaded,
            Err(failure) => return failure.into(),
        };
        let resolver = Self { loaded: Some(Arc::clone(&loaded)), ..self.clone() };
        let query = SubstitutionQuery { leaves_open: true, ..query.clone() };
        let mut diagnostics = Vec::new();
        let all = Query { limit: VARIANTS, ..Query::default() };
        match resolver.variants(&all) {
            _ if self.choice.is_of_one_variant() => {
                resolver.lacking(&query, &[], &mut diagnostics);
            }
            Ok(Answer { result: found, .. }) => {
                for variant in &found.variants {
                    resolver.lacking(&query, &variant.inputs, &mut diagnostics);
                }
                diagnostics.extend(found.more.then(not_all));
            }
            // Why there is none is said where the template is validated.
            Err(_) => {}
        }
        // What was read by then is all there.
        Validation { diagnostics, sources: loaded.sources().clone() }
    }

    /// What cannot be substituted with these inputs, unless that is known.
    fn lacking(&self, query: &SubstitutionQuery, inputs: &[Assigned], known: &mut Vec<Diagnostic>) {
        let chosen = inputs.iter().filter_map(|it| Some((&it.name, it.value.clone()?)));
        let resolver = chosen.fold(self.clone(), |it, (name, value)| it.input(name, value));
        let Err(Failure { diagnostics, .. }) = resolver.substitute(query) else { return };
        if resolver.resolve().is_err() {
            return;
        }
        let example = inputs.iter().filter(|input| !input.default);
        let example =
            example.filter_map(|it| Some(format!("-i {}={}", it.name, it.value.as_ref()?)));
        let example = example.collect::<Vec<_>>().join(" ");
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        for mut found in diagnostics.into_iter().filter(is_error) {
            let is_known =
                |other: &Diagnostic| (other.code, other.span) == (found.code, found.span);
            if known.iter().any(is_known) {
                continue;
            }
            if !example.is_empty() {
                found.message.push_str(&format!(", for example with `{example}`"));
            }
            known.push(found);
        }
    }
}

fn not_all() -> Diagnostic {
    let message = format!(
        "whether nodes can be substituted in all variants is not known: {VARIANTS} were looked at"
    );
    Diagnostic::note(Code::Undecidable, message)
}
