//! The resolved document of all variants at once: each part with the condition under which it is
//! there.
//!
//! The same code makes it that makes the document of one variant. Where that asks whether an element
//! is present, the answer here is a formula over elements instead of a constant, and conditions of
//! entries, types and values are put together from such formulas. A value that is computed from
//! inputs is there once for each value of theirs that is known to be asked for; with any other it is
//! left to be known later, or not at all.

use super::{BYTES, Emitter, OutputSite};
use crate::sat::formula::{Arena, Formula};
use crate::text::diagnostic::Diagnostics;
use crate::text::value::Value;
use crate::text::yaml::{Node, Out, write_flow, write_line};
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, PropertyElement};
use crate::variability::inputs::InputId;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Values of open inputs that are known to be asked for.
pub(crate) type KnownValues = FxHashMap<InputId, Vec<Value>>;

/// An expression is computed for so many combinations of known values.
const ROWS: usize = 256;

/// Of so many elements it is told how many of them may be present.
pub(super) const COUNTED: usize = 64;

/// The document of all variants.
pub(crate) struct OpenDocument<'a> {
    /// With the numbers of conditions, and of what is known later.
    pub document: Out<'a>,
    /// The formulas.
    pub arena: Arena,
    /// The conditions, over elements and over atoms of [`OpenDocument::values`].
    pub conditions: Vec<Formula>,
    /// The values of inputs that conditions ask for.
    pub values: Vec<InputEquals>,
    /// What is known later.
    pub later: Vec<LaterValue>,
}

/// That an input has a value.
pub(crate) struct InputEquals {
    /// The input.
    pub input: InputId,
    /// The value in one line of YAML.
    pub value: String,
    /// The atom.
    pub when: Formula,
}

/// A value that the document does not have.
pub(crate) struct LaterValue {
    /// The input that it is the value of; nothing where it is computed in another way.
    pub input: Option<InputId>,
    /// The element that has it.
    pub element: ElementId,
    /// Why it is not there: what is to be said of the element.
    pub why: String,
}

/// The conditions of what is written while it is open what is present.
#[derive(Default)]
pub(super) struct Opening {
    /// By number.
    conditions: Vec<Formula>,
    known: KnownValues,
    equal: FxHashMap<InputId, Vec<(Formula, Value)>>,
    values: Vec<InputEquals>,
    later: Vec<LaterValue>,
    /// Whether inputs decide which imports there are, and so what is known of types.
    pub imports_vary: bool,
    gave_up: bool,
}

impl Opening {
    /// Says that there are too many ways to write something.
    pub(super) fn give_up(&mut self) {
        self.gave_up = true;
    }
}

/// The document of all variants, of functions that stay as they are; nothing for a plain template,
/// of which there is one, and where there are too many ways to write it.
pub(crate) fn emit_open<'a>(
    mut evaluator: Evaluator<'_, 'a>,
    known: KnownValues,
) -> Option<OpenDocument<'a>> {
    let graph = evaluator.graph;
    if graph.template.is_only_plain() {
        return None;
    }
    let mut conditions = graph.imports.iter().map(|it| it.import.declared.conditional.conditions);
    let imports_vary = conditions.any(|conditions| conditions.is_some());
    let mut emitter = Emitter {
        technologies: None,
        graph,
        presence: None,
        opening: Opening { known, imports_vary, ..Opening::default() },
        evaluator: &mut evaluator,
        functions: None,
        site: OutputSite::Elsewhere,
        verbatim: false,
        by_position: graph.references.iter().any(|reference| reference.by_position),
        bytes: Some(BYTES),
        diagnostics: Diagnostics::default(),
    };
    let document = emitter.document();
    let Emitter { opening, diagnostics, .. } = emitter;
    let Opening { conditions, values, later, gave_up, .. } = opening;
    let arena = evaluator.arena;
    (!gave_up && !diagnostics.has_errors()).then_some(OpenDocument {
        document,
        arena,
        conditions,
        values,
        later,
    })
}

