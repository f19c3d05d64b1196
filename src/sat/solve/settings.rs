//! How to solve: with which solver, by which techniques, and for how long.

use super::SolverKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How to solve. A [`SolverKind`] alone stands for itself with all that pays, for as long as it
/// takes.
#[derive(Clone, Debug, Default)]
pub struct SolverSettings {
    /// Which solver does the work.
    pub solver: SolverKind,
    /// What the search does to be fast.
    pub techniques: Techniques,
    /// When it stops without a proof.
    pub limit: Limit,
}

impl From<SolverKind> for SolverSettings {
    fn from(solver: SolverKind) -> Self {
        Self { solver, ..Self::default() }
    }
}

/// When a search is to stop without an answer; by default never.
///
/// ```
/// use cuvee::solve::Limit;
/// use std::time::Duration;
///
/// let limit = Limit::after(Duration::from_secs(3600));
/// assert!(!limit.is_over());
/// let stop = std::sync::Arc::default();
/// let limit = limit.or_when(std::sync::Arc::clone(&stop));
/// stop.store(true, std::sync::atomic::Ordering::Relaxed);
/// assert!(limit.is_over());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Limit {
    deadline: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
}

impl Limit {
    /// Stops so much later than now.
    pub fn after(time: Duration) -> Self {
        // What lies beyond the end of the clock never comes.
        Self { deadline: Instant::now().checked_add(time), stop: None }
    }

    /// Stops also once this is set, by another thread or a handler of signals.
    pub fn or_when(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Whether there is anything that it stops for.
    pub(super) fn is_set(&self) -> bool {
        self.deadline.is_some() || self.stop.is_some()
    }

    /// Whether it is time to stop.
    pub fn is_over(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Something that the search does to be fast. None changes what is found; `cargo bench --bench
/// solve` measures what each is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// What unit clauses decide is decided before there is a solver.
    Units,
    /// What shares no variable is solved apart.
    Components,
    /// Of variables that are equal or opposite in every model one is searched for.
    Equivalences,
    /// Of costs of which all but one are bound to arise, all but one count from the start.
    AtMostOne,
    /// A model that is good at the heaviest costs is the first upper bound. It is looked for
    /// wherever there is a limit as well, so that there is something good to show when it is
    /// reached.
    Greedy,
    /// Cores among costs that stand close together first.
    Locality,
    /// What costs more than the gap between the bounds is ruled out.
    Hardening,
    /// Sums are built once there are no cores without them.
    HeldBackCores,
    /// Literals that a core does not need are left out, as far as that is found out at once.
    Minimisation,
    /// A core of which only one literal can be true needs no sum.
    ExclusiveCores,
    /// Sums count as far as the search needs, and not at once to their end.
    GrowingSums,
}

impl Technique {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Units,
        Self::Components,
        Self::Equivalences,
        Self::AtMostOne,
        Self::Greedy,
        Self::Locality,
        Self::Hardening,
        Self::HeldBackCores,
        Self::Minimisation,
        Self::ExclusiveCores,
        Self::GrowingSums,
    ];
}

/// Which techniques are in use; by default those that pay.
///
/// ```
/// use cuvee::solve::{Technique, Techniques};
/// let techniques = Techniques::default();
/// assert!(techniques.has(Technique::Hardening));
/// assert!(!techniques.toggled(Technique::Hardening).has(Technique::Hardening));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques(u16);

impl Default for Techniques {
    fn default() -> Self {
        let idle = [Technique::Greedy];
        Technique::ALL
            .into_iter()
            .filter(|technique| !idle.contains(technique))
            .fold(Self(0), Self::toggled)
    }
}

impl Techniques {
    /// Whether this one is in use.
    pub const fn has(self, technique: Technique) -> bool {
        self.0 >> technique as u16 & 1 == 1
    }

    /// The others as they are, and this one the other way round.
    pub const fn toggled(self, technique: Technique) -> Self {
        Self(self.0 ^ 1 << technique as u16)
    }
}
