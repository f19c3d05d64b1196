//! Creates instances: writes the first events of an instance to a store.

use super::Resolver;
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{
    BegunInstance, Draft, EventLog, InstanceModel, InstanceTarget, KeptSecrets, RecordAuthor,
    SecretsMode, Store, choice_of, random_name,
};
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::value::Value;

/// The settings that a new instance starts with.
#[derive(Clone, Debug, Default)]
pub struct InstanceSettings {
    /// How the instance keeps secrets.
    pub secrets: SecretsMode,
    /// Further parts of names: a value whose name contains one of them is secret.
    pub sensitive: Vec<String>,
    /// The tenant that the instance is for.
    pub tenant: String,
    /// The runtime that the instance runs in.
    pub runtime: String,
}

impl Resolver {
    /// Creates an instance of the variant in a store; nothing of it is deployed yet.
    ///
    /// ```
    /// use cuvee::deploy::instance::InstanceSettings;
    /// use cuvee::deploy::instance::{LockHolder, MemoryStore, RecordAuthor, RecordOrigin};
    /// use std::time::Duration;
    /// let store = MemoryStore::new(1);
    /// let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
    /// let author = RecordAuthor {
    ///     holder: &holder,
    ///     timeout: Duration::from_secs(1),
    ///     time: "2026-01-01T00:00:00Z".parse()?,
    ///     origin: RecordOrigin::Client,
    /// };
    /// let shop = cuvee::Resolver::new("examples/shop").preset("dev");
    /// let model = shop.init_instance(&store, "shop", &InstanceSettings::default(), &author)?.result;
    /// assert_eq!(model.nodes["shop"].state.as_str(), "initial");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::instance_target`], `instance-name`, `instance-exists`, `store-locked`, and
    /// `file`.
    pub fn init_instance(
        &self,
        store: &dyn Store,
        name: &str,
        settings: &InstanceSettings,
        author: &RecordAuthor<'_>,
    ) -> Result<Answer<InstanceModel>, Failure> {
        let mut told = None;
        let made = EventLog::create(store, name, author.holder, author.timeout, |writer| {
            let mut secrets =
                KeptSecrets::new(settings.secrets, writer.put_key()?, &settings.sensitive);
            let target = match self.target_as_chosen(&mut secrets) {
                Ok(target) => target,
                Err(failure) => {
                    told = Some(Err(failure));
                    // The caller gets `failure` itself, by way of `told`.
                    return Err(Diagnostic::error(Code::UnresolvedInstance, "no target"));
                }
            };
            let (made, inputs) = &target.result;
            let digest = made.keep(&mut |blob| writer.put_blob(&blob))?;
            let begun = BegunInstance {
                lineage: random_name(store)?,
                uri: format!("cuvee:{}/{}/{name}", settings.runtime_name(), settings.tenant_name()),
                secrets: settings.secrets,
                sensitive: settings.sensitive.iter().map(|it| it.as_str().into()).collect(),
                target: Some(self.instance_choice(&digest, &made.model, inputs)),
                beside: Vec::new(),
            };
            let (actor, origin) = (author.holder.actor.as_str(), author.origin);
            let said = (author.time.to_string(), actor, origin);
            let (model, events) = begun
                .events(&made.model, said)
                .map_err(|why| Diagnostic::error(Code::UnresolvedInstance, why.to_string()))?;
            let events = &events;
            let (time, key) = (author.time, None);
            writer.commit(&[Draft { time, actor, origin, orchestration: None, key, events }])?;
            let mut warnings = target.warnings;
            warnings.extend(kept_plain(settings.secrets, name));
            told = Some(Ok(Answer { result: model, warnings, sources: target.sources }));
            Ok(())
        });
        match (made, told) {
            (_, Some(Err(failure))) => Err(failure),
            (Ok(_), Some(Ok(answer))) => Ok(answer),
            (Err(error), _) => Err(error.into()),
            (Ok(_), None) => Err(Diagnostic::error(Code::File, "nothing was written").into()),
        }
    }

    /// The part of the choice that is kept with the instance.
    fn instance_choice(
        &self,
        digest: &str,
        made: &InstanceModel,
        inputs: &[(String, Value)],
    ) -> InstanceTarget {
        InstanceTarget {
            digest: digest.into(),
            template: self.named_template().into(),
            service_template: made.target.service_template,
            choice: choice_of(&self.choice.chosen_presets(), inputs),
        }
    }
}

/// Warns if secrets are kept as they are, because everybody who can read the store can read them.
fn kept_plain(secrets: SecretsMode, name: &str) -> Option<Diagnostic> {
    let message = format!("secrets of `{name}` are kept as they are");
    let help = "let only people read the store who may know these secrets";
    (secrets == SecretsMode::Keep)
        .then(|| Diagnostic::warning(Code::SensitivePlain, message).help(help))
}

impl InstanceSettings {
    fn tenant_name(&self) -> &str {
        if self.tenant.is_empty() { "default" } else { &self.tenant }
    }

    fn runtime_name(&self) -> &str {
        if self.runtime.is_empty() { "default" } else { &self.runtime }
    }
}
