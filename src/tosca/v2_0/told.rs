//! Tells what is found in files of TOSCA 2.0 by their own standard: with its sections, and with the
//! keynames that their authors wrote.

use super::grammar::renamed_fields;
use crate::diagnostic::{Diagnostic, Rule, TOSCA_2_0, TOSCA_SIMPLE_1_3};

/// Sections of the Simple Profile 1.3 and their counterparts in TOSCA 2.0. A section that is not
/// listed has the counterpart of the section around it.
const COUNTERPARTS: &[(&str, &str)] = &[
    ("3.1", "6.8.4"),
    ("3.2", "6.4"),
    ("3.3", "9.1"),
    ("3.3.1", "9.1.1"),
    ("3.3.2", "9.1.2"),
    ("3.3.4", "9.1.3"),
    ("3.3.5", "9.1.3"),
    ("3.3.6", "9.1.2"),
    ("3.4.1", "13.2.3.2"),
    ("3.4.3", "7.2"),
    ("3.6.3", "9.10"),
    ("3.6.5", "8.8"),
    ("3.6.6", "6.5"),
    ("3.6.7", "12.2"),
    ("3.6.8", "6.8.1"),
    ("3.6.9", "9.3"),
    ("3.6.10", "9.3"),
    ("3.6.11", "9.4"),
    ("3.6.12", "9.5"),
    ("3.6.13", "9.6"),
    ("3.6.14", "9.7"),
    ("3.6.15", "9.9"),
    ("3.6.16", "11.8"),
    ("3.6.17", "11.4"),
    ("3.6.18", "11.5"),
    ("3.6.19", "11.6"),
    ("3.6.20", "11.2"),
    ("3.6.21", "16.5"),
    ("3.6.22", "16.5"),
    ("3.6.23", "13.2.3"),
    ("3.6.24", "13.2.3"),
    ("3.6.25", "9.10"),
    ("3.6.26", "13.2.1"),
    ("3.6.27", "13.2.2"),
    ("3.7.1", "6.4.1"),
    ("3.7.2", "8.2"),
    ("3.7.3", "8.5"),
    ("3.7.4", "12.1"),
    ("3.7.5", "11.1"),
    ("3.7.6", "9.2"),
    ("3.7.7", "8.1"),
    ("3.7.8", "8.5"),
    ("3.7.9", "7.1"),
    ("3.7.10", "7.3"),
    ("3.7.11", "16.1"),
    ("3.7.12", "16.3"),
    ("3.8.1", "8.4"),
    ("3.8.2", "8.7.1"),
    ("3.8.3", "7.2"),
    ("3.8.4", "7.4"),
    ("3.8.5", "16.2"),
    ("3.8.6", "16.4"),
    ("3.8.7", "13.2"),
    ("3.8.8", "15.2"),
    ("3.8.9", "15.3"),
    ("3.8.10", "15.4"),
    ("3.8.11", "15.5"),
    ("3.8.12", "15.6"),
    ("3.8.13", "15.1"),
    ("3.9", "6.9"),
    ("3.10", "6.1"),
    ("4", "10.2"),
    ("4.1", "10.3"),
    ("4.3.1", "10.2.3.2"),
    ("4.3.2", "10.2.3.3"),
    ("4.3.3", "10.2.3.4"),
    ("4.4.1", "10.2.1.1"),
    ("4.4.2", "10.2.1.2"),
    ("4.5.1", "10.2.1.3"),
    ("4.8.1", "10.2.1.4"),
    ("6", "17"),
    ("6.2", "17.2"),
    ("6.3", "17.3"),
    ("7", "13"),
    ("15", "15.1"),
];

/// The section of TOSCA 2.0 that says what a section of version 1.3 says.
fn counterpart(section: &str) -> Option<&'static str> {
    let mut section = section;
    loop {
        if let Some((_, counterpart)) = COUNTERPARTS.iter().find(|(of_1_3, _)| *of_1_3 == section) {
            return Some(counterpart);
        }
        section = section.rsplit_once('.')?.0;
    }
}

/// Words of version 1.3 in messages, with those that TOSCA 2.0 has for the same.
const WORDS: [(&str, &str); 2] = [("topology input", "input"), ("namespace prefix", "namespace")];

/// Tells a diagnostic about a file of TOSCA 2.0 by that standard. What cites TOSCA 2.0 already
/// stays.
pub(crate) fn tell(diagnostic: &mut Diagnostic) {
    if diagnostic.rule.as_ref().is_some_and(|rule| !is_simple(rule)) {
        return;
    }
    cite(diagnostic);
    let words = WORDS.map(|(old, new)| (old.to_owned(), new.to_owned()));
    let fields = renamed_fields().map(|(field, name)| (format!("`{field}`"), format!("`{name}`")));
    for (old, new) in fields.chain(words) {
        diagnostic.message = diagnostic.message.replace(&old, &new);
        if let Some(help) = diagnostic.help.as_mut().filter(|help| help.contains(&old)) {
            *help = help.replace(&old, &new).into();
        }
    }
}

/// Cites the section of TOSCA 2.0 that says what the cited one of version 1.3 says.
pub(crate) fn cite(diagnostic: &mut Diagnostic) {
    if let Some(rule) = diagnostic.rule.as_ref().filter(|rule| is_simple(rule)) {
        let section = counterpart(rule.section);
        diagnostic.rule = section.map(|section| Rule::new(&TOSCA_2_0, section).into());
    }
}

fn is_simple(rule: &Rule) -> bool {
    rule.specification.name == TOSCA_SIMPLE_1_3.name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_the_counterpart_of_the_section_around_them() {
        assert_eq!(counterpart("3.6.10.6"), Some("9.3"));
        assert_eq!(counterpart("3.8.2.2.2"), Some("8.7.1"));
        assert_eq!(counterpart("4.7.1"), Some("10.2"));
        assert_eq!(counterpart("5.9"), None);
    }
}
