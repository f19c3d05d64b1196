//! Reports the progress of a long run to whoever waits for it. Reports do not influence the result.

use std::sync::{Arc, Mutex, PoisonError};

/// A listener that is told what happens during a long run. To stop a run, set the flag of its
/// [`Limit`](crate::solve::Limit).
pub trait Progress {
    /// A phase of the run begins.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// A number of things were met, such as elements. Where things of one kind are reported in
    /// several calls, their counts add up.
    fn counted(&mut self, what: &'static str, count: usize) {
        let _ = (what, count);
    }

    /// The bounds that are proven for the objective at this position. The optimum is in
    /// `lower..=upper`.
    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        let _ = (objective, lower, upper);
    }
}

/// Ignores all reports.
impl Progress for () {}

/// A listener that several runs report to. The default has no listener and ignores all reports.
#[derive(Clone, Default)]
pub struct SharedProgress(Option<Arc<Mutex<dyn Progress + Send>>>);

impl SharedProgress {
    /// Passes the reports of several runs to one listener.
    pub fn of(told: impl Progress + Send + 'static) -> Self {
        Self(Some(Arc::new(Mutex::new(told))))
    }

    fn tell(&self, tell: impl FnOnce(&mut dyn Progress)) {
        if let Some(told) = &self.0 {
            tell(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Progress for SharedProgress {
    fn phase(&mut self, name: &'static str) {
        self.tell(|told| told.phase(name));
    }

    fn counted(&mut self, what: &'static str, count: usize) {
        self.tell(|told| told.counted(what, count));
    }

    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        self.tell(|told| told.bounds(objective, lower, upper));
    }
}

/// Passes all reports on to the listener that is borrowed.
impl<P: Progress + ?Sized> Progress for &mut P {
    fn phase(&mut self, name: &'static str) {
        (**self).phase(name);
    }

    fn counted(&mut self, what: &'static str, count: usize) {
        (**self).counted(what, count);
    }

    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        (**self).bounds(objective, lower, upper);
    }
}

/// Passes all reports on to two listeners.
impl<A: Progress, B: Progress> Progress for (A, B) {
    fn phase(&mut self, name: &'static str) {
        self.0.phase(name);
        self.1.phase(name);
    }

    fn counted(&mut self, what: &'static str, count: usize) {
        self.0.counted(what, count);
        self.1.counted(what, count);
    }

    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        self.0.bounds(objective, lower, upper);
        self.1.bounds(objective, lower, upper);
    }
}
