//! What a variant leaves open: selected and fulfilled from what is there.

use super::Resolver;
use crate::explore::types;
use crate::orchestrate::fulfil::{self, FulfilQuestion, Inventory};
use crate::sat::solve::SolverSettings;
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::Diagnostics;
use crate::text::yaml::OutNode;
use crate::tosca::Types;
use crate::tosca::load::Extent;
use crate::variability::emit;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Interpreted;
use crate::variability::resolve::{self, EvaluatedVariant};

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
        self.with_evaluated(|variant, types| {
            let uri = |name: &str| format!("{template}#/nodes/{name}");
            let inventory = Inventory::of(&variant.topology, types, &uri, &|_| true);
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
    /// let fulfilled = Resolver::from_text("app.yaml", app).fulfil(&site)?.result;
    /// assert!(fulfilled.contains("- host: box"));
    /// assert!(fulfilled.contains("instance: site.yaml#/nodes/box"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::resolve`], `no-selection`, and `unfulfilled-requirement`.
    pub fn fulfil(&self, inventory: &Inventory) -> Result<Answer<String>, Failure> {
        let settings =
            SolverSettings { limit: self.how().limit, ..SolverSettings::from(self.choice.solver) };
        self.with_evaluated(|variant, types| {
            let question = FulfilQuestion {
                document: OutNode::root(variant.document),
                topology: &variant.topology,
                types,
                inventory,
                scope: &|_| 0,
            };
            let (found, warnings) = fulfil::fulfil(&question, &settings)?;
            let written =
                fulfil::write(variant.written, &variant.topology, types, inventory, &found);
            Ok((emit::text(&written), warnings))
        })
    }

    /// Makes something of the variant, with the values of its functions as far as they are known.
    fn with_evaluated<T>(
        &self,
        make: impl FnOnce(
            &EvaluatedVariant<'_, '_>,
            &Types<'_>,
        ) -> Result<(T, Diagnostics), Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let evaluating = self.clone().evaluate_functions();
        let (choice, how) = (&evaluating.choice, evaluating.how());
        evaluating.answer(Extent::Whole, |loaded| {
            let interpreted = Interpreted::of(loaded, choice)?;
            let made = resolve::evaluated(&interpreted, choice, &how, |variant| {
                types::known(loaded, choice, InputMode::Closed, |types| make(&variant, types))
            });
            let ((made, more), warnings) = made?;
            Ok((made, warnings.before(more)))
        })
    }
}
