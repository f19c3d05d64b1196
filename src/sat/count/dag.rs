//! The models of clauses, written down: each node is one of its products, the products of a node have no
//! model in common, and the children of a product have no variable in common. So numbers add up and
//! multiply.
//!
//! # References
//!
//! - Adnan Darwiche, Pierre Marquis. "A Knowledge Compilation Map." JAIR 2002: what can be asked of such
//!   a form, d-DNNF, in one pass.

use num_bigint::BigUint;

use crate::sat::formula::{Lit, Var};

/// Nodes and products are numbered; children have smaller numbers than the node they are in.
#[derive(Debug, Default)]
pub(super) struct Dag {
    factors: Vec<u32>,
    children: Vec<u32>,
    /// Where the factors and the children of each product end.
    products: Vec<(u32, u32)>,
    /// Where the products of each node end.
    nodes: Vec<u32>,
    /// The node of all variables; without one there is no model.
    pub root: Option<u32>,
}

/// What a product says about a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Factor {
    Literal(Lit),
    /// Either value will do.
    Free(Var),
}

impl Factor {
    pub(super) const fn to_word(self) -> u32 {
        match self {
            Self::Literal(literal) => literal.0 << 1,
            Self::Free(var) => var.0 << 2 | 1,
        }
    }

    const fn of_word(word: u32) -> Self {
        if word & 1 == 0 { Self::Literal(Lit(word >> 1)) } else { Self::Free(Var(word >> 2)) }
    }

    fn rename(self, name: impl Fn(Var) -> Var) -> Self {
        match self {
            Self::Literal(literal) => {
                Self::Literal(name(literal.var()).positive().negate_if(literal.is_negative()))
            }
            Self::Free(var) => Self::Free(name(var)),
        }
    }
}

impl Dag {
    /// Adds a product to the next node; `None` where there are too many.
    pub(super) fn add_product(&mut self, factors: &[u32], children: &[u32]) -> Option<()> {
        self.factors.extend_from_slice(factors);
        self.children.extend_from_slice(children);
        self.products.push((
            u32::try_from(self.factors.len()).ok()?,
            u32::try_from(self.children.len()).ok()?,
        ));
        Some(())
    }

    /// Makes a node of the products since the last one.
    pub(super) fn add_node(&mut self) -> u32 {
        self.nodes.push(self.products.len() as u32);
        self.nodes.len() as u32 - 1
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn products_of(&self, node: u32) -> std::ops::Range<usize> {
        let start = if node == 0 { 0 } else { self.nodes[node as usize - 1] };
        start as usize..self.nodes[node as usize] as usize
    }

    pub(super) fn factors_of(&self, product: usize) -> impl Iterator<Item = Factor> {
        let start = if product == 0 { 0 } else { self.products[product - 1].0 };
        self.factors[start as usize..self.products[product].0 as usize]
            .iter()
            .map(|&word| Factor::of_word(word))
    }

    pub(super) fn children_of(&self, product: usize) -> &[u32] {
        let start = if product == 0 { 0 } else { self.products[product - 1].1 };
        &self.children[start as usize..self.products[product].1 as usize]
    }

    /// Gives the variables other numbers.
    pub(super) fn rename(&mut self, name: impl Fn(Var) -> Var) {
        self.factors
            .iter_mut()
            .for_each(|word| *word = Factor::of_word(*word).rename(&name).to_word());
    }

    /// How many models each product has in which variables have the values that are given.
    pub(super) fn counts(&self, given: impl Fn(Var) -> Option<bool>) -> Vec<BigUint> {
        let mut products = Vec::with_capacity(self.products.len());
        let mut nodes: Vec<BigUint> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() as u32 {
            let range = self.products_of(node);
            for product in range.clone() {
                let count = match self.free(product, &given) {
                    Some(free) => {
                        self.children_of(product)
                            .iter()
                            .map(|&child| &nodes[child as usize])
                            .product::<BigUint>()
                            << free
                    }
                    None => BigUint::ZERO,
                };
                products.push(count);
            }
            nodes.push(products[range].iter().sum());
        }
        products
    }

    /// Of how many variables a product leaves the value open; `None` where it contradicts what is
    /// given.
    fn free(&self, product: usize, given: impl Fn(Var) -> Option<bool>) -> Option<u64> {
        let mut free = 0;
        for factor in self.factors_of(product) {
            match factor {
                Factor::Literal(literal) if given(literal.var()) == Some(literal.is_negative()) => {
                    return None;
                }
                Factor::Free(var) if given(var).is_none() => free += 1,
                Factor::Literal(_) | Factor::Free(_) => {}
            }
        }
        Some(free)
    }
}
