//! Walks through a file by its grammar, and says of each word what it is.

use super::grammar::{
    ARTIFACT, CALL_OPERATION, FILTER, FilePurpose, HeldContent, IMPLEMENTATION, MapGrammar,
    MemberKind, NODE_TEMPLATES, NameFamily, NamedSubject, RULE, SERVICE, TRIGGER_CONDITION,
    WRAPPED,
};
use crate::tosca::{Family, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::names_in_identifier;
use crate::variability::inputs::is_expression;
use crate::variability::syntax::{ExpressionOperator, PresenceOperator};
use cuvee_text::source::Span;
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
    /// A key in a value, which may name a property of a data type.
    Entry,
    /// A step of a path behind the name of an element.
    Step,
    /// What implements an operation: an artifact or a file.
    Implementation,
    /// An event that is no notification.
    Event,
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
    /// A word of which nothing is known.
    Unknown,
}

/// A word, with what is around it.
#[derive(Clone, Copy)]
pub(crate) struct Word<'w, 'n> {
    pub node: Node<'n>,
    /// The bytes of the text that are the word, where it is only a part of it.
    pub piece: Option<(usize, usize)>,
    pub role: WordRole,
    /// The map that the word is a key of, or would be; for a value, the map around it.
    pub map: Option<Node<'n>>,
    /// The key whose value the word is.
    pub key: Option<Node<'n>>,
    /// Whether the word is a key of a map, or stands alone where a map is expected.
    pub is_key: bool,
    /// What has the parts that are named around the word.
    pub holder: Option<&'w NameHolder<'w, 'n>>,
}

/// Something that has parts with names, or is one, with what is around it.
pub(crate) struct NameHolder<'w, 'n> {
    pub kind: HolderKind<'n>,
    pub of: Option<&'w NameHolder<'w, 'n>>,
}

