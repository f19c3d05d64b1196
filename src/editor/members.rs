//! Finds where parts of types are defined and named.
//!
//! Parts that a word may name are renamed together: alternatives of one element, what a definition
//! refines, or what stands at an anchor that several elements use. So parts form classes, of which
//! all places are known, unless a word of the name may belong to something that is not known.

use super::TemplateAnalysis;
use super::grammar::{MemberKind, NameFamily};
use super::owners::DefinedMember;
use super::parts::WordMeaning;
use super::walk::{Word, WordRole, is_at, member_of, walk_as};
use crate::tosca::Family;
use cuvee_text::source::Span;
use rustc_hash::FxHashMap;

/// The name of a part of a type, with its places.
pub(super) struct MemberName<'a> {
    pub name: &'a str,
    /// The parts that have the name, and share it.
    pub parts: Vec<DefinedMember<'a>>,
    pub definitions: Vec<Span>,
    pub uses: Vec<Span>,
    /// Words in other letters than those of the name.
    pub written_otherwise: Vec<Span>,
    /// Words that may name the part, or something that is not known.
    pub undecided: Vec<Span>,
    /// Where the new name, if there is one, would meet another one.
    pub clashes: Vec<Span>,
}

impl MemberName<'_> {
    /// All places of the name.
    pub(super) fn places(&self) -> impl Iterator<Item = Span> {
        self.definitions.iter().chain(&self.uses).copied()
    }
}

/// A word that has the name of a part.
struct NamedWord<'a> {
    /// The place of the word, and whether it is written as it is.
    place: (Span, bool),
    role: WordRole,
    meaning: WordMeaning<'a>,
    /// Another part that the word would name by the new name.
    clash: Option<Span>,
}

/// The words of a name.
#[derive(Default)]
struct NamedWords<'a> {
    all: Vec<NamedWord<'a>>,
    /// Words of the new name, which are parts that would have been named.
    taken: Vec<(Span, WordMeaning<'a>)>,
}

/// Which parts share a name, by the places of their first definitions.
#[derive(Default)]
struct SharedNames {
    /// For each part another one that it shares the name with, or itself.
    next: FxHashMap<Span, Span>,
}

impl SharedNames {
    fn first(&mut self, part: Span) -> Span {
        let mut first = part;
        while let Some(next) = self.next.get(&first).filter(|next| **next != first) {
            first = *next;
        }
        self.next.insert(part, first);
        first
    }

    fn share(&mut self, one: Span, other: Span) {
        let (one, other) = (self.first(one), self.first(other));
        self.next.insert(one, other);
    }
}

impl<'a> TemplateAnalysis<'a> {
    /// Whether a word names a part of a type.
    pub(super) fn names_part(&self, word: &Word<'_, '_>) -> bool {
        let scope = self.scope(Some(word.node.span().file));
        let meaning = scope.zip(word.text()).map(|(scope, text)| scope.meaning(word, text));
        meaning.is_some_and(|meaning| !meaning.parts.is_empty())
    }

