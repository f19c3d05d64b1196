//! Evaluates clauses all of whose variables follow from inputs, as a circuit.
//!
//! A model can be changed without a solver. Inputs take other values, and the gates behind them are
//! evaluated. Then the clauses that mention a changed variable tell whether the result is still a
//! model. All this is done for 64 models at once: the value of a variable is a word with a bit for
//! each model.
//!
//! # References
//!
//! - Florian Krohm, Andreas Kuehlmann, Arjen Mets. "The Use of Random Simulation in Formal
//!   Verification." ICCD 1996: no solver has to be asked for what simulation shows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::gates::Gates;
use super::propagate::{ClauseLists, Propagation};
use crate::formula::{Cnf, Lit, Var};

/// Clauses all of whose variables follow from inputs.
pub struct Circuit {
    /// The clauses that propagation leaves.
    clauses: Vec<Vec<Lit>>,
    lists: ClauseLists,
    /// The gates in an order in which they can be evaluated.
    gates: Vec<EvaluatedGate>,
    /// For each variable the gates that read it, in their order.
    readers: Readers,
    kinds: Vec<VarKind>,
}

/// The source of the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VarKind {
    Fixed,
    Input,
    Gate,
}

/// A gate. Its literal is true where all other literals of one of its clauses are false, and false
/// otherwise.
struct EvaluatedGate {
    literal: Lit,
    clauses: Vec<u32>,
    /// The clauses that contain the negated literal. One of them has no other true literal where the
    /// literal is false.
    negated: Vec<u32>,
}

/// For each variable the gates that read it.
struct Readers {
    starts: Vec<u32>,
    gates: Vec<u32>,
}

impl Circuit {
    /// Builds the circuit of clauses. `None` where a variable is neither fixed by propagation, nor
    /// an input, nor defined by a gate, or where the clauses contradict each other.
    pub fn new(cnf: &Cnf, inputs: &[Var]) -> Option<Self> {
        let fixed = Propagation::of(cnf);
        if fixed.conflict.is_some() {
            return None;
        }
        let residues = cnf.clauses().filter_map(|clause| fixed.residue(clause.literals));
        let clauses: Vec<Vec<Lit>> = residues.map(Iterator::collect).collect();
        let found = Gates::of(cnf.vars(), &clauses, inputs).gates;
        let mut kinds = vec![None; cnf.vars()];
        inputs.iter().for_each(|input| kinds[input.index()] = Some(VarKind::Input));
        for (var, kind) in (0..).map(Var).zip(&mut kinds) {
            if fixed.value(var.positive()).is_some() {
                *kind = Some(VarKind::Fixed);
            }
        }
        found.iter().for_each(|gate| kinds[gate.var.index()] = Some(VarKind::Gate));
        let kinds: Vec<VarKind> = kinds.into_iter().collect::<Option<_>>()?;
        let gates: Vec<_> =
            found.iter().map(|gate| EvaluatedGate::of(gate.var, &gate.clauses, &clauses)).collect();
        let readers = Readers::new(cnf.vars(), &gates, &clauses);
        let lists = ClauseLists::new(cnf.vars(), || clauses.iter().map(Vec::as_slice));
        Some(Self { clauses, lists, gates, readers, kinds })
    }

    /// Whether a variable is an input, which may be given any value.
    pub fn is_input(&self, var: Var) -> bool {
        self.kinds[var.index()] == VarKind::Input
    }

    /// The variables that may be given any value.
    pub fn inputs(&self) -> impl Iterator<Item = Var> {
        (0..self.kinds.len() as u32).map(Var).filter(|&var| self.is_input(var))
    }

    /// The variables that may change when some inputs do, each with its new value as a literal, if
    /// one of the circuit has that value. They are in an order in which they can be evaluated;
    /// `inputs` come first.
    ///
    /// A gate says the same with new values where its clauses stay the same clauses, and the
    /// opposite where they become those of its negation. So the sum of bits changes with each bit.
    pub fn cone(&self, inputs: Vec<(Var, Option<Lit>)>) -> Vec<(Var, Option<Lit>)> {
        let mut found: FxHashMap<Var, Option<Lit>> = inputs.iter().copied().collect();
        let mut changed = inputs;
        let mut open = BinaryHeap::new();
        let readers = |var: Var| self.readers.of(var).iter().copied().map(Reverse);
        changed.iter().for_each(|&(input, _)| open.extend(readers(input)));
        let mut last = None;
        while let Some(Reverse(gate)) = open.pop() {
            if last.replace(gate) == Some(gate) {
                continue;
            }
            let gate = &self.gates[gate as usize];
            let value = self.changed_value(gate, &found);
            let var = gate.literal.var();
            found.insert(var, value);
            changed.push((var, value));
            open.extend(readers(var));
        }
        changed
    }

