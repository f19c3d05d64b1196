//! What goes wrong, said so that its reader can act: a code, a message, the place, related places
//! and help.

use crate::text::source::{SourceMap, Span};
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Nothing is wrong as far as can be told here.
    Note,
    /// The result may not be what its author meant.
    Warning,
    /// There is no result.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// What shows a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeExample {
    /// A command behind `$ ` and the file that it reads, then further ones behind comments with
    /// their names: with the lines that start with `-` it gives the code, with those that start
    /// with `+` it does not.
    Repair(&'static str),
    /// What to do about it, where no template gives the code.
    Instead(&'static str),
}

impl CodeExample {
    fn of(text: &'static str) -> Self {
        if text.starts_with([' ', '-', '+']) { Self::Repair(text) } else { Self::Instead(text) }
    }
}

macro_rules! codes {
    ($($variant:ident $code:literal $text:literal;)*) => {
        /// Every kind of diagnostic, each described once.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $text] $variant,)*
        }

        impl Code {
            /// All codes in alphabetical order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// What it means and what to do about it.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// A template that gives it, and its repair.
            pub fn example(self) -> CodeExample {
                CodeExample::of(match self {
                    $(Self::$variant => {
                        include_str!(concat!("../../presets/codes/", $code, ".diff"))
                    })*
                })
            }
        }
    };
}

