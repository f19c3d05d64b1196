//! Converts a template of TOSCA Simple Profile 1.3 to TOSCA 2.0, and back, with the files that it
//! imports.

use super::Resolver;
use super::conversion::{Conversion, ConversionFormat, ConversionQuery};
use crate::convert::{
    Loss, LossKind, Losses, NamedPart, NeededType, TargetVersion, VersionContext,
    VersionedDocument, converted, converted_part, is_supplied_file, renamed_types,
    supplied_document,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::csar::{self, Extension};
use crate::tosca::import::ImportDefinition;
use crate::tosca::load::{Extent, Loaded, NeededImports};
use crate::tosca::types::scope::Links;
use crate::tosca::types::{Refusals, TypeId, Types};
use crate::tosca::v2_0;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::is_expression;
use crate::variability::options;
use crate::variability::prepared::Interpreted;
use crate::variability::resolution::EXTENSION;
use crate::variability::template::{self, NEWEST_VERSION, is_keyword, is_read_as_wrapped};
use cuvee_sat::progress::Progress;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::source::{FileId, Span, normalize};
use cuvee_text::yaml::{Document, Limits, Node, parse_filtered};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// The file of the types that are supplied.
const SUPPLIED: &str = "tosca_simple_1_3.yaml";

/// Packs files as they are: nothing is resolved.
const AS_THEY_ARE: Extension = Extension { is_version: |_| false, key: "" };

/// The documents to convert with the paths of their results; the template comes first.
type PlacedDocuments<'l> = Vec<(&'l Document, PathBuf)>;

/// A file that the variability of a template names: its root, what it says, and the path of its
/// result.
type VariabilityFile<'l> = (Node<'l>, NamedPart, PathBuf);

/// Files by their paths.
type FilesByPath = Vec<(PathBuf, Vec<u8>)>;

/// The documents, and the files that are not converted.
type PlacedFiles<'l> = (PlacedDocuments<'l>, FilesByPath);

/// The path from a document to a file that it imports by a name which leads elsewhere now, and the
/// one to another document.
type PathsFrom<'t> = (&'t dyn Fn(&str) -> Option<String>, &'t dyn Fn(FileId) -> Option<String>);

/// A template of a conversion, and the documents that it imports.
struct VersionedTemplate<'l> {
    template: &'l Document,
    documents: PlacedDocuments<'l>,
    /// The files that its variability names, with the paths of their results.
    named: Vec<VariabilityFile<'l>>,
    types: Types<'l>,
    links: Links,
}

/// The files of one conversion.
struct VersionFiles<'l> {
    loaded: &'l Loaded,
    to: TargetVersion,
    /// The template, and those that its archive lists beside it.
    templates: Vec<VersionedTemplate<'l>>,
    /// The files that are not converted.
    others: FilesByPath,
    /// Whether one document is written, without files beside it.
    is_single: bool,
}

/// What was written so far.
#[derive(Default)]
struct WrittenVersions {
    files: FilesByPath,
    losses: Losses,
    needed: Vec<NeededType>,
    done: FxHashSet<FileId>,
}

impl Resolver {
    /// Converts the template to another version of TOSCA.
    pub(super) fn convert_version(
        &self,
        query: &ConversionQuery,
        to: TargetVersion,
    ) -> Result<Answer<Conversion>, Failure> {
        self.answer(Extent::Whole, |loaded| {
            check(loaded.whole(loaded.template())?, to)?;
            readable(loaded.whole(loaded.template())?)?;
            let mut warnings = Diagnostics::default();
            let beside = match query.is_single {
                true => Vec::new(),
                false => listed_templates(loaded, to, &mut warnings),
            };
            let mut files = self.version_files(loaded, query, to, &mut warnings)?;
            for other in &beside {
                files.add(self.version_files(other, query, to, &mut warnings)?);
            }
            // What cannot be read is not converted, and its import stays.
            for found in warnings.0.iter_mut().filter(|found| found.severity == Severity::Error) {
                found.severity = Severity::Warning;
            }
            self.progress.clone().phase("converting");
            Ok((files.converted(), warnings))
        })
    }

