//! Counts the variants that have an element.

use super::space::{Projection, Space, literal};
use crate::variability::graph::ElementId;
use cuvee_sat::count::compile;
use cuvee_sat::formula::{Lit, Var};

/// Which variants have an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariantShare {
    /// All of them: the element is a core element.
    Every,
    /// Some; how many of how many, in decimal digits, if they could be counted.
    Some(Option<[String; 2]>),
    /// None: the element is dead.
    None,
    /// There is no variant.
    Void,
}

impl Space<'_, '_> {
    /// Which variants have an element. `None` if the limit of the run is reached before that is
    /// known. Counting takes at most `effort` steps.
    pub(crate) fn share(&self, id: ElementId, effort: u64) -> Option<VariantShare> {
        let mut models = self.valid_models();
        let [with, without] = [literal(id), !literal(id)].map(|it| models.solve(&[it]));
        if self.prepared.limit.is_over() {
            return None;
        }
        Some(match (with, without) {
            (true, true) => VariantShare::Some(self.counted_share(id, effort)),
            (true, false) => VariantShare::Every,
            (false, true) => VariantShare::None,
            (false, false) => VariantShare::Void,
        })
    }

    fn counted_share(&self, id: ElementId, effort: u64) -> Option<[String; 2]> {
        let elements = Projection::All.elements(self.graph());
        let projection: Vec<Var> = elements.iter().map(|&it| literal(it).var()).collect();
        let count = |fixed: &[Lit]| {
            let fixed = fixed.iter().map(std::slice::from_ref);
            let clauses = self.valid_clauses().chain(fixed);
            let compiled = compile(self.vars(), clauses, &projection, effort)?;
            Some(compiled.count().to_string())
        };
        Some([count(&[literal(id)])?, count(&[])?])
    }
}