impl<'a> Emitter<'_, '_, '_, 'a> {
    /// Something that is there under a condition.
    pub(super) fn under(&mut self, when: Formula, out: Out<'a>) -> Out<'a> {
        if when == Formula::TRUE {
            return out;
        }
        let cases = match out {
            Out::Cases(cases) => cases,
            out => return Out::Cases(vec![(self.number(when), out)]),
        };
        let mut under = |(own, out): (u32, Out<'a>)| {
            let own = self.opening.conditions[own as usize];
            let both = self.both(when, own);
            (self.number(both), out)
        };
        Out::Cases(cases.into_iter().map(&mut under).collect())
    }

    fn number(&mut self, when: Formula) -> u32 {
        self.opening.conditions.push(when);
        self.opening.conditions.len() as u32 - 1
    }

    /// One of these, of whose conditions at most one holds; nothing where none can.
    pub(super) fn cases(&mut self, cases: Vec<(Formula, Out<'a>)>) -> Option<Out<'a>> {
        let mut open = Vec::new();
        for (when, out) in cases {
            match when.as_constant() {
                Some(true) => return Some(out),
                Some(false) => {}
                None => match self.under(when, out) {
                    Out::Cases(cases) => open.extend(cases),
                    out => return Some(out),
                },
            }
        }
        (!open.is_empty()).then_some(Out::Cases(open))
    }

    /// When at least one of these is there.
    pub(super) fn when_some<'o>(&mut self, all: impl Iterator<Item = &'o Out<'a>>) -> Formula
    where
        'a: 'o,
    {
        let mut whens = Vec::new();
        for out in all {
            let Out::Cases(cases) = out else { return Formula::TRUE };
            let conditions = &self.opening.conditions;
            whens.extend(cases.iter().map(|(when, _)| conditions[*when as usize]));
        }
        self.evaluator.arena.or(whens)
    }

    /// What is not known here: the value of an input, or one that is computed.
    pub(super) fn later(
        &mut self,
        input: Option<InputId>,
        element: ElementId,
        why: String,
    ) -> Out<'a> {
        self.opening.later.push(LaterValue { input, element, why });
        Out::Later(self.opening.later.len() as u32 - 1)
    }

    /// The value of an expression for what is known of its inputs.
    pub(super) fn open_value(
        &mut self,
        property: &PropertyElement<'a>,
        expression: Node<'a>,
    ) -> Option<Out<'a>> {
        let Some(inputs) = self.evaluator.inputs_of_value(expression) else {
            return Some(self.later(None, property.id, "depends on what is present".into()));
        };
        let read = self.evaluator.graph.syntax.read(expression);
        // Values that are written alike are one.
        let mut values: IndexMap<String, (Vec<Formula>, Value), FxBuildHasher> =
            IndexMap::default();
        for (when, assumed) in self.rows(&inputs) {
            let assumed = inputs.iter().copied().zip(assumed);
            if let Ok(value) = self.evaluator.value_where(read, assumed, Some(property.id)) {
                self.pay(&value, expression)?;
                values.entry(write_flow(&value)).or_insert((Vec::new(), value)).0.push(when);
            }
        }
        let mut cases = Vec::with_capacity(values.len() + 1);
        for (whens, value) in values.into_values() {
            cases.push((self.evaluator.arena.or(whens), Out::Value(value)));
        }
        let unknown = self.evaluator.arena.and(cases.iter().map(|(when, _)| !*when));
        if unknown != Formula::FALSE {
            let alone = self.evaluator.input_alone(expression);
            let why = self.why_unknown(&inputs);
            cases.push((unknown, self.later(alone, property.id, why)));
        }
        self.cases(cases)
    }

    fn why_unknown(&self, inputs: &[InputId]) -> String {
        let declarations = self.evaluator.declarations();
        let names: Vec<_> =
            inputs.iter().filter_map(|&input| Some(declarations.get(input)?.name)).collect();
        match names.is_empty() {
            true => "is computed when it is resolved".into(),
            false => format!(
                "is computed from {}, and known for values of presets and cases only",
                names.join(", ")
            ),
        }
    }

    /// All combinations of what is known of these inputs; none where there are too many.
    fn rows(&mut self, inputs: &[InputId]) -> Vec<(Formula, Vec<Value>)> {
        let mut rows = vec![(Formula::TRUE, Vec::new())];
        for &input in inputs {
            let known = self.equal(input);
            if rows.len() * known.len() > ROWS {
                return Vec::new();
            }
            let arena = &mut self.evaluator.arena;
            let mut extended = Vec::with_capacity(rows.len() * known.len());
            for (when, values) in &rows {
                for (equal, value) in &known {
                    let value = std::slice::from_ref(value);
                    extended.push((arena.and([*when, *equal]), [values, value].concat()));
                }
            }
            rows = extended;
        }
        rows
    }

    /// The known values of an input, each with the atom that it is that.
    fn equal(&mut self, input: InputId) -> Vec<(Formula, Value)> {
        if let Some(equal) = self.opening.equal.get(&input) {
            return equal.clone();
        }
        let mut equal = Vec::new();
        for value in self.opening.known.remove(&input).unwrap_or_default() {
            let when = self.evaluator.fresh_atom();
            let written = write_line(&value);
            self.opening.values.push(InputEquals { input, value: written, when });
            equal.push((when, value));
        }
        self.opening.equal.insert(input, equal.clone());
        equal
    }
}
