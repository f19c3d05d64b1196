//! Texts that match the pattern of an input.

use crate::inputs::Constraint;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Repetition};

/// More texts than this are not made for any part of a pattern.
const MAX_TEXTS: usize = 64;

/// How much more often than needed a part is repeated.
const MORE: u32 = 3;

/// A few texts that match, short ones first, and some of the lengths that are wanted. Who uses them checks them: anchors are ignored.
pub(super) fn samples(constraint: &Constraint, lengths: &[usize]) -> Vec<String> {
    let Some(hir) = parse(constraint) else { return Vec::new() };
    let mut maker = Maker { limit: MAX_TEXTS, lengths, complete: true };
    let mut texts = maker.texts(&hir);
    texts.sort_by_key(String::len);
    texts.dedup();
    texts
}

/// All texts that match, where there are at most so many.
pub(super) fn language(constraint: &Constraint, most: usize) -> Option<Vec<String>> {
    let hir = parse(constraint)?;
    let mut maker = Maker { limit: most + 1, lengths: &[], complete: true };
    let mut found: Vec<String> = Vec::new();
    for text in maker.texts(&hir) {
        if !found.contains(&text) && constraint.check(&text.as_str().into()).is_ok() {
            found.push(text);
        }
    }
    (maker.complete && found.len() <= most).then_some(found)
}

/// Without Unicode, as patterns are matched: `\d` is `[0-9]`.
fn parse(constraint: &Constraint) -> Option<Hir> {
    ParserBuilder::new().unicode(false).utf8(false).nest_limit(100).build().parse(constraint.pattern()?).ok()
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
            HirKind::Class(_) => self.class(hir),
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

    /// The characters of a class that are in ASCII: letters and digits first.
    fn class(&mut self, hir: &Hir) -> Vec<String> {
        let is_in = |c: char| match hir.kind() {
            HirKind::Class(regex_syntax::hir::Class::Bytes(class)) => {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&(c as u8)))
            }
            HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c))
            }
            _ => false,
        };
        let ascii = ('a'..='z').chain('0'..='9').chain('A'..='Z').chain("-_. /:,@+#".chars());
        let named: Vec<char> = ascii.filter(|&c| is_in(c)).collect();
        let rest = (0..128_u8).map(char::from).filter(|c| !named.contains(c) && is_in(*c)).collect::<Vec<_>>();
        self.complete &= !is_in('\u{80}');
        let all: Vec<String> = named.into_iter().chain(rest).map(String::from).collect();
        self.cut(all)
    }

    fn cut(&mut self, mut texts: Vec<String>) -> Vec<String> {
        if texts.len() > self.limit {
            self.complete = false;
            texts.truncate(self.limit);
        }
        texts
    }

    /// Each head with each tail; where those are too many, those that differ early or late rather than in one of both alone.
    fn product(&mut self, heads: &[String], tails: &[String]) -> Vec<String> {
        let fit = heads.len() * tails.len() <= self.limit;
        self.complete &= fit;
        let (heads, tails) = if fit { (heads, tails) } else { (few(heads, self.limit), few(tails, self.limit)) };
        heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect()
    }

    fn repeated(&mut self, repetition: &Repetition) -> Vec<String> {
        let texts = self.texts(&repetition.sub);
        let most = repetition.max.unwrap_or(u32::MAX);
        let near = most.min(repetition.min.saturating_add(MORE));
        self.complete &= near == most || texts.iter().all(String::is_empty);
        let mut found: Vec<String> = Vec::new();
        // The least number of times first: what is behind is cut off.
        let mut power = vec![String::new()];
        for times in 0..=near {
            if times >= repetition.min {
                found.extend(power.iter().cloned());
            }
            if times < near {
                if power.iter().any(|text| text.len() > super::cells::MAX_LENGTH) {
                    self.complete = false;
                    break;
                }
                power = self.product(&power, &texts);
            }
        }
        let mut found = self.cut(found);
        let Some(short) = texts.iter().find(|text| !text.is_empty()) else { return found };
        // Other parts may take some characters of the length that is wanted.
        let times = self.lengths.iter().flat_map(|&length| (0..6).map(move |less| length.saturating_sub(less) / short.len().max(1)));
        let times = times.filter(|&times| times > near as usize && times <= most as usize);
        found.extend(times.map(|times| short.repeat(times)));
        found
    }
}

/// As many as make a product that is small enough.
fn few(texts: &[String], limit: usize) -> &[String] {
    let root = (limit as f64).sqrt() as usize;
    &texts[..texts.len().min(root.max(1))]
}
