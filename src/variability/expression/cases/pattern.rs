//! Makes texts that match the pattern of an input.

use crate::tosca::value::Clause;
use crate::variability::inputs::Declaration;
use regex_lite::RegexBuilder;
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{
    Ast, Flag, Flags, GroupKind, Repetition, RepetitionKind, RepetitionRange, Span,
};

/// How many sample texts are made for each part of a pattern.
const MAX_TEXTS: usize = 256;

/// How many more repetitions than needed are tried.
const MORE: u32 = 3;

/// A few texts for the pattern, short ones first, and some with the wanted lengths. Anchors are
/// ignored, so the caller has to check whether the texts match.
pub(super) fn samples(constraint: &Clause<'_>, lengths: &[usize]) -> Vec<String> {
    let pattern = constraint.pattern().and_then(Result::ok);
    pattern.map(|pattern| samples_of(pattern.as_str(), lengths)).unwrap_or_default()
}

/// The same for a regular expression, which may match a part of a text.
pub(super) fn samples_of(pattern: &str, lengths: &[usize]) -> Vec<String> {
    let Some(ast) = parsed(pattern) else { return Vec::new() };
    let mut maker = Maker::new(pattern, MAX_TEXTS, lengths);
    let mut texts = maker.texts(&ast);
    texts.sort_by_key(String::len);
    texts.dedup();
    texts
}

/// All texts that match a pattern of an input, if there are at most `most`.
pub(super) fn language(declaration: &Declaration<'_>, most: usize) -> Option<Vec<String>> {
    declaration.constraints().iter().find_map(|constraint| matching(constraint, most))
}

fn matching(constraint: &Clause<'_>, most: usize) -> Option<Vec<String>> {
    let pattern = constraint.pattern()?.ok()?.as_str();
    let ast = parsed(pattern)?;
    let mut maker = Maker::new(pattern, most + 1, &[]);
    let mut found: Vec<String> = Vec::new();
    for text in maker.texts(&ast) {
        if !found.contains(&text) && matches(constraint, &text) {
            found.push(text);
        }
    }
    (maker.complete && found.len() <= most).then_some(found)
}

fn parsed(pattern: &str) -> Option<Ast> {
    ParserBuilder::new().nest_limit(100).build().parse(pattern).ok()
}

fn matches(constraint: &Clause<'_>, text: &str) -> bool {
    constraint.pattern().and_then(Result::ok).is_some_and(|pattern| pattern.is_match(text))
}

struct Maker<'m> {
    pattern: &'m str,
    flags: MatchFlags,
    limit: usize,
    lengths: &'m [usize],
    /// Whether all texts were made.
    complete: bool,
}

/// The flags that count at some place of a pattern.
#[derive(Clone, Copy, Default)]
struct MatchFlags {
    ignores_case: bool,
    dot_matches_lines: bool,
}

impl<'m> Maker<'m> {
    fn new(pattern: &'m str, limit: usize, lengths: &'m [usize]) -> Self {
        Self { pattern, flags: MatchFlags::default(), limit, lengths, complete: true }
    }

