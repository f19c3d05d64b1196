//! Embedded data: the option defaults of each definitions version, and the tables of pruning modes.
//!
//! A new version or mode is a file in `presets/` and a line here.

use super::OptionOrigin;
use super::settings::OptionSettings;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::FileId;
use crate::text::yaml::{Document, Limits, Node, parse};
use std::sync::OnceLock;

/// Name and text of files below `presets/`.
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

/// A pruning mode.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) name: &'static str,
    aliases: Vec<String>,
    pub(super) settings: OptionSettings,
}

/// The pruning modes that a release knows.
#[derive(Debug, Default)]
pub(super) struct ModeTable {
    modes: Vec<Mode>,
}

/// What a definitions version says about options.
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
        self.modes
            .iter()
            .find(|mode| mode.name == name || mode.aliases.iter().any(|alias| alias == name))
    }

    /// Every mode, without aliases.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.modes.iter().map(|mode| mode.name).collect()
    }
}

/// A release is read when it is asked for: most runs need one of them.
static LOADED: [OnceLock<Result<Release, Diagnostics>>; RELEASES.len()] =
    [const { OnceLock::new() }; RELEASES.len()];

/// All releases.
///
/// # Errors
/// None while the embedded data is sound, which a test holds.
pub(super) fn releases() -> impl Iterator<Item = Result<&'static Release, Diagnostics>> {
    releases_where(|_| true)
}

/// The releases whose names are wanted.
fn releases_where(
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Result<&'static Release, Diagnostics>> {
    let wanted = LOADED.iter().zip(RELEASES).filter(move |(_, (path, _))| wanted(file_name(path)));
    wanted.map(|(loaded, (path, text))| match loaded.get_or_init(|| load(path, text)) {
        Ok(release) => Ok(release),
        // Embedded files are in no source map, so their places would mislead.
        Err(found) => Err(Diagnostics(
            found
                .0
                .iter()
                .map(|one| Diagnostic { span: None, labels: Vec::new(), ..one.clone() })
                .collect(),
        )),
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The release of this definitions version.
///
/// # Errors
/// `unsupported-version`.
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
    let modes = load_modes(asked, &mut diagnostics);
    if modes.modes.is_empty() {
        diagnostics.push(Diagnostic::error(
            Code::InvalidOption,
            format!("{path}: there are no modes `{asked}`"),
        ));
    }
    let settings = options(&document, &modes, OptionOrigin::Release(name), &mut diagnostics);
    let release = Release { name, aliases: aliases(&document), modes, settings };
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(release) }
}

fn load_modes(table: &str, diagnostics: &mut Diagnostics) -> ModeTable {
    let mut modes = Vec::new();
    for &(path, text) in MODES {
        let name = file_name(path);
        if path.rsplit('/').nth(1) != Some(table) {
            continue;
        }
        let Some(document) = diagnostics.ok(read(text)) else { continue };
        // A mode knows no modes, so it cannot name another one.
        let settings =
            options(&document, &ModeTable::default(), OptionOrigin::Mode(name), diagnostics);
        modes.push(Mode { name, aliases: aliases(&document), settings });
    }
    ModeTable { modes }
}

fn read(text: &str) -> Result<Document, Diagnostic> {
    parse(FileId::DETACHED, text.into(), &Limits::default())
}

fn options(
    document: &Document,
    modes: &ModeTable,
    origin: OptionOrigin,
    diagnostics: &mut Diagnostics,
) -> OptionSettings {
    let map = document.root().get("options");
    map.map(|map| OptionSettings::read(map, modes, |_| origin, diagnostics)).unwrap_or_default()
}

fn aliases(document: &Document) -> Vec<String> {
    let list = document.root().get("aliases");
    list.into_iter().flat_map(Node::items).filter_map(Node::as_str).map(str::to_owned).collect()
}
