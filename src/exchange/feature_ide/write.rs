//! Writes feature models for FeatureIDE.

use super::super::model::{
    Feature, FeatureGroup, FeatureId, FeatureModel, FeatureStep, FeatureType, GroupKind,
    Proposition,
};
use cuvee_text::xml::XmlText;
use std::fmt::Write;

impl FeatureModel {
    /// The model in the format of FeatureIDE; notes are comments above it.
    ///
    /// There, a feature has only one group. If it has several here, all its children become
    /// optional or mandatory, and the demands of `or` and `alternative` groups become rules.
    /// Features with values are left out, because the format has none.
    pub fn to_feature_ide(&self) -> String {
        let mut out =
            String::from("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
        let values = self.features.iter().filter(|feature| feature.kind != FeatureType::Boolean);
        let left_out =
            values.map(|feature| format!("`{}` is left out: it has a value", feature.name));
        for note in self.notes.iter().cloned().chain(left_out) {
            push(&mut out, format_args!("<!-- {} -->\n", comment(&note)));
        }
        out.push_str("<featureModel>\n\t<struct>\n");
        self.walk(|step| match step {
            FeatureStep::Feature { feature, depth, group } => {
                self.push_start(&mut out, feature, depth, group)
            }
            FeatureStep::Group { .. } => {}
            FeatureStep::End { feature, depth } => self.push_end(&mut out, feature, depth),
        });
        out.push_str("\t</struct>\n");
        let mut rules: Vec<Proposition> = Vec::new();
        for (id, feature) in self.features() {
            rules.extend(self.groups_as_rules(id, feature));
        }
        rules.extend(self.constraints.iter().cloned());
        if !rules.is_empty() {
            out.push_str("\t<constraints>\n");
            for rule in &rules {
                out.push_str("\t\t<rule>\n");
                self.push_rule(&mut out, rule, 3);
                out.push_str("\t\t</rule>\n");
            }
            out.push_str("\t</constraints>\n");
        }
        out.push_str("</featureModel>\n");
        out
    }

    fn push_start(
        &self,
        out: &mut String,
        feature: &Feature,
        depth: usize,
        group: Option<GroupKind>,
    ) {
        if feature.kind != FeatureType::Boolean {
            return;
        }
        indent(out, depth + 2);
        push(out, format_args!("<{}", self.element(feature)));
        if feature.is_abstract {
            out.push_str(" abstract=\"true\"");
        }
        if matches!(group, None | Some(GroupKind::Mandatory)) {
            out.push_str(" mandatory=\"true\"");
        }
        push(out, format_args!(" name=\"{}\"", XmlText(&feature.name)));
        if self.is_empty(feature) {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        if let Some(description) = &feature.description {
            indent(out, depth + 3);
            push(out, format_args!("<description>{}</description>\n", XmlText(description)));
        }
    }

    fn push_end(&self, out: &mut String, feature: &Feature, depth: usize) {
        if feature.kind == FeatureType::Boolean && !self.is_empty(feature) {
            indent(out, depth + 2);
            push(out, format_args!("</{}>\n", self.element(feature)));
        }
    }

    /// The element of a feature, which depends on its only group or on whether it has children.
    fn element(&self, feature: &Feature) -> &'static str {
        match &feature.groups[..] {
            [FeatureGroup { kind: GroupKind::Or, .. }] => "or",
            [FeatureGroup { kind: GroupKind::Alternative, .. }] => "alt",
            _ if self.children(feature).next().is_none() => "feature",
            _ => "and",
        }
    }

    fn is_empty(&self, feature: &Feature) -> bool {
        feature.description.is_none() && self.children(feature).next().is_none()
    }

    fn children<'m>(&'m self, feature: &'m Feature) -> impl Iterator<Item = FeatureId> + 'm {
        let members = feature.groups.iter().flat_map(|group| group.members.iter().copied());
        members
            .filter(|&id| self.feature(id).is_some_and(|child| child.kind == FeatureType::Boolean))
    }

    /// The rules for the groups of a feature with several groups, beyond the meaning of `and`.
    fn groups_as_rules(&self, id: FeatureId, feature: &Feature) -> Vec<Proposition> {
        if feature.groups.len() < 2 {
            return Vec::new();
        }
        let demand = |group: &FeatureGroup| {
            let members: Vec<_> =
                group.members.iter().map(|&member| Proposition::Feature(member)).collect();
            let demanded = match group.kind {
                GroupKind::Or => Proposition::or(members),
                GroupKind::Alternative => Proposition::exactly_one(members),
                GroupKind::Mandatory | GroupKind::Optional => return None,
            };
            Some(Proposition::Feature(id).implies(demanded))
        };
        feature.groups.iter().filter_map(demand).collect()
    }

    fn push_rule(&self, out: &mut String, rule: &Proposition, depth: usize) {
        let element = match rule {
            Proposition::Feature(id) => {
                let name = self.feature(*id).map_or("", |feature| &feature.name);
                indent(out, depth);
                push(out, format_args!("<var>{}</var>\n", XmlText(name)));
                return;
            }
            // The format has no constants, but the root is always selected.
            Proposition::Constant(value) => {
                let root = Proposition::Feature(self.root());
                let pair = vec![root.clone(), !root];
                return self.push_rule(
                    out,
                    &if *value { Proposition::Or(pair) } else { Proposition::And(pair) },
                    depth,
                );
            }
            Proposition::Not(_) => "not",
            Proposition::And(_) => "conj",
            Proposition::Or(_) => "disj",
            Proposition::AtMostOne(_) => "atmost1",
            Proposition::Implies(_) => "imp",
            Proposition::Iff(_) => "eq",
        };
        indent(out, depth);
        push(out, format_args!("<{element}>\n"));
        rule.operands().iter().for_each(|operand| self.push_rule(out, operand, depth + 1));
        indent(out, depth);
        push(out, format_args!("</{element}>\n"));
    }
}

/// Writes indentation, but with a limit, because a deep tree would consist mostly of indentation.
fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n('\t', depth.min(64)));
}

/// Writing to a string does not fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// A text for a comment, which two hyphens would end.
fn comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '-' && out.ends_with('-') {
            out.push(' ');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}
