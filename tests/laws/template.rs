//! A small model of variable service templates, and how they are written as text.
//!
//! The model is flat: all elements are in one list, in the order in which presence is reported, and
//! refer to each other by position.

use std::fmt::Write;

/// A position in [`Template::elements`].
pub(crate) type Id = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Import,
    Input,
    Node,
    Type,
    Property,
    Relation,
    Artifact,
    Technology,
    Group,
    Policy,
    Output,
}

impl Kind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Import,
        Self::Input,
        Self::Node,
        Self::Type,
        Self::Property,
        Self::Relation,
        Self::Artifact,
        Self::Technology,
        Self::Group,
        Self::Policy,
        Self::Output,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Input => "input",
            Self::Node => "node",
            Self::Type => "type",
            Self::Property => "property",
            Self::Relation => "relation",
            Self::Artifact => "artifact",
            Self::Technology => "technology",
            Self::Group => "group",
            Self::Policy => "policy",
            Self::Output => "output",
        }
    }
}

/// What a presence operator asks about an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Itself,
    Container,
    Hosts,
    Sources,
    Incoming,
    IncomingNaive,
    Outgoing,
    OutgoingNaive,
    Artifacts,
    ArtifactsNaive,
    Source,
    Target,
    Managed,
    Consumers,
    Producers,
    Members,
    Targets,
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Constant(bool),
    /// A variability input that is used as logic.
    Input(&'static str),
    /// A comparison of the enumeration input.
    SizeIs(&'static str),
    /// A presence operator; the text is its operand.
    Presence(Of, Id, String),
    /// The identifier of an element.
    Identifier(Id),
    /// A named expression, by position.
    Named(usize),
    Not(Box<Condition>),
    Many(Operator, Vec<Condition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Xor,
    Exo,
    Amo,
    Implies,
}

impl Operator {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Exo => "exo",
            Self::Amo => "amo",
            Self::Implies => "implies",
        }
    }
}

/// What a property assigns or an output returns.
#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    #[default]
    Plain,
    /// `get_input`, by name or by position.
    Input(Id, bool),
    /// `get_property` of a property, by its node and its name.
    Property(Id),
    /// `get_attribute` of a node.
    Attribute(Id),
    /// `expression`
    Expression(Condition),
}

#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub kind: Kind,
    pub name: String,
    pub index: usize,
    pub container: Option<Id>,
    pub conditions: Vec<Condition>,
    pub settings: Settings,
    /// The target of a relation, the members of a group, or the targets of a policy.
    pub ends: Vec<Id>,
    /// In thousandths.
    pub weight: Option<u64>,
    pub persistent: bool,
    pub managed: Option<bool>,
    /// For a group: whether its conditions apply to its members.
    pub variability: bool,
    /// For a relation: whether its relationship template is separate and has a name.
    pub named_relationship: bool,
    /// For a technology: the type that it assigns, and below, the type of artifacts that it
    /// manages.
    pub assign: Option<String>,
    pub artifact: Option<String>,
    pub value: Value,
}

/// The settings of an element for variability, other than its conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub default_alternative: Option<bool>,
    pub implied: Option<&'static str>,
    pub implies: Vec<(Condition, Option<Condition>)>,
    pub default_condition: Option<bool>,
    /// For consistency and for semantics.
    pub default_halves: [Option<bool>; 2],
    pub pruning: Option<bool>,
    pub pruning_halves: [Option<bool>; 2],
    pub mode: Option<String>,
}

/// A default condition of all elements of a type, or of one property of all these elements.
#[derive(Clone, Debug)]
pub(crate) struct TypeSpecific {
    pub type_name: String,
    pub property: Option<String>,
    pub condition: Condition,
    pub consistency: Option<bool>,
    pub semantic: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub version: &'static str,
    /// Options in the template, in order.
    pub options: Vec<(String, String)>,
    /// Options in the call, in order.
    pub overrides: Vec<(String, String)>,
    pub flag: bool,
    pub count: u8,
    pub size: &'static str,
    /// Variability inputs that have the names of elements, with their values.
    pub named_inputs: Vec<(Id, bool)>,
    pub expressions: Vec<Condition>,
    pub constraints: Vec<Condition>,
    pub type_specific: Vec<TypeSpecific>,
    pub elements: Vec<Element>,
}

