//! Parses the text of a path into steps.

use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::source::{FileId, Span};
use regex_lite::Regex;

/// A path through a model.
#[derive(Clone, Debug)]
pub struct InstanceQuery {
    pub(super) start: ModelCollection,
    /// The place of the collection in the text.
    pub(super) span: Span,
    pub(super) filters: Vec<QueryFilter>,
    pub(super) steps: Vec<QueryStep>,
}

/// The collection in which a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelCollection {
    Nodes,
    Groups,
    Policies,
    Relations,
    Inputs,
    Outputs,
    Metadata,
}

/// A step of a path.
#[derive(Clone, Debug)]
pub(super) struct QueryStep {
    pub way: QueryWay,
    /// The name; `None` for `*`.
    pub name: Option<String>,
    pub span: Span,
    pub filters: Vec<QueryFilter>,
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryWay {
    /// Into the parts of the places found so far.
    Into,
    /// Along relations to their targets, or back to their sources; one step, or as many as
    /// possible.
    Along { back: bool, transitive: bool },
}

/// A condition on the places found so far.
#[derive(Clone, Debug)]
pub(super) struct QueryFilter {
    /// The names that lead from the filtered place to the tested value; `None` for `*`.
    pub path: Vec<Option<String>>,
    pub span: Span,
    /// The test; `None` if the value only has to exist.
    pub test: Option<FilterTest>,
}

/// A test of a value.
#[derive(Clone, Debug)]
pub(super) enum FilterTest {
    /// `=`, `!=`, `<`, ...
    Compare(Comparison, String),
    /// `~`
    Match(Regex),
    /// `!=*`: the value is missing.
    Missing,
}

/// An operator that compares values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl ModelCollection {
    pub(super) const ALL: [Self; 7] = [
        Self::Nodes,
        Self::Groups,
        Self::Policies,
        Self::Relations,
        Self::Inputs,
        Self::Outputs,
        Self::Metadata,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Groups => "groups",
            Self::Policies => "policies",
            Self::Relations => "relations",
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
            Self::Metadata => "metadata",
        }
    }
}

impl InstanceQuery {
    /// Parses a path. Errors have places in `file`, whose text it is.
    ///
    /// ```
    /// use cuvee::deploy::instance::{InstanceModel, InstanceQuery, ModelReading, NodeInstance};
    /// use cuvee::source::FileId;
    /// let mut model = InstanceModel::default();
    /// let mut server = NodeInstance::default();
    /// server.type_name = "tosca.nodes.Compute".into();
    /// server.properties.insert("port".into(), 80.into());
    /// model.nodes.insert("server".into(), server);
    ///
    /// let query = InstanceQuery::parse("nodes[type=tosca.nodes.Compute]/properties/port", FileId::DETACHED)?;
    /// let rows = query.run(&model, &ModelReading::default())?.rows;
    /// assert_eq!((&*rows[0].entity, &*rows[0].path), ("node.server", "properties/port"));
    /// assert_eq!(rows[0].value, Some(80.into()));
    /// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `invalid-expression` if the text is no path.
    pub fn parse(text: &str, file: FileId) -> Result<Self, Diagnostic> {
        let mut parser = PathParser { text, at: 0, file };
        parser.query()
    }
}

struct PathParser<'t> {
    text: &'t str,
    at: usize,
    file: FileId,
}

/// The characters that end a name without quotes.
const SPECIAL: [char; 11] = ['/', '[', ']', ',', '=', '!', '<', '>', '~', '\'', '"'];

