//! What of a value is secret, and how types say so: by the metadata of definitions and of types, by
//! names, and because a value is a credential or contains one.

use super::sensitive::is_sensitive_name;
use super::types::{Family, PropertyDefinition, TypeId, Types};
use super::value::{Primitive, Schema};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names whose values are secret: those that always are, and those that somebody has added.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretNames {
    /// Further parts of names, in lower case.
    added: Vec<String>,
}

impl SecretNames {
    /// The names that contain one of these parts, in any case, beside those that always count.
    pub(crate) fn with<P: AsRef<str>>(added: impl IntoIterator<Item = P>) -> Self {
        let added = added.into_iter().map(|part| part.as_ref().to_ascii_lowercase());
        Self { added: added.filter(|part| !part.is_empty()).collect() }
    }

    /// Whether a value of this name is secret if nothing else is said of it.
    pub(crate) fn has(&self, name: &str) -> bool {
        is_sensitive_name(name) || self.adds(name)
    }

    /// Whether somebody has asked for values of this name to be secret, whatever is said of them.
    pub(crate) fn adds(&self, name: &str) -> bool {
        let is_added = || {
            let lower = name.to_ascii_lowercase();
            self.added.iter().any(|part| lower.contains(part))
        };
        !self.added.is_empty() && is_added()
    }
}

/// The length from which a secret tells anything elsewhere. Shorter ones occur in many values by
/// chance.
pub(crate) const TELLING: usize = 4;

/// Calls `found` with the text of each scalar in a secret value that tells something elsewhere.
pub(crate) fn telling_texts(value: &Value, found: &mut dyn FnMut(String)) {
    match value {
        // Whether something is there tells no secret.
        Value::Null | Value::Bool(_) => {}
        Value::List(items) => items.iter().for_each(|item| telling_texts(item, found)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| telling_texts(value, found)),
        scalar => {
            let text = scalar.to_string();
            if text.len() >= TELLING {
                found(text);
            }
        }
    }
}

/// The names that always are secret, and no others.
pub(crate) static USUAL_NAMES: SecretNames = SecretNames { added: Vec::new() };

/// What of a value is secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Nothing that is known here. Entries of maps may still have names that are secret.
    #[default]
    Open,
    /// Some of its parts.
    Parts(Arc<SecretParts>),
    /// What is secret in values of this data type.
    Data(SecretDataIndex),
    /// All of it, because it is computed from what is secret. The functions themselves are not.
    Computed,
    /// All of it, with all literals in its functions.
    Whole,
}

/// The parts of a value that are secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SecretParts {
    /// Entries by name. One that is [`Secrecy::Open`] is not secret, whatever its name.
    pub(crate) named: BTreeMap<Arc<str>, Secrecy>,
    /// All items of a list, and all other entries of a map.
    pub(crate) each: Secrecy,
}

/// A position in [`SecretData`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SecretDataIndex(pub(crate) u32);

/// For each data type with secrets, which parts of its values are secret. A type may contain
/// itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SecretData(pub(crate) Vec<SecretParts>);

impl SecretData {
    /// What is secret of the parts of a value; `None` if the value has no parts that are known.
    pub(crate) fn parts<'s>(&'s self, secrecy: &'s Secrecy) -> Option<&'s SecretParts> {
        match secrecy {
            Secrecy::Parts(parts) => Some(parts),
            Secrecy::Data(index) => self.0.get(index.0 as usize),
            Secrecy::Open | Secrecy::Computed | Secrecy::Whole => None,
        }
    }

    /// What is secret of the part of a value that has this name or position; `None` if only its
    /// name says.
    pub(crate) fn part<'s>(&'s self, secrecy: &'s Secrecy, step: &str) -> Option<&'s Secrecy> {
        match secrecy {
            Secrecy::Computed | Secrecy::Whole => Some(secrecy),
            _ => {
                let parts = self.parts(secrecy)?;
                let each = Some(&parts.each).filter(|each| !each.is_open());
                parts.named.get(step).or(each)
            }
        }
    }

    /// What is secret of the part of a value at a path.
    pub(crate) fn at<'p>(
        &self,
        secrecy: &Secrecy,
        path: impl IntoIterator<Item = &'p str>,
        names: &SecretNames,
    ) -> Secrecy {
        let mut found = secrecy.clone();
        for step in path {
            found = match self.part(&found, step) {
                Some(part) => part.clone(),
                None if names.has(step) => Secrecy::Whole,
                None => Secrecy::Open,
            };
        }
        found
    }

    /// What is secret by one reason or another.
    pub(crate) fn either(&self, one: Secrecy, other: Secrecy) -> Secrecy {
        let (one, other) = match (one, other) {
            (Secrecy::Whole, _) | (_, Secrecy::Whole) => return Secrecy::Whole,
            (Secrecy::Computed, _) | (_, Secrecy::Computed) => return Secrecy::Computed,
            (Secrecy::Open, other) => return other,
            (one, Secrecy::Open) => return one,
            (one, other) if one == other => return one,
            both => both,
        };
        let none = SecretParts::default();
        let mut parts = self.parts(&one).unwrap_or(&none).clone();
        let more = self.parts(&other).unwrap_or(&none);
        for (name, part) in &more.named {
            let known = parts.named.remove(name).unwrap_or_default();
            parts.named.insert(Arc::clone(name), self.either(known, part.clone()));
        }
        parts.each = self.either(std::mem::take(&mut parts.each), more.each.clone());
        parts.secrecy()
    }
}

