//! Which of several templates substitutes a node: the one that is asked for, else the one of least
//! weight; never the first that is found.

use super::candidate::{
    CandidateFit, CandidateVariant, CatalogueTemplate, Facade, Refusal, RefusalKind,
};
use super::explain::{ExplainedRefusal, ExplainedRunnerUp, ExplainedSubstitution};
use super::known::ChosenVariant;
use super::round::Round;
use super::{ChosenTemplate, assigned};
use crate::text::decimal::Decimal;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::value::Value;
use std::cmp::Reverse;
use std::rc::Rc;

/// So many templates are named in a message.
const NAMED: usize = 8;

/// What was found out of a template for a node.
pub(super) struct JudgedCandidate<'a> {
    pub template: usize,
    pub fits: Result<WeighedCandidate<'a>, Refusal>,
}

/// A variant that fits.
pub(super) struct WeighedCandidate<'a> {
    /// Its position among the variants of its template.
    pub at: usize,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
    /// What it costs; nothing where there is no candidate for one of its nodes.
    pub weight: Option<Decimal>,
}

/// What substitutes a node.
#[derive(Clone)]
pub(super) struct CandidateChoice<'a> {
    pub template: usize,
    pub variant: CandidateVariant<'a>,
    pub fit: CandidateFit,
    pub explanation: ExplainedSubstitution,
}

/// A candidate with what it costs as far as that is known.
struct FittingCandidate<'j, 'a> {
    template: usize,
    candidate: &'j WeighedCandidate<'a>,
    weight: Decimal,
}

/// What fits, what does not, and what was asked for.
struct CandidateField<'j, 'a> {
    fitting: Vec<FittingCandidate<'j, 'a>>,
    /// The nearest ones first.
    refused: Vec<(usize, &'j Refusal)>,
    asked: Option<&'j ChosenTemplate>,
    /// How many candidates there are, whatever is asked for.
    candidates: usize,
}

/// What the best candidate costs.
pub(super) fn least<'a>(
    facade: &Facade<'_, 'a>,
    round: &Round<'_, '_, 'a>,
    judged: &[JudgedCandidate<'a>],
) -> Option<Decimal> {
    let field = CandidateField::of(facade, round, judged);
    let known = field.fitting.iter().filter(|it| it.candidate.weight.is_some());
    known.map(|it| it.weight).min_by(|one, other| one.order(*other))
}

/// All that may substitute a node, what costs least first.
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

/// Chooses among what fits.
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
        // Where nothing can be whole, the first that cannot be is chosen, so that it is told why.
        if fitting.iter().any(|it| it.candidate.weight.is_some()) {
            fitting.retain(|it| it.candidate.weight.is_some());
        }
        Self { fitting, refused, asked, candidates }
    }

    fn least(&self) -> Option<Decimal> {
        let weights = self.fitting.iter().map(|it| it.weight);
        weights.min_by(|one, other| one.order(*other))
    }

    /// Those of this weight; of each template one of those that have the same nodes, or all of which
    /// it allows.
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

    /// What is proven of the weight, where less is not ruled out.
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

/// What was chosen may not be the best.
pub(super) fn unproven(explained: &ExplainedSubstitution) -> Option<Diagnostic> {
    let ExplainedSubstitution { node, weight, least, .. } = explained;
    let message = format!(
        "the time was over before it was proven that nothing substitutes node \"{node}\" with less than weight {weight}: nothing does with less than {}",
        (*least)?
    );
    Some(Diagnostic::warning(Code::Unproven, message).help("allow more time with `--timeout`"))
}

/// Whether a template is the one that is asked for: by its whole path, or as that ends.
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
            error = error
                .label(here, format!("`{}` would have to fit here", templates[*template].name));
        }
    }
    let (name, kind) = (&facade.node.name, &facade.node.type_name);
    match asked {
        _ if code == Code::UndecidedSubstitution => {
            error.help("give inputs of the topology their values with `--deployment-input`")
        }
        _ if code == Code::AmbiguousSubstitution => {
            error.help(format!("decide between them by inputs, such as `-i {name}.input=value`"))
        }
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

/// The code and the message where there is no candidate.
fn nothing_because(facade: &Facade<'_, '_>, refused: &[(usize, &Refusal)]) -> (Code, String) {
    let name = &facade.node.name;
    let near = || refused.iter().filter(|(_, refusal)| refusal.rank > 1);
    let any = |kind: RefusalKind| near().any(|(_, refusal)| refusal.kind == kind);
    let is_cyclic = near().all(|(_, refusal)| refusal.kind == RefusalKind::Cyclic);
    if is_cyclic && any(RefusalKind::Cyclic) {
        let message = format!("node \"{name}\" could only be substituted by what it is a part of");
        (Code::CyclicSubstitution, message)
    } else if any(RefusalKind::Undecided) {
        let message = format!("what substitutes node \"{name}\" depends on what is not known yet");
        (Code::UndecidedSubstitution, message)
    } else if any(RefusalKind::Interrupted) {
        let message = format!("the time was over before anything was found for node \"{name}\"");
        (Code::Unproven, message)
    } else if any(RefusalKind::Ambiguous) {
        let message =
            format!("several variants that differ in nodes are the best for node \"{name}\"");
        (Code::AmbiguousSubstitution, message)
    } else {
        (Code::NoSubstitution, format!("nothing substitutes node \"{name}\""))
    }
}

/// Which template would fit with other inputs than those of defaults and presets (V3).
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

/// Inputs of what substitutes a node, as a call gives them.
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

/// Two variants of one template cost the same and differ in nodes (V5).
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