impl PathParser<'_> {
    fn query(&mut self) -> Result<InstanceQuery, Diagnostic> {
        self.eat("/");
        let (start, span) = self.collection()?;
        let filters = self.filters()?;
        let mut steps = Vec::new();
        while self.at < self.text.len() {
            steps.push(self.step()?);
        }
        Ok(InstanceQuery { start, span, filters, steps })
    }

    fn collection(&mut self) -> Result<(ModelCollection, Span), Diagnostic> {
        let from = self.at;
        let name = self.name("a collection such as `nodes`")?;
        let said = name.as_deref().unwrap_or("*");
        let found = ModelCollection::ALL.into_iter().find(|collection| collection.name() == said);
        let span = self.span(from);
        found.map(|found| (found, span)).ok_or_else(|| {
            let names = ModelCollection::ALL.map(ModelCollection::name);
            let error = Diagnostic::error(
                Code::InvalidExpression,
                format!("`{said}` is no collection of an instance"),
            )
            .at(span);
            match did_you_mean(said, names) {
                Some(help) => error.help(help),
                None => error.help(format!(
                    "a path begins with {}",
                    names.map(|name| format!("`{name}`")).join(", ")
                )),
            }
        })
    }

    fn step(&mut self) -> Result<QueryStep, Diagnostic> {
        const WAYS: [(&str, QueryWay); 5] = [
            ("/", QueryWay::Into),
            ("->>", QueryWay::Along { back: false, transitive: true }),
            ("<<-", QueryWay::Along { back: true, transitive: true }),
            ("->", QueryWay::Along { back: false, transitive: false }),
            ("<-", QueryWay::Along { back: true, transitive: false }),
        ];
        let Some(&(_, way)) = WAYS.iter().find(|(sign, _)| self.eat(sign)) else {
            let error = self.wrong("expected `/`, `->`, `<-` or a filter in brackets");
            return Err(error.help("put names with such characters into quotes"));
        };
        let from = self.at;
        let name = self.name("a name or `*`")?;
        let span = self.span(from);
        Ok(QueryStep { way, name, span, filters: self.filters()? })
    }

    fn filters(&mut self) -> Result<Vec<QueryFilter>, Diagnostic> {
        let mut filters = Vec::new();
        while self.eat("[") {
            loop {
                filters.push(self.filter()?);
                if self.eat("]") {
                    break;
                }
                if !self.eat(",") {
                    return Err(self.wrong("expected `,` or `]` behind a filter"));
                }
            }
        }
        Ok(filters)
    }

    fn filter(&mut self) -> Result<QueryFilter, Diagnostic> {
        self.skip_blanks();
        let from = self.at;
        let mut path = vec![self.name("the name of what is filtered by")?];
        while self.eat("/") {
            path.push(self.name("a name")?);
        }
        let span = self.span(from);
        let test = self.test()?;
        Ok(QueryFilter { path, span, test })
    }

    fn test(&mut self) -> Result<Option<FilterTest>, Diagnostic> {
        const SIGNS: [(&str, Option<Comparison>); 7] = [
            ("=", Some(Comparison::Equal)),
            ("!=", Some(Comparison::Unequal)),
            ("<=", Some(Comparison::LessOrEqual)),
            ("<", Some(Comparison::Less)),
            (">=", Some(Comparison::GreaterOrEqual)),
            (">", Some(Comparison::Greater)),
            ("~", None),
        ];
        let Some((_, comparison)) = SIGNS.iter().find(|(sign, _)| self.eat(sign)) else {
            return Ok(None);
        };
        self.skip_blanks();
        let from = self.at;
        let value = self.value()?;
        match (comparison, value) {
            (Some(Comparison::Equal), None) => Ok(None),
            (Some(Comparison::Unequal), None) => Ok(Some(FilterTest::Missing)),
            (Some(comparison), Some(value)) => Ok(Some(FilterTest::Compare(*comparison, value))),
            (None, Some(pattern)) => match Regex::new(&pattern) {
                Ok(pattern) => Ok(Some(FilterTest::Match(pattern))),
                Err(error) => {
                    let message = format!("`{pattern}` is no regular expression: {error}");
                    Err(Diagnostic::error(Code::InvalidExpression, message).at(self.span(from)))
                }
            },
            (_, None) => {
                let message = "`*` stands behind `=` or `!=` only";
                Err(Diagnostic::error(Code::InvalidExpression, message).at(self.span(from)))
            }
        }
    }

    /// Parses a name; `None` for `*`.
    fn name(&mut self, what: &str) -> Result<Option<String>, Diagnostic> {
        self.skip_blanks();
        if let Some(quoted) = self.quoted()? {
            return Ok(Some(quoted));
        }
        let rest = &self.text[self.at..];
        let end = rest.find(SPECIAL).unwrap_or(rest.len());
        let end = rest.find("->").map_or(end, |axis| axis.min(end));
        // After `<<-` or `<-` the character `<` ends the name.
        let name = rest[..end].trim_end();
        if name.is_empty() {
            return Err(self.wrong(&format!("expected {what}")));
        }
        self.at += end;
        Ok((name != "*").then(|| name.to_owned()))
    }

    /// Parses the value of a comparison: everything up to the end of the filter.
    fn value(&mut self) -> Result<Option<String>, Diagnostic> {
        if let Some(quoted) = self.quoted()? {
            return Ok(Some(quoted));
        }
        let rest = &self.text[self.at..];
        let end = rest.find([',', ']']).unwrap_or(rest.len());
        let value = rest[..end].trim_end();
        if value.is_empty() {
            let error = self.wrong("expected a value");
            return Err(error.help("an empty text is written as `''`"));
        }
        self.at += end;
        Ok((value != "*").then(|| value.to_owned()))
    }

    fn quoted(&mut self) -> Result<Option<String>, Diagnostic> {
        let rest = &self.text[self.at..];
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                text.push(c);
            } else if chars.next_if(|&(_, next)| next == quote).is_some() {
                text.push(quote);
            } else {
                self.at += at + 1;
                self.skip_blanks();
                return Ok(Some(text));
            }
        }
        Err(self.wrong(&format!("the text that begins with {quote} does not end")))
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_next = self.text[self.at..].starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The span from a position to the present one, without blanks at the end.
    fn span(&self, from: usize) -> Span {
        let end = from + self.text[from..self.at].trim_end().len();
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file: self.file, start: position(from), end: position(end) }
    }

    /// An error at the next character.
    fn wrong(&self, message: &str) -> Diagnostic {
        let next = self.text[self.at..].chars().next();
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let end = self.at + next.map_or(0, char::len_utf8);
        let span = Span { file: self.file, start: position(self.at), end: position(end) };
        let got = next.map_or("the end".to_owned(), |c| format!("`{c}`"));
        Diagnostic::error(Code::InvalidExpression, format!("{message}, got {got}")).at(span)
    }
}