impl Secrecy {
    /// Whether nothing is secret as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::Open
    }

    /// All of a value, or nothing.
    pub(crate) fn whole(is_secret: bool) -> Self {
        if is_secret { Self::Whole } else { Self::Open }
    }
}

impl SecretParts {
    /// The parts as what is secret of a value.
    pub(crate) fn secrecy(self) -> Secrecy {
        match self == Self::default() {
            true => Secrecy::Open,
            false => Secrecy::Parts(Arc::new(self)),
        }
    }

    /// What is secret of a list or map in which this is secret of every item or entry.
    pub(crate) fn of_each(each: Secrecy) -> Secrecy {
        Self { each, ..Self::default() }.secrecy()
    }
}

/// What types declare as secret.
pub(crate) struct DeclaredSecrets<'t, 'a> {
    types: &'t Types<'a>,
    names: SecretNames,
    data: OnceCell<DeclaredData>,
    /// Results so far, by the addresses of definitions, which stay where they are.
    known: RecentSecrecies,
}

type RecentSecrecies = RefCell<FxHashMap<usize, Secrecy>>;

/// The secrets of data types.
#[derive(Default)]
struct DeclaredData {
    parts: SecretData,
    of: FxHashMap<TypeId, Secrecy>,
    /// The parts of types that are secret as a whole, where a definition says that they are not.
    within: FxHashMap<TypeId, Secrecy>,
}

impl<'t, 'a> DeclaredSecrets<'t, 'a> {
    pub(crate) fn new(types: &'t Types<'a>, names: SecretNames) -> Self {
        Self { types, names, data: OnceCell::new(), known: RefCell::default() }
    }

    /// The types.
    pub(crate) fn types(&self) -> &'t Types<'a> {
        self.types
    }

    /// The names whose values are secret.
    pub(crate) fn names(&self) -> &SecretNames {
        &self.names
    }

    /// What is secret in values of data types.
    pub(crate) fn data(&self) -> &SecretData {
        &self.declared().parts
    }

    /// What is secret of values of a property, attribute or parameter.
    pub(crate) fn definition(&self, definition: &'t PropertyDefinition<'a>) -> Secrecy {
        let key = std::ptr::from_ref(definition) as usize;
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.judged(definition);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    /// As [`DeclaredSecrets::definition`], for a definition that does not stay where it is.
    pub(crate) fn judged(&self, definition: &PropertyDefinition<'_>) -> Secrecy {
        let name = definition.named.name;
        if self.names.adds(name) || definition.is_sensitive() {
            return Secrecy::Whole;
        }
        self.schema(&definition.schema, definition.sensitive.is_some())
    }

    /// What is secret of values of a type by its name in a file, of whose entries `each` is secret.
    /// `is_public` is whether they are said not to be secret as a whole.
    pub(crate) fn of_type(
        &self,
        (file, name): (Option<FileId>, &str),
        each: Secrecy,
        is_public: bool,
    ) -> Secrecy {
        let is_plain = name.is_empty() || Primitive::from_name(name).is_some();
        if is_plain {
            return SecretParts::of_each(each);
        }
        let id = self.types.find_in(file, Family::Data, name);
        let id = id.or_else(|| self.types.find(Family::Data, name));
        let own = id.and_then(|id| {
            let declared = self.declared();
            let within = declared.within.get(&id).filter(|_| is_public);
            within.or_else(|| declared.of.get(&id)).cloned()
        });
        let own = own.unwrap_or_default();
        match each {
            Secrecy::Open => own,
            each => self.declared().parts.either(own, SecretParts::of_each(each)),
        }
    }

    fn schema(&self, schema: &Schema<'_>, is_public: bool) -> Secrecy {
        let each = schema.entry_schema.as_deref();
        let each = each.map(|entry| self.schema(entry, false)).unwrap_or_default();
        self.of_type((schema.file(), schema.type_name), each, is_public)
    }

    fn declared(&self) -> &DeclaredData {
        self.data.get_or_init(|| DataMaker::of(self.types, &self.names).made())
    }
}

/// Finds the secrets of data types, which may contain each other in circles.
struct DataMaker<'t, 'a, 'n> {
    types: &'t Types<'a>,
    names: &'n SecretNames,
    ids: Vec<TypeId>,
    positions: FxHashMap<TypeId, usize>,
    /// For each type the parts of its values. Types are named by their positions among all.
    parts: Vec<SecretParts>,
    /// Whether values of each type are secret as a whole.
    is_whole: Vec<bool>,
}