    /// The files of one template.
    fn version_files<'l>(
        &self,
        loaded: &'l Loaded,
        query: &ConversionQuery,
        to: TargetVersion,
        warnings: &mut Diagnostics,
    ) -> Result<VersionFiles<'l>, Diagnostics> {
        let template = loaded.whole(loaded.template())?;
        let all = ImportDefinition::all(template.root());
        let imported = loaded.import(all, NeededImports::Files, warnings);
        let files = [loaded.library(), &*imported.files, &[loaded.template()]].concat();
        let documents = loaded.documents(&files)?;
        let all = self.choice.beside_profiles(&documents, loaded.sources());
        let types = Types::linked(all, &imported.links, &VARIABILITY_GROUPS);
        let (documents, others) = match query.is_single {
            true => (alone(loaded, template), Vec::new()),
            false => placed(loaded, &files)?,
        };
        let named = self.named(loaded, &documents);
        let links = imported.links;
        let templates = vec![VersionedTemplate { template, documents, named, types, links }];
        Ok(VersionFiles { loaded, to, templates, others, is_single: query.is_single })
    }
}

impl Resolver {
    /// The files with rules and conditions that the template names, below its directory.
    fn named<'l>(
        &self,
        loaded: &'l Loaded,
        documents: &PlacedDocuments<'l>,
    ) -> Vec<VariabilityFile<'l>> {
        let Ok(interpreted) = Interpreted::of(loaded, &self.choice) else { return Vec::new() };
        let base = normalize(loaded.base());
        let template = documents.first().and_then(|(_, path)| path.parent());
        let template = template.map(Path::to_owned).unwrap_or_default();
        let [rules, conditions] = interpreted.beside();
        let rules = rules.into_iter().map(|root| (root, NamedPart::Rules));
        let all = rules.chain(conditions.into_iter().map(|root| (root, NamedPart::Conditions)));
        let placed = |(root, part): (Node<'l>, NamedPart)| {
            let file = root.document().file();
            let path = normalize(loaded.sources().get(file)?.asked());
            let below = path.strip_prefix(&base).ok()?;
            (file != loaded.template()).then(|| (root, part, template.join(below)))
        };
        all.filter_map(placed).collect()
    }
}

/// The templates that the archive lists beside this one, as far as they are of the other version.
fn listed_templates(loaded: &Loaded, to: TargetVersion, warnings: &mut Diagnostics) -> Vec<Loaded> {
    let read = loaded.others().filter_map(|other| warnings.all_ok(other));
    let is_of_other_version =
        |it: &Loaded| it.whole(it.template()).is_ok_and(|template| check(template, to).is_ok());
    read.filter(is_of_other_version).collect()
}

/// Checks that a template is of the other version.
fn check(template: &Document, to: TargetVersion) -> Result<(), Diagnostic> {
    let root = template.root();
    let version = root.get("tosca_definitions_version");
    let name = version.and_then(Node::text).unwrap_or_default();
    let help = match to {
        TargetVersion::Two if v2_0::is_of(template) => "it is of TOSCA 2.0 already",
        TargetVersion::Simple if !v2_0::is_of(template) => {
            "only templates of TOSCA 2.0 can be written as TOSCA 1.3"
        }
        TargetVersion::Two if name.is_empty() => "begin it with `tosca_definitions_version`",
        _ => return Ok(()),
    };
    let message = "the template cannot be written in this version";
    let at = version.unwrap_or(root).span();
    Err(Diagnostic::error(Code::UnsupportedVersion, message).at(at).help(help))
}

/// Refuses a template that no other command takes: of a version that nobody knows, of another shape,
/// or with keynames that its version has not either. Of what is written for it nobody would see that.
fn readable(template: &Document) -> Result<(), Diagnostics> {
    const REFUSED: [Code; 2] = [Code::UnknownKeyword, Code::InvalidTemplate];
    let mut found = Diagnostics::default();
    template::parse(template.root(), &mut found)?;
    found.0.retain(|found| {
        found.severity == Severity::Error && REFUSED.iter().any(|&code| found.code == code)
    });
    if found.has_errors() { Err(found) } else { Ok(()) }
}

/// The template alone.
fn alone<'l>(loaded: &'l Loaded, template: &'l Document) -> PlacedDocuments<'l> {
    let path = loaded.package().template.file_name().unwrap_or_default();
    vec![(template, path.into())]
}

