//! Stores blobs, which records name by the digest of their content, and the key of an instance.

use super::{EventLog, LogWriter, Store, trouble};
use crate::diagnostic::Diagnostic;
use crate::tosca::digest::{hexadecimal, sha256};
use std::io::{self, ErrorKind, Read};

const FOLDER: &str = "blobs/";
pub(super) const KEY: &str = "key";

/// The digest in the name of a blob file.
pub(super) fn digest_of(file: &str) -> Option<&str> {
    file.strip_prefix(FOLDER).filter(|name| is_digest(name))
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Calls `then` with each digest in a text: words that consist of exactly as many digits as a
/// digest.
pub(super) fn named_in(text: &str, then: impl FnMut(&str)) {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_digest(word)).for_each(then);
}

pub(super) fn file(digest: &str) -> String {
    format!("{FOLDER}{digest}")
}

/// The blob with this digest; `None` if it is missing.
///
/// # Errors
/// `store-corrupt` if its content has another digest, `file`.
pub(in crate::orchestrate::instance) fn find_blob(
    store: &dyn Store,
    instance: &str,
    digest: &str,
) -> Result<Option<Vec<u8>>, Diagnostic> {
    let file = file(digest);
    let place = || store.place(instance, &file);
    if !is_digest(digest) {
        return Err(trouble::corrupt(&place(), "does not have a digest as its name"));
    }
    match contents(store, instance, &file) {
        Ok(Some(bytes)) if sha256(&bytes) != digest => {
            Err(trouble::corrupt(&place(), "does not match the digest that is its name"))
        }
        Ok(found) => Ok(found),
        Err(why) => Err(trouble::file(&trouble::READ, &place(), &why)),
    }
}

/// The error that a blob is missing.
pub(in crate::orchestrate::instance) fn missing_blob(
    store: &dyn Store,
    instance: &str,
    digest: &str,
) -> Diagnostic {
    trouble::corrupt(&store.place(instance, &file(digest)), "is missing, but a record names it")
}

/// The contents of a file, if it exists.
fn contents(store: &dyn Store, instance: &str, file: &str) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = store.read(instance, file, 0);
    match read.and_then(|mut source| source.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

impl EventLog<'_> {
    /// The blob with this digest.
    ///
    /// # Errors
    /// `store-corrupt` if there is no such blob or its content has another digest, `file`.
    pub fn blob(&self, digest: &str) -> Result<Vec<u8>, Diagnostic> {
        let found = find_blob(self.store, &self.instance, digest)?;
        found.ok_or_else(|| missing_blob(self.store, &self.instance, digest))
    }

    /// The key of the instance, if it has one: secret random bytes.
    ///
    /// # Errors
    /// `store-corrupt` if the file contains no key, `file`.
    pub fn key(&self) -> Result<Option<[u8; 32]>, Diagnostic> {
        let place = || self.store.place(&self.instance, KEY);
        let text = self.contents(KEY);
        let text = text.map_err(|why| trouble::file(&trouble::READ, &place(), &why))?;
        let Some(text) = text else { return Ok(None) };
        let key = from_hexadecimal(text.trim_ascii());
        key.map(Some).ok_or_else(|| trouble::corrupt(&place(), "is no key"))
    }

    /// The text of the key file, if the instance has a key.
    pub(super) fn key_text(&self) -> Result<Option<String>, Diagnostic> {
        Ok(self.key()?.map(|key| hexadecimal(&key) + "\n"))
    }

    /// The contents of a file, if it exists.
    pub(super) fn contents(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        contents(self.store, &self.instance, file)
    }
}

fn from_hexadecimal(text: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

impl LogWriter<'_, '_> {
    /// Stores a blob that a record is going to name, durably, and returns its digest.
    ///
    /// # Errors
    /// `file` if it cannot be written.
    pub fn put_blob(&mut self, bytes: &[u8]) -> Result<String, Diagnostic> {
        let digest = sha256(bytes);
        let file = file(&digest);
        let log = self.log();
        let (store, instance) = (log.store, log.instance());
        let kept = match log.contents(&file) {
            // An earlier write may have been interrupted before the blob was durable.
            Ok(Some(there)) if there == bytes => store.sync(instance, &file),
            _ => store.replace(instance, &file, bytes),
        };
        let place = || store.place(instance, &file);
        kept.map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))?;
        Ok(digest)
    }

    /// The key of the instance, which is made if there is none.
    ///
    /// # Errors
    /// `file` if it cannot be written, `store-corrupt` if the file contains no key.
    pub fn put_key(&mut self) -> Result<[u8; 32], Diagnostic> {
        let log = self.log();
        if let Some(key) = log.key()? {
            return Ok(key);
        }
        let make = || -> io::Result<[u8; 32]> {
            let key = log.store.random()?;
            let text = hexadecimal(&key) + "\n";
            log.store.replace(log.instance(), KEY, text.as_bytes())?;
            Ok(key)
        };
        let place = || log.store.place(log.instance(), KEY);
        make().map_err(|why| trouble::file(&trouble::WRITE, &place(), &why))
    }
}
