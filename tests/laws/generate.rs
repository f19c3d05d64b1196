//! Random templates. A recipe is made of small numbers, which shrink well; every recipe can be
//! built into a well-formed template.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::oracle::{DEFAULT_ARTIFACT_TYPE, HOSTED_ON};
use super::template::{
    Condition, Element, FAMILIES, Id, Kind, Of, Operator, Settings, Template, TypeSpecific,
    VARIABILITY_GROUP, Value,
};

/// A condition whose elements are random numbers, since the elements are not known yet.
#[derive(Clone, Debug)]
enum Formula {
    Constant(bool),
    Input(u8),
    Element(u8, u8, bool),
    Identifier(u8),
    Named(u8),
    Not(Box<Formula>),
    Many(Operator, Vec<Formula>),
}

/// An element whose references are random numbers, since the other elements are not known yet.
#[derive(Clone, Debug)]
struct Recipe {
    name: u8,
    conditions: Vec<Formula>,
    settings: SettingsRecipe,
    ends: Vec<u8>,
    weight: Option<u64>,
    flags: (bool, Option<bool>),
    value: (u8, u8, Formula),
}

#[derive(Clone, Debug, Default)]
struct SettingsRecipe {
    default_alternative: Option<bool>,
    implied: Option<&'static str>,
    implies: Vec<(Formula, Option<Formula>)>,
    default_condition: [Option<bool>; 3],
    pruning: [Option<bool>; 3],
    mode: Option<u8>,
}

/// An element that has types and properties.
#[derive(Clone, Debug)]
struct Typed {
    recipe: Recipe,
    types: Vec<Recipe>,
    properties: Vec<Recipe>,
}

#[derive(Clone, Debug)]
struct NodeRecipe {
    typed: Typed,
    relations: Vec<(Typed, u8)>,
    artifacts: Vec<Typed>,
    technologies: Vec<Recipe>,
}

/// Options with their values, in order.
type Written = Vec<(String, String)>;

/// Family, name, property, condition, and whether it replaces the consistency condition and the
/// semantic condition.
type TypeSpecificRecipe = (u8, u8, Option<u8>, Formula, [Option<bool>; 2]);

#[derive(Clone, Debug)]
struct TemplateRecipe {
    /// Whether the template is for a release candidate, its options, and the options of the call.
    settings: (bool, Written, Written),
    inputs: (bool, u8, bool, Vec<(u8, bool)>),
    formulas: (Vec<Formula>, Vec<Formula>),
    type_specific: Vec<TypeSpecificRecipe>,
    parameters: [Vec<Recipe>; 3],
    nodes: Vec<NodeRecipe>,
    groups: Vec<Typed>,
    policies: Vec<Typed>,
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        1 => weighted_bool().prop_map(Formula::Constant),
        2 => any::<u8>().prop_map(Formula::Input),
        9 => (any::<u8>(), any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(id, of, near)| Formula::Element(id, of, near)),
        1 => any::<u8>().prop_map(Formula::Identifier),
        1 => any::<u8>().prop_map(Formula::Named),
    ];
    let operator = select(vec![
        Operator::And,
        Operator::Or,
        Operator::Xor,
        Operator::Exo,
        Operator::Amo,
        Operator::Implies,
    ]);
    leaf.prop_recursive(2, 6, 3, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Formula::Not(Box::new(inner))),
            (operator.clone(), vec(inner, 0..4))
                .prop_map(|(operator, inner)| Formula::Many(operator, inner)),
        ]
    })
}

fn weighted_bool() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.8)
}

fn rarely<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    weighted(0.08, strategy)
}

