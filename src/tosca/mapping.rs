//! Computes which relations of a substituted node go to which mapping. It uses numbers only:
//! bounds, slots and entries. Neither the caller nor the notation matters.
//!
//! A *slot* is one of the relations that the assignments of a requirement in a node stand for. An
//! *entry* is one mapping after groups are written out. Entries are kept as runs, because a group
//! may stand for any number of them.

/// How often something may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountBounds {
    /// The lower bound.
    pub min: u64,
    /// The upper bound. `None` means unbounded.
    pub max: Option<u64>,
}

/// How many slots one requirement of one node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotCounts {
    /// The slots that have a target.
    pub fulfilled: u64,
    /// The slots for which a target has to be found.
    pub mandatory: u64,
    /// The slots for which a target should be found.
    pub optional: u64,
}

impl SlotCounts {
    /// The slots that entries can be mapped onto, where the requirement has these bounds.
    pub(crate) fn open(self, bounds: CountBounds) -> OpenSlots {
        let needed = bounds.min.saturating_sub(self.fulfilled);
        OpenSlots {
            mandatory: needed.max(self.mandatory),
            takes: bounds.max.map_or(u64::MAX, |max| max.saturating_sub(self.fulfilled)),
        }
    }
}

/// How many slots of a node's requirement entries can be mapped onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenSlots {
    /// The number of slots that have to get a target.
    pub mandatory: u64,
    /// The number of slots that may get a target.
    pub takes: u64,
}

/// How many entries a mapping stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingShare {
    /// One entry. A mapping that is the only one stands for as many entries as its targets take.
    One,
    /// This number of entries.
    Times(u64),
    /// All entries that are left.
    Rest,
}

/// A mapping of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappedRequirement {
    /// How many entries the mapping stands for.
    pub share: MappingShare,
    /// The targets of the mapping, as positions in [`RequirementMappings::open`].
    pub targets: Vec<usize>,
}

/// All mappings of one requirement, in the order in which they are written.
#[derive(Clone, Debug)]
pub(crate) struct RequirementMappings {
    /// How often the requirement occurs in the substituted type.
    pub bounds: CountBounds,
    /// The mappings.
    pub mappings: Vec<MappedRequirement>,
    /// The slots that the mappings lead onto.
    pub open: Vec<OpenSlots>,
}

/// Consecutive entries of one mapping that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunOfEntries {
    mapping: usize,
    is_mandatory: bool,
    count: u64,
}

/// A problem of mappings that shows in the substituted type, whatever node is substituted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MappingProblem {
    /// More entries lead onto mandatory slots than there are relations for certain. The list has
    /// the mappings of these entries.
    TooManyMandatory(u64, Vec<usize>),
    /// A mapping leads onto a requirement that takes no more entries.
    TakesNoMore {
        /// The position of the mapping.
        mapping: usize,
        /// The position of the slots that it maps onto.
        target: usize,
    },
    /// A mapping follows one that takes all entries that are left.
    BehindRest(usize),
    /// A mapping has entries for which there is never a relation.
    Surplus(usize),
    /// A mapping takes all entries that are left, and its target takes fewer.
    BoundedRest(usize),
}

impl MappingProblem {
    /// Whether the problem is not a mistake but only has no effect.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self, Self::Surplus(_) | Self::BoundedRest(_))
    }
}

impl RequirementMappings {
    /// The position of the only mapping, if there is just one and it is not a group.
    fn sole(&self) -> Option<usize> {
        let mappings = self.mappings.iter().enumerate();
        let mut counting = mappings.filter(|(_, mapping)| mapping.share != MappingShare::Times(0));
        let (position, only) = counting.next()?;
        (only.share == MappingShare::One && counting.next().is_none()).then_some(position)
    }

