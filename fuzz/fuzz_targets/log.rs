#![no_main]

#[path = "../../tests/limits/fuzzed/targets.rs"]
#[allow(dead_code, reason = "each target is one of its functions")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::log(data));
