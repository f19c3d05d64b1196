//! Walks through a file by its grammar, and says of each word what it is.

use super::grammar::{
    FilePurpose, HeldContent, MapGrammar, MemberKind, NameFamily, RULE, SERVICE, WRAPPED,
};
use crate::tosca::Family;
use crate::variability::element::ElementKind;
use crate::variability::syntax::{ExpressionOperator, PresenceOperator};
use cuvee_text::yaml::{Node, NodeKind};

/// What a word in a file is.
#[derive(Clone, Copy)]
pub(crate) enum WordRole {
    /// A key that defines a name.
    Defines(NameFamily),
    /// A name that is defined elsewhere, as a key or as a value.
    Names(&'static [NameFamily]),
    /// A keyname of a map; or a word where the map is expected.
    Keyname(&'static MapGrammar),
    /// The keyword of an operator.
    Operator,
    /// The name of an option of variability.
    OptionName,
    /// A value of an option.
    OptionValue,
    /// One of some words.
    OneOf(&'static [&'static str]),
    Truth,
    Version,
    /// The path of a file.
    FileName(FilePurpose),
}

/// A word, with what is around it.
#[derive(Clone, Copy)]
pub(crate) struct Word<'n> {
    pub node: Node<'n>,
    pub role: WordRole,
    /// The map that the word is a key of, or would be; for a value, the map around it.
    pub map: Option<Node<'n>>,
    /// The key whose value the word is.
    pub key: Option<Node<'n>>,
    /// The element around the word that has a type.
    pub typed: Option<TypedEntity<'n>>,
    /// Whether the word is a key of a map, or stands alone where a map is expected.
    pub is_key: bool,
}

impl Word<'_> {
    /// Whether this is the name of a part of a type.
    pub(crate) fn is_member(&self) -> bool {
        match self.role {
            WordRole::Defines(family) => matches!(family, NameFamily::Member(_)),
            WordRole::Names(families) => member_of(families).is_some(),
            _ => false,
        }
    }
}

/// An element with a type, or the definition of a type.
#[derive(Clone, Copy)]
pub(crate) struct TypedEntity<'n> {
    pub family: Family,
    pub body: Node<'n>,
    /// The name of the type, where this is its definition.
    pub defines: Option<Node<'n>>,
}

/// Says of each word of a service template what it is.
pub(crate) fn walk<'n>(root: Node<'n>, visit: &mut dyn FnMut(Word<'n>)) {
    walk_as(root, HeldContent::Map(&SERVICE), visit);
}

/// Says of each word of a file that holds this what it is.
pub(crate) fn walk_as<'n>(root: Node<'n>, content: HeldContent, visit: &mut dyn FnMut(Word<'n>)) {
    let around = WordSurroundings { map: None, key: None, typed: None };
    WordWalker { visit }.content(root, content, around);
}

#[derive(Clone, Copy)]
struct WordSurroundings<'n> {
    map: Option<Node<'n>>,
    key: Option<Node<'n>>,
    typed: Option<TypedEntity<'n>>,
}

struct WordWalker<'v, 'n> {
    visit: &'v mut dyn FnMut(Word<'n>),
}

