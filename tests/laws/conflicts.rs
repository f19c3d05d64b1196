//! Laws of conflicts: the requirements that explain a conflict really conflict, and none of them is
//! superfluous.

use cuvee::Failure;
use cuvee::diagnostic::{Code, Severity};
use proptest::prelude::*;

use super::generate::template;
use super::logic::{Logic, Models};
use super::oracle::{Oracle, Requirement};
use super::{cases, resolver};

/// The requirements that each label of a conflict refers to.
fn named(failure: &Failure, requirements: &[Requirement]) -> Vec<Vec<Logic>> {
    // A note says why other inputs do not help, which is another conflict.
    let errors = failure.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    let labels = errors.flat_map(|diagnostic| &diagnostic.labels);
    let labels = labels.filter(|label| !label.message.starts_with("these are the conditions of"));
    let of_label = |label: &cuvee::diagnostic::Label| {
        let text = failure.sources.snippet(label.span);
        let is_named = |requirement: &&Requirement| {
            label.message.starts_with(&requirement.message)
                && requirement.text.as_ref().is_none_or(|expected| expected == text)
        };
        requirements.iter().filter(is_named).map(|requirement| requirement.holds.clone()).collect()
    };
    labels.map(of_label).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    /// The reasons that are given cannot hold together, but without any one of them the others can.
    #[test]
    fn conflicts_are_minimal(template in template()) {
        let text = template.render();
        let failure = resolver(&text, &template).resolve().err().filter(|failure| failure.diagnostics.iter().any(|one| one.code == Code::Unsatisfiable));
        prop_assume!(failure.is_some());
        let failure = failure.unwrap();
        let labels: Vec<_> = failure.diagnostics.iter().flat_map(|one| &one.labels).map(|label| (&label.message, failure.sources.snippet(label.span))).collect();
        let oracle = Oracle::new(&template);
        // The definition of a formula is not a reason, though labels may refer to it.
        let (definitions, reasons): (Vec<_>, Vec<_>) = oracle.requirements().into_iter().partition(|one| one.message.starts_with("these are the conditions of"));
        let definitions: Vec<_> = definitions.into_iter().map(|definition| definition.holds).collect();
        let named = named(&failure, &reasons);
        prop_assert!(named.iter().all(|reasons| !reasons.is_empty()), "a reason that is none: {:?}\n{}", labels, text);
        let satisfiable = |reasons: &[Vec<Logic>]| Models::exists(&[&definitions, reasons.concat().as_slice()].concat(), &oracle.preference(), template.elements.len());
        prop_assert_eq!(satisfiable(&named), Some(false), "no conflict: {:?}\n{}", labels, text);
        // A label may refer to several reasons of which not all are needed, and where conditions
        // ask for conditions, definitions are reasons, too. Such conflicts are left out.
        let is_plain = ["has_incoming_relation:", "has_outgoing_relation:", "has_artifact:"].iter().all(|operator| !text.contains(operator));
        prop_assume!(is_plain && named.iter().all(|reasons| reasons.len() == 1));
        for left_out in 0..named.len() {
            let mut rest = named.clone();
            rest.remove(left_out);
            prop_assert_eq!(satisfiable(&rest), Some(true), "not needed: {:?} of {:?}\n{}", named[left_out], labels, text);
        }
    }
}
