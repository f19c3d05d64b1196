//! Chooses the template that substitutes a node: the one that the user names, otherwise the one of
//! least weight; never simply the first that is found.

use super::candidate::{
    CandidateFit, CandidateVariant, CatalogueTemplate, Facade, Refusal, RefusalKind,
};
use super::explain::{ExplainedRefusal, ExplainedRunnerUp, ExplainedSubstitution};
use super::known::ChosenVariant;
use super::round::Round;
use super::{ChosenTemplate, assigned};
use crate::diagnostic::{Cite, Code, Diagnostic};
use cuvee_text::decimal::Decimal;
use cuvee_text::value::Value;
use std::cmp::Reverse;
use std::rc::Rc;

/// How many templates a message names at most.
const NAMED: usize = 8;

/// The judgement of a template for a node.
pub(super) struct JudgedCandidate<'a> {
    pub template: usize,
    pub fits: Result<WeighedCandidate<'a>, Refusal>,
}

/// A variant that fits, with its weight.
pub(super) struct WeighedCandidate<'a> {
    /// The position among the variants of its template.
    pub at: usize,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
    /// The weight; `None` if one of its own nodes has no candidate.
    pub weight: Option<Decimal>,
}

/// A template and variant that were chosen for a node.
#[derive(Clone)]
pub(super) struct CandidateChoice<'a> {
    pub template: usize,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
    pub explanation: ExplainedSubstitution,
}

/// A candidate that fits, with its weight as far as it is known.
struct FittingCandidate<'j, 'a> {
    template: usize,
    candidate: &'j WeighedCandidate<'a>,
    weight: Decimal,
}

/// The candidates of a node: those that fit, those that do not, and the one that the user named.
struct CandidateField<'j, 'a> {
    fitting: Vec<FittingCandidate<'j, 'a>>,
    /// The refused templates, the nearest ones first.
    refused: Vec<(usize, &'j Refusal)>,
    asked: Option<&'j ChosenTemplate>,
    /// How many candidates there are, whatever the user named.
    candidates: usize,
}

/// The weight of the best candidate.
pub(super) fn least<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    judged: &[JudgedCandidate<'a>],
) -> Option<Decimal> {
    let field = CandidateField::of(facade, round, judged);
    let known = field.fitting.iter().filter(|it| it.candidate.weight.is_some());
    known.map(|it| it.weight).min_by(|one, other| one.order(*other))
}

/// All candidates of a node, by ascending weight.
pub(super) fn all<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    judged: &[JudgedCandidate<'a>],
) -> Vec<CandidateChoice<'a>> {
    let field = CandidateField::of(facade, round, judged);
    let mut weights: Vec<_> = field.fitting.iter().map(|it| it.weight).collect();
    weights.sort_by(|one, other| one.order(*other));
    weights.dedup();
    let chosen = weights.into_iter().flat_map(|weight| field.best(weight));
    let choice = |chosen: &FittingCandidate<'_, 'a>| CandidateChoice {
        template: chosen.template,
        variant: chosen.candidate.variant.clone(),
        fit: chosen.candidate.fit.clone(),
        explanation: field.explanation(facade, round, chosen),
    };
    chosen.map(choice).collect()
}

/// Chooses among the candidates that fit.
pub(super) fn choose<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    judged: Vec<JudgedCandidate<'a>>,
) -> Result<(CandidateChoice<'a>, Rc<ChosenVariant>), Box<Diagnostic>> {
    let field = CandidateField::of(facade, round, &judged);
    let Some(weight) = field.least() else {
        return Err(Box::new(nothing(facade, round, &field)));
    };
    let best = field.best(weight);
    let [chosen] = &*best else {
        return Err(Box::new(ambiguous(facade, round, weight, &best)));
    };
    let FittingCandidate { template, candidate, .. } = chosen;
    if let Some(rival) = &candidate.variant.rival {
        let template = &round.catalogue.templates()[*template];
        let inputs = [&candidate.variant.inputs, rival];
        return Err(Box::new(ambiguous_variants(facade, template, weight, inputs)));
    }
    let explanation = field.explanation(facade, round, chosen);
    let WeighedCandidate { at, variant, fit, .. } = candidate;
    let known =
        ChosenVariant { template: *template, variant: *at, explanation: explanation.clone() };
    let (variant, fit) = (variant.clone(), fit.clone());
    Ok((CandidateChoice { template: *template, variant, fit, explanation }, Rc::new(known)))
}

