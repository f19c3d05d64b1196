//! Reads a query as a caller of another language gives it: words and numbers, each given or not.

use super::space::Projection;
use super::variants::{Goal, Query, Which};
use crate::diagnostic::{Code, Diagnostic};

/// A query in words and numbers. What is not given is as in [`Query::default`].
///
/// ```
/// use cuvee::explore::{Goal, WantedVariants, Which};
///
/// let wanted = WantedVariants { minimize: Some("count"), ..WantedVariants::default() };
/// assert_eq!(wanted.query()?.which, Which::Best(Goal::Count));
///
/// let wanted = WantedVariants { minimize: Some("price"), ..wanted };
/// let message = "`minimize` is `weight`, `count` or `technologies`, not `price`";
/// assert_eq!(wanted.query().unwrap_err().message, message);
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedVariants<'w> {
    /// What tells variants apart: `all` or `nodes`.
    pub projection: Option<&'w str>,
    /// The greatest number of variants.
    pub limit: Option<usize>,
    /// How many steps counting may take.
    pub effort: Option<u64>,
    /// How many variants are drawn at random.
    pub sample: Option<u64>,
    /// The seed of the sample.
    pub seed: u64,
    /// Of how many inputs the combinations are covered.
    pub cover: Option<usize>,
    /// What is minimised: `weight`, `count` or `technologies`.
    pub minimize: Option<&'w str>,
    /// Whether the variants of presets are wanted, which no query selects.
    pub all_presets: bool,
}

/// The goals with their names, and the projections with theirs.
const GOALS: [(&str, Goal); 3] =
    [("weight", Goal::Weight), ("count", Goal::Count), ("technologies", Goal::Technologies)];
const PROJECTIONS: [(&str, Projection); 2] =
    [("all", Projection::All), ("nodes", Projection::Nodes)];

/// How many inputs have combinations that can be covered.
const COVERED: std::ops::RangeInclusive<usize> = 1..=6;

impl WantedVariants<'_> {
    /// The query.
    ///
    /// # Errors
    /// A word that nothing is called by, a number that makes no sense, or several selections.
    pub fn query(&self) -> Result<Query, Diagnostic> {
        let default = Query::default();
        let projection = self.projection.map(|name| named("projection", name, &PROJECTIONS));
        Ok(Query {
            projection: projection.transpose()?.unwrap_or_default(),
            which: self.which()?,
            limit: positive("limit", self.limit)?.unwrap_or(default.limit),
            effort: positive("effort", self.effort)?.unwrap_or(default.effort),
        })
    }

    fn which(&self) -> Result<Which, Diagnostic> {
        let given = [
            ("a sample", self.sample.is_some()),
            ("covered combinations", self.cover.is_some()),
            ("the least by a goal", self.minimize.is_some()),
            ("the variants of presets", self.all_presets),
        ];
        let given: Vec<_> = given.iter().filter(|(_, is)| *is).map(|(what, _)| *what).collect();
        if given.len() > 1 {
            return Err(wrong(format!("only one of these can be chosen: {}", given.join(", "))));
        }
        let sample = positive("sample", self.sample)?;
        Ok(match (sample, self.cover, self.minimize) {
            (Some(count), ..) => Which::Sample(count, self.seed),
            (_, Some(inputs), _) if COVERED.contains(&inputs) => Which::Covering(inputs),
            (_, Some(inputs), _) => {
                let (least, most) = (COVERED.start(), COVERED.end());
                let message = format!(
                    "combinations of {least} to {most} inputs can be covered, not of {inputs}"
                );
                return Err(wrong(message));
            }
            (.., Some(goal)) => Which::Best(named("minimize", goal, &GOALS)?),
            _ => Which::All,
        })
    }
}

