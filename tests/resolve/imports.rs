//! Tests imports that fixtures cannot contain: absolute paths, mapped URLs, archives, and the
//! results of resolving them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};

const TEMPLATE: &str = "shop/template.yaml";

fn types(name: &str) -> String {
    format!(
        "{{ tosca_definitions_version: tosca_simple_yaml_1_3, node_types: {{ {name}: {{}} }} }}"
    )
}

/// A template with these imports, a node of the type `Shop`, and more lines at the top level.
fn template(imports: &str, top: &str) -> String {
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ {imports} ]
{top}
topology_template: {{ node_templates: {{ shop: {{ type: Shop }} }} }}
"
    )
}

fn files<const N: usize>(template: String, others: [(&str, String); N]) -> MemoryFiles {
    others.into_iter().chain([(TEMPLATE, template)]).collect()
}

fn resolver<const N: usize>(template: String, others: [(&str, String); N]) -> Resolver {
    Resolver::new(TEMPLATE).files(files(template, others))
}

/// The findings of validation, each with its section.
fn said(resolver: &Resolver) -> Vec<String> {
    let found = resolver.validate().diagnostics;
    found
        .iter()
        .map(|found| {
            format!(
                "{}: {} ({})",
                found.code,
                found.message,
                found.rule.as_ref().map_or("", |rule| rule.section)
            )
        })
        .collect()
}

/// The files that resolving reads.
fn read(resolver: &Resolver) -> Vec<String> {
    let resolution = resolver.resolve().unwrap();
    resolution.sources().map(|path| path.display().to_string()).collect()
}

#[test]
fn absolute_paths_and_urls_of_files_are_read() {
    for import in
        ["/types/shop.yaml", "file:///types/shop.yaml", "file://localhost/types/sh%6Fp.yaml"]
    {
        let shop = resolver(template(import, ""), [("/types/shop.yaml", types("Shop"))]);
        assert_eq!(said(&shop), [""; 0], "{import}");
        assert_eq!(read(&shop), [TEMPLATE, "/types/shop.yaml"]);
    }
}

#[test]
fn repositories_are_local_or_mapped() {
    for url in ["../types", "/types", "file:///types", "https://example.com/repository"] {
        let shop = template(
            "{ file: a/shop.yaml, repository: theirs }",
            &format!("repositories: {{ theirs: {{ url: '{url}' }} }}"),
        );
        let shop = resolver(
            shop,
            [("/types/a/shop.yaml", types("Shop")), ("types/a/shop.yaml", types("Shop"))],
        );
        let shop = shop.map("https://example.com/repository/", "types");
        assert_eq!(said(&shop), [""; 0], "{url}");
        assert_eq!(read(&shop).len(), 2, "{url}");
    }
}

#[test]
fn nothing_is_fetched_and_resolving_does_without() {
    let url = "https://example.com/shop.yaml";
    let remote = resolver(template(url, "node_types: { Shop: {} }"), []);
    assert_eq!(
        said(&remote),
        [format!(
            "file: `{url}` is not mapped to a local file, and nothing is fetched (3.6.8.2.4)"
        )]
    );
    let help = remote.validate().diagnostics[0].help.clone();
    assert_eq!(help.unwrap(), format!("name a local copy: `--map {url}=PATH`").into());
    assert_eq!(read(&remote), [TEMPLATE]);
    for import in [
        "file:///nowhere.yaml",
        "{ file: x.yaml, repository: nobody }",
        "{ file: x.yaml, repository: here }",
        "profile",
    ] {
        let shop = resolver(
            template(import, "repositories: { here: types }\nnode_types: { Shop: {} }"),
            [],
        );
        assert_eq!(said(&shop).len(), 1, "{import}");
        assert_eq!(read(&shop), [TEMPLATE], "{import}");
    }
}

