//! Tests large cases of substituting and fulfilling.

use super::SIZE;
use super::substitution_templates::CASES;

/// The result for a case of this size.
fn substituted(name: &str, size: usize) -> String {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let (resolver, query) = (case.make)(size);
    let yaml = resolver.substitute(&query).unwrap().resolution.to_yaml().to_owned();
    assert!(!yaml.contains("substitute]"), "{name}");
    yaml
}

#[test]
fn every_case_substitutes() {
    for case in CASES.iter().filter(|case| !case.is_impossible) {
        assert!(substituted(case.name, 20).contains("node_templates"), "{}", case.name);
        assert!(!case.sizes.is_empty() && case.goal != Some(0), "{}", case.name);
    }
}

/// Where there are too few places, that is said at once, and who competes.
#[test]
fn too_few_places() {
    for (name, size, competing) in [
        ("open relations, one place too few", SIZE / 10, SIZE / 10),
        ("open relations, a place for every tenth", SIZE, SIZE / 10 + 1),
    ] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let (resolver, query) = (case.make)(size);
        let failure = resolver.substitute(&query).unwrap_err();
        let message = &failure.diagnostics[0].message;
        assert!(
            message.starts_with(&format!("{competing} requirements or selections compete")),
            "{message}"
        );
    }
}

#[test]
fn templates_in_templates() {
    for name in ["templates in templates", "templates in templates, two for each"] {
        assert_eq!(substituted(name, 64).matches("_own: {type: Part").count(), 64, "{name}");
    }
}

#[test]
fn many_mappings() {
    let yaml = substituted("mappings of one requirement", SIZE);
    assert_eq!(yaml.matches("requirements: [{service: server").count(), SIZE);
}

#[test]
fn many_nodes() {
    let yaml = substituted("nodes, 50 candidates of 20 nodes each", SIZE / 100);
    assert_eq!(yaml.matches("metadata: {substitutes: ").count(), SIZE / 100 * 19);
}
