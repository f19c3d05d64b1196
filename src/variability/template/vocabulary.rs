//! Lists the words of templates for the reference of the language: `docs/language.md`.

use super::shape::{
    COMMON, TECHNOLOGY_RULE, TOPOLOGY, TYPE_SPECIFIC_CONDITION, TYPE_SPECIFIC_CONDITIONS,
    VARIABILITY, of_kind,
};
use crate::tosca::profile::RESERVED_NAMES;
use crate::tosca::shape::Vocabulary;
use crate::variability::element::ElementKind;

/// Each word with a prefix that tells what it is, such as `node weight`.
pub(crate) fn words() -> Vec<String> {
    let mut words: Vec<_> = COMMON.iter().map(|word| format!("element {word}")).collect();
    let own = [
        ("topology", &TOPOLOGY),
        ("variability", &VARIABILITY),
        ("type-specific", &TYPE_SPECIFIC_CONDITIONS),
        ("type-specific", &TYPE_SPECIFIC_CONDITION),
        ("rule", &TECHNOLOGY_RULE),
    ];
    for (of, vocabulary) in own {
        words.extend(added(vocabulary).map(|word| format!("{of} {word}")));
    }
    for &kind in ElementKind::ALL {
        words.push(format!("kind {kind}"));
        let particular = added(of_kind(kind)).filter(|word| !COMMON.contains(word));
        words.extend(particular.map(|word| format!("{kind} {word}")));
    }
    words.extend(RESERVED_NAMES.iter().map(|name| format!("name {name}")));
    words
}

fn added(vocabulary: &'static Vocabulary) -> impl Iterator<Item = &'static str> {
    vocabulary.words.iter().copied().flatten().copied()
}

/// The words that most kinds of elements share.
pub(crate) fn common() -> &'static [&'static str] {
    &COMMON
}

/// The words that variability adds to an element of this kind, TOSCA's keynames of the element, and
/// the section of the specification that defines these.
pub(crate) fn of_element(
    kind: ElementKind,
) -> (Vec<&'static str>, Vec<&'static str>, Option<&'static str>) {
    let vocabulary = of_kind(kind);
    let keynames = vocabulary.keynames.iter().map(|keyname| keyname.name);
    (added(vocabulary).collect(), keynames.collect(), vocabulary.section)
}