#[test]
fn what_the_library_asks_for_is_an_error_only_for_who_validates() {
    let desks = "{ tosca_definitions_version: tosca_simple_yaml_1_3, imports: [ wood.yaml ], \
                 node_types: { Shop: { derived_from: tosca.nodes.Root } } }";
    for import in ["", "lib/desks.yaml"] {
        let shop = resolver(template(import, ""), [("shop/lib/desks.yaml", desks.to_owned())]);
        let resolution = shop.resolve().unwrap();
        let warnings: Vec<_> = resolution.warnings().iter().map(|one| one.code.as_str()).collect();
        assert_eq!(warnings, ["file"], "{import}");
        assert_eq!(said(&shop), ["file: there is no file `wood.yaml` (3.6.8.2.4)"], "{import}");
        assert!(!shop.validate().is_valid(false), "{import}");
    }
    // A broken file leads to no more warnings than a missing one.
    let broken =
        [("shop/lib/desks.yaml", desks.to_owned()), ("shop/lib/wood.yaml", "[".to_owned())];
    let shop = resolver(template("", ""), broken);
    assert_eq!(shop.resolve().unwrap().warnings().len(), 1);
}

/// A URL that is mapped has to be found.
#[test]
fn what_is_mapped_has_to_be_there() {
    let shop = resolver(template("https://example.com/shop.yaml", ""), [])
        .map("https://example.com", "vendor");
    let Failure { diagnostics, .. } = shop.resolve().unwrap_err();
    assert!(diagnostics[0].message.contains("vendor"), "{diagnostics:?}");
    assert_eq!(said(&shop)[0], "file: there is no file `vendor/shop.yaml` (3.6.8.2.4)");
}

#[test]
fn what_a_copy_imports_starts_at_the_copy() {
    let copy = template("../base.yaml", "repositories: { near: '..' }");
    let copy = copy.replace(
        "../base.yaml",
        "../base.yaml, { file: more.yaml, repository: near }, 'https://example.com/far.yaml'",
    );
    let copy = copy.split("topology_template").next().unwrap().to_owned();
    let others = [
        ("vendor/net/shop.yaml", copy),
        ("vendor/base.yaml", types("Shop")),
        ("vendor/more.yaml", types("More")),
        ("far.yaml", types("Far")),
    ];
    let shop = resolver(template("https://example.com/types/net/shop.yaml", ""), others);
    let shop = shop
        .map("https://example.com/types", "vendor")
        .map("https://example.com/far.yaml", "far.yaml");
    assert_eq!(said(&shop), [""; 0]);
    assert_eq!(
        read(&shop),
        [
            TEMPLATE,
            "vendor/net/shop.yaml",
            "vendor/net/../base.yaml",
            "vendor/net/../more.yaml",
            "far.yaml"
        ]
    );
}

#[test]
fn names_of_profiles_can_be_mapped() {
    let shop = resolver(template("shop_profile_1_0", ""), [("profiles/shop.yaml", types("Shop"))]);
    assert_eq!(said(&shop).len(), 2);
    assert_eq!(said(&shop.map("shop_profile_1_0", "profiles/shop.yaml")), [""; 0]);
}

#[test]
fn each_file_is_read_once() {
    let cycle = |other: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [ {other}, ../shop/template.yaml ]\n"
        )
    };
    let others = [
        ("types/a.yaml", cycle("./b.yaml")),
        ("types/b.yaml", cycle("../types/a.yaml") + "node_types: { Shop: {} }"),
    ];
    let shop = resolver(
        template(
            "../types/a.yaml, ../types/b.yaml, { file: ../types/a.yaml, namespace_prefix: a }",
            "",
        ),
        others,
    );
    assert_eq!(said(&shop), [""; 0]);
    assert_eq!(read(&shop), [TEMPLATE, "shop/../types/a.yaml", "shop/../types/b.yaml"]);
}

/// An archive has the files that it needs; only mapped ones are read from elsewhere.
#[test]
fn archives_do_not_lead_out_of_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let text = template("/etc/types, 'https://example.com/shop.yaml'", "");
    std::fs::write(directory.path().join("template.yaml"), text).unwrap();
    std::fs::create_dir(directory.path().join("TOSCA-Metadata")).unwrap();
    let meta = "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: me\nEntry-Definitions: template.yaml\n";
    std::fs::write(directory.path().join("TOSCA-Metadata/TOSCA.meta"), meta).unwrap();
    let bytes = Resolver::new(directory.path()).resolve().unwrap().to_csar().unwrap();
    let types = |name| types(name).into_bytes();
    let outside = [
        ("shop.csar", bytes),
        ("vendor/shop.yaml", types("Shop")),
        ("/etc/types", types("Secret")),
    ];
    let shop = Resolver::new("shop.csar")
        .files(MemoryFiles::from(outside))
        .map("https://example.com", "vendor");
    assert_eq!(
        said(&shop),
        ["file: `/etc/types` is neither a file nor a profile that is known (3.6.8.2.4)"]
    );
    assert_eq!(read(&shop), ["shop.csar", "vendor/shop.yaml"]);
}

