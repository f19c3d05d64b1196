//! Rewrites the expressions of a template whose nodes are repeated: each node knows its index, and
//! paths lead to one of the nodes or to all of them.

use super::known::Indices;
use super::{Representing, whole};
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0};
use crate::orchestrate::representation;
use crate::orchestrate::substitute::view::{key_span, listed};
use crate::orchestrate::tree::{entries, items, key_name, like, like_list};
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, OutKey, OutNode};

/// The functions whose arguments are a path.
const OF_PATHS: [&str; 4] =
    ["get_property", "get_attribute", "get_artifact", "available_allocation"];

/// What the first steps of a path lead to.
enum PathStart {
    /// The node of this index; this many further steps are used up.
    One(u64, usize),
    /// All nodes.
    All,
}

impl Representing<'_, '_> {
    /// A value, rewritten for its new place.
    pub(super) fn value<'a>(&self, out: &Out<'a>, at: Indices) -> Out<'a> {
        self.changed(out, at).unwrap_or_else(|| out.clone())
    }

    /// The rewritten value, if it differs from the old one.
    fn changed<'a>(&self, out: &Out<'a>, at: Indices) -> Option<Out<'a>> {
        match out {
            Out::Lifted(key, inner) => Some(Out::Lifted(*key, Box::new(self.changed(inner, at)?))),
            Out::Below(gone, inner) => {
                Some(Out::Below(gone.clone(), Box::new(self.changed(inner, at)?)))
            }
            Out::Noted(note, inner) => {
                Some(Out::Noted(note.clone(), Box::new(self.changed(inner, at)?)))
            }
            Out::Later(_) | Out::Cases(_) => None,
            _ => match OutNode::root(out).kind() {
                NodeKind::Scalar => {
                    let text = OutNode::root(out).text()?;
                    index_function(v2_0::function_name(&text)?, at)
                }
                NodeKind::Sequence => self.changed_list(out, at),
                NodeKind::Mapping => self.changed_map(out, at),
            },
        }
    }

    fn changed_list<'a>(&self, out: &Out<'a>, at: Indices) -> Option<Out<'a>> {
        let mut is_changed = false;
        let all = listed(out).into_iter().map(|(owner, item)| {
            let changed = self.changed(&item, at);
            is_changed |= changed.is_some();
            (owner, changed.unwrap_or(item))
        });
        let all: Vec<_> = all.collect();
        is_changed.then(|| like_list(out, all))
    }

    fn changed_map<'a>(&self, out: &Out<'a>, at: Indices) -> Option<Out<'a>> {
        let mut all = entries(out);
        if let [(key, arguments)] = &*all
            && let Some(function) = v2_0::function_name(&key_name(key))
        {
            let own = index_function(function, at);
            let decided = own.or_else(|| self.decided(out, at));
            if decided.is_some() {
                return decided;
            }
            if OF_PATHS.contains(&function)
                && let Some(call) = self.path(key, arguments, at)
            {
                return Some(call);
            }
        }
        let mut is_changed = false;
        for (key, value) in &mut all {
            // Descriptions and metadata are for people and contain no functions.
            if matches!(&*key_name(key), "description" | "metadata") {
                continue;
            }
            if let Some(changed) = self.changed(value, at) {
                (*value, is_changed) = (changed, true);
            }
        }
        is_changed.then(|| like(out, all))
    }

    /// The value of a call in a node or a relation of which the index is known.
    fn decided<'a>(&self, call: &Out<'a>, at: Indices) -> Option<Out<'a>> {
        let has_index = at.node.or(at.relationship).is_some();
        (self.evaluates && has_index && !at.is_in_workflow).then_some(())?;
        // Calls that have no value are reported where they are checked.
        self.known.value(call, at).ok().flatten().map(Out::Value)
    }

    /// A call with a path that starts at a template with a count.
    pub(super) fn path<'a>(
        &self,
        key: &OutKey<'a>,
        arguments: &Out<'a>,
        at: Indices,
    ) -> Option<Out<'a>> {
        let steps = items(arguments);
        let (first, rest) = steps.split_first()?;
        let template = OutNode::root(first).text()?.into_owned();
        let count = self.counts.get(&template)?;
        let place = match OutNode::root(arguments).span() {
            span if span.is_detached() => key_span(key),
            span => span,
        };
        let call = |node: u64, used: usize| {
            let name = Out::String(representation(&template, node).into());
            let rest = rest.iter().skip(used).map(|step| self.value(step, at));
            let path = std::iter::once(name).chain(rest).map(|step| (None, step)).collect();
            let entries = vec![(key.clone(), like_list(arguments, path))];
            Out::Map { entries: entries.into(), like: None }
        };
        match self.start(rest, at) {
            Some(PathStart::One(node, used)) if node < count => Some(call(node, used)),
            Some(PathStart::One(node, _)) => {
                self.lacks(&template, node, count, place);
                None
            }
            Some(PathStart::All) => {
                let calls = (0..count).map(|node| (None, call(node, 1))).collect();
                let all = Out::Seq { items: calls, like: None };
                // Several lists become one.
                let is_all = |step: &Out<'a>| OutNode::root(step).text().as_deref() == Some("ALL");
                Some(match rest.iter().skip(1).any(is_all) && count > 0 {
                    true => Out::Map {
                        entries: [(OutKey::New("$concat".into()), all)].into(),
                        like: None,
                    },
                    false => all,
                })
            }
            None => {
                let message = format!(
                    "which of the nodes of `{template}` is meant is not known before deployment"
                );
                self.dangles(message, place, "give the inputs of the index a value");
                None
            }
        }
    }

    /// Where a path behind the name of a template starts. Without an index it is the first node.
    fn start(&self, rest: &[Out<'_>], at: Indices) -> Option<PathStart> {
        let Some(step) = rest.first() else { return Some(PathStart::One(0, 0)) };
        if OutNode::root(step).text().as_deref() == Some("ALL") {
            return Some(PathStart::All);
        }
        let written = OutNode::root(step).to_value();
        let is_call = match &written {
            Value::String(text) => v2_0::function_name(text).is_some(),
            Value::Map(_) => true,
            _ => false,
        };
        if !is_call {
            let number = whole(&written);
            return Some(PathStart::One(number.unwrap_or(0), usize::from(number.is_some())));
        }
        let at = Indices { node: at.node.or(Some(0)), ..at };
        let value = self.known.value(step, at).ok().flatten()?;
        Some(PathStart::One(whole(&value)?, 1))
    }

    fn lacks(&self, template: &str, node: u64, count: u64, place: Span) {
        let message =
            format!("`{template}` has no node of the index {node}: its `count` is {count}");
        self.dangles(message, place, "name one that exists, or raise the `count`");
    }

    fn dangles(&self, message: String, place: Span, help: &'static str) {
        let error = Diagnostic::error(Code::DanglingReference, message);
        let error = if place.is_detached() { error } else { error.at(place) };
        let error = error.rule(Rule::new(&TOSCA_2_0, "10.3")).help(help);
        self.found.borrow_mut().push(error);
    }
}

/// The index that a function asks for.
fn index_function<'a>(function: &str, at: Indices) -> Option<Out<'a>> {
    let index = match function {
        "node_index" => at.node?,
        "relationship_index" => at.relationship?,
        _ => return None,
    };
    Some(Out::Value(i64::try_from(index).ok()?.into()))
}
