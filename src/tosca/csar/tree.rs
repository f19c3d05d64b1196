//! Collects the entries of an archive, and refuses those that contradict each other.

use super::name;
use std::collections::BTreeMap;

/// The position of each entry in its archive, by its name. A directory has `None`.
pub(super) type Entries = BTreeMap<String, Option<usize>>;

/// The entries that were accepted so far.
#[derive(Default)]
pub(super) struct EntryTree {
    pub entries: Entries,
    /// Their size in bytes.
    pub unpacked: u64,
}

impl EntryTree {
    /// A name without parts that have no meaning, or why it is refused.
    pub(super) fn checked(name: &str) -> Result<String, &'static str> {
        name::checked(name).map(|name| name.into_owned())
    }

    /// Adds a file of this position and size, or a directory.
    pub(super) fn add(
        &mut self,
        name: String,
        file: Option<(usize, u64)>,
    ) -> Result<(), &'static str> {
        self.add_directories(name::parent(&name))?;
        let Some((position, size)) = file else { return self.add_directories(Some(&name)) };
        self.unpacked = self.unpacked.saturating_add(size);
        match self.entries.insert(name, Some(position)) {
            None => Ok(()),
            Some(Some(_)) => Err("is there twice"),
            Some(None) => Err("is a file and a directory"),
        }
    }

    /// Adds a directory and its parents, from the innermost to the first that is known.
    fn add_directories(&mut self, name: Option<&str>) -> Result<(), &'static str> {
        let mut next = name;
        while let Some(name) = next {
            match self.entries.get(name) {
                Some(None) => return Ok(()),
                Some(Some(_)) => return Err("is in a directory that is a file"),
                None => _ = self.entries.insert(name.to_owned(), None),
            }
            next = name::parent(name);
        }
        Ok(())
    }
}