#[test]
fn dependencies_count_as_if_they_lay_beside_the_template() {
    let shop = |config: &str, library: &str| {
        let others = [("shop/config.yaml", config.to_owned()), ("wood/lib/a.yaml", library.into())];
        resolver(template("lib/a.yaml", ""), others)
    };
    let config = "dependencies: [ { source: ../wood/lib } ]";
    let fine = shop(config, &types("Shop"));
    assert_eq!(said(&fine), [""; 0]);
    // Files of dependencies are named by their real paths, where people and tools look for them.
    assert_eq!(read(&fine), [TEMPLATE, "shop/config.yaml", "wood/lib/a.yaml"]);
    let broken = "{ tosca_definitions_version: tosca_simple_yaml_1_3, node_types: [ }";
    let Failure { diagnostics, sources } = shop(config, broken).resolve().unwrap_err();
    let place = sources.place(diagnostics[0].span.unwrap());
    assert!(place.starts_with("wood/lib/a.yaml:1:"), "{place}");
}

#[test]
fn dependencies_that_are_not_at_hand_are_warnings() {
    let warned = |config: &str| {
        let template = "tosca_definitions_version: tosca_simple_yaml_1_3\n".to_owned();
        let shop = resolver(template, [("shop/config.yaml", config.to_owned())]);
        let resolution = shop.resolve().unwrap();
        let warnings = resolution.warnings().iter();
        warnings.map(|one| one.one_line(resolution.source_map())).collect::<Vec<_>>()
    };
    for remote in ["https://example.com/lib", "git@example.com:wood/lib", "../wood.git"] {
        let warnings = warned(&format!("dependencies: [ {{ source: '{remote}' }} ]"));
        let place = "shop/config.yaml:1:27: warning[file]";
        let why = "is not fetched: of dependencies only local directories count";
        assert_eq!(warnings, [format!("{place}: `{remote}` {why}")]);
    }
    for missing in ["../nowhere", "..", "template.yaml"] {
        let warnings = warned(&format!("dependencies: [ {{ source: {missing} }} ]"));
        assert_eq!(warnings.len(), 1, "{missing}");
        let why = format!("`{missing}` is no directory that could lie beside the template");
        assert!(warnings[0].ends_with(&why), "{warnings:?}");
    }
    assert_eq!(warned("dependencies: [").len(), 1);
    // Other tools use files of this name as well, with other contents.
    for others in ["", "a: [", "dependencies: { wood: 1.0 }", "dependencies: [ wood, { name: x } ]"]
    {
        assert_eq!(warned(others), [""; 0], "{others}");
    }
}

#[test]
fn types_show_what_is_behind_a_prefix() {
    let shop = resolver(
        template("{ file: ../types.yaml, namespace_prefix: my }", ""),
        [("types.yaml", types("Shop"))],
    );
    assert_eq!(said(&shop), ["unknown-type: there is no node type `Shop` (3.7.9)"]);
    assert_eq!(shop.validate().diagnostics[0].help.as_deref(), Some("it is imported as `my:Shop`"));
    let found = shop.effective_types("my:Shop").unwrap().result;
    assert_eq!(found[0].entry.place, "shop/../types.yaml:1:67");
    // The name that the file of the type has for it leads there, too.
    assert_eq!(shop.effective_types("Shop").unwrap().result, found);
}

/// An import whose condition never holds adds nothing.
#[test]
fn absent_imports_are_not_read() {
    let text = "tosca_definitions_version: tosca_variability_1_0
imports:
  - { file: none.yaml, conditions: { equal: [ { variability_input: kind }, far ] } }
  - { file: also-none.yaml, conditions: false }
topology_template:
  variability:
    inputs: { kind: { type: string, constraints: [ valid_values: [ near, far ] ] } }
  node_templates: { machine: { type: tosca.nodes.Compute } }
";
    let shop = resolver(text.to_owned(), []);
    assert_eq!(said(&shop.clone().input("kind", "near")), [""; 0]);
    assert_eq!(said(&shop), ["file: there is no file `none.yaml` (3.6.8.2.4)"]);
    assert!(shop.clone().input("kind", "near").resolve().is_ok());
    assert!(shop.input("kind", "near").types().is_ok());
}