/// What has parts with names.
#[derive(Clone, Copy)]
pub(crate) enum HolderKind<'n> {
    /// An element with a type, or the definition of a type.
    Entity(TypedEntity<'n>),
    /// A part of what is around it, with its name and what is below it.
    Part(MemberKind, &'n str, Option<Node<'n>>),
    /// Elements of some family with a name.
    Named(&'static [NameFamily], &'n str),
    /// A type of some family with this name.
    Type(Family, Node<'n>),
    /// What is named in the map around.
    Subject(NamedSubject, Option<Node<'n>>),
    /// What has values by this definition.
    Schema(Node<'n>),
    /// What is below a key of a value, or in an item of it.
    Within(Option<&'n str>),
    /// What is named by the steps of a path before one.
    Path(PathCall<'n>),
}

/// The path to a value or an artifact, in a call of a function or the mapping of an output.
#[derive(Clone, Copy)]
pub(crate) struct PathCall<'n> {
    pub kind: PathKind,
    /// The list of names, or a text with commas between them.
    pub names: Node<'n>,
    /// The position of the name that is looked at.
    pub at: usize,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    Input,
    Property,
    Attribute,
    Artifact,
    OperationOutput,
}

impl PathKind {
    pub(super) fn of_function(name: &str) -> Option<Self> {
        match name.strip_prefix('$').unwrap_or(name) {
            "get_input" => Some(Self::Input),
            "get_property" => Some(Self::Property),
            "get_attribute" => Some(Self::Attribute),
            "get_artifact" => Some(Self::Artifact),
            "available_allocation" if name.starts_with('$') => Some(Self::Property),
            "get_operation_output" => Some(Self::OperationOutput),
            _ => None,
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

impl<'n> Word<'_, 'n> {
    /// The text of the word.
    pub(crate) fn text(&self) -> Option<&'n str> {
        let text = self.node.text()?;
        self.piece.map_or(Some(text), |(start, end)| text.get(start..end))
    }

    /// The operator that the word calls.
    pub(crate) fn operator(&self) -> Option<ExpressionOperator> {
        operator_of(self.node)
    }

    /// Whether the word may name a part of a type.
    pub(crate) fn may_be_member(&self) -> bool {
        match self.role {
            WordRole::Defines(family) => matches!(family, NameFamily::Member(_)),
            WordRole::Names(families) => member_of(families).is_some(),
            WordRole::Entry | WordRole::Step | WordRole::Implementation | WordRole::Unknown => true,
            _ => false,
        }
    }
}

impl<'w, 'n> NameHolder<'w, 'n> {
    /// This, and what is around it.
    pub(crate) fn outwards(&'w self) -> impl Iterator<Item = &'w Self> {
        std::iter::successors(Some(self), |holder| holder.of)
    }

    /// The innermost element with a type.
    pub(crate) fn entity(&'w self) -> Option<TypedEntity<'n>> {
        self.outwards().find_map(|holder| match holder.kind {
            HolderKind::Entity(entity) => Some(entity),
            _ => None,
        })
    }
}

/// Says of each word of a service template what it is.
pub(crate) fn walk<'n>(root: Node<'n>, visit: &mut dyn FnMut(Word<'_, 'n>)) {
    walk_as(root, HeldContent::Map(&SERVICE), visit);
}

/// Says of each word of a file that holds this what it is.
pub(crate) fn walk_as<'n>(
    root: Node<'n>,
    content: HeldContent,
    visit: &mut dyn FnMut(Word<'_, 'n>),
) {
    let around = WordSurroundings { map: None, key: None, holder: None };
    WordWalker { visit }.content(root, content, around);
}

#[derive(Clone, Copy)]
struct WordSurroundings<'w, 'n> {
    map: Option<Node<'n>>,
    key: Option<Node<'n>>,
    holder: Option<&'w NameHolder<'w, 'n>>,
}

impl<'w, 'n> WordSurroundings<'w, 'n> {
    fn key(self, key: Node<'n>) -> Self {
        Self { key: Some(key), ..self }
    }

    fn map(self, map: Node<'n>) -> Self {
        Self { map: Some(map), ..self }
    }

    /// Something with parts, in what is around.
    fn holding(self, kind: HolderKind<'n>) -> NameHolder<'w, 'n> {
        NameHolder { kind, of: self.holder }
    }

    /// The same within something with parts.
    fn within<'h>(self, holder: &'h NameHolder<'h, 'n>) -> WordSurroundings<'h, 'n>
    where
        'w: 'h,
    {
        WordSurroundings { map: self.map, key: self.key, holder: Some(holder) }
    }
}

/// The name of an element in a condition: a node, or a piece of its text.
#[derive(Clone, Copy)]
struct ElementName<'n> {
    kind: ElementKind,
    node: Node<'n>,
    piece: Option<(usize, usize)>,
}

struct WordWalker<'v, 'n> {
    visit: &'v mut dyn FnMut(Word<'_, 'n>),
}

impl<'n> WordWalker<'_, 'n> {
    fn word(
        &mut self,
        node: Node<'n>,
        role: WordRole,
        is_key: bool,
        around: WordSurroundings<'_, 'n>,
    ) {
        let WordSurroundings { map, key, holder } = around;
        (self.visit)(Word { node, piece: None, role, map, key, is_key, holder });
    }

    /// A word that names something and is not a key.
    fn name(
        &mut self,
        node: Node<'n>,
        families: &'static [NameFamily],
        around: WordSurroundings<'_, 'n>,
    ) {
        self.word(node, WordRole::Names(families), false, around);
    }

    /// A word that is a piece of a text.
    fn piece(
        &mut self,
        node: Node<'n>,
        piece: (usize, usize),
        role: WordRole,
        around: WordSurroundings<'_, 'n>,
    ) {
        let WordSurroundings { map, key, holder } = around;
        let piece = Some(piece);
        (self.visit)(Word { node, piece, role, map, key, is_key: false, holder });
    }

    fn content(&mut self, node: Node<'n>, content: HeldContent, around: WordSurroundings<'_, 'n>) {
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
            HeldContent::Name(families) | HeldContent::NameOr(families, _) if is_scalar => {
                self.name(node, families, around);
            }
            HeldContent::Name(families) | HeldContent::NameOr(families, _)
                if node.kind() == NodeKind::Sequence =>
            {
                self.name_with_index(node, families, around);
            }
            HeldContent::Name(_) => {}
            HeldContent::NameOr(_, below) => self.content(node, *below, around),
            HeldContent::Alternatives(families, grammar) => {
                self.alternatives(node, families, grammar, around);
            }
            HeldContent::About(subject, below) => {
                let holder = around.holding(HolderKind::Subject(subject, around.map));
                self.content(node, *below, around.within(&holder));
            }
            HeldContent::Condition => self.condition(node, around),
            HeldContent::Default if is_expression(node) => self.condition(node, around),
            HeldContent::Path => self.path(PathKind::Attribute, node, around),
            HeldContent::Value => self.value(node, around),
            HeldContent::Assigned if is_wrapped(node) => self.map(node, &WRAPPED, around),
            HeldContent::Parameter(grammar) if node.get("type").is_some() => {
                self.map(node, grammar, around);
            }
            HeldContent::Assigned | HeldContent::Parameter(_) => self.value(node, around),
            HeldContent::Options => self.options(node, around),
            HeldContent::Rules => self.rules(node, around),
            HeldContent::Any => self.unknown(node, around),
            HeldContent::Plain | HeldContent::Default => {}
            _ if is_scalar => self.scalar(node, content, around),
            _ => self.behaviour(node, content, around),
        }
    }

    /// A list of which the first is the name of an element: behind that are the name of a part of the
    /// element, or in TOSCA 2.0 an index, which functions may give.
    fn name_with_index(
        &mut self,
        node: Node<'n>,
        families: &'static [NameFamily],
        around: WordSurroundings<'_, 'n>,
    ) {
        let mut items = node.items();
        let first = items.next().filter(|item| item.kind() == NodeKind::Scalar);
        first.into_iter().for_each(|first| self.name(first, families, around));
        items.for_each(|item| self.value(item, around));
    }

    /// A scalar that is one of some words, or names a file.
    fn scalar(&mut self, node: Node<'n>, content: HeldContent, around: WordSurroundings<'_, 'n>) {
        let role = match content {
            HeldContent::File(file) | HeldContent::FileOr(file, _) => WordRole::FileName(file),
            HeldContent::Words(words) => WordRole::OneOf(words),
            HeldContent::Truth => WordRole::Truth,
            HeldContent::Version => WordRole::Version,
            _ => return self.behaviour(node, content, around),
        };
        self.word(node, role, false, around);
    }

    fn map(
        &mut self,
        node: Node<'n>,
        grammar: &'static MapGrammar,
        around: WordSurroundings<'_, 'n>,
    ) {
        let entity =
            |family, defines| HolderKind::Entity(TypedEntity { family, body: node, defines });
        let defines = grammar.defines.and_then(|family| Some(entity(family, Some(around.key?))));
        let typed = grammar.typed.map(|family| entity(family, None)).or(defines);
        let kind = typed.or(grammar.is_schema.then_some(HolderKind::Schema(node)));
        match kind {
            Some(kind) => {
                let holder = around.holding(kind);
                self.entries(node, grammar, around.map(node).within(&holder));
            }
            None => self.entries(node, grammar, around.map(node)),
        }
    }

    fn entries(
        &mut self,
        node: Node<'n>,
        grammar: &'static MapGrammar,
        around: WordSurroundings<'_, 'n>,
    ) {
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::Keyname(grammar), true, around);
        }
        let others = grammar.others(node);
        for (key, value) in node.entries() {
            let text = key.text().unwrap_or_default();
            match others {
                Some(HeldContent::Defined(family, below)) if !grammar.has(text) => {
                    self.entry((key, value), WordRole::Defines(family), *below, around);
                }
                Some(HeldContent::Named(families, below)) if !grammar.has(text) => {
                    self.entry((key, value), WordRole::Names(families), *below, around);
                }
                _ => {
                    self.word(key, WordRole::Keyname(grammar), true, around);
                    self.content(value, grammar.below(text), around.key(key));
                }
            }
        }
    }

    /// A map with names for keys, or a list of maps with one entry each.
    fn named(
        &mut self,
        node: Node<'n>,
        role: WordRole,
        below: HeldContent,
        around: WordSurroundings<'_, 'n>,
    ) {
        let own = around.map(node);
        if node.kind() == NodeKind::Scalar {
            return self.word(node, role, true, own);
        }
        let maps = node.items().chain((node.kind() == NodeKind::Mapping).then_some(node));
        for map in maps {
            if map.kind() == NodeKind::Scalar {
                self.word(map, role, true, own);
            }
            for entry in map.entries() {
                self.entry(entry, role, below, own);
            }
        }
    }

    /// A key that is a name, with what is below it.
    fn entry(
        &mut self,
        (key, value): (Node<'n>, Node<'n>),
        role: WordRole,
        below: HeldContent,
        around: WordSurroundings<'_, 'n>,
    ) {
        // Of a group of mappings, such as `[service, 2]`, the first is the name.
        let name = if key.kind() == NodeKind::Sequence { key.items().next() } else { Some(key) };
        let Some(name) = name else { return };
        self.word(name, role, true, around);
        let family = match role {
            WordRole::Defines(family) => Some(family),
            WordRole::Names(families) => families.first().copied(),
            _ => None,
        };
        let kind = match (family, name.text()) {
            (Some(NameFamily::Member(kind)), Some(text)) => {
                Some(HolderKind::Part(kind, text, Some(value)))
            }
            (Some(NameFamily::Type(family)), Some(_)) => Some(HolderKind::Type(family, name)),
            _ => None,
        };
        match kind {
            Some(kind) => {
                let holder = around.holding(kind);
                self.content(value, below, around.key(key).within(&holder));
            }
            None => self.content(value, below, around.key(key)),
        }
    }

    fn alternatives(
        &mut self,
        node: Node<'n>,
        families: &'static [NameFamily],
        grammar: &'static MapGrammar,
        around: WordSurroundings<'_, 'n>,
    ) {
        let role = WordRole::Names(families);
        let all = node.items().chain((node.kind() != NodeKind::Sequence).then_some(node));
        for one in all {
            if one.kind() == NodeKind::Scalar {
                self.word(one, role, false, around);
            }
            for (key, value) in one.entries() {
                self.word(key, role, true, around.map(one));
                self.map(value, grammar, around.key(key));
            }
        }
    }

    fn rules(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let lists = node.entries().map(|(_, list)| list);
        for item in lists.chain([node]).flat_map(Node::items) {
            // Names of files with rules may stand in their place.
            if item.kind() == NodeKind::Mapping {
                self.map(item, &RULE, around);
            }
        }
    }

    fn options(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let around = around.map(node);
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::OptionName, true, around);
        }
        for (key, value) in node.entries() {
            self.word(key, WordRole::OptionName, true, around);
            if value.kind() == NodeKind::Scalar {
                self.word(value, WordRole::OptionValue, false, around.key(key));
            }
        }
    }

    /// All words of something of which nothing is known.
    fn unknown(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::Unknown, false, around);
        }
        node.items().for_each(|item| self.unknown(item, around));
        for (key, value) in node.entries() {
            self.unknown(key, around);
            self.unknown(value, around.key(key));
        }
    }

    // Conditions.

    fn condition(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let own = around.map(node);
        if node.kind() == NodeKind::Scalar {
            self.identifier(node, around);
            return self.word(node, WordRole::Operator, true, own);
        }
        node.items().for_each(|item| self.condition(item, around));
        for (key, operand) in node.entries() {
            self.word(key, WordRole::Operator, true, own);
            self.operand(operator_of(key), operand, around.key(key));
        }
    }

    fn operand(
        &mut self,
        operator: Option<ExpressionOperator>,
        operand: Node<'n>,
        around: WordSurroundings<'_, 'n>,
    ) {
        let names: &[NameFamily] = match operator {
            Some(ExpressionOperator::Input) => &[NameFamily::VariabilityInput],
            Some(ExpressionOperator::Named(_)) => &[NameFamily::Expression],
            Some(ExpressionOperator::Presence(operator)) => {
                return self.presence(operator, operand, around);
            }
            Some(ExpressionOperator::Logical(_)) => return self.condition(operand, around),
            Some(ExpressionOperator::Value(_)) | None => return self.operands(operand, around),
        };
        let first = operand.items().next().unwrap_or(operand);
        if first.kind() == NodeKind::Scalar {
            self.name(first, names, around);
        }
    }

    /// The names of an element, each of one within the one before.
    fn presence(
        &mut self,
        operator: PresenceOperator,
        operand: Node<'n>,
        around: WordSurroundings<'_, 'n>,
    ) {
        let all = operand.items().chain((operand.kind() == NodeKind::Scalar).then_some(operand));
        let names = all.zip(operator.path());
        let names: Vec<_> =
            names.map(|(node, &kind)| ElementName { kind, node, piece: None }).collect();
        self.element_names(&names, None, around);
    }

    /// The names in the identifier of an element, if a text is one.
    fn identifier(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let names = node.as_str().and_then(names_in_identifier).unwrap_or_default();
        let names = names.into_iter().rev();
        let names: Vec<_> = names
            .map(|(kind, place)| ElementName { kind, node, piece: Some((place.start, place.end)) })
            .collect();
        self.element_names(&names, None, around);
    }

    /// The names of elements, each in the one before; the first is in one of kind `container`.
    fn element_names(
        &mut self,
        names: &[ElementName<'n>],
        container: Option<ElementKind>,
        around: WordSurroundings<'_, 'n>,
    ) {
        let Some((&ElementName { kind, node, piece }, rest)) = names.split_first() else { return };
        let families = families_of(kind, container);
        let whole = node.text().unwrap_or_default();
        let text = piece.map_or(Some(whole), |(start, end)| whole.get(start..end));
        match piece {
            Some(piece) => self.piece(node, piece, WordRole::Names(families), around),
            None if node.kind() == NodeKind::Scalar => self.name(node, families, around),
            None => {}
        }
        let text = text.unwrap_or_default();
        let holder = match member_of(families) {
            Some(member) => HolderKind::Part(member, text, None),
            None => HolderKind::Named(families, text),
        };
        self.element_names(rest, Some(kind), around.within(&around.holding(holder)));
    }

    /// Operands that may be values.
    fn operands(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        node.items().for_each(|item| self.operands(item, around));
        if node.kind() == NodeKind::Mapping {
            self.condition(node, around);
        }
    }

    // Values.

    /// A value, in which functions name inputs and nodes, and conditions may be beside it.
    fn value(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let item = around.holding(HolderKind::Within(None));
        node.items().for_each(|it| self.value(it, around.within(&item)));
        for (key, value) in node.entries() {
            let (own, text) = (around.map(node).key(key), key.text().unwrap_or_default());
            match PathKind::of_function(text) {
                Some(kind) => self.path(kind, value, own),
                None if matches!(text, "conditions" | "expression") => self.condition(value, own),
                None if matches!(text, "get_nodes_of_type" | "$get_nodes_of_type") => {
                    let name = HeldContent::Name(&[NameFamily::Type(Family::Node)]);
                    self.content(value, name, own);
                }
                None => {
                    self.word(key, WordRole::Entry, true, around.map(node));
                    let below = around.holding(HolderKind::Within(Some(text)));
                    self.value(value, around.within(&below));
                }
            }
        }
    }

    /// The names that lead to something: that of an element, and those of parts.
    fn path(&mut self, kind: PathKind, names: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let first: &[NameFamily] = match kind {
            PathKind::Input => &[NameFamily::Input],
            _ => &[NameFamily::Node, NameFamily::Relationship, NameFamily::Group],
        };
        if names.kind() == NodeKind::Scalar {
            return self.joined_path(kind, names, first, around);
        }
        for (at, name) in names.items().enumerate() {
            if name.kind() != NodeKind::Scalar {
                self.value(name, around);
                continue;
            }
            let path = around.holding(HolderKind::Path(PathCall { kind, names, at }));
            let role = if at == 0 { WordRole::Names(first) } else { WordRole::Step };
            self.word(name, role, false, around.within(&path));
        }
    }

    /// A path in one text, in which commas separate names.
    fn joined_path(
        &mut self,
        kind: PathKind,
        names: Node<'n>,
        first: &'static [NameFamily],
        around: WordSurroundings<'_, 'n>,
    ) {
        let text = names.text().unwrap_or_default();
        if kind != PathKind::OperationOutput || !text.contains(',') {
            return self.name(names, first, around);
        }
        let mut start = 0;
        for (at, name) in text.split(',').enumerate() {
            let from = start + (name.len() - name.trim_start().len());
            let piece = (from, from + name.trim().len());
            start += name.len() + 1;
            let path = around.holding(HolderKind::Path(PathCall { kind, names, at }));
            let role = if at == 0 { WordRole::Names(first) } else { WordRole::Step };
            self.piece(names, piece, role, around.within(&path));
        }
    }
}

