//! An and-inverter graph with n-ary conjunctions: `a ∨ b` is `¬(¬a ∧ ¬b)`, so that equal formulas are one.

/// A proposition that the solver decides: the presence of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(pub u32);

/// A reference to a formula of an [`Arena`], with its sign; negation is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);

/// One step into a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// True or false.
    Constant(bool),
    /// An atom or its negation.
    Literal(Atom, bool),
    /// All of these hold.
    And(&'a [Formula]),
    /// Not all of these hold.
    NotAnd(&'a [Formula]),
}

impl std::ops::Not for Formula {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// All formulas of one problem.
#[derive(Debug, Default)]
pub struct Arena {}

impl Formula {
    /// The formula that always holds.
    pub const TRUE: Self = Self(0);
    /// The formula that never holds.
    pub const FALSE: Self = Self(1);

    /// A constant.
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// The value, when this is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Self::TRUE)
    }
}

impl Arena {
    /// An atom as a formula.
    pub fn atom(&mut self, _atom: Atom) -> Formula {
        todo!()
    }

    /// All hold; true for none.
    pub fn and(&mut self, _operands: impl IntoIterator<Item = Formula>) -> Formula {
        todo!()
    }

    /// At least one holds; false for none.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        !self.and(operands.into_iter().map(|operand| !operand))
    }

    /// `a ⇒ b`
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        self.or([!a, b])
    }

    /// `a ⇔ b`
    pub fn iff(&mut self, a: Formula, b: Formula) -> Formula {
        let both = self.and([a, b]);
        let neither = self.and([!a, !b]);
        self.or([both, neither])
    }

    /// An odd number holds.
    pub fn xor(&mut self, _operands: impl IntoIterator<Item = Formula>) -> Formula {
        todo!()
    }

    /// At most one holds; its size is linear in the operands.
    pub fn at_most_one(&mut self, _operands: impl IntoIterator<Item = Formula>) -> Formula {
        todo!()
    }

    /// Exactly one holds.
    pub fn exactly_one(&mut self, _operands: impl IntoIterator<Item = Formula>) -> Formula {
        todo!()
    }

    /// One step into a formula.
    pub fn view(&self, _formula: Formula) -> View<'_> {
        todo!()
    }

    /// The truth of a formula where `present` tells the truth of atoms; without recursion, so depth does not matter.
    pub fn eval(&self, _formula: Formula, _present: &dyn Fn(Atom) -> bool) -> bool {
        todo!()
    }
}
