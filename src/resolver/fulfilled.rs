//! Fulfils what a variant leaves open: selects nodes and targets of requirements from an inventory.

use super::instances::{KeptSide, PlannedExtent};
use super::{Resolver, StoredInstance};
use crate::diagnostic::Diagnostics;
use crate::explore::types;
use crate::orchestrate::evaluated::evaluate;
use crate::orchestrate::fulfil::{self, FulfilQuestion, Inventory};
use crate::orchestrate::instance::{self, InstanceModel, Overlay};
use crate::orchestrate::substitute::{line_of, represented};
use crate::topology::Topology;
use crate::tosca::Types;
use crate::tosca::load::{Extent, Loaded};
use crate::variability::emit;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Interpreted;
use crate::variability::resolution::Resolution;
use crate::variability::resolve::{self, EvaluatedVariant};
use cuvee_sat::solve::SolverSettings;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::yaml::{Out, OutNode};
use rustc_hash::FxHashMap;

impl Resolver {
    /// An inventory of the nodes of the variant, as if all of them existed. The URI of a node
    /// consists of the template, as the caller named it, and of the node's name.
    ///
    /// ```
    /// let inventory = cuvee::Resolver::new("examples/guestbook").inventory()?.result;
    /// let book = inventory.nodes.iter().find(|node| node.name == "book").unwrap();
    /// assert_eq!(book.uri, "examples/guestbook#/nodes/book");
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn inventory(&self) -> Result<Answer<Inventory>, Failure> {
        let template = self.named_template();
        self.with_evaluated(|loaded, variant, types| {
            let uri = |name: &str| format!("{template}#/nodes/{name}");
            // A template that stands for several nodes is as many.
            let documents = (variant.written.clone(), Some(variant.document.clone()));
            let nodes = represented(documents.0, documents.1, &FxHashMap::default(), types)?;
            let repeated = nodes.evaluated.filter(|_| nodes.is_changed).map(|document| {
                let mut topology = Topology::read(&document, &|_| false);
                evaluate(&mut topology, types);
                topology
            });
            let topology = repeated.as_ref().unwrap_or(&variant.topology);
            let mut inventory = Inventory::of(topology, types, &uri, &|_| true);
            for (node, declared) in inventory.nodes.iter_mut().zip(&topology.nodes) {
                node.place = line_of(declared.span, loaded.sources());
            }
            Ok((inventory, Diagnostics::default()))
        })
    }

    /// The variant with its open parts filled from its own nodes and from an inventory. Open parts
    /// are nodes to select and targets of requirements. All of them are filled at once, with as few
    /// nodes of the inventory as possible, but for those whose filters ask for others of them.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// let app = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     app: {type: tosca.nodes.SoftwareComponent}
    /// ";
    /// let site = "
    /// tosca_definitions_version: tosca_simple_yaml_1_3
    /// topology_template:
    ///   node_templates:
    ///     box: {type: tosca.nodes.Compute}
    /// ";
    /// let site = Resolver::from_text("site.yaml", site).inventory()?.result;
    /// let fulfilled = Resolver::from_text("app.yaml", app).fulfil(&site)?;
    /// assert!(fulfilled.to_yaml().contains("requirements: [{host: box}]"));
    /// assert!(fulfilled.to_yaml().contains("instance: site.yaml#/nodes/box"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::resolve`], `no-selection`, and `unfulfilled-requirement`.
    pub fn fulfil(&self, inventory: &Inventory) -> Result<Resolution, Failure> {
        let settings =
            SolverSettings { limit: self.how().limit, ..SolverSettings::from(self.choice.solver) };
        let answer = self.with_evaluated(|loaded, variant, types| {
            let question = FulfilQuestion {
                document: OutNode::root(variant.document),
                topology: &variant.topology,
                types,
                inventory,
                scope: &|_| 0,
                leaves: &|_, _| true,
            };
            let (document, evaluated) = (variant.written.clone(), Some(variant.document.clone()));
            let (written, _, warnings) =
                fulfil::fulfil(document, evaluated, &question, &settings, &mut |_, _| {})?;
            Ok(((emit::text(&written), loaded.package().clone()), warnings))
        })?;
        let Answer { result: (yaml, package), warnings, sources } = answer;
        Ok(Resolution::rewritten(yaml, package, sources, warnings))
    }

    /// An inventory of the started nodes of an instance, with types as this template knows them.
    /// For an instance that is stored with its types see [`StoredInstance::inventory_of`].
    ///
    /// # Errors
    /// A file of the template cannot be read.
    pub fn inventory_of(&self, model: &InstanceModel) -> Result<Answer<Inventory>, Failure> {
        self.answer(Extent::Whole, |loaded| {
            let inventory = types::known(loaded, &self.choice, InputMode::Closed, |types| {
                let others = FxHashMap::default();
                let overlay =
                    Overlay { model, with_initial: false, with_values: true, others: &others };
                let document =
                    overlay.document(&Out::Map { entries: Default::default(), like: None });
                let topology = Topology::read(&document, &|_| false);
                Ok(instance::inventory(model, &topology, types))
            });
            Ok((inventory?, Diagnostics::default()))
        })
    }

    /// Calls `make` with the variant, in which functions have their values as far as these are
    /// known.
    fn with_evaluated<T>(
        &self,
        make: impl FnOnce(
            &Loaded,
            &EvaluatedVariant<'_, '_>,
            &Types<'_>,
        ) -> Result<(T, Diagnostics), Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let evaluating = self.clone().evaluate_functions();
        let (choice, how) = (&evaluating.choice, evaluating.how());
        evaluating.answer(Extent::Whole, |loaded| {
            let interpreted = Interpreted::of(loaded, choice)?;
            let made = resolve::evaluated(&interpreted, choice, &how, |variant| {
                types::known(loaded, choice, InputMode::Closed, |types| {
                    make(loaded, &variant, types)
                })
            });
            let ((made, more), warnings) = made?;
            Ok((made, warnings.before(more)))
        })
    }
}

impl StoredInstance<'_> {
    /// An inventory of the started nodes of the instance in the state of `model`, which may be the
    /// present or an earlier one. Types come from the target of that state.
    ///
    /// # Errors
    /// The target cannot be read.
    pub fn inventory_of(&self, model: &InstanceModel) -> Result<Inventory, Failure> {
        let side = KeptSide::of(model, &|digest| self.texts(digest))?;
        let made = side.with(model, PlannedExtent::Present, |present| {
            Ok(instance::inventory(model, present.topology, present.origin.types))
        });
        made.map_err(|Diagnostics(diagnostics)| Failure {
            diagnostics,
            sources: side.loaded.sources().clone(),
        })
    }
}
