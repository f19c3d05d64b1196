//! Makes texts that match the pattern of an input.

use crate::tosca::value::Clause;
use crate::variability::inputs::Declaration;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// How many sample texts are made for each part of a pattern.
const MAX_TEXTS: usize = 256;

/// How many more repetitions than needed are tried.
const MORE: u32 = 3;

/// A few texts for the pattern, short ones first, and some with the wanted lengths. Anchors are
/// ignored, so the caller has to check whether the texts match.
pub(super) fn samples(constraint: &Clause<'_>, lengths: &[usize]) -> Vec<String> {
    let Some(hir) = parse(constraint) else { return Vec::new() };
    let mut maker = Maker { limit: MAX_TEXTS, lengths, complete: true };
    let mut texts = maker.texts(&hir);
    texts.sort_by_key(String::len);
    texts.dedup();
    texts
}

/// All texts that match a pattern of an input, if there are at most `most`.
pub(super) fn language(declaration: &Declaration<'_>, most: usize) -> Option<Vec<String>> {
    declaration.constraints().iter().find_map(|constraint| matching(constraint, most))
}

fn matching(constraint: &Clause<'_>, most: usize) -> Option<Vec<String>> {
    let hir = parse(constraint)?;
    let mut maker = Maker { limit: most + 1, lengths: &[], complete: true };
    let mut found: Vec<String> = Vec::new();
    for text in maker.texts(&hir) {
        if !found.contains(&text) && matches(constraint, &text) {
            found.push(text);
        }
    }
    (maker.complete && found.len() <= most).then_some(found)
}

/// Parses a pattern without Unicode, as patterns are matched: `\d` is `[0-9]`. With Unicode only if
/// the pattern needs it, for classes of non-ASCII letters.
fn parse(constraint: &Clause<'_>) -> Option<Hir> {
    let pattern = constraint.pattern()?.ok()?.as_str();
    let parse = |unicode: bool| {
        ParserBuilder::new()
            .unicode(unicode)
            .utf8(unicode)
            .nest_limit(100)
            .build()
            .parse(pattern)
            .ok()
    };
    parse(false).or_else(|| parse(true))
}

fn matches(constraint: &Clause<'_>, text: &str) -> bool {
    constraint.pattern().and_then(Result::ok).is_some_and(|pattern| pattern.is_match(text))
}

struct Maker<'m> {
    limit: usize,
    lengths: &'m [usize],
    /// Whether all texts were made.
    complete: bool,
}

impl Maker<'_> {
    fn texts(&mut self, hir: &Hir) -> Vec<String> {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => vec![String::new()],
            HirKind::Literal(literal) => {
                let text = String::from_utf8(literal.0.to_vec());
                self.complete &= text.is_ok();
                text.into_iter().collect()
            }
            HirKind::Class(class) => self.class(class),
            HirKind::Capture(capture) => self.texts(&capture.sub),
            HirKind::Alternation(parts) => {
                let texts: Vec<_> = parts.iter().flat_map(|part| self.texts(part)).collect();
                self.cut(texts)
            }
            HirKind::Concat(parts) => parts.iter().fold(vec![String::new()], |heads, part| {
                let tails = self.texts(part);
                self.product(&heads, &tails)
            }),
            HirKind::Repetition(repetition) => self.repeated(repetition),
        }
    }

    /// The ASCII characters of a class, letters and digits first, and a few other characters.
    fn class(&mut self, class: &Class) -> Vec<String> {
        let ranges: Vec<(char, char)> = match class {
            Class::Bytes(class) => class
                .ranges()
                .iter()
                .map(|range| (range.start().into(), range.end().into()))
                .collect(),
            Class::Unicode(class) => {
                class.ranges().iter().map(|range| (range.start(), range.end())).collect()
            }
        };
        let is_in = |c: &char| ranges.iter().any(|(start, end)| (start..=end).contains(&c));
        let looks_good = ('a'..='z').chain('0'..='9').chain('A'..='Z').chain("-_. /:,@+#".chars());
        let mut found: Vec<char> = looks_good.filter(is_in).collect();
        let rest: Vec<char> =
            (0..128_u8).map(char::from).filter(|c| is_in(c) && !found.contains(c)).collect();
        found.extend(rest);
        if ranges.iter().any(|(_, end)| !end.is_ascii()) {
            self.complete = false;
            let letters = ranges.iter().map(|&(start, _)| start).filter(|start| !start.is_ascii());
            found.extend(letters.filter(|_| matches!(class, Class::Unicode(_))));
        }
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
        let texts = self.texts(&repetition.sub);
        let most = repetition.max.unwrap_or(u32::MAX);
        let near = most.min(repetition.min.saturating_add(MORE));
        self.complete &= near == most || texts.iter().all(String::is_empty);
        let mut found: Vec<String> = Vec::new();
        // The smallest numbers of repetitions come first, because later texts are cut off.
        let mut power = vec![String::new()];
        for times in 0..=near {
            if times >= repetition.min {
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
