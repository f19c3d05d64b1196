//! Reads and writes `TOSCA.meta`: blocks of `name: value`. The first block describes the archive,
//! the others describe files in it.

use super::name;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0, closest};
use cuvee_text::source::{FileId, Span};
use rustc_hash::FxHashSet;

/// The path of `TOSCA.meta` in an archive.
pub(crate) const META: &str = "TOSCA-Metadata/TOSCA.meta";
/// Its other path in an archive of TOSCA 2.0.
pub(crate) const META_AT_ROOT: &str = "TOSCA.meta";
/// The directory that contains `TOSCA.meta`.
pub(crate) const META_DIRECTORY: &str = "TOSCA-Metadata";

const FILE_VERSION: &str = "TOSCA-Meta-File-Version";
/// Another spelling of the same name, which the example of TOSCA 1.0 uses and some archives follow.
const FILE_VERSION_TOO: &str = "TOSCA-Meta-Version";
const CSAR_VERSION: &str = "CSAR-Version";
const CREATED_BY: &str = "Created-By";
const ENTRY: &str = "Entry-Definitions";
const OTHERS: &str = "Other-Definitions";
const NAMES: [&str; 6] = [FILE_VERSION, FILE_VERSION_TOO, CSAR_VERSION, CREATED_BY, ENTRY, OTHERS];

/// The versions that can be read. They differ in the language of the entry.
const READ: [&str; 2] = ["1.0", "1.1"];
const WRITTEN: &str = "1.1";
/// The version of archives of TOSCA 2.0, which have no version of the file.
const OF_2_0: &str = "2.0";
/// The version of archives of TOSCA 1.0 definitions.
const OF_DEFINITIONS: &str = "1.0";

/// The names in a block about a file.
const NAME: &str = "Name";
const CONTENT_TYPE: &str = "Content-Type";

/// The media type of a definitions document.
const OF_A_DOCUMENT: &str = "application/vnd.oasis.tosca.definitions";

