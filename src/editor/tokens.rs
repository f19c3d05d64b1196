//! Says what each word of a file is, so that an editor can show it.

use super::TemplateAnalysis;
use super::grammar::NameFamily;
use super::walk::{Word, WordRole, walk_as};
use crate::tosca::{Family, profile};
use cuvee_text::source::Span;
use std::path::Path;

/// What a word is, for an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKind {
    /// A keyname.
    Keyname,
    /// The name of a type.
    Type,
    /// The name of an element of a topology.
    Element,
    /// The name of an input, of deployment or of variability.
    Input,
    /// The name of a part of a type, or of an option.
    Member,
    /// The keyword of an operator, or the name of an expression.
    Operator,
    /// A word of a closed vocabulary.
    Word,
}

impl TokenKind {
    /// All kinds, each at the position of its number.
    pub const ALL: [Self; 7] = [
        Self::Keyname,
        Self::Type,
        Self::Element,
        Self::Input,
        Self::Member,
        Self::Operator,
        Self::Word,
    ];

    /// The name that editors have for such words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyname => "keyword",
            Self::Type => "type",
            Self::Element => "variable",
            Self::Input => "parameter",
            Self::Member => "property",
            Self::Operator => "operator",
            Self::Word => "enumMember",
        }
    }

    fn of(family: NameFamily) -> Self {
        match family {
            NameFamily::Type(_) => Self::Type,
            NameFamily::Input | NameFamily::VariabilityInput => Self::Input,
            NameFamily::Member(_) => Self::Member,
            NameFamily::Expression => Self::Operator,
            NameFamily::Preset => Self::Word,
            NameFamily::Node
            | NameFamily::Relationship
            | NameFamily::Group
            | NameFamily::Policy
            | NameFamily::Output
            | NameFamily::Workflow
            | NameFamily::Repository => Self::Element,
        }
    }
}

/// A word of a file, as an editor shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct EditorToken {
    /// The place of the word.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
    /// Whether it defines a name.
    pub defines: bool,
    /// Whether it names something of TOSCA.
    pub is_built_in: bool,
}

impl TemplateAnalysis<'_> {
    /// The words of a file whose meaning is known, in order.
    pub fn tokens(&self, path: &Path) -> Vec<EditorToken> {
        let (file, mut found) = (self.file(path), Vec::new());
        for &(root, content) in &self.roots {
            if Some(root.document().file()) == file {
                walk_as(root, content, &mut |word| found.extend(self.token(word)));
            }
        }
        found.sort_unstable();
        // Merged keys stand elsewhere, and an alias is where its anchor is.
        found.retain(|token| Some(token.span.file) == file);
        found.dedup_by_key(|token| token.span);
        found
    }

    fn token(&self, word: Word<'_, '_>) -> Option<EditorToken> {
        let text = word.text()?;
        let (mut defines, mut is_built_in) = (false, false);
        let kind = match word.role {
            WordRole::Defines(family) => {
                defines = true;
                TokenKind::of(family)
            }
            WordRole::Names(families) => {
                let known = self.family_of(word);
                let of_data = profile::primitive(text).is_some() && families.contains(&DATA);
                is_built_in = known.map_or(of_data, |(_, is_built_in)| is_built_in);
                let family = known.map(|(family, _)| family).or(families.first().copied());
                TokenKind::of(family?)
            }
            // A word that is no keyname is no keyword.
            WordRole::Keyname(grammar) if grammar.names(false).contains(&text) => {
                TokenKind::Keyname
            }
            WordRole::Operator if word.operator().is_some() => TokenKind::Operator,
            WordRole::OptionName => TokenKind::Member,
            WordRole::OneOf(_) | WordRole::OptionValue | WordRole::Truth | WordRole::Version => {
                TokenKind::Word
            }
            WordRole::Step => TokenKind::Member,
            WordRole::Entry if self.names_part(&word) => TokenKind::Member,
            _ => return None,
        };
        let place = if word.piece.is_some() { self.place(&word) } else { Some(word.node.span()) };
        let span = self.typed_span(place?)?;
        Some(EditorToken { span, kind, defines, is_built_in })
    }
}

const DATA: NameFamily = NameFamily::Type(Family::Data);
