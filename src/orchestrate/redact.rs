//! Rewrites service templates so that they tell no secrets. Everything else keeps its source text.

use super::instance::KeptSecrets;
use super::tree::{MapEntries, entries, for_each_entry, items, key_name, like};
use crate::topology::sensitive::{
    Area, SENSITIVE, Sensitivity, SlotForm, each_part, form, kept_secret,
};
use crate::tosca::secrecy::Secrecy;
use crate::tosca::{Family, Types};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, OutNode};

/// Hides the secrets of documents.
pub(crate) struct Redaction<'r, 't, 'a> {
    /// Which values are secret.
    pub(crate) secrets: &'r Sensitivity<'t, 'a>,
    /// What takes the place of a value of which this is secret; `None` if the value stays.
    pub(crate) hidden: &'r dyn Fn(&Value, &Secrecy) -> Option<Value>,
}

impl Redaction<'_, '_, '_> {
    /// The document without its secrets. Names of types have their meaning in `file`.
    pub(crate) fn of<'d>(&self, document: &Out<'d>, file: Option<FileId>) -> Out<'d> {
        let found = self.part((document, Area::DOCUMENT), &mut Vec::new(), file);
        found.unwrap_or_else(|| document.clone())
    }

    /// A part of the document without its secrets; `None` if it has none.
    fn part<'d>(
        &self,
        (out, area): (&Out<'d>, Area),
        path: &mut Vec<String>,
        file: Option<FileId>,
    ) -> Option<Out<'d>> {
        if area == Area::Structure {
            return None;
        }
        around(out, &mut |out| match area {
            Area::Secret => self.value(out, &Secrecy::Whole),
            Area::Free => self.value(out, &Secrecy::Open),
            area => match out {
                out if is_sequence(out) => {
                    each_item(out, &mut |item| self.part((item, area), path, file))
                }
                out => self.entries((out, area), path, file),
            },
        })
    }

    fn entries<'d>(
        &self,
        (out, area): (&Out<'d>, Area),
        path: &mut Vec<String>,
        file: Option<FileId>,
    ) -> Option<Out<'d>> {
        each_entry(out, &mut |name, value| {
            let is_step = !area.leaves_out(name);
            if is_step {
                path.push(name.to_owned());
            }
            let found = match area {
                Area::Slots => around(value, &mut |value| self.slot(value, path, file)),
                area => self.part((value, area.below(name)), path, file),
            };
            if is_step {
                path.pop();
            }
            found
        })
    }

    /// A slot without its secrets.
    fn slot<'d>(&self, out: &Out<'d>, path: &[String], file: Option<FileId>) -> Option<Out<'d>> {
        let value = OutNode::root(out).to_value();
        let secrecy = self.secrets.of_slot(path, &value, file);
        match form(path, &value) {
            SlotForm::Value => (self.hidden)(&value, &secrecy).map(Out::Value),
            SlotForm::Definition => self.definition(out, &secrecy),
        }
    }

    /// A definition without the secrets in its value and its default. Constraints that tell a
    /// secret are left out.
    fn definition<'d>(&self, out: &Out<'d>, secrecy: &Secrecy) -> Option<Out<'d>> {
        let (old, mut is_changed) = (entries(out), false);
        let mut new: MapEntries<'d> = Vec::with_capacity(old.len());
        for (key, value) in old {
            let found = match &*key_name(&key) {
                "default" | "value" => self.value(&value, secrecy),
                "description" | "metadata" => self.value(&value, &Secrecy::Open),
                "constraints" if self.value(&value, &Secrecy::Open).is_some() => {
                    is_changed = true;
                    continue;
                }
                _ => None,
            };
            is_changed |= found.is_some();
            new.push((key, found.unwrap_or(value)));
        }
        is_changed.then(|| like(out, new))
    }

    fn value<'d>(&self, out: &Out<'d>, secrecy: &Secrecy) -> Option<Out<'d>> {
        around(out, &mut |out| {
            (self.hidden)(&OutNode::root(out).to_value(), secrecy).map(Out::Value)
        })
    }
}

/// Calls `found` with each literal of a document that is secret, and with what is secret of it.
/// `is_asked` tells for a path whether the slot there counts.
fn each_secret(
    document: OutNode<'_, '_>,
    secrets: &Sensitivity<'_, '_>,
    file: Option<FileId>,
    is_asked: &dyn Fn(&[String]) -> bool,
    found: &mut dyn FnMut(OutNode<'_, '_>, &Secrecy),
) {
    each_part((document, Area::DOCUMENT), &mut Vec::new(), &|_| true, &mut |area, path, node| {
        match area {
            Area::Slots if is_asked(path) => {
                let value = node.to_value();
                let secrecy = secrets.of_slot(path, &value, file);
                match form(path, &value) {
                    _ if secrecy.is_open() => {}
                    SlotForm::Value => found(node, &secrecy),
                    SlotForm::Definition => ["default", "value"]
                        .into_iter()
                        .filter_map(|key| node.get(key))
                        .for_each(|node| found(node, &secrecy)),
                }
            }
            Area::Secret => found(node, &Secrecy::Whole),
            _ => {}
        }
    });
}