/// The media types of files by the endings of their names.
const MEDIA_TYPES: [(&str, &str); 22] = [
    ("bpmn", "application/bpmn+xml"),
    ("css", "text/css"),
    ("gz", "application/gzip"),
    ("html", "text/html"),
    ("jar", "application/java-archive"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tosca", OF_A_DOCUMENT),
    ("txt", "text/plain"),
    ("wsdl", "application/wsdl+xml"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The media type of a file with an unknown ending.
const ANY_MEDIA_TYPE: &str = "application/octet-stream";

/// The contents of `TOSCA.meta`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Whether the archive is one of TOSCA 2.0.
    pub is_of_2_0: bool,
    /// The place of its version.
    version: Option<Span>,
    /// The author of the archive.
    pub created_by: Option<String>,
    /// The path of the template.
    pub entry: String,
    /// The templates that can substitute nodes of the template.
    pub others: Vec<String>,
    /// The other pairs of the first block.
    custom: Vec<(String, String)>,
    /// The blocks about files.
    blocks: Vec<Vec<(String, String)>>,
}

/// A file name in `TOSCA.meta`, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// The name of the file in the archive.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The keyname before the name.
    pub keyname: &'static str,
}

/// A name with its value, from one line and the lines that continue it.
#[derive(Debug)]
struct Pair {
    name: String,
    value: String,
    span: Span,
}

impl Meta {
    /// The contents for an archive that had no `TOSCA.meta`.
    pub(super) fn new(entry: &str, created_by: Option<&str>) -> Self {
        // The value has to be on one line, even where the template writes it on several.
        let created_by =
            created_by.map(|author| author.split_whitespace().collect::<Vec<_>>().join(" "));
        Self {
            entry: entry.to_owned(),
            created_by: created_by.filter(|author| !author.is_empty()),
            ..Self::default()
        }
    }

    /// Reads `TOSCA.meta` at a path, and the files that it names. In TOSCA 2.0 it need not name the
    /// entry, where the root has one YAML file, `alone` (section 17.1).
    ///
    /// Errors are added to `diagnostics`. Returns nothing where there is no entry.
    pub(super) fn parse(
        file: FileId,
        text: &str,
        (at, alone): (&str, Option<&str>),
        diagnostics: &mut Diagnostics,
    ) -> Option<(Self, Vec<NamedFile>)> {
        let mut blocks = blocks(file, text, diagnostics).into_iter();
        let first = blocks.next().unwrap_or_default();
        let whole = Span { file, start: 0, end: 0 };
        let last = first.last().map_or(whole, |pair| pair.span);
        let find = |name: &str| first.iter().find(|pair| pair.name == name);
        versions(&first, (at, last), diagnostics);
        let is_of_2_0 = find(CSAR_VERSION).is_some_and(|version| version.value == OF_2_0);
        let entry = match (find(ENTRY), alone.filter(|_| is_of_2_0)) {
            (Some(pair), _) => diagnostics.ok(path(pair, &pair.value, ENTRY)),
            (None, Some(alone)) => {
                Some(NamedFile { name: alone.to_owned(), span: last, keyname: ENTRY })
            }
            (None, None) => diagnostics.ok(Err(missing(ENTRY, &first, (at, last)))),
        };
        let mut others = Vec::new();
        if let Some(pair) = find(OTHERS) {
            let words =
                diagnostics.ok(words(&pair.value).map_err(|why| wrong(pair.span, why.into())));
            others.extend(
                words
                    .into_iter()
                    .flatten()
                    .filter_map(|word| diagnostics.ok(path(pair, word, OTHERS))),
            );
        }
        let entry = entry?;
        let created_by = find(CREATED_BY).map(|pair| pair.value.clone());
        let meta = Self {
            is_of_2_0,
            version: find(CSAR_VERSION).map(|pair| pair.span),
            created_by,
            entry: entry.name.clone(),
            others: others.iter().map(|other| other.name.clone()).collect(),
            custom: first
                .into_iter()
                .filter(|pair| !NAMES.contains(&pair.name.as_str()))
                .map(Pair::into)
                .collect(),
            blocks: blocks.map(|block| block.into_iter().map(Pair::into).collect()).collect(),
        };
        let named = std::iter::once(entry).chain(others).collect();
        Some((meta, named))
    }

    /// Reads the `TOSCA.meta` of an archive of definitions. Errors are ignored here: the reader of
    /// the definitions reports them.
    pub(crate) fn of_definitions(text: &str) -> Self {
        let mut blocks = blocks(FileId::DETACHED, text, &mut Diagnostics::default()).into_iter();
        let (known, custom): (Vec<_>, Vec<_>) = blocks
            .next()
            .into_iter()
            .flatten()
            .partition(|pair| NAMES.contains(&pair.name.as_str()));
        let find =
            |name: &str| known.iter().find(|pair| pair.name == name).map(|pair| pair.value.clone());
        Self {
            created_by: find(CREATED_BY),
            entry: find(ENTRY).unwrap_or_default(),
            custom: custom.into_iter().map(Pair::into).collect(),
            blocks: blocks.map(|block| block.into_iter().map(Pair::into).collect()).collect(),
            ..Self::default()
        }
    }

    /// The file names, or patterns of names, that have a type, each with whether that type is the
    /// one of definitions. For a file that several match, the last one counts.
    pub(crate) fn typed_files(&self) -> impl Iterator<Item = (&str, bool)> {
        self.blocks.iter().filter_map(|block| match &block[..] {
            [(name, file), (kind, media_type), ..] if name == NAME && kind == CONTENT_TYPE => {
                Some((&**file, media_type == OF_A_DOCUMENT))
            }
            _ => None,
        })
    }

    /// Checks that the version is that of an archive whose template is of TOSCA 2.0.
    ///
    /// # Errors
    /// `csar` where it is an earlier version.
    pub(super) fn is_for_2_0(&self) -> Result<(), Diagnostic> {
        match self.version.filter(|_| !self.is_of_2_0) {
            Some(at) => {
                let message = "the template is of TOSCA 2.0, and the archive of an earlier version";
                let help = format!("write `{CSAR_VERSION}: {OF_2_0}`, and no `{FILE_VERSION}`");
                Err(wrong(at, message.into()).rule(Rule::new(&TOSCA_2_0, "17.2.1")).help(help))
            }
            None => Ok(()),
        }
    }

    /// The same contents for an archive whose template is at `entry`.
    pub(super) fn with_entry(&self, entry: &str) -> Self {
        Self { entry: entry.to_owned(), others: Vec::new(), ..self.clone() }
    }

    /// Writes `TOSCA.meta` for an archive of definitions. It has a block for each file, which takes
    /// precedence over the blocks for patterns of names.
    pub(super) fn write_definitions(&self, files: &[&str]) -> String {
        let mut text = self.first_block(OF_DEFINITIONS);
        let name_of = |block: &[(String, String)]| {
            block.first().filter(|(name, _)| name == NAME).map(|(_, file)| file.clone())
        };
        let mut push_block = |block: &[(String, String)]| {
            text.push('\n');
            block.iter().for_each(|(name, value)| push_line(&mut text, name, value));
        };
        for block in &self.blocks {
            if name_of(block).is_none_or(|name| is_pattern(&name)) {
                push_block(block);
            }
        }
        for file in files {
            let said = self.blocks.iter().find(|block| name_of(block).as_deref() == Some(*file));
            let own = || {
                vec![(NAME.into(), (*file).into()), (CONTENT_TYPE.into(), media_type(file).into())]
            };
            push_block(&said.cloned().unwrap_or_else(own));
        }
        text
    }

    /// Writes the block about the archive.
    fn first_block(&self, version: &str) -> String {
        let created_by = self.created_by.as_deref().unwrap_or(env!("CARGO_PKG_NAME"));
        let mut text = String::new();
        if !self.is_of_2_0 {
            push_line(&mut text, FILE_VERSION, version);
        }
        let version = if self.is_of_2_0 { OF_2_0 } else { version };
        push_line(&mut text, CSAR_VERSION, version);
        push_line(&mut text, CREATED_BY, created_by);
        push_line(&mut text, ENTRY, &self.entry);
        if !self.others.is_empty() {
            let others: Vec<_> = self.others.iter().map(|name| quoted(name)).collect();
            push_line(&mut text, OTHERS, &others.join(" "));
        }
        self.custom.iter().for_each(|(name, value)| push_line(&mut text, name, value));
        text
    }

    /// Writes `TOSCA.meta`, without the blocks about files whose content has changed.
    pub(super) fn write(&self, is_same: impl Fn(&str) -> bool) -> String {
        let mut text = self.first_block(WRITTEN);
        for block in &self.blocks {
            let about = block.first().filter(|(name, _)| name == NAME);
            if about.is_none_or(|(_, file)| is_same(file)) {
                text.push('\n');
                block.iter().for_each(|(name, value)| push_line(&mut text, name, value));
            }
        }
        text
    }
}

/// Whether a name is a pattern that stands for all names matching it. The specification does not
/// define the syntax of patterns. Names with brackets count as patterns, although brackets have no
/// effect in [`matches_pattern`].
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '('])
}

