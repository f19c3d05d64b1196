//! Restores the parts that only YAML can express, if the definitions were made from a template and
//! keep them.

use super::scope::ConversionScope;
use super::{YamlConverter, place, sweep};
use crate::convert::loss::LossKind;
use crate::convert::patch::{self, PatchTree};
use crate::tosca::v1_0::{Library, TOSCA};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;

/// The namespace of kept parts.
pub(in crate::convert) const EXTENSION: &str = "urn:cuvee:xml:1";

/// The reasons of losses that remain even if the template is restored: the part was added, or goes
/// into a file of its own.
const STAYS: [&str; 2] =
    ["one document holds no files; write an archive or a directory", sweep::FOREIGN];

/// The kept parts of a document.
pub(super) struct KeptParts<'d> {
    root: XmlElement<'d>,
    patches: PatchTree,
    /// The digest of the definitions when the parts were kept.
    of: Option<String>,
}

impl<'d> KeptParts<'d> {
    /// The kept parts in the document of the service template, or in the only document if there is
    /// none.
    pub(super) fn of(library: &Library<'d>, scope: &ConversionScope) -> Option<Self> {
        let document = match scope.service {
            Some(id) => library.document(id),
            None => scope.documents(library).next()?,
        };
        let file = library.documents.get(document)?.file;
        let loaded: &'d _ = library.loaded;
        let root = loaded.documents.iter().find(|it| it.file() == file)?.root();
        let mut patches = PatchTree::default();
        let mut is_any = false;
        for kept in root.elements().filter(|it| it.name().namespace == EXTENSION) {
            let path = place::written(kept, "path").unwrap_or_default();
            let text = (kept.name().local == "Kept").then(|| kept.text());
            // A patch that cannot be parsed is reported like one without a target.
            is_any |= patches.add(&path, text.as_deref());
        }
        let declared = place::child(root, "Extensions").into_iter();
        let mut declared = declared.flat_map(|all| place::children(all, "Extension"));
        let of = declared.find_map(|extension| {
            let mut all = extension.attributes();
            let of = all.find(|it| (it.name().namespace, it.name().local) == (EXTENSION, "of"))?;
            Some(of.collapsed().into_owned())
        });
        is_any.then_some(Self { root, patches, of })
    }
}

/// Whether an element only declares our extension.
pub(super) fn declares_kept(extensions: XmlElement<'_>) -> bool {
    let mut all = extensions.elements();
    all.all(|it| {
        it.name().namespace == TOSCA
            && place::attribute(it, "namespace").is_some_and(|namespace| namespace == EXTENSION)
    })
}

impl YamlConverter<'_, '_> {
    /// The template with its kept parts restored. If the definitions are unchanged since then, only
    /// the losses that restoring cannot undo remain.
    pub(super) fn restored(&mut self, said: &Value) -> Value {
        let Some(kept) = self.kept.take() else { return said.clone() };
        let mut left = 0;
        let restored = kept.patches.applied(said, &mut left);
        if kept.of.is_some_and(|of| of == patch::digest(said)) {
            self.losses.retain(|loss| STAYS.contains(&&*loss.why));
        }
        if left > 0 {
            let construct = match left {
                1 => "a part that only YAML has".to_owned(),
                _ => format!("{left} parts that only YAML has"),
            };
            let why = "the element that had it does not exist any more";
            self.lose(kept.root, "", construct, why, LossKind::Lost);
        }
        restored
    }
}
