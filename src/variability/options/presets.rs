//! Provides embedded data: the option defaults of each definitions version, the changes that each
//! edition makes to them, and the tables of pruning modes.
//!
//! A new version, edition or mode takes a file in `presets/` and a line here.

use super::OptionOrigin;
use super::settings::OptionSettings;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Limits, Node, parse};
use std::sync::OnceLock;

/// The names and texts of files below `presets/`.
macro_rules! embed {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../presets/", $path, ".yaml")))),*]
    };
}

pub(super) const RELEASES: &[(&str, &str)] = embed![
    "releases/tosca_variability_1_0"
    "releases/tosca_variability_1_0_rc_1"
    "releases/tosca_variability_1_0_rc_2"
    "releases/tosca_variability_1_0_rc_3"
];

pub(super) const EDITIONS: &[(&str, &str)] = embed!["editions/2024-12" "editions/2025-07"];

pub(super) const MODES: &[(&str, &str)] = embed![
    "modes/complete/manual"
    "modes/complete/consistent-strict"
    "modes/complete/consistent-loose"
    "modes/complete/default"
    "modes/complete/semantic-strict"
    "modes/complete/semantic-loose"
    "modes/core/manual"
    "modes/core/consistent-strict"
    "modes/core/consistent-loose"
    "modes/core/default"
    "modes/core/semantic-strict"
    "modes/core/semantic-loose"
];

/// A pruning mode. It is parsed when it is first needed, because most runs need only one mode.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) name: &'static str,
    text: &'static str,
    read: OnceLock<Result<ReadMode, Diagnostics>>,
}

#[derive(Debug)]
struct ReadMode {
    aliases: Vec<String>,
    settings: OptionSettings,
}

impl Mode {
    /// The options that the mode sets.
    ///
    /// # Errors
    /// None as long as the embedded data is valid, which a test ensures.
    pub(super) fn settings(&self) -> Result<&OptionSettings, Diagnostics> {
        self.read().as_ref().map(|read| &read.settings).map_err(without_places)
    }

    fn has_alias(&self, name: &str) -> bool {
        self.read().as_ref().is_ok_and(|read| read.aliases.iter().any(|alias| alias == name))
    }

    fn read(&self) -> &Result<ReadMode, Diagnostics> {
        self.read.get_or_init(|| {
            let mut diagnostics = Diagnostics::default();
            let document = read(self.text)?;
            // There is an empty table of modes, so a mode cannot name another mode.
            let (none, origin) = (ModeTable::default(), OptionOrigin::Mode(self.name));
            let settings = options(document.root(), "options", &none, origin, &mut diagnostics);
            let read = ReadMode { aliases: aliases(&document), settings };
            if diagnostics.has_errors() { Err(diagnostics) } else { Ok(read) }
        })
    }
}

/// The pruning modes that a release knows.
#[derive(Debug, Default)]
pub(super) struct ModeTable {
    modes: Vec<Mode>,
}

/// The options that a definitions version sets.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) name: &'static str,
    aliases: Vec<String>,
    pub(super) modes: ModeTable,
    pub(super) settings: OptionSettings,
}

impl ModeTable {
    /// The mode of this name or alias.
    pub(super) fn find(&self, name: &str) -> Option<&Mode> {
        let named = self.modes.iter().find(|mode| mode.name == name);
        named.or_else(|| self.modes.iter().find(|mode| mode.has_alias(name)))
    }

    /// Every mode, without aliases.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.modes.iter().map(|mode| mode.name).collect()
    }
}

/// The options that an edition of the specification sets: for all definitions versions, and for
/// some of them.
#[derive(Debug)]
pub(super) struct Edition {
    settings: OptionSettings,
    pub(super) releases: Vec<(String, OptionSettings)>,
}

impl Edition {
    /// The layers of the edition for this release; later ones override earlier ones.
    pub(super) fn layers(&self, release: &Release) -> impl Iterator<Item = &OptionSettings> {
        let of_release = self.releases.iter().filter(|(name, _)| name == release.name);
        std::iter::once(&self.settings).chain(of_release.map(|(_, settings)| settings))
    }
}

/// The names of the pruning modes of all releases.
pub(super) fn mode_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for release in versions().filter_map(|version| release(version).ok()) {
        for name in release.modes.names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The names of all editions.
pub(super) fn editions() -> impl Iterator<Item = &'static str> {
    EDITIONS.iter().map(|(path, _)| file_name(path))
}

/// The edition of this name, which is parsed when it is first needed.
///
/// # Errors
/// `invalid-option` if there is no such edition.
pub(super) fn edition(name: &str) -> Result<&'static Edition, Diagnostics> {
    static LOADED: [OnceLock<Result<Edition, Diagnostics>>; EDITIONS.len()] =
        [const { OnceLock::new() }; EDITIONS.len()];
    let mut all = LOADED.iter().zip(EDITIONS);
    let Some((loaded, (path, text))) = all.find(|(_, (path, _))| file_name(path) == name) else {
        let message = format!("there is no edition `{name}`");
        return Err(Diagnostic::error(Code::InvalidOption, message).into());
    };
    loaded.get_or_init(|| load_edition(path, text)).as_ref().map_err(without_places)
}

