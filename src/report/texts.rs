//! Stores several texts that share most of their lines.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Texts as runs of lines; each line is stored once.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Texts {
    /// The distinct lines of all texts.
    lines: Vec<String>,
    /// For each text, the start and the length of its runs of lines; `None` if there is no text.
    texts: Vec<Option<Vec<[usize; 2]>>>,
    /// The first position of each line.
    #[serde(skip)]
    known: FxHashMap<String, usize>,
}

impl Texts {
    /// Adds a text, or an entry without one.
    pub(super) fn add(&mut self, text: Option<&str>) {
        let runs = text.map(|text| {
            let mut runs: Vec<[usize; 2]> = Vec::new();
            for line in text.split('\n') {
                let next = runs.last().map(|[start, length]| start + length);
                // Consecutive lines often repeat; a line that continues a run costs nothing.
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

    /// The position of a line. In the first text, a repeated line at the end of all lines is stored
    /// again, so that this text is a single run.
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