impl<'j, 'a> CandidateField<'j, 'a> {
    fn of<'r: 'j>(
        facade: &Facade<'_, 'a>,
        round: &Round<'r, '_, 'a>,
        judged: &'j [JudgedCandidate<'a>],
    ) -> Self {
        let templates = round.catalogue.templates();
        let mut fitting = Vec::new();
        let mut refused = Vec::new();
        for JudgedCandidate { template, fits } in judged {
            match fits {
                Ok(candidate) => {
                    let variant = &candidate.variant;
                    let own = variant.weight.plus(variant.facades.unwrap_or(Decimal::ZERO));
                    let weight = candidate.weight.or(own).unwrap_or(variant.weight);
                    fitting.push(FittingCandidate { template: *template, candidate, weight });
                }
                Err(refusal) => refused.push((*template, refusal)),
            }
        }
        refused.sort_by_key(|(template, refusal)| (Reverse(refusal.rank), *template));
        let mut chosen = round.settings.chosen.iter();
        let asked = chosen.find(|choice| choice.node == facade.node.name);
        let candidates = fitting.len();
        if let Some(asked) = asked {
            let name = |template: usize| &*templates[template].name;
            fitting.retain(|it| {
                let variant = &it.candidate.variant;
                let presets = variant.preset.iter().chain(&variant.also).map(String::as_str);
                let mut presets = presets.map(Some).chain([None]);
                presets.any(|preset| is_asked_for(asked, name(it.template), preset))
            });
            refused.retain(|(template, _)| {
                fitting.is_empty() && is_asked_for(asked, name(*template), None)
            });
        }
        // If no candidate is complete, the first is chosen, so that its error is reported.
        if fitting.iter().any(|it| it.candidate.weight.is_some()) {
            fitting.retain(|it| it.candidate.weight.is_some());
        }
        Self { fitting, refused, asked, candidates }
    }

    fn least(&self) -> Option<Decimal> {
        let weights = self.fitting.iter().map(|it| it.weight);
        weights.min_by(|one, other| one.order(*other))
    }

    /// The candidates of this weight. Of each template, variants with the same nodes count once,
    /// and so do all variants between which the template does not distinguish.
    fn best(&self, weight: Decimal) -> Vec<&FittingCandidate<'j, 'a>> {
        let mut best: Vec<&FittingCandidate<'j, 'a>> = Vec::new();
        for it in self.fitting.iter().filter(|it| it.weight.order(weight).is_eq()) {
            let is_alike = |known: &&FittingCandidate<'j, 'a>| {
                let (one, other) = (&known.candidate.variant, &it.candidate.variant);
                let is_settled = one.is_settled || has_same_nodes(one, other);
                known.template == it.template && is_settled
            };
            if !best.iter().any(is_alike) {
                best.push(it);
            }
        }
        best
    }

    /// The lower bound of the weight that is proven, if less than the weight is possible.
    fn bound(&self, weight: Decimal) -> Option<Decimal> {
        let open = self.fitting.iter().filter_map(|it| it.candidate.variant.least);
        let unknown =
            self.refused.iter().filter(|(_, refusal)| refusal.kind == RefusalKind::Interrupted);
        let all = open.chain(unknown.map(|_| Decimal::ZERO));
        all.min_by(|one, other| one.order(*other)).filter(|least| least.order(weight).is_lt())
    }

    fn explanation(
        &self,
        facade: &Facade<'_, 'a>,
        round: &Round<'_, '_, 'a>,
        chosen: &FittingCandidate<'j, 'a>,
    ) -> ExplainedSubstitution {
        let templates = round.catalogue.templates();
        let refused = self.refused.iter().map(|(template, refusal)| ExplainedRefusal {
            template: templates[*template].name.clone(),
            reason: refusal.message.clone(),
            place: super::explain::place(refusal.at, round.settings.sources),
            other_type: refusal.rank <= 1,
        });
        let mut others: Vec<_> = self.fitting.iter().collect();
        others.retain(|it| !std::ptr::eq(it.candidate, chosen.candidate));
        others.sort_by(|one, other| one.weight.order(other.weight));
        let runners_up = others.into_iter().map(|it| ExplainedRunnerUp {
            template: templates[it.template].name.clone(),
            preset: it.candidate.variant.preset.clone(),
            inputs: it.candidate.variant.inputs.iter().map(assigned).collect(),
            weight: it.weight,
        });
        let variant = &chosen.candidate.variant;
        ExplainedSubstitution {
            node: facade.node.name.clone(),
            node_type: facade.node.type_name.clone(),
            template: templates[chosen.template].name.clone(),
            preset: variant.preset.clone(),
            inputs: variant.inputs.iter().map(assigned).collect(),
            weight: chosen.weight,
            least: self.bound(chosen.weight),
            candidates: self.candidates,
            is_asked_for: self.asked.is_some(),
            jointly: false,
            runners_up: runners_up.collect(),
            requirements: Vec::new(),
            refused: refused.collect(),
        }
    }
}