fn load_edition(path: &'static str, text: &str) -> Result<Edition, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let document = read(text)?;
    let root = document.root();
    let (none, origin) = (ModeTable::default(), OptionOrigin::Edition(file_name(path)));
    let mut settings = |map| all_options(map, &none, origin, &mut diagnostics);
    let releases = root.get("releases").into_iter().flat_map(Node::entries);
    let releases = releases
        .map(|(release, map)| (release.text().unwrap_or_default().to_owned(), settings(map)))
        .collect();
    let edition = Edition { settings: settings(root), releases };
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(edition) }
}

/// The settings of a release or an edition. Those under `options` always count. Those under
/// `otherwise` count only if the author sets neither the option nor one that it follows.
fn all_options(
    map: Node<'_>,
    modes: &ModeTable,
    origin: OptionOrigin,
    diagnostics: &mut Diagnostics,
) -> OptionSettings {
    let mut settings = |keyword| options(map, keyword, modes, origin, diagnostics);
    let mut all = settings("otherwise").only_otherwise();
    all.overlay(&settings("options"));
    all
}

/// The releases. Each is parsed when it is first needed, because most runs need only one.
static LOADED: [OnceLock<Result<Release, Diagnostics>>; RELEASES.len()] =
    [const { OnceLock::new() }; RELEASES.len()];

/// All releases.
///
/// # Errors
/// None as long as the embedded data is valid, which a test ensures.
pub(super) fn releases() -> impl Iterator<Item = Result<&'static Release, Diagnostics>> {
    releases_where(|_| true)
}

/// The releases whose names fulfil `wanted`.
fn releases_where(
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Result<&'static Release, Diagnostics>> {
    let wanted = LOADED.iter().zip(RELEASES).filter(move |(_, (path, _))| wanted(file_name(path)));
    wanted.map(|(loaded, (path, text))| match loaded.get_or_init(|| load(path, text)) {
        Ok(release) => Ok(release),
        Err(found) => Err(without_places(found)),
    })
}

/// Removes the places from diagnostics of embedded files, because these files are in no source map.
fn without_places(found: &Diagnostics) -> Diagnostics {
    let without = |one: &Diagnostic| one.clone().without_labels().at(None);
    Diagnostics(found.0.iter().map(without).collect())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The release of this definitions version.
///
/// # Errors
/// `unsupported-version` if there is no such release.
pub(super) fn release(version: &str) -> Result<&'static Release, Diagnostics> {
    for release in releases_where(|name| name == version).chain(releases()) {
        let release = release?;
        if release.versions().any(|name| name == version) {
            return Ok(release);
        }
    }
    let error =
        Diagnostic::error(Code::UnsupportedVersion, format!("`{version}` cannot be resolved"));
    Err(error.help_opt(did_you_mean(version, versions())).into())
}

/// Every definitions version that can be resolved.
pub(super) fn versions() -> impl Iterator<Item = &'static str> {
    releases().filter_map(Result::ok).flat_map(Release::versions)
}

impl Release {
    fn versions(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name).chain(self.aliases.iter().map(String::as_str))
    }
}

fn load(path: &'static str, text: &str) -> Result<Release, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let document = read(text)?;
    let name = file_name(path);
    let asked = document.root().get("modes").and_then(Node::as_str).unwrap_or_default();
    let modes = modes(asked);
    if modes.modes.is_empty() {
        diagnostics.push(Diagnostic::error(
            Code::InvalidOption,
            format!("{path}: there are no modes `{asked}`"),
        ));
    }
    let origin = OptionOrigin::Release(name);
    let settings = all_options(document.root(), &modes, origin, &mut diagnostics);
    let release = Release { name, aliases: aliases(&document), modes, settings };
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(release) }
}

/// The modes of a table.
fn modes(table: &str) -> ModeTable {
    let of_table = MODES.iter().filter(|(path, _)| path.rsplit('/').nth(1) == Some(table));
    let mode = |&(path, text)| Mode { name: file_name(path), text, read: OnceLock::new() };
    ModeTable { modes: of_table.map(mode).collect() }
}

fn read(text: &str) -> Result<Document, Diagnostic> {
    parse(FileId::DETACHED, text.into(), &Limits::default())
}

fn options(
    root: Node<'_>,
    keyword: &str,
    modes: &ModeTable,
    origin: OptionOrigin,
    diagnostics: &mut Diagnostics,
) -> OptionSettings {
    let map = root.get(keyword);
    map.map(|map| OptionSettings::read(map, modes, |_| origin, diagnostics)).unwrap_or_default()
}

fn aliases(document: &Document) -> Vec<String> {
    let list = document.root().get("aliases");
    list.into_iter().flat_map(Node::items).filter_map(Node::as_str).map(str::to_owned).collect()
}