impl<'n> WordWalker<'_, 'n> {
    fn word(&mut self, node: Node<'n>, role: WordRole, is_key: bool, around: WordSurroundings<'n>) {
        let WordSurroundings { map, key, typed } = around;
        (self.visit)(Word { node, role, map, key, typed, is_key });
    }

    fn content(&mut self, node: Node<'n>, content: HeldContent, around: WordSurroundings<'n>) {
        let is_scalar = node.kind() == NodeKind::Scalar;
        match content {
            HeldContent::Map(grammar) => self.map(node, grammar, around),
            HeldContent::Defined(family, below) => {
                self.named(node, WordRole::Defines(family), *below, around);
            }
            HeldContent::Named(families, below) => {
                self.named(node, WordRole::Names(families), *below, around);
            }
            // One item may stand without a list.
            HeldContent::List(below) if node.kind() != NodeKind::Sequence => {
                self.content(node, *below, around);
            }
            HeldContent::List(below) => {
                node.items().for_each(|item| self.content(item, *below, around));
            }
            HeldContent::Name(families) if is_scalar => {
                self.word(node, WordRole::Names(families), false, around);
            }
            // Of a part of an element, the first name is that of the element.
            HeldContent::Name(families) => {
                let first = node.items().next().filter(|item| item.kind() == NodeKind::Scalar);
                if let Some(first) = first {
                    self.word(first, WordRole::Names(families), false, around);
                }
            }
            HeldContent::NameOr(families, _) if is_scalar => {
                self.word(node, WordRole::Names(families), false, around);
            }
            HeldContent::NameOr(_, below) => self.content(node, *below, around),
            HeldContent::Alternatives(families, grammar) => {
                self.alternatives(node, families, grammar, around);
            }
            HeldContent::Condition => self.condition(node, around),
            HeldContent::File(file) | HeldContent::FileOr(file, _) if is_scalar => {
                self.word(node, WordRole::FileName(file), false, around);
            }
            HeldContent::FileOr(_, grammar) => self.map(node, grammar, around),
            HeldContent::Value => self.value(node, around),
            HeldContent::Assigned if is_wrapped(node) => self.map(node, &WRAPPED, around),
            HeldContent::Assigned => self.value(node, around),
            HeldContent::Options => self.options(node, around),
            HeldContent::Rules => {
                let lists = node.entries().map(|(_, list)| list);
                for item in lists.chain([node]).flat_map(Node::items) {
                    // Names of files with rules may stand in their place.
                    if item.kind() == NodeKind::Mapping {
                        self.map(item, &RULE, around);
                    }
                }
            }
            HeldContent::Words(words) if is_scalar => {
                self.word(node, WordRole::OneOf(words), false, around);
            }
            HeldContent::Truth if is_scalar => self.word(node, WordRole::Truth, false, around),
            HeldContent::Version if is_scalar => self.word(node, WordRole::Version, false, around),
            _ => {}
        }
    }

    fn map(&mut self, node: Node<'n>, grammar: &'static MapGrammar, around: WordSurroundings<'n>) {
        let entity = |family, defines| TypedEntity { family, body: node, defines };
        let defines = grammar.defines.and_then(|family| Some(entity(family, Some(around.key?))));
        let typed = grammar.typed.map(|family| entity(family, None)).or(defines);
        let around =
            WordSurroundings { map: Some(node), key: around.key, typed: typed.or(around.typed) };
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::Keyname(grammar), true, around);
        }
        for (key, value) in node.entries() {
            self.word(key, WordRole::Keyname(grammar), true, around);
            let below = key.text().map_or(HeldContent::Any, |key| grammar.below(key));
            self.content(value, below, WordSurroundings { key: Some(key), ..around });
        }
    }

    /// A map with names for keys, or a list of maps with one entry each.
    fn named(
        &mut self,
        node: Node<'n>,
        role: WordRole,
        below: HeldContent,
        around: WordSurroundings<'n>,
    ) {
        if node.kind() == NodeKind::Scalar {
            return self.word(node, role, true, WordSurroundings { map: Some(node), ..around });
        }
        let maps = node.items().chain((node.kind() == NodeKind::Mapping).then_some(node));
        for map in maps {
            let own = WordSurroundings { map: Some(node), ..around };
            if map.kind() == NodeKind::Scalar {
                self.word(map, role, true, own);
            }
            for (key, value) in map.entries() {
                self.word(key, role, true, own);
                self.content(value, below, WordSurroundings { key: Some(key), ..around });
            }
        }
    }

    fn alternatives(
        &mut self,
        node: Node<'n>,
        families: &'static [NameFamily],
        grammar: &'static MapGrammar,
        around: WordSurroundings<'n>,
    ) {
        let role = WordRole::Names(families);
        let all = node.items().chain((node.kind() != NodeKind::Sequence).then_some(node));
        for one in all {
            if one.kind() == NodeKind::Scalar {
                self.word(one, role, false, around);
            }
            for (key, value) in one.entries() {
                self.word(key, role, true, WordSurroundings { map: Some(one), ..around });
                self.map(value, grammar, WordSurroundings { key: Some(key), ..around });
            }
        }
    }

    fn condition(&mut self, node: Node<'n>, around: WordSurroundings<'n>) {
        let own = WordSurroundings { map: Some(node), ..around };
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::Operator, true, own);
        }
        node.items().for_each(|item| self.condition(item, around));
        for (key, operand) in node.entries() {
            self.word(key, WordRole::Operator, true, own);
            let operator = key.text().and_then(ExpressionOperator::from_keyword);
            self.operand(operator, operand, WordSurroundings { key: Some(key), ..around });
        }
    }

    fn operand(
        &mut self,
        operator: Option<ExpressionOperator>,
        operand: Node<'n>,
        around: WordSurroundings<'n>,
    ) {
        let names: &[NameFamily] = match operator {
            Some(ExpressionOperator::Input) => &[NameFamily::VariabilityInput],
            Some(ExpressionOperator::Named(_)) => &[NameFamily::Expression],
            Some(ExpressionOperator::Presence(operator)) => of_presence(operator),
            Some(ExpressionOperator::Logical(_)) => return self.condition(operand, around),
            Some(ExpressionOperator::Value(_)) | None => return self.operands(operand, around),
        };
        // Of an element in another one, the first name is that of the other one.
        let first = operand.items().next().unwrap_or(operand);
        if first.kind() == NodeKind::Scalar {
            self.word(first, WordRole::Names(names), false, around);
        }
    }

    /// Operands that may be values.
    fn operands(&mut self, node: Node<'n>, around: WordSurroundings<'n>) {
        node.items().for_each(|item| self.operands(item, around));
        if node.kind() == NodeKind::Mapping {
            self.condition(node, around);
        }
    }

    /// A value, in which functions name inputs and nodes, and conditions may be beside it.
    fn value(&mut self, node: Node<'n>, around: WordSurroundings<'n>) {
        node.items().for_each(|item| self.value(item, around));
        for (key, value) in node.entries() {
            let own = WordSurroundings { map: Some(node), key: Some(key), ..around };
            let names: &[NameFamily] = match key.text() {
                Some("get_input") => &[NameFamily::Input],
                Some(
                    "get_property" | "get_attribute" | "get_artifact" | "get_operation_output",
                ) => &[NameFamily::Node],
                Some("conditions" | "expression") => {
                    self.condition(value, own);
                    continue;
                }
                _ => {
                    self.value(value, around);
                    continue;
                }
            };
            let first = value.items().next().unwrap_or(value);
            if first.kind() == NodeKind::Scalar {
                self.word(first, WordRole::Names(names), false, own);
            }
            value.items().skip(1).for_each(|item| self.value(item, around));
        }
    }

    fn options(&mut self, node: Node<'n>, around: WordSurroundings<'n>) {
        let around = WordSurroundings { map: Some(node), ..around };
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::OptionName, true, around);
        }
        for (key, value) in node.entries() {
            self.word(key, WordRole::OptionName, true, around);
            if value.kind() == NodeKind::Scalar {
                let around = WordSurroundings { key: Some(key), ..around };
                self.word(value, WordRole::OptionValue, false, around);
            }
        }
    }
}

/// Whether all keys of a map say more of a property, or are about to be written.
fn is_wrapped(node: Node<'_>) -> bool {
    let names = WRAPPED.names(false);
    let is_word = |(key, value): (Node<'_>, Node<'_>)| {
        value.is_null() || key.text().is_some_and(|key| names.contains(&key))
    };
    node.entries().next().is_some() && node.entries().all(is_word)
}

/// What the first operand of a presence operator names.
fn of_presence(operator: PresenceOperator) -> &'static [NameFamily] {
    match operator.path().first() {
        Some(ElementKind::Node) => &[NameFamily::Node],
        Some(ElementKind::Group) => &[NameFamily::Group],
        Some(ElementKind::Policy) => &[NameFamily::Policy],
        Some(ElementKind::Input) => &[NameFamily::Input],
        Some(ElementKind::Output) => &[NameFamily::Output],
        _ => &[],
    }
}

/// Whether a key is for a part of a type.
pub(crate) fn member_of(families: &[NameFamily]) -> Option<MemberKind> {
    match families {
        [NameFamily::Member(kind)] => Some(*kind),
        _ => None,
    }
}
