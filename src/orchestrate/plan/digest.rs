//! Computes the digest of a plan's document, which is the name of the plan.

use crate::tosca::digest::sha256;

/// The members of the document that the digest leaves out: the digest itself, the version of the
/// format, and the results of a simulation, which do not change the plan.
const LEFT_OUT: [&str; 6] = ["version", "plan", "events", "states", "failed", "handled_by"];

/// The digest of a document without these members, and without blanks between tokens.
///
/// ```
/// let name = cuvee::deploy::plan::digest_of(br#"{"workflow":"deploy"}"#);
/// assert!(name.starts_with("sha256:") && name.len() == 71);
/// ```
pub fn digest_of(rest: &[u8]) -> String {
    format!("sha256:{}", sha256(rest))
}

/// The digest that a document has to contain. The digest and the blanks that it contains do not
/// matter. `None` if it is no object.
///
/// ```
/// use cuvee::deploy::plan::{digest_in, digest_of};
/// let document = r#"{ "version": 1, "plan": "sha256:...", "workflow": "deploy" }"#;
/// assert_eq!(digest_in(document), Some(digest_of(br#"{"workflow":"deploy"}"#)));
/// ```
pub fn digest_in(document: &str) -> Option<String> {
    let compact = without_blanks(document);
    let inside = compact.strip_prefix(b"{")?.strip_suffix(b"}")?;
    let is_left_out = |member: &[u8]| {
        let rest = member.strip_prefix(b"\"").unwrap_or_default();
        LEFT_OUT.iter().any(|name| {
            rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"\":"))
        })
    };
    let kept: Vec<_> = members(inside).into_iter().filter(|member| !is_left_out(member)).collect();
    Some(digest_of(&[b"{", &*kept.join(&b','), b"}"].concat()))
}

/// Walks over JSON, byte by byte; the flag is whether the byte is inside a string.
fn walk(json: &[u8]) -> impl Iterator<Item = (usize, u8, bool)> {
    let (mut is_text, mut is_escaped) = (false, false);
    json.iter().enumerate().map(move |(at, &byte)| {
        let was_text = is_text;
        match (is_text, is_escaped, byte) {
            (true, true, _) => is_escaped = false,
            (true, false, b'\\') => is_escaped = true,
            (_, _, b'"') => is_text = !is_text,
            _ => {}
        }
        (at, byte, was_text)
    })
}

fn without_blanks(json: &str) -> Vec<u8> {
    let kept =
        walk(json.as_bytes()).filter(|(_, byte, is_text)| *is_text || !byte.is_ascii_whitespace());
    kept.map(|(_, byte, _)| byte).collect()
}

/// The members of an object: the parts between its commas.
fn members(inside: &[u8]) -> Vec<&[u8]> {
    let (mut members, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte, _) in walk(inside).filter(|(_, _, is_text)| !is_text) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                members.extend(inside.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    members.extend(inside.get(start..).filter(|rest| !rest.is_empty()));
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_what_is_left_out_make_no_difference() {
        let plan = r#"{"workflow":"deploy","steps":[{"id":"a, \"b\"}","plan":1}]}"#;
        let spread = "{\n \"version\": 1, \"plan\": \"sha256:0\",\n \"workflow\": \"deploy\",\n \"steps\":\
                      [ {\"id\": \"a, \\\"b\\\"}\", \"plan\": 1} ], \"events\": [1, {\"a\": 2}]\n}\n";
        assert_eq!(digest_in(plan), Some(digest_of(plan.as_bytes())));
        assert_eq!(digest_in(spread), digest_in(plan));
        assert_ne!(digest_in(&plan.replace("a, ", "a,")), digest_in(plan));
        assert_eq!(digest_in("[]"), None);
    }
}