fn settings() -> impl Strategy<Value = SettingsRecipe> {
    let switches = || {
        [
            weighted(0.1, any::<bool>()).boxed(),
            rarely(any::<bool>()).boxed(),
            rarely(any::<bool>()).boxed(),
        ]
    };
    let implies = (formula(), weighted(0.5, formula()));
    let all = (
        weighted(0.4, any::<bool>()),
        weighted(0.3, select(vec!["true", "false", "CONTAINER", "SOURCE", "TARGET"])),
        rarely(implies),
        switches(),
        switches(),
        rarely(any::<u8>()),
    );
    let settings = all.prop_map(
        |(default_alternative, implied, implies, default_condition, pruning, mode)| {
            SettingsRecipe {
                default_alternative,
                implied,
                implies: implies.into_iter().collect(),
                default_condition,
                pruning,
                mode,
            }
        },
    );
    prop_oneof![3 => Just(SettingsRecipe::default()), 1 => settings]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let conditions =
        prop_oneof![4 => Just(Vec::new()), 4 => vec(formula(), 1), 1 => vec(formula(), 2)];
    let weight = weighted(0.4, prop_oneof![Just(0), (0..6u64).prop_map(|n| n * 500), 0..3000u64]);
    (
        any::<u8>(),
        conditions,
        settings(),
        vec(any::<u8>(), 0..4),
        weight,
        (any::<bool>(), weighted(0.4, any::<bool>())),
        value(),
    )
        .prop_map(|(name, conditions, settings, ends, weight, flags, value)| Recipe {
            name,
            conditions,
            settings,
            ends,
            weight,
            flags,
            value,
        })
}

fn value() -> impl Strategy<Value = (u8, u8, Formula)> {
    (prop_oneof![Just(0), any::<u8>()], any::<u8>(), formula())
}

fn typed(types: std::ops::Range<usize>, properties: usize) -> impl Strategy<Value = Typed> {
    let types = prop_oneof![3 => vec(unconditional(), types.start..types.start + 1), 1 => vec(recipe(), types)];
    (recipe(), types, vec(recipe(), 0..=properties)).prop_map(|(recipe, types, properties)| Typed {
        recipe,
        types,
        properties,
    })
}

fn unconditional() -> impl Strategy<Value = Recipe> {
    let plain = |name| Recipe {
        name,
        conditions: Vec::new(),
        settings: SettingsRecipe::default(),
        ends: Vec::new(),
        weight: None,
        flags: (false, None),
        value: (0, 0, Formula::Constant(true)),
    };
    any::<u8>().prop_map(plain)
}

fn node() -> impl Strategy<Value = NodeRecipe> {
    let relations = vec((typed(0..2, 1), any::<u8>()), 0..3);
    let technologies = prop_oneof![2 => Just(Vec::new()), 1 => vec(recipe(), 1..3)];
    // Most decisions concern nodes.
    let more = weighted(0.6, vec(formula(), 1));
    (typed(1..3, 2), more, relations, vec(typed(0..2, 1), 0..2), technologies).prop_map(
        |(mut typed, more, relations, artifacts, technologies)| {
            typed.recipe.conditions = more.unwrap_or(typed.recipe.conditions);
            NodeRecipe { typed, relations, artifacts, technologies }
        },
    )
}

