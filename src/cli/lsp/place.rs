//! Turns addresses of editors into paths and back.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The characters that the path of an address has as they are.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of an address; `None` where it is not one of a file.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // On Windows, a letter of a drive follows the first slash.
    let is_drive = |text: &str| text.as_bytes().get(2) == Some(&b':');
    let path = if cfg!(windows) && is_drive(&path) { path.get(1..)? } else { &*path };
    Some(PathBuf::from(path))
}

/// The address of a path.
pub(super) fn uri_of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&text, PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back() {
        for path in ["/a/b c/ü#%.yaml", "/shop.yaml"] {
            assert_eq!(path_of(&uri_of(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(uri_of(Path::new("/a b")), "file:///a%20b");
        assert_eq!(path_of("untitled:new"), None);
        assert_eq!(path_of("file://host/a").unwrap(), Path::new("/a"));
    }
}
