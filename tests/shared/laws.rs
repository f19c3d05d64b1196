//! How often laws are tried.

use proptest::test_runner::Config;

/// Tries a law this many times, or as often as `PROPTEST_CASES` says: a scheduled workflow asks for
/// far more.
pub(crate) fn cases(cases: u32) -> Config {
    let asked = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    Config { cases, failure_persistence: None, max_global_rejects: 20 * cases, ..asked }
}