/// What has this name.
fn named<T: Copy>(what: &str, name: &str, known: &[(&str, T)]) -> Result<T, Diagnostic> {
    if let Some((_, found)) = known.iter().find(|(known, _)| *known == name) {
        return Ok(*found);
    }
    let mut names = known.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>();
    let last = names.pop().unwrap_or_default();
    Err(wrong(format!("`{what}` is {} or {last}, not `{name}`", names.join(", "))))
}

/// A number that is not zero.
fn positive<N: PartialEq + From<u8>>(
    what: &str,
    number: Option<N>,
) -> Result<Option<N>, Diagnostic> {
    match number {
        Some(number) if number == N::from(0) => Err(wrong(format!("`{what}` is 1 or more, not 0"))),
        number => Ok(number),
    }
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::error(Code::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: WantedVariants<'_> = WantedVariants {
        projection: None,
        limit: None,
        effort: None,
        sample: None,
        seed: 0,
        cover: None,
        minimize: None,
        all_presets: false,
    };

    #[test]
    fn what_is_not_given_is_as_by_default() {
        assert_eq!(NOTHING, WantedVariants::default());
        assert_eq!(NOTHING.query(), Ok(Query::default()));
        let presets = WantedVariants { all_presets: true, ..NOTHING };
        assert_eq!(presets.query(), Ok(Query::default()));
    }

    #[test]
    fn all_that_is_given_counts() {
        let (limit, effort) = (Some(3), Some(7));
        let wanted = WantedVariants { projection: Some("nodes"), limit, effort, ..NOTHING };
        let query = Query { projection: Projection::Nodes, which: Which::All, limit: 3, effort: 7 };
        assert_eq!(wanted.query(), Ok(query));
        let which = |wanted: WantedVariants<'_>| wanted.query().unwrap().which;
        let sample = WantedVariants { sample: Some(2), seed: 5, ..NOTHING };
        assert_eq!(which(sample), Which::Sample(2, 5));
        assert_eq!(which(WantedVariants { cover: Some(6), ..NOTHING }), Which::Covering(6));
        for (name, goal) in GOALS {
            assert_eq!(
                which(WantedVariants { minimize: Some(name), ..NOTHING }),
                Which::Best(goal)
            );
            // The name is the one that documents have.
            assert_eq!(serde_json::to_value(goal).unwrap(), name);
        }
        for (name, projection) in PROJECTIONS {
            let wanted = WantedVariants { projection: Some(name), ..NOTHING };
            assert_eq!(wanted.query().unwrap().projection, projection);
            assert_eq!(serde_json::to_value(projection).unwrap(), name);
        }
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let (sample, cover, minimize) = (Some(1), Some(2), Some("count"));
        for (wanted, message) in [
            (
                WantedVariants { minimize: Some("price"), ..NOTHING },
                "`minimize` is `weight`, `count` or `technologies`, not `price`",
            ),
            (
                WantedVariants { projection: Some(""), ..NOTHING },
                "`projection` is `all` or `nodes`, not ``",
            ),
            (WantedVariants { limit: Some(0), ..NOTHING }, "`limit` is 1 or more, not 0"),
            (WantedVariants { effort: Some(0), ..NOTHING }, "`effort` is 1 or more, not 0"),
            (WantedVariants { sample: Some(0), ..NOTHING }, "`sample` is 1 or more, not 0"),
            (
                WantedVariants { cover: Some(7), ..NOTHING },
                "combinations of 1 to 6 inputs can be covered, not of 7",
            ),
            (
                WantedVariants { cover: Some(0), ..NOTHING },
                "combinations of 1 to 6 inputs can be covered, not of 0",
            ),
            (
                WantedVariants { sample, minimize, all_presets: true, ..NOTHING },
                "only one of these can be chosen: a sample, the least by a goal, the variants of presets",
            ),
            (
                WantedVariants { cover, minimize, ..NOTHING },
                "only one of these can be chosen: covered combinations, the least by a goal",
            ),
        ] {
            let wrong = wanted.query().unwrap_err();
            assert!(wrong.code == Code::Usage);
            assert_eq!(&*wrong.message, message);
        }
    }
}
