//! Writes inputs as flags of a command line.

use super::Assigned;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use std::sync::Arc;

/// The flags for those inputs that have to be assigned because their defaults do not suffice.
pub fn flags(inputs: &[Arc<Assigned>]) -> String {
    let needed = inputs.iter().filter(|input| !input.default);
    let written = |input: &Arc<Assigned>| match &input.value {
        Some(value) => Some(flag(&input.name, value)),
        // Any value will do.
        None if input.case == "any" => None,
        // No value is known.
        None => Some(format!("({}: {})", input.name, input.case)),
    };
    let flags: Vec<_> = needed.filter_map(written).collect();
    if flags.is_empty() { "as it is".into() } else { flags.join(" ") }
}

/// The flag that assigns a value to an input, quoted for a shell so that the same value is read
/// back.
pub fn flag(name: &str, value: &Value) -> String {
    let word = format!("{name}={}", write_flow(value));
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:/@%^".contains(c);
    let is_expanded = |c: char| "\"\\$`!".contains(c);
    match () {
        () if word.chars().all(is_plain) => format!("-i {word}"),
        () if !word.contains('\'') => format!("-i '{word}'"),
        () if !word.contains(is_expanded) => format!("-i \"{word}\""),
        () => format!("-i '{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_survive_the_shell_and_yaml() {
        let cases: [(Value, &str); 8] = [
            ("eu-north".into(), "-i name=eu-north"),
            (2000.into(), "-i name=2000"),
            ("7".into(), "-i \"name='7'\""),
            ("tea shop".into(), "-i 'name=tea shop'"),
            ("$HOME".into(), "-i 'name=$HOME'"),
            ("it's".into(), "-i \"name=it's\""),
            ("it's $5".into(), r"-i 'name=it'\''s $5'"),
            (vec![1.into(), "a".into()].into(), "-i 'name=[1, a]'"),
        ];
        for (value, expected) in cases {
            assert_eq!(flag("name", &value), expected);
        }
    }
}
