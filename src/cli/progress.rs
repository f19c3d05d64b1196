//! Shows a spinner on the terminal during a long wait.

use cuvee::explore::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a command runs before the spinner appears.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A spinner with the current phase. It appears after a second, and vanishes when dropped.
pub(super) struct Spinner {
    bar: ProgressBar,
    phase: &'static str,
    /// Dropping the sender ends the wait for the second to pass.
    waiting: Option<(Sender<()>, thread::JoinHandle<()>)>,
}

impl Spinner {
    /// A new spinner. It never appears unless `shown` is set.
    pub(super) fn new(shown: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
            .with_style(ProgressStyle::default_spinner());
        Self { waiting: shown.then(|| appear_later(bar.clone())).flatten(), bar, phase: "" }
    }
}

fn appear_later(bar: ProgressBar) -> Option<(Sender<()>, thread::JoinHandle<()>)> {
    let (hang_up, hung_up) = channel();
    let wait = move || {
        if hung_up.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    };
    thread::Builder::new().spawn(wait).ok().map(|thread| (hang_up, thread))
}

impl Progress for Spinner {
    fn phase(&mut self, name: &'static str) {
        self.phase = name;
        self.bar.set_message(name);
    }

    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        self.bar.set_message(message(self.phase, objective, lower, upper));
    }
}

/// The progress of optimization. The solver scales weights to whole numbers, so only the relative
/// distance of the bounds is meaningful.
fn message(phase: &str, objective: usize, lower: u64, upper: u64) -> String {
    let gap = upper.saturating_sub(lower) as f64 * 100.0 / upper.max(1) as f64;
    format!("{phase}: objective {}, between {lower} and {upper} ({gap:.1} % apart)", objective + 1)
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((hang_up, thread)) = self.waiting.take() {
            drop(hang_up);
            // The thread ends at once. Without the join, the bar could appear after it was cleared,
            // and stay.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_the_phase_and_the_bounds() {
        let mut spinner = Spinner::new(false);
        spinner.phase("optimise");
        assert_eq!(spinner.bar.message(), "optimise");
        spinner.bounds(0, 150, 200);
        assert_eq!(
            spinner.bar.message(),
            "optimise: objective 1, between 150 and 200 (25.0 % apart)"
        );
        assert!(message("", 1, 0, 0).ends_with("(0.0 % apart)"));
        assert!(message("", 1, u64::MAX, 0).ends_with("(0.0 % apart)"));
    }

    #[test]
    fn goes_away_before_it_appears() {
        let spinner = Spinner::new(true);
        let bar = spinner.bar.clone();
        drop(spinner);
        assert!(bar.is_finished() && bar.is_hidden());
    }
}
