use super::*;
use crate::diagnostic::Code;
use crate::tosca::types::scope::{Link, Links};
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Limits, parse};
use proptest::prelude::*;
use std::fmt::Write;

fn document(text: &str) -> Document {
    parse(FileId::new(0), text.into(), &Limits::default()).unwrap()
}

fn codes(text: &str) -> Vec<Code> {
    let found = validate_types([&document(text)]).0;
    found.iter().filter_map(|diagnostic| Code::named(diagnostic.code)).collect()
}

#[test]
fn profiles_are_valid() {
    assert!(
        validate_types([profile::normative()]).0.is_empty(),
        "{:#?}",
        validate_types([profile::normative()])
    );
    let both = validate_types([profile::normative(), profile::non_normative()]);
    assert!(both.0.is_empty(), "{both:#?}");
    assert_eq!(Types::of([profile::normative()]).ids().len(), 66);
    assert_eq!(Types::of([profile::non_normative()]).ids().len(), 66 + 12);
}

#[test]
fn normative_types_go_by_all_their_names() {
    let types = Types::of([profile::normative()]);
    let storage = types.find(Family::Node, "tosca.nodes.Abstract.Storage");
    assert!(storage.is_some());
    for name in
        ["AbstractStorage", "tosca:Abstract.Storage", "Abstract.Storage", "tosca:AbstractStorage"]
    {
        assert_eq!(types.find(Family::Node, name), storage, "{name}");
    }
    assert_eq!(types.find(Family::Capability, "AbstractStorage"), None);
    assert_eq!(types.find_data("tosca:version"), Some(TypeRef::Primitive("version")));
    let port = types.find_data("PortDef").unwrap();
    assert_eq!(types.primitive(port), Some("integer"));
    assert!(
        types.derives(port, TypeRef::Primitive("integer"))
            && !types.derives(port, TypeRef::Primitive("string"))
    );
}

#[test]
fn what_somebody_defines_goes_before_other_names_of_normative_types() {
    let document = document("node_types: {Database: {derived_from: tosca.nodes.Database}}");
    let types = Types::of([profile::normative(), &document]);
    let own = types.find(Family::Node, "Database").unwrap();
    assert_eq!(types.definition(own).key.document().file(), FileId::new(0));
    assert_eq!(types.parent(own), types.find(Family::Node, "tosca:Database"));
    assert!(types.diagnostics().0.is_empty());
}