/// What is said of behaviour, and of mappings.
impl<'n> WordWalker<'_, 'n> {
    fn behaviour(
        &mut self,
        node: Node<'n>,
        content: HeldContent,
        around: WordSurroundings<'_, 'n>,
    ) {
        let is_scalar = node.kind() == NodeKind::Scalar;
        match content {
            HeldContent::FileOr(_, grammar) => self.map(node, grammar, around),
            HeldContent::Implementation if is_scalar => {
                self.word(node, WordRole::Implementation, false, around);
            }
            // The definition of an artifact may stand in its place.
            HeldContent::Implementation if node.get("file").is_some() => {
                self.map(node, &ARTIFACT, around);
            }
            HeldContent::Implementation => {
                self.map(node, &IMPLEMENTATION, around);
            }
            HeldContent::Operation(_) if is_scalar && !node.is_null() => {
                self.word(node, WordRole::Implementation, false, around);
            }
            HeldContent::Operation(grammar) => self.map(node, grammar, around),
            HeldContent::CalledOperation if is_scalar => self.called_operation(node, around),
            HeldContent::Event if node.text().is_some_and(|text| text.contains('.')) => {
                self.called_operation(node, around);
            }
            HeldContent::Event => self.word(node, WordRole::Event, false, around),
            HeldContent::CalledOperation => {
                self.map(node, &CALL_OPERATION, around);
            }
            HeldContent::Outputs => {
                for (_, path) in node.entries() {
                    self.path(PathKind::Attribute, v2_0::output_mapping(path), around);
                }
            }
            HeldContent::Constraints => self.constraints(node, around),
            HeldContent::Filter if is_of_2_0(node) => self.value(node, around),
            HeldContent::Filter => self.map(node, &FILTER, around),
            HeldContent::Assertions | HeldContent::TriggerCondition if is_of_2_0(node) => {
                self.value(node, around);
            }
            HeldContent::TriggerCondition => {
                let is_known = |(key, _): (Node<'n>, _)| {
                    key.text().is_some_and(|it| TRIGGER_CONDITION.has(it))
                };
                match is_scalar || node.entries().any(is_known) {
                    true => self.map(node, &TRIGGER_CONDITION, around),
                    false => self.assertions(node, around),
                }
            }
            HeldContent::Assertions => self.assertions(node, around),
            HeldContent::Mapped(kind, others) => self.mapped(node, kind, others, around),
            HeldContent::MappedInterface => self.mapped_interface(node, around),
            _ => {}
        }
    }

    /// Clauses that a value has to fulfil: what they compare it with is such a value.
    fn constraints(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        node.items().for_each(|item| self.constraints(item, around));
        for (_, operand) in node.entries() {
            match operand.kind() {
                NodeKind::Sequence => operand.items().for_each(|item| self.value(item, around)),
                _ => self.value(operand, around),
            }
        }
    }

    /// Clauses over attributes.
    fn assertions(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        if node.kind() == NodeKind::Scalar {
            return self.word(node, WordRole::Names(ATTRIBUTES), true, around.map(node));
        }
        node.items().for_each(|item| self.assertions(item, around));
        for (key, value) in node.entries() {
            match key.text() {
                Some("and" | "or" | "not" | "assert") => self.assertions(value, around.key(key)),
                _ => self.entry(
                    (key, value),
                    WordRole::Names(ATTRIBUTES),
                    HeldContent::Constraints,
                    around.map(node),
                ),
            }
        }
    }

    /// An operation, with its interface before the last dot.
    fn called_operation(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        let text = node.text().unwrap_or_default();
        let operations = MemberKind::Operation.names();
        let Some((interface, _)) = text.rsplit_once('.') else {
            let holder = around.holding(HolderKind::Part(MemberKind::Interface, "", None));
            return self.name(node, operations, around.within(&holder));
        };
        let role = WordRole::Names(MemberKind::Interface.names());
        self.piece(node, (0, interface.len()), role, around);
        let holder = around.holding(HolderKind::Part(MemberKind::Interface, interface, None));
        let piece = (interface.len() + 1, text.len());
        self.piece(node, piece, WordRole::Names(operations), around.within(&holder));
    }

    /// What a part is mapped to: a part of a node, something else with one name, or several.
    fn mapped(
        &mut self,
        node: Node<'n>,
        kind: MemberKind,
        others: &'static [NameFamily],
        around: WordSurroundings<'_, 'n>,
    ) {
        let is_name = |item: Node<'n>| item.kind() == NodeKind::Scalar;
        let items: Vec<_> = node.items().collect();
        match (node.kind(), items.as_slice()) {
            (NodeKind::Scalar, _) => self.name(node, others, around),
            (NodeKind::Mapping, _) => self.map(node, kind.mapping(), around),
            (_, [name]) if is_name(*name) => self.name(*name, others, around),
            (_, [name, part]) if is_name(*name) && is_name(*part) => {
                self.name(*name, NODE_TEMPLATES, around);
                self.part_of((*name, kind), *part, around);
            }
            // A requirement may be mapped to several.
            _ => items.into_iter().for_each(|item| self.mapped(item, kind, others, around)),
        }
    }

    /// The name of a part of a node.
    fn part_of(
        &mut self,
        (node, kind): (Node<'n>, MemberKind),
        part: Node<'n>,
        around: WordSurroundings<'_, 'n>,
    ) {
        let name = node.text().unwrap_or_default();
        let holder = around.holding(HolderKind::Named(NODE_TEMPLATES, name));
        self.name(part, kind.names(), around.within(&holder));
    }

    /// What an interface is mapped to: one of a node, or workflows and operations of nodes.
    fn mapped_interface(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        for (key, target) in node.entries() {
            let own = around.map(node).key(key);
            self.word(key, WordRole::Names(MemberKind::Operation.names()), true, own);
            match target.kind() {
                NodeKind::Scalar => self.mapped_operation(target, own),
                _ => self.mapped_interface(target, own),
            }
        }
        let names: Vec<_> = node.items().filter(|it| it.kind() == NodeKind::Scalar).collect();
        let [name, interface, rest @ ..] = names.as_slice() else { return };
        self.name(*name, NODE_TEMPLATES, around);
        self.part_of((*name, MemberKind::Interface), *interface, around);
        let node =
            around.holding(HolderKind::Named(NODE_TEMPLATES, name.text().unwrap_or_default()));
        let (around, interface) = (around.within(&node), interface.text().unwrap_or_default());
        let holder = around.holding(HolderKind::Part(MemberKind::Interface, interface, None));
        for operation in rest {
            self.name(*operation, MemberKind::Operation.names(), around.within(&holder));
        }
    }

    /// A workflow, or an operation of a node, of which dots separate the names.
    fn mapped_operation(&mut self, node: Node<'n>, around: WordSurroundings<'_, 'n>) {
        self.name(node, &[NameFamily::Workflow], around);
        let mut start = 0;
        for piece in node.text().unwrap_or_default().split_inclusive('.') {
            let end = start + piece.trim_end_matches('.').len();
            if piece.len() < node.text().map_or(0, str::len) {
                self.piece(node, (start, end), WordRole::Unknown, around);
            }
            start += piece.len();
        }
    }
}