/// Learns the secrets that stand in types, and in a template.
pub(crate) fn learn_written(
    secrets: &mut KeptSecrets,
    sensitivity: &Sensitivity<'_, '_>,
    types: &Types<'_>,
    written: &Out<'_>,
) {
    let mut learn = |node: OutNode<'_, '_>, secrecy: &Secrecy| {
        secrets.learned(&node.to_value(), secrecy, sensitivity.data());
    };
    let is_of_type =
        |path: &[String]| path.first().is_some_and(|it| Family::of_keyword(it).is_some());
    for document in types.documents() {
        let (out, file) = (Out::Source(document.root()), Some(document.file()));
        each_secret(OutNode::root(&out), sensitivity, file, &is_of_type, &mut learn);
    }
    each_secret(OutNode::root(written), sensitivity, None, &|_| true, &mut learn);
}

/// The document without marks of secrets. A secret is shown as it is kept, or hidden.
pub(crate) fn unmarked<'d>(document: &Out<'d>, reveal: bool) -> Out<'d> {
    marks(document, reveal).unwrap_or_else(|| document.clone())
}

fn marks<'d>(out: &Out<'d>, reveal: bool) -> Option<Out<'d>> {
    around(out, &mut |out| {
        let node = OutNode::root(out);
        if node.kind() == NodeKind::Scalar {
            return None;
        }
        if is_sequence(out) {
            return each_item(out, &mut |item| marks(item, reveal));
        }
        let is_mark = node.get("$sensitive").is_some();
        let value = is_mark.then(|| node.to_value());
        match value.as_ref().and_then(kept_secret) {
            Some(kept) if reveal => Some(Out::Value(kept.clone())),
            Some(_) => Some(Out::String(SENSITIVE.into())),
            None => each_entry(out, &mut |_, value| marks(value, reveal)),
        }
    })
}

/// Calls `change` with what is written at a place, or with each of the alternatives there.
fn around<'d>(
    out: &Out<'d>,
    change: &mut dyn FnMut(&Out<'d>) -> Option<Out<'d>>,
) -> Option<Out<'d>> {
    match out {
        Out::Lifted(key, inner) => Some(Out::Lifted(*key, Box::new(around(inner, change)?))),
        Out::Below(gone, inner) => Some(Out::Below(gone.clone(), Box::new(around(inner, change)?))),
        Out::Cases(cases) => {
            let new: Vec<_> = cases.iter().map(|(_, out)| around(out, change)).collect();
            new.iter().any(Option::is_some).then(|| {
                let cases = cases.iter().zip(new);
                let case = |((when, old), new): (&(u32, Out<'d>), Option<_>)| {
                    (*when, new.unwrap_or_else(|| old.clone()))
                };
                Out::Cases(cases.map(case).collect())
            })
        }
        Out::Later(_) => None,
        out => change(out),
    }
}

fn is_sequence(out: &Out<'_>) -> bool {
    matches!(out, Out::Seq { .. }) || OutNode::root(out).kind() == NodeKind::Sequence
}

fn each_item<'d>(
    out: &Out<'d>,
    change: &mut dyn FnMut(&Out<'d>) -> Option<Out<'d>>,
) -> Option<Out<'d>> {
    let sources = match out {
        Out::Seq { items, .. } => items.iter().map(|(of, _)| *of).collect(),
        _ => Vec::new(),
    };
    let old = items(out);
    let new: Vec<_> = old.iter().map(&mut *change).collect();
    new.iter().any(Option::is_some).then(|| {
        let sources = sources.into_iter().chain(std::iter::repeat(None));
        let items = old.into_iter().zip(new).zip(sources);
        let items = items.map(|((old, new), of)| (of, new.unwrap_or(old)));
        let style = match out {
            Out::Source(node) => Some(*node),
            Out::Seq { like, .. } => *like,
            _ => None,
        };
        Out::Seq { items: items.collect(), like: style }
    })
}

fn each_entry<'d>(
    out: &Out<'d>,
    change: &mut dyn FnMut(&str, &Out<'d>) -> Option<Out<'d>>,
) -> Option<Out<'d>> {
    let (mut at, mut changed) = (0, Vec::new());
    for_each_entry(out, &mut |key, value| {
        changed.extend(change(&key_name(key), value).map(|new| (at, new)));
        at += 1;
    });
    // Most maps stay as they are.
    (!changed.is_empty()).then(|| {
        let mut all = entries(out);
        for (at, new) in changed {
            all[at].1 = new;
        }
        like(out, all)
    })
}
