//! Tests that large templates are converted to TOSCA 1.0 and to TOSCA 2.0, and lead back.

use super::plain;
use cuvee::Resolver;
use cuvee::output::convert::ConversionQuery;
use cuvee::source::MemoryFiles;

/// At this size, costs above linear would take minutes.
const SIZE: usize = 2 * super::SIZE;

/// What each piece of a case contains at least once, and still does when it has come back.
const MARKS: [(&str, &str); 8] = [
    ("nodes in a chain", "size: "),
    ("nodes of an unknown type", "size: "),
    ("properties of a node", "p_"),
    ("properties that no type has", "p_"),
    ("relations of a node", "n_"),
    ("types", "size: "),
    ("inputs and outputs", "get_input: i_"),
    ("policies of a node", "p_"),
];

/// The text that a file of this name with this text is converted to.
fn converted(name: &str, text: &str, query: &ConversionQuery) -> String {
    let resolver = Resolver::new(name).files(MemoryFiles::from([(name, text)]));
    resolver.convert(query).unwrap().result.text()
}

/// Converts a case there and back, and asserts that its mark occurs as often afterwards as in the
/// template.
fn leads_back(name: &str, size: usize) {
    let text = plain::template(name, size).unwrap();
    let (_, mark) = MARKS.iter().find(|(known, _)| *known == name).unwrap();
    let count = |text: &str| text.matches(*mark).count();
    let query = ConversionQuery::default().one_document();
    let definitions = converted("large.yaml", &text, &query);
    let back = converted("large.tosca", &definitions, &query);
    assert_eq!(count(&back), count(&text), "{name}, by XML");
    assert!(count(&text) >= size, "{name}");
    let newer = converted("large.yaml", &text, &query.clone().to_2_0());
    let back = converted("large.yaml", &newer, &query.to_1_3());
    assert_eq!(count(&back), count(&text), "{name}, by TOSCA 2.0");
}

#[test]
fn every_case_is_converted() {
    for case in &plain::CASES {
        leads_back(case.name, 20);
    }
}

#[test]
fn deep_and_long() {
    leads_back("nodes in a chain", SIZE);
    leads_back("nodes of an unknown type", SIZE);
    leads_back("inputs and outputs", SIZE);
}

#[test]
fn wide() {
    leads_back("properties of a node", SIZE);
    leads_back("properties that no type has", SIZE);
    leads_back("relations of a node", SIZE);
    leads_back("policies of a node", SIZE);
    leads_back("types", SIZE / 5);
}