fn has_same_nodes(one: &CandidateVariant<'_>, other: &CandidateVariant<'_>) -> bool {
    let (one, other) = (&one.view, &other.view);
    one.nodes.len() == other.nodes.len()
        && one.nodes.iter().all(|node| other.position(&node.name).is_some())
}

/// The warning that the chosen template may not be the best, if that is so.
pub(super) fn unproven(explained: &ExplainedSubstitution) -> Option<Diagnostic> {
    let ExplainedSubstitution { node, weight, least, .. } = explained;
    let message = format!(
        "the time was over before the template for node \"{node}\" was proven to be the best: its weight is {weight}, and no template has less than {}",
        (*least)?
    );
    Some(Diagnostic::warning(Code::Unproven, message).help("allow more time with `--timeout`"))
}

/// Whether the user named this template: by its whole path or the end of it, and its preset if
/// given.
fn is_asked_for(asked: &ChosenTemplate, name: &str, preset: Option<&str>) -> bool {
    let ends = name.strip_suffix(&*asked.file);
    ends.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\', ':']))
        && asked.preset.as_deref().is_none_or(|wanted| Some(wanted) == preset)
}

fn nothing<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    field: &CandidateField<'_, 'a>,
) -> Diagnostic {
    let CandidateField { refused, asked, .. } = field;
    let templates = round.catalogue.templates();
    let (code, message) = nothing_because(facade, refused);
    let mut error = Diagnostic::error(code, message).at(facade.node.span).section("3.8.13");
    for (template, refusal) in refused.iter().take(NAMED) {
        let why = format!("not by `{}`: {}", templates[*template].name, refusal.message);
        error = error.label(refusal.at, why);
        if let Some(here) = refusal.here.filter(|here| *here != facade.node.span) {
            error = error.label(here, format!("`{}` does not fit here", templates[*template].name));
        }
    }
    let (name, kind) = (&facade.node.name, &facade.node.type_name);
    match asked {
        _ if code == Code::UndecidedSubstitution => {
            error.help("give inputs of the topology their values with `--deployment-input`")
        }
        _ if code == Code::AmbiguousSubstitution => error.help(format!(
            "decide between the variants by inputs, such as `-i {name}.input=value`"
        )),
        _ if code == Code::Unproven => error.help("allow more time with `--timeout`"),
        Some(asked) if refused.is_empty() => {
            error.help(format!("`{}` is no template of the catalogue that fits", asked.file))
        }
        _ if refused.is_empty() => {
            error.help(format!("name templates by `--with` whose `node_type` is `{kind}`"))
        }
        _ => error.help_opt(open_help(facade, round, refused)),
    }
}