    fn texts(&mut self, ast: &Ast) -> Vec<String> {
        match ast {
            Ast::Empty(_) | Ast::Assertion(_) => vec![String::new()],
            Ast::Flags(set) => {
                self.set(&set.flags);
                vec![String::new()]
            }
            Ast::Literal(literal) if self.flags.ignores_case && literal.c.is_alphabetic() => {
                self.class(&literal.span)
            }
            Ast::Literal(literal) => vec![literal.c.to_string()],
            Ast::Dot(span) => self.class(span),
            Ast::ClassUnicode(class) => self.class(&class.span),
            Ast::ClassPerl(class) => self.class(&class.span),
            Ast::ClassBracketed(class) => self.class(&class.span),
            Ast::Group(group) => {
                let around = self.flags;
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.set(flags);
                }
                let texts = self.texts(&group.ast);
                self.flags = around;
                texts
            }
            Ast::Alternation(parts)
                if parts.asts.iter().all(|part| matches!(part, Ast::Literal(_))) =>
            {
                self.class(&parts.span)
            }
            Ast::Alternation(parts) => {
                let texts = parts.asts.iter().flat_map(|part| self.texts(part)).collect();
                self.cut(texts)
            }
            Ast::Concat(parts) => parts.asts.iter().fold(vec![String::new()], |heads, part| {
                let tails = self.texts(part);
                self.product(&heads, &tails)
            }),
            Ast::Repetition(repetition) => self.repeated(repetition),
        }
    }

    fn set(&mut self, flags: &Flags) {
        for (flag, value) in [
            (Flag::CaseInsensitive, &mut self.flags.ignores_case),
            (Flag::DotMatchesNewLine, &mut self.flags.dot_matches_lines),
        ] {
            *value = flags.flag_state(flag).unwrap_or(*value);
        }
    }

    /// The ASCII characters of a class, letters and digits first, and a few other characters.
    fn class(&mut self, span: &Span) -> Vec<String> {
        let text = self.pattern.get(span.start.offset..span.end.offset).unwrap_or_default();
        let class = RegexBuilder::new(text)
            .case_insensitive(self.flags.ignores_case)
            .dot_matches_new_line(self.flags.dot_matches_lines)
            .build();
        let Ok(class) = class else {
            self.complete = false;
            return Vec::new();
        };
        let is_in = |c: &char| class.is_match(c.encode_utf8(&mut [0; 4]));
        let looks_good = ('a'..='z').chain('0'..='9').chain('A'..='Z').chain("-_. /:,@+#".chars());
        let mut found: Vec<char> = looks_good.filter(is_in).collect();
        let rest: Vec<char> =
            (0..128_u8).map(char::from).filter(|c| is_in(c) && !found.contains(c)).collect();
        found.extend(rest);
        let written = text.chars().filter(|c| !c.is_ascii() && is_in(c));
        found.extend(written);
        // A class that has other characters has one of these, or names them.
        let has_others = ['\u{80}', 'é', 'я', '中', '\u{10ffff}'].iter().any(is_in);
        self.complete &= !has_others && found.iter().all(char::is_ascii);
        self.cut(found.into_iter().map(String::from).collect())
    }

    fn cut(&mut self, mut texts: Vec<String>) -> Vec<String> {
        if texts.len() > self.limit {
            self.complete = false;
            texts.truncate(self.limit);
        }
        texts
    }

    /// Concatenates each head with each tail; if there are too many combinations, only some of
    /// both.
    fn product(&mut self, heads: &[String], tails: &[String]) -> Vec<String> {
        self.complete &= heads.len() * tails.len() <= self.limit;
        let root = (self.limit as f64).sqrt() as usize;
        let most = root.max(self.limit / tails.len().max(1)).max(1);
        let heads = &heads[..heads.len().min(most)];
        let most = (self.limit / heads.len().max(1)).max(1);
        heads
            .iter()
            .flat_map(|head| tails.iter().take(most).map(move |tail| format!("{head}{tail}")))
            .collect()
    }

    fn repeated(&mut self, repetition: &Repetition) -> Vec<String> {
        let texts = self.texts(&repetition.ast);
        let (least, most) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne => (0, 1),
            RepetitionKind::ZeroOrMore => (0, u32::MAX),
            RepetitionKind::OneOrMore => (1, u32::MAX),
            RepetitionKind::Range(RepetitionRange::Exactly(times)) => (*times, *times),
            RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (*least, u32::MAX),
            RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, *most),
        };
        let near = most.min(least.saturating_add(MORE));
        self.complete &= near == most || texts.iter().all(String::is_empty);
        let mut found: Vec<String> = Vec::new();
        // The smallest numbers of repetitions come first, because later texts are cut off.
        let mut power = vec![String::new()];
        for times in 0..=near {
            if times >= least {
                found.extend(power.iter().cloned());
            }
            if times < near {
                if power.iter().any(|text| text.len() > super::regions::MAX_LENGTH) {
                    self.complete = false;
                    break;
                }
                power = self.product(&power, &texts);
            }
        }
        let mut found = self.cut(found);
        if let Some(short) = texts.iter().find(|text| !text.is_empty()) {
            // Other parts of the pattern may contribute some characters to the wanted length.
            let times = self.lengths.iter().flat_map(|&length| {
                (0..4).map(move |less| length.saturating_sub(less) / short.len().max(1))
            });
            let times = times.filter(|&times| times > near as usize && times <= most as usize);
            let long: Vec<String> = times.map(|times| short.repeat(times)).collect();
            // The long texts go to the front, because later texts may be cut off.
            let at = found.len().min(MORE as usize);
            found.splice(at..at, long);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;
    use cuvee_text::yaml::{Document, Limits};

    /// A document that consists of a pattern.
    fn document(pattern: &str) -> Document {
        cuvee_text::yaml::parse(FileId::new(0), format!("'{pattern}'").into(), &Limits::default())
            .unwrap()
    }

    fn constraint(document: &Document) -> Clause<'_> {
        Clause::new("pattern", document.root(), document.root().span()).unwrap()
    }

    #[test]
    fn samples_match() {
        let patterns = [
            "[a-z]+",
            "v[0-9]+\\.[0-9]+",
            "(eu|us)-[a-z]+-\\d",
            "^x$",
            "[^a]",
            ".",
            "\\w{3,}@\\w+\\.com",
            "a*b?c{2}",
            "(?i)ab",
            "ü[äö]?",
        ];
        for pattern in patterns {
            let document = document(pattern);
            let constraint = constraint(&document);
            let found = samples(&constraint, &[]);
            assert!(found.iter().any(|text| matches(&constraint, text)), "{pattern}: {found:?}");
        }
    }

    #[test]
    fn samples_have_the_lengths_that_are_wanted() {
        for (pattern, length) in [("[a-z]+", 40), ("[a-z][a-z0-9-]*[a-z0-9]", 30), ("v[0-9]+", 12)]
        {
            let document = document(pattern);
            let constraint = constraint(&document);
            let fits = |text: &String| text.len() == length && matches(&constraint, text);
            assert!(samples(&constraint, &[length]).iter().any(fits), "{pattern}");
        }
    }

    #[test]
    fn few_texts_are_all_known() {
        let language = |pattern: &str, most: usize| matching(&constraint(&document(pattern)), most);
        assert_eq!(language("(dev|prod)-[ab]", 4).unwrap(), ["dev-a", "dev-b", "prod-a", "prod-b"]);
        assert_eq!(language("a?b{0,2}", 10).unwrap(), ["", "b", "bb", "a", "ab", "abb"]);
        assert_eq!(language("(a|b)^c", 10).unwrap(), Vec::<String>::new());
        assert_eq!(language("(dev|prod)-[ab]", 3), None);
        assert_eq!(language("[a-z][a-z][ab]", 1000), None);
        assert_eq!(language("a+", 100), None);
        assert_eq!(language(".", 1000), None);
        assert_eq!(language("[^a]", 1000), None);
        assert_eq!(language("[äö]", 1000), None);
    }
}