    /// The runs of entries where the node has this number of slots.
    fn runs(&self, slots: u64) -> Vec<RunOfEntries> {
        let mut used = vec![0_u64; self.open.len()];
        let (mut runs, mut before) = (Vec::new(), 0_u64);
        let sole = self.sole();
        for (position, mapping) in self.mappings.iter().enumerate() {
            let open = || mapping.targets.iter().map(|&target| (self.open[target], used[target]));
            let left = open().map(|(open, used)| open.takes.saturating_sub(used)).min();
            let mandatory = open().map(|(open, used)| open.mandatory.saturating_sub(used)).max();
            let (left, mandatory) = (left.unwrap_or(0), mandatory.unwrap_or(0));
            let count = match mapping.share {
                MappingShare::One if sole == Some(position) => left.max(1).min(slots.max(1)),
                MappingShare::One => 1,
                MappingShare::Times(count) => count,
                // Mandatory slots come first, so that there are always enough entries for them.
                MappingShare::Rest => slots.saturating_sub(before).max(mandatory).min(left),
            };
            let mandatory = mandatory.min(count);
            let parts = [(true, mandatory), (false, count - mandatory)];
            let run =
                |(is_mandatory, count)| RunOfEntries { mapping: position, is_mandatory, count };
            runs.extend(parts.map(run).into_iter().filter(|run| run.count > 0));
            mapping
                .targets
                .iter()
                .for_each(|&target| used[target] = used[target].saturating_add(count));
            before = before.saturating_add(count);
        }
        runs
    }

    /// Sorts the runs in the order in which they take slots. If there are no more entries than
    /// `min`, all of them take a slot, and the order stays as written. Otherwise runs onto
    /// mandatory slots come first.
    fn in_order(mut runs: Vec<RunOfEntries>, min: u64) -> Vec<RunOfEntries> {
        if total(&runs) > min {
            runs.sort_by_key(|run| !run.is_mandatory);
        }
        runs
    }

    /// The mapping that takes each of these slots, as long as there are entries. `min` is the
    /// number of relations that exist for certain.
    pub(crate) fn perform(&self, slots: u64, min: u64) -> Vec<usize> {
        let slots = self.bounds.max.map_or(slots, |max| slots.min(max));
        let mut taken = Vec::new();
        for run in Self::in_order(self.runs(slots), min) {
            let count = run.count.min(slots - taken.len() as u64);
            taken.extend((0..count).map(|_| run.mapping));
        }
        taken
    }

    /// The mappings in the order in which they take slots, as long as there are any, each with the
    /// number of these.
    pub(crate) fn ordered(&self, min: u64) -> Vec<(usize, u64)> {
        let runs = Self::in_order(self.runs(self.most()), min);
        runs.iter().map(|run| (run.mapping, run.count)).collect()
    }

    /// The number of entries where the node has this number of slots.
    pub(crate) fn entries(&self, slots: u64) -> u64 {
        total(&self.runs(self.bounds.max.map_or(slots, |max| slots.min(max))))
    }

    /// The mappings that lead onto mandatory slots, each with the number of its entries that do.
    pub(crate) fn mandatory(&self, slots: u64) -> Vec<(usize, u64)> {
        let slots = self.bounds.max.map_or(slots, |max| slots.min(max));
        let runs = self.runs(slots).into_iter().filter(|run| run.is_mandatory);
        runs.map(|run| (run.mapping, run.count)).collect()
    }

    /// All problems that occur for at least one node that may be substituted.
    pub(crate) fn problems(&self) -> Vec<MappingProblem> {
        let mut problems = Vec::new();
        self.mandatory_problem(&mut problems);
        self.target_problems(&mut problems);
        self.share_problems(&mut problems);
        self.surplus_problem(&mut problems);
        problems
    }

    fn most(&self) -> u64 {
        self.bounds.max.unwrap_or(u64::MAX)
    }

    fn mandatory_problem(&self, problems: &mut Vec<MappingProblem>) {
        let mut mandatory = self.runs(self.most());
        mandatory.retain(|run| run.is_mandatory);
        let count = match self.sole() {
            Some(sole) => {
                self.mappings[sole].targets.iter().map(|&target| self.open[target].mandatory).max()
            }
            None => Some(total(&mandatory)),
        };
        let count = count.unwrap_or(0);
        if count > self.bounds.min {
            let mappings = mandatory.iter().map(|run| run.mapping).collect();
            problems.push(MappingProblem::TooManyMandatory(count, mappings));
        }
    }

    fn target_problems(&self, problems: &mut Vec<MappingProblem>) {
        let mut used = vec![0_u64; self.open.len()];
        for (mapping, position) in self.mappings.iter().zip(0..) {
            let count = match mapping.share {
                MappingShare::One => 1,
                MappingShare::Times(count) => count,
                MappingShare::Rest => 0,
            };
            for &target in &mapping.targets {
                used[target] = used[target].saturating_add(count);
                if count > 0 && used[target] > self.open[target].takes {
                    problems.push(MappingProblem::TakesNoMore { mapping: position, target });
                }
            }
        }
    }

