//! Resolves Variability4TOSCA: a variable service template and a choice of inputs in, the plain
//! TOSCA template of that variant out.
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
//! Without the feature `cli`, which is on by default, nothing of a terminal is compiled; what else
//! the features bring and what is promised is in `docs/library.md`.
//!
//! Everything starts at [`Resolver`]; what it gives is a [`Resolution`], or a [`Failure`] that
//! holds every [`diagnostic`] found, each with its place. Files are read through
//! [`source::FileSystem`] and through nothing else, so templates may as well live in memory.
//! [`testing`] runs the tests that lie beside a template, [`options`] says which options there are
//! and where each takes its value from.
//!
//! Open to whoever builds on a part of it, and without a promise, are the layers below: [`yaml`]
//! keeps how a document is written, [`tosca`] knows types and values, [`topology`] is a variant as
//! data, [`formula`] turns formulas
//! into clauses, [`solve`] finds the best model of those, and [`count`] counts them.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod convert;
pub mod draw;
pub mod exchange;
pub mod explore;
mod orchestrate;
pub mod report;
mod resolver;
mod sat;
pub mod testing;
mod text;
pub mod topology;
pub mod tosca;
pub mod validate;
mod variability;

/// What is deployed, what happened to it, and what to do next.
///
/// [`StoredInstance`](instance::StoredInstance) is the way in; all below it works with any
/// [`Store`](instance::Store).
pub mod instance {
    pub use crate::orchestrate::instance::*;
    pub use crate::resolver::{
        InstancePlanQuery, InstanceSettings, NextLines, RecordAuthorNow, ReportLines,
        StoredInstance, TakenReports, plan_instance, remove_instance, repair_instance,
        with_derivation,
    };
}

/// What is there already, and may be taken where a template leaves something open.
///
/// [`Resolver::fulfil`] selects and fulfils, and [`Resolver::inventory`] makes an inventory of a
/// template.
pub mod fulfil {
    pub use crate::orchestrate::fulfil::{Inventory, InventoryCapability, InventoryNode};
}

/// What substitutes nodes, and why.
///
/// [`Resolver::substitute`] is the way in.
pub mod substitute {
    pub use crate::orchestrate::substitute::{
        ChosenTemplate, ExplainedFulfilment, ExplainedMapping, ExplainedRefusal,
        ExplainedRequirement, ExplainedRunnerUp, ExplainedSelection, ExplainedSubstitution,
        SubstitutionExplanation, human,
    };
    pub use crate::resolver::{
        CandidateVariants, NestedTemplate, SubstitutedTemplate, SubstitutionQuery,
    };
}

pub use explore::{matrix, outline};
pub use orchestrate::plan;
pub use resolver::{
    CanonicalDocument, Conversion, ConversionDialect, ConversionFormat, ConversionQuery, Resolver,
};
pub use sat::progress;
pub use sat::solve::SolverKind;
/// Not promised: may change with any version.
///
pub use sat::{count, formula, solve};
pub use text::answer::Failure;
#[cfg(feature = "render")]
pub use text::render;
/// Not promised: may change with any version.
///
pub use text::xml;
/// Not promised: may change with any version.
///
pub use text::yaml;
pub use text::{diagnostic, source, value};
pub use topology::diff;
pub use tosca::csar;
pub use variability::assign::{
    AssignedTechnologies, NodeTechnology, TechnologyQuality, TechnologyScenario,
    UnsupportedTechnology,
};
pub use variability::element::ElementKind;
pub use variability::find::Optimum;
pub use variability::resolution::Resolution;
pub use variability::{clock, options};

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the page about the library.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