    /// The literal that a gate equals when variables have new values.
    fn changed_value(
        &self,
        gate: &EvaluatedGate,
        changed: &FxHashMap<Var, Option<Lit>>,
    ) -> Option<Lit> {
        let var = gate.literal.var();
        let new = |literal: Lit| match changed.get(&literal.var()) {
            Some(new) => new.map(|new| new.negate_if(literal.is_negative())),
            None => Some(literal),
        };
        let others = |clauses: &[u32], new: &dyn Fn(Lit) -> Option<Lit>| {
            let clauses = clauses.iter().map(|&clause| {
                let others = self.clauses[clause as usize].iter().copied();
                let others = others.filter(|literal| literal.var() != var).map(new);
                let mut others = others.collect::<Option<Vec<Lit>>>()?;
                others.sort_unstable();
                Some(others)
            });
            let mut clauses = clauses.collect::<Option<Vec<Vec<Lit>>>>()?;
            clauses.sort_unstable();
            Some(clauses)
        };
        let after = others(&gate.clauses, &new)?;
        let is = |clauses: &[u32]| others(clauses, &Some).is_some_and(|before| before == after);
        if is(&gate.clauses) {
            Some(var.positive())
        } else {
            is(&gate.negated).then(|| var.negative())
        }
    }

    /// The clauses that mention any of some variables, each once.
    pub fn clauses_of(&self, vars: &[Var]) -> impl Iterator<Item = &[Lit]> {
        let of_var = |var: &Var| {
            let positive = self.lists.of_literal(var.positive());
            positive.iter().chain(self.lists.of_literal(var.negative())).copied()
        };
        let mut found: Vec<u32> = vars.iter().flat_map(of_var).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|clause| self.clauses[clause as usize].as_slice())
    }
}

impl EvaluatedGate {
    /// The clauses that contain one of the two literals are enough. Those with fewer literals are
    /// chosen.
    fn of(var: Var, clauses: &[u32], all: &[Vec<Lit>]) -> Self {
        let size = |literal: Lit| -> usize {
            let own = clauses.iter().map(|&clause| &all[clause as usize]);
            own.filter(|clause| clause.contains(&literal)).map(Vec::len).sum()
        };
        let literal = var.positive().negate_if(size(var.negative()) < size(var.positive()));
        let (clauses, negated) =
            clauses.iter().copied().partition(|&clause| all[clause as usize].contains(&literal));
        Self { literal, clauses, negated }
    }

    /// The variables that the gate reads.
    fn reads<'c>(&'c self, all: &'c [Vec<Lit>]) -> impl Iterator<Item = Var> + 'c {
        let own = self.clauses.iter().flat_map(|&clause| &all[clause as usize]);
        own.map(|literal| literal.var()).filter(|&var| var != self.literal.var())
    }
}

impl Readers {
    fn new(vars: usize, gates: &[EvaluatedGate], clauses: &[Vec<Lit>]) -> Self {
        let mut starts = vec![0; vars + 1];
        let mut met = vec![u32::MAX; vars];
        let mut read = Vec::new();
        for (gate, index) in gates.iter().zip(0..) {
            for var in gate.reads(clauses) {
                if std::mem::replace(&mut met[var.index()], index) != index {
                    starts[var.index() + 1] += 1;
                    read.push((var, index));
                }
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut gates = vec![0; read.len()];
        for (var, gate) in read {
            gates[next[var.index()] as usize] = gate;
            next[var.index()] += 1;
        }
        Self { starts, gates }
    }

    fn of(&self, var: Var) -> &[u32] {
        &self.gates[self.starts[var.index()] as usize..self.starts[var.index() + 1] as usize]
    }
}

/// 64 models of a circuit side by side, the *lanes*. Inputs can be changed in each of them.
pub struct Lanes<'c> {
    circuit: &'c Circuit,
    /// The lanes in which each variable is true, a bit each.
    values: Vec<u64>,
    /// The variables that changed last, with their values before.
    changed: Vec<(Var, u64)>,
    open: BinaryHeap<Reverse<u32>>,
    queued: Vec<bool>,
    /// For each clause the number of the last check that looked at it.
    looked: Vec<u32>,
    now: u32,
    /// How many literals were looked at so far, a measure of the work.
    pub steps: u64,
}

impl<'c> Lanes<'c> {
    /// Creates lanes from the values of the variables: a word each, with a bit for each lane.
    /// Missing values are 0, and are to be set later.
    pub fn new(circuit: &'c Circuit, mut values: Vec<u64>) -> Self {
        values.resize(circuit.kinds.len(), 0);
        Self {
            circuit,
            values,
            changed: Vec::new(),
            open: BinaryHeap::new(),
            queued: vec![false; circuit.gates.len()],
            looked: vec![0; circuit.clauses.len()],
            now: 0,
            steps: 0,
        }
    }