    /// The name of a part of a type at some places. With a new name, what that would meet.
    pub(super) fn member_at(&self, seeds: &[Span], new: Option<&str>) -> Option<MemberName<'a>> {
        let name = seeds.iter().find_map(|at| self.member_word(*at))?;
        let words = self.words(name, new);
        let mut shared = SharedNames::default();
        let mut at_place: FxHashMap<Span, Span> = FxHashMap::default();
        for word in &words.all {
            for part in &word.meaning.parts {
                let first = *at_place.entry(word.place.0).or_insert(part.key.span());
                shared.share(first, part.key.span());
            }
        }
        let is_seed = |word: &&NamedWord<'_>| seeds.iter().any(|at| is_at(word.place.0, *at));
        let seeds = words.all.iter().filter(is_seed).flat_map(|word| &word.meaning.parts);
        let seeds: Vec<_> = seeds.map(|part| shared.first(part.key.span())).collect();
        (!seeds.is_empty()).then(|| {
            self.class(name, words, &mut |part: &DefinedMember<'_>| {
                seeds.contains(&shared.first(part.key.span()))
            })
        })
    }

    /// What is known of the parts that share a name.
    fn class(
        &self,
        name: &'a str,
        words: NamedWords<'a>,
        is_one: &mut dyn FnMut(&DefinedMember<'_>) -> bool,
    ) -> MemberName<'a> {
        let mut found = MemberName {
            name,
            parts: Vec::new(),
            definitions: Vec::new(),
            uses: Vec::new(),
            written_otherwise: Vec::new(),
            undecided: Vec::new(),
            clashes: Vec::new(),
        };
        let mut others = Vec::new();
        for word in words.all {
            let (place, is_written) = word.place;
            if !word.meaning.parts.iter().any(&mut *is_one) {
                others.push(word);
                continue;
            }
            let spans = match word.role {
                _ if !is_written => &mut found.written_otherwise,
                WordRole::Defines(_) => &mut found.definitions,
                _ => &mut found.uses,
            };
            spans.push(place);
            if word.meaning.is_open {
                found.undecided.push(place);
            }
            found.clashes.extend(word.clash);
            found.parts.extend(word.meaning.parts);
        }
        found.parts.sort_by_key(|part| part.key.span());
        found.parts.dedup_by_key(|part| part.key.span());
        let open = others.iter().filter(|it| it.meaning.is_open && self.may_be(it.role, &found));
        let open: Vec<_> = open.map(|it| it.place.0).collect();
        found.undecided.extend(open);
        let mut taken = words.taken.into_iter();
        found
            .clashes
            .extend(taken.find_map(|(span, meaning)| {
                meaning.parts.iter().any(&mut *is_one).then_some(span)
            }));
        found
    }

    /// Whether a word may name one of some parts.
    fn may_be(&self, role: WordRole, name: &MemberName<'_>) -> bool {
        let is_of_data = |part: &DefinedMember<'_>| {
            self.types.is_some_and(|types| types.place(part.owner).0 == Family::Data)
        };
        let kind_of = |kind: MemberKind| name.parts.iter().any(|part| part.kind.may_be(kind));
        match role {
            // Nothing else has its names in values.
            WordRole::Entry => name.parts.iter().any(is_of_data),
            WordRole::Implementation => kind_of(MemberKind::Artifact),
            WordRole::Names(families) => member_of(families).is_some_and(kind_of),
            WordRole::Defines(NameFamily::Member(kind)) => kind_of(kind),
            _ => true,
        }
    }

    /// The text of the word at a place, if it may name a part of a type.
    fn member_word(&self, at: Span) -> Option<&'a str> {
        let mut found = None;
        let here = self.roots.iter().filter(|(root, _)| root.document().file() == at.file);
        here.for_each(|&(root, content)| {
            walk_as(root, content, &mut |word| {
                let is_word = word.may_be_member() && !matches!(word.role, WordRole::Unknown);
                if is_word && self.place(&word).is_some_and(|span| is_at(span, at)) {
                    found = word.text();
                }
            });
        });
        found
    }

    /// The words of a name, with what they mean, and those of a new name that would be one of them.
    fn words(&self, name: &str, new: Option<&str>) -> NamedWords<'a> {
        let mut found = NamedWords::default();
        for &(root, content) in &self.roots {
            let Some(scope) = self.scope(Some(root.document().file())) else { continue };
            walk_as(root, content, &mut |word| {
                let text = word.text().filter(|_| word.may_be_member());
                if text.is_some() && text == new {
                    found.taken.push((word.node.span(), scope.namesakes(&word, name)));
                }
                if text != Some(name) {
                    return;
                }
                let place = self.place(&word);
                let meaning = scope.meaning(&word, name);
                let clash =
                    new.and_then(|new| scope.namesakes(&word, new).parts.into_iter().next());
                found.all.push(NamedWord {
                    place: (place.unwrap_or(word.node.span()), place.is_some()),
                    role: word.role,
                    meaning,
                    clash: clash.map(|part| part.key.span()),
                });
            });
        }
        found
    }
}