impl<'t, 'a, 'n> DataMaker<'t, 'a, 'n> {
    fn of(types: &'t Types<'a>, names: &'n SecretNames) -> Self {
        let is_data = |id: &TypeId| types.definition(*id).family == Family::Data;
        let ids: Vec<_> = types.ids().filter(is_data).collect();
        let positions = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let is_whole = ids.iter().map(|id| types.is_secret_data(*id)).collect();
        let mut maker = Self { types, names, ids, positions, parts: Vec::new(), is_whole };
        maker.parts = maker.ids.iter().map(|id| maker.own_parts(*id)).collect();
        maker
    }

    /// The parts of values of a type, with all data types in them.
    fn own_parts(&self, id: TypeId) -> SecretParts {
        let effective = self.types.effective(id);
        let fields = effective.properties.iter().map(|(name, part)| {
            let definition = &part.definition;
            let is_secret = self.names.adds(name) || definition.is_sensitive();
            let is_public = definition.sensitive.is_some();
            let of_type = || self.schema(&definition.schema, is_public);
            let secrecy = if is_secret { Secrecy::Whole } else { of_type() };
            (Arc::from(*name), secrecy)
        });
        let named = fields.collect();
        let each = effective.schema.entry_schema.as_deref();
        SecretParts { named, each: each.map(|it| self.schema(it, false)).unwrap_or_default() }
    }

    fn schema(&self, schema: &Schema<'_>, is_public: bool) -> Secrecy {
        let id = self.types.find_in(schema.file(), Family::Data, schema.type_name);
        let at = id.and_then(|id| self.positions.get(&id)).copied();
        let own = match at {
            Some(at) if self.is_whole[at] && !is_public => Secrecy::Whole,
            Some(at) => Secrecy::Data(SecretDataIndex(at as u32)),
            None => Secrecy::Open,
        };
        let each = schema.entry_schema.as_deref().map(|it| self.schema(it, false));
        match (own, each.unwrap_or_default()) {
            (Secrecy::Whole, _) => Secrecy::Whole,
            (own, Secrecy::Open) => own,
            // A schema that names the type of entries is one of lists or maps.
            (_, each) => SecretParts::of_each(each),
        }
    }

    /// For each type whether values of it contain secrets.
    fn holding(&self) -> Vec<bool> {
        let mut users = vec![Vec::new(); self.parts.len()];
        let mut holds = vec![false; self.parts.len()];
        for (at, parts) in self.parts.iter().enumerate() {
            each_of(parts, &mut |secrecy| match secrecy {
                Secrecy::Data(used) => users[used.0 as usize].push(at),
                Secrecy::Open | Secrecy::Parts(_) => {}
                Secrecy::Computed | Secrecy::Whole => holds[at] = true,
            });
        }
        let mut open: Vec<_> = (0..holds.len()).filter(|at| holds[*at]).collect();
        while let Some(used) = open.pop() {
            for &user in &users[used] {
                if !std::mem::replace(&mut holds[user], true) {
                    open.push(user);
                }
            }
        }
        holds
    }

    fn made(self) -> DeclaredData {
        let holds = self.holding();
        let mut count = 0;
        let places: Vec<_> = holds
            .iter()
            .map(|&holds| {
                count += u32::from(holds);
                holds.then(|| SecretDataIndex(count - 1))
            })
            .collect();
        let mut made = DeclaredData::default();
        for (at, id) in self.ids.iter().enumerate() {
            if places[at].is_some() {
                made.parts.0.push(placed(&self.parts[at], &places, self.names));
            }
            let within = places[at].map_or(Secrecy::Open, Secrecy::Data);
            match self.is_whole[at] {
                true => {
                    made.of.insert(*id, Secrecy::Whole);
                    made.within.insert(*id, within);
                }
                false if within.is_open() => {}
                false => drop(made.of.insert(*id, within)),
            }
        }
        made
    }
}

/// Calls `found` with what is secret of each part, and of the parts of that.
fn each_of(parts: &SecretParts, found: &mut dyn FnMut(&Secrecy)) {
    for secrecy in parts.named.values().chain([&parts.each]) {
        found(secrecy);
        if let Secrecy::Parts(parts) = secrecy {
            each_of(parts, found);
        }
    }
}

/// Parts in which types have their final places, and those without secrets are left out.
fn placed(
    parts: &SecretParts,
    places: &[Option<SecretDataIndex>],
    names: &SecretNames,
) -> SecretParts {
    let of = |secrecy: &Secrecy| match secrecy {
        Secrecy::Data(at) => places[at.0 as usize].map_or(Secrecy::Open, Secrecy::Data),
        Secrecy::Parts(parts) => placed(parts, places, names).secrecy(),
        other => other.clone(),
    };
    let named = parts.named.iter().map(|(name, secrecy)| (Arc::clone(name), of(secrecy)));
    // That a part is not secret need only be said where its name would make it so.
    let named = named.filter(|(name, secrecy)| !secrecy.is_open() || names.has(name));
    SecretParts { named: named.collect(), each: of(&parts.each) }
}
