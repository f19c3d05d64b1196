//! Describes mistakes so that readers can act on them, and lists the codes of all diagnostics with
//! their meanings.

mod pages;

pub use cuvee_text::diagnostic::*;
#[cfg(feature = "render")]
pub use cuvee_text::render;

pub(crate) use pages::page;

use std::fmt;

/// An example of a code, or the advice if no template gives the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeExample {
    /// A command behind `$ ` and the file that it reads, then further ones behind comments with
    /// their names: with the lines that start with `-` it gives the code, with those that start
    /// with `+` it does not.
    Repair(&'static str),
    /// The advice on what to do, if no template gives the code.
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

            /// The code as diagnostics hold it.
            pub fn name(self) -> CodeName {
                match self {
                    $(Self::$variant => CodeName::new(&$code),)*
                }
            }

            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                self.name().as_str()
            }

            /// The meaning of the code, and the advice on what to do.
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
    AbstractType "abstract-type" "A template is of an abstract type, so it has to be substituted before it is deployed. Use a type that is not abstract, or provide a template that substitutes it.";
    AmbiguousArtifact "ambiguous-artifact" "A node has more than one present artifact of one name. Give the alternatives conditions that exclude each other, or enable `unique_artifact_constraint`.";
    AmbiguousElement "ambiguous-element" "An expression names several elements at once. Name one of them by its position in the list, such as `[node, 0]`.";
    AmbiguousFulfilment "ambiguous-fulfilment" "Several nodes fit a requirement or a selection equally well, so the node that is declared first was taken. Name the node that is meant, or tell the nodes apart with a `node_filter`.";
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
    AttributeBefore "attribute-before" "An operation uses an attribute, or an output of another operation, that has no value yet when it runs. Use it in a later operation, such as `post_configure_target`, or add a relation that orders the two.";
    ConversionLoss "conversion-loss" "A part of a template has no counterpart in the format it is converted to, or has to be written in another way. Check whether that matters; `cuvee convert --loss FILE` lists all such parts.";
    Csar "csar" "A file is not a TOSCA archive, is not laid out as the specification asks, or is not safe to unpack; or the result cannot be packed into an archive. Pack it anew, with a `TOSCA-Metadata/TOSCA.meta` that names its `Entry-Definitions`.";
    CyclicDeployment "cyclic-deployment" "Nodes wait for each other in a circle, so none of them can be deployed first. Break the circle, or leave one of its relations out of the order with `cuvee plan --ignore`. `cuvee validate` warns of it where a variant has all these relations.";
    CyclicExpression "cyclic-expression" "A named expression needs its own value. Break the cycle that the message names.";
    CyclicSubstitution "cyclic-substitution" "A node could only be substituted by a template that contains this node itself, so substitution would never end. Add a template for it that does not contain such a node.";
    CyclicType "cyclic-type" "A type derives from itself. Break the cycle that the message names.";
    CyclicWorkflow "cyclic-workflow" "Steps of a workflow follow one another in a circle, or a workflow inlines itself. Break the cycle that the message names.";
    DanglingReference "dangling-reference" "Something that stays in the result refers to an element that does not. Remove the reference, or give it the condition of what it refers to.";
    DeadElement "dead-element" "No variant has this element, whatever the inputs. Remove it, or weaken a condition; `cuvee explain` says which condition fails.";
    DelegateTarget "delegate-target" "A step delegates a node that implements its own operations, so the orchestrator does not provide it. The part of the generated workflow for this node is run instead; call its operations, or use `inline`.";
    DelegatedLifecycle "delegated-lifecycle" "An operation of a relation has to run while a node is configured, but the orchestrator provides this node as a whole. Use `add_target` or `add_source`, or take the node from the orchestrator with `--managed`.";
    Deprecated "deprecated" "A template uses a notation of earlier versions of TOSCA, which the next version may drop. Write it as the message says.";
    DroppedAssignment "dropped-assignment" "An assignment at a node that is substituted has no place in the template that substitutes it: mappings carry no values of capabilities, attributes, artifacts or operations. Use a property that this template takes as input.";
    Duplicate "duplicate" "Two things share a name that must be unique. Rename or remove one.";
    ElementOrder "element-order" "An element of TOSCA 1.0 is not in the order of its schema. Its meaning is clear, but other tools may refuse it. Move it to the place that the help names.";
    ExpectedArtifact "expected-artifact" "A present node has artifacts, but none of them is present. Keep one, or disable `expected_artifact_check`.";
    ExpectedHosting "expected-hosting" "A present node has hosting relations, but none of them is present. Keep one, or disable `expected_hosting_check`.";
    ExpectedIncomingRelation "expected-incoming-relation" "A present node has incoming relations, but none of them is present, so nothing uses it. Remove it too, or disable `expected_incoming_relation_check`.";
    ExpectedTechnology "expected-technology" "A present managed node has technologies, but none of them is present. Keep one, or declare the node `managed: false`.";
    Extension "extension" "A template uses a notation of a later version of TOSCA than its own, which cuvee understands and other tools refuse. Keep it if only cuvee reads the template; otherwise write the same without it.";
    FailedPrecondition "failed-precondition" "A workflow may start only where its preconditions hold, and one of them does not. Fulfil this precondition first, or describe the present state with `--state`.";
    File "file" "A file cannot be read or written. Check its path, its size and its permissions.";
    FinalType "final-type" "A type derives from a type that is final. Derive from the parent of that type, or remove `final`.";
    IllegalTransition "illegal-transition" "A step sets, or a report says, a state that the present one does not lead to. Set or report the states in between, or check the order of the steps.";
    ImpossibleComparison "impossible-comparison" "A comparison has the same result whatever the inputs, since the declaration of a variability input rules out the value that it is compared with. Correct this value, or let the input have it.";
    InVain "in-vain" "`cuvee analyze --strict` rejects the template: it has no variant, or a part of it is dead or has no effect. Remove the part that the analysis names, or weaken the conditions that stand in its way.";
    IncompatibleRequirement "incompatible-requirement" "A requirement assignment does not fit the definition of its requirement: the target, the capability, the relationship or the occurrences are not what the definition allows. Choose what fits, or change the definition.";
    IncompatibleType "incompatible-type" "An element or a value has a type that does not fit where it is used. Use another one, or correct one of the types.";
    InstanceExists "instance-exists" "An instance of this name is in the store already. Choose another name, or delete that one.";
    InstanceName "instance-name" "An instance cannot have this name: it has to be a valid directory name on every system. Use up to 63 of the characters a-z, 0-9, `.`, `_` and `-`, the first one a letter or a digit.";
    InstanceRunning "instance-running" "Another process runs the plan of an instance. Wait until it has ended; of a process that is gone on this machine nothing is left to wait for.";
    InvalidConstraint "invalid-constraint" "A constraint clause is unknown, does not apply to values of its type, or has an operand that does not fit. Put right what the message names.";
    InvalidDefinition "invalid-definition" "A type definition does not have the shape that the grammar of TOSCA asks for. Put right what the message names; it says in which section the grammar is.";
    InvalidExpression "invalid-expression" "An expression cannot be understood or computed: an operator is unknown, has the wrong number or types of operands, or divides by zero.";
    InvalidFunction "invalid-function" "A function of TOSCA is called with arguments that it does not take, uses a keyword that has no meaning at its place, or cannot be evaluated. Put right what the message names.";
    InvalidInput "invalid-input" "A variability input or a deployment input is undeclared, or its value has the wrong type or violates a constraint of the input; or a file that describes existing nodes, such as the model of an instance, does not have the shape that it needs.";
    InvalidMapping "invalid-mapping" "A mapping of a requirement cannot be performed for every node that the template may substitute: it leads onto mandatory requirements that may get no relation, onto one that takes no more, or onto one that has a target of its own. Put right what the message names.";
    InvalidOption "invalid-option" "A variability option is unknown or has a value that it does not take.";
    InvalidPlan "invalid-plan" "A plan cannot be applied: it is no plan, was changed since it was made, or was made for no instance. Make it anew with `cuvee instance plan`.";
    InvalidRefinement "invalid-refinement" "A derived type loosens what it inherits, so that it would not fit where its parent does. Narrow what is inherited, or use another name.";
    InvalidTemplate "invalid-template" "The service template does not have the shape that the specification asks for.";
    InvalidValue "invalid-value" "A value is not one of its declared type. Write it as the message says, or correct the declared type.";
    LogRecovered "log-recovered" "A writer was interrupted, and its unfinished record at the end of a log was put aside; nothing that was acknowledged is lost. Look into the file that the message names, and repeat the report.";
    MandatoryExtension "mandatory-extension" "A document requires an extension that cuvee does not know. Leave the extension out, or declare it with `mustUnderstand=\"no\"`.";
    MissingArtifactContainer "missing-artifact-container" "An artifact is present, but its node is not. Give the artifact the condition of its node, or enable `artifact_pruning`.";
    MissingImport "missing-import" "A document uses a component of another document that it does not import. Import that document directly: imports of imports do not count.";
    MissingInput "missing-input" "A variability input or a deployment input is needed and has no value. Assign it, choose a preset, or declare a `default`.";
    MissingPersistentNode "missing-persistent-node" "Nodes are kept by their incoming relations and their hosts, but no node is persistent, so there is no first node that keeps the others. Declare `persistent: true` at a node that is used from outside, or disable `persistent_check`.";
    MissingProgram "missing-program" "A program that steps of a plan need is not installed. Install it, or put its directory into `PATH`.";
    MissingProperty "missing-property" "A required property has no value and no default. Assign it, or declare it `required: false`.";
    MissingPropertyContainer "missing-property-container" "A property is present, but what it belongs to is not. Give it the condition of its container, or enable `property_default_condition`.";
    MissingRequirement "missing-requirement" "A node does not assign a requirement of its type, so that an orchestrator has to find a target. Assign the requirement, or let its definition occur from 0 times on.";
    MissingSecret "missing-secret" "A step needs a secret of which the instance keeps only a digest, and the run does not know it. Give the topology inputs that it is made of.";
    MissingTechnologyContainer "missing-technology-container" "A technology is present, but its node is not. Give it the condition of its node, or enable `technology_pruning`.";
    MissingTypeContainer "missing-type-container" "A type is present, but what it belongs to is not. Give it the condition of its container, or enable `type_default_condition`.";
    MultipleDefaultAlternatives "multiple-default-alternatives" "More than one alternative of one element is declared as default. Keep `default_alternative` at one of them.";
    NoOrchestration "no-orchestration" "States, steps and parts can be reported only during an orchestration, and none is open. Begin one: `cuvee instance apply` with a plan, or `cuvee instance begin` without.";
    NoProvider "no-provider" "A node has no operations, and nothing says what stands for it. Name this machine, a host or a program with `--provider`.";
    NoRunner "no-runner" "Nothing says which program runs the implementation of an operation. Begin its file with `#!` and a program, give its artifact a type, or name one with `--runner`.";
    NoSelection "no-selection" "A node is to be selected, but no existing node fits, or there are not enough existing nodes for all selections. Weaken its `node_filter`, or describe the existing nodes with `--inventory`.";
    NoSubstitution "no-substitution" "A node is to be substituted, but no template of the catalogue fits; the labels say why, for the template that fits best first. Add a template, or correct the part that does not fit.";
    Nondeterminism "nondeterminism" "Two elements of one name are present and the check that forbids it is off, so one was taken: the first of types and technologies, the last of elements that become entries of a map.";
    NotTaken "not-taken" "Another orchestrator leaves out or refuses something that a plan has. Take the other one, leave `--with` out, or write it in a way that the orchestrator takes.";
    NotVisible "not-visible" "Attributes of a node of an instance count as defined only in stable states from `created` on, and the node is in another state. Ask again when the orchestration is over, or use `--unstable`.";
    NothingLeft "nothing-left" "A variant has no nodes. Weaken the conditions, or declare `persistent: true` at a node that has to stay: default conditions and pruning take a node away together with all that uses it.";
    OpenInput "open-input" "A variability input is open, and its values cannot be told apart: an expression does more with it than compare it with constants, or depends on too many combinations. Assign it with `--input` or a preset, or restrict it by `valid_values`.";
    OrchestrationOpen "orchestration-open" "An instance has one orchestration at a time, and another one is open. Continue the open orchestration, or end it.";
    PlanOrder "plan-order" "A workflow that is written by hand leaves out a node of the topology, or begins with a node before another one that it needs is started. Add the missing step, or let the step wait.";
    Plugin "plugin" "A technology plugin that a template names was not asked, because a template runs nothing by itself, or has no usable answer. Let a command of yours answer with `--plugin NAME=COMMAND`, or write technology rules.";
    PortableArtifact "portable-artifact" "The file of an artifact is an address or lies in a repository, which is valid, but refused by orchestrators that look for it among the files of the template. Add a file to the template, and put the address into a property.";
    PortableMetadata "portable-metadata" "Metadata are strings, which some orchestrators insist on. Write the value in quotes.";
    PortableNode "portable-node" "A requirement definition names no node type, which is valid, and refused by some parsers. Name one, such as `tosca.nodes.Root`.";
    PortableRelationship "portable-relationship" "A requirement definition names no relationship type, or an assignment none of the relationship templates, which is valid, and refused by some orchestrators. Name the type in the definition, and a template in the assignment.";
    PortableRequired "portable-required" "A property is optional here and required by the profile of an orchestrator. Assign it.";
    PortableSchema "portable-schema" "A schema is written as the name of a type, which is valid, and refused by orchestrators that want a map. Write `{ type: ... }`.";
    PortableVersion "portable-version" "A file is of TOSCA 2.0, which orchestrators do not read yet. Write it as TOSCA 1.3, by `cuvee convert --to 1.3`.";
    Pruned "pruned" "Default conditions or pruning removed nodes that no condition speaks about, because all that uses them is absent. Declare `persistent: true` at a node that has to stay, and set `expected_incoming_relation_check: false`.";
    RelationSource "relation-source" "A relation is present, but its source node is not. Give the relation the condition of its source, or enable `relation_default_condition`.";
    RelationTarget "relation-target" "A relation is present, but its target node is not. Give the relation the condition of its target, or enable `relation_default_condition`.";
    RequiredTechnology "required-technology" "A managed node needs a technology, and no technology rule fits it. Add a rule or a technology, or declare the node `managed: false`.";
    ReservedName "reserved-name" "SELF, CONTAINER, SOURCE and TARGET have a meaning in expressions and cannot be names; the prefix `tosca` and the namespaces of TOSCA are those of its own types. Choose another name.";
    ReusedRelationshipTemplate "reused-relationship-template" "A relationship template is used by more than one relation. Give each relation its own.";
    SensitivePlain "sensitive-plain" "An instance keeps secrets as they are, for everybody who can read its store. Leave out `--secrets keep` where it is enough to know that one has changed.";
    StalePlan "stale-plan" "A plan was made for another instance, or the structure of the instance has changed since: nodes, relations, states, properties or the target. Plan anew.";
    StaleRevision "stale-revision" "An instance has changed since the revision that was expected, and nothing was written. Look at what has changed, and decide anew.";
    StepClaimed "step-claimed" "Somebody else carries out a step or part of a plan, and has claimed it: until the lease is over, its reports need the token that answered the claim. `cuvee instance ready` lists the steps that nobody has claimed.";
    StepNotReady "step-not-ready" "A step or part of a plan cannot begin or end now: a step before it is not done, or it is done already. `cuvee instance ready` lists the steps that are ready.";
    StoreCorrupt "store-corrupt" "The log of an instance was damaged: a part of it was changed or is missing. Nothing is written to it; copy the intact part with `cuvee instance verify NAME --salvage TO`, and find out who changes files of the store.";
    StoreLocked "store-locked" "Another process is writing to the instance. Try again, or wait longer with `--lock-timeout`; a process that has ended holds no lock.";
    StoreVersion "store-version" "The log of an instance was written by another version of cuvee, and this version does not know its format or some of its records. Use that version.";
    SurplusMapping "surplus-mapping" "A requirement mapping has no effect: no node that the template may substitute has so many relations. Remove the mapping, or raise the upper bound of the requirement.";
    Syntax "syntax" "A file is not well-formed YAML, JSON or XML, or passes a limit on its depth, its aliases or its size.";
    TooManyRelations "too-many-relations" "A requirement is assigned, or a capability is used, more often than its definition allows. Remove a relation, or raise the upper bound of `occurrences`.";
    TypeClash "type-clash" "Two files define types of one name and namespace that differ, so that the name could mean either. Rename one of them, or import its file with a `namespace_prefix`.";
    UnassignedInput "unassigned-input" "Inputs are features, and an input that no feature keyword of another input names has no value. Assign it, or declare a `default`; without the check it counts as false.";
    UnconsumedInput "unconsumed-input" "A present topology input is consumed by no present element. Remove it too, or disable `unconsumed_input_check`.";
    Undecidable "undecidable" "Whether a value fits depends on what is known at run time only, or on something that the specification leaves open. Nothing is wrong yet; check it where it is deployed.";
    UndecidedSubstitution "undecided-substitution" "Whether a template may substitute a node depends on a value that is not known yet. Assign it: `--deployment-input` gives inputs of the topology their values.";
    UnfulfilledRequirement "unfulfilled-requirement" "A requirement has no target, and no node exists that fits it, or not enough nodes for all requirements. Name a node, describe existing nodes with `--inventory`, or make the requirement optional.";
    UnknownDefinition "unknown-definition" "A template says something of a capability, an interface, an operation or another part that its type does not define. Correct the name, or define it in the type.";
    UnknownElement "unknown-element" "An expression, a function, a relation, a group, a policy, a workflow or a substitution mapping names something that does not exist. Correct the name, or define what it names.";
    UnknownExpression "unknown-expression" "A named expression does not exist.";
    UnknownInstance "unknown-instance" "An instance does not exist in the store, or was never begun. Correct its name, or choose the store.";
    UnknownKeyword "unknown-keyword" "A key looks like a keyword but is not one, and would silently have no effect.";
    UnknownPreset "unknown-preset" "A variability preset does not exist.";
    UnknownProperty "unknown-property" "A property that is not defined is given a value, or asked for one. Correct its name, or define it.";
    UnknownRelationshipTemplate "unknown-relationship-template" "A relation uses a relationship template that does not exist.";
    UnknownType "unknown-type" "A type is named that is not defined. Define it, import the file that does, or correct the name.";
    UnmappedRelation "unmapped-relation" "A relation of a node that is substituted is not in the result: the template maps fewer relations than the node has. Map more relations, or leave this one out.";
    UnprefixedName "unprefixed-name" "A name without a prefix means one of the target namespace, though by the rules it means one of the default namespace. Declare a prefix for the target namespace, and use it.";
    UnproducedOutput "unproduced-output" "A present topology output takes its value from no present element. Remove it too, or disable `unproduced_output_check`.";
    Unproven "unproven" "The time was over before the result was proven to be the best variant. Allow more time, or accept it with `--accept-unproven`.";
    UnreachableHost "unreachable-host" "A host on which steps of a plan run has no known address, or does not answer. Name it with `--provider`, or try to reach it with `ssh`.";
    UnresolvedAttribute "unresolved-attribute" "A step needs an attribute that nobody gave. Let an operation of its node write it to `CUVEE_OUTPUTS`, or report it with `cuvee instance record`.";
    UnresolvedInstance "unresolved-instance" "An instance needs all values, and one is not known: that of a topology input, that of a property, or the number of instances of a node. As a warning: it is still open which node stands for a node template or fulfils a requirement. An instance that was imported has no template until it is planned to one. Give the input a value with `--deployment-input`, or assign the property.";
    Unsatisfiable "unsatisfiable" "No variant fulfils all conditions and constraints. The notes name a minimal set that conflicts: drop or weaken any one of them.";
    UnsupportedVersion "unsupported-version" "The `tosca_definitions_version` is missing or is not one that can be resolved; versions 1.0 to 1.2 of the TOSCA Simple Profile are read as version 1.3, with a warning.";
    UnusedRelationshipTemplate "unused-relationship-template" "A relationship template is used by no relation. Remove it, or name it in a requirement assignment.";
    Usage "usage" "The command line cannot be understood, or a part of it has no effect. Read the help of the command with `cuvee help`.";
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
        let found = Self::ALL.binary_search_by_key(&text, |code| code.as_str());
        found.map(|index| Self::ALL[index]).map_err(drop)
    }
}

