//! What a variant leaves open: selected and fulfilled from what is there.

use super::instances::{KeptSide, PlannedExtent};
use super::{Resolver, StoredInstance};
use crate::explore::types;
use crate::orchestrate::fulfil::{self, FulfilQuestion, Inventory};
use crate::orchestrate::instance::{self, InstanceModel, Overlay};
use crate::orchestrate::substitute::line_of;
use crate::sat::solve::SolverSettings;
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::Diagnostics;
use crate::text::yaml::{Out, OutNode};
use crate::topology::Topology;
use crate::tosca::Types;
use crate::tosca::load::{Extent, Loaded};
use crate::variability::emit;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Interpreted;
use crate::variability::resolution::Resolution;
use crate::variability::resolve::{self, EvaluatedVariant};
use rustc_hash::FxHashMap;

impl Resolver {
    /// The nodes of the variant as an inventory: all of them are there. Each is told from everything else
    /// by the template, as it was named, and its name.
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
            let mut inventory = Inventory::of(&variant.topology, types, &uri, &|_| true);
            for (node, declared) in inventory.nodes.iter_mut().zip(&variant.topology.nodes) {
                node.place = line_of(declared.span, loaded.sources());
            }
            Ok((inventory, Diagnostics::default()))
        })
    }

    /// The variant with what it leaves open taken from itself and from an inventory: nodes that are to be
    /// selected, and targets of requirements; all at once, and as few nodes of the inventory as
    /// possible.
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
            let (found, warnings) = fulfil::fulfil(&question, &settings)?;
            let written =
                fulfil::write(variant.written, &variant.topology, types, inventory, &found);
            Ok(((emit::text(&written), loaded.package().clone()), warnings))
        })?;
        let Answer { result: (yaml, package), warnings, sources } = answer;
        Ok(Resolution::rewritten(yaml, package, sources, warnings))
    }

    /// The nodes of an instance that are started, as an inventory; what is known of their types is what
    /// this template knows. For an instance that is stored with its types see
    /// [`StoredInstance::inventory_of`].
    ///
    /// # Errors
    /// Where a file of the template cannot be read.
    pub fn inventory_of(&self, model: &InstanceModel) -> Result<Answer<Inventory>, Failure> {
        self.answer(Extent::Whole, |loaded| {
            let inventory = types::known(loaded, &self.choice, InputMode::Closed, |types| {
                let others = FxHashMap::default();
                let overlay =
                    Overlay { model, with_initial: false, with_values: true, others: &others };
                let document = overlay.document(&Out::Map { entries: Vec::new(), like: None });
                let topology = Topology::read(&document, &|_| false);
                Ok(instance::inventory(model, &topology, types))
            });
            Ok((inventory?, Diagnostics::default()))
        })
    }

    /// Makes something of the variant, with the values of its functions as far as they are known.
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
    /// What it is, or was in this state of it, as an inventory: its nodes that are started, with the
    /// types of what it is meant to be.
    ///
    /// # Errors
    /// Where the target cannot be read.
    pub fn inventory_of(&self, model: &InstanceModel) -> Result<Inventory, Failure> {
        let side = KeptSide::of(model, &|digest| self.target(digest))?;
        let made = side.with(model, PlannedExtent::Present, |present| {
            Ok(instance::inventory(model, present.topology, present.types))
        });
        made.map_err(|Diagnostics(diagnostics)| Failure {
            diagnostics,
            sources: side.loaded.sources().clone(),
        })
    }
}