    fn share_problems(&self, problems: &mut Vec<MappingProblem>) {
        let mut mappings = self.mappings.iter();
        let Some(rest) = mappings.position(|mapping| mapping.share == MappingShare::Rest) else {
            return;
        };
        let behind = mappings.zip(rest + 1..).filter(|(it, _)| it.share != MappingShare::Times(0));
        problems.extend(behind.map(|(_, position)| MappingProblem::BehindRest(position)));
        let runs = self.runs(self.most());
        // If it takes none, it does not lack any.
        if total(&runs) < self.most() && runs.iter().any(|run| run.mapping == rest) {
            problems.push(MappingProblem::BoundedRest(rest));
        }
    }

    /// Reports the first mapping with an entry that has no relation even at the upper bound.
    fn surplus_problem(&self, problems: &mut Vec<MappingProblem>) {
        let Some(max) = self.bounds.max else { return };
        if self.sole().is_some() {
            return;
        }
        let mut before = 0_u64;
        for run in Self::in_order(self.runs(max), self.bounds.min) {
            before = before.saturating_add(run.count);
            if before > max {
                return problems.push(MappingProblem::Surplus(run.mapping));
            }
        }
    }
}

fn total(runs: &[RunOfEntries]) -> u64 {
    runs.iter().fold(0, |total, run| total.saturating_add(run.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Performs the rules as the specification states them, one entry at a time.
    struct Oracle<'m>(&'m RequirementMappings);

    /// A single entry: its mapping, its targets, and whether one of them is mandatory.
    type Entry = (usize, Vec<usize>, bool);

    impl Oracle<'_> {
        fn entries(&self, slots: u64) -> Vec<Entry> {
            let RequirementMappings { mappings, open, .. } = self.0;
            let effective: Vec<_> =
                mappings.iter().filter(|it| it.share != MappingShare::Times(0)).collect();
            let is_sole = effective.len() == 1 && effective[0].share == MappingShare::One;
            let mut onto = vec![0; open.len()];
            let mut entries: Vec<Entry> = Vec::new();
            for (position, mapping) in mappings.iter().enumerate() {
                let room = |onto: &[u64]| mapping.targets.iter().all(|&t| onto[t] < open[t].takes);
                let needs =
                    |onto: &[u64]| mapping.targets.iter().any(|&t| onto[t] < open[t].mandatory);
                let mut own = 0;
                loop {
                    let more = match mapping.share {
                        MappingShare::One if is_sole => own == 0 || room(&onto) && own < slots,
                        MappingShare::One => own < 1,
                        MappingShare::Times(count) => own < count,
                        MappingShare::Rest => {
                            room(&onto) && ((entries.len() as u64) < slots || needs(&onto))
                        }
                    };
                    if !more {
                        break;
                    }
                    entries.push((position, mapping.targets.clone(), needs(&onto)));
                    mapping.targets.iter().for_each(|&target| onto[target] += 1);
                    own += 1;
                }
            }
            entries
        }

        fn perform(&self, slots: u64, min: u64) -> Vec<Entry> {
            let slots = slots.min(self.0.bounds.max.unwrap_or(slots));
            let entries = self.entries(slots);
            let ordered = if entries.len() as u64 > min {
                let (first, then): (Vec<_>, Vec<_>) =
                    entries.into_iter().partition(|(_, _, mandatory)| *mandatory);
                [first, then].concat()
            } else {
                entries
            };
            ordered.into_iter().take(slots as usize).collect()
        }
    }

    fn mappings() -> impl Strategy<Value = RequirementMappings> {
        let bounds = || {
            (0..4_u64, prop_oneof![Just(None), (0..4_u64).prop_map(Some)])
                .prop_map(|(min, more)| CountBounds { min, max: more.map(|more| min + more) })
        };
        let slots = (0..2_u64, 0..3_u64).prop_map(|(fulfilled, mandatory)| SlotCounts {
            fulfilled,
            mandatory,
            optional: 0,
        });
        let open = prop::collection::vec((bounds(), slots), 1..4);
        (bounds(), open).prop_flat_map(|(bounds, inner)| {
            let open: Vec<_> = inner.iter().map(|(bounds, slots)| slots.open(*bounds)).collect();
            let share = prop_oneof![
                4 => Just(MappingShare::One),
                2 => (0..4_u64).prop_map(MappingShare::Times),
                1 => Just(MappingShare::Rest)
            ];
            let targets = prop::collection::btree_set(0..open.len(), 1..=open.len().min(2));
            let mapping = (share, targets).prop_map(|(share, targets)| MappedRequirement {
                share,
                targets: targets.into_iter().collect(),
            });
            prop::collection::vec(mapping, 0..5).prop_map(move |mappings| RequirementMappings {
                bounds,
                mappings,
                open: open.clone(),
            })
        })
    }

    fn is_valid(mappings: &RequirementMappings) -> bool {
        mappings.problems().iter().all(MappingProblem::is_harmless)
    }

    /// The number of mandatory entries without a slot, although every user may take the mappings.
    fn left_over(mappings: &RequirementMappings, slots: u64, min: u64) -> usize {
        let oracle = Oracle(mappings);
        let all = oracle.entries(slots.min(mappings.bounds.max.unwrap_or(slots)));
        let mandatory = |entries: &[Entry]| entries.iter().filter(|entry| entry.2).count();
        mandatory(&all) - mandatory(&oracle.perform(slots, min))
    }

    proptest! {
        // Most random mappings are invalid, so that many cases are rejected.
        #![proptest_config(ProptestConfig { cases: 4096, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

        #[test]
        fn runs_are_entries_that_are_written_out(mappings in mappings(), slots in 0..9_u64) {
            prop_assume!(is_valid(&mappings));
            let oracle = Oracle(&mappings);
            let performed: Vec<_> =
                oracle.perform(slots, mappings.bounds.min).iter().map(|entry| entry.0).collect();
            prop_assert_eq!(mappings.perform(slots, mappings.bounds.min), performed);
        }

        #[test]
        fn what_is_accepted_performs_for_every_user(mappings in mappings(), more in 0..5_u64, narrowed in 0..3_u64) {
            prop_assume!(is_valid(&mappings));
            // The requirement of a user may have a higher lower bound than the substituted type.
            let most = mappings.bounds.max.unwrap_or(u64::MAX);
            let min = (mappings.bounds.min + narrowed).min(most);
            let slots = (min + more).min(most);
            prop_assert_eq!(left_over(&mappings, slots, min), 0);
        }

        #[test]
        fn groups_are_what_they_stand_for(mappings in mappings(), slots in 0..9_u64) {
            let mut written = mappings.clone();
            written.mappings = mappings.mappings.iter().flat_map(|mapping| {
                let one = MappedRequirement { share: MappingShare::Times(1), ..mapping.clone() };
                match mapping.share {
                    MappingShare::Times(count) => vec![one; count as usize],
                    _ => vec![mapping.clone()],
                }
            }).collect();
            prop_assume!(written.sole().is_none());
            let targets = |of: &RequirementMappings| -> Vec<_> {
                let taken = of.perform(slots, of.bounds.min);
                taken.into_iter().map(|mapping| of.mappings[mapping].targets.clone()).collect()
            };
            prop_assert_eq!(targets(&mappings), targets(&written));
        }

        #[test]
        fn only_the_order_within_mandatory_and_optional_ones_counts(mappings in mappings(), slots in 0..9_u64) {
            // Each entry has a target of its own, so that moving it changes nothing else.
            let mut mappings = mappings;
            mappings.mappings.retain(|mapping| mapping.targets.len() == 1);
            mappings.open = mappings.mappings.iter().map(|mapping| mappings.open[mapping.targets[0]]).collect();
            for (position, mapping) in mappings.mappings.iter_mut().enumerate() {
                *mapping = MappedRequirement { share: MappingShare::Times(1), targets: vec![position] };
            }
            prop_assume!(mappings.mappings.len() as u64 > mappings.bounds.min);
            let mut moved = mappings.clone();
            moved.mappings.sort_by_key(|mapping| mappings.open[mapping.targets[0]].mandatory == 0);
            let targets = |of: &RequirementMappings| -> Vec<_> {
                let taken = of.perform(slots, of.bounds.min);
                taken.into_iter().map(|mapping| of.mappings[mapping].targets[0]).collect()
            };
            prop_assert_eq!(targets(&mappings), targets(&moved));
        }
    }

    fn of(
        bounds: (u64, Option<u64>),
        shares: &[MappingShare],
        open: &[(u64, u64)],
    ) -> RequirementMappings {
        let mapping = |(share, target): (&MappingShare, usize)| MappedRequirement {
            share: *share,
            targets: vec![target.min(open.len() - 1)],
        };
        RequirementMappings {
            bounds: CountBounds { min: bounds.0, max: bounds.1 },
            mappings: shares.iter().zip(0..).map(mapping).collect(),
            open: open.iter().map(|&(mandatory, takes)| OpenSlots { mandatory, takes }).collect(),
        }
    }

    #[test]
    fn each_rule_is_needed() {
        // Three entries are mandatory, but a user may have a single relation.
        let three = of((1, Some(4)), &[MappingShare::One; 3], &[(1, 1), (1, 1), (1, 1)]);
        assert_eq!(three.problems(), [MappingProblem::TooManyMandatory(3, vec![0, 1, 2])]);
        assert_eq!(left_over(&three, 1, 1), 2);
        // If a bound slot counted as open, one entry would have no slot to map onto.
        let bound = SlotCounts { fulfilled: 1, mandatory: 0, optional: 0 };
        let open = bound.open(CountBounds { min: 1, max: Some(1) });
        let bound = of((1, Some(1)), &[MappingShare::One], &[(open.mandatory, open.takes)]);
        assert_eq!(bound.problems(), [MappingProblem::TakesNoMore { mapping: 0, target: 0 }]);
    }

    #[test]
    fn mandatory_ones_come_first_where_there_are_more_than_for_certain() {
        let three = of((1, Some(4)), &[MappingShare::One; 3], &[(0, 1), (1, 1), (0, 1)]);
        assert_eq!(three.problems(), []);
        assert_eq!(three.perform(2, 1), [1, 0]);
        assert_eq!(three.perform(1, 1), [1]);
        let all = of((3, Some(3)), &[MappingShare::One; 3], &[(0, 1), (1, 1), (0, 1)]);
        assert_eq!(all.perform(3, 3), [0, 1, 2]);
    }

    #[test]
    fn a_sole_mapping_takes_what_its_target_takes() {
        let sole = |takes| of((3, None), &[MappingShare::One], &[(0, takes)]);
        assert_eq!(sole(1).perform(5, 3), [0]);
        assert_eq!(sole(2).perform(5, 3), [0, 0]);
        assert_eq!(sole(u64::MAX).perform(5, 3), [0; 5]);
        let grouped =
            of((3, None), &[MappingShare::Times(1), MappingShare::Times(0)], &[(0, u64::MAX)]);
        assert_eq!(grouped.perform(5, 3), [0]);
        assert_eq!(grouped.problems(), []);
        let beside = of((3, None), &[MappingShare::One, MappingShare::Times(0)], &[(0, u64::MAX)]);
        assert_eq!(beside.perform(5, 3), [0; 5]);
    }

    #[test]
    fn the_rest_takes_what_is_left() {
        let mut rest = of(
            (3, None),
            &[MappingShare::One, MappingShare::One, MappingShare::Rest],
            &[(0, u64::MAX), (1, 1)],
        );
        rest.mappings[2].targets = vec![0];
        assert_eq!(rest.problems(), []);
        let targets: Vec<_> =
            rest.perform(5, 3).iter().map(|&at| rest.mappings[at].targets[0]).collect();
        assert_eq!(targets, [1, 0, 0, 0, 0]);
        rest.mappings.push(MappedRequirement { share: MappingShare::One, targets: vec![0] });
        assert_eq!(rest.problems(), [MappingProblem::BehindRest(3)]);
        let bounded = of((3, None), &[MappingShare::Rest], &[(0, 2)]);
        assert_eq!(bounded.problems(), [MappingProblem::BoundedRest(0)]);
        let full = of((3, None), &[MappingShare::One, MappingShare::Rest], &[(0, 1)]);
        assert_eq!(full.problems(), []);
    }

    #[test]
    fn surplus_is_what_never_has_a_relation() {
        let five =
            of((1, Some(4)), &[MappingShare::One; 5], &[(0, 1), (0, 1), (0, 1), (0, 1), (1, 1)]);
        assert_eq!(five.problems(), [MappingProblem::Surplus(3)]);
        let group = of((1, Some(4)), &[MappingShare::Times(5)], &[(0, u64::MAX)]);
        assert_eq!(group.problems(), [MappingProblem::Surplus(0)]);
    }

    #[test]
    fn ten_thousand_entries_are_few() {
        let many = of((0, None), &vec![MappingShare::One; 10_000], &vec![(0, 1); 10_000]);
        assert_eq!(many.perform(10_000, 0).len(), 10_000);
        assert_eq!(many.problems(), []);
        let one = of((0, None), &[MappingShare::Times(u64::MAX)], &[(0, u64::MAX)]);
        assert_eq!(one.perform(3, 0), [0; 3]);
        assert_eq!(one.problems(), []);
    }
}