/// Parses documents and asks about their types. The first document is the template, the others are
/// imported: each link has the importing file, the imported file and the prefix.
fn linked(texts: &[&str], links: &[(u32, u32, Option<&str>)], ask: impl FnOnce(&Types<'_>)) {
    let parsed = texts.iter().enumerate().map(|(file, text)| {
        parse(FileId::new(file as u32), (*text).into(), &Limits::default()).unwrap()
    });
    let documents: Vec<_> = parsed.collect();
    let link = |&(from, to, prefix): &(u32, u32, Option<&str>)| Link {
        from: FileId::new(from),
        to: FileId::new(to),
        span: Span { file: FileId::new(from), start: 0, end: 0 },
        prefix: prefix.map(str::to_owned),
        uri: None,
        is_of_2_0: false,
    };
    let links = Links {
        top: Some(FileId::new(0)),
        library: Vec::new(),
        links: links.iter().map(link).collect(),
    };
    ask(&Types::linked(std::iter::once(profile::normative()).chain(&documents), &links, &[]));
}

#[test]
fn a_prefix_is_that_of_an_import() {
    let texts = [
        "node_types: {Store: {derived_from: 'my:Shop'}}",
        "node_types: {Shop: {derived_from: Base}}",
        "node_types: {Base: {derived_from: 'far:Base'}}",
        "node_types: {Base: {}}",
    ];
    linked(&texts, &[(0, 1, Some("my")), (1, 2, None), (2, 3, Some("far"))], |types| {
        let find = |file, name| {
            types
                .find_in(Some(FileId::new(file)), Family::Node, name)
                .map(|id| types.definition(id).key.span().file)
        };
        assert_eq!(types.diagnostics().0, []);
        assert_eq!(find(0, "my:Shop"), Some(FileId::new(1)));
        assert_eq!(find(0, "my:Base"), Some(FileId::new(2)));
        assert_eq!(find(1, "Base"), Some(FileId::new(2)));
        assert_eq!(find(2, "far:Base"), Some(FileId::new(3)));
        for (file, name) in [
            (0, "Shop"),
            (0, "Base"),
            (0, "far:Base"),
            (0, "your:Shop"),
            (1, "my:Shop"),
            (1, "far:Base"),
            (3, "Store"),
        ] {
            assert_eq!(find(file, name), None, "{name} in {file}");
        }
        assert_eq!(find(0, "my:my:Shop"), None);
        assert_eq!(
            types.find(Family::Node, "my:Shop"),
            types.find_in(Some(FileId::new(1)), Family::Node, "Shop")
        );
    });
}

#[test]
fn what_is_imported_twice_or_in_a_circle_is_one() {
    let texts = [
        "imports: []",
        "node_types: {A: {derived_from: C}}",
        "node_types: {B: {derived_from: C}}",
        "node_types: {C: {}}",
    ];
    linked(
        &texts,
        &[(0, 1, None), (0, 2, Some("b")), (1, 3, None), (2, 3, None), (3, 0, None)],
        |types| {
            assert_eq!(types.diagnostics().0, []);
            let [a, b] = ["A", "b:B"].map(|name| types.find(Family::Node, name).unwrap());
            assert_eq!(types.parent(a), types.parent(b));
            assert!(types.parent(a).is_some());
        },
    );
}

#[test]
fn names_clash_where_they_meet() {
    let shop = |property: &str| {
        format!("node_types: {{Shop: {{properties: {{{property}: {{type: string}}}}}}}}")
    };
    let (x, y) = (shop("x"), shop("y"));
    let of_x = format!("namespace: https://x.example\n{x}");
    let (also_of_x, of_y) = (
        format!("namespace: https://x.example\n{y}"),
        format!("namespace: https://y.example\n{y}"),
    );
    for (one, other, prefix, clashes) in [
        (&x, &y, None, true),
        (&x, &x, None, false),
        (&x, &y, Some("y"), false),
        (&of_x, &of_y, None, false),
        (&of_x, &y, None, false),
        (&of_x, &also_of_x, None, true),
        (&of_x, &also_of_x, Some("y"), true),
        (&of_x, &of_x, Some("y"), false),
    ] {
        linked(&["imports: []", one, other], &[(0, 1, None), (0, 2, prefix)], |types| {
            let codes: Vec<_> = types.validate().0.iter().map(|found| found.code).collect();
            assert_eq!(
                codes,
                if clashes { vec![Code::TypeClash] } else { Vec::new() },
                "{one} {other} {prefix:?}"
            );
        });
        linked(&[one, other], &[(0, 1, prefix)], |types| {
            assert_eq!(types.diagnostics().has_errors(), clashes, "{one} {other} {prefix:?}");
            let own = types.find(Family::Node, "Shop").unwrap();
            assert_eq!(types.definition(own).key.span().file, FileId::new(0));
        });
    }
}

#[test]
fn a_namespace_may_stand_in_front_of_a_name() {
    let texts = ["imports: []", "namespace: https://x.example/\nnode_types: {Shop: {}}"];
    linked(&texts, &[(0, 1, Some("x"))], |types| {
        let shop = types.find(Family::Node, "x:Shop");
        assert!(shop.is_some());
        assert_eq!(types.find(Family::Node, "https://x.example/Shop"), shop);
        assert_eq!(types.find(Family::Node, "https://y.example/Shop"), None);
        for name in ["Compute", "tosca.nodes.Compute"] {
            assert_eq!(
                types.find(Family::Node, &format!("{}/{name}", profile::NAMESPACE)),
                types.find(Family::Node, "Compute")
            );
        }
    });
}

#[test]
fn parts_know_where_they_come_from() {
    let types = Types::of([profile::normative(), profile::non_normative()]);
    let server = types.effective(types.find(Family::Node, "WebServer").unwrap());
    let name = |id: TypeId| types.definition(id).name;
    let capabilities: Vec<_> =
        server.capabilities.values().map(|part| (part.named.name, name(part.owner))).collect();
    assert_eq!(
        capabilities,
        [
            ("feature", "tosca.nodes.Root"),
            ("data_endpoint", "tosca.nodes.WebServer"),
            ("admin_endpoint", "tosca.nodes.WebServer"),
            ("host", "tosca.nodes.WebServer")
        ]
    );
    let secure = &server.capabilities["admin_endpoint"].definition.properties["secure"];
    assert_eq!(name(secure.owner), "tosca.capabilities.Endpoint.Admin");
    assert_eq!(name(secure.refines.as_ref().unwrap().owner), "tosca.capabilities.Endpoint");
    let standard = &server.interfaces["Standard"].definition.operations;
    assert_eq!(
        standard.keys().copied().collect::<Vec<_>>(),
        ["create", "configure", "start", "stop", "delete"]
    );
    let host = &server.requirements["host"];
    assert_eq!(name(host.owner), "tosca.nodes.SoftwareComponent");
}

#[test]
fn a_refined_capability_keeps_what_was_said_of_it() {
    let document = document(
        "capability_types: {A: {properties: {x: {type: integer}}}, B: {derived_from: A, properties: {y: {type: string}}}}
node_types:
  N: {capabilities: {c: {type: A, properties: {x: 1}}}}
  M: {derived_from: N, capabilities: {c: {type: B, properties: {y: {default: z}}}}}",
    );
    let types = Types::of([profile::normative(), &document]);
    assert!(types.validate().0.is_empty(), "{:#?}", types.validate());
    let c = &types.effective(types.find(Family::Node, "M").unwrap()).capabilities["c"].definition;
    assert_eq!(c.properties["x"].definition.value.and_then(|value| value.text()), Some("1"));
    assert_eq!(
        c.properties["x"].definition.schema.kind.and_then(|kind| kind.as_str()),
        Some("integer")
    );
    assert_eq!(c.properties["y"].definition.default.and_then(|value| value.text()), Some("z"));
}

#[test]
fn types_that_add_nothing_share_what_they_inherit() {
    let document =
        document("node_types: {A: {properties: {x: {type: string}}}, B: {derived_from: A}}");
    let types = Types::of([&document]);
    let [a, b] = ["A", "B"].map(|name| types.effective(types.find(Family::Node, name).unwrap()));
    assert!(std::sync::Arc::ptr_eq(&a.properties, &b.properties));
}

#[test]
fn cycles_and_long_chains_are_cut() {
    assert_eq!(codes("node_types: {A: {derived_from: A}}"), [Code::CyclicType]);
    assert_eq!(
        codes("node_types: {A: {derived_from: B}, B: {derived_from: C}, C: {derived_from: B}}"),
        [Code::CyclicType]
    );
    let mut chain = "node_types:\n  T0: {}\n".to_owned();
    for index in 1..1000 {
        writeln!(chain, "  T{index}: {{derived_from: T{}}}", index - 1).unwrap();
    }
    assert_eq!(codes(&chain), [Code::InvalidDefinition; 3]);
}

/// No value in the place of a definition causes a panic, whether it is reported or not.
#[test]
fn any_shape_anywhere_is_survived() {
    let wrong = [
        "x",
        "1",
        "null",
        "[]",
        "{}",
        "[1, {a: b}]",
        "{a: {b: c}}",
        "[[]]",
        "{derived_from: None}",
    ];
    let keynames = [
        "derived_from",
        "version",
        "metadata",
        "description",
        "properties",
        "attributes",
        "capabilities",
        "requirements",
        "interfaces",
        "artifacts",
        "inputs",
        "operations",
        "notifications",
        "constraints",
        "key_schema",
        "entry_schema",
        "valid_source_types",
        "valid_target_types",
        "members",
        "targets",
        "triggers",
        "mime_type",
        "file_ext",
    ];
    for family in Family::ALL {
        for shape in wrong {
            survives(&format!("{}: {shape}", family.keyword()));
            survives(&format!("{}: {{T: {shape}}}", family.keyword()));
            for keyname in keynames {
                survives(&format!("{}: {{T: {{{keyname}: {shape}}}}}", family.keyword()));
                survives(&format!("{}: {{T: {{{keyname}: {{p: {shape}}}}}}}", family.keyword()));
                survives(&format!("{}: {{T: {{{keyname}: [{{p: {shape}}}]}}}}", family.keyword()));
            }
        }
    }
}

/// The same as above, for the parts of templates in this grammar.
#[test]
fn any_shape_of_workflows_and_mappings_is_survived() {
    let wrong = [
        "x",
        "1",
        "null",
        "[]",
        "{}",
        "[1, {a: b}]",
        "{a: {b: c}}",
        "[[]]",
        "{and: [{or: 1}]}",
        "[{equal: [1]}]",
    ];
    let workflow = ["inputs", "preconditions", "steps", "implementation", "outputs"];
    let step = ["target", "filter", "activities", "on_success", "on_failure"];
    let activity =
        ["delegate", "set_state", "call_operation", "inline", "workflow", "operation", "inputs"];
    let trigger = ["event", "event_type", "schedule", "target_filter", "condition", "action"];
    let mapping = [
        "node_type",
        "substitution_filter",
        "properties",
        "attributes",
        "capabilities",
        "requirements",
        "interfaces",
    ];
    for shape in wrong {
        let said = |keynames: &[&str], around: &dyn Fn(String) -> String| -> Vec<_> {
            keynames.iter().map(|keyname| around(format!("{{{keyname}: {shape}}}"))).collect()
        };
        let workflows = [
            said(&workflow, &|body| format!("{{w: {body}}}")),
            said(&step, &|body| format!("{{w: {{steps: {{s: {body}}}}}}}")),
            said(&activity, &|body| format!("{{w: {{steps: {{s: {{activities: [{body}]}}}}}}}}")),
            vec![shape.to_owned(), format!("{{w: {shape}}}")],
        ];
        let triggers = [
            said(&trigger, &|body| format!("{{t: {body}}}")),
            vec![shape.to_owned(), format!("{{t: {shape}}}")],
        ];
        let mappings = [
            said(&mapping, &|body| body),
            mapping.iter().map(|keyname| format!("{{{keyname}: {{m: {shape}}}}}")).collect(),
            vec![shape.to_owned()],
        ];
        let mut diagnostics = Diagnostics::default();
        for text in workflows.concat() {
            workflow::workflows(document(&text).root(), &mut diagnostics);
        }
        for text in triggers.concat() {
            workflow::triggers(document(&text).root(), &mut diagnostics);
        }
        for text in mappings.concat() {
            substitution::substitution(document(&text).root(), &mut diagnostics);
        }
        assert!(diagnostics.has_errors(), "{shape}");
    }
}

fn survives(text: &str) {
    let document = document(text);
    Types::of([&document]).validate();
}

proptest! {
    /// The effective default is that of the nearest ancestor, whatever the order of definitions.
    #[test]
    fn the_nearest_ancestor_decides(types in prop::collection::vec((any::<prop::sample::Index>(), 0u8..16), 1..24), reverse: bool) {
        // Each type derives from an earlier one or from none; bit `b` of its mask says whether it
        // gives the property `pb` a default.
        let parents: Vec<_> = types.iter().enumerate().map(|(index, (parent, _))| parent.index(index + 1).checked_sub(1)).collect();
        let define = |index: usize| {
            let parent = parents[index].map(|parent| format!("derived_from: T{parent}, ")).unwrap_or_default();
            let said = (0..4).filter(|bit| types[index].1 >> bit & 1 == 1);
            let said: Vec<_> = said.map(|bit| format!("p{bit}: {{type: integer, default: {index}}}")).collect();
            format!("  T{index}: {{{parent}properties: {{{}}}}}\n", said.join(", "))
        };
        let mut lines: Vec<_> = (0..types.len()).map(define).collect();
        if reverse {
            lines.reverse();
        }
        let document = document(&format!("node_types:\n{}", lines.concat()));
        let all = Types::of([&document]);
        prop_assert!(all.validate().0.is_empty());
        for index in 0..types.len() {
            let id = all.find(Family::Node, &format!("T{index}")).unwrap();
            let chain: Vec<_> = std::iter::successors(Some(index), |index| parents[*index]).collect();
            for bit in 0..4 {
                let saying: Vec<_> = chain.iter().filter(|one| types[**one].1 >> bit & 1 == 1).map(|one| format!("T{one}")).collect();
                let part = all.effective(id).properties.get(&*format!("p{bit}"));
                let known: Vec<_> = std::iter::successors(part, |part| part.refines.as_ref()).map(|part| all.definition(part.owner).name).collect();
                prop_assert_eq!(known, saying);
            }
        }
    }

    /// Occurrences that narrow others allow no additional count.
    #[test]
    fn occurrences_narrow_as_sets(a in (0u64..5, prop::option::of(0u64..5)), b in (0u64..5, prop::option::of(0u64..5))) {
        let document = document("");
        let range = |(min, max): (u64, Option<u64>)| Occurrences { node: document.root(), min, max: max.map(|max| max + min) };
        let (a, b) = (range(a), range(b));
        let allows = |range: &Occurrences<'_>, count: u64| count >= range.min && range.max.is_none_or(|max| count <= max);
        // Beyond a count of 10, only unbounded ranges continue.
        prop_assert_eq!(a.is_within(&b), (0..12).all(|count| !allows(&a, count) || allows(&b, count)));
    }
}
