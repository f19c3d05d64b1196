//! Runs our own cases and the tests of the examples, with the runner of `cuvee test`.

use cuvee::diagnostic::Code;
use cuvee::source::OsFiles;
use cuvee::testing::run;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_case_is_as_expected() {
    let report = run(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"), &OsFiles);
    assert!(report.is_success(), "\n{report}");
}

#[test]
fn every_example_has_tests_that_pass() {
    let examples =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let mut count = 0;
    for example in examples.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let report = run(&example, &OsFiles);
        assert!(report.is_success(), "{}\n{report}", example.display());
        count += 1;
    }
    assert!(count > 0, "there are no examples");
}

/// Codes that resolving never reports, since it knows all inputs and checks no types, each with a
/// file that expects it.
const ELSEWHERE: &[(Code, &str)] = &[
    (Code::AbstractType, "tests/diagnostics/xml/templates.tosca"),
    (Code::AmbiguousFulfilment, "tests/substitute/select/session.console"),
    (Code::AmbiguousSubstitution, "tests/substitute/12-tie/session.console"),
    (Code::AttributeBefore, "tests/plan/too-early/session.console"),
    (Code::ConversionLoss, "src/convert/loss.rs"),
    (Code::CyclicDeployment, "tests/plan/cycle/session.console"),
    (Code::CyclicSubstitution, "tests/substitute/17-recursion/session.console"),
    (Code::CyclicWorkflow, "tests/diagnostics/workflow-order.yaml"),
    (Code::DeadElement, "tests/explore/inputs_cases.rs"),
    (Code::DelegateTarget, "tests/plan/groups/session.console"),
    (Code::DelegatedLifecycle, "tests/plan/10-delegation/session.console"),
    (Code::Deprecated, "tests/diagnostics/trigger-definition.yaml"),
    (Code::DroppedAssignment, "tests/substitute/dropped/session.console"),
    (Code::ElementOrder, "tests/diagnostics/xml/structure.tosca"),
    (Code::Extension, "tests/diagnostics/requirement-count.yaml"),
    (Code::FailedPrecondition, "tests/plan/07-preconditions/session.console"),
    (Code::FinalType, "tests/diagnostics/xml/types.tosca"),
    (Code::IllegalTransition, "tests/plan/simulation/session.console"),
    (Code::InVain, "tests/explore/questions.rs"),
    (Code::IncompatibleRequirement, "tests/diagnostics/requirement-node.yaml"),
    (Code::IncompatibleType, "tests/diagnostics/policy-targets.yaml"),
    (Code::InstanceExists, "tests/orchestrate/instance_store.rs"),
    (Code::InstanceName, "tests/orchestrate/instance_store.rs"),
    (Code::InstanceRunning, "src/operate/lease.rs"),
    (Code::InvalidConstraint, "src/tosca/value/tests.rs"),
    (Code::InvalidDefinition, "tests/diagnostics/data-type.yaml"),
    (Code::InvalidFunction, "tests/diagnostics/function-arguments.yaml"),
    (Code::InvalidMapping, "tests/diagnostics/requirement-mapping.yaml"),
    (Code::InvalidPlan, "tests/orchestrate/instance_report.rs"),
    (Code::InvalidRefinement, "tests/diagnostics/refine-property.yaml"),
    (Code::InvalidValue, "src/tosca/value/tests.rs"),
    (Code::LogRecovered, "tests/orchestrate/instance_store.rs"),
    (Code::MandatoryExtension, "tests/diagnostics/xml/imports.tosca"),
    (Code::MissingImport, "tests/diagnostics/xml/imports.tosca"),
    (Code::MissingProgram, "tests/instance/run-refused/session.console"),
    (Code::MissingProperty, "src/tosca/value/tests.rs"),
    (Code::MissingRequirement, "tests/diagnostics/requirement-missing.yaml"),
    (Code::MissingSecret, "tests/instance/run-secrets/session.console"),
    (Code::NoOrchestration, "tests/orchestrate/instance_report.rs"),
    (Code::NoProvider, "tests/instance/run-refused/session.console"),
    (Code::NoRunner, "tests/instance/run-refused/session.console"),
    (Code::NoSelection, "tests/substitute/select/session.console"),
    (Code::NoSubstitution, "tests/substitute/04-too-much/session.console"),
    (Code::NothingLeft, "tests/resolve/pruned/session.console"),
    (Code::NotTaken, "tests/instance/run-with/session.console"),
    (Code::NotVisible, "src/orchestrate/instance/query/tests.rs"),
    (Code::OpenInput, "tests/explore/inputs_cases.rs"),
    (Code::OrchestrationOpen, "tests/orchestrate/instance_report.rs"),
    (Code::Pruned, "tests/resolve/pruned/session.console"),
    (Code::ImpossibleComparison, "tests/diagnostics/comparison.yaml"),
    (Code::PlanOrder, "tests/plan/groups/session.console"),
    (Code::PortableArtifact, "tests/diagnostics/portable-artifact.yaml"),
    (Code::PortableMetadata, "tests/diagnostics/portable-metadata.yaml"),
    (Code::PortableNode, "tests/diagnostics/portable-node.yaml"),
    (Code::PortableRelationship, "tests/diagnostics/portable-relationship.yaml"),
    (Code::PortableRequired, "tests/diagnostics/portable-required.yaml"),
    (Code::PortableSchema, "tests/diagnostics/portable-schema.yaml"),
    (Code::PortableVersion, "tests/diagnostics/version-2/portable.yaml"),
    (Code::SensitivePlain, "tests/orchestrate/instance_targets.rs"),
    (Code::StalePlan, "tests/orchestrate/instance_report.rs"),
    (Code::StaleRevision, "tests/orchestrate/instance_store.rs"),
    (Code::StepClaimed, "tests/orchestrate/instance_claims.rs"),
    (Code::StepNotReady, "tests/orchestrate/instance_report.rs"),
    (Code::StoreCorrupt, "tests/orchestrate/instance_store.rs"),
    (Code::StoreLocked, "tests/orchestrate/instance_store.rs"),
    (Code::StoreVersion, "tests/orchestrate/instance_store.rs"),
    (Code::SurplusMapping, "tests/diagnostics/requirement-mapping.yaml"),
    (Code::TooManyRelations, "tests/diagnostics/requirement-surplus.yaml"),
    (Code::TypeClash, "tests/diagnostics/type-clash.yaml"),
    (Code::Undecidable, "src/tosca/value/tests.rs"),
    (Code::UndecidedSubstitution, "tests/substitute/10-filter/session.console"),
    (Code::UnfulfilledRequirement, "tests/substitute/dangling/session.console"),
    (Code::UnknownDefinition, "tests/diagnostics/requirement-name.yaml"),
    (Code::UnknownInstance, "tests/orchestrate/instance_store.rs"),
    (Code::UnknownProperty, "src/tosca/value/tests.rs"),
    (Code::UnknownType, "tests/diagnostics/unknown-type.yaml"),
    (Code::UnmappedRelation, "tests/substitute/06-fewer/session.console"),
    (Code::UnprefixedName, "tests/diagnostics/xml/names.tosca"),
    (Code::Unproven, "tests/limits/optimize.rs"),
    (Code::UnreachableHost, "tests/instance/run-refused/session.console"),
    (Code::UnresolvedAttribute, "src/operate/values.rs"),
    (Code::UnresolvedInstance, "tests/orchestrate/instance_targets.rs"),
    (Code::Usage, "tests/project/json.rs"),
    (Code::ViolatedConstraint, "src/tosca/value/tests.rs"),
];

