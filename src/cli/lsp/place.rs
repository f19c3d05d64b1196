//! Turns addresses of editors into paths and back.

use super::super::explain_code;
use cuvee::diagnostic::{Code, CodeName};
use cuvee::editor::built_in_texts;
use cuvee::source::csar::{Archive, Limits, archive_around};
use cuvee::source::{FileSystem, OsFiles, normalize};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The scheme of documents that are only read: files that are a part of cuvee, those in archives,
/// and explanations of codes.
pub(super) const SCHEME: &str = "cuvee";

const PROFILES: &str = "/profiles/";
const CODES: &str = "/codes/";

/// The characters that the path of an address has as they are.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of an address; `None` where it is not one of a file.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    if let Some(path) = below_scheme(uri) {
        let path = path.strip_prefix(PROFILES).unwrap_or(&path);
        return Some(system_path(path)?).filter(|path| is_fixed(path));
    }
    let rest = uri.strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    system_path(&path)
}

/// What follows our own scheme in an address.
fn below_scheme(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix(SCHEME)?.strip_prefix(':')?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    Some(percent_decode_str(path).decode_utf8().ok()?.into_owned())
}

fn system_path(path: &str) -> Option<PathBuf> {
    // On Windows, a letter of a drive follows the first slash.
    let is_drive = |text: &str| text.as_bytes().get(2) == Some(&b':');
    let path = if cfg!(windows) && is_drive(path) { path.get(1..)? } else { path };
    Some(PathBuf::from(path))
}

/// Whether a path is that of a file which is a part of cuvee.
pub(super) fn is_built_in(path: &Path) -> bool {
    built_in_texts().any(|(name, _)| Path::new(name) == path)
}

/// Whether a path is that of a file that nobody can change.
pub(super) fn is_fixed(path: &Path) -> bool {
    is_built_in(path) || archive_around(path).is_some()
}

/// What is judged where a file is open that has a topology: itself, or the archive around it.
pub(super) fn root_of(path: &Path) -> PathBuf {
    archive_around(path).unwrap_or_else(|| path.to_owned())
}

/// The text of a document of our own scheme.
///
/// # Errors
/// Why there is none, for people.
pub(super) fn text_of(uri: &str) -> Result<String, String> {
    let unknown = || format!("`{uri}` is no document of cuvee");
    let path = below_scheme(uri).ok_or_else(unknown)?;
    if let Some(code) = path.strip_prefix(CODES) {
        let known = Code::ALL.iter().find(|known| known.as_str() == code);
        return known.map(|&code| explain_code::explanation(code)).ok_or_else(unknown);
    }
    let path = path_of(uri).ok_or_else(unknown)?;
    if let Some((_, text)) = built_in_texts().find(|(name, _)| Path::new(name) == path) {
        return Ok(text.to_owned());
    }
    let archive = archive_around(&path).ok_or_else(unknown)?;
    let opened = Archive::open(&OsFiles, &archive, &Limits::default());
    let archive = opened.map_err(|wrong| {
        wrong.0.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n")
    })?;
    let bytes = archive.read(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("`{}` is no text", path.display()))
}

/// The address at which a code is explained: its page where there is a site, else a document of our
/// own.
pub(super) fn uri_of_code(name: CodeName) -> String {
    let page = Code::named(name).and_then(Code::page);
    page.unwrap_or_else(|| format!("{SCHEME}:{CODES}{name}"))
}

/// The address of a path.
pub(super) fn uri_of(path: &Path) -> String {
    if is_built_in(path) {
        return format!("{SCHEME}:{PROFILES}{}", path.display());
    }
    // An import may lead over a folder and back.
    let text = normalize(path).to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    let scheme = if archive_around(path).is_some() { "cuvee:" } else { "file://" };
    format!("{scheme}{slash}{}", utf8_percent_encode(&text, PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back() {
        let archived = "/tea house/shop.csar:/lib/types.yaml";
        for path in ["/a/b c/ü#%.yaml", "/shop.yaml", archived, "tosca_simple_1_3.yaml"] {
            assert_eq!(path_of(&uri_of(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(uri_of(Path::new("/a b")), "file:///a%20b");
        assert_eq!(
            uri_of("tosca_simple_1_3.yaml".as_ref()),
            "cuvee:/profiles/tosca_simple_1_3.yaml"
        );
        let archived = "cuvee:/tea%20house/shop.csar%3A/lib/types.yaml";
        assert_eq!(uri_of("/tea house/shop.csar:/lib/types.yaml".as_ref()), archived);
        for other in ["untitled:new", "cuvee:/etc/passwd", "cuvee:/profiles/../x", "cuvee:/codes/x"]
        {
            assert_eq!(path_of(other), None, "{other}");
        }
        assert_eq!(path_of("file://host/a").unwrap(), Path::new("/a"));
    }
}
