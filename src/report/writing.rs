//! Writes the resolved YAML of all variants at once, as pieces of text with conditions from which
//! the page composes each variant.

use crate::explore::Configurable;
use crate::explore::explain::Currents;
use crate::variability::emit::{InputEquals, KnownValues, OpenDocument, emit_open};
use crate::variability::expression::Evaluator;
use crate::variability::prepared::Prepared;
use cuvee_sat::formula::{Arena, Formula, View};
use cuvee_text::yaml::{OpenMark, OpenText, write_line, write_open};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// The length that computed values may always add to a template, even to a small one.
const ADDED: usize = 1 << 16;

/// The text of all variants.
///
/// Conditions are numbers: elements from 1 on, then values, then conjunctions. Negative numbers are
/// negations.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Writing {
    /// The conditions that an input, by position, has a value.
    values: Vec<(usize, String)>,
    /// The conjunctions. Each consists of conditions with smaller numbers.
    ands: Vec<Vec<i64>>,
    /// Values that are not part of the text: the position of the input that gives the value, if it
    /// is just an input; the element; and the position of the reason in `whys`.
    later: Vec<(Option<usize>, usize, usize)>,
    whys: Vec<String>,
    pieces: Vec<TextPiece>,
    #[serde(skip)]
    elements: usize,
}

/// A piece of text. It is serialised as a string, as a list of a condition and pieces, or as an
/// object.
#[derive(Clone, Debug)]
enum TextPiece {
    Text(String),
    When(i64, Vec<TextPiece>),
    Collection(Vec<TextPiece>),
    Behind(Vec<TextPiece>),
    Later(u32),
}

impl Serialize for TextPiece {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::When(when, pieces) => {
                let mut list = serializer.serialize_seq(Some(pieces.len() + 1))?;
                list.serialize_element(when)?;
                pieces.iter().try_for_each(|piece| list.serialize_element(piece))?;
                list.end()
            }
            Self::Collection(pieces) => serializer.collect_map([("collection", pieces)]),
            Self::Behind(pieces) => serializer.collect_map([("behind", pieces)]),
            Self::Later(number) => serializer.collect_map([("later", number)]),
        }
    }
}

/// The document of all variants; `None` if there are too many ways to write it.
pub(super) fn open_document<'p>(
    prepared: &Prepared<'p>,
    inputs: &[Configurable],
    currents: &[Option<Currents>],
) -> Option<OpenDocument<'p>> {
    let Prepared { graph, types, inputs: declared, .. } = prepared;
    // The evaluator has no clock, because the time when the page is made differs from that of the
    // command.
    let evaluator = Evaluator::new(graph, types, declared, None);
    emit_open(evaluator, known_values(prepared, inputs, currents))
}

impl TextPiece {
    fn each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Text(text) => change(text),
            Self::When(_, pieces) | Self::Collection(pieces) | Self::Behind(pieces) => {
                pieces.iter_mut().for_each(|piece| piece.each_text(change));
            }
            Self::Later(_) => {}
        }
    }
}

impl Writing {
    /// Changes each text.
    pub(super) fn each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.pieces.iter_mut().for_each(|piece| piece.each_text(change));
        self.whys.iter_mut().for_each(change);
    }

    /// Changes the value of each condition on an input, which is given by its position.
    pub(super) fn each_value(&mut self, change: &mut dyn FnMut(usize, &mut String)) {
        self.values.iter_mut().for_each(|(input, value)| change(*input, value));
    }

    /// The text, and the numbers of all conditions of the document; `None` if the page cannot
    /// contain it.
    pub(super) fn of(
        prepared: &Prepared<'_>,
        open: &OpenDocument<'_>,
        inputs: &[Configurable],
    ) -> Option<(Self, Vec<i64>)> {
        let Prepared { graph, inputs: declared, .. } = prepared;
        let text = write_open(&open.document)?;
        let own = graph.template.root.document().text().len();
        if text.text.len() > 2 * own + ADDED {
            return None;
        }
        let position = |input| {
            let name = declared.declarations.get(input)?.name;
            inputs.iter().position(|open| open.name == name)
        };
        let value = |equals: &InputEquals| Some((position(equals.input)?, equals.value.clone()));
        let values = open.values.iter().map(value).collect::<Option<Vec<_>>>()?;
        let mut whys = IndexSet::new();
        let later = open.later.iter().map(|later| {
            let (why, _) = whys.insert_full(later.why.clone());
            (later.input.and_then(position), later.element.0 as usize, why)
        });
        let later = later.collect();
        let whys = whys.into_iter().collect();
        let elements = graph.elements.len();
        let mut conditions = ConditionNumbers::new(open, elements);
        let numbers: Vec<_> = open.conditions.iter().map(|&when| conditions.number(when)).collect();
        let pieces = pieces(&text, &numbers);
        let writing = Self { values, ands: conditions.ands, later, whys, pieces, elements };
        Some((writing, numbers))
    }

    /// The text of a variant, given by positions of present elements and by the values of inputs;
    /// `None` if it contains an unknown value.
    pub(super) fn text<'v>(
        &self,
        present: &[usize],
        value: &dyn Fn(usize) -> Option<&'v str>,
    ) -> Option<String> {
        let mut truth = vec![false; self.elements + 1];
        present.iter().for_each(|&element| truth[element + 1] = true);
        truth.extend(self.values.iter().map(|(input, text)| value(*input) == Some(text.as_str())));
        for all in &self.ands {
            truth.push(all.iter().all(|&number| holds(&truth, number)));
        }
        let mut text = String::new();
        write(&self.pieces, &truth, &mut false, &mut text).then_some(text)
    }
}