/// Whether a name matches a pattern, in which `*` stands for any characters and `?` for one.
pub(crate) fn matches_pattern(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<_>, Vec<_>) = (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut of, mut last) = (0, 0, None);
    while at < name.len() {
        match pattern.get(of) {
            Some('*') => {
                last = Some((at, of));
                of += 1;
            }
            Some(&c) if c == '?' || c == name[at] => (at, of) = (at + 1, of + 1),
            _ => {
                // Backtrack: let the last `*` match one more character.
                let Some((start, star)) = last else { return false };
                last = Some((start + 1, star));
                (at, of) = (start + 1, star + 1);
            }
        }
    }
    pattern[of..].iter().all(|&c| c == '*')
}

/// Checks the `TOSCA.meta` of an archive of TOSCA 1.0, and returns its entry. The entry is optional
/// (section 16.2 of TOSCA 1.0).
pub(crate) fn check_definitions(
    file: FileId,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> Option<NamedFile> {
    let mut blocks = blocks(file, text, diagnostics).into_iter();
    let first = blocks.next().unwrap_or_default();
    let whole = Span { file, start: 0, end: 0 };
    versions(&first, (META, first.last().map_or(whole, |pair| pair.span)), diagnostics);
    for block in blocks {
        let [name, rest @ ..] = &*block else { continue };
        let warn = |at: &Pair, message: &str| Diagnostic::warning(Code::Csar, message).at(at.span);
        if name.name != NAME {
            diagnostics.push(warn(name, "a block about a file begins with its `Name`"));
        } else if rest.first().is_none_or(|pair| pair.name != CONTENT_TYPE) {
            diagnostics.push(warn(name, "the `Content-Type` of a file comes behind its name"));
        } else if let Some(kind) = rest.first().filter(|kind| !is_media_type(&kind.value)) {
            let message = "a `Content-Type` is a type and a subtype, such as `text/plain`";
            diagnostics.push(warn(kind, message));
        }
    }
    let entry = first.iter().find(|pair| pair.name == ENTRY)?;
    diagnostics.ok(path(entry, &entry.value, ENTRY))
}

fn is_media_type(text: &str) -> bool {
    let text = text.split(';').next().unwrap_or_default().trim();
    let is_part = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+*".contains(c))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_part(kind) && is_part(subtype))
}

/// Reports names that occur twice, and versions that cannot be read.
fn versions(first: &[Pair], (at, last): (&str, Span), diagnostics: &mut Diagnostics) {
    let mut seen = FxHashSet::default();
    for pair in first.iter().filter(|pair| !seen.insert(pair.name.as_str())) {
        diagnostics
            .push(wrong(pair.span, format!("`{}` is there twice", pair.name.escape_debug())));
    }
    let find = |name: &str| first.iter().find(|pair| pair.name == name);
    let file_version = find(FILE_VERSION).or_else(|| find(FILE_VERSION_TOO));
    if find(CSAR_VERSION).is_some_and(|version| version.value == OF_2_0) {
        if let Some(pair) = file_version {
            let message = format!("`{}` is not for archives of TOSCA 2.0", pair.name);
            let error = wrong(pair.span, message).rule(Rule::new(&TOSCA_2_0, "17.2.1"));
            diagnostics.push(error.help("leave the line out"));
        }
        return;
    }
    for (name, found) in [(FILE_VERSION, file_version), (CSAR_VERSION, find(CSAR_VERSION))] {
        match found {
            Some(pair) if READ.contains(&pair.value.as_str()) => {}
            Some(pair) => {
                let message = format!(
                    "`{}` is `{}`, which cannot be read",
                    pair.name,
                    pair.value.escape_debug()
                );
                let help = match at {
                    META => {
                        format!("it can be {}, or {OF_2_0} as `{CSAR_VERSION}`", READ.join(" or "))
                    }
                    _ => format!("`{CSAR_VERSION}: {OF_2_0}` is what a `{at}` at the root has"),
                };
                diagnostics.push(wrong(pair.span, message).help(help));
            }
            // Only TOSCA 2.0 has the file at the root, and no version of the file.
            None if name == FILE_VERSION && at == META_AT_ROOT => {}
            None => diagnostics.push(missing(name, first, (at, last))),
        }
    }
}

/// The media type of a file, derived from its name.
fn media_type(file: &str) -> &'static str {
    let ending = file.rsplit('/').next().and_then(|name| Some(name.rsplit_once('.')?.1));
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    let known = MEDIA_TYPES.iter().find(|(known, _)| *known == ending);
    known.map_or(ANY_MEDIA_TYPE, |(_, kind)| kind)
}

