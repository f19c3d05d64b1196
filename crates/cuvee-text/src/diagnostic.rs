//! Describes mistakes so that readers can act on them: a code, a message, the place, related places
//! and help.

use crate::source::{SourceMap, Span};
use std::fmt;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Nothing is wrong, as far as can be told.
    Note,
    /// The result may not be what its author meant.
    Warning,
    /// There is no result.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// The name of a kind of diagnostic, such as `syntax`: words in lower case with hyphens between
/// them.
///
/// Programs that use this crate add kinds of their own by [`CodeName::new`]. The kinds of this
/// crate are [`CodeName::ALL`].
///
/// ```
/// use cuvee_text::diagnostic::{CodeName, Diagnostic};
/// let missing = CodeName::new(&"missing-kettle");
/// assert_eq!(Diagnostic::error(missing, "there is no kettle").code.as_str(), "missing-kettle");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeName(
    /// One word long, since every result of a phase may hold a diagnostic.
    &'static &'static str,
);

impl CodeName {
    /// A file cannot be read.
    pub const FILE: Self = Self(&"file");
    /// A text is not well-formed YAML, JSON or XML, or passes a limit.
    pub const SYNTAX: Self = Self(&"syntax");
    /// The kinds of diagnostics of this crate.
    pub const ALL: &'static [Self] = &[Self::FILE, Self::SYNTAX];

    /// Creates a kind of diagnostic.
    pub const fn new(name: &'static &'static str) -> Self {
        Self(name)
    }

    /// The name as it is printed.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for CodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for CodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A document that contains rules to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Specification {
    /// The title on the title page of the document.
    pub title: &'static str,
    /// The short name of the document in messages.
    pub name: &'static str,
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A section of a specification that states a rule.
///
/// ```
/// use cuvee_text::diagnostic::{CodeName, Diagnostic, Rule, Specification};
/// const MANUAL: Specification = Specification { title: "The Manual of Kettles", name: "the manual" };
/// let error = Diagnostic::error(CodeName::SYNTAX, "no lid").rule(Rule::new(&MANUAL, "3.6"));
/// assert_eq!(error.rule.unwrap().to_string(), "section 3.6 of the manual");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Rule {
    /// The specification.
    pub specification: &'static Specification,
    /// The number of the section.
    pub section: &'static str,
}

impl Rule {
    /// Creates a reference to a section of a specification.
    pub fn new(specification: &'static Specification, section: &'static str) -> Self {
        Self { specification, section }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "section {} of {}", self.section, self.specification)
    }
}

/// Advice on what to do about a mistake. Where the right text is clear, it can also be replaced
/// automatically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    text: String,
    instead: Option<Box<Replacement>>,
}

/// A word, and the word that was most likely meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Replacement {
    written: String,
    meant: String,
}

impl Advice {
    /// Asks whether `meant` was meant instead of `written`, and offers it as a replacement.
    pub fn did_you_mean(written: &str, meant: &str) -> Self {
        Self::from(format!("did you mean `{meant}`?")).instead(written, meant)
    }

    /// Offers `meant` as a replacement where the text at the place of the diagnostic is just
    /// `written`.
    pub fn instead(mut self, written: impl Into<String>, meant: impl Into<String>) -> Self {
        self.instead = Some(Box::new(Replacement { written: written.into(), meant: meant.into() }));
        self
    }

    /// Adds a sentence to the advice.
    pub fn and(mut self, more: &str) -> Self {
        self.text.push(' ');
        self.text.push_str(more);
        self
    }
}

impl<T: Into<String>> From<T> for Advice {
    fn from(text: T) -> Self {
        Self { text: text.into(), instead: None }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A change of a file that removes a diagnostic. Another mistake may come to light.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// The text to replace.
    pub span: Span,
    /// The new text, as it is to be written into the file.
    pub replacement: String,
}

/// A related place, and a message about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The relation of the place to the diagnostic.
    pub message: String,
}

/// A mistake, a warning or a note.
///
/// ```
/// use cuvee_text::diagnostic::{CodeName, Diagnostic, did_you_mean};
/// use cuvee_text::source::SourceMap;
/// let error = Diagnostic::error(CodeName::new(&"unknown-type"), "there is no type `prd`").help_opt(did_you_mean("prd", ["dev", "prod"]));
/// assert_eq!(error.one_line(&SourceMap::default()), "error[unknown-type]: there is no type `prd`");
/// assert_eq!(error.help.as_deref(), Some("did you mean `prod`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of the diagnostic.
    pub code: CodeName,
    /// How serious it is.
    pub severity: Severity,
    /// The message, in one sentence without a full stop.
    pub message: String,
    /// The place of the mistake. `None` for what has no place in a file, such as a flag.
    pub span: Option<Span>,
    /// Related places.
    pub labels: Vec<Label>,
    /// Advice on what to do.
    pub help: Option<Box<str>>,
    /// The rule of a specification that is violated, if any.
    pub rule: Option<Box<Rule>>,
    /// The replacement, where it is clear what to write instead.
    instead: Option<Box<Replacement>>,
}