fn holds(truth: &[bool], number: i64) -> bool {
    truth.get(number.unsigned_abs() as usize).copied().unwrap_or_default() == (number > 0)
}

/// Appends pieces; `begun` tells whether the enclosing collection has any entries yet. Returns
/// whether all values are known.
fn write(pieces: &[TextPiece], truth: &[bool], begun: &mut bool, into: &mut String) -> bool {
    pieces.iter().all(|piece| match piece {
        TextPiece::Text(text) => {
            into.push_str(text);
            true
        }
        TextPiece::When(when, _) if !holds(truth, *when) => true,
        TextPiece::When(_, pieces) => {
            let is_known = write(pieces, truth, begun, into);
            *begun = true;
            is_known
        }
        TextPiece::Collection(pieces) => write(pieces, truth, &mut false, into),
        TextPiece::Behind(pieces) => !*begun || write(pieces, truth, begun, into),
        TextPiece::Later(_) => false,
    })
}

/// The known values of open inputs: those of cases, and those that presets assign.
fn known_values(
    prepared: &Prepared<'_>,
    inputs: &[Configurable],
    currents: &[Option<Currents>],
) -> KnownValues {
    let known = |open: &Configurable| {
        let input = prepared.inputs.declarations.id(&open.name)?;
        let own = open.cases.iter().filter_map(|case| case.value.clone());
        let chosen =
            currents.iter().flatten().filter_map(|current| current.get(&input)?.value.clone());
        let mut seen = FxHashSet::default();
        let values = own.chain(chosen).filter(|value| seen.insert(write_line(value)));
        Some((input, values.collect()))
    };
    inputs.iter().filter_map(known).collect()
}

/// Numbers formulas as conditions.
struct ConditionNumbers<'o> {
    arena: &'o Arena,
    /// The numbers of formulas other than elements.
    numbers: FxHashMap<Formula, i64>,
    ands: Vec<Vec<i64>>,
    /// The number of the first conjunction.
    first: i64,
}

impl<'o> ConditionNumbers<'o> {
    fn new(open: &'o OpenDocument<'_>, elements: usize) -> Self {
        let numbered = open.values.iter().zip(elements as i64 + 1..);
        let first = (elements + open.values.len()) as i64 + 1;
        let numbers = numbered.map(|(equals, number)| (equals.when, number)).collect();
        Self { arena: &open.arena, numbers, ands: Vec::new(), first }
    }

    fn known(&self, formula: Formula) -> Option<i64> {
        let negated = || self.numbers.get(&!formula).map(|number| -number);
        let known = self.numbers.get(&formula).copied().or_else(negated);
        known.or_else(|| match self.arena.view(formula) {
            View::Literal(atom, true) => Some(i64::from(atom.0) + 1),
            View::Literal(atom, false) => Some(-i64::from(atom.0) - 1),
            _ => None,
        })
    }

    /// The number of a formula; numbers its parts first.
    fn number(&mut self, formula: Formula) -> i64 {
        let mut open = vec![formula];
        while let Some(&next) = open.last() {
            if self.known(next).is_some() {
                open.pop();
                continue;
            }
            let (parts, conjunction) = match self.arena.view(next) {
                View::And(parts) => (parts, next),
                View::NotAnd(parts) => (parts, !next),
                View::Constant(true) => (&[][..], next),
                _ => (&[][..], !next),
            };
            let waiting = open.len();
            open.extend(parts.iter().filter(|&&part| self.known(part).is_none()));
            if open.len() == waiting {
                let number = self.first + self.ands.len() as i64;
                self.ands.push(parts.iter().filter_map(|&part| self.known(part)).collect());
                self.numbers.insert(conjunction, number);
            }
        }
        self.known(formula).unwrap_or_default()
    }
}

/// Splits a text at its marks into pieces.
fn pieces(open: &OpenText, conditions: &[i64]) -> Vec<TextPiece> {
    let mut around = Vec::new();
    let mut pieces = Vec::new();
    let mut done = 0;
    for &(at, mark) in &open.marks {
        if done < at {
            pieces.push(TextPiece::Text(open.text[done..at].to_owned()));
        }
        done = at;
        if mark != OpenMark::End {
            around.push((mark, std::mem::take(&mut pieces)));
        } else if let Some((mark, before)) = around.pop() {
            let inner = std::mem::replace(&mut pieces, before);
            pieces.push(match mark {
                OpenMark::When(when) => TextPiece::When(conditions[when as usize], inner),
                OpenMark::Behind => TextPiece::Behind(inner),
                OpenMark::Later(number) => TextPiece::Later(number),
                OpenMark::Collection | OpenMark::End => TextPiece::Collection(inner),
            });
        }
    }
    pieces.push(TextPiece::Text(open.text[done..].to_owned()));
    pieces
}