// One line a code, in alphabetical order of the printed code (a test holds this).
codes! {
    AbstractType "abstract-type" "A template is of an abstract type, so something else has to stand for it before it is deployed. Use a type that is not abstract, or see that it is substituted.";
    AmbiguousArtifact "ambiguous-artifact" "A node has more than one present artifact of one name. Give the alternatives conditions that exclude each other, or enable `unique_artifact_constraint`.";
    AmbiguousElement "ambiguous-element" "An expression names several elements at once. Name one of them by its position in the list, such as `[node, 0]`.";
    AmbiguousFulfilment "ambiguous-fulfilment" "A requirement could as well lead to another node, or another node could as well be selected, so the one that is declared first was taken. Name the node that is meant, or tell the nodes apart with a `node_filter`.";
    AmbiguousHosting "ambiguous-hosting" "A present node has more than one present hosting relation. Give the alternatives conditions that exclude each other, or enable `hosting_stack_constraint`.";
    AmbiguousInput "ambiguous-input" "More than one present topology input has one name. Give the alternatives conditions that exclude each other, or enable `unique_input_constraint`.";
    AmbiguousOutput "ambiguous-output" "More than one present topology output has one name. Give the alternatives conditions that exclude each other, or enable `unique_output_constraint`.";
    AmbiguousProperty "ambiguous-property" "An element has more than one present property of one name. Give the alternatives conditions that exclude each other, or enable `unique_property_constraint`.";
    AmbiguousRelation "ambiguous-relation" "A node has more than one present relation of one name. Give the alternatives conditions that exclude each other, or enable `unique_relation_constraint`.";
    AmbiguousScenarios "ambiguous-scenarios" "Two variants whose technology rules are equally special differ in their technologies. Write rules for the types of the nodes, or disable `optimization_scenarios_unique`.";
    AmbiguousSubstitution "ambiguous-substitution" "Several templates could substitute a node, and none is better than all others, so the result would be arbitrary. Choose one with `--choose`, or give them weights.";
    AmbiguousTechnologies "ambiguous-technologies" "Two variants are equally good and differ in their technologies. Add conditions or weights that prefer one, or disable `optimization_technologies_unique`.";
    AmbiguousTechnology "ambiguous-technology" "A present node has more than one present technology. Give the alternatives conditions that exclude each other, or enable `technology_constraint`.";
    AmbiguousTopology "ambiguous-topology" "Two variants are equally good and differ in their nodes, so the result would be arbitrary. Add conditions or weights that prefer one, or disable `optimization_topology_unique`.";
    AmbiguousType "ambiguous-type" "An element does not have exactly one type that is present. Declare its `type`, or give its types conditions of which exactly one holds.";
    AttributeBefore "attribute-before" "An operation asks for an attribute, or for what another operation gave, that is not there yet when it runs. Ask later, such as in `post_configure_target`, or add a relation that orders the two.";
    ConversionLoss "conversion-loss" "Something that a template says has no counterpart in the format it is converted to, or has to be said in another way. Look whether it matters; `cuvee convert --loss FILE` writes all of it.";
    Csar "csar" "A TOSCA archive is no archive, is not laid out as the specification asks, or is not safe to unpack; or no archive can be made of the result. Pack it anew, with `TOSCA-Metadata/TOSCA.meta` that names its `Entry-Definitions`.";
    CyclicDeployment "cyclic-deployment" "Nodes wait for each other in a circle, so none of them can be deployed first. Break the circle, or leave one of its relations out of the order with `cuvee plan --ignore`. `cuvee validate` warns of it where a variant has all these relations.";
    CyclicExpression "cyclic-expression" "A named expression needs its own value. Break the cycle that the message names.";
    CyclicSubstitution "cyclic-substitution" "A node could only be substituted by a template that it is a part of, so there would be no end. Add a template for it without such a node.";
    CyclicType "cyclic-type" "A type derives from itself. Break the cycle that the message names.";
    CyclicWorkflow "cyclic-workflow" "Steps of a workflow follow one another in a circle, or a workflow inlines itself. Break the cycle that the message names.";
    DanglingReference "dangling-reference" "Something that stays in the result refers to an element that does not. Remove the reference, or give it the condition of what it refers to.";
    DeadElement "dead-element" "No variant has this element, whatever the inputs. Remove it, or weaken a condition; `cuvee explain` says which condition fails.";
    DelegateTarget "delegate-target" "A step delegates a node that the orchestrator does not bring, because it is implemented. Its part of the generated workflow is done instead; call its operations, or use `inline`.";
    DelegatedLifecycle "delegated-lifecycle" "A relation has to do something while a node is configured that the orchestrator brings as a whole. Use `add_target` or `add_source`, or take the node from the orchestrator with `--managed`.";
    Deprecated "deprecated" "Something is written as only earlier versions of TOSCA want it, and the next may not have it any more. Write it as the message says.";
    DroppedAssignment "dropped-assignment" "Something is said of a node that is substituted, and has no place in what substitutes it: mappings carry no values of capabilities, attributes, artifacts or operations. Say it by a property that the template takes as input.";
    Duplicate "duplicate" "Two things share a name that must be unique. Rename or remove one.";
    ElementOrder "element-order" "An element of TOSCA 1.0 stands elsewhere than its schema has it. Its meaning is clear; other tools may refuse it. Put it where the help says.";
    ExpectedArtifact "expected-artifact" "A present node has artifacts, but none of them is present. Keep one, or disable `expected_artifact_check`.";
    ExpectedHosting "expected-hosting" "A present node has hosting relations, but none of them is present. Keep one, or disable `expected_hosting_check`.";
    ExpectedIncomingRelation "expected-incoming-relation" "A present node has incoming relations, but none of them is present, so nothing uses it. Remove it too, or disable `expected_incoming_relation_check`.";
    ExpectedTechnology "expected-technology" "A present managed node has technologies, but none of them is present. Keep one, or declare the node `managed: false`.";
    Extension "extension" "Something is written as only a later version of TOSCA has it, which is understood here, and refused by other tools for the version of the template. Leave it where only this command reads the template; else write what is the same without it.";
    FailedPrecondition "failed-precondition" "A workflow may start only where its preconditions hold, and one of them does not. Bring about what it asks for first; `--state` says what there is.";
    File "file" "A file cannot be read or written. Check its path, its size and its permissions.";
    FinalType "final-type" "A type derives from one that nothing may derive from. Derive from its parent, or take `final` away.";
    IllegalTransition "illegal-transition" "A step sets, or a report says, a state that the present one does not lead to. Set or report the states in between, or check the order of the steps.";
    InVain "in-vain" "By `cuvee analyze --strict`: there is no variant, or something in the template is dead or in vain. The analysis names what; remove it, or weaken what stands in its way.";
    IncompatibleRequirement "incompatible-requirement" "A requirement assignment does not fit the definition of its requirement: the target, the capability, the relationship or the occurrences are not what the definition allows. Choose what fits, or change the definition.";
    IncompatibleType "incompatible-type" "Something is of a type that does not fit where it is used. Use something else, or correct one of the types.";
    InstanceExists "instance-exists" "An instance of this name is in the store already. Choose another name, or delete that one.";
    InstanceName "instance-name" "An instance cannot be called this: its name is one of a directory on every system. Use up to 63 of the characters a-z, 0-9, `.`, `_` and `-`, of which a letter or a digit comes first.";
    InvalidConstraint "invalid-constraint" "A constraint clause is unknown, does not apply to values of its type, or has an operand that does not fit. Put right what the message names.";
    InvalidDefinition "invalid-definition" "A type definition does not have the shape that the grammar of TOSCA asks for. Put right what the message names; it says in which section the grammar is.";
    InvalidExpression "invalid-expression" "An expression cannot be understood or computed: an operator is unknown, has the wrong number or types of operands, or divides by zero.";
    InvalidFunction "invalid-function" "A function of TOSCA is called with arguments that it does not take, names by a keyword what there is not at its place, or cannot be evaluated. Put right what the message names.";
    InvalidInput "invalid-input" "A variability input or a deployment input is undeclared, or its value has the wrong type or violates a constraint of the input; or a file that says what there is, such as the model of an instance, does not have the shape that it needs.";
    InvalidMapping "invalid-mapping" "A mapping of a requirement cannot be performed for every node that the template may substitute: it leads onto mandatory requirements that may get no relation, onto one that takes no more, or onto one that has a target of its own. Put right what the message names.";
    InvalidOption "invalid-option" "A variability option is unknown or has a value that it does not take.";
    InvalidPlan "invalid-plan" "A plan cannot be applied: it is no plan, was changed since it was made, or was made for no instance. Make it anew with `cuvee instance plan`.";
    InvalidRefinement "invalid-refinement" "A derived type loosens what it inherits, so that it would not fit where its parent does. Narrow what is inherited, or use another name.";
    InvalidTemplate "invalid-template" "The service template does not have the shape that the specification asks for.";
    InvalidValue "invalid-value" "A value is not one of its declared type. Write it as the message says, or correct the declared type.";
    LogRecovered "log-recovered" "A writer was interrupted, and what it had not finished at the end of a log was put aside; nothing that was acknowledged is lost. Look into the file that the message names, and report again what was meant.";
    MandatoryExtension "mandatory-extension" "A document says that nobody can understand it without an extension that is not known here. Leave the extension out, or say `mustUnderstand=\"no\"`.";
    MissingArtifactContainer "missing-artifact-container" "An artifact is present, but its node is not. Give the artifact the condition of its node, or enable `artifact_pruning`.";
    MissingImport "missing-import" "Something of another document is used, which this one does not import. Import it: components are known where they are imported directly.";
    MissingInput "missing-input" "A variability input or a deployment input is needed and has no value. Assign it, choose a preset, or declare a `default`.";
    MissingPersistentNode "missing-persistent-node" "Nodes are kept by their incoming relations and their hosts, and no node is persistent: nothing would keep anything. Declare `persistent: true` at a node that is used from outside, or disable `persistent_check`.";
    MissingProperty "missing-property" "A required property has no value and no default. Assign it, or declare it `required: false`.";
    MissingPropertyContainer "missing-property-container" "A property is present, but what it belongs to is not. Give it the condition of its container, or enable `property_default_condition`.";
    MissingRequirement "missing-requirement" "A node does not assign a requirement of its type, so that an orchestrator has to find a target. Assign the requirement, or let its definition occur from 0 times on.";
    MissingTechnologyContainer "missing-technology-container" "A technology is present, but its node is not. Give it the condition of its node, or enable `technology_pruning`.";
    MissingTypeContainer "missing-type-container" "A type is present, but what it belongs to is not. Give it the condition of its container, or enable `type_default_condition`.";
    MultipleDefaultAlternatives "multiple-default-alternatives" "More than one alternative of one element is declared as default. Keep `default_alternative` at one of them.";
    NoOrchestration "no-orchestration" "States, steps and parts are reported inside of an orchestration, and none is open. Begin one: `cuvee instance apply` with a plan, or `cuvee instance begin` without.";
    NoSelection "no-selection" "A node is to be selected, and nothing that is there fits, or there is not enough for all that are. Weaken its `node_filter`, or say with `--inventory` what is there.";
    NoSubstitution "no-substitution" "A node is to be substituted, and no template of the catalogue fits; the labels say of each why not, the nearest first. Add one, or put right what does not fit.";
    Nondeterminism "nondeterminism" "Two elements of one name are present and the check that forbids it is off, so one was taken: of types and technologies the first, of what becomes a map the last.";
    NotVisible "not-visible" "Attributes of a node of an instance count as defined in stable states from `created` on only, and the node is in another one. Ask again when the orchestration is over, or ask for `--unstable`.";
    OpenInput "open-input" "A variability input is open, and its values cannot be told apart: an expression does more with it than compare it with constants, or depends on too many combinations. Assign it with `--input` or a preset, or restrict it by `valid_values`.";
    OrchestrationOpen "orchestration-open" "An instance has one orchestration at a time, and another one is open. Go on with that, or end it.";
    PlanOrder "plan-order" "A workflow that is written by hand instead of the generated one leaves something out, or begins it too early. Add the step, or let it wait.";
    PortableArtifact "portable-artifact" "The file of an artifact is an address or lies in a repository, which is valid, and refused by orchestrators that look for it among the files at hand. Bring a file along, and say in a property what it stands for.";
    PortableMetadata "portable-metadata" "Metadata are strings, which some orchestrators insist on. Write the value in quotes.";
    PortableNode "portable-node" "A requirement definition names no node type, which is valid, and refused by some parsers. Name one, such as `tosca.nodes.Root`.";
    PortableRelationship "portable-relationship" "A requirement definition names no relationship type, or an assignment none of the relationship templates, which is valid, and refused by some orchestrators. Name the type in the definition, and a template in the assignment.";
    PortableRequired "portable-required" "A property is optional here and required by the profile of an orchestrator. Assign it.";
    PortableSchema "portable-schema" "A schema is written as the name of a type, which is valid, and refused by orchestrators that want a map. Write `{ type: ... }`.";
    RelationSource "relation-source" "A relation is present, but its source node is not. Give the relation the condition of its source, or enable `relation_default_condition`.";
    RelationTarget "relation-target" "A relation is present, but its target node is not. Give the relation the condition of its target, or enable `relation_default_condition`.";
    RequiredTechnology "required-technology" "A managed node needs a technology, and no technology rule fits it. Add a rule or a technology, or declare the node `managed: false`.";
    ReservedName "reserved-name" "SELF, CONTAINER, SOURCE and TARGET have a meaning in expressions and cannot be names; the prefix `tosca` and the namespaces of TOSCA are those of its own types. Choose another name.";
    ReusedRelationshipTemplate "reused-relationship-template" "A relationship template is used by more than one relation. Give each relation its own.";
    SensitivePlain "sensitive-plain" "An instance keeps secrets as they are, for everybody who can read its store. Leave out `--secrets keep` where it is enough to know that one has changed.";
    StalePlan "stale-plan" "A plan was made for another instance, or the structure of the instance has changed since: nodes, relations, states, properties or the target. Plan anew.";
    StaleRevision "stale-revision" "An instance has changed since the revision that was expected, and nothing was written. Look at what has changed, and decide anew.";
    StepNotReady "step-not-ready" "A step or part cannot begin or end yet, or not any more: what comes before it is not done, or it is done itself. `cuvee instance apply --resume` lists what is ready.";
    StoreCorrupt "store-corrupt" "The log of an instance is not what was written: something in it was changed or is missing. Nothing is written to it; copy what is provably whole, and find out who changes files of a store.";
    StoreLocked "store-locked" "Somebody else is writing to an instance. Try again, or wait longer; what has a lock is a process that still runs.";
    StoreVersion "store-version" "The log of an instance was written by another version, which says things that this one does not know, or says them otherwise. Use that version.";
    SurplusMapping "surplus-mapping" "A mapping of a requirement is there for a relation that no node has which the template may substitute. Leave it out, or raise the upper bound of the requirement.";
    Syntax "syntax" "A file is not well-formed YAML, JSON or XML, or passes a limit on its depth, its aliases or its size.";
    TooManyRelations "too-many-relations" "A requirement is assigned, or a capability is used, more often than its definition allows. Remove a relation, or raise the upper bound of `occurrences`.";
    TypeClash "type-clash" "Two files define types of one name and namespace that differ, so that the name could mean either. Rename one of them, or import its file with a `namespace_prefix`.";
    UnassignedInput "unassigned-input" "Inputs are features, and one that no feature keyword of another one names has no value. Assign it, or declare a `default`; without the check it counts as false.";
    UnconsumedInput "unconsumed-input" "A present topology input is consumed by no present element. Remove it too, or disable `unconsumed_input_check`.";
    Undecidable "undecidable" "Whether a value fits depends on what is known at run time only, or on something that the specification leaves open. Nothing is wrong yet; check it where it is deployed.";
    UndecidedSubstitution "undecided-substitution" "Whether a template may substitute a node depends on a value that is not known yet. Assign it: `--deployment-input` gives inputs of the topology their values.";
    UnfulfilledRequirement "unfulfilled-requirement" "A requirement leads nowhere, and nothing is there that it could lead to, or there is not enough for all that need it. Name a node, say with `--inventory` what is there, or let the requirement be optional.";
    UnknownDefinition "unknown-definition" "A template says something of a capability, an interface, an operation or another part that its type does not define. Correct the name, or define it in the type.";
    UnknownElement "unknown-element" "An expression, a function, a relation, a group, a policy, a workflow or a substitution mapping names something that does not exist. Correct the name, or define what it names.";
    UnknownExpression "unknown-expression" "A named expression does not exist.";
    UnknownInstance "unknown-instance" "An instance does not exist in the store, or was never begun. Correct its name, or choose the store.";
    UnknownKeyword "unknown-keyword" "A key looks like a keyword but is not one, and would silently have no effect.";
    UnknownPreset "unknown-preset" "A variability preset does not exist.";
    UnknownProperty "unknown-property" "A property that is not defined is given a value, or asked for one. Correct its name, or define it.";
    UnknownRelationshipTemplate "unknown-relationship-template" "A relation uses a relationship template that does not exist.";
    UnknownType "unknown-type" "A type is named that is not defined. Define it, import the file that does, or correct the name.";
    UnmappedRelation "unmapped-relation" "A relation of a node that is substituted goes nowhere: fewer relations are mapped than the node has. Map more, or leave the relation out.";
    UnprefixedName "unprefixed-name" "A name without a prefix means one of the target namespace, though by the rules it means one of the default namespace. Declare a prefix for the target namespace, and use it.";
    UnproducedOutput "unproduced-output" "A present topology output takes its value from no present element. Remove it too, or disable `unproduced_output_check`.";
    Unproven "unproven" "The time was over before the result was proven to be the best variant. Allow more time, or accept it with `--accept-unproven`.";
    UnresolvedInstance "unresolved-instance" "An instance has a value for everything, and one cannot be decided: a topology input without a value, a property without any, a number of nodes that is not known. As a warning, a node or a requirement of which somebody has to say who that is. An instance that was imported has no template until it is planned to one. Give the input a value with `--deployment-input`, or assign the property.";
    Unsatisfiable "unsatisfiable" "No variant fulfils all conditions and constraints. The notes name a minimal set that conflicts: drop or weaken any one of them.";
    UnsupportedVersion "unsupported-version" "The `tosca_definitions_version` is missing or is not one that can be resolved; versions 1.0 to 1.2 of the TOSCA Simple Profile are read as version 1.3, with a warning.";
    UnusedRelationshipTemplate "unused-relationship-template" "A relationship template is used by no relation. Remove it, or name it in a requirement assignment.";
    Usage "usage" "The command line cannot be understood, or something in it makes no difference. Look up what `cuvee help` says of the command.";
    VariabilityInputConstraint "variability-input-constraint" "The assigned variability inputs violate a rule between inputs, such as `requires` or `alternatives`.";
    ViolatedConstraint "violated-constraint" "A value has the declared type and violates a constraint of it. Choose another value, or weaken the constraint.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}

/// A document whose rules are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Specification {
    /// TOSCA Simple Profile in YAML Version 1.3.
    ToscaSimple13,
    /// TOSCA Version 1.0, whose documents are XML.
    Tosca10,
}