/// Each code is expected by a case: nobody has seen a code that is not.
#[test]
fn every_code_is_expected_by_a_case() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut expected = BTreeSet::new();
    collect(&root.join("tests/conformance"), &mut expected)?;
    for &(code, test) in ELSEWHERE {
        assert!(
            !expected.contains(code.as_str()),
            "a case expects {code}, so it belongs to resolving"
        );
        let text = std::fs::read_to_string(root.join(test))?;
        let reported = ["error", "warning", "note"].map(|severity| format!("# {severity}[{code}]"));
        let expects = text.contains(&format!("Code::{code:?}"))
            || ["error", "warning", "note"]
                .iter()
                .any(|of| text.contains(&format!("\n{of}[{code}]")))
            || reported.iter().any(|reported| text.contains(reported));
        assert!(expects, "{test} does not expect {code}");
        expected.insert(code.as_str().to_owned());
    }
    let missing: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.as_str())
        .filter(|code| !expected.contains(*code))
        .collect();
    assert!(missing.is_empty(), "no case expects {missing:?}");
    Ok(())
}

fn collect(directory: &Path, expected: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, expected)?;
        } else if path.file_name() == Some("test.yaml".as_ref()) {
            let text = std::fs::read_to_string(&path)?;
            let codes = text.lines().filter_map(|line| {
                line.strip_prefix("error: ").or_else(|| line.strip_prefix("warning: "))
            });
            expected.extend(codes.map(|code| code.trim().to_owned()));
        }
    }
    Ok(())
}