fn push_line(text: &mut String, name: &str, value: &str) {
    text.extend([name, ": ", value, "\n"]);
}

impl From<Pair> for (String, String) {
    fn from(pair: Pair) -> Self {
        (pair.name, pair.value)
    }
}

fn wrong(span: Span, message: String) -> Diagnostic {
    Diagnostic::error(Code::Csar, message).at(span)
}

fn missing(name: &str, block: &[Pair], (file, at): (&str, Span)) -> Diagnostic {
    let is_typo = |pair: &&Pair| {
        let unknown = pair.name.len() < 2 * name.len() && !NAMES.contains(&pair.name.as_str());
        unknown && closest(&pair.name, [name]).is_some()
    };
    let near = block.iter().find(is_typo);
    let error = wrong(
        near.map_or(at, |pair| pair.span),
        format!("the first block of `{file}` has no `{name}`"),
    );
    match near {
        Some(pair) => {
            error.help(format!("is `{}` meant to be `{name}`?", pair.name.escape_debug()))
        }
        None => error.help(format!(
            "add a line `{name}: {}`",
            match file {
                _ if name == ENTRY => "service-template.yaml",
                META => WRITTEN,
                _ => OF_2_0,
            }
        )),
    }
}

fn path(pair: &Pair, text: &str, keyname: &'static str) -> Result<NamedFile, Diagnostic> {
    match name::checked(text) {
        Ok(name) => Ok(NamedFile { name: name.into_owned(), span: pair.span, keyname }),
        Err(why) => Err(wrong(
            pair.span,
            format!("the path `{}` in `{keyname}` {why}", text.escape_debug()),
        )),
    }
}

