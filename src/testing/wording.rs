//! Recognizes errors of the reference implementation by their wording, for tests that were written
//! for it.

use crate::diagnostic::{Code, CodeName};

/// Codes, and words that occur in this order in messages about that error.
const WORDINGS: &[(Code, &[&str])] = &[
    (Code::Unsatisfiable, &["Could not solve"]),
    (Code::AmbiguousTopology, &["result is ambiguous", "nodes"]),
    (Code::AmbiguousTechnologies, &["result is ambiguous", "technologies"]),
    (Code::VariabilityInputConstraint, &["inputs", "constraints", "violated"]),
    // Elements that lead to, or belong to, an absent element.
    (Code::RelationSource, &["Relation source", "not exist"]),
    (Code::RelationTarget, &["Relation target", "not exist"]),
    (Code::MissingArtifactContainer, &["Container of artifact", "not exist"]),
    (Code::MissingPropertyContainer, &["Container of property", "not exist"]),
    (Code::MissingTechnologyContainer, &["Container of technology", "not exist"]),
    (Code::MissingTypeContainer, &["Container of type", "not exist"]),
    // Several elements where one is expected.
    (Code::AmbiguousArtifact, &["Artifact", "is ambiguous"]),
    (Code::AmbiguousHosting, &["more than one hosting"]),
    (Code::AmbiguousInput, &["Input", "is ambiguous"]),
    (Code::AmbiguousOutput, &["Output", "is ambiguous"]),
    (Code::AmbiguousProperty, &["Property", "is ambiguous"]),
    (Code::AmbiguousRelation, &["Relation", "is ambiguous"]),
    (Code::AmbiguousTechnology, &["more than one technology"]),
    (Code::AmbiguousType, &["Type", "is ambiguous"]),
    (Code::MultipleDefaultAlternatives, &["multiple default"]),
    // No element where one is needed.
    (Code::AmbiguousType, &["has no", "type"]),
    (Code::ExpectedArtifact, &["expected to have", "artifact"]),
    (Code::ExpectedHosting, &["expected to have", "hosting"]),
    (Code::ExpectedIncomingRelation, &["expected to have", "incoming"]),
    (Code::ExpectedTechnology, &["expected to have", "technology"]),
    (Code::ExpectedTechnology, &["no present technology"]),
    (Code::MissingPersistentNode, &["at least one persistent"]),
    (Code::MissingPersistentNode, &["at least one anchor"]),
    (Code::RequiredTechnology, &["no technology candidates"]),
    (Code::UnconsumedInput, &["Input", "not consumed"]),
    (Code::UnproducedOutput, &["Output", "not produced"]),
    // Errors in how a template is written.
    (Code::ReservedName, &["must not be named"]),
    (Code::ReusedRelationshipTemplate, &["is used multiple times"]),
    (Code::UnknownRelationshipTemplate, &["Relationship ", "not exist"]),
    (Code::UnusedRelationshipTemplate, &["is never used"]),
];

/// Whether a message of the reference implementation is about the error with this code.
pub(super) fn speaks_of(message: &str, code: CodeName) -> bool {
    WORDINGS.iter().any(|&(one, words)| code == one && in_order(message, words))
}

fn in_order(message: &str, words: &[&str]) -> bool {
    let mut rest = message;
    words.iter().all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(message: &str) -> Vec<&'static str> {
        let speaks = Code::ALL.iter().filter(|&&code| speaks_of(message, code.into()));
        speaks.map(|code| code.as_str()).collect()
    }

    #[test]
    fn messages_are_of_one_error() {
        let said = [
            ("Variability inputs constraints are violated", "variability-input-constraint"),
            ("Could not solve", "unsatisfiable"),
            (
                "The result is ambiguous considering nodes (without optimization)",
                "ambiguous-topology",
            ),
            ("The result is ambiguous considering technologies", "ambiguous-technologies"),
            (
                "Relation target \"db\" of relation \"db@0\" of node \"web\" does not exist",
                "relation-target",
            ),
            (
                "Relationship \"link\" of relation \"db\" of node \"web\" does not exist!",
                "unknown-relationship-template",
            ),
            ("Relation \"link\" is never used", "unused-relationship-template"),
            (
                "Container of technology \"helm@0\" of node \"web\" does not exist",
                "missing-technology-container",
            ),
            ("Node \"web\" has multiple default technologies", "multiple-default-alternatives"),
            ("Node \"web\" has no present type", "ambiguous-type"),
            ("Node \"web\" has no present technology", "expected-technology"),
            ("Node \"web\" has no technology candidates", "required-technology"),
            ("Node \"web\" has more than one hosting relations", "ambiguous-hosting"),
            ("Node \"web\" expected to have an incoming relation", "expected-incoming-relation"),
            ("Property \"port\" of node \"web\" is ambiguous", "ambiguous-property"),
            ("Node must not be named \"SELF\"", "reserved-name"),
            (
                "a node default condition mode requires at least one persistent node template",
                "missing-persistent-node",
            ),
        ];
        for (message, code) in said {
            assert_eq!(codes(message), [code], "{message}");
        }
        assert!(codes("something else").is_empty());
        assert!(codes("unsatisfiable").is_empty());
    }

    #[test]
    fn words_stand_in_their_order() {
        assert!(in_order("a b a", &["a", "a"]));
        assert!(!in_order("b a", &["a", "b"]));
    }
}
