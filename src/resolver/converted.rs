//! Converts a variant to TOSCA 1.0.

use super::Resolver;
use super::conversion::{
    Conversion, ConversionDialect, ConversionFormat, ConversionQuery, in_two_steps,
};
use crate::convert::{
    ConvertedVariant, ConvertedXml, LocatedFile, Loss, LossKind, ToXmlSettings, to_xml,
};
use crate::diagnostic::Diagnostics;
use crate::explore::types;
use crate::tosca::load::{Extent, Loaded};
use crate::tosca::v2_0;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Interpreted;
use crate::variability::resolve::{self, How, PlainVariant};
use cuvee_sat::progress::Progress;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::source::FileId;
use std::path::Path;

/// The directory of an archive that holds its definitions.
const DEFINITIONS: &str = "Definitions";

impl Resolver {
    /// Converts the chosen variant to definitions of TOSCA 1.0.
    pub(super) fn convert_template(
        &self,
        query: &ConversionQuery,
    ) -> Result<Answer<Conversion>, Failure> {
        // What the variant is made of is freed, since converting takes as much memory.
        let (how, freeing) = (self.how(), How { keeps_memory: false, ..self.how() });
        let counterparts = self.counterparts(query)?;
        self.answer(Extent::Whole, |loaded| {
            if v2_0::is_of(loaded.whole(loaded.template())?) {
                return Err(in_two_steps("templates of TOSCA 2.0", "1.0").into());
            }
            let interpreted = Interpreted::of(loaded, &self.choice)?;
            let (variant, warnings) = resolve::variant(&interpreted, &self.choice, &freeing)?;
            drop(interpreted);
            let PlainVariant { document, topology, inputs } = variant;
            let settings = ToXmlSettings {
                leaves_out: query.leaves_out,
                is_single: query.is_single,
                is_opentosca: query.dialect == ConversionDialect::OpenTosca,
                recorded: if query.records_inputs { inputs } else { Vec::new() },
                counterparts,
            };
            let converted = types::known(loaded, &self.choice, InputMode::Closed, |types| {
                let variant = ConvertedVariant {
                    document: &document,
                    topology: &topology,
                    types,
                    file: loaded.template(),
                    locate: &|file, name| locate(loaded, file, name),
                };
                self.progress.clone().phase("converting");
                Ok(to_xml(&variant, &settings)?)
            })?;
            how.leave((document, topology));
            Ok((written(loaded, converted, query.is_single)?, warnings))
        })
    }
}

/// The file that a name in another file leads to, and its path from the root of the package.
fn locate(loaded: &Loaded, file: FileId, name: &str) -> Option<LocatedFile> {
    let package = loaded.package();
    let directory = loaded.sources().file(file).asked().parent().unwrap_or(Path::new(""));
    let path = package.located(directory, name)?;
    Some(LocatedFile { name: package.below_root(&path), path })
}

/// The files of a conversion: the definitions, and the files that they name.
fn written(
    loaded: &Loaded,
    converted: ConvertedXml,
    is_single: bool,
) -> Result<Conversion, Diagnostics> {
    let ConvertedXml { id, text, others, mut losses, located } = converted;
    let documents = std::iter::once((format!("{id}.tosca"), text)).chain(others);
    let documents = documents.map(|(name, text)| (Path::new(DEFINITIONS).join(name), text.into()));
    let mut files: Vec<(_, Vec<u8>)> = documents.collect();
    let package = loaded.package();
    for (name, path) in located {
        if is_single {
            losses.push(Loss {
                path: name.clone(),
                span: None,
                construct: format!("the file `{name}`"),
                why: "one document holds no files; write an archive or a directory".to_owned(),
                kind: LossKind::Lost,
            });
            continue;
        }
        files.extend(package.contents(&name, &path)?);
    }
    for other in package.others() {
        losses.push(Loss {
            path: "Other-Definitions".to_owned(),
            span: None,
            construct: format!("`{}`", other.display()),
            why: "one template is converted at a time".to_owned(),
            kind: LossKind::Lost,
        });
    }
    let format = ConversionFormat::Xml;
    Ok(Conversion { files, losses: losses.ordered(), format, meta: package.meta().cloned() })
}