impl Diagnostic {
    /// Creates an error.
    pub fn error(code: impl Into<CodeName>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity: Severity::Error,
            message: in_words(message.into()),
            span: None,
            labels: Vec::new(),
            help: None,
            rule: None,
            instead: None,
        }
    }

    /// Creates a warning.
    pub fn warning(code: impl Into<CodeName>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Creates a note.
    pub fn note(code: impl Into<CodeName>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, message) }
    }

    /// Changes how serious the diagnostic is.
    pub fn with_severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// Changes the code.
    pub fn with_code(self, code: impl Into<CodeName>) -> Self {
        Self { code: code.into(), ..self }
    }

    /// Changes the message.
    pub fn with_message(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// Sets the place. A detached span is no place.
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.span = span.into().filter(|span| !span.is_detached());
        self
    }

    /// Adds a related place, unless the span is detached.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        if !span.is_detached() {
            self.labels.push(Label { span, message: message.into() });
        }
        self
    }

    /// Removes the related places.
    pub fn without_labels(self) -> Self {
        Self { labels: Vec::new(), ..self }
    }

    /// Sets the advice.
    pub fn help(mut self, help: impl Into<Advice>) -> Self {
        let Advice { text, instead } = help.into();
        (self.help, self.instead) = (Some(text.into()), instead);
        self
    }

    /// Sets the advice, if there is any.
    pub fn help_opt(self, help: Option<impl Into<Advice>>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// Takes over the advice of another diagnostic.
    pub fn with_help_of(mut self, other: &Self) -> Self {
        self.help.clone_from(&other.help);
        self.instead.clone_from(&other.instead);
        self
    }

    /// Offers no replacement where `is_taken` says that the word may not be written at the place.
    ///
    /// ```
    /// use cuvee_text::diagnostic::{CodeName, Diagnostic, did_you_mean};
    /// use cuvee_text::source::{SourceMap, Span};
    /// let sources = SourceMap::default();
    /// let file = sources.add("shop.yaml", "{port: 80, prot: 81}");
    /// let mut error = Diagnostic::error(CodeName::new(&"unknown-property"), "there is no `prot`")
    ///     .at(Span { file, start: 11, end: 15 })
    ///     .help_opt(did_you_mean("prot", ["port"]));
    /// error.without_fix(|_, word| word == "port");
    /// assert_eq!(error.fix(&sources), None);
    /// ```
    pub fn without_fix(&mut self, is_taken: impl FnOnce(Span, &str) -> bool) {
        let replacement = self.span.zip(self.instead.as_deref());
        if replacement.is_some_and(|(span, replacement)| is_taken(span, &replacement.meant)) {
            self.instead = None;
        }
    }

    /// Sets the rule of a specification that is violated.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = Some(Box::new(rule));
        self
    }

    /// A change that an editor may apply without asking further. There is one where the advice
    /// offers a replacement, and the file still has the text to be replaced.
    ///
    /// ```
    /// use cuvee_text::diagnostic::{CodeName, Diagnostic, did_you_mean};
    /// use cuvee_text::source::{SourceMap, Span};
    /// let sources = SourceMap::default();
    /// let file = sources.add("shop.yaml", "prot: 80\n");
    /// let error = Diagnostic::error(CodeName::new(&"unknown-property"), "there is no `prot`")
    ///     .at(Span { file, start: 0, end: 4 })
    ///     .help_opt(did_you_mean("prot", ["port", "name"]));
    /// assert_eq!(error.fix(&sources).unwrap().replacement, "port");
    /// ```
    pub fn fix(&self, sources: &SourceMap) -> Option<Fix> {
        let (span, Replacement { written, meant }) = (self.span?, self.instead.as_deref()?);
        let there = sources.snippet(span);
        // A replacement that is no plain word in YAML, JSON and XML needs a person to write it.
        let quote = [None, Some('"'), Some('\'')].into_iter().find(|quote| match quote {
            Some(quote) => {
                let inner = there.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote));
                inner == Some(written)
            }
            None => there == written,
        })?;
        let quote = quote.map(String::from).unwrap_or_default();
        let replacement = format!("{quote}{meant}{quote}");
        is_word(meant).then_some(Fix { span, replacement })
    }

    /// Formats the diagnostic in one line, `file:line:col: error[code]: message`.
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let place = self.span.map(|span| format!("{}: ", sources.place(span)));
        format!("{}{}[{}]: {}", place.unwrap_or_default(), self.severity, self.code, self.message)
    }
}