const ATTRIBUTES: &[NameFamily] = &[NameFamily::Member(MemberKind::Attribute)];

fn is_of_2_0(node: Node<'_>) -> bool {
    v2_0::is_of(node.document())
}

/// The operator that a key calls. A file of conditions has no version of its own, and may be beside a
/// template of TOSCA 2.0.
pub(super) fn operator_of(key: Node<'_>) -> Option<ExpressionOperator> {
    let has_version = key.document().root().get("tosca_definitions_version").is_some();
    ExpressionOperator::called_by(key, !has_version)
}

/// Whether all keys of a map say more of a property, or are about to be written.
fn is_wrapped(node: Node<'_>) -> bool {
    let is_word = |(key, value): (Node<'_>, Node<'_>)| {
        value.is_null() || key.text().is_some_and(|key| WRAPPED.has(key))
    };
    node.entries().next().is_some() && node.entries().all(is_word)
}

/// What has the name of an element of this kind, which may be in an element of another kind.
fn families_of(kind: ElementKind, container: Option<ElementKind>) -> &'static [NameFamily] {
    match (kind, container) {
        (ElementKind::Node, _) => NODE_TEMPLATES,
        (ElementKind::Group, _) => &[NameFamily::Group],
        (ElementKind::Policy, _) => &[NameFamily::Policy],
        (ElementKind::Input, _) => &[NameFamily::Input],
        (ElementKind::Output, _) => &[NameFamily::Output],
        (ElementKind::Relation, _) => MemberKind::Requirement.names(),
        (ElementKind::Artifact, _) => MemberKind::Artifact.names(),
        (ElementKind::Property, _) => MemberKind::Property.names(),
        (ElementKind::Type, Some(ElementKind::Node)) => &[NameFamily::Type(Family::Node)],
        (ElementKind::Type, Some(ElementKind::Relation)) => {
            &[NameFamily::Type(Family::Relationship)]
        }
        (ElementKind::Type, Some(ElementKind::Artifact)) => &[NameFamily::Type(Family::Artifact)],
        (ElementKind::Type, Some(ElementKind::Group)) => &[NameFamily::Type(Family::Group)],
        (ElementKind::Type, Some(ElementKind::Policy)) => &[NameFamily::Type(Family::Policy)],
        (ElementKind::Type | ElementKind::Technology | ElementKind::Import, _) => &[],
    }
}

/// The kind of part that a name may be one of.
pub(crate) fn member_of(families: &[NameFamily]) -> Option<MemberKind> {
    families.iter().find_map(|family| match family {
        NameFamily::Member(kind) => Some(*kind),
        _ => None,
    })
}

/// Whether an offset is in a word or at its end.
pub(super) fn is_at(word: Span, offset: Span) -> bool {
    word.file == offset.file && (word.start..=word.end).contains(&offset.start)
}
