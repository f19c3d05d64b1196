//! Writes the resolved document of all variants at once: each part has the condition under which it
//! is present.
//!
//! The same code as for one variant does this. For one variant, whether an element is present is a
//! constant; here it is a formula over elements. The conditions of entries, types and values are
//! built from such formulas. A value that is computed from inputs is written once for each known
//! value of the inputs. For all other values of the inputs, the document refers to a later value,
//! or has none.

use super::{BYTES, Emitter, OutputSite, written};
use crate::diagnostic::Diagnostics;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, NodeCopies, PropertyElement};
use crate::variability::inputs::InputId;
use cuvee_sat::formula::{Arena, Formula};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Out, write_flow, write_line};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The values of open inputs that are known to matter.
pub(crate) type KnownValues = FxHashMap<InputId, Vec<Value>>;

/// The largest number of combinations of known values for which an expression is computed.
const ROWS: usize = 256;

/// The most elements whose number of present ones is worked out.
pub(super) const COUNTED: usize = 64;

/// The document of all variants.
pub(crate) struct OpenDocument<'a> {
    /// The document, with the numbers of conditions and of later values.
    pub document: Out<'a>,
    /// The formulas of the conditions.
    pub arena: Arena,
    /// The conditions, over elements and over the atoms in [`OpenDocument::values`].
    pub conditions: Vec<Formula>,
    /// The values of inputs that conditions refer to.
    pub values: Vec<InputEquals>,
    /// The values that the document does not have.
    pub later: Vec<LaterValue>,
}

/// The condition that an input has a certain value.
pub(crate) struct InputEquals {
    /// The input.
    pub input: InputId,
    /// The value in one line of YAML.
    pub value: String,
    /// The atom of the condition.
    pub when: Formula,
}

/// A value that the document does not have, because it is known only later.
pub(crate) struct LaterValue {
    /// The input whose value it is; `None` if the value is computed in another way.
    pub input: Option<InputId>,
    /// The element that has the value.
    pub element: ElementId,
    /// Why the value is missing, as a phrase about the element.
    pub why: String,
}

/// The conditions that are collected while a document of all variants is written.
#[derive(Default)]
pub(super) struct Opening {
    /// The conditions, by their numbers.
    conditions: Vec<Formula>,
    known: KnownValues,
    equal: FxHashMap<InputId, Vec<(Formula, Value)>>,
    values: Vec<InputEquals>,
    later: Vec<LaterValue>,
    /// Whether inputs decide which imports are present, and so which types are known.
    pub imports_vary: bool,
    gave_up: bool,
}

impl Opening {
    /// Records that there are too many ways to write something.
    pub(super) fn give_up(&mut self) {
        self.gave_up = true;
    }
}

/// The document of all variants; functions stay as they are. `None` for a plain template, which has
/// only one document, and where there are too many ways to write a part.
pub(crate) fn emit_open<'a>(
    mut evaluator: Evaluator<'_, 'a>,
    known: KnownValues,
) -> Option<OpenDocument<'a>> {
    let graph = evaluator.graph;
    if graph.template.is_only_plain() {
        return None;
    }
    let mut conditions = graph.imports.iter().map(|it| it.import.declared.conditions());
    let imports_vary = conditions.any(|conditions| conditions.is_some());
    let mut emitter = Emitter {
        technologies: None,
        graph,
        presence: None,
        sharing: Vec::new(),
        copies: NodeCopies::default(),
        workflow_inputs: Vec::new(),
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
    /// Writes something under a condition.
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

    /// Writes one of several cases, of which at most one holds; `None` if none can hold.
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

    /// The condition that at least one of these parts is present.
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

    /// Refers to a value that is known only later: the value of an input, or a computed one.
    pub(super) fn later(
        &mut self,
        input: Option<InputId>,
        element: ElementId,
        why: String,
    ) -> Out<'a> {
        self.opening.later.push(LaterValue { input, element, why });
        Out::Later(self.opening.later.len() as u32 - 1)
    }

    /// Writes the value of an expression for the known values of its inputs.
    pub(super) fn open_value(
        &mut self,
        property: &PropertyElement<'a>,
        expression: Node<'a>,
    ) -> Option<Out<'a>> {
        let Some(inputs) = self.evaluator.inputs_of_value(expression) else {
            return Some(self.later(None, property.id, "depends on what is present".into()));
        };
        let read = self.evaluator.graph.syntax.read(expression);
        // Values with the same text share one case.
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
            cases.push((self.evaluator.arena.or(whens), Out::Value(written(value, expression))));
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

    /// All combinations of the known values of these inputs; empty if there are too many.
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

    /// The known values of an input, each with the atom that says that the input has it.
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
