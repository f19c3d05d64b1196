//! Progress of a long run, for whoever waits: nothing of it reaches the result.

/// Told what happens, and asked whether to go on.
pub trait Progress {
    /// A phase begins.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// The proven bounds of the objective at this position: its optimum is in `lower..=upper`.
    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        let _ = (objective, lower, upper);
    }
}

/// Nobody waits.
impl Progress for () {}