/// The code and message of the error that there is no candidate.
fn nothing_because(facade: &Facade<'_, '_>, refused: &[(usize, &Refusal)]) -> (Code, String) {
    let name = &facade.node.name;
    let near = || refused.iter().filter(|(_, refusal)| refusal.rank > 1);
    let any = |kind: RefusalKind| near().any(|(_, refusal)| refusal.kind == kind);
    let is_cyclic = near().all(|(_, refusal)| refusal.kind == RefusalKind::Cyclic);
    if is_cyclic && any(RefusalKind::Cyclic) {
        let message =
            format!("node \"{name}\" could only be substituted by a template that it is a part of");
        (Code::CyclicSubstitution, message)
    } else if any(RefusalKind::Undecided) {
        let message = format!(
            "which template substitutes node \"{name}\" depends on values that are not known yet"
        );
        (Code::UndecidedSubstitution, message)
    } else if any(RefusalKind::Interrupted) {
        let message = format!("the time was over before a template was found for node \"{name}\"");
        (Code::Unproven, message)
    } else if any(RefusalKind::Ambiguous) {
        let message = format!(
            "several variants of templates that differ in nodes are equally good for node \"{name}\""
        );
        (Code::AmbiguousSubstitution, message)
    } else {
        (Code::NoSubstitution, format!("no template substitutes node \"{name}\""))
    }
}

/// A hint at a template that would fit with other inputs than those of defaults and presets (V3).
fn open_help<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    refused: &[(usize, &Refusal)],
) -> Option<String> {
    let near = refused.iter().filter(|(_, refusal)| refusal.rank > 1);
    let mut templates: Vec<usize> = near.map(|(template, _)| *template).collect();
    templates.sort_unstable();
    templates.dedup();
    templates.into_iter().take(NAMED).find_map(|template| {
        let variant = round.open_variant(facade, template)?;
        let file = &round.catalogue.templates()[template].name;
        Some(format!(
            "`{file}` fits {}, which `--candidates open` finds",
            with_inputs(&facade.node.name, &variant.inputs)
        ))
    })
}

/// Inputs of a substituting template, as command line flags.
fn with_inputs(node: &str, inputs: &[(String, Value)]) -> String {
    let flags: Vec<_> =
        inputs.iter().map(|(name, value)| format!("-i {node}.{name}={value}")).collect();
    match &*flags {
        [] => "with its defaults".to_owned(),
        flags => format!("with `{}`", flags.join(" ")),
    }
}

fn ambiguous<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    weight: Decimal,
    fitting: &[&FittingCandidate<'_, 'a>],
) -> Diagnostic {
    let name = &facade.node.name;
    let message = format!(
        "{} candidates substitute node \"{name}\" with the same weight {weight}",
        fitting.len()
    );
    let mut error = Diagnostic::error(Code::AmbiguousSubstitution, message).at(facade.node.span);
    error = error.section("3.8.13");
    let mut flags = Vec::new();
    for FittingCandidate { template, candidate, .. } in fitting.iter().take(NAMED) {
        let CatalogueTemplate { name: file, substitution, .. } =
            &round.catalogue.templates()[*template];
        let preset = candidate.variant.preset.as_ref();
        let preset = preset.map(|preset| format!(":{preset}")).unwrap_or_default();
        error = error.label(substitution.node.span(), format!("`{file}{preset}` fits"));
        flags.push(format!("`--choose {name}={file}{preset}`"));
    }
    error.help(format!("choose one: {}", flags.join(" or ")))
}

/// The error that two variants of one template have the same weight and different nodes (V5).
fn ambiguous_variants(
    facade: &Facade<'_, '_>,
    template: &CatalogueTemplate<'_>,
    weight: Decimal,
    inputs: [&Vec<(String, Value)>; 2],
) -> Diagnostic {
    let (name, file) = (&facade.node.name, &template.name);
    let message = format!(
        "variants of `{file}` that differ in nodes substitute node \"{name}\" with the same weight {weight}"
    );
    let [one, other] = inputs.map(|inputs| with_inputs(name, inputs));
    let error = Diagnostic::error(Code::AmbiguousSubstitution, message).at(facade.node.span);
    error
        .section("3.8.13")
        .label(template.substitution.node.span(), format!("`{file}` fits {one} and {other}"))
        .help("decide between them by these inputs, or with another template by `--choose`")
}
