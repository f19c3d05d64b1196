//! Progress of a long run, for whoever waits: nothing of it reaches the result.

use std::sync::{Arc, Mutex, PoisonError};

/// Told what happens. Whoever wants a run to end sets what
/// [`Resolver::stop_when`](crate::Resolver::stop_when) was given.
pub trait Progress {
    /// A phase begins.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// So many of something were met, such as elements; of what is met piece by piece, the counts
    /// add up.
    fn counted(&mut self, what: &'static str, count: usize) {
        let _ = (what, count);
    }

    /// The proven bounds of the objective at this position: its optimum is in `lower..=upper`.
    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        let _ = (objective, lower, upper);
    }
}

/// Nobody waits.
impl Progress for () {}

/// Somebody who is told by several runs, or nobody.
#[derive(Clone, Default)]
pub(crate) struct SharedProgress(Option<Arc<Mutex<dyn Progress + Send>>>);

impl SharedProgress {
    pub(crate) fn of(told: impl Progress + Send + 'static) -> Self {
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

/// Whoever is lent is told all the same.
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

/// Two are told the same.
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
