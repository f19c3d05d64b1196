//! Resolves Variability4TOSCA: a [`Resolver`] takes a variable service template and a choice of
//! inputs. It returns the plain TOSCA template of that variant as a [`Resolution`], or a
//! [`Failure`] with every [`diagnostic`] that it found.
//!
//! ```
//! use cuvee::Resolver;
//! use cuvee::source::MemoryFiles;
//!
//! let shop = "\
//! tosca_definitions_version: tosca_variability_1_0
//! topology_template:
//!   variability:
//!     inputs:
//!       durable: { type: boolean, default: false }
//!     presets:
//!       prod:
//!         inputs: { durable: true }
//!     options: { mode: semantic-loose }
//!   node_templates:
//!     shop:
//!       type: Service
//!       properties:
//!         version: 1.10
//!     backup: # every night
//!       type: Service
//!       conditions: { variability_input: durable }
//! ";
//! let files = MemoryFiles::from([("shop.yaml", shop)]);
//!
//! let dev = Resolver::new("shop.yaml").files(files.clone()).resolve()?;
//! assert_eq!(dev.to_yaml(), "\
//! tosca_definitions_version: tosca_simple_yaml_1_3
//! topology_template:
//!   node_templates:
//!     shop:
//!       type: Service
//!       properties:
//!         version: 1.10
//! ");
//!
//! let prod = Resolver::new("shop.yaml").files(files.clone()).preset("prod").resolve()?;
//! assert!(prod.presence().any(|(element, present)| element == "node.backup" && present));
//!
//! let failure = Resolver::new("shop.yaml").files(files).preset("prd").resolve().unwrap_err();
//! assert_eq!(failure.diagnostics[0].help.as_deref(), Some("did you mean `prod`?"));
//! # Ok::<(), cuvee::Failure>(())
//! ```
//!
//! Without the feature `cli`, which is on by default, no code for the command line is compiled.
//! `docs/library.md` lists the other features and says what the library promises.
//!
//! Files are read only through [`source::FileSystem`], so templates may also be in memory.
//! [`explore`] has the questions about all variants at once, [`validate`] finds what is wrong with
//! a template, [`deploy`] plans and keeps instances, [`output`] draws and converts.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod convert;
pub mod diagnostic;
mod draw;
pub mod editor;
mod exchange;
pub mod explore;
#[cfg(feature = "cli")]
pub mod operate;
mod orchestrate;
mod parallel;
mod report;
mod resolver;
pub mod testing;
pub mod topology;
mod tosca;
pub mod validate;
mod variability;

pub use cuvee_text::answer::Failure;
pub use resolver::Resolver;
pub use variability::resolution::Resolution;

/// The sources of templates: files, places in them, archives and values.
pub mod source {
    pub use crate::tosca::csar;
    pub use cuvee_text::source::*;
    pub use cuvee_text::value;
}

/// The options that steer resolving, and the clock and the solver that resolving uses.
pub mod options {
    pub use crate::variability::clock;
    pub use crate::variability::options::*;
    pub use cuvee_sat::solve::SolverKind;
}

/// Plans, instances, and the substitution of nodes and fulfilment of requirements.
pub mod deploy {
    pub use crate::orchestrate::plan;

    /// Instances: what is deployed, what happened to it, and what to do next.
    ///
    /// [`StoredInstance`](instance::StoredInstance) is the entry point; everything below it works
    /// with any [`Store`](instance::Store).
    pub mod instance {
        pub use crate::orchestrate::instance::*;
        pub use crate::resolver::{
            InstancePlanQuery, InstanceSettings, KeptTargets, NextLines, ReadySteps,
            RecordAuthorNow, RecordReports, ReportLines, StoredInstance, TakenReports, add_outputs,
            plan_instance, remove_instance, repair_instance, with_derivation,
        };
    }

    /// Inventories: nodes that already exist and may fill what a template leaves open.
    ///
    /// [`Resolver::fulfil`](crate::Resolver::fulfil) selects nodes and fulfils requirements from an
    /// inventory. [`Resolver::inventory`](crate::Resolver::inventory) makes an inventory of a
    /// template.
    pub mod fulfil {
        pub use crate::orchestrate::fulfil::{Inventory, InventoryCapability, InventoryNode};
    }

    /// Substitution: the templates that substitute nodes, and the reasons for the choice.
    ///
    /// [`Resolver::substitute`](crate::Resolver::substitute) is the entry point.
    pub mod substitute {
        pub use crate::orchestrate::substitute::{
            ChosenTemplate, ExplainedDirective, ExplainedFulfilment, ExplainedMapping,
            ExplainedRefusal, ExplainedRequirement, ExplainedRunnerUp, ExplainedSelection,
            ExplainedSubstitution, SubstitutionExplanation, human,
        };
        pub use crate::resolver::{
            CandidateVariants, NestedTemplate, SubstitutedTemplate, SubstitutionQuery,
        };
    }
}

/// Drawings, pages and other formats.
pub mod output {
    /// Converts between TOSCA 1.0 and TOSCA Simple Profile 1.3, and lists what has no counterpart
    /// there.
    pub mod convert {
        pub use crate::convert::*;
        pub use crate::resolver::{
            CanonicalDocument, Conversion, ConversionDialect, ConversionFormat, ConversionQuery,
        };
    }

    /// Draws topologies, instances and plans, and writes them as text.
    pub mod draw {
        pub use crate::draw::*;
    }

    /// Formulas for solvers and feature models.
    pub mod exchange {
        pub use crate::exchange::*;
    }

    /// Answers as the JSON documents of the command.
    pub mod json {
        pub use crate::exchange::documents::*;
    }

    /// Writes one page with a configurator; the page works offline.
    pub mod report {
        pub use crate::report::*;
    }
}

/// Templates in which everything is written out that their options add.
pub mod enrich {
    pub use crate::variability::enriched::{AddedCondition, EnrichedElement, EnrichedTemplate};
}

/// The technologies of plain templates: which ones rules assign, and how good they are. And what a
/// technology plugin is asked: see [`Resolver::technology_plugin`].
pub mod technology {
    pub use crate::variability::assign::{
        AssignedTechnologies, NodeTechnology, TechnologyQuality, TechnologyScenario,
        UnsupportedTechnology,
    };
    pub use crate::variability::technology::{RequestedNode, RequestedRule, TechnologyRequest};
}

/// The layers below, for code that builds on one of them. They may change with any version.
pub mod parts {
    /// The type system of TOSCA: shapes of entities, types, values and functions.
    pub mod tosca {
        pub use crate::tosca::*;
    }

    pub use cuvee_sat::{count, formula, solve};
    pub use cuvee_text::{xml, yaml};
}

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the page about the library.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
