//! Tests laws with random models, against an independent implementation of the rules.

#[path = "../../tests/shared/oracle.rs"]
mod oracle;

use super::formula::solved;
use super::*;
use crate::Resolver;
use cuvee_sat::solve::SolverKind;
use cuvee_text::source::{FileId, MemoryFiles};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const FILE: FileId = FileId::new(0);

/// The names of the selected features.
type SelectedFeatures = BTreeSet<String>;

/// Whether a selection, one bit for each feature, is a configuration, computed from the tree and
/// the propositions.
fn is_configuration(model: &FeatureModel, selection: u32) -> bool {
    let selected = |id: FeatureId| selection >> id.index() & 1 == 1;
    let group_holds = |parent: bool, group: &FeatureGroup| {
        let count = group.members.iter().filter(|&&member| selected(member)).count();
        let demanded = match group.kind {
            GroupKind::Mandatory => count == group.members.len(),
            GroupKind::Optional => true,
            GroupKind::Or => count > 0,
            GroupKind::Alternative => count == 1,
        };
        if parent { demanded } else { count == 0 }
    };
    selected(model.root())
        && model.features().all(|(id, feature)| {
            feature.groups().iter().all(|group| group_holds(selected(id), group))
        })
        && model.constraints().iter().all(|constraint| truth(constraint, &selected))
}

fn truth(proposition: &Proposition, selected: &dyn Fn(FeatureId) -> bool) -> bool {
    let count = |operands: &[Proposition]| {
        operands.iter().filter(|operand| truth(operand, selected)).count()
    };
    match proposition {
        Proposition::Constant(value) => *value,
        Proposition::Feature(id) => selected(*id),
        Proposition::Not(inner) => !truth(inner, selected),
        Proposition::And(operands) => count(operands) == operands.len(),
        Proposition::Or(operands) => count(operands) > 0,
        Proposition::AtMostOne(operands) => count(operands) < 2,
        Proposition::Implies(pair) => !truth(&pair[0], selected) || truth(&pair[1], selected),
        Proposition::Iff(pair) => truth(&pair[0], selected) == truth(&pair[1], selected),
    }
}

/// All configurations, as the names of those features that satisfy `counts`.
fn configurations(
    model: &FeatureModel,
    counts: impl Fn(&Feature) -> bool,
) -> BTreeSet<SelectedFeatures> {
    let named = |selection: u32| {
        let selected = model
            .features()
            .filter(|(id, feature)| selection >> id.index() & 1 == 1 && counts(feature));
        selected.map(|(_, feature)| feature.name.clone()).collect()
    };
    (0..1 << model.features().len())
        .filter(|&selection| is_configuration(model, selection))
        .map(named)
        .collect()
}

const INPUTS: usize = 4;
const VALUES: [&str; 3] = ["one", "2", "'3.10'"];
const KEYWORDS: [&str; 6] =
    ["mandatory", "optional", "choices", "alternatives", "requires", "excludes"];