/// The families of types that can have default conditions, by the first letter of the names of our
/// types.
pub(crate) const FAMILIES: [(&str, &str); 5] = [
    ("N", "node_types"),
    ("R", "relationship_types"),
    ("A", "artifact_types"),
    ("G", "group_types"),
    ("P", "policy_types"),
];

pub(crate) const VARIABILITY_GROUP: &str = "variability.groups.ConditionalMembers";

impl Template {
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        0..self.elements.len()
    }

    pub(crate) fn of_kind(&self, kind: Kind) -> Vec<Id> {
        self.ids().filter(|&id| self.elements[id].kind == kind).collect()
    }

    pub(crate) fn children(&self, container: Id, kind: Kind) -> Vec<Id> {
        self.of_kind(kind)
            .into_iter()
            .filter(|&id| self.elements[id].container == Some(container))
            .collect()
    }

    /// `kind.name[@index][.container]`
    pub(crate) fn identifier(&self, id: Id) -> String {
        let Element { kind, name, index, container, .. } = &self.elements[id];
        let own = match kind {
            Kind::Import => format!("import.{index}"),
            Kind::Node | Kind::Group => format!("{}.{name}", kind.word()),
            _ => format!("{}.{name}@{index}", kind.word()),
        };
        container.map_or(own.clone(), |container| format!("{own}.{}", self.identifier(container)))
    }

    /// The element as messages name it.
    pub(crate) fn display(&self, id: Id) -> String {
        let Element { kind, name, index, container, .. } = &self.elements[id];
        let own = match kind {
            Kind::Import | Kind::Node | Kind::Group => format!("{} \"{name}\"", kind.word()),
            _ => format!("{} \"{name}@{index}\"", kind.word()),
        };
        container.map_or(own.clone(), |container| format!("{own} of {}", self.display(container)))
    }

    pub(crate) fn relationship_name(&self, relation: Id) -> String {
        format!("relationship_{relation}")
    }

    /// The keyword of a presence operator.
    pub(crate) fn keyword(&self, of: Of, id: Id) -> String {
        let element = &self.elements[id];
        match of {
            Of::Itself if matches!(element.kind, Kind::Type | Kind::Property) => {
                let container =
                    element.container.map_or("", |container| self.elements[container].kind.word());
                format!("{container}_{}_presence", element.kind.word())
            }
            Of::Itself => format!("{}_presence", element.kind.word()),
            Of::Container => "container_presence".into(),
            Of::Hosts => "host_presence".into(),
            Of::Sources => "has_source".into(),
            Of::Incoming => "has_incoming_relation".into(),
            Of::IncomingNaive => "has_incoming_relation_naive".into(),
            Of::Outgoing => "has_outgoing_relation".into(),
            Of::OutgoingNaive => "has_outgoing_relation_naive".into(),
            Of::Artifacts => "has_artifact".into(),
            Of::ArtifactsNaive => "has_artifact_naive".into(),
            Of::Source => "source_presence".into(),
            Of::Target => "target_presence".into(),
            Of::Managed => "is_managed".into(),
            Of::Consumers => "is_consumed".into(),
            Of::Producers => "is_produced".into(),
            Of::Members => "has_present_member".into(),
            Of::Targets => "has_present_target".into(),
        }
    }

    /// The condition as it is written.
    pub(crate) fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Constant(value) => value.to_string(),
            Condition::Input(name) => format!("{{variability_input: {name}}}"),
            Condition::SizeIs(size) => format!("{{equal: [{{variability_input: size}}, {size}]}}"),
            Condition::Presence(of, id, operand) => {
                format!("{{{}: {operand}}}", self.keyword(*of, *id))
            }
            Condition::Identifier(id) => self.identifier(*id),
            Condition::Named(index) => format!("{{logic_expression: e{index}}}"),
            Condition::Not(inner) => format!("{{not: {}}}", self.condition(inner)),
            Condition::Many(operator, inner) => {
                format!("{{{}: {}}}", operator.word(), self.list(inner))
            }
        }
    }

    fn list(&self, conditions: &[Condition]) -> String {
        let conditions: Vec<_> =
            conditions.iter().map(|condition| self.condition(condition)).collect();
        format!("[{}]", conditions.join(", "))
    }

    /// The entries of an element that concern its variability.
    fn common(&self, element: &Element) -> Vec<String> {
        let mut entries = Vec::new();
        match &element.conditions[..] {
            [] => {}
            [only] => entries.push(format!("conditions: {}", self.condition(only))),
            all => entries.push(format!("conditions: {}", self.list(all))),
        }
        let settings = &element.settings;
        let switches = [
            ("default_alternative", settings.default_alternative),
            ("default_condition", settings.default_condition),
            ("default_consistency_condition", settings.default_halves[0]),
            ("default_semantic_condition", settings.default_halves[1]),
            ("pruning", settings.pruning),
            ("consistency_pruning", settings.pruning_halves[0]),
            ("semantic_pruning", settings.pruning_halves[1]),
        ];
        entries.extend(
            switches
                .iter()
                .filter_map(|(name, value)| value.map(|value| format!("{name}: {value}"))),
        );
        entries.extend(settings.implied.map(|implied| format!("implied: {implied}")));
        entries
            .extend(settings.mode.as_ref().map(|mode| format!("default_condition_mode: {mode}")));
        if !settings.implies.is_empty() {
            let implication = |(target, condition): &(Condition, Option<Condition>)| {
                let parts: Vec<_> = std::iter::once(target)
                    .chain(condition)
                    .map(|part| self.condition(part))
                    .collect();
                format!("[{}]", parts.join(", "))
            };
            let all: Vec<_> = settings.implies.iter().map(implication).collect();
            entries.push(format!("implies: [{}]", all.join(", ")));
        }
        entries
    }

    /// The template as text.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("tosca_definitions_version: {}\n", self.version);
        self.section(&mut text, "", "imports", Kind::Import, |this, id| {
            let element = &this.elements[id];
            match &this.common(element)[..] {
                [] => format!("- {}", element.name),
                common => format!("- {{file: {}, {}}}", element.name, common.join(", ")),
            }
        });
        text.push_str("topology_template:\n");
        self.render_variability(&mut text);
        self.section(&mut text, "  ", "inputs", Kind::Input, |this, id| {
            this.entry(id, vec!["type: string".into()])
        });
        self.render_nodes(&mut text);
        self.render_relationships(&mut text);
        self.section(&mut text, "  ", "groups", Kind::Group, |this, id| {
            let members: Vec<_> =
                this.elements[id].ends.iter().map(|&member| this.member(member)).collect();
            this.entry(id, vec![format!("members: [{}]", members.join(", "))])
        });
        self.section(&mut text, "  ", "policies", Kind::Policy, |this, id| {
            let targets: Vec<_> = this.elements[id]
                .ends
                .iter()
                .map(|&target| this.elements[target].name.clone())
                .collect();
            this.entry(id, vec![format!("targets: [{}]", targets.join(", "))])
        });
        self.section(&mut text, "  ", "outputs", Kind::Output, |this, id| {
            this.entry(id, vec![format!("value: {}", this.value(id))])
        });
        text
    }

    fn section(
        &self,
        text: &mut String,
        indent: &str,
        name: &str,
        kind: Kind,
        line: impl Fn(&Self, Id) -> String,
    ) {
        let all = self.of_kind(kind);
        if !all.is_empty() {
            writeln!(text, "{indent}{name}:").unwrap();
            all.iter().for_each(|&id| writeln!(text, "{indent}  {}", line(self, id)).unwrap());
        }
    }

    /// An entry of a list of named elements. `own` has the entries other than types, properties and
    /// variability.
    fn entry(&self, id: Id, own: Vec<String>) -> String {
        let element = &self.elements[id];
        let mut entries = self.types_and_properties(id);
        entries.extend(own);
        entries.extend(self.common(element));
        format!("- {}: {{{}}}", element.name, entries.join(", "))
    }

    fn member(&self, id: Id) -> String {
        let element = &self.elements[id];
        match element.container {
            Some(node) => format!("[{}, {}]", self.elements[node].name, element.index),
            None => element.name.clone(),
        }
    }

    /// Whether a type is written as in plain TOSCA: it is the only one of its container and has no
    /// settings.
    pub(crate) fn is_plain_type(&self, id: Id) -> bool {
        let element = &self.elements[id];
        let alone = |container| self.children(container, Kind::Type) == [id];
        element.kind == Kind::Type
            && element.container.is_some_and(alone)
            && self.common(element).is_empty()
    }

    fn types_and_properties(&self, id: Id) -> Vec<String> {
        let mut entries = Vec::new();
        let types = self.children(id, Kind::Type);
        match &types[..] {
            [] => {}
            [only] if self.is_plain_type(*only) => {
                entries.push(format!("type: {}", self.elements[*only].name))
            }
            all => {
                let assign = |&id: &Id| {
                    format!(
                        "{}: {{{}}}",
                        self.elements[id].name,
                        self.common(&self.elements[id]).join(", ")
                    )
                };
                let all: Vec<_> = all.iter().map(assign).map(|one| format!("{{{one}}}")).collect();
                entries.push(format!("type: [{}]", all.join(", ")));
            }
        }
        let properties = self.children(id, Kind::Property);
        if !properties.is_empty() {
            let all: Vec<_> =
                properties.iter().map(|&id| format!("{{{}}}", self.property(id))).collect();
            entries.push(format!("properties: [{}]", all.join(", ")));
        }
        entries
    }

    fn property(&self, id: Id) -> String {
        let element = &self.elements[id];
        let common = self.common(element);
        match &element.value {
            Value::Expression(expression) => {
                let entries: Vec<_> =
                    std::iter::once(format!("expression: {}", self.condition(expression)))
                        .chain(common)
                        .collect();
                format!("{}: {{{}}}", element.name, entries.join(", "))
            }
            _ if common.is_empty() => format!("{}: {}", element.name, self.value(id)),
            _ => format!("{}: {{value: {}, {}}}", element.name, self.value(id), common.join(", ")),
        }
    }

    fn value(&self, id: Id) -> String {
        let name = |id: Id| &self.elements[id].name;
        match self.elements[id].value {
            Value::Plain | Value::Expression(_) => format!("v{id}"),
            Value::Input(input, true) => format!("{{get_input: {}}}", name(input)),
            Value::Input(input, false) => format!("{{get_input: {}}}", self.elements[input].index),
            Value::Property(property) => {
                let node = self.elements[property].container.unwrap();
                format!("{{get_property: [{}, {}]}}", name(node), name(property))
            }
            Value::Attribute(node) => format!("{{get_attribute: [{}, address]}}", name(node)),
        }
    }

    fn render_variability(&self, text: &mut String) {
        let Self { flag, count, size, .. } = self;
        text.push_str("  variability:\n    inputs:\n");
        text.push_str("      flag: {type: boolean}\n      count: {type: integer}\n");
        text.push_str(
            "      size: {type: string, constraints: [{valid_values: [small, large]}]}\n",
        );
        for &(id, _) in &self.named_inputs {
            writeln!(text, "      {}: {{type: boolean}}", self.identifier(id)).unwrap();
        }
        writeln!(text, "    presets:\n      only:\n        inputs:").unwrap();
        writeln!(text, "          flag: {flag}\n          count: {count}\n          size: {size}")
            .unwrap();
        for &(id, value) in &self.named_inputs {
            writeln!(text, "          {}: {value}", self.identifier(id)).unwrap();
        }
        if !self.options.is_empty() {
            text.push_str("    options:\n");
            self.options
                .iter()
                .for_each(|(name, value)| writeln!(text, "      {name}: {value}").unwrap());
        }
        if !self.expressions.is_empty() {
            text.push_str("    expressions:\n");
            for (index, expression) in self.expressions.iter().enumerate() {
                writeln!(text, "      e{index}: {}", self.condition(expression)).unwrap();
            }
        }
        if !self.constraints.is_empty() {
            text.push_str("    constraints:\n");
            self.constraints.iter().for_each(|constraint| {
                writeln!(text, "      - {}", self.condition(constraint)).unwrap()
            });
        }
        self.render_type_specific(text);
    }

    fn render_type_specific(&self, text: &mut String) {
        if self.type_specific.is_empty() {
            return;
        }
        text.push_str("    type_specific_conditions:\n");
        for (letter, family) in FAMILIES {
            let mut names: Vec<_> = self
                .type_specific
                .iter()
                .map(|one| &one.type_name)
                .filter(|name| name.starts_with(letter))
                .collect();
            names.sort();
            names.dedup();
            if !names.is_empty() {
                writeln!(text, "      {family}:").unwrap();
            }
            for name in names {
                writeln!(text, "        {name}:").unwrap();
                let of_type = self.type_specific.iter().filter(|one| one.type_name == *name);
                for one in of_type.clone().filter(|one| one.property.is_none()) {
                    self.type_specific_body(text, "          ", one);
                }
                if of_type.clone().any(|one| one.property.is_some()) {
                    text.push_str("          properties:\n");
                }
                for one in of_type {
                    if let Some(property) = &one.property {
                        writeln!(text, "            {property}:").unwrap();
                        self.type_specific_body(text, "              ", one);
                    }
                }
            }
        }
    }

    fn type_specific_body(&self, text: &mut String, indent: &str, one: &TypeSpecific) {
        writeln!(text, "{indent}conditions: {}", self.condition(&one.condition)).unwrap();
        for (name, value) in [("consistency", one.consistency), ("semantic", one.semantic)] {
            if let Some(value) = value {
                writeln!(text, "{indent}{name}: {value}").unwrap();
            }
        }
    }

    fn render_nodes(&self, text: &mut String) {
        text.push_str("  node_templates:\n");
        for id in self.of_kind(Kind::Node) {
            let element = &self.elements[id];
            writeln!(text, "    {}:", element.name).unwrap();
            let mut line = |entry: String| writeln!(text, "      {entry}").unwrap();
            self.types_and_properties(id).into_iter().for_each(&mut line);
            self.common(element).into_iter().for_each(&mut line);
            if element.persistent {
                line("persistent: true".into());
            }
            element.managed.into_iter().for_each(|managed| line(format!("managed: {managed}")));
            element
                .weight
                .into_iter()
                .for_each(|weight| line(format!("weight: {}", thousandths(weight))));
            let mut list = |keyword: &str, items: Vec<String>| {
                if !items.is_empty() {
                    line(format!("{keyword}:"));
                    items.iter().for_each(|item| line(format!("  {item}")));
                }
            };
            let all = |kind, item: &dyn Fn(Id) -> String| {
                self.children(id, kind).into_iter().map(item).collect::<Vec<_>>()
            };
            list("requirements", all(Kind::Relation, &|id| self.requirement(id)));
            list(
                "artifacts",
                all(Kind::Artifact, &|id| self.entry(id, vec![format!("file: f{id}")])),
            );
            list("technology", all(Kind::Technology, &|id| self.technology(id)));
        }
    }

    fn requirement(&self, id: Id) -> String {
        let element = &self.elements[id];
        let mut entries: Vec<_> = element
            .ends
            .iter()
            .map(|&target| format!("node: {}", self.elements[target].name))
            .collect();
        let relationship = self.types_and_properties(id);
        if element.named_relationship {
            entries.push(format!("relationship: {}", self.relationship_name(id)));
        } else if !relationship.is_empty() {
            entries.push(format!("relationship: {{{}}}", relationship.join(", ")));
        }
        entries.extend(self.common(element));
        match &entries[..] {
            [_] => format!("- {}: {}", element.name, self.elements[element.ends[0]].name),
            _ => format!("- {}: {{{}}}", element.name, entries.join(", ")),
        }
    }

    fn technology(&self, id: Id) -> String {
        let element = &self.elements[id];
        let mut entries = self.common(element);
        entries.extend(element.weight.map(|weight| format!("weight: {}", thousandths(weight))));
        entries.extend(element.assign.as_ref().map(|assign| format!("assign: {assign}")));
        entries.extend(element.artifact.as_ref().map(|artifact| format!("artifact: {artifact}")));
        format!("- {}: {{{}}}", element.name, entries.join(", "))
    }

    fn render_relationships(&self, text: &mut String) {
        let named: Vec<_> = self
            .of_kind(Kind::Relation)
            .into_iter()
            .filter(|&id| self.elements[id].named_relationship)
            .collect();
        if !named.is_empty() {
            text.push_str("  relationship_templates:\n");
        }
        for id in named {
            writeln!(
                text,
                "    {}: {{{}}}",
                self.relationship_name(id),
                self.types_and_properties(id).join(", ")
            )
            .unwrap();
        }
    }
}

/// Writes a weight: `1500` becomes `1.500`.
fn thousandths(weight: u64) -> String {
    format!("{}.{:03}", weight / 1000, weight % 1000)
}
