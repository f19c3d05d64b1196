//! Describes cases for people: a label is true for exactly the values of its case.

use super::regions::{Axis, End, RegionPlace, ValueRegion};
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many parts a label lists; further parts are only counted.
const LISTED: usize = 4;

/// The label for all values that no other case names.
pub(super) const REST: &str = "something else";

/// The label of each case, given the regions that are its members.
pub(super) fn labels(regions: &[ValueRegion], classes: &[Vec<usize>]) -> Vec<String> {
    let mut labels =
        Labels { regions, classes, at: FxHashMap::default(), places: FxHashMap::default() };
    for place in regions.iter().flat_map(|region| &region.places) {
        labels.places.insert((place.axis as usize, place.position), place);
    }
    for (class, members) in classes.iter().enumerate() {
        for &member in members {
            for place in &regions[member].places {
                labels
                    .at
                    .entry((place.axis as usize, place.position))
                    .or_default()
                    .push((class, member));
            }
        }
    }
    (0..classes.len()).map(|class| labels.label(class)).collect()
}

struct Labels<'l> {
    regions: &'l [ValueRegion],
    classes: &'l [Vec<usize>],
    /// The regions at each position of each axis, each with its case.
    at: FxHashMap<(usize, i64), Vec<(usize, usize)>>,
    /// The place at each position of each axis. This includes regions that belong to no case,
    /// because nothing can be computed with their values.
    places: FxHashMap<(usize, i64), &'l RegionPlace>,
}