/// Splits the text into blocks. Empty blocks are dropped.
fn blocks(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Vec<Pair>> {
    let mut blocks: Vec<Vec<Pair>> = Vec::new();
    let mut open = false;
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let start = next as u32;
        next += line.len();
        let content = line.trim_end();
        let span = Span { file, start, end: start + content.len() as u32 };
        let content = content.trim_start_matches('\u{feff}');
        if content.is_empty() {
            open = false;
            continue;
        }
        if !open {
            blocks.push(Vec::new());
            open = true;
        }
        let Some(block) = blocks.last_mut() else { continue };
        match (content.strip_prefix(' '), content.split_once(':')) {
            (Some(more), _) => match block.last_mut() {
                Some(pair) => {
                    let blank = if pair.value.is_empty() { "" } else { " " };
                    pair.value.extend([blank, more.trim_start()]);
                    pair.span.end = span.end;
                }
                None => diagnostics.push(wrong(
                    span,
                    "a line that begins with a blank goes on with a value, and there is none"
                        .into(),
                )),
            },
            (None, Some((name, value))) if !name.is_empty() => {
                block.push(Pair {
                    name: name.to_owned(),
                    value: value.trim_start().to_owned(),
                    span,
                });
            }
            _ => diagnostics.push(wrong(span, "expected a name, a colon and a value".into())),
        }
    }
    blocks
}

/// Splits a text into names at blanks. A name that contains blanks is in quotes.
fn words(text: &str) -> Result<Vec<&str>, &'static str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, more) = match rest.strip_prefix(['"', '“']) {
            Some(quoted) => {
                quoted.split_once(['"', '”']).ok_or("a quotation mark is not closed")?
            }
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = more.trim_start();
    }
    Ok(words)
}

fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::SourceMap;

    fn parse(text: &str) -> (Option<Meta>, Vec<String>) {
        let sources = SourceMap::default();
        let mut diagnostics = Diagnostics::default();
        let file = sources.add("TOSCA.meta", text);
        let meta = Meta::parse(file, text, (META, None), &mut diagnostics).map(|(meta, _)| meta);
        (meta, diagnostics.0.iter().map(|diagnostic| diagnostic.one_line(&sources)).collect())
    }

    const FULL: &str = "\
TOSCA-Meta-File-Version: 1.1
CSAR-Version: 1.1
Created-By: A tea merchant
Entry-Definitions: definitions/shop.yaml
Other-Definitions: definitions/cups.yaml \"definitions/tea pots.yaml\"
Merchant-Licence: free

Name: scripts/brew.sh
Content-Type: text/x-shellscript