impl Specification {
    /// As its title page calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ToscaSimple13 => "TOSCA Simple Profile in YAML 1.3",
            Self::Tosca10 => "Topology and Orchestration Specification for Cloud Applications 1.0",
        }
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToscaSimple13 => "TOSCA Simple Profile 1.3",
            Self::Tosca10 => "TOSCA 1.0",
        })
    }
}

/// Where a specification says what a template has to be like.
///
/// ```
/// use cuvee::diagnostic::{Code, Diagnostic};
/// let error = Diagnostic::error(Code::UnknownProperty, "`Kettle` has no property `color`").section("3.6.11");
/// assert_eq!(error.rule.unwrap().to_string(), "section 3.6.11 of TOSCA Simple Profile 1.3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Rule {
    /// Which specification.
    pub specification: Specification,
    /// The number of the section in it.
    pub section: &'static str,
}

impl Rule {
    /// A section of a specification.
    pub fn new(specification: Specification, section: &'static str) -> Self {
        Self { specification, section }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "section {} of {}", self.section, self.specification)
    }
}

/// What to do about something, in words, and as what to write instead where that is clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    text: String,
    instead: Option<Box<Replacement>>,
}

/// A word, and what was most likely meant by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    written: String,
    meant: String,
}

impl Advice {
    /// To write `meant`, which is asked politely.
    pub fn did_you_mean(written: &str, meant: &str) -> Self {
        Self::from(format!("did you mean `{meant}`?")).instead(written, meant)
    }

