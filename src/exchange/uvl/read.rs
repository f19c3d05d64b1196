//! Reads feature models in UVL.

use super::super::model::{
    Feature, FeatureId, FeatureModel, FeatureType, GroupKind, MAX_DEPTH, Proposition,
};
use super::super::names::{FeatureNames, syntax, too_deep, unsupported};
use super::STRUCTURE;
use super::lexer::{Token, tokens};
use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::value::Primitive;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::{Number, Value};

/// Reads a model.
///
/// # Errors
/// `syntax` if the text is not well-formed, `invalid-input` if it refers to an unknown feature or
/// uses something that variability inputs cannot express, and `duplicate` if two features share a
/// name.
pub fn read(text: &str, file: FileId) -> Result<FeatureModel, Diagnostics> {
    Ok(model(text, file)?)
}

fn model(text: &str, file: FileId) -> Result<FeatureModel, Diagnostic> {
    let mut reader = UvlReader { tokens: tokens(text, file)?, at: 0, inner: Vec::new() };
    reader.preamble()?;
    let mut tree = reader.tree()?;
    for start in std::mem::take(&mut reader.inner) {
        let behind = std::mem::replace(&mut reader.at, start);
        reader.attribute_constraints(&mut tree)?;
        reader.at = behind;
    }
    reader.constraints(&mut tree)?;
    Ok(tree.model)
}

struct UvlReader<'t> {
    tokens: Vec<(Token<'t>, Span)>,
    at: usize,
    /// The positions of constraints among attributes. They are read last, because they may name
    /// later features.
    inner: Vec<usize>,
}

/// The part of the model that is read so far.
struct UvlTree {
    model: FeatureModel,
    names: FeatureNames,
}

/// The meaning of the lines at one level of indentation.
enum UvlFrame {
    /// The lines are the groups of a feature.
    Groups(FeatureId),
    /// The lines are the features of a group: its parent, its position there, and its bounds if it
    /// has some instead of a kind.
    Members(FeatureId, usize, Option<GroupBounds>),
}

/// The bounds on the number of selected members of a group.
struct GroupBounds {
    least: u64,
    most: Option<u64>,
    span: Span,
}

