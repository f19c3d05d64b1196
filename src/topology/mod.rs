//! Plain topologies as data.

pub mod diff;