/// Options for halves, constraints, optimisation and other subjects.
fn option() -> impl Strategy<Value = (String, String)> {
    let kinds = select(Kind::ALL.map(Kind::word).to_vec());
    let half = || select(vec!["consistency_", "semantic_", ""]);
    let switch = || prop_oneof![4 => Just("true"), 3 => Just("false"), 1 => Just("consistency"), 1 => Just("semantic")];
    let simple = || select(vec!["true", "false"]);
    let of_kind = (weighted(0.8, kinds), half(), any::<bool>(), switch()).prop_map(
        |(kind, half, pruning, value)| {
            let kind = kind.map(|kind| format!("{kind}_")).unwrap_or_default();
            let value =
                if half.is_empty() { value } else { if value == "false" { value } else { "true" } };
            let name = if pruning {
                format!("{kind}{half}pruning")
            } else {
                format!("{kind}default_{half}condition")
            };
            (name, value.to_owned())
        },
    );
    let named = |names: Vec<&'static str>, values: Vec<&'static str>| {
        (select(names), select(values))
            .prop_map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let constraint = (select(CONSTRAINTS.to_vec()), simple())
        .prop_map(|(name, value)| (name.to_owned(), value.to_owned()));
    let modes = vec![
        "manual",
        "strict",
        "consistent-strict",
        "consistent-loose",
        "default",
        "semantic-strict",
        "semantic-loose",
        "loose",
    ];
    prop_oneof![
        4 => of_kind,
        3 => constraint,
        2 => named(vec!["mode"], modes),
        3 => named(vec!["edition"], vec!["2025-07", "2025-07", "2024-12"]),
        2 => named(vec!["node_default_condition_mode"], NODE_MODES.to_vec()),
        2 => named(vec!["optimization_topology", "optimization_technologies"], vec!["min", "max", "true", "false"]),
        1 => named(vec!["optimization_topology_mode"], vec!["weight", "count"]),
        1 => named(vec!["optimization_technologies_mode"], vec!["weight", "count", "weight-count"]),
        2 => named(vec!["optimization_topology_unique"], vec!["true", "false"]),
        1 => named(
            vec![
                "optimization_technologies_unique",
                "relation_default_implied",
                "enrich_input_condition",
                "automatic_default_alternatives",
                "relation_enhanced_implication_mode",
                "property_enhanced_implication_mode",
                "node_implication_mode",
                "optimization_topology_unique_backward",
                "optimization_topology_unique_first",
                "optimization_technologies_first",
            ],
            vec!["true", "false"]
        ),
        1 => named(vec!["artifact_default_condition_mode"], vec!["container", "container-managed", "managed", "container-default"]),
        1 => named(vec!["property_default_condition_mode"], vec!["container", "consuming", "container-consuming-default"]),
        1 => named(vec!["output_default_condition_mode"], vec!["produced", "default", "produced-default"]),
        1 => named(vec!["relation_default_condition_mode"], vec!["source", "target", "source-target-default"]),
        1 => named(vec!["technology_default_condition_mode"], vec!["container", "other", "container-default", "scenario"]),
    ]
}

const CONSTRAINTS: &[&str] = &[
    "constraints",
    "technology_constraint",
    "relation_source_constraint",
    "relation_target_constraint",
    "artifact_container_constraint",
    "property_container_constraint",
    "type_container_constraint",
    "required_hosting_constraint",
    "single_hosting_constraint",
    "unique_technology_constraint",
    "unique_property_constraint",
    "unique_artifact_constraint",
    "unique_input_constraint",
    "unique_output_constraint",
    "unique_relation_constraint",
    "required_artifact_constraint",
    "required_incoming_relation_constraint",
];

const NODE_MODES: &[&str] = &[
    "source",
    "incoming",
    "incomingnaive",
    "outgoing",
    "outgoingnaive",
    "host",
    "artifact",
    "artifactnaive",
    "incoming-host",
    "source-outgoing",
    "artifact-incomingnaive-host",
];

/// Any small template.
pub(crate) fn template() -> impl Strategy<Value = Template> {
    let settings = (any::<bool>(), vec(option(), 0..5), vec(option(), 0..2));
    let inputs = (
        any::<bool>(),
        0..3u8,
        any::<bool>(),
        prop_oneof![4 => Just(Vec::new()), 1 => vec((any::<u8>(), any::<bool>()), 1)],
    );
    let constraints = prop_oneof![4 => Just(Vec::new()), 1 => vec(formula(), 1..3)];
    let halves = [weighted(0.4, any::<bool>()).boxed(), rarely(any::<bool>()).boxed()];
    let type_specific = (any::<u8>(), any::<u8>(), weighted(0.3, any::<u8>()), formula(), halves);
    let type_specific = prop_oneof![4 => Just(Vec::new()), 1 => vec(type_specific, 1..3)];
    let few = || prop_oneof![2 => Just(Vec::new()), 1 => vec(recipe(), 1..3)];
    let some = || prop_oneof![2 => Just(Vec::new()), 1 => vec(typed(1..2, 1), 1..3)];
    let imports = prop_oneof![6 => Just(Vec::new()), 1 => vec(recipe(), 1)];
    let all = (
        settings,
        inputs,
        (vec(formula(), 0..2), constraints),
        type_specific,
        [imports.boxed(), few().boxed(), few().boxed()],
        vec(node(), 1..5),
        some(),
        some(),
    );
    all.prop_map(
        |(settings, inputs, formulas, type_specific, parameters, nodes, groups, policies)| {
            let recipe = TemplateRecipe {
                settings,
                inputs,
                formulas,
                type_specific,
                parameters,
                nodes,
                groups,
                policies,
            };
            Builder::build(&recipe)
        },
    )
}

/// Builds a template from recipes, where each number selects among the valid choices.
struct Builder {
    template: Template,
    recipes: Vec<Recipe>,
}

fn pick<T: Clone>(from: &[T], number: u8) -> Option<T> {
    from.get(usize::from(number) % from.len().max(1)).cloned()
}

impl Builder {
    fn build(recipe: &TemplateRecipe) -> Template {
        let (rc_3, options, overrides) = &recipe.settings;
        let (flag, count, small, named_inputs) = &recipe.inputs;
        let version = if *rc_3 { "tosca_variability_1_0_rc_3" } else { "tosca_variability_1_0" };
        // In a release candidate, its constraints would leave nothing present without technologies.
        let mut all: Vec<_> =
            if *rc_3 { vec![("technology_constraint".into(), "false".into())] } else { Vec::new() };
        for (name, value) in options {
            all.retain(|(other, _)| other != name);
            all.push((name.clone(), value.clone()));
        }
        let template = Template {
            version,
            options: all,
            overrides: overrides.clone(),
            flag: *flag,
            count: *count,
            size: if *small { "small" } else { "large" },
            named_inputs: Vec::new(),
            expressions: Vec::new(),
            constraints: Vec::new(),
            type_specific: Vec::new(),
            elements: Vec::new(),
        };
        let mut builder = Self { template, recipes: Vec::new() };
        builder.allocate(recipe);
        let (expressions, constraints) = &recipe.formulas;
        // Named expressions may use earlier ones.
        for expression in expressions {
            let expression = builder.formula(expression, None);
            builder.template.expressions.push(expression);
        }
        builder.template.constraints =
            constraints.iter().map(|constraint| builder.formula(constraint, None)).collect();
        for id in builder.template.ids() {
            builder.complete(id);
        }
        let last = builder.template.elements.len().max(1);
        builder.template.named_inputs =
            named_inputs.iter().map(|&(id, value)| (usize::from(id) % last, value)).collect();
        builder.type_specific(recipe);
        builder.template
    }

    fn allocate(&mut self, recipe: &TemplateRecipe) {
        let [imports, inputs, outputs] = &recipe.parameters;
        for (index, import) in imports.iter().enumerate() {
            self.add(Kind::Import, format!("import-{index}.yaml"), index, None, import);
        }
        self.add_all(Kind::Input, "i", None, inputs);
        for (index, node) in recipe.nodes.iter().enumerate() {
            let id = self.add_typed(Kind::Node, format!("n{index}"), index, None, &node.typed, "N");
            if !node.technologies.is_empty() {
                // Conditional types cannot be combined with technologies.
                self.template.elements.truncate(id + 2);
                self.recipes.truncate(id + 2);
                self.recipes[id + 1].conditions.clear();
                self.recipes[id + 1].settings = SettingsRecipe::default();
                self.add_all(Kind::Property, "p", Some(id), &node.typed.properties);
            }
            for (index, (relation, name)) in node.relations.iter().enumerate() {
                let name = pick(&["r", "host", "db_host", "q"], *name).unwrap_or_default();
                let hosting = relation.types.len() == 1 && relation.recipe.flags.0;
                self.add_typed(
                    Kind::Relation,
                    name.into(),
                    index,
                    Some(id),
                    relation,
                    if hosting { HOSTED_ON } else { "R" },
                );
            }
            for (index, artifact) in node.artifacts.iter().enumerate() {
                self.add_typed(
                    Kind::Artifact,
                    format!("a{}", artifact.recipe.name % 3),
                    index,
                    Some(id),
                    artifact,
                    "A",
                );
            }
            for (index, technology) in node.technologies.iter().enumerate() {
                let name = pick(&["docker", "helm"], technology.name).unwrap_or_default();
                self.add(Kind::Technology, name.into(), index, Some(id), technology);
            }
        }
        for (index, group) in recipe.groups.iter().enumerate() {
            let variability = group.recipe.flags.0;
            let prefix = if variability { VARIABILITY_GROUP } else { "G" };
            let id = self.add_typed(Kind::Group, format!("g{index}"), index, None, group, prefix);
            self.template.elements[id].variability = variability;
        }
        for (index, policy) in recipe.policies.iter().enumerate() {
            self.add_typed(
                Kind::Policy,
                format!("y{}", policy.recipe.name % 2),
                index,
                None,
                policy,
                "P",
            );
        }
        self.add_all(Kind::Output, "o", None, outputs);
    }

    fn add(
        &mut self,
        kind: Kind,
        name: String,
        index: usize,
        container: Option<Id>,
        recipe: &Recipe,
    ) -> Id {
        self.recipes.push(recipe.clone());
        self.template.elements.push(Element {
            kind,
            name,
            index,
            container,
            conditions: Vec::new(),
            settings: Settings::default(),
            ends: Vec::new(),
            weight: None,
            persistent: false,
            managed: None,
            variability: false,
            named_relationship: false,
            assign: None,
            artifact: None,
            value: Value::Plain,
        });
        self.recipes.len() - 1
    }

    fn add_all(&mut self, kind: Kind, prefix: &str, container: Option<Id>, recipes: &[Recipe]) {
        for (index, recipe) in recipes.iter().enumerate() {
            self.add(kind, format!("{prefix}{}", recipe.name % 3), index, container, recipe);
        }
    }

    /// Adds an element with its types and its properties. The types are named by a letter and a
    /// digit, or all have the same name.
    fn add_typed(
        &mut self,
        kind: Kind,
        name: String,
        index: usize,
        container: Option<Id>,
        typed: &Typed,
        prefix: &str,
    ) -> Id {
        let id = self.add(kind, name, index, container, &typed.recipe);
        let alike = prefix.len() > 1;
        for (index, recipe) in
            typed.types.iter().enumerate().take(if alike { 1 } else { usize::MAX })
        {
            let name = if alike { prefix.into() } else { format!("{prefix}{}", recipe.name % 3) };
            self.add(Kind::Type, name, index, Some(id), recipe);
        }
        // A relation without a relationship type has no relationship template, so it has no
        // properties.
        if kind != Kind::Relation || !typed.types.is_empty() {
            self.add_all(Kind::Property, "p", Some(id), &typed.properties);
        }
        id
    }

    /// Completes an element with its references to others.
    fn complete(&mut self, id: Id) {
        let recipe = self.recipes[id].clone();
        let kind = self.template.elements[id].kind;
        let conditions =
            recipe.conditions.iter().map(|condition| self.formula(condition, Some(id))).collect();
        let mut settings = self.settings(id, &recipe.settings);
        if settings.default_alternative == Some(true) && self.has_default_before(id) {
            settings.default_alternative = None;
        }
        let (nodes, relations, groups) = (
            self.template.of_kind(Kind::Node),
            self.template.of_kind(Kind::Relation),
            self.template.of_kind(Kind::Group),
        );
        let choose = |from: &[Id]| {
            let mut chosen: Vec<_> =
                recipe.ends.iter().filter_map(|&end| pick(from, end)).collect();
            chosen.sort_unstable();
            chosen.dedup();
            chosen
        };
        let ends = match kind {
            Kind::Relation => pick(&nodes, recipe.name).into_iter().collect(),
            // In groups that are not variability groups, TOSCA does not know relations as members.
            Kind::Group if self.template.elements[id].variability => {
                choose(&[nodes, relations].concat())
            }
            Kind::Group => choose(&nodes),
            Kind::Policy => choose(&[nodes, groups].concat()),
            _ => Vec::new(),
        };
        let value = self.value(id, &recipe);
        let has_types = !self.template.children(id, Kind::Type).is_empty();
        let element = &mut self.template.elements[id];
        element.conditions = conditions;
        element.settings = settings;
        element.ends = ends;
        element.value = value;
        match kind {
            Kind::Node => {
                element.weight = recipe.weight;
                element.persistent = recipe.flags == (true, Some(true));
                element.managed = recipe.flags.1;
            }
            Kind::Relation => {
                element.named_relationship = has_types && recipe.flags.1 == Some(true)
            }
            Kind::Technology => {
                element.weight = recipe.weight;
                element.assign = recipe.flags.0.then(|| format!("Assigned{id}"));
                element.artifact = pick(&["A0", "A1", DEFAULT_ARTIFACT_TYPE], recipe.value.1)
                    .filter(|_| recipe.flags.1.is_some())
                    .map(str::to_owned);
            }
            _ => {}
        }
    }

    /// Whether an earlier alternative in the same scope is a default alternative.
    fn has_default_before(&self, id: Id) -> bool {
        let elements = &self.template.elements;
        let element = &elements[id];
        let by_name = !matches!(element.kind, Kind::Type | Kind::Technology);
        elements[..id].iter().any(|other| {
            (other.kind, other.container) == (element.kind, element.container)
                && (!by_name || other.name == element.name)
                && other.settings.default_alternative == Some(true)
        })
    }

    fn settings(&self, id: Id, recipe: &SettingsRecipe) -> Settings {
        let kind = self.template.elements[id].kind;
        let alternatives = !matches!(kind, Kind::Node | Kind::Group | Kind::Policy | Kind::Import);
        let modes: &[&str] = match kind {
            Kind::Node => NODE_MODES,
            Kind::Relation => &["source", "target", "source-target"],
            Kind::Property => &["container", "consuming", "container-consuming"],
            Kind::Artifact => &["container", "managed", "container-managed"],
            Kind::Technology => &["container", "other", "container-other"],
            _ => &[],
        };
        let implication = |(target, condition): &(Formula, Option<Formula>)| {
            (
                self.formula(target, Some(id)),
                condition.as_ref().map(|condition| self.formula(condition, Some(id))),
            )
        };
        let [default_condition, default_consistency, default_semantic] = recipe.default_condition;
        let [pruning, consistency_pruning, semantic_pruning] = recipe.pruning;
        Settings {
            default_alternative: recipe.default_alternative.filter(|_| alternatives),
            implied: recipe.implied.filter(|&implied| {
                kind == Kind::Relation || implied != "TARGET" && implied != "SOURCE"
            }),
            implies: recipe.implies.iter().map(implication).collect(),
            default_condition,
            default_halves: [default_consistency, default_semantic],
            pruning,
            pruning_halves: [consistency_pruning, semantic_pruning],
            mode: recipe.mode.and_then(|mode| pick(modes, mode)).map(str::to_owned),
        }
    }

    fn value(&self, id: Id, recipe: &Recipe) -> Value {
        let template = &self.template;
        let (which, number, ref expression) = recipe.value;
        let kind = template.elements[id].kind;
        if !matches!(kind, Kind::Property | Kind::Output) {
            return Value::Plain;
        }
        // Nobody writes a property that takes its value from itself.
        let is_other = |&other: &Id| {
            let (one, other) = (&template.elements[id], &template.elements[other]);
            (&one.name, one.container) != (&other.name, other.container)
        };
        let of_node = |&id: &Id| {
            template.elements[id]
                .container
                .is_some_and(|container| template.elements[container].kind == Kind::Node)
        };
        let properties: Vec<_> =
            template.of_kind(Kind::Property).into_iter().filter(of_node).filter(is_other).collect();
        let input = pick(&template.of_kind(Kind::Input), number);
        let found = match which % 6 {
            1 => input.map(|input| Value::Input(input, true)),
            2 => input.map(|input| Value::Input(input, false)),
            3 => pick(&properties, number).map(Value::Property),
            4 => pick(&template.of_kind(Kind::Node), number).map(Value::Attribute),
            5 if kind == Kind::Property => Some(Value::Expression(Condition::Many(
                Operator::And,
                vec![without_manuals(self.formula(expression, None))],
            ))),
            _ => None,
        };
        found.unwrap_or_default()
    }

    /// Makes a condition, for this element or for none.
    fn formula(&self, formula: &Formula, context: Option<Id>) -> Condition {
        let template = &self.template;
        let all: Vec<_> = template.ids().collect();
        let constant = Condition::Constant(true);
        match formula {
            Formula::Constant(value) => Condition::Constant(*value),
            Formula::Input(number) => match number % 5 {
                0 | 1 => Condition::Input("flag"),
                2 => Condition::Input("count"),
                3 => Condition::Input("size"),
                _ => Condition::SizeIs("small"),
            },
            Formula::Element(number, of, near) => {
                let container =
                    context.and_then(|context| template.elements[context].container).or(context);
                // Conditions refer to nearby elements, to nodes, or to any element.
                let far =
                    if of.leading_zeros() % 2 == 0 { all } else { template.of_kind(Kind::Node) };
                let id = if *near { container } else { None }.or_else(|| pick(&far, *number));
                id.and_then(|id| self.presence(id, *of, context)).unwrap_or(constant)
            }
            Formula::Identifier(number) => {
                pick(&all, *number).map_or(constant, Condition::Identifier)
            }
            Formula::Named(number) => {
                let known: Vec<_> = (0..template.expressions.len()).collect();
                pick(&known, *number).map_or(constant, Condition::Named)
            }
            Formula::Not(inner) => Condition::Not(Box::new(self.formula(inner, context))),
            Formula::Many(operator, inner) => {
                let mut inner: Vec<_> =
                    inner.iter().map(|one| self.formula(one, context)).collect();
                if *operator == Operator::Implies {
                    inner.resize(2, constant);
                }
                Condition::Many(*operator, inner)
            }
        }
    }

    /// Makes a condition with one of the operators that the element permits.
    fn presence(&self, id: Id, of: u8, context: Option<Id>) -> Option<Condition> {
        let element = &self.template.elements[id];
        let mut operators = vec![Of::Itself, Of::Itself];
        operators.extend_from_slice(match element.kind {
            Kind::Node => &[
                Of::Hosts,
                Of::Sources,
                Of::Incoming,
                Of::IncomingNaive,
                Of::Outgoing,
                Of::OutgoingNaive,
                Of::Artifacts,
                Of::ArtifactsNaive,
            ],
            Kind::Relation => &[Of::Source, Of::Target],
            Kind::Artifact => &[Of::Managed],
            Kind::Input => &[Of::Consumers],
            Kind::Output => &[Of::Producers],
            Kind::Group => &[Of::Members],
            Kind::Policy => &[Of::Targets],
            _ => &[],
        });
        // In the conditions of a variability group, SELF would mean each member.
        let context = context.filter(|&context| {
            !self.template.elements[context].variability
                && !self.template.elements[context].kind.eq(&Kind::Group)
        });
        if context == Some(id) && element.container.is_some() {
            operators.push(Of::Container);
        }
        let of = pick(&operators, of)?;
        let operand = if of == Of::Container { "SELF".into() } else { self.operand(id, context) };
        Some(Condition::Presence(of, id, operand))
    }

    /// Writes the path to an element, from a keyword such as `SELF` where the condition is close
    /// enough.
    fn operand(&self, id: Id, context: Option<Id>) -> String {
        let elements = &self.template.elements;
        let container = context.and_then(|context| elements[context].container);
        let mut steps = Vec::new();
        let mut current = Some(id);
        while let Some(id) = current {
            let element = &elements[id];
            current = element.container;
            steps.push(match element.kind {
                _ if context == Some(id) => "SELF".into(),
                _ if container == Some(id) => "CONTAINER".into(),
                Kind::Node | Kind::Group => element.name.clone(),
                _ => element.index.to_string(),
            });
            if matches!(steps.last().map(String::as_str), Some("SELF" | "CONTAINER")) {
                break;
            }
        }
        steps.reverse();
        match &steps[..] {
            [only] => only.clone(),
            all => format!("[{}]", all.join(", ")),
        }
    }

    fn type_specific(&mut self, recipe: &TemplateRecipe) {
        for (family, name, property, condition, [consistency, semantic]) in &recipe.type_specific {
            let one = TypeSpecific {
                type_name: pick(&FAMILIES, *family)
                    .map(|(letter, _)| format!("{letter}{}", name % 3))
                    .unwrap_or_default(),
                property: property.map(|property| format!("p{}", property % 2)),
                condition: self.formula(condition, None),
                consistency: *consistency,
                semantic: *semantic,
            };
            let is_same = |other: &TypeSpecific| {
                other.type_name == one.type_name && other.property == one.property
            };
            if !self.template.type_specific.iter().any(is_same) {
                self.template.type_specific.push(one);
            }
        }
    }
}

/// Replaces operators that ask for manual conditions by those that ask for presence, so that the
/// presence of all elements decides the condition.
fn without_manuals(condition: Condition) -> Condition {
    match condition {
        Condition::Presence(Of::Incoming | Of::Outgoing | Of::Artifacts, id, operand) => {
            Condition::Presence(Of::Itself, id, operand)
        }
        Condition::Named(_) => Condition::Constant(true),
        Condition::Not(inner) => Condition::Not(Box::new(without_manuals(*inner))),
        Condition::Many(operator, inner) => {
            Condition::Many(operator, inner.into_iter().map(without_manuals).collect())
        }
        other => other,
    }
}