Name: definitions/shop.yaml
Hash: 00
";

    #[test]
    fn what_is_written_is_what_was_read() {
        let (meta, wrong) = parse(FULL);
        let meta = meta.unwrap();
        assert_eq!(wrong, [""; 0]);
        assert_eq!(meta.others, ["definitions/cups.yaml", "definitions/tea pots.yaml"]);
        assert_eq!(meta.write(|_| true), FULL);
        let changed = FULL.split("\nName: definitions").next().unwrap();
        assert_eq!(meta.write(|name| name != "definitions/shop.yaml"), changed);
    }

    #[test]
    fn archives_of_tosca_2_0_have_no_version_of_the_file() {
        let text = "CSAR-Version: 2.0\nCreated-By: Jo\nEntry-Definitions: shop.yaml\n";
        let (meta, wrong) = parse(text);
        assert_eq!(wrong, [""; 0]);
        assert_eq!(meta.unwrap().write(|_| true), text);
        let (_, wrong) = parse(&format!("TOSCA-Meta-Version: 1.1\n{text}"));
        assert_eq!(
            wrong,
            ["TOSCA.meta:1:1: error[csar]: `TOSCA-Meta-Version` is not for archives of TOSCA 2.0"]
        );
    }

    #[test]
    fn archives_of_tosca_2_0_need_not_name_their_entry() {
        let read = |text: &str, alone| {
            let mut diagnostics = Diagnostics::default();
            let file = FileId::DETACHED;
            let meta = Meta::parse(file, text, (META_AT_ROOT, alone), &mut diagnostics);
            let wrong = diagnostics.0.into_iter().map(|diagnostic| diagnostic.message);
            (meta.map(|(meta, _)| meta.entry), wrong.collect::<Vec<_>>())
        };
        let text = "CSAR-Version: 2.0\nCreated-By: Jo\n";
        assert_eq!(read(text, Some("shop.yaml")), (Some("shop.yaml".to_owned()), vec![]));
        let (entry, wrong) = read(text, None);
        assert_eq!(entry, None);
        assert_eq!(wrong, ["the first block of `TOSCA.meta` has no `Entry-Definitions`"]);
        let (_, wrong) = read("Entry-Definitions: shop.yaml", Some("shop.yaml"));
        assert_eq!(wrong, ["the first block of `TOSCA.meta` has no `CSAR-Version`"]);
    }

    #[test]
    fn lines_go_on_behind_a_blank() {
        let text = "\u{feff}TOSCA-Meta-Version: 1.0\r\nCSAR-Version: 1.0\r\nEntry-Definitions: a.yaml\r\nOther-Definitions: b.yaml\r\n   “c d.yaml”\r\n e.yaml";
        let (meta, wrong) = parse(text);
        assert_eq!(wrong, [""; 0]);
        assert_eq!(meta.unwrap().others, ["b.yaml", "c d.yaml", "e.yaml"]);
    }

    #[test]
    fn says_all_that_is_wrong() {
        let (meta, wrong) =
            parse("CSAR-Version: 3.0\nEntry-Definition: a.yaml\nCSAR-Version: 1.1\nwhat\n\n on\n");
        assert_eq!(meta, None);
        assert_eq!(
            wrong,
            [
                "TOSCA.meta:4:1: error[csar]: expected a name, a colon and a value",
                "TOSCA.meta:6:1: error[csar]: a line that begins with a blank goes on with a value, and there is none",
                "TOSCA.meta:3:1: error[csar]: `CSAR-Version` is there twice",
                "TOSCA.meta:3:1: error[csar]: the first block of `TOSCA-Metadata/TOSCA.meta` has no `TOSCA-Meta-File-Version`",
                "TOSCA.meta:1:1: error[csar]: `CSAR-Version` is `3.0`, which cannot be read",
                "TOSCA.meta:2:1: error[csar]: the first block of `TOSCA-Metadata/TOSCA.meta` has no `Entry-Definitions`",
            ]
        );
        let paths = "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nEntry-Definitions: ../a.yaml\nOther-Definitions: /b.yaml \"c";
        let (meta, wrong) = parse(paths);
        assert_eq!(meta, None);
        assert!(
            wrong[0].contains("the path `../a.yaml` in `Entry-Definitions` leads out"),
            "{wrong:?}"
        );
        assert!(wrong[1].contains("not closed"), "{wrong:?}");
        assert_eq!(parse("").1.len(), 3);
    }
}