/// The template with the files that belong to it: the documents among these, and the others.
fn placed<'l>(loaded: &'l Loaded, files: &[FileId]) -> Result<PlacedFiles<'l>, Diagnostics> {
    let package = loaded.package();
    let path = |file: FileId| normalize(loaded.sources().file(file).asked());
    let rest = files.iter().filter(|file| **file != loaded.template());
    let own: Vec<FileId> = std::iter::once(loaded.template()).chain(rest.copied()).collect();
    if let Some(root) = package.root() {
        let below = |file: &FileId| {
            let below = package.below_root(&path(*file));
            Some((loaded.whole(*file).ok()?, PathBuf::from(below?)))
        };
        let documents: Vec<_> = own.iter().filter_map(below).collect();
        let mut others = package.contents("", root)?;
        others.retain(|(path, _)| {
            let is_hidden = path.iter().any(|part| part.to_string_lossy().starts_with('.'));
            let is_meta =
                path.as_path() == Path::new(csar::META) || path.as_os_str() == "TOSCA.meta";
            !is_hidden && !is_meta && documents.iter().all(|(_, own)| own != path)
        });
        return Ok((documents, others));
    }
    if let Ok(files) = gathered(loaded, &own) {
        return Ok(files);
    }
    // Some files that these name are not there.
    let parents = own.iter().filter_map(|file| path(*file).parent().map(Path::to_owned));
    let root = parents.reduce(|root, path| {
        let same = root.components().zip(path.components()).take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    });
    let root = root.unwrap_or_default();
    let below = |file: &FileId| {
        let below = path(*file).strip_prefix(&root).ok()?.to_owned();
        Some((loaded.whole(*file).ok()?, below))
    };
    Ok((own.iter().filter_map(below).collect(), Vec::new()))
}

/// The documents, and the files that they name.
fn gathered<'l>(loaded: &'l Loaded, own: &[FileId]) -> Result<PlacedFiles<'l>, Diagnostic> {
    let package = loaded.package();
    let path = |file: FileId| normalize(loaded.sources().file(file).asked());
    let texts: Vec<_> =
        own.iter().map(|file| (path(*file), loaded.sources().file(*file).text())).collect();
    let template = texts.first().map_or("", |(_, text)| &***text);
    let beside = texts.get(1..).unwrap_or_default();
    let beside: Vec<_> = beside.iter().map(|(path, text)| (path.as_path(), &***text)).collect();
    let gathered = csar::gather(package, loaded.sources(), template, &beside, &AS_THEY_ARE)?;
    let mut gathered = gathered.into_iter();
    let documents = own
        .iter()
        .zip(gathered.by_ref())
        .filter_map(|(file, (path, _))| Some((loaded.whole(*file).ok()?, path)));
    let documents = documents.collect();
    Ok((documents, gathered.collect()))
}

impl WrittenVersions {
    fn add(&mut self, path: &Path, document: VersionedDocument) {
        let VersionedDocument { text, losses, needed } = document;
        let more = needed.into_iter().filter(|it| !self.needed.contains(it));
        let more: Vec<_> = more.collect();
        self.needed.extend(more);
        self.losses.extend(losses.entries().iter().cloned());
        self.files.push((path.to_owned(), text.into_bytes()));
    }
}

impl<'l> VersionFiles<'l> {
    /// The documents of all templates.
    fn documents(&self) -> impl Iterator<Item = &(&'l Document, PathBuf)> {
        self.templates.iter().flat_map(|template| &template.documents)
    }

    /// Adds a template of the same archive.
    fn add(&mut self, more: Self) {
        self.templates.extend(more.templates);
        let paths: FxHashSet<_> = self.documents().map(|(_, path)| path.clone()).collect();
        self.others.retain(|(path, _)| !paths.contains(path));
    }

    fn converted(self) -> Conversion {
        let supplied = self.supplied_path();
        let beside = self.documents().nth(self.templates.len()).map(|_| supplied.as_path());
        let mut written = WrittenVersions::default();
        for template in &self.templates {
            self.convert(template, beside, &mut written);
        }
        let WrittenVersions { mut files, mut losses, needed, .. } = written;
        if let [VersionedTemplate { types, links, documents, named, .. }, ..] = &self.templates[..]
        {
            if beside.is_some() && !needed.is_empty() {
                files.push((supplied, supplied_document(types, &needed).into_bytes()));
            }
            losses.extend(self.left_behind(links, documents));
            if self.is_single {
                losses.extend(named.iter().map(named_behind));
            }
        }
        let is_written = |path: &PathBuf| files.iter().any(|(own, _)| own == path);
        let others: Vec<_> =
            self.others.into_iter().filter(|(path, _)| !is_written(path)).collect();
        losses.extend(others.iter().filter_map(|other| Self::left_as_it_is(self.to, other)));
        files.extend(others);
        let meta = self.loaded.package().meta().cloned().map(|mut meta| {
            meta.is_of_2_0 = self.to == TargetVersion::Two;
            meta
        });
        let format = match self.to {
            TargetVersion::Two => ConversionFormat::Tosca2,
            TargetVersion::Simple => ConversionFormat::Yaml,
        };
        Conversion { files, losses: losses.ordered(), format, meta }
    }

