//! The blobs that records name: targets with their texts, and plans.

use super::event::Event;
use super::target::texts_of;
use crate::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Finds the contents of a blob by its digest; `None` if it is missing.
pub(super) type FindBlob<'f> = dyn Fn(&str) -> Result<Option<Vec<u8>>, Diagnostic> + 'f;

/// A blob that a record names: its digest, and its contents unless it is missing.
pub(super) type NamedBlob = (Arc<str>, Option<Vec<u8>>);

impl Event {
    /// The digest of the target that the event names.
    pub(super) fn target(&self) -> Option<&Arc<str>> {
        let digest = match self {
            Self::TargetSet(target) => Some(&target.digest),
            Self::OrchestrationStarted { target, .. } => target.as_ref().map(|it| &it.digest),
            Self::NodeAdded(added) => added.target.as_ref(),
            Self::NodeDefined { target, .. } => target.as_ref(),
            _ => None,
        };
        digest.filter(|digest| !digest.is_empty())
    }

    /// The digest of the plan that the event names.
    fn plan(&self) -> Option<&Arc<str>> {
        match self {
            Self::OrchestrationStarted { plan, .. } => plan.as_ref(),
            _ => None,
        }
    }
}

/// The blobs of a target, the manifest last.
pub(super) fn of_target(
    digest: &Arc<str>,
    find: &FindBlob<'_>,
) -> Result<Vec<NamedBlob>, Diagnostic> {
    let manifest = find(digest)?;
    let texts = manifest.as_deref().map(texts_of).unwrap_or_default().into_iter();
    let texts = texts.map(|text| find(&text).map(|found| (Arc::from(text), found)));
    texts.chain([Ok((Arc::clone(digest), manifest))]).collect()
}

/// The blobs that records have named so far.
#[derive(Debug, Default)]
pub(super) struct NamedBlobs(FxHashSet<Arc<str>>);

impl NamedBlobs {
    /// The blobs that these events name and that no event has named before.
    pub(super) fn new_in(
        &mut self,
        events: &[Event],
        find: &FindBlob<'_>,
    ) -> Result<Vec<NamedBlob>, Diagnostic> {
        let mut new = Vec::new();
        for event in events {
            let mut named = Vec::new();
            if let Some(target) = event.target().filter(|digest| !self.0.contains(*digest)) {
                named = of_target(target, find)?;
            }
            if let Some(plan) = event.plan().filter(|digest| !self.0.contains(*digest)) {
                named.push((Arc::clone(plan), find(plan)?));
            }
            let is_new = |(digest, _): &NamedBlob| self.0.insert(Arc::clone(digest));
            new.extend(named.into_iter().filter(is_new));
        }
        Ok(new)
    }
}
