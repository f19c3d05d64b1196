//! Settles how to solve: with which solver, with which techniques, and for how long.

use super::SolverKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Settings for [`solve`](super::solve). A [`SolverKind`] converts into settings with that solver,
/// the default techniques and no limit.
#[derive(Clone, Debug, Default)]
pub struct SolverSettings {
    /// The solver that does the work.
    pub solver: SolverKind,
    /// The techniques that make the search fast.
    pub techniques: Techniques,
    /// The limit at which the search stops without a proof.
    pub limit: Limit,
}

impl From<SolverKind> for SolverSettings {
    fn from(solver: SolverKind) -> Self {
        Self { solver, ..Self::default() }
    }
}

/// A limit at which a search stops without an answer. By default there is none.
///
/// ```
/// use cuvee_sat::solve::Limit;
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
    /// Creates a limit that is reached after some time from now.
    pub fn after(time: Duration) -> Self {
        // A time beyond the range of the clock is never reached.
        Self { deadline: Instant::now().checked_add(time), stop: None }
    }

    /// Adds a flag. The limit is also reached once another thread or a signal handler sets it.
    pub fn or_when(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Whether there is a time or a flag to stop at.
    pub(super) fn is_set(&self) -> bool {
        self.deadline.is_some() || self.stop.is_some()
    }

    /// Whether the limit is reached.
    pub fn is_over(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A technique that makes the search fast. None changes what is found. `cargo bench --bench solve`
/// measures what each is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// Unit propagation decides variables before a solver is started.
    Units,
    /// Parts that share no variable are solved apart.
    Components,
    /// The search uses only one of the variables that are equal or opposite in every model.
    Equivalences,
    /// Where all but one of some costs are bound to arise, all but one of them count from the
    /// start.
    AtMostOne,
    /// The first upper bound comes from a model that is good at the heaviest costs. If there is a
    /// limit, such a model is searched for even without this technique, so that there is something
    /// good to show when the limit is reached.
    Greedy,
    /// Cores are searched for first among costs that are close together.
    Locality,
    /// Literals that cost more than the gap between the bounds are excluded.
    Hardening,
    /// Sums are built only when there are no more cores without them.
    HeldBackCores,
    /// Literals that a core does not need are left out, as far as that is found out quickly.
    Minimisation,
    /// A core of which only one literal can be true gets no sum.
    ExclusiveCores,
    /// Sums count only as far as the search needs, not to their end at once.
    GrowingSums,
}

impl Technique {
    /// All techniques.
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

/// The set of techniques that are in use. The default contains those that pay off.
///
/// ```
/// use cuvee_sat::solve::{Technique, Techniques};
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
    /// Whether a technique is in use.
    pub const fn has(self, technique: Technique) -> bool {
        self.0 >> technique as u16 & 1 == 1
    }

    /// Switches one technique on or off, and leaves the others as they are.
    pub const fn toggled(self, technique: Technique) -> Self {
        Self(self.0 ^ 1 << technique as u16)
    }
}