/// The boolean inputs `A` to `D` and an input `size` with valid values, with rules and constraints.
#[derive(Clone, Debug)]
struct DeclaredInput {
    /// The rules: an input, a keyword, and the listed inputs.
    rules: Vec<(usize, usize, Vec<usize>)>,
    constraints: Vec<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    Input(usize),
    Size(usize),
    /// An operator with its operands.
    Operator(&'static str, Vec<Condition>),
}

impl Condition {
    fn yaml(&self) -> String {
        match self {
            Self::Input(input) => format!("{{variability_input: {}}}", name(*input)),
            Self::Size(value) => {
                format!("{{equal: [{{variability_input: size}}, {}]}}", VALUES[*value])
            }
            Self::Operator("not", operands) => format!("{{not: {}}}", operands[0].yaml()),
            Self::Operator(operator, operands) => {
                format!(
                    "{{{operator}: [{}]}}",
                    operands.iter().map(Self::yaml).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    fn holds(&self, inputs: u32, size: usize) -> bool {
        match self {
            Self::Input(input) => inputs >> input & 1 == 1,
            Self::Size(value) => size == *value,
            Self::Operator(operator, operands) => {
                let truths: Vec<bool> =
                    operands.iter().map(|operand| operand.holds(inputs, size)).collect();
                let count = truths.iter().filter(|truth| **truth).count();
                match *operator {
                    "not" => count == 0,
                    "and" => count == truths.len(),
                    "or" => count > 0,
                    "xor" => count % 2 == 1,
                    "exo" => count == 1,
                    "amo" => count < 2,
                    "implies" => !truths[0] || truths[1],
                    "equal" => truths.iter().all(|truth| *truth == truths[0]),
                    other => panic!("{other}"),
                }
            }
        }
    }
}

fn name(input: usize) -> char {
    ['A', 'B', 'C', 'D'][input]
}

impl DeclaredInput {
    fn template(&self) -> String {
        let mut text = String::from(
            "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    inputs:\n",
        );
        for input in 0..INPUTS {
            let _ = writeln!(text, "      {}:\n        type: boolean", name(input));
            for (_, keyword, targets) in self.rules.iter().filter(|(owner, ..)| *owner == input) {
                let targets: String =
                    targets.iter().map(|&target| format!("{}, ", name(target))).collect();
                let _ = writeln!(text, "        {}: [{targets}]", KEYWORDS[*keyword]);
            }
        }
        let _ =
            writeln!(text, "      size: {{constraints: [valid_values: [{}]]}}", VALUES.join(", "));
        text.push_str("    constraints:\n");
        self.constraints
            .iter()
            .for_each(|constraint| text.push_str(&format!("      - {}\n", constraint.yaml())));
        text
    }

    fn admits(&self, inputs: u32, size: usize) -> bool {
        let is = |input: usize| inputs >> input & 1 == 1;
        let rule_holds = |(owner, keyword, targets): &(usize, usize, Vec<usize>)| {
            let (parent, count) =
                (is(*owner), targets.iter().filter(|target| is(**target)).count());
            match KEYWORDS[*keyword] {
                "mandatory" => count == if parent { targets.len() } else { 0 },
                "optional" => parent || count == 0,
                "choices" => !parent || count > 0,
                "alternatives" => !parent || count == 1,
                "requires" => !parent || count == targets.len(),
                _ => !parent || count == 0,
            }
        };
        self.rules.iter().all(rule_holds)
            && self.constraints.iter().all(|constraint| constraint.holds(inputs, size))
    }

    fn choices() -> impl Iterator<Item = (u32, usize)> {
        (0..1 << INPUTS).flat_map(|inputs| (0..VALUES.len()).map(move |size| (inputs, size)))
    }

    /// The configurations that the rules and constraints allow, as names of the selected features.
    fn configurations(&self) -> BTreeSet<SelectedFeatures> {
        let named = |(inputs, size): (u32, usize)| {
            let selected = (0..INPUTS)
                .filter(|input| inputs >> input & 1 == 1)
                .map(|input| name(input).to_string());
            selected.chain([format!("size = {}", VALUES[size])]).collect()
        };
        Self::choices().filter(|&(inputs, size)| self.admits(inputs, size)).map(named).collect()
    }
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![3 => (0..INPUTS).prop_map(Condition::Input), 1 => (0..VALUES.len()).prop_map(Condition::Size)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let several = proptest::sample::select(vec!["and", "or", "xor", "exo", "amo"]);
        let two = proptest::sample::select(vec!["implies", "equal"]);
        prop_oneof![
            inner.clone().prop_map(|operand| Condition::Operator("not", vec![operand])),
            (several, proptest::collection::vec(inner.clone(), 1..4))
                .prop_map(|(name, operands)| Condition::Operator(name, operands)),
            (two, proptest::collection::vec(inner, 2))
                .prop_map(|(name, operands)| Condition::Operator(name, operands)),
        ]
    })
}

fn declared() -> impl Strategy<Value = DeclaredInput> {
    let rule = (0..INPUTS, 0..KEYWORDS.len(), proptest::collection::vec(0..INPUTS, 1..4));
    (proptest::collection::vec(rule, 0..8), proptest::collection::vec(condition(), 0..3)).prop_map(
        |(mut rules, constraints)| {
            // An input has each keyword at most once.
            let mut met = BTreeSet::new();
            rules.retain(|(owner, keyword, _)| met.insert((*owner, *keyword)));
            DeclaredInput { rules, constraints }
        },
    )
}

/// The model of a text in either format.
fn read(text: &str) -> FeatureModel {
    let model =
        if text.starts_with('<') { read_feature_ide(text, FILE) } else { read_uvl(text, FILE) };
    model.unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_model_of_inputs_has_their_configurations_in_every_format(declared in declared()) {
        let model = Resolver::from_text("t.yaml", declared.template()).feature_model().unwrap();
        prop_assert!(model.notes().is_empty(), "{:?}", model.notes());
        let expected = declared.configurations();
        for text in [model.to_uvl(), model.to_feature_ide()] {
            let found = configurations(&read(&text), |feature| !feature.is_abstract);
            prop_assert_eq!(&found, &expected, "{}", text);
        }
    }

    #[test]
    fn what_is_imported_accepts_what_was_exported(declared in declared()) {
        let model = Resolver::from_text("t.yaml", declared.template()).feature_model().unwrap();
        let imported = read(&model.to_uvl()).to_inputs().unwrap();
        let template = format!("tosca_definitions_version: tosca_variability_1_0\n{imported}");
        for (inputs, size) in DeclaredInput::choices() {
            let accepts = |template: &str, lower: bool| {
                let mut resolver = Resolver::from_text("t.yaml", template).input_text("size", VALUES[size]);
                for input in 0..INPUTS {
                    let name = name(input).to_string();
                    resolver = resolver.input(if lower { name.to_lowercase() } else { name }, inputs >> input & 1 == 1);
                }
                resolver.resolve().is_ok()
            };
            let expected = declared.admits(inputs, size);
            prop_assert_eq!(accepts(&declared.template(), false), expected);
            prop_assert_eq!(accepts(&template, true), expected, "{}", template);
        }
    }

    #[test]
    fn any_model_survives_either_format(model in model()) {
        let expected = configurations(&model, |_| true);
        prop_assert_eq!(configurations(&read(&model.to_uvl()), |_| true), expected.clone(), "{}", model.to_uvl());
        prop_assert_eq!(configurations(&read(&model.to_feature_ide()), |_| true), expected, "{}", model.to_feature_ide());
    }

    #[test]
    fn mutilated_models_are_read_or_refused(
        model in model(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..6_usize, "[a\"'{}\\[\\]()<>/&|!=,.%\t\n 0-9é]{0,4}"), 0..6),
    ) {
        for mut text in [model.to_uvl(), model.to_feature_ide()] {
            for (place, length, instead) in &cuts {
                let chars: Vec<char> = text.chars().collect();
                let start = place.index(chars.len() + 1);
                let end = (start + length).min(chars.len());
                text = chars[..start].iter().chain(&instead.chars().collect::<Vec<_>>()).chain(&chars[end..]).collect();
            }
            for model in [read_uvl(&text, FILE), read_feature_ide(&text, FILE)].into_iter().flatten() {
                let _ = model.to_inputs();
            }
        }
    }
}

/// Random models with unusual names.
fn model() -> impl Strategy<Value = FeatureModel> {
    let kinds =
        vec![GroupKind::Mandatory, GroupKind::Optional, GroupKind::Or, GroupKind::Alternative];
    let name = "[A-Za-z0-9_ .%\"'<>&=/é\t-]{0,6}";
    let feature = (
        any::<prop::sample::Index>(),
        proptest::sample::select(kinds),
        name,
        any::<bool>(),
        any::<bool>(),
    );
    let constraints = proptest::collection::vec(proposition(), 0..3);
    (proptest::collection::vec(feature, 0..6), constraints).prop_map(|(features, constraints)| {
        let mut model = FeatureModel::new(Feature::new("or"));
        for (index, (parent, kind, name, is_abstract, described)) in
            features.into_iter().enumerate()
        {
            let parent = FeatureId(parent.index(model.features().len()) as u32);
            let description =
                described.then(|| format!("of {name}: it's \"x\" -- <100%> // & more."));
            model.add(
                parent,
                kind,
                Feature { is_abstract, description, ..Feature::new(format!("f{name}{index}")) },
            );
        }
        let count = model.features().len() as u32;
        constraints.into_iter().for_each(|one| model.constrain(within(one, count)));
        model
    })
}

fn proposition() -> impl Strategy<Value = Proposition> {
    let leaf = prop_oneof![
        6 => (0..8_u32).prop_map(|id| Proposition::Feature(FeatureId(id))),
        1 => any::<bool>().prop_map(Proposition::Constant)
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let several = || proptest::collection::vec(inner.clone(), 1..4);
        let two = || (inner.clone(), inner.clone()).prop_map(|(a, b)| Box::new([a, b]));
        prop_oneof![
            inner.clone().prop_map(|one| Proposition::Not(Box::new(one))),
            several().prop_map(Proposition::And),
            several().prop_map(Proposition::Or),
            several().prop_map(Proposition::AtMostOne),
            two().prop_map(Proposition::Implies),
            two().prop_map(Proposition::Iff),
        ]
    })
}

/// A proposition with its features mapped to existing ones.
fn within(proposition: Proposition, count: u32) -> Proposition {
    let all =
        |operands: Vec<Proposition>| operands.into_iter().map(|one| within(one, count)).collect();
    let both = |pair: Box<[Proposition; 2]>| Box::new(pair.map(|one| within(one, count)));
    match proposition {
        Proposition::Feature(id) => Proposition::Feature(FeatureId(id.0 % count)),
        Proposition::Not(inner) => Proposition::Not(Box::new(within(*inner, count))),
        Proposition::And(operands) => Proposition::And(all(operands)),
        Proposition::Or(operands) => Proposition::Or(all(operands)),
        Proposition::AtMostOne(operands) => Proposition::AtMostOne(all(operands)),
        Proposition::Implies(pair) => Proposition::Implies(both(pair)),
        Proposition::Iff(pair) => Proposition::Iff(both(pair)),
        constant => constant,
    }
}

#[test]
fn depth_does_not_matter_to_trees_and_is_refused_in_rules() {
    const DEEP: usize = 50_000;
    let tree = format!(
        "{}<feature name=\"leaf\"/>{}",
        (0..DEEP).fold(String::new(), |text, level| text + &format!("<and name=\"f{level}\">")),
        "</and>".repeat(DEEP)
    );
    let model =
        read_feature_ide(&format!("<featureModel><struct>{tree}</struct></featureModel>"), FILE)
            .unwrap();
    assert_eq!(model.features().len(), DEEP + 1);
    assert!(model.to_inputs().unwrap().contains("leaf"));
    assert!(model.clone() == model);

    let mut uvl = String::from("features\n");
    for level in 0..1000 {
        let _ = write!(uvl, "{0}f{level}\n{0}\toptional\n", "\t".repeat(2 * level + 1));
    }
    let _ = writeln!(uvl, "{}leaf", "\t".repeat(2001));
    assert_eq!(read_uvl(&uvl, FILE).unwrap().to_uvl(), uvl);

    for rule in [
        "(".repeat(DEEP),
        "!".repeat(DEEP),
        vec!["a"; DEEP].join(" => "),
        vec!["a"; DEEP].join(" <=> "),
    ] {
        let error = read_uvl(&format!("features\n\ta\nconstraints\n\t{rule}"), FILE)
            .unwrap_err()
            .0
            .remove(0);
        assert!(error.message.contains("deeper than"), "{}", error.message);
    }
    let (not, end) = ("<not>".repeat(DEEP), "</not>".repeat(DEEP));
    let text = format!(
        "<featureModel><struct><feature name=\"a\"/></struct><constraints><rule>{not}<var>a</var>{end}</rule></constraints></featureModel>"
    );
    let errors = read_feature_ide(&text, FILE).unwrap_err();
    assert!(errors.0[0].message.contains("deeper than"), "{}", errors.0[0].message);
    let values = format!("features\n\ta {{x {}", "[".repeat(DEEP));
    assert!(read_uvl(&values, FILE).unwrap_err().0.remove(0).message.contains("deeper than"));
    // A long proposition is not a deep one.
    assert!(
        read_uvl(&format!("features\n\ta\nconstraints\n\t{}\n", vec!["a"; DEEP].join(" | ")), FILE)
            .is_ok()
    );
}

#[test]
fn what_is_deepest_can_be_read_again() {
    let nested = |levels: usize| {
        format!(
            "features\n\ta\n\t\toptional\n\t\t\tb\nconstraints\n\t{}a{}\n",
            "(b => ".repeat(levels),
            ")".repeat(levels)
        )
    };
    let deepest =
        (1..).take_while(|&levels| read_uvl(&nested(levels), FILE).is_ok()).last().unwrap();
    assert!(deepest > 40, "{deepest}");
    let yaml = read(&nested(deepest)).to_inputs().unwrap();
    let template = format!("tosca_definitions_version: tosca_variability_1_0\n{yaml}");
    Resolver::from_text("t.yaml", template).resolve().unwrap();
}

#[test]
fn values_of_any_kind_come_back() {
    let inputs = "    inputs:
      size:
        type: scalar-unit.size
        description: \"It's 100% a size\"
        default: 2 GB
        constraints:
          - in_range: [1 GB, 4 GB]
      version:
        type: version
        constraints:
          - greater_than: 1.10
      code:
        type: string
        constraints:
          - pattern: \"[0-9.']+\"
      ratio:
        type: float
        default: 1.50
        constraints:
          - in_range: [0.5, UNBOUNDED]
      exact:
        type: integer
        constraints:
          - valid_values: [1, 0x10]
      release:
        type: version
        constraints:
          - valid_values: [1.10, 2.0.1]
";
    let template = |variability: &str| {
        format!("tosca_definitions_version: tosca_variability_1_0\n{variability}")
    };
    let declared = template(&format!("topology_template:\n  variability:\n{inputs}"));
    let model = Resolver::from_text("t.yaml", &*declared).feature_model().unwrap();
    let imported = template(&read(&model.to_uvl()).to_inputs().unwrap());
    let again = Resolver::from_text("t.yaml", &*imported).feature_model().unwrap();
    assert_eq!(again.to_uvl(), model.to_uvl());
    let accepts = |name: &str, value: &str| {
        let [was, is] = [&declared, &imported].map(|text| {
            Resolver::from_text("t.yaml", text).input_text(name, value).resolve().is_ok()
        });
        assert_eq!(was, is, "{name}: {value}\n{imported}");
        if !is {
            eprintln!(
                "{name} {value} {:?}",
                Resolver::from_text("t.yaml", &*declared).input_text(name, value).resolve().err()
            );
        }
        is
    };
    assert!(accepts("size", "2000 MB") && !accepts("size", "5 GB"));
    assert!(accepts("version", "'1.11'") && !accepts("version", "'1.9'"));
    assert!(accepts("code", "\"1.'1\"") && !accepts("code", "x"));
    assert!(accepts("ratio", "7") && !accepts("ratio", "0.25"));
    assert!(accepts("release", "'1.10'") && !accepts("release", "1.1"));
    assert!(accepts("exact", "16") && !accepts("exact", "2"));
}

#[test]
fn comments_and_line_ends_do_not_matter() {
    let plain = read("features\n\ta\n\t\tor\n\t\t\tb\n\t\t\t\"c // d\"\nconstraints\n\tb\n");
    let decorated = "\u{feff}/* x */ features // y\r\n  // z\r\n /* 1 */  a\r\n\r\n    or /* 2\r\n3 */\r\n\tb {}\r\n        \"c // d\"\r\nconstraints\r\n b";
    assert_eq!(read(decorated).to_uvl(), plain.to_uvl());
    let spaced =
        "<featureModel><struct><and name=' a '><feature name='b'/></and></struct><constraints><rule><conj><var> a </var><var>
        b</var></conj></rule></constraints></featureModel>";
    assert_eq!(
        read(spaced).to_uvl(),
        "features\n\t\" a \"\n\t\toptional\n\t\t\tb\nconstraints\n\t\" a \" & b\n"
    );
}

#[test]
fn what_is_left_out_is_said_with_its_place() {
    let template = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      tls: {type: boolean, requires: [backup, region, zone], optional: zone}
      backup: {type: boolean, constraints: [equal: true]}
      region: {type: string}
      hosts: {type: list}
      zone: {mandatory: backup}
    expressions:
      twice: {and: [{variability_input: tls}, {logic_expression: once}]}
      once: {variability_input: backup}
    constraints:
      - {logic_expression: twice}
      - {greater: [{variability_input: region}, b]}
";
    let model = Resolver::from_text("t.yaml", template).feature_model().unwrap();
    let expected = [
        "line 5: `requires` is left out for an input that is no feature",
        "line 8: `hosts` is left out: it is a list",
        "line 15: a constraint is left out: it refers to more than features",
    ];
    assert_eq!(model.notes(), expected);
    let text = model.to_uvl();
    let constraints = text.split_once("constraints\n").unwrap().1;
    assert_eq!(constraints, "\tbackup\n\ttls => backup\n\ttls => zone\n\ttls & backup\n", "{text}");
}

#[test]
fn a_name_for_two_features_is_refused() {
    let refused = |inputs: &str| {
        let template = format!(
            "tosca_definitions_version: tosca_variability_1_0\ntopology_template: {{variability: {{inputs: {inputs}}}}}"
        );
        Resolver::from_text("t.yaml", template).feature_model().unwrap_err().to_string()
    };
    let error = refused("{x: {constraints: [valid_values: [a]]}, x =: {type: boolean}}");
    assert!(error.contains("two inputs would become features with the name `x =`"), "{error}");
    let text = "features\n\tr\n\t\toptional\n\t\t\tsize\n\t\tmandatory\n\t\t\t\"size =\"\n\t\t\t\talternative\n\t\t\t\t\t\"size = 1\"\n";
    let files = MemoryFiles::from([("m.uvl", text)]);
    let error = import(&files, "m.uvl".as_ref()).unwrap_err().to_string();
    assert_eq!(
        error,
        "m.uvl:6:4: error[duplicate]: the features `size` and `size =` would both be the input `size`"
    );
}

/// If the names of several features would become one input name, the inputs keep these names, and
/// configurations refer to them.
#[test]
fn names_that_differ_in_case_are_kept() {
    let text = "features\n\tRoot {abstract}\n\t\toptional\n\t\t\tGift\n\t\t\tgift\n\t\t\t\"My Card\"\n\t\t\tmy_card\n\t\t\tOther\n";
    let files = MemoryFiles::from([
        ("m.uvl", text),
        (
            "c.xml",
            "<configuration><feature name='Gift' manual='selected'/><feature name='gift'/><feature name='my_card' manual='selected'/><feature name='Other' manual='selected'/></configuration>",
        ),
    ]);
    let template = import_template(&files, "m.uvl".as_ref()).unwrap();
    let resolver = Resolver::from_text("t.yaml", template).files(files).inputs_file("c.xml");
    let resolution = resolver.resolve().unwrap();
    let nodes = resolution.presence().filter(|(name, there)| *there && name.starts_with("node."));
    let nodes: Vec<_> = nodes.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(nodes, ["node.Gift", "node.my_card", "node.other"]);
}

/// Constructs of published models that go beyond the language: keywords as names, texts in double
/// quotes, cardinality of single features, and group cardinalities.
#[test]
fn what_others_write_is_read() {
    let text = "features\n\tType {cost 3, \"the owner\" \"me\"}\n\t\t[2..3]\n\t\t\tInteger cardinality [1..1]\n\t\t\tString String\n\t\t\tsum\n\t\t\tas\nconstraints\n\tsum => as\n";
    let error = read_uvl(text, FILE).unwrap_err().0.remove(0);
    assert!(error.message.contains("a feature with a value"), "{}", error.message);
    let model = read(&text.replace("String String", "String"));
    let several = ["Type", "Integer", "String", "sum", "as"];
    let names: Vec<_> = model.features().map(|(_, feature)| &*feature.name).collect();
    assert_eq!(names, several);
    let inputs = model.to_inputs().unwrap();
    assert!(inputs.contains("metadata: { cost: 3, the owner: me }"), "{inputs}");
    let selected = |text: &str| configurations(&read(text), |_| true);
    let counted = |of: &[bool]| of.iter().filter(|is| **is).count();
    let all = |fits: &dyn Fn(&[bool]) -> bool| {
        let all = (0..16_u32).map(|bits| (0..4).map(|at| bits >> at & 1 == 1).collect::<Vec<_>>());
        all.filter(|of| fits(of)).count()
    };
    for (least, most) in [(0, 0), (0, 2), (2, 2), (2, 3), (3, 4), (3, 9), (3, 2), (4, 4), (5, 6)] {
        let text =
            format!("features\n\tr\n\t\t[{least}..{most}]\n\t\t\ta\n\t\t\tb\n\t\t\tc\n\t\t\td\n");
        let expected = all(&|of| (least..=most).contains(&counted(of)));
        assert_eq!(selected(&text).len(), expected, "{least} to {most}");
    }
    let many: String = (0..60).map(|feature| format!("\t\t\tf{feature}\n")).collect();
    let error = read_uvl(&format!("features\n\tr\n\t\t[20..40]\n{many}"), FILE).unwrap_err();
    assert!(error.0[0].message.contains("with bounds on how many"), "{}", error.0[0].message);
}

/// A template that uses every part of the formula: choices, exclusions, two objectives, and a
/// weight with a fraction.
const CHOICES: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs: {small: {type: boolean, default: true}}
    options:
      mode: semantic-loose
      node_default_condition_mode: incomingnaive
      hosting_stack_constraint: true
      technology_constraint: true
      optimization_topology: min
      optimization_technologies: max
      optimization_technologies_mode: weight-count
    constraints:
      - not: {and: [node_presence: b, {not: {node_presence: d}}]}
  node_templates:
    a: {type: A, persistent: true, technology: [x: {weight: 3}, y: {weight: 2.5}], requirements: [host: b, host: c]}
    b: {type: B, weight: 1.5, managed: false}
    c: {type: C, weight: 2, technology: [y: {}, z: {conditions: {variability_input: small}}], requirements: [host: d]}
    d: {type: D, weight: 0.25, managed: false}
";

#[test]
fn the_best_model_of_the_wcnf_costs_what_ours_does() {
    let resolver = Resolver::from_text("t.yaml", CHOICES).input("small", true);
    let formula = resolver.optimization_formula().unwrap();
    let text = formula.wcnf().unwrap().to_string();
    let (_, costs) = solved(&resolver, SolverKind::default()).unwrap();
    assert_eq!(costs.len(), 3);

    let literals = |line: &str| {
        line.split(' ')
            .map(|word| word.parse::<i64>().unwrap())
            .take_while(|literal| *literal != 0)
            .collect::<Vec<_>>()
    };
    let clauses = text
        .lines()
        .filter(|line| !line.starts_with('c'))
        .map(|line| line.split_once(' ').unwrap());
    let (hard, soft): (Vec<_>, Vec<_>) = clauses.partition(|(weight, _)| *weight == "h");
    let hard: Vec<_> = hard.into_iter().map(|(_, clause)| literals(clause)).collect();
    let soft: Vec<_> = soft
        .into_iter()
        .map(|(weight, clause)| (weight.parse::<u64>().unwrap(), literals(clause)))
        .collect();
    assert!(formula.vars < 28, "{}", formula.vars);
    let holds = |clause: &Vec<i64>, model: u64| {
        clause.iter().any(|&literal| (model >> (literal.abs() - 1) & 1 == 1) == (literal > 0))
    };
    let models = models(&hard, formula.vars);
    assert!(models.len() > 1);
    let cost = |model: u64| {
        soft.iter()
            .filter(|(_, clause)| !holds(clause, model))
            .map(|(weight, _)| weight)
            .sum::<u64>()
    };
    let optimum = models.iter().map(|&model| cost(model)).min().unwrap();

    let legend =
        text.lines().filter_map(|line| line.strip_prefix("c objective ")?.split_once(": o / "));
    let split = legend.map(|(_, rule)| {
        let (scale, modulus) = rule.split_once(" % ").unwrap();
        optimum / scale.parse::<u64>().unwrap() % modulus.parse::<u64>().unwrap()
    });
    assert_eq!(split.collect::<Vec<_>>(), costs);
    // The models differ in the elements alone.
    let elements: u64 = formula.projection.iter().map(|var| 1 << (var - 1)).sum();
    let projected: BTreeSet<u64> = models.iter().map(|model| model & elements).collect();
    assert_eq!(projected.len(), models.len());
}

/// All models, found variable by variable; a partial model that violates a clause is dropped.
fn models(clauses: &[Vec<i64>], vars: usize) -> Vec<u64> {
    let mut partial = vec![0_u64];
    for var in 1..=vars as i64 {
        let decided: Vec<_> = clauses
            .iter()
            .filter(|clause| clause.iter().map(|literal| literal.abs()).max() == Some(var))
            .collect();
        let fits = |model: &u64| {
            decided.iter().all(|clause| {
                clause
                    .iter()
                    .any(|literal| (model >> (literal.abs() - 1) & 1 == 1) == (*literal > 0))
            })
        };
        partial = partial
            .into_iter()
            .flat_map(|model| [model, model | 1 << (var - 1)])
            .filter(fits)
            .collect();
    }
    partial
}

/// Collects all YAML files below a directory.
fn templates(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            templates(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            found.push(path);
        }
    }
}

/// Every problem that any template of the tests and examples optimises, with each preset and
/// without one: both solvers agree, a circuit of adders confirms that nothing is better, and if
/// there are few variables, so does a search of all assignments.
#[test]
fn every_optimum_is_confirmed() {
    let mut paths = Vec::new();
    for root in ["tests", "examples"] {
        templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root), &mut paths);
    }
    let (mut confirmed, mut looked_at) = (0, 0);
    for path in paths {
        let plain = Resolver::new(&path);
        let presets = plain.preset_names().unwrap_or_default();
        for resolver in
            presets.into_iter().map(|preset| plain.clone().preset(preset)).chain([plain.clone()])
        {
            let Some((formula, costs)) =
                solved(&resolver, SolverKind::Batsat).filter(|(_, costs)| !costs.is_empty())
            else {
                continue;
            };
            for &kind in SolverKind::ALL {
                let others = solved(&resolver, kind).map(|(_, others)| others);
                assert_eq!(others.as_ref(), Some(&costs), "{}", path.display());
            }
            let problem =
                oracle::Problem { clauses: formula.clauses, objectives: formula.objectives };
            assert!(problem.confirms(&costs), "{}: {costs:?}", path.display());
            if formula.vars <= 14 {
                assert_eq!(
                    problem.brute_force(formula.vars as u32),
                    Some(costs),
                    "{}",
                    path.display()
                );
                looked_at += 1;
            }
            confirmed += 1;
        }
    }
    assert!(looked_at > 10 && confirmed > looked_at, "{looked_at} of {confirmed}");
}