impl<'t> UvlReader<'t> {
    fn peek(&self) -> &Token<'t> {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        let last = || self.tokens.last().map(|&(_, span)| span);
        let here = self.tokens.get(self.at).map(|&(_, span)| span);
        here.or_else(last).unwrap_or(Span::DETACHED)
    }

    fn accept(&mut self, token: &Token<'_>) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &Token<'_>, what: &str) -> Result<(), Diagnostic> {
        if self.accept(token) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Name(name) => format!("the name `{name}`"),
            Token::Text(_) => "a text".into(),
            Token::Newline => "the end of the line".into(),
            Token::Indent => "a line that is indented more".into(),
            Token::Dedent => "a line that is indented less".into(),
            Token::End => "the end of the file".into(),
        };
        syntax(self.span(), format!("expected {expected}, found {found}"))
    }

    /// Skips everything above the features; only imports of other models are an error.
    fn preamble(&mut self) -> Result<(), Diagnostic> {
        loop {
            match self.peek() {
                Token::Word("features") => return Ok(()),
                Token::Word("imports") => {
                    return Err(unsupported(self.span(), "other models")
                        .help("import the models one by one"));
                }
                Token::Word("namespace" | "include") => self.skip_section(),
                Token::Word(word) => {
                    let error = self.unexpected("`features`");
                    return Err(error.help_opt(did_you_mean(
                        word,
                        ["namespace", "include", "imports", "features"],
                    )));
                }
                _ => return Err(self.unexpected("`features`")),
            }
        }
    }

    fn skip_section(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Token::Indent => depth += 1,
                Token::Dedent => depth = depth.saturating_sub(1),
                Token::End => return,
                _ => {}
            }
            let line_ends = matches!(self.peek(), Token::Newline | Token::Dedent);
            self.at += 1;
            if line_ends && depth == 0 && *self.peek() != Token::Indent {
                return;
            }
        }
    }

    /// Reads `features` and the tree below it.
    fn tree(&mut self) -> Result<UvlTree, Diagnostic> {
        self.at += 1;
        self.expect(&Token::Newline, "the end of the line behind `features`")?;
        self.expect(&Token::Indent, "an indented root feature")?;
        let root = self.feature()?;
        if root.kind != FeatureType::Boolean {
            return Err(not_always_there(&root, self.span()));
        }
        let mut tree = UvlTree { model: FeatureModel::new(root), names: FeatureNames::default() };
        tree.names.declare(&tree.model, tree.model.root())?;
        let mut open = Vec::new();
        if self.accept(&Token::Indent) {
            open.push(UvlFrame::Groups(tree.model.root()));
        }
        while let Some(frame) = open.last() {
            if self.accept(&Token::Dedent) {
                if let Some(UvlFrame::Members(parent, group, Some(bounds))) = open.pop() {
                    tree.settle(parent, group, &bounds)?;
                }
                continue;
            }
            let below = match *frame {
                UvlFrame::Groups(parent) => Some(self.group(&mut tree, parent)?),
                UvlFrame::Members(parent, group, _) => self.member(&mut tree, parent, group)?,
            };
            open.extend(below);
        }
        self.expect(&Token::Dedent, "no second root feature")?;
        Ok(tree)
    }

    /// Reads the line that begins a group.
    fn group(&mut self, tree: &mut UvlTree, parent: FeatureId) -> Result<UvlFrame, Diagnostic> {
        let mut bounds = None;
        let kind = match self.peek() {
            Token::Word("mandatory") => GroupKind::Mandatory,
            Token::Word("optional") => GroupKind::Optional,
            Token::Word("or") => GroupKind::Or,
            Token::Word("alternative") => GroupKind::Alternative,
            Token::Mark("[") => {
                bounds = Some(self.bounds()?);
                GroupKind::Optional
            }
            _ => return Err(self.unexpected("`mandatory`, `optional`, `or` or `alternative`")),
        };
        self.at += 1;
        self.expect(&Token::Newline, "the end of the line")?;
        self.expect(&Token::Indent, "an indented feature of the group")?;
        Ok(UvlFrame::Members(parent, tree.model.add_group(parent, kind), bounds))
    }

    /// Reads bounds such as `[1..*]`.
    fn bounds(&mut self) -> Result<GroupBounds, Diagnostic> {
        let span = self.span();
        self.at += 1;
        let least = self.number()?;
        let most = if !self.accept(&Token::Mark("..")) {
            Some(least)
        } else if self.accept(&Token::Mark("*")) {
            None
        } else {
            Some(self.number()?)
        };
        match self.peek() {
            Token::Mark("]") => {
                Ok(GroupBounds { least, most, span: Span { end: self.span().end, ..span } })
            }
            _ => Err(self.unexpected("`]`")),
        }
    }

    fn number(&mut self) -> Result<u64, Diagnostic> {
        let number = if let Token::Word(word) = self.peek() { word.parse().ok() } else { None };
        let number = number.ok_or_else(|| self.unexpected("a number"))?;
        self.at += 1;
        Ok(number)
    }

    /// Reads the line of a feature in a group; returns a frame if lines are nested below it.
    fn member(
        &mut self,
        tree: &mut UvlTree,
        parent: FeatureId,
        group: usize,
    ) -> Result<Option<UvlFrame>, Diagnostic> {
        let feature = self.feature()?;
        let model = &mut tree.model;
        let mandatory =
            model.group_mut(parent, group).is_some_and(|group| group.kind == GroupKind::Mandatory);
        let has_value = feature.kind != FeatureType::Boolean;
        if has_value && (parent != model.root() || !mandatory || *self.peek() == Token::Indent) {
            return Err(not_always_there(&feature, self.span()));
        }
        let id = model.add_to(parent, group, feature);
        tree.names.declare(&tree.model, id)?;
        Ok(self.accept(&Token::Indent).then_some(UvlFrame::Groups(id)))
    }

    /// Reads the line of a feature.
    fn feature(&mut self) -> Result<Feature, Diagnostic> {
        let kind = match (self.peek(), self.tokens.get(self.at + 1)) {
            // The name of a feature may itself be a type.
            (Token::Word(_), Some((Token::Word("cardinality"), _))) => None,
            (Token::Word(word), Some((Token::Word(_) | Token::Name(_), _))) => feature_type(word),
            _ => None,
        };
        self.at += usize::from(kind.is_some());
        let span = self.span();
        let name = self.name("the name of a feature")?;
        let mut feature = Feature {
            name,
            kind: kind.unwrap_or_default(),
            span: Some(span),
            ..Feature::default()
        };
        self.cardinality()?;
        if self.accept(&Token::Mark("{")) {
            self.attributes(0, &mut |key, value| feature.take(key, value))?;
        }
        let quotes = "a name that is no identifier stands in double quotes";
        self.expect(&Token::Newline, "the end of the line").map_err(|error| error.help(quotes))?;
        Ok(feature)
    }

    /// Reads `cardinality [1..1]`, the only cardinality that features may have.
    fn cardinality(&mut self) -> Result<(), Diagnostic> {
        let span = self.span();
        if !self.accept(&Token::Word("cardinality")) {
            return Ok(());
        }
        let bounds = match self.peek() {
            Token::Mark("[") => self.bounds()?,
            _ => return Err(self.unexpected("`[`")),
        };
        self.at += 1;
        match bounds {
            GroupBounds { least: 1, most: Some(1), .. } => Ok(()),
            _ => Err(unsupported(span, "features that may be there several times")),
        }
    }

    fn name(&mut self, what: &str) -> Result<String, Diagnostic> {
        let name = match self.peek() {
            Token::Name(name) => name.clone().into_owned(),
            Token::Word(word) if STRUCTURE.contains(word) => {
                return Err(self
                    .unexpected(what)
                    .help("a name that is a keyword stands in double quotes"));
            }
            Token::Word(word) if word.contains('.') => {
                return Err(unsupported(
                    self.span(),
                    "features of other models and their attributes",
                ));
            }
            Token::Word(word) => (*word).to_owned(),
            _ => return Err(self.unexpected(what)),
        };
        self.at += 1;
        Ok(name)
    }

    /// Reads attributes after their opening bracket.
    fn attributes(
        &mut self,
        nested: usize,
        found: &mut dyn FnMut(&str, Value),
    ) -> Result<(), Diagnostic> {
        if self.accept(&Token::Mark("}")) {
            return Ok(());
        }
        loop {
            let key = match self.peek() {
                Token::Word(word) => (*word).to_owned(),
                Token::Name(name) => name.clone().into_owned(),
                _ => return Err(self.unexpected("the name of an attribute")),
            };
            self.at += 1;
            match (&*key, self.peek()) {
                ("constraint" | "constraints", _) => self.skip_constraints(),
                (_, Token::Mark("," | "}")) => found(&key, true.into()),
                _ => {
                    let value = self.value(nested)?;
                    found(&key, value);
                }
            }
            if self.accept(&Token::Mark("}")) {
                return Ok(());
            }
            self.expect(&Token::Mark(","), "`,` or `}`")?;
        }
    }

    /// Skips constraints among attributes; they are read when all features are known.
    fn skip_constraints(&mut self) {
        self.inner.push(self.at);
        let mut brackets = 0_usize;
        loop {
            match self.peek() {
                Token::Mark("," | "}") if brackets == 0 => return,
                Token::Mark("(" | "[" | "{") => brackets += 1,
                Token::Mark(")" | "]" | "}") => brackets = brackets.saturating_sub(1),
                Token::Newline | Token::End => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn value(&mut self, nested: usize) -> Result<Value, Diagnostic> {
        if nested > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        let negative = self.accept(&Token::Mark("-"));
        let value = match self.peek() {
            // Texts are written in single quotes, but many tools write double quotes.
            Token::Text(text) | Token::Name(text) if !negative => Value::from(&**text),
            Token::Word(word) => {
                number(word, negative).ok_or_else(|| self.unexpected("a value"))?
            }
            Token::Mark("[") if !negative => {
                self.at += 1;
                return self.list(nested);
            }
            Token::Mark("{") if !negative => {
                self.at += 1;
                let mut entries = Vec::new();
                self.attributes(nested + 1, &mut |key, value| entries.push((key.into(), value)))?;
                return Ok(Value::Map(entries.into()));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        Ok(value)
    }

    fn list(&mut self, nested: usize) -> Result<Value, Diagnostic> {
        let mut items = Vec::new();
        while !self.accept(&Token::Mark("]")) {
            if !items.is_empty() {
                self.expect(&Token::Mark(","), "`,` or `]`")?;
            }
            items.push(self.value(nested + 1)?);
        }
        Ok(items.into())
    }

    /// Reads skipped constraints among attributes: one constraint or a list.
    fn attribute_constraints(&mut self, tree: &mut UvlTree) -> Result<(), Diagnostic> {
        let list = self.accept(&Token::Mark("["));
        loop {
            let constraint = self.constraint(tree)?;
            tree.model.constrain(constraint);
            if !(list && self.accept(&Token::Mark(","))) {
                break;
            }
        }
        match self.peek() {
            Token::Mark("]") if list => Ok(()),
            Token::Mark("," | "}") if !list => Ok(()),
            _ => Err(self.unexpected("an operator or the end of the constraint")),
        }
    }

    /// Reads the section of constraints, if there is one, and the end of the file.
    fn constraints(&mut self, tree: &mut UvlTree) -> Result<(), Diagnostic> {
        if self.accept(&Token::Word("constraints")) {
            self.expect(&Token::Newline, "the end of the line behind `constraints`")?;
            let indented = self.accept(&Token::Indent);
            while indented && !self.accept(&Token::Dedent) {
                let constraint = self.constraint(tree)?;
                tree.model.constrain(constraint);
                self.expect(&Token::Newline, "an operator or the end of the line")?;
            }
        }
        self.expect(&Token::End, "`constraints` or the end of the file")
    }

    fn constraint(&mut self, tree: &UvlTree) -> Result<Proposition, Diagnostic> {
        let span = self.span();
        let constraint = self.binary(tree, 0, 0)?;
        if constraint.depth() > MAX_DEPTH { Err(too_deep(span)) } else { Ok(constraint) }
    }

    /// Reads operands separated by the operator of this rank; chains associate to the left.
    fn binary(
        &mut self,
        tree: &UvlTree,
        rank: usize,
        nested: usize,
    ) -> Result<Proposition, Diagnostic> {
        const OPERATORS: [&str; 4] = ["<=>", "=>", "|", "&"];
        let Some(&operator) = OPERATORS.get(rank) else { return self.unary(tree, nested) };
        let mut operands = vec![self.binary(tree, rank + 1, nested)?];
        while self.accept(&Token::Mark(operator)) {
            operands.push(self.binary(tree, rank + 1, nested)?);
            if rank < 2 && operands.len() > MAX_DEPTH {
                return Err(too_deep(self.span()));
            }
        }
        Ok(match operator {
            "&" => Proposition::and(operands),
            "|" => Proposition::or(operands),
            "=>" => chain(operands, Proposition::implies),
            _ => chain(operands, Proposition::iff),
        })
    }

    /// Whether the next token is the name of a function that is called; a feature may have the same
    /// name.
    fn is_function(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|(token, _)| token);
        matches!(self.peek(), Token::Word("sum" | "avg" | "len" | "floor" | "ceil"))
            && next == Some(&Token::Mark("("))
    }

    fn unary(&mut self, tree: &UvlTree, nested: usize) -> Result<Proposition, Diagnostic> {
        if nested > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        if self.accept(&Token::Mark("!")) {
            return self.unary(tree, nested + 1).map(|operand| !operand);
        }
        if self.accept(&Token::Mark("(")) {
            let inner = self.binary(tree, 0, nested + 1)?;
            self.expect(&Token::Mark(")"), "an operator or `)`")?;
            return Ok(inner);
        }
        let span = self.span();
        let computes = matches!(self.peek(), Token::Text(_) | Token::Mark("-" | "+"))
            || matches!(self.peek(), Token::Word(word) if number(word, false).is_some())
            || self.is_function();
        if computes {
            return Err(unsupported(span, "constraints that compute with numbers or texts"));
        }
        let name = self.name("a feature, `!` or `(`")?;
        if matches!(
            self.peek(),
            Token::Mark("==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/")
        ) {
            return Err(unsupported(self.span(), "constraints that compute with numbers or texts"));
        }
        tree.names.find(&tree.model, &name, span)
    }
}

impl UvlTree {
    /// Replaces bounds by a kind of group and constraints with the same meaning.
    fn settle(
        &mut self,
        parent: FeatureId,
        group: usize,
        bounds: &GroupBounds,
    ) -> Result<(), Diagnostic> {
        let Some(known) = self.model.group_mut(parent, group) else { return Ok(()) };
        let members = known.members.len() as u64;
        let most = bounds.most.unwrap_or(members).min(members);
        known.kind = match (bounds.least, most) {
            (0, most) if most == members => GroupKind::Optional,
            (least, most) if least == members && most == members => GroupKind::Mandatory,
            (1, 1) => GroupKind::Alternative,
            (1, most) if most == members => GroupKind::Or,
            (least, most) => {
                let demanded = of_number(&known.members, least, most).ok_or_else(|| {
                    let what = "groups of so many features with bounds on how many are selected";
                    unsupported(bounds.span, what)
                        .help("use `or` for at least one feature, or `alternative` for exactly one")
                })?;
                known.kind = GroupKind::Optional;
                self.model.constrain(Proposition::Feature(parent).implies(demanded));
                return Ok(());
            }
        };
        Ok(())
    }
}

/// How many subsets of a group are enumerated at most to express its bounds.
const SUBSETS: usize = 10_000;

/// The proposition that the number of selected members is within bounds. Each subset that is too
/// large to be left out contains a selected member; each subset of `most + 1` members contains one
/// that is not selected. `None` if there are too many subsets.
fn of_number(members: &[FeatureId], least: u64, most: u64) -> Option<Proposition> {
    let count = members.len();
    let (least, most) = (usize::try_from(least).ok()?, usize::try_from(most).ok()?);
    let feature = |&at: &usize| Proposition::Feature(members[at]);
    if least > count || least > most {
        return Some(Proposition::Constant(false));
    }
    let mut all = Vec::new();
    if least > 0 {
        let sets = subsets(count, count - least + 1)?;
        all.extend(sets.iter().map(|set| Proposition::or(set.iter().map(feature))));
    }
    if most < count {
        let sets = subsets(count, most + 1)?;
        all.extend(sets.iter().map(|set| Proposition::or(set.iter().map(|at| !feature(at)))));
    }
    Some(Proposition::and(all))
}

/// All subsets of a given size, in the order of positions; `None` if there are too many.
fn subsets(of: usize, taken: usize) -> Option<Vec<Vec<usize>>> {
    let mut set: Vec<usize> = (0..taken).collect();
    let mut all = Vec::new();
    loop {
        if all.len() >= SUBSETS {
            return None;
        }
        all.push(set.clone());
        // The last position that can advance; the following positions are reset behind it.
        let Some(at) = (0..taken).rev().find(|&at| set[at] < of - taken + at) else {
            return Some(all);
        };
        let next = set[at] + 1;
        set.iter_mut().skip(at).zip(next..).for_each(|(position, to)| *position = to);
    }
}

impl Feature {
    /// Stores an attribute; some attributes have a special meaning.
    fn take(&mut self, key: &str, value: Value) {
        match (key, value) {
            ("abstract", value) => self.is_abstract = value.is_truthy(),
            ("description", Value::String(text)) => self.description = Some(text.to_string()),
            ("type", Value::String(name))
                if Primitive::from_name(&name).is_some() || &*name == "number" =>
            {
                self.value_type = Some(name.to_string())
            }
            ("default", value) => self.default = Some(value),
            ("clauses", Value::List(clauses)) => {
                self.clauses.extend(
                    clauses.iter().filter(|clause| matches!(clause, Value::Map(_))).cloned(),
                );
            }
            (_, value) => self.attributes.push((key.to_owned(), value)),
        }
    }
}

/// Combines the operands of a chain from the left: `a => b => c` is `(a => b) => c`.
fn chain(
    operands: Vec<Proposition>,
    combine: fn(Proposition, Proposition) -> Proposition,
) -> Proposition {
    operands.into_iter().reduce(combine).unwrap_or(Proposition::Constant(true))
}

fn not_always_there(feature: &Feature, at: Span) -> Diagnostic {
    let error =
        unsupported(feature.span.unwrap_or(at), "a feature with a value that may be absent");
    error.help(
        "an input with a value is a mandatory feature below the root, without features below it",
    )
}

fn feature_type(word: &str) -> Option<FeatureType> {
    match word {
        "Boolean" => Some(FeatureType::Boolean),
        "Integer" => Some(FeatureType::Integer),
        "Real" => Some(FeatureType::Real),
        "String" => Some(FeatureType::String),
        _ => None,
    }
}

/// A number or a boolean.
fn number(word: &str, negative: bool) -> Option<Value> {
    if !negative && matches!(word, "true" | "false") {
        return Some((word == "true").into());
    }
    let digits = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let text = if negative { format!("-{word}") } else { word.to_owned() };
    if let Ok(int) = text.parse() {
        return digits.then_some(Value::Number(Number::int(int)));
    }
    let float =
        text.parse().ok().filter(|_| digits && !word.starts_with('.') && !word.ends_with('.'))?;
    Some(Value::Number(Number::float(float).with_text(text)))
}
