//! Runs `cuvee instance ready`.

use super::apply::lines;
use crate::cli::args::instance::ReadyInstanceArgs;
use crate::cli::stored::store;
use crate::cli::{Outcome, rejected, written};
use cuvee::deploy::instance::{ClaimedStep, StoredInstance};
use jiff::{Timestamp, Zoned};

/// Shows which steps of the plan that is carried out can be done. Changes nothing.
pub(super) fn run(args: &ReadyInstanceArgs) -> Outcome {
    let store = store(args.store.store.as_deref());
    let instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let now = args.clock.now.as_ref().map_or_else(Timestamp::now, Zoned::timestamp);
    let steps = instance.ready(now).map_err(rejected)?;
    written(&steps, args.format, |steps| match steps.ready.is_empty() {
        true => format!("nothing is ready\n{}", claims(&steps.claimed)),
        false => lines(&steps.ready),
    })
}

/// The steps that others carry out, one a line.
fn claims(claimed: &[ClaimedStep]) -> String {
    let line =
        |it: &ClaimedStep| format!("{} is claimed by `{}` until {}\n", it.step, it.actor, it.until);
    claimed.iter().map(line).collect()
}
