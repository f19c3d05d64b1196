//! Represents the models of clauses as a directed acyclic graph of nodes and products.
//!
//! A node is the disjunction of its products, which have no model in common. A product is the
//! conjunction of its factors and children, which have no variable in common. So the numbers of
//! models of the products add up, and those of the children multiply.
//!
//! # References
//!
//! - Adnan Darwiche, Pierre Marquis. "A Knowledge Compilation Map." JAIR 2002: the questions that
//!   such a form, d-DNNF, answers in one pass.

use num_bigint::BigUint;

use crate::formula::{Lit, Var};

/// A graph of nodes and products, which are numbered. The children of a node have smaller numbers
/// than the node.
#[derive(Debug, Default)]
pub(super) struct Dag {
    factors: Vec<u32>,
    children: Vec<u32>,
    /// For each product, the end of its factors and the end of its children.
    products: Vec<(u32, u32)>,
    /// For each node, the end of its products.
    nodes: Vec<u32>,
    /// The node of all variables. `None` if there is no model.
    pub root: Option<u32>,
}

/// The factor of a product that concerns one variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Factor {
    Literal(Lit),
    /// The variable may have either value.
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
    /// Adds a product to the next node. `None` where there are too many factors or children to
    /// number.
    pub(super) fn add_product(&mut self, factors: &[u32], children: &[u32]) -> Option<()> {
        self.factors.extend_from_slice(factors);
        self.children.extend_from_slice(children);
        self.products.push((
            u32::try_from(self.factors.len()).ok()?,
            u32::try_from(self.children.len()).ok()?,
        ));
        Some(())
    }

    /// Makes a node of all products that were added since the last node.
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

    /// Renumbers the variables.
    pub(super) fn rename(&mut self, name: impl Fn(Var) -> Var) {
        self.factors
            .iter_mut()
            .for_each(|word| *word = Factor::of_word(*word).rename(&name).to_word());
    }

    /// For each product, counts the models in which the variables have the given values.
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

    /// The number of variables whose value the product leaves open. `None` where the product
    /// contradicts the given values.
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