    /// Where the place of the diagnostic is just what was `written`, this is to be there.
    pub fn instead(mut self, written: impl Into<String>, meant: impl Into<String>) -> Self {
        self.instead = Some(Box::new(Replacement { written: written.into(), meant: meant.into() }));
        self
    }

    /// With further words.
    pub fn and(mut self, more: &str) -> Self {
        self.text.push(' ');
        self.text.push_str(more);
        self
    }
}

impl<T: Into<String>> From<T> for Advice {
    fn from(text: T) -> Self {
        Self { text: text.into(), instead: None }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A change of a file after which a diagnostic is gone, or another mistake comes to light.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// What to replace.
    pub span: Span,
    /// With what, as it is to stand in the file.
    pub replacement: String,
}

/// A related place and what it has to do with the matter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there.
    pub message: String,
}

/// One thing that went wrong.
///
/// ```
/// use cuvee::diagnostic::{Code, Diagnostic, did_you_mean};
/// use cuvee::source::SourceMap;
/// let error = Diagnostic::error(Code::UnknownPreset, "there is no preset `prd`").help_opt(did_you_mean("prd", ["dev", "prod"]));
/// assert_eq!(error.one_line(&SourceMap::default()), "error[unknown-preset]: there is no preset `prd`");
/// assert_eq!(error.help.as_deref(), Some("did you mean `prod`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Which kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What, in one sentence without a full stop.
    pub message: String,
    /// Where; nothing for what has no place in a file, such as a flag.
    pub span: Option<Span>,
    /// Related places.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<Box<str>>,
    /// Which section of a specification says so, where it is one of its rules.
    pub rule: Option<Rule>,
    /// What to write instead, where that is clear.
    pub(crate) instead: Option<Box<Replacement>>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span: None,
            labels: Vec::new(),
            help: None,
            rule: None,
            instead: None,
        }
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// A note.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, message) }
    }

    /// At this place, where it is one.
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.span = span.into().filter(|span| !span.is_detached());
        self
    }

    /// With a related place, where it is one.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        if !span.is_detached() {
            self.labels.push(Label { span, message: message.into() });
        }
        self
    }

    /// With advice.
    pub fn help(mut self, help: impl Into<Advice>) -> Self {
        let Advice { text, instead } = help.into();
        (self.help, self.instead) = (Some(text.into()), instead);
        self
    }

    /// With advice where there is any.
    pub fn help_opt(self, help: Option<impl Into<Advice>>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// By a section of TOSCA Simple Profile 1.3.
    pub fn section(self, section: &'static str) -> Self {
        self.rule(Rule::new(Specification::ToscaSimple13, section))
    }

    /// By a rule of a specification.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// What an editor may change without asking for more: there is something where one word stands
    /// for another, and stands as it was read.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// let text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {node_tempaltes: {}}\n";
    /// let validation = Resolver::from_text("shop.yaml", text).validate();
    /// let fix = validation.diagnostics[0].fix(&validation.sources).unwrap();
    /// assert_eq!(validation.sources.snippet(fix.span), "node_tempaltes");
    /// assert_eq!(fix.replacement, "node_templates");
    /// ```
    pub fn fix(&self, sources: &SourceMap) -> Option<Fix> {
        let (span, Replacement { written, meant }) = (self.span?, self.instead.as_deref()?);
        let there = sources.snippet(span);
        // What is no plain word of YAML, JSON and XML alike needs a person.
        let quote = [None, Some('"'), Some('\'')].into_iter().find(|quote| match quote {
            Some(quote) => {
                let inner = there.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote));
                inner == Some(written)
            }
            None => there == written,
        })?;
        let quote = quote.map(String::from).unwrap_or_default();
        let replacement = format!("{quote}{meant}{quote}");
        is_word(meant).then_some(Fix { span, replacement })
    }

    /// One line: `file:line:col: error[code]: message`.
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let place = self.span.map(|span| format!("{}: ", sources.place(span)));
        format!("{}{}[{}]: {}", place.unwrap_or_default(), self.severity, self.code, self.message)
    }
}