impl Labels<'_> {
    fn label(&self, class: usize) -> String {
        let members = &self.classes[class];
        let others = self.classes.iter().enumerate().filter(|&(other, _)| other != class);
        let mut rest = others.flat_map(|(_, members)| members);
        let has_rest = members.iter().any(|&member| !self.regions[member].exact);
        // Whether the case has all values except those that other cases name.
        let complement = has_rest && rest.all(|&member| self.regions[member].exact);
        let parts = self.parts(class);
        match parts {
            Some(parts) if !complement || parts.len() == 1 => joined(parts),
            _ if complement => REST.into(),
            _ => self.like(members),
        }
    }

    /// Describes values by their types or by examples.
    fn like(&self, members: &[usize]) -> String {
        let mut kinds: Vec<String> = Vec::new();
        for &member in members {
            let region = &self.regions[member];
            let part = match region.kind {
                _ if region.exact => told(&region.value),
                Some(kind) if self.owns_kind(members, kind) => kind.to_owned(),
                _ => format!("like {}", told(&region.value)),
            };
            if !kinds.contains(&part) {
                kinds.push(part);
            }
        }
        joined(kinds)
    }

    /// Whether these members are all regions of a type.
    fn owns_kind(&self, members: &[usize], kind: &str) -> bool {
        let mut of_kind =
            self.regions.iter().enumerate().filter(|(_, region)| region.kind == Some(kind));
        of_kind.all(|(index, _)| members.contains(&index))
    }

    /// The parts of a label, in the order of the regions; `None` if a region cannot be described
    /// exactly.
    fn parts(&self, class: usize) -> Option<Vec<String>> {
        let members = &self.classes[class];
        let mut parts = Vec::new();
        let mut done: FxHashSet<usize> = FxHashSet::default();
        for &member in members {
            if done.contains(&member) {
                continue;
            }
            let region = &self.regions[member];
            let place =
                region.places.iter().find(|place| self.owns(class, place.axis, place.position));
            match place {
                Some(place) => parts.extend(self.run(class, place, &mut done)),
                None if region.exact => parts.push(told(&region.value)),
                None => match region.kind.filter(|kind| self.owns_kind(members, kind)) {
                    Some(kind) => {
                        done.extend(
                            members
                                .iter()
                                .filter(|&&member| self.regions[member].kind == Some(kind)),
                        );
                        parts.push(kind.to_owned());
                    }
                    None => parts.push(self.without(class, region)?),
                },
            }
        }
        Some(parts)
    }

    /// Whether all regions at a position belong to this case.
    fn owns(&self, class: usize, axis: Axis, position: i64) -> bool {
        let regions = self.at.get(&(axis as usize, position));
        regions.is_some_and(|regions| regions.iter().all(|&(owner, _)| owner == class))
    }

    /// Describes the consecutive positions around this one that belong to the case, in one or two
    /// parts.
    fn run(&self, class: usize, place: &RegionPlace, done: &mut FxHashSet<usize>) -> Vec<String> {
        let owned = |position: &i64| self.owns(class, place.axis, *position);
        let first =
            (i64::MIN..place.position).rev().take_while(owned).last().unwrap_or(place.position);
        let last = (place.position.saturating_add(1)..i64::MAX)
            .take_while(owned)
            .last()
            .unwrap_or(place.position);
        for position in first..=last {
            done.extend(
                self.at
                    .get(&(place.axis as usize, position))
                    .into_iter()
                    .flatten()
                    .map(|&(_, member)| member),
            );
        }
        let first = self.beyond(place.axis, (i64::MIN..first).rev()).unwrap_or(first);
        let last = self.beyond(place.axis, last.saturating_add(1)..i64::MAX).unwrap_or(last);
        let at = |position: i64| self.places.get(&(place.axis as usize, position));
        let (Some(first), Some(last)) = (at(first), at(last)) else { return Vec::new() };
        let prefix = if place.axis == Axis::Lengths { "length " } else { "" };
        let single = |place: &RegionPlace| place.low == place.high && place.low.is_some();
        if Some(last.position) == first.position.checked_add(1)
            && single(first)
            && single(last)
            && prefix.is_empty()
        {
            return vec![range(&first.low, &first.high), range(&last.low, &last.high)];
        }
        vec![format!("{prefix}{}", range(&first.low, &last.high))]
    }

    /// The last of these positions, if all of them are unused because nothing can be computed with
    /// their values. A range may extend over them, because the limits of numbers interest nobody.
    fn beyond(&self, axis: Axis, positions: impl Iterator<Item = i64>) -> Option<i64> {
        let mut last = None;
        for position in positions {
            if !self.places.contains_key(&(axis as usize, position)) {
                break;
            }
            if self.at.contains_key(&(axis as usize, position)) {
                return None;
            }
            last = Some(position);
        }
        last
    }

    /// Describes a position without the few values at it that other cases name.
    fn without(&self, class: usize, region: &ValueRegion) -> Option<String> {
        let place = region.places.first()?;
        let at = self.at.get(&(place.axis as usize, place.position))?;
        let (own, others): (Vec<_>, Vec<_>) = at.iter().partition(|&&(owner, _)| owner == class);
        let whole = own.iter().filter(|(_, member)| !self.regions[*member].exact).count() == 1;
        if !whole
            || others.len() > LISTED
            || !others.iter().all(|(_, member)| self.regions[*member].exact)
        {
            return None;
        }
        let prefix = if place.axis == Axis::Lengths { "length " } else { "" };
        let names: Vec<_> =
            others.iter().map(|(_, member)| told(&self.regions[*member].value)).collect();
        Some(format!("{prefix}{} but not {}", range(&place.low, &place.high), names.join(" or ")))
    }
}

fn joined(mut parts: Vec<String>) -> String {
    if let Some(more) = parts.len().checked_sub(LISTED).filter(|&more| more > 0) {
        parts.truncate(LISTED);
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

/// A value as YAML has it, and in quotes where it would read like another label, or like several.
fn told(value: &Value) -> String {
    let text = write_flow(value);
    let is_plain = value.as_str() == Some(&*text);
    let is_sign = |c: char| matches!(c, '≥' | '>' | '≤' | '<' | '…' | '|');
    let is_label = ["any", REST].contains(&&*text)
        || text.contains(is_sign)
        || ["like ", "length "].iter().any(|start| text.starts_with(start));
    if is_plain && is_label { format!("'{}'", text.replace('\'', "''")) } else { text }
}

fn range(low: &End, high: &End) -> String {
    match (low, high) {
        (None, None) => "any".into(),
        (Some((low, true)), None) => format!("≥ {low}"),
        (Some((low, false)), None) => format!("> {low}"),
        (None, Some((high, true))) => format!("≤ {high}"),
        (None, Some((high, false))) => format!("< {high}"),
        (Some((low, true)), Some((high, true))) if low == high => low.clone(),
        (Some((low, true)), Some((high, true))) => format!("{low} … {high}"),
        (low, high) => format!("{} and {}", range(low, &None), range(&None, high)),
    }
}
