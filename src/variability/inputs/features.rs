//! Checks the rules between inputs that represent features. They are checked together once all
//! values are known.
//!
//! With `p` for the input that has the keyword and `c` for those that it lists:
//! - `mandatory`: p ⇔ c
//! - `optional`: c ⇒ p
//! - `choices`: p ⇒ at least one c
//! - `alternatives`: p ⇒ exactly one c
//! - `requires`: p ⇒ c
//! - `excludes`: p ⇒ ¬c

use super::declaration::{Declaration, Declarations, InputId};
use super::{InputValue, Inputs, shape};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, listed_as};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashSet;

macro_rules! feature_keywords {
    ($($variant:ident $keyword:literal $text:literal;)*) => {
        /// A feature keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum FeatureKeyword {
            $(#[doc = $text] $variant,)*
        }

        impl FeatureKeyword {
            /// All keywords, in the order of the specification.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The text of the keyword.
            pub(crate) fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $keyword,)*
                }
            }

            /// The demand of the keyword in words: `needs at least one of these`.
            pub(crate) fn demand(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

feature_keywords! {
    Mandatory "mandatory" "is true exactly when each of these is";
    Optional "optional" "is true when any of these is";
    Choices "choices" "needs at least one of these";
    Alternatives "alternatives" "needs exactly one of these";
    Requires "requires" "needs each of these";
    Excludes "excludes" "excludes each of these";
}

impl FeatureKeyword {
    /// The keyword with this text.
    pub(crate) fn from_keyword(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.as_str() == text)
    }

    /// Whether the rule holds, given the truth of the input that has it and of the inputs that it
    /// lists.
    pub(crate) fn holds(self, parent: bool, mut children: impl Iterator<Item = bool>) -> bool {
        match self {
            Self::Mandatory => children.all(|child| child == parent),
            Self::Optional => parent || !children.any(|child| child),
            Self::Choices => !parent || children.any(|child| child),
            Self::Alternatives => !parent || children.filter(|child| *child).count() == 1,
            Self::Requires => !parent || children.all(|child| child),
            Self::Excludes => !parent || !children.any(|child| child),
        }
    }
}

/// A feature keyword in a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FeatureRule {
    /// The keyword.
    pub keyword: FeatureKeyword,
    /// The place of the keyword.
    pub span: Span,
    /// The inputs that it lists.
    pub targets: Vec<InputId>,
}

impl FeatureRule {
    pub(super) fn read<'a>(
        keyword: FeatureKeyword,
        key: Node<'a>,
        value: Node<'a>,
        declarations: &Declarations<'a>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut targets = Vec::new();
        let mut add = |item: Node<'a>| match item.text().map(|name| (name, declarations.id(name))) {
            Some((_, Some(id))) => targets.push(id),
            Some((name, None)) => {
                let message = format!(
                    "`{}` names `{name}`, which is not a declared variability input",
                    keyword.as_str()
                );
                let diagnostic = Diagnostic::error(Code::InvalidInput, message).at(item.span());
                diagnostics.push(diagnostic.help(declarations.suggestion(name)));
            }
            None => {
                let message = format!(
                    "`{}` has to list names of variability inputs, not {}",
                    keyword.as_str(),
                    item.describe()
                );
                diagnostics.push(shape(item, message));
            }
        };
        match value.kind() {
            NodeKind::Sequence => value.items().for_each(add),
            NodeKind::Scalar | NodeKind::Mapping => add(value),
        }
        Self { keyword, span: key.span(), targets }
    }
}

/// Checks every rule of every input; each violated rule is one `variability-input-constraint`.
///
/// `value` is called only for inputs that rules mention; an input without a value is false.
pub(crate) fn check_features(
    declarations: &Declarations<'_>,
    value: &dyn Fn(InputId) -> Option<Value>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let truth = |id: InputId| value(id).is_some_and(|value| value.is_truthy());
    for (id, declaration) in declarations.iter() {
        for rule in &declaration.rules {
            if !rule.keyword.holds(truth(id), rule.targets.iter().map(|target| truth(*target))) {
                diagnostics.push(violation(declarations, id, rule, value));
            }
        }
    }
    diagnostics
}

/// Checks that inputs have values if inputs are features. Each input that no feature keyword of
/// another input names must have one: it is the root of a tree of features, or not a feature, and
/// nothing else implies that it is false.
pub(crate) fn check_assigned(inputs: &Inputs<'_>) -> Diagnostics {
    let declarations = &inputs.declarations;
    let (mut first, mut named) = (None, FxHashSet::default());
    for (id, input) in declarations.iter() {
        for rule in &input.rules {
            first.get_or_insert(rule.span);
            named.extend(rule.targets.iter().copied().filter(|&target| target != id));
        }
    }
    let Some(first) = first else { return Diagnostics::default() };
    let is_missing = |id| matches!(inputs.values.get(id), InputValue::Missing);
    let unassigned = declarations.iter().filter(|&(id, _)| is_missing(id) && !named.contains(&id));
    let error = |(_, declaration): (InputId, &Declaration<'_>)| {
        let message = format!(
            "the variability input `{}` has no value, and no other input names it as a feature",
            declaration.name
        );
        Diagnostic::error(Code::UnassignedInput, message)
            .at(declaration.span)
            .label(first, "here inputs are features")
            .help("assign it, or declare a `default`")
    };
    Diagnostics(unassigned.map(error).collect())
}

fn violation(
    declarations: &Declarations<'_>,
    id: InputId,
    rule: &FeatureRule,
    value: &dyn Fn(InputId) -> Option<Value>,
) -> Diagnostic {
    let shown = |id: InputId| {
        let name = declarations.get(id).map_or("", |declaration| declaration.name);
        match value(id) {
            Some(value) => format!("`{name}` is {value}"),
            None => format!("`{name}` is unassigned"),
        }
    };
    let name = declarations.get(id).map_or("", |declaration| declaration.name);
    let targets = match &rule.targets[..] {
        [] => "none is listed".to_owned(),
        targets => listed_as(targets.iter().map(|target| shown(*target))),
    };
    let message = format!(
        "`{}` is violated: `{name}` {}, but {}, and {targets}",
        rule.keyword.as_str(),
        rule.keyword.demand(),
        shown(id)
    );
    Diagnostic::error(Code::VariabilityInputConstraint, message).at(rule.span)
}
