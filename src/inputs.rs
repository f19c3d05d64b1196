//! Variability inputs: declarations, and the values that presets, files and calls assign to them.

use crate::value::Value;
