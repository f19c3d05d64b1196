//! Gives other names to types that have the name of a built-in type of the other version.

use super::supplied::{built_in, is_definition};
use super::{Converter, TargetVersion};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::types::{ROOTS, TypeId, Types, profile};
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use cuvee_text::yaml::{Node, OutKey};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Whether version 1.3 has this type built in without a definition.
fn is_primitive(family: Family, name: &str) -> bool {
    let primitive = Primitive::from_name(name).filter(|it| it.name() == name);
    primitive.is_some() && family == Family::Data
}

/// The new names of all types that get one.
pub(crate) fn renamed_types(types: &Types<'_>, to: TargetVersion) -> FxHashMap<TypeId, String> {
    let places = || types.ids().map(|id| (id, types.place(id)));
    let own = places().filter(|(_, (.., body))| {
        let document = body.document();
        let is_written = v2_0::is_of(document) == (to == TargetVersion::Simple);
        is_written && !profile::is_built_in(document.file())
    });
    let taken = own.filter_map(|(id, (family, key, body))| {
        let name = key.text()?;
        is_taken(to, family, name, body).then_some((id, family, name))
    });
    let mut taken: Vec<_> = taken.collect();
    // Whoever defines the roots defines all that derives from them.
    let is_root = |root: &(Family, &str)| taken.iter().any(|it| (it.1, it.2) == *root);
    if ROOTS.iter().all(is_root) {
        taken.retain(|(_, family, name)| is_primitive(*family, name));
    }
    if taken.is_empty() {
        return FxHashMap::default();
    }
    let known = places().filter_map(|(_, (family, key, _))| Some((family, key.text()?.into())));
    let mut known: FxHashSet<(Family, String)> = known.collect();
    let version = if to == TargetVersion::Two { "1_3" } else { "2_0" };
    let renamed = taken.into_iter().map(|(id, family, name)| {
        let mut new = format!("{name}_{version}");
        while !known.insert((family, new.clone())) {
            new.push('_');
        }
        (id, new)
    });
    renamed.collect()
}

/// Whether the other version has another type of this name built in.
fn is_taken(to: TargetVersion, family: Family, name: &str, body: Node<'_>) -> bool {
    match to {
        TargetVersion::Two => family == Family::Data && Primitive::of_2_0(name).is_some(),
        TargetVersion::Simple => {
            let normative = built_in().find(family, name);
            let is_normative = normative.is_some_and(|id| built_in().definition(id).name == name);
            let is_taken = is_normative || is_primitive(family, name);
            is_taken && !is_definition(family, name, body)
        }
    }
}

impl<'t, 'a> Converter<'t, 'a> {
    /// The other name of a type, where it gets one. That of a reference may have a prefix, and may be
    /// one of the other names that types of a profile have in version 1.3.
    pub(super) fn renamed(&self, id: TypeId, name: &str) -> Option<String> {
        let own = self.context.types.definition(id).name;
        let new = self.context.renamed.get(&id);
        match (name.strip_suffix(own), new) {
            (Some(prefix), _) => new.map(|new| format!("{prefix}{new}")),
            (None, Some(new)) => Some(new.clone()),
            (None, None) => self.context.types.name_in(self.file(), id).map(Cow::into_owned),
        }
    }

    /// The key of a type, by the name that it has in the other version.
    pub(super) fn key_of_type(&mut self, key: Node<'a>, family: Family) -> OutKey<'a> {
        let name = key.text().unwrap_or_default();
        let id = self.context.types.find_in(self.file(), family, name);
        let Some(new) = id.and_then(|id| self.renamed(id, name)) else {
            return OutKey::Source(key);
        };
        let why =
            format!("the other version has a type of this name itself, so it becomes `{new}`");
        let construct = format!("the name of the {} `{name}`", family.noun());
        self.report(LossKind::Lost, key, &construct, &why);
        OutKey::Renamed(key, new.into())
    }
}
