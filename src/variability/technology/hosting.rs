//! Ways up the hosting relations.

use crate::text::diagnostic::{Code, Diagnostic};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::graph::{Graph, NodeElement, RelationId};

/// More ways than this for one rule and node are a mistake: each is a variable, and people have to
/// tell them apart.
const MAX_PATHS: usize = 10_000;

/// Stacks are a handful of hosts high; this bounds the search in what is a cycle or generated.
const MAX_HEIGHT: usize = 256;

/// Every way from a node up its hosting relations that passes hosts of these types; `*` skips any
/// number of hosts.
///
/// # Errors
/// Where there are too many.
pub(super) fn paths(
    graph: &Graph<'_>,
    types: &TypeHierarchy<'_>,
    node: &NodeElement<'_>,
    hosting: &[&str],
) -> Result<Vec<Vec<RelationId>>, Diagnostic> {
    let mut search = HostingSearch { graph, types, path: Vec::new(), found: Vec::new(), steps: 0 };
    search.from(node, hosting);
    if search.found.len() > MAX_PATHS || search.steps > 100 * MAX_PATHS {
        let message = format!(
            "there are more than {MAX_PATHS} hosting stacks for {} and one rule",
            graph.display(node.id)
        );
        return Err(Diagnostic::error(Code::InvalidTemplate, message)
            .at(graph.element(node.id).span)
            .help("assign a `technology`, or name more of the stack in the rule's `hosting`"));
    }
    Ok(search.found)
}

struct HostingSearch<'s, 'a> {
    graph: &'s Graph<'a>,
    types: &'s TypeHierarchy<'s>,
    path: Vec<RelationId>,
    found: Vec<Vec<RelationId>>,
    steps: usize,
}

impl HostingSearch<'_, '_> {
    fn from(&mut self, node: &NodeElement<'_>, hosting: &[&str]) {
        self.steps += 1;
        if self.found.len() > MAX_PATHS
            || self.steps > 100 * MAX_PATHS
            || self.path.len() > MAX_HEIGHT
        {
            return;
        }
        let Some((&wanted, rest)) = hosting.split_first() else {
            self.found.push(self.path.clone());
            return;
        };
        let any = wanted == "*";
        if any {
            self.from(node, rest);
        }
        // A star at the end asks for nothing, so it skips nothing.
        if any && rest.is_empty() {
            return;
        }
        for &id in &node.relations {
            let relation = self.graph.relation(id);
            let Some(target) = relation.target.filter(|_| relation.hosting && !self.passes(id))
            else {
                continue;
            };
            let host = self.graph.node(target);
            let fits = host
                .types
                .iter()
                .any(|&name| self.types.is_a(Family::Node, self.graph.element(name).name, wanted));
            if any || fits {
                self.path.push(id);
                self.from(host, if any { hosting } else { rest });
                self.path.pop();
            }
        }
    }

    /// Whether the way has used this relation already, as in a cycle of hosts.
    fn passes(&self, id: RelationId) -> bool {
        self.path.contains(&id)
    }
}