    /// What is told of a file that is copied although it is of the other version.
    fn left_as_it_is(to: TargetVersion, (path, content): &(PathBuf, Vec<u8>)) -> Option<Loss> {
        const VERSION: &str = "tosca_definitions_version";
        let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
        let text = std::str::from_utf8(content).ok().filter(|_| is_yaml)?;
        let only_version = |keys: &[&str]| *keys == [VERSION];
        let limits = Limits::default();
        let parsed = parse_filtered(FileId::DETACHED, text.into(), &limits, &only_version).ok()?;
        let is_of_2_0 = parsed.root().get(VERSION)?.text()? == v2_0::VERSION;
        let name = if is_of_2_0 { "2.0" } else { "1.3" };
        (is_of_2_0 != (to == TargetVersion::Two)).then(|| Loss {
            path: path.display().to_string(),
            span: None,
            construct: format!("a file of TOSCA {name}"),
            why: "the template does not import it; convert it by itself, or write what tests expect anew with `cuvee test --update`".to_owned(),
            kind: LossKind::Opaque,
        })
    }

    /// Converts the documents of a template that were not written for another one. Types are supplied
    /// `beside` them, or in each.
    fn convert(
        &self,
        of: &VersionedTemplate<'l>,
        beside: Option<&Path>,
        written: &mut WrittenVersions,
    ) {
        let VersionedTemplate { documents, types, links, .. } = of;
        let refusals = match self.to {
            TargetVersion::Two => types.refusals(),
            TargetVersion::Simple => Refusals::default(),
        };
        let renamed = renamed_types(types, self.to);
        let bringing = self.bringing(links);
        let gone: FxHashSet<FileId> = match self.to {
            TargetVersion::Simple => {
                let gone = documents.iter().skip(1).map(|(document, _)| *document);
                gone.filter(|it| is_supplied_file(it)).map(Document::file).collect()
            }
            TargetVersion::Two => FxHashSet::default(),
        };
        let leaving = leading_to(links, &gone);
        for (document, path) in documents {
            if gone.contains(&document.file()) || !written.done.insert(document.file()) {
                continue;
            }
            if v2_0::is_of(document) == (self.to == TargetVersion::Two) {
                written.files.push((path.clone(), document.text().as_bytes().to_vec()));
                continue;
            }
            let beside = beside.map(|supplied| relative(path, supplied));
            let directory = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
            let imported = |name: &str| {
                if let Some(named) = name.strip_prefix('/').map(Path::new) {
                    let is_there = documents.iter().any(|(_, own)| own == named);
                    return is_there.then(|| relative(path, named));
                }
                let named = normalize(&directory(&self.asked(document)).join(name));
                let (_, own) = documents.iter().find(|(other, _)| self.asked(other) == named)?;
                let is_there = normalize(&directory(path).join(name)) == *own;
                (!is_there).then(|| relative(path, own))
            };
            let path_to = |file: FileId| {
                let (_, other) = documents.iter().find(|(document, _)| document.file() == file)?;
                Some(relative(path, other))
            };
            let imports = [&bringing, &leaving];
            let paths = (&imported as _, &path_to as _);
            let context = context((types, &renamed, &refusals), beside, paths, imports);
            written.add(path, converted(document, self.to, &context));
        }
        self.convert_named(of, (types, &renamed, &refusals), written);
    }

