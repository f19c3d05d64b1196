//! Maps URLs to local copies. Nothing is ever fetched.

use std::path::{Component, Path, PathBuf};

/// Local files or directories by URLs. Each URL stands for itself and for everything below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    entries: Vec<(String, PathBuf)>,
    /// The directories in which profiles are looked for by their names.
    profile_paths: Vec<PathBuf>,
}

impl Mapping {
    /// Maps a URL, or the name of a profile, to a local file or directory.
    pub(crate) fn add(&mut self, url: &str, path: PathBuf) {
        let url = normal(url);
        self.entries.push((url.trim_end_matches('/').to_owned(), path));
    }

    /// Adds a directory in which profiles are looked for by their names.
    pub(crate) fn add_profile_path(&mut self, path: PathBuf) {
        self.profile_paths.push(path);
    }

    /// The directories in which profiles are looked for by their names.
    pub(super) fn profile_paths(&self) -> &[PathBuf] {
        &self.profile_paths
    }

    /// The local file for a URL. The longest mapped URL that contains it decides, among equal ones
    /// the last.
    pub(crate) fn local(&self, url: &str) -> Option<PathBuf> {
        let url = normal(url);
        let below = |(mapped, path): &(String, PathBuf)| {
            let rest = url.strip_prefix(mapped.as_str())?;
            let is_below = rest.is_empty() || rest.starts_with('/');
            // A path with a leading slash would replace the mapped directory in `join`.
            let rest = rest.trim_start_matches('/');
            is_below.then(|| {
                (mapped.len(), if rest.is_empty() { path.clone() } else { path.join(rest) })
            })
        };
        self.entries
            .iter()
            .filter_map(below)
            .max_by_key(|(length, _)| *length)
            .map(|(_, path)| path)
    }
}

/// Shifts paths below one common directory. Their relative positions stay the same, and their
/// absolute positions are hidden.
pub(crate) fn below_one<'p>(paths: impl Iterator<Item = &'p Path> + Clone) -> Vec<PathBuf> {
    let ups = |path: &Path| {
        path.components().take_while(|part| matches!(part, Component::ParentDir)).count()
    };
    let most = paths.clone().map(ups).max().unwrap_or(0);
    let parents = paths.clone().filter(|path| path.is_absolute()).filter_map(Path::parent);
    let common = parents.map(Path::to_owned).reduce(|root, path| {
        let same = root.components().zip(path.components()).take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    });
    let below = |path: &'p Path| match common.as_ref().and_then(|root| path.strip_prefix(root).ok())
    {
        Some(below) => Path::new("absolute").join(below),
        None => {
            let up = ups(path);
            let names = path.components().skip(up).map(Component::as_os_str);
            let here = std::iter::repeat_n("here".as_ref(), most - up);
            std::iter::once("relative".as_ref()).chain(here).chain(names).collect()
        }
    };
    paths.map(below).collect()
}

/// The path in a URL of a local file.
pub(super) fn file_url(url: &str) -> Option<PathBuf> {
    let rest =
        url.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).and(url.get(7..))?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then(|| decoded(path).into())
}

/// Replaces escapes such as `%20` by the bytes that they stand for. Other text is unchanged.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let (byte, behind) = match others {
            [high, low, behind @ ..] if *first == b'%' => match (digit(high), digit(low)) {
                (Some(high), Some(low)) => ((high * 16 + low) as u8, behind),
                _ => (*first, others),
            },
            _ => (*first, others),
        };
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Normalizes a URL, so that a prefix of it can be compared: scheme and host are in lower case, and
/// the path contains neither `.` nor `..`.
fn normal(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.truncate(parts.len().saturating_sub(1).max(1));
            }
            part => parts.push(part),
        }
    }
    format!("{}://{}{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase(), parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(entries: &[(&str, &str)]) -> Mapping {
        let mut mapping = Mapping::default();
        entries.iter().for_each(|(url, path)| mapping.add(url, path.into()));
        mapping
    }

    #[test]
    fn the_longest_url_wins() {
        let mapping = mapping(&[
            ("https://example.com/types", "vendor/types"),
            ("https://example.com/types/net/a.yaml", "own.yaml"),
            ("https://example.com/", "vendor"),
        ]);
        for (url, path) in [
            ("https://example.com/types/a.yaml", Some("vendor/types/a.yaml")),
            ("https://example.com/types/net/a.yaml", Some("own.yaml")),
            ("https://example.com/types/net/b.yaml", Some("vendor/types/net/b.yaml")),
            ("https://example.com/typesetting/a.yaml", Some("vendor/typesetting/a.yaml")),
            ("https://example.com/types", Some("vendor/types")),
            ("https://example.com/types/", Some("vendor/types")),
            ("HTTPS://Example.COM/types/a.yaml", Some("vendor/types/a.yaml")),
            ("https://example.com/Types/a.yaml", Some("vendor/Types/a.yaml")),
            ("https://example.org/types/a.yaml", None),
            ("http://example.com/types/a.yaml", None),
        ] {
            assert_eq!(mapping.local(url), path.map(PathBuf::from), "{url}");
        }
    }

    #[test]
    fn of_equal_urls_the_last_wins() {
        let mapping = mapping(&[("https://a.example/t", "one"), ("https://a.example/t/", "two")]);
        assert_eq!(mapping.local("https://a.example/t/x.yaml"), Some("two/x.yaml".into()));
    }

    #[test]
    fn paths_below_one_lead_to_each_other_as_before() {
        let paths = ["/a/b/x.yaml", "/a/b/c/y.yaml", "../v/z.yaml", "w/z.yaml"].map(Path::new);
        let expected =
            ["absolute/x.yaml", "absolute/c/y.yaml", "relative/v/z.yaml", "relative/here/w/z.yaml"];
        assert_eq!(below_one(paths.into_iter()), expected.map(PathBuf::from));
    }

    #[test]
    fn nothing_leaves_what_is_mapped() {
        let mapping = mapping(&[("https://a.example/types", "vendor")]);
        assert_eq!(mapping.local("https://a.example/types/../secret.yaml"), None);
        assert_eq!(
            mapping.local("https://a.example/types/../../../types/./x.yaml"),
            Some("vendor/x.yaml".into())
        );
        assert_eq!(
            mapping.local("https://a.example/types//etc/passwd"),
            Some("vendor/etc/passwd".into())
        );
    }

    #[test]
    fn names_of_profiles_are_mapped_as_a_whole() {
        let mapping = mapping(&[("nfv_profile_1_0", "nfv.yaml")]);
        assert_eq!(mapping.local("nfv_profile_1_0"), Some("nfv.yaml".into()));
        assert_eq!(mapping.local("nfv_profile_1_0_1"), None);
    }

    #[test]
    fn urls_of_files_are_paths() {
        for (url, path) in [
            ("file:///types/a.yaml", Some("/types/a.yaml")),
            ("file://localhost/a%20b%.yaml", Some("/a b%.yaml")),
            ("file://elsewhere/a.yaml", None),
            ("https://a.example/a.yaml", None),
        ] {
            assert_eq!(file_url(url), path.map(PathBuf::from), "{url}");
        }
    }
}
