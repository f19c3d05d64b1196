//! Several texts that have most of their lines in common.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Texts as runs of lines, each of which is kept once.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Texts {
    /// The lines of all texts.
    lines: Vec<String>,
    /// For each text where runs of its lines start, and how long they are; nothing where there is no
    /// text.
    texts: Vec<Option<Vec<[usize; 2]>>>,
    /// Where each line was first seen.
    #[serde(skip)]
    known: FxHashMap<String, usize>,
}

impl Texts {
    /// Adds a text, or that there is none.
    pub(super) fn add(&mut self, text: Option<&str>) {
        let runs = text.map(|text| {
            let mut runs: Vec<[usize; 2]> = Vec::new();
            for line in text.split('\n') {
                let next = runs.last().map(|[start, length]| start + length);
                // Lines are often the same; what continues a run costs nothing.
                let continued =
                    next.filter(|&next| self.lines.get(next).is_some_and(|it| it == line));
                let at = continued.unwrap_or_else(|| self.position(line, next));
                match runs.last_mut() {
                    Some([_, length]) if next == Some(at) => *length += 1,
                    _ => runs.push([at, 1]),
                }
            }
            runs
        });
        self.texts.push(runs);
    }

    /// Where a line is kept. What would continue a run at the end of all lines is kept again, so that
    /// the first text is one run.
    fn position(&mut self, line: &str, next: Option<usize>) -> usize {
        let end = self.lines.len();
        let known = self.known.get(line).copied();
        match known {
            Some(at) if self.texts.iter().any(Option::is_some) || next != Some(end) => at,
            _ => {
                self.lines.push(line.to_owned());
                known.is_none().then(|| self.known.insert(line.to_owned(), end));
                end
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &Texts, index: usize) -> Option<String> {
        let runs = texts.texts[index].as_ref()?;
        let lines = runs.iter().flat_map(|&[start, length]| &texts.lines[start..start + length]);
        Some(lines.map(String::as_str).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn texts_are_what_they_were() {
        let all = [Some("a\n\nb\n\nc\n"), None, Some("a\n\nc\nd\n"), Some(""), Some("b\nc\n\n\na")];
        let mut texts = Texts::default();
        all.iter().for_each(|text| texts.add(*text));
        for (index, text) in all.iter().enumerate() {
            assert_eq!(read(&texts, index).as_deref(), *text);
        }
        assert_eq!(texts.texts[0], Some(vec![[0, 6]]));
        assert_eq!(texts.lines.len(), 7);
    }
}