    /// Converts the files that the variability of a template names.
    fn convert_named(
        &self,
        of: &VersionedTemplate<'l>,
        types: (&Types<'l>, &FxHashMap<TypeId, String>, &Refusals),
        written: &mut WrittenVersions,
    ) {
        let is_written = v2_0::is_of(of.template) == (self.to == TargetVersion::Two);
        if self.is_single || is_written {
            return;
        }
        let none = FxHashSet::default();
        let context = context(types, None, (&|_| None, &|_| None), [&none, &none]);
        for (root, part, path) in &of.named {
            if written.done.insert(root.document().file()) {
                let part = (*root, *part);
                written.add(path, converted_part(part, of.template, self.to, &context));
            }
        }
    }

    /// The imports of files that are of the other version, and not converted with the documents.
    fn left_behind(&self, links: &Links, documents: &PlacedDocuments<'l>) -> Vec<Loss> {
        let is_own = |file: FileId| documents.iter().any(|(it, _)| it.file() == file);
        let is_other = |file: FileId| {
            let is_of_2_0 = self.loaded.whole(file).is_ok_and(v2_0::is_of);
            is_of_2_0 != (self.to == TargetVersion::Two)
        };
        let why = match self.is_single {
            true => {
                "one document is written; convert it, too, or write to a directory or an archive"
            }
            false => "it does not belong to the files that are written; convert it, too",
        };
        let left = links.links.iter();
        let left = left.filter(|it| is_own(it.from) && !is_own(it.to) && is_other(it.to));
        left.map(|it| lost(("imports", it.span), "an imported file", why)).collect()
    }

    /// The path of a document in the source.
    fn asked(&self, document: &Document) -> PathBuf {
        normalize(self.loaded.sources().file(document.file()).asked())
    }

    /// The imports that bring more than types in version 1.3, by their places.
    fn bringing(&self, links: &Links) -> FxHashSet<Span> {
        const SECTIONS: [&str; 7] = [
            "inputs",
            "outputs",
            "node_templates",
            "relationship_templates",
            "groups",
            "policies",
            "workflows",
        ];
        let is_empty = |it: Node<'_>| it.entries().len() == 0 && it.items().len() == 0;
        let brings = |document: &Document| {
            let topology = document.root().get("topology_template");
            let is_other = v2_0::is_of(document) == (self.to == TargetVersion::Simple);
            is_other
                && topology.is_some_and(|topology| {
                    let mut sections = SECTIONS.into_iter().filter_map(|it| topology.get(it));
                    topology.get("substitution_mappings").is_none()
                        && sections.any(|it| !is_empty(it))
                })
        };
        let imported: FxHashSet<_> = links.links.iter().map(|link| link.to).collect();
        let bringing =
            imported.into_iter().filter(|file| self.loaded.whole(*file).is_ok_and(brings));
        leading_to(links, &bringing.collect())
    }

    /// Where the supplied types go: beside the template, by a name that no other file has.
    fn supplied_path(&self) -> PathBuf {
        let template = self.documents().next().map(|(_, path)| path.as_path());
        let directory = template.and_then(Path::parent).unwrap_or(Path::new(""));
        let is_taken = |path: &Path| {
            self.documents().any(|(_, own)| own == path)
                || self.others.iter().any(|(own, _)| own == path)
        };
        let mut names = std::iter::once(SUPPLIED.to_owned())
            .chain((2..100).map(|number| format!("{number}_{SUPPLIED}")));
        let free = names.find(|name| !is_taken(&directory.join(name)));
        directory.join(free.unwrap_or_else(|| SUPPLIED.to_owned()))
    }
}

fn context<'t, 'l>(
    (types, renamed, refusals): (&'t Types<'l>, &'t FxHashMap<TypeId, String>, &'t Refusals),
    beside: Option<String>,
    (imported, path_to): PathsFrom<'t>,
    [bringing, leaving]: [&'t FxHashSet<Span>; 2],
) -> VersionContext<'t, 'l> {
    VersionContext {
        types,
        renamed,
        refusals,
        bringing,
        is_word: is_keyword,
        is_wrapped: is_read_as_wrapped,
        is_expression,
        extended: NEWEST_VERSION,
        options: options::carried,
        mark: EXTENSION.key,
        beside,
        imported,
        path_to,
        leaving,
    }
}

/// The imports that lead to these files, by their places.
fn leading_to(links: &Links, files: &FxHashSet<FileId>) -> FxHashSet<Span> {
    links.links.iter().filter(|link| files.contains(&link.to)).map(|link| link.span).collect()
}

/// What is told of a file that is named beside the only document that is written, and not converted.
fn named_behind((root, part, _): &VariabilityFile<'_>) -> Loss {
    let (path, construct) = match part {
        NamedPart::Rules => ("qualities", "a file of technology rules"),
        NamedPart::Conditions => ("type_specific_conditions", "a file with conditions of types"),
    };
    let why = "one document is written; write to a directory or an archive";
    lost((path, root.span()), construct, why)
}

fn lost((path, span): (&str, Span), construct: &str, why: &str) -> Loss {
    Loss {
        path: path.to_owned(),
        span: Some(span),
        construct: construct.to_owned(),
        why: why.to_owned(),
        kind: LossKind::Lost,
    }
}

/// The name by which one file imports another.
fn relative(from: &Path, to: &Path) -> String {
    let directory: Vec<_> = from.parent().into_iter().flat_map(Path::iter).collect();
    let target: Vec<_> = to.iter().collect();
    let same = directory.iter().zip(&target).take_while(|(one, other)| one == other).count();
    let up = directory.iter().skip(same).map(|_| "..".to_owned());
    let down = target.iter().skip(same).map(|part| part.to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}