impl Code {
    /// The code of this name.
    pub fn named(name: CodeName) -> Option<Self> {
        name.as_str().parse().ok()
    }
}

impl From<Code> for CodeName {
    fn from(code: Code) -> Self {
        code.name()
    }
}

impl PartialEq<Code> for CodeName {
    fn eq(&self, other: &Code) -> bool {
        self.as_str() == other.as_str()
    }
}

/// TOSCA Simple Profile in YAML Version 1.3.
pub static TOSCA_SIMPLE_1_3: Specification =
    Specification { title: "TOSCA Simple Profile in YAML 1.3", name: "TOSCA Simple Profile 1.3" };

/// TOSCA Version 2.0.
pub static TOSCA_2_0: Specification =
    Specification { title: "TOSCA Version 2.0", name: "TOSCA 2.0" };

/// TOSCA Version 1.0, whose documents are XML.
pub static TOSCA_1_0: Specification = Specification {
    title: "Topology and Orchestration Specification for Cloud Applications 1.0",
    name: "TOSCA 1.0",
};

/// Says by which section of TOSCA Simple Profile 1.3 a diagnostic goes.
///
/// ```
/// use cuvee::diagnostic::{Cite, Code, Diagnostic};
/// let error = Diagnostic::error(Code::UnknownProperty, "`Kettle` has no property `color`").section("3.6.11");
/// assert_eq!(error.rule.unwrap().to_string(), "section 3.6.11 of TOSCA Simple Profile 1.3");
/// ```
pub trait Cite {
    /// By a section of TOSCA Simple Profile 1.3.
    fn section(self, section: &'static str) -> Self;
}

impl Cite for Diagnostic {
    fn section(self, section: &'static str) -> Self {
        self.rule(Rule::new(&TOSCA_SIMPLE_1_3, section))
    }
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
    fn codes_of_texts_are_listed() {
        for name in CodeName::ALL {
            assert!(name.as_str().parse::<Code>().is_ok(), "{name}");
        }
    }
}
