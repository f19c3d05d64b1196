//! Which of several templates substitutes a node: the one that is asked for, else the one of least
//! weight; never the first that is found.

use super::candidate::{CandidateFit, CandidateVariant, CatalogueTemplate, Facade, Refusal};
use super::explain::{ExplainedRefusal, ExplainedSubstitution};
use super::{ChosenTemplate, SubstitutionSettings, assigned};
use crate::text::decimal::Decimal;
use crate::text::diagnostic::{Code, Diagnostic};

/// So many templates are named in a message.
const NAMED: usize = 8;

/// What was found out of a template for a node.
pub(crate) struct JudgedCandidate<'a> {
    pub template: usize,
    pub fits: Result<(CandidateVariant<'a>, CandidateFit), Refusal>,
}

/// What substitutes a node.
pub(crate) struct CandidateChoice<'a> {
    pub template: usize,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
    pub explanation: ExplainedSubstitution,
}

/// Chooses among what fits.
pub(crate) fn choose<'a>(
    facade: &Facade<'_, 'a>,
    templates: &[CatalogueTemplate<'a>],
    judged: Vec<JudgedCandidate<'a>>,
    settings: &SubstitutionSettings<'_, '_>,
) -> Result<CandidateChoice<'a>, Box<Diagnostic>> {
    let mut fitting = Vec::new();
    let mut refused = Vec::new();
    for JudgedCandidate { template, fits } in judged {
        match fits {
            Ok((variant, fit)) => fitting.push((template, variant, fit)),
            Err(refusal) => refused.push((template, refusal)),
        }
    }
    refused.sort_by_key(|(template, refusal)| (std::cmp::Reverse(refusal.rank), *template));
    let asked = settings.chosen.iter().find(|choice| choice.node == facade.node.name);
    let candidates = fitting.len();
    if let Some(asked) = asked {
        fitting.retain(|(template, variant, _)| {
            let presets = variant.preset.iter().chain(&variant.also).map(String::as_str);
            let mut presets = presets.map(Some).chain([None]);
            presets.any(|preset| is_asked_for(asked, &templates[*template].name, preset))
        });
        refused.retain(|(template, _)| {
            fitting.is_empty() && is_asked_for(asked, &templates[*template].name, None)
        });
    }
    let weights = fitting.iter().map(|(_, variant, _)| variant.weight);
    let Some(least) = weights.min_by(|one, other| one.order(*other)) else {
        return Err(Box::new(nothing(facade, templates, &refused, asked)));
    };
    fitting.retain(|(_, variant, _)| variant.weight.order(least).is_eq());
    if fitting.len() > 1 {
        return Err(Box::new(ambiguous(facade, templates, &fitting)));
    }
    let Some((template, variant, fit)) = fitting.pop() else {
        return Err(Box::new(nothing(facade, templates, &refused, asked)));
    };
    let refused = refused.iter().map(|(template, refusal)| ExplainedRefusal {
        template: templates[*template].name.clone(),
        reason: refusal.message.clone(),
        place: super::explain::place(refusal.at, settings.sources),
        other_type: refusal.rank <= 1,
    });
    let explanation = ExplainedSubstitution {
        node: facade.node.name.clone(),
        node_type: facade.node.type_name.clone(),
        template: templates[template].name.clone(),
        preset: variant.preset.clone(),
        inputs: variant.inputs.iter().map(assigned).collect(),
        weight: variant.weight,
        candidates,
        is_asked_for: asked.is_some(),
        requirements: Vec::new(),
        refused: refused.collect(),
    };
    Ok(CandidateChoice { template, variant, fit, explanation })
}

/// Whether a template is the one that is asked for: by its whole path, or as that ends.
fn is_asked_for(asked: &ChosenTemplate, name: &str, preset: Option<&str>) -> bool {
    let ends = name.strip_suffix(&*asked.file);
    ends.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\', ':']))
        && asked.preset.as_deref().is_none_or(|wanted| Some(wanted) == preset)
}

fn nothing(
    facade: &Facade<'_, '_>,
    templates: &[CatalogueTemplate<'_>],
    refused: &[(usize, Refusal)],
    asked: Option<&ChosenTemplate>,
) -> Diagnostic {
    let name = &facade.node.name;
    let of_type = |(_, refusal): &&(usize, Refusal)| refusal.rank > 1;
    let near: Vec<_> = refused.iter().filter(of_type).collect();
    let is = |judge: &dyn Fn(&Refusal) -> bool| {
        !near.is_empty() && near.iter().all(|(_, refusal)| judge(refusal))
    };
    let (code, message) = if is(&|refusal| refusal.is_cyclic) {
        let message = format!("node \"{name}\" could only be substituted by what it is a part of");
        (Code::CyclicSubstitution, message)
    } else if near.iter().any(|(_, refusal)| refusal.is_undecided) {
        let message = format!("what substitutes node \"{name}\" depends on what is not known yet");
        (Code::UndecidedSubstitution, message)
    } else {
        (Code::NoSubstitution, format!("nothing substitutes node \"{name}\""))
    };
    let mut error = Diagnostic::error(code, message).at(facade.node.span).section("3.8.13");
    for (template, refusal) in refused.iter().take(NAMED) {
        let why = format!("not by `{}`: {}", templates[*template].name, refusal.message);
        error = error.label(refusal.at, why);
        if let Some(here) = refusal.here.filter(|here| *here != facade.node.span) {
            error = error
                .label(here, format!("`{}` would have to fit here", templates[*template].name));
        }
    }
    let kind = &facade.node.type_name;
    match asked {
        _ if code == Code::UndecidedSubstitution => {
            error.help("give inputs of the topology their values with `--deployment-input`")
        }
        Some(asked) if refused.is_empty() => {
            error.help(format!("`{}` is no template of the catalogue that fits", asked.file))
        }
        _ if refused.is_empty() => {
            error.help(format!("name templates by `--with` whose `node_type` is `{kind}`"))
        }
        _ => error,
    }
}

fn ambiguous(
    facade: &Facade<'_, '_>,
    templates: &[CatalogueTemplate<'_>],
    fitting: &[(usize, CandidateVariant<'_>, CandidateFit)],
) -> Diagnostic {
    let name = &facade.node.name;
    let weight = fitting.first().map_or(Decimal::ZERO, |(_, variant, _)| variant.weight);
    let message = format!(
        "{} candidates substitute node \"{name}\" with the same weight {weight}",
        fitting.len()
    );
    let mut error = Diagnostic::error(Code::AmbiguousSubstitution, message).at(facade.node.span);
    error = error.section("3.8.13");
    let mut flags = Vec::new();
    for (template, variant, _) in fitting.iter().take(NAMED) {
        let CatalogueTemplate { name: file, substitution, .. } = &templates[*template];
        let preset = variant.preset.as_ref().map(|preset| format!(":{preset}")).unwrap_or_default();
        error = error.label(substitution.node.span(), format!("`{file}{preset}` fits"));
        flags.push(format!("`--choose {name}={file}{preset}`"));
    }
    error.help(format!("choose one: {}", flags.join(" or ")))
}
