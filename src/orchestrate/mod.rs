//! What has to happen so that a topology is there, or is another one.

// What plans of imperative workflows and of changes need is here before they are.
#![allow(dead_code)]

pub mod plan;
