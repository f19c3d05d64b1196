//! Measures how long each phase of a run takes.

use cuvee::explore::progress::Progress;
use std::fmt;
use std::time::{Duration, Instant};

/// Records the beginning of each phase and the counts during it. It displays as a table.
pub(super) struct Timings {
    /// The phases in the order of their beginning; each ends where the next one begins.
    phases: Vec<(&'static str, Instant)>,
    counts: Vec<(&'static str, usize)>,
    end: Instant,
}

impl Timings {
    /// Starts the clock with this first phase.
    pub(super) fn start(phase: &'static str) -> Self {
        let now = Instant::now();
        Self { phases: vec![(phase, now)], counts: Vec::new(), end: now }
    }

    /// Stops the clock.
    pub(super) fn stop(&mut self) {
        self.end = Instant::now();
    }

    /// The duration of each phase. A phase that began several times is listed at its first
    /// beginning.
    fn durations(&self) -> Vec<(&'static str, Duration)> {
        let mut durations: Vec<(&str, Duration)> = Vec::with_capacity(self.phases.len());
        let ends = self.phases.iter().skip(1).map(|&(_, begin)| begin).chain([self.end]);
        for (&(name, begin), end) in self.phases.iter().zip(ends) {
            let taken = end.saturating_duration_since(begin);
            match durations.iter_mut().find(|(known, _)| *known == name) {
                Some((_, total)) => *total += taken,
                None => durations.push((name, taken)),
            }
        }
        durations
    }
}

impl Progress for Timings {
    fn phase(&mut self, name: &'static str) {
        self.phases.push((name, Instant::now()));
    }

    fn counted(&mut self, what: &'static str, count: usize) {
        match self.counts.iter_mut().find(|(known, _)| *known == what) {
            Some((_, total)) => *total += count,
            None => self.counts.push((what, count)),
        }
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let durations = self.durations();
        let total: Duration = durations.iter().map(|&(_, taken)| taken).sum();
        writeln!(f, "{:<26} {:>11} {:>8}", "phase", "ms", "share")?;
        for (name, taken) in durations.into_iter().chain([("total", total)]) {
            let share = 100.0 * taken.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            writeln!(f, "{name:<26} {:>11.3} {share:>6.1} %", taken.as_secs_f64() * 1e3)?;
        }
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{what:<26} {count:>11}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::successors;

    #[test]
    fn phases_end_where_the_next_one_begins() {
        let mut timings = Timings::start("starting");
        let start = timings.end;
        let mut times = successors(Some(start), |time| Some(*time + Duration::from_millis(1)));
        timings.phases =
            ["starting", "reading", "solving", "reading"].into_iter().zip(times.by_ref()).collect();
        timings.end = times.next().unwrap();
        timings.counted("files", 2);
        timings.counted("files", 1);
        let expected = [
            "phase                               ms    share",
            "starting                         1.000   25.0 %",
            "reading                          2.000   50.0 %",
            "solving                          1.000   25.0 %",
            "total                            4.000  100.0 %",
            "files                                3",
        ];
        assert_eq!(timings.to_string().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn nothing_takes_no_share() {
        assert!(
            Timings::start("starting")
                .to_string()
                .contains("total                            0.000    0.0 %")
        );
    }
}
