//! Hides known secrets in texts and in streams of bytes, also where they are encoded.

use crate::topology::sensitive::SENSITIVE;
use crate::tosca::secrecy::{TELLING, telling_texts};
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use cuvee_text::value::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The length from which a line of a secret, or an encoded part of one, is hidden on its own.
const TELLING_PART: usize = 8;

/// Hides secrets in texts: values that are known to be secret, each line of those that have several,
/// and what they look like in strings of JSON and in Base64. Values with fewer than four characters
/// are not hidden, since they occur everywhere.
///
/// ```
/// use cuvee::deploy::instance::SecretMasker;
/// let masker = SecretMasker::new(&["hunter22".into(), 7.into()]);
/// assert_eq!(masker.text("login ann:hunter22, try 7"), "login ann:(sensitive), try 7");
/// // `hunter22` in Base64, as the header of a request has it behind `ann:`.
/// assert_eq!(masker.text("Basic YW5uOmh1bnRlcjIy"), "Basic YW5uOm(sensitive)");
/// ```
#[derive(Clone, Debug, Default)]
pub struct SecretMasker {
    /// What is hidden, sorted; nothing of it is empty.
    hidden: Arc<[Vec<u8>]>,
    finder: Option<AhoCorasick>,
}

impl SecretMasker {
    /// Hides these values, and all scalars in them.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut texts = BTreeSet::new();
        let mut learn = |value: &Value| telling_texts(value, &mut |text| texts.extend([text]));
        values.into_iter().for_each(&mut learn);
        Self::of(texts.iter().map(String::as_str))
    }

    /// Hides these texts.
    pub(crate) fn of<'v>(texts: impl IntoIterator<Item = &'v str>) -> Self {
        let mut hidden = BTreeSet::new();
        for text in texts.into_iter().filter(|text| text.len() >= TELLING) {
            forms(text, &mut hidden);
        }
        if hidden.is_empty() {
            return Self::default();
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&hidden);
        // Building fails only for patterns of gigabytes.
        Self { hidden: hidden.into_iter().collect(), finder: finder.ok() }
    }

    /// The text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.finder {
            Some(finder) if finder.is_match(text) => {
                finder.replace_all(text, &vec![SENSITIVE; self.hidden.len()]).into()
            }
            _ => text.into(),
        }
    }
}

/// Hides secrets in a stream of bytes. A secret may come in several pieces: what may be the
/// beginning of one is held back until more comes.
#[cfg(feature = "cli")]
#[derive(Debug, Default)]
pub(crate) struct MaskedStream {
    masker: SecretMasker,
    /// The length of the longest secret.
    longest: usize,
    /// The bytes that may be the beginning of a secret.
    held: Vec<u8>,
}

#[cfg(feature = "cli")]
impl MaskedStream {
    pub(crate) fn new(masker: SecretMasker) -> Self {
        let longest = masker.hidden.iter().map(Vec::len).max().unwrap_or_default();
        Self { masker, longest, held: Vec::new() }
    }

    /// Takes a piece, and gives what can be shown by now.
    pub(crate) fn push(&mut self, piece: &[u8], shown: &mut Vec<u8>) {
        self.held.extend_from_slice(piece);
        let end = self.open_end();
        self.hand_on(end, shown);
    }

    /// Gives the rest.
    pub(crate) fn finish(&mut self, shown: &mut Vec<u8>) {
        self.hand_on(self.held.len(), shown);
    }

    /// The position from which what is held may be the beginning of a secret that goes on behind it.
    fn open_end(&self) -> usize {
        let first = (self.held.len() + 1).saturating_sub(self.longest);
        let is_open = |at: &usize| {
            let rest = &self.held[*at..];
            // What begins like the rest comes right behind it.
            let hidden = &self.masker.hidden;
            let next = hidden.partition_point(|hidden| &**hidden <= rest);
            hidden.get(next).is_some_and(|hidden| hidden.starts_with(rest))
        };
        (first..self.held.len()).find(is_open).unwrap_or(self.held.len())
    }

    /// Hands on the bytes before `end` without secrets, and all of a secret that begins there.
    fn hand_on(&mut self, end: usize, shown: &mut Vec<u8>) {
        let mut done = 0;
        if let Some(finder) = &self.masker.finder {
            for found in finder.find_iter(&self.held).take_while(|found| found.start() < end) {
                shown.extend_from_slice(&self.held[done..found.start()]);
                shown.extend_from_slice(SENSITIVE.as_bytes());
                done = found.end();
            }
        }
        let end = end.max(done);
        shown.extend_from_slice(&self.held[done..end]);
        self.held.drain(..end);
    }
}

/// Adds what a secret looks like in texts.
fn forms(text: &str, found: &mut BTreeSet<Vec<u8>>) {
    let json = serde_json::to_string(text).unwrap_or_default();
    let inner = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
    let lines = text.lines().map(str::trim).filter(|line| line.len() >= TELLING_PART);
    let plain = lines.chain(inner).chain([text]);
    found.extend(plain.map(|form| form.as_bytes().to_vec()));
    let escaped = inner.map(escaped).unwrap_or_default();
    found.extend(escaped.iter().map(|form| form.as_bytes().to_vec()));
    for text in escaped.iter().map(String::as_str).chain(inner).chain([text]) {
        encodings(text, found);
    }
}