/// Whether this is a word that YAML, JSON and XML alike take for a string as it stands.
fn is_word(text: &str) -> bool {
    const NO_STRINGS: [&str; 11] =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(inner)
        && !NO_STRINGS.contains(&&*text.to_lowercase())
}

/// Diagnostics as a phase finds them: it goes on after the first, so that all are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds the one in an `Err`, and hands on what is in an `Ok`.
    pub fn ok<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.push(diagnostic)).ok()
    }

    /// Adds those in an `Err`, and hands on what is in an `Ok`.
    pub fn all_ok<T>(&mut self, result: Result<T, Self>) -> Option<T> {
        result.map_err(|mut errors| self.0.append(&mut errors.0)).ok()
    }

    /// These, and behind them what ended the run.
    pub(crate) fn before(mut self, mut errors: Self) -> Self {
        self.0.append(&mut errors.0);
        self
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

/// So many names, or places, a message lists at most.
pub(crate) const LISTED: usize = 12;

/// Names for a message: `a`, `b`, `c`; cut after a dozen.
pub(crate) fn listed<N: fmt::Display>(names: impl IntoIterator<Item = N>) -> String {
    listed_as(names.into_iter().map(|name| format!("`{name}`")))
}

/// As [`listed`], for what is quoted already.
pub(crate) fn listed_as(names: impl IntoIterator<Item = String>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<_> = names.by_ref().take(LISTED).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name in `known` that somebody who wrote `written` most likely meant, as help.
pub fn did_you_mean<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<Advice> {
    closest(written, known).map(|name| Advice::did_you_mean(written, name))
}

/// The name in `known` that is closest to `written`, when it is close.
pub fn closest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = written.chars().count();
    let allowed = (length / 3).clamp(1, 3);
    // The distance is at least the difference in length, which costs nothing to know.
    let near = known.into_iter().filter(|name| name.chars().count().abs_diff(length) <= allowed);
    let near = near
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|&(distance, _)| distance <= allowed);
    // Among those that are equally close, the first by name, so that the order of `known` does not
    // matter.
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
    }

    #[test]
    fn a_fix_replaces_just_the_word() {
        let fixed = |text: &str, meant: &str| {
            let sources = SourceMap::default();
            let file = sources.add("shop.yaml", text);
            let span = Span { file, start: 2, end: text.len() as u32 };
            let advice = Advice::did_you_mean("prot", meant).and("or else");
            let error = Diagnostic::error(Code::UnknownProperty, "prot").help(advice).at(span);
            assert_eq!(error.help, Some(format!("did you mean `{meant}`? or else").into()));
            error.fix(&sources).map(|fix| (fix.span, fix.replacement))
        };
        let all = |end| Span { file: crate::text::source::FileId(0), start: 2, end };
        assert_eq!(fixed("- prot", "port"), Some((all(6), "port".to_owned())));
        assert_eq!(fixed("- \"prot\"", "port"), Some((all(8), "\"port\"".to_owned())));
        assert_eq!(fixed("- 'prot'", "port"), Some((all(8), "'port'".to_owned())));
        for (text, meant) in
            [("- [prot]", "port"), ("- prot", "p: t"), ("- 'prot", "port"), ("- prot", "true")]
        {
            assert_eq!(fixed(text, meant), None, "{text}");
        }
        let advice = Advice::did_you_mean("prot", "port");
        let nowhere = Diagnostic::error(Code::UnknownProperty, "prot").help(advice);
        assert_eq!(nowhere.fix(&SourceMap::default()), None);
        assert_eq!(nowhere.clone().at(Span::DETACHED).label(Span::DETACHED, "here"), nowhere);
    }

    #[test]
    fn suggests_what_is_close_only() {
        assert_eq!(closest("condtions", ["conditions", "weight"]), Some("conditions"));
        assert_eq!(closest("x", ["conditions", "weight"]), None);
    }
}