    /// Sets some lanes to a model.
    pub fn set(&mut self, lanes: u64, is_true: &dyn Fn(Lit) -> bool) {
        for (value, var) in self.values.iter_mut().zip((0..).map(Var)) {
            *value = if is_true(var.positive()) { *value | lanes } else { *value & !lanes };
        }
    }

    /// For each variable the lanes in which it is true.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Returns for each variable the lanes in which it is true, and drops the rest.
    pub fn into_values(self) -> Vec<u64> {
        self.values
    }

    /// The lanes in which a literal is true.
    pub fn value(&self, literal: Lit) -> u64 {
        self.values[literal.var().index()] ^ if literal.is_negative() { u64::MAX } else { 0 }
    }

    /// Flips inputs, each in some lanes, and evaluates the gates behind them. Returns those of the
    /// flipped lanes that are still models. Before the next change, [`keep`](Self::keep) must be
    /// called.
    pub fn change(&mut self, inputs: impl IntoIterator<Item = (Var, u64)>) -> u64 {
        self.changed.clear();
        let mut touched = 0;
        for (input, lanes) in inputs {
            touched |= lanes;
            self.put(input, self.values[input.index()] ^ lanes);
        }
        while let Some(Reverse(gate)) = self.open.pop() {
            self.queued[gate as usize] = false;
            let gate = &self.circuit.gates[gate as usize];
            let value = self.evaluated(gate);
            self.put(gate.literal.var(), value);
        }
        touched & self.holds()
    }

    fn put(&mut self, var: Var, value: u64) {
        let before = std::mem::replace(&mut self.values[var.index()], value);
        if before == value {
            return;
        }
        self.changed.push((var, before));
        for &gate in self.circuit.readers.of(var) {
            if !std::mem::replace(&mut self.queued[gate as usize], true) {
                self.open.push(Reverse(gate));
            }
        }
    }

    fn evaluated(&mut self, gate: &EvaluatedGate) -> u64 {
        let mut left = 0;
        for &clause in &gate.clauses {
            let clause = &self.circuit.clauses[clause as usize];
            self.steps += clause.len() as u64;
            let others = clause.iter().filter(|&&literal| literal != gate.literal);
            left |= others.fold(u64::MAX, |left, &literal| left & !self.value(literal));
        }
        left ^ if gate.literal.is_negative() { u64::MAX } else { 0 }
    }

    /// The lanes in which all clauses hold that mention a changed variable.
    fn holds(&mut self) -> u64 {
        self.now += 1;
        let mut holds = u64::MAX;
        let Self { circuit, values, changed, looked, now, steps, .. } = self;
        for &(var, before) in &*changed {
            let value = values[var.index()];
            // A clause can be violated only through a literal that became false.
            let fell = [(var.positive(), before & !value), (var.negative(), value & !before)];
            for (literal, _) in fell.into_iter().filter(|&(_, lanes)| lanes != 0) {
                for &clause in circuit.lists.of_literal(literal) {
                    if std::mem::replace(&mut looked[clause as usize], *now) == *now {
                        continue;
                    }
                    let mut any = 0;
                    for literal in &circuit.clauses[clause as usize] {
                        *steps += 1;
                        any |= values[literal.var().index()]
                            ^ if literal.is_negative() { u64::MAX } else { 0 };
                        if any == u64::MAX {
                            break;
                        }
                    }
                    holds &= any;
                }
            }
        }
        holds
    }

    /// The variables that changed last, each with the lanes in which it changed.
    pub fn changed(&self) -> impl Iterator<Item = (Var, u64)> {
        self.changed.iter().map(|&(var, before)| (var, before ^ self.values[var.index()]))
    }

    /// Keeps the last change in some lanes, and takes it back in the others.
    pub fn keep(&mut self, lanes: u64) {
        for (var, before) in self.changed.drain(..) {
            let value = &mut self.values[var.index()];
            *value = *value & lanes | before & !lanes;
        }
    }
}