/// What programs make of the inside of a string of JSON that escape more than they have to: letters
/// other than those of ASCII (Python, `jq -a`), what means something in HTML (Go), both, and slashes
/// (PHP).
fn escaped(inner: &str) -> BTreeSet<String> {
    let is_letter = |c: char| !c.is_ascii();
    let is_of_html = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    let is_any = |c: char| is_letter(c) || is_of_html(c);
    let escapes: [&dyn Fn(char) -> bool; 4] = [&|_| false, &is_letter, &is_of_html, &is_any];
    let mut all = BTreeSet::new();
    for (is_escaped, slash) in escapes.into_iter().flat_map(|it| [(it, "/"), (it, "\\/")]) {
        let (mut lower, mut upper) = (String::new(), String::new());
        for c in inner.chars() {
            match c {
                '/' => [&mut lower, &mut upper].into_iter().for_each(|it| it.push_str(slash)),
                c if is_escaped(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        lower.push_str(&format!("\\u{unit:04x}"));
                        upper.push_str(&format!("\\u{unit:04X}"));
                    }
                }
                c => [&mut lower, &mut upper].into_iter().for_each(|it| it.push(c)),
            }
        }
        all.extend([lower, upper]);
    }
    all.remove(inner);
    all
}

/// Adds what a text looks like in Base64.
fn encodings(text: &str, found: &mut BTreeSet<Vec<u8>>) {
    for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
        for before in 0..3_usize {
            // Characters that depend on what is around the text are left out.
            let bytes = [&b"\0\0"[..before], text.as_bytes()].concat();
            let encoded = engine.encode(&bytes);
            let start = (before * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            if end.saturating_sub(start) >= TELLING_PART {
                found.insert(encoded.as_bytes()[start..end].to_vec());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "cli")]
    use proptest::prelude::*;

    #[test]
    fn secrets_are_hidden_in_each_form() {
        let secret = "-----BEGIN KEY-----\nMIIB\"quoted\"\\back\n-----END KEY-----\n";
        let masker = SecretMasker::new(&[secret.into(), "ab".into(), true.into()]);
        let json = serde_json::to_string(secret).unwrap();
        for text in [secret.to_owned(), json, format!("  {}\n", secret.lines().next().unwrap())] {
            let masked = masker.text(&text).into_owned();
            assert!(masked.contains(SENSITIVE), "{masked}");
            assert!(!masked.contains("KEY") && !masked.contains("MIIB"), "{masked}");
        }
        assert_eq!(masker.text("ab true"), "ab true");
        assert_eq!(SecretMasker::default().text("nothing"), "nothing");
    }

    #[test]
    fn escapes_of_json_do_not_show_secrets() {
        let masker = SecretMasker::new(&["p\u{e4}ss/w<rd\u{1f600}".into()]);
        for written in [
            r#"{"p": "p\u00e4ss/w<rd\ud83d\ude00"}"#,
            r#"{"p": "p\u00E4ss/w<rd\uD83D\uDE00"}"#,
            r#"{"p": "p\u00e4ss\/w<rd\ud83d\ude00"}"#,
            r#"{"p": "p\u00e4ss/w\u003crd\ud83d\ude00"}"#,
            "{\"p\": \"p\u{e4}ss/w\\u003crd\u{1f600}\"}",
        ] {
            assert_eq!(masker.text(written), format!(r#"{{"p": "{SENSITIVE}"}}"#), "{written}");
        }
        assert!(escaped("plain-1").is_empty());
    }

    #[test]
    fn what_is_encoded_with_other_text_is_hidden() {
        let masker = SecretMasker::new(&["swordfish".into()]);
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "x", "xy"] {
                let encoded = BASE64_STANDARD_NO_PAD.encode(format!("{before}swordfish{after}"));
                let masked = masker.text(&encoded).into_owned();
                assert!(masked.contains(SENSITIVE), "{before} {after}: {encoded}");
            }
        }
    }

    #[cfg(feature = "cli")]
    proptest! {
        /// A stream says the same in whatever pieces it comes, and never holds back more than what
        /// may be a secret.
        #[test]
        fn pieces_of_a_stream_do_not_matter(
            text in "[abc ]{0,60}",
            secrets in proptest::collection::vec("[abc]{4,9}", 0..4),
            cuts in proptest::collection::vec(0..60_usize, 0..8),
        ) {
            let values: Vec<Value> = secrets.iter().map(|it| it.as_str().into()).collect();
            let masker = SecretMasker::new(&values);
            let whole = masker.text(&text).into_owned();
            let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
            cuts.sort_unstable();
            let (mut stream, mut shown, mut start) = (MaskedStream::new(masker), Vec::new(), 0);
            for cut in cuts.into_iter().chain([text.len()]) {
                stream.push(&text.as_bytes()[start..cut], &mut shown);
                start = cut;
                prop_assert!(stream.held.len() < 10);
            }
            stream.finish(&mut shown);
            prop_assert_eq!(String::from_utf8(shown).unwrap(), whole);
        }
    }
}