/// Whether YAML, JSON and XML all read this unquoted text as a string.
fn is_word(text: &str) -> bool {
    const NO_STRINGS: [&str; 11] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(inner)
        && !NO_STRINGS.contains(&&*text.to_ascii_lowercase())
}

/// A list of diagnostics. A phase that collects them continues after the first mistake, so that all
/// are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Returns the value of an `Ok`. Adds the diagnostic of an `Err`, and returns `None`.
    pub fn ok<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.push(diagnostic)).ok()
    }

    /// Returns the value of an `Ok`. Adds the diagnostics of an `Err`, and returns `None`.
    pub fn all_ok<T>(&mut self, result: Result<T, Self>) -> Option<T> {
        result.map_err(|mut errors| self.0.append(&mut errors.0)).ok()
    }

    /// Appends the diagnostics that ended a run to those that were found before.
    pub fn before(mut self, mut errors: Self) -> Self {
        self.0.append(&mut errors.0);
        self
    }

    /// Whether any of the diagnostics is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

/// How many names or places a message lists at most.
pub const LISTED: usize = 12;

/// Lists names in a message as `a`, `b`, `c`. The list is cut after [`LISTED`] names.
pub fn listed<N: fmt::Display>(names: impl IntoIterator<Item = N>) -> String {
    listed_as(names.into_iter().map(|name| format!("`{name}`")))
}

/// Lists names as [`listed`] does, but without adding quotes.
pub fn listed_as(names: impl IntoIterator<Item = String>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<_> = names.by_ref().take(LISTED).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A message without the number that the errors of the system end with, which says nothing to
/// people: `No such file or directory (os error 2)`.
pub fn in_words(mut message: String) -> String {
    const NUMBER: &str = " (os error ";
    if let Some(start) = message.find(NUMBER)
        && let Some(length) = message[start..].find(')')
    {
        message.replace_range(start..=start + length, "");
    }
    message
}

/// Help that names the word in `known` that was most likely meant by `written`, if one is similar.
pub fn did_you_mean<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<Advice> {
    closest(written, known).map(|name| Advice::did_you_mean(written, name))
}

/// The word in `known` that is most similar to `written`, if it is similar enough.
pub fn closest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    closest_of(written, &mut known.into_iter())
}

/// As [`closest`], compiled once for all kinds of iterators, of which there are a hundred.
fn closest_of<'n>(written: &str, known: &mut dyn Iterator<Item = &'n str>) -> Option<&'n str> {
    let length = written.chars().count();
    let allowed = (length / 3).clamp(1, 3);
    // The edit distance is at least the difference in length, which is cheaper to compute.
    let near = known.filter(|name| name.chars().count().abs_diff(length) <= allowed);
    let near = near
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|&(distance, _)| distance <= allowed);
    // Among equally similar words, takes the first in alphabetical order, so that the result does
    // not depend on the order of `known`.
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_replaces_just_the_word() {
        let fixed = |text: &str, meant: &str| {
            let sources = SourceMap::default();
            let file = sources.add("shop.yaml", text);
            let span = Span { file, start: 2, end: text.len() as u32 };
            let advice = Advice::did_you_mean("prot", meant).and("or else");
            let error =
                Diagnostic::error(CodeName::new(&"unknown-property"), "prot").help(advice).at(span);
            assert_eq!(error.help, Some(format!("did you mean `{meant}`? or else").into()));
            error.fix(&sources).map(|fix| (fix.span, fix.replacement))
        };
        let all = |end| Span { file: crate::source::FileId(0), start: 2, end };
        assert_eq!(fixed("- prot", "port"), Some((all(6), "port".to_owned())));
        assert_eq!(fixed("- \"prot\"", "port"), Some((all(8), "\"port\"".to_owned())));
        assert_eq!(fixed("- 'prot'", "port"), Some((all(8), "'port'".to_owned())));
        for (text, meant) in
            [("- [prot]", "port"), ("- prot", "p: t"), ("- 'prot", "port"), ("- prot", "true")]
        {
            assert_eq!(fixed(text, meant), None, "{text}");
        }
        let advice = Advice::did_you_mean("prot", "port");
        let nowhere = Diagnostic::error(CodeName::new(&"unknown-property"), "prot").help(advice);
        assert_eq!(nowhere.fix(&SourceMap::default()), None);
        assert_eq!(nowhere.clone().at(Span::DETACHED).label(Span::DETACHED, "here"), nowhere);
    }

    #[test]
    fn suggests_what_is_close_only() {
        assert_eq!(closest("condtions", ["conditions", "weight"]), Some("conditions"));
        assert_eq!(closest("x", ["conditions", "weight"]), None);
    }
}
