//! Tests archives from outside: what is read from them, what is refused, and what is written into
//! them.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot make its archives has failed")]

use cuvee::diagnostic::Code;
use cuvee::source::csar::{Archive, Limits};
use cuvee::source::{FileSystem, MemoryFiles};
use cuvee::{Failure, Resolver};
use proptest::prelude::*;
use snapbox::cmd::{Command, cargo_bin};
use snapbox::{IntoData, str};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const META: &str = "\
TOSCA-Meta-File-Version: 1.1
CSAR-Version: 1.1
Created-By: A tea merchant
Entry-Definitions: definitions/shop.yaml
";

const SHOP: &str = "\
tosca_definitions_version: tosca_variability_1_0
imports:
  - ../lib/types.yaml
topology_template:
  variability:
    inputs:
      backup: { type: boolean, default: false }
    presets:
      prod:
        inputs: { backup: true }
    options: { mode: semantic-loose }
  node_templates:
    shop:
      type: Shop
      persistent: true
    backup:
      type: Backup
      persistent: true
      conditions: { variability_input: backup }
";

const PROD: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
imports:
  - ../lib/types.yaml
topology_template:
  node_templates:
    shop:
      type: Shop
    backup:
      type: Backup
";

const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop: {}
  Backup: { derived_from: Shop }
";

const FILES: [(&str, &str); 4] = [
    ("TOSCA-Metadata/TOSCA.meta", META),
    ("definitions/shop.yaml", SHOP),
    ("lib/types.yaml", TYPES),
    ("scripts/brew.sh", "#!/bin/sh\necho tea\n"),
];

fn zip<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(name, SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An archive of the files above, with some of them replaced or added; empty ones are left out.
fn shop_with<'f>(others: &[(&'f str, &'f str)]) -> Vec<u8> {
    let mut files = BTreeMap::from(FILES);
    files.extend(others.iter().copied());
    zip(files.into_iter().filter(|(_, text)| !text.is_empty()))
}

fn resolver(bytes: Vec<u8>) -> Resolver {
    Resolver::new("shop.csar").files(MemoryFiles::from([("shop.csar", bytes)]))
}

/// The errors in an archive, a line each.
fn wrong(bytes: Vec<u8>) -> String {
    resolver(bytes).resolve().unwrap_err().to_string()
}

/// Why an archive is refused before any entry is read.
fn refusals(bytes: Vec<u8>, limits: &Limits) -> Vec<String> {
    let refused = Archive::new("shop.csar", bytes, limits).unwrap_err().0;
    assert!(refused.iter().all(|diagnostic| diagnostic.code == Code::Csar));
    refused
        .into_iter()
        .map(|diagnostic| diagnostic.message.replace("`shop.csar` is refused: ", ""))
        .collect()
}

fn refusal(bytes: Vec<u8>) -> String {
    refusals(bytes, &Limits::default()).join("\n")
}

/// Every file of an archive.
fn unzip(bytes: Vec<u8>) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let count = zip.len();
    let read = |index| {
        let mut file = zip.by_index(index).unwrap();
        let mut content = Vec::new();
        std::io::copy(&mut file, &mut content).unwrap();
        (file.name().unwrap().into_owned(), content)
    };
    (0..count).map(read).collect()
}

fn text_of(files: &[(String, Vec<u8>)], name: &str) -> String {
    let (_, content) = files.iter().find(|(other, _)| other == name).unwrap();
    String::from_utf8(content.clone()).unwrap()
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// Replaces bytes wherever they occur. Both have the same length, so that nothing moves.
fn patched(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Changes a field in every local header and in every header of the directory, at the given
/// offsets.
fn headers_patched(mut bytes: Vec<u8>, local: usize, central: usize, field: &[u8]) -> Vec<u8> {
    for (signature, offset) in [(b"PK\x03\x04", local), (b"PK\x01\x02", central)] {
        for at in 0..bytes.len() {
            if bytes[at..].starts_with(signature) {
                bytes[at + offset..at + offset + field.len()].copy_from_slice(field);
            }
        }
    }
    bytes
}

mod reads {
    use super::*;

    #[test]
    fn the_template_that_the_metadata_name() {
        let resolution = resolver(shop_with(&[])).preset("prod").resolve().unwrap();
        assert_eq!(resolution.to_yaml(), PROD);
        // The disk has only the archive, so a build script watches that.
        assert_eq!(resolution.sources().collect::<Vec<_>>(), [Path::new("shop.csar")]);
    }

    #[test]
    fn the_only_template_at_the_root() {
        let shop = SHOP.replace(
            "imports:\n  - ../",
            "metadata: { template_name: shop, template_version: 1.0 }\nimports:\n  - ",
        );
        let bytes = zip([
            ("shop.yml", shop.as_str()),
            ("lib/types.yaml", TYPES),
            ("tests/dev/inputs.yaml", "{}"),
        ]);
        assert!(resolver(bytes).resolve().unwrap().to_yaml().contains("template_version: 1.0"));
    }

    #[test]
    fn every_version_and_spelling_of_metadata() {
        let old = "TOSCA-Meta-Version: 1.0\r\nCSAR-Version: 1.0\r\nEntry-Definitions:\r\n  definitions/shop.yaml";
        assert!(resolver(shop_with(&[(FILES[0].0, old)])).resolve().is_ok());
    }

    #[test]
    fn inputs_and_presets_from_outside() {
        let files = MemoryFiles::from([
            ("a/shop.csar", shop_with(&[])),
            ("in.yaml", b"backup: true".to_vec()),
        ]);
        let resolver = Resolver::new("a/shop.csar").files(files);
        assert_eq!(resolver.preset_names().unwrap(), ["prod"]);
        assert_eq!(resolver.clone().inputs_file("in.yaml").resolve().unwrap().to_yaml(), PROD);
        assert!(resolver.effective_options().is_ok());
    }

    #[test]
    fn a_path_in_it_as_any_other() {
        let archive = Archive::new("shop.csar", shop_with(&[]), &Limits::default()).unwrap();
        let path = |name: &str| archive.root().join(name);
        assert_eq!(
            archive.read(&path("definitions/../lib/./types.yaml")).unwrap(),
            TYPES.as_bytes()
        );
        assert_eq!(archive.size(&path("lib/types.yaml")).unwrap(), TYPES.len() as u64);
        assert!(
            archive.is_dir(archive.root())
                && archive.is_dir(&path("lib"))
                && !archive.is_dir(&path("lib/types.yaml"))
        );
        assert!(!archive.is_file(&path("lib")) && archive.read(&path("lib")).is_err());
        assert_eq!(archive.list(&path("lib")).unwrap(), [path("lib/types.yaml")]);
        let listed = ["TOSCA-Metadata", "definitions", "lib", "scripts"].map(path);
        assert_eq!(archive.list(archive.root()).unwrap(), listed);
        for outside in
            ["shop.csar", "/etc/hostname", "shop.csar:/../shop.csar", "shop.csar:/lib/../../x"]
        {
            assert!(
                archive.read(outside.as_ref()).is_err() && archive.list(outside.as_ref()).is_err(),
                "{outside}"
            );
        }
    }
}

mod says_what_is_wrong {
    use super::*;

    #[test]
    fn with_the_place_in_the_archive() {
        let bytes = shop_with(&[(
            "definitions/shop.yaml",
            &SHOP.replace("type: Backup\n", "typ: Backup\n"),
        )]);
        assert!(wrong(bytes).starts_with(
            "shop.csar:/definitions/shop.yaml:17:7: error[unknown-keyword]: `typ` is not a keyname"
        ));
        let bytes = shop_with(&[("lib/types.yaml", "tosca_definitions_version: [")]);
        assert!(
            wrong(bytes)
                .starts_with("shop.csar:/definitions/../lib/types.yaml:1:28: error[syntax]")
        );
    }

    #[test]
    fn with_an_import_that_leaves_the_archive() {
        for import in ["../../outside.yaml", "/etc/outside.yaml", "../../shop.csar:/lib/types.yaml"]
        {
            let shop = SHOP.replace("../lib/types.yaml", import);
            let files = [
                ("shop.csar", shop_with(&[("definitions/shop.yaml", &shop)])),
                ("outside.yaml", TYPES.into()),
            ];
            let failure =
                Resolver::new("shop.csar").files(MemoryFiles::from(files)).resolve().unwrap_err();
            let place = "shop.csar:/definitions/shop.yaml:3:5: error[file]: cannot read";
            assert!(
                failure.to_string().starts_with(place) || import.contains("csar:"),
                "{failure}"
            );
            assert!(
                failure.to_string().contains("it is not in the archive")
                    || import.contains("csar:"),
                "{failure}"
            );
        }
    }

    #[test]
    fn with_metadata() {
        let meta = |text: &str| wrong(shop_with(&[("TOSCA-Metadata/TOSCA.meta", text)]));
        let all = meta(
            "CSAR-Version: 9.9\nEntry-Definitions: definitions/none.yaml\nOther-Definitions: a.yaml \"scripts/brew.sh\"\n",
        );
        snapbox::assert_data_eq!(
            all,
            str![[r#"
shop.csar:/TOSCA-Metadata/TOSCA.meta:3:1: error[csar]: the first block of `TOSCA-Metadata/TOSCA.meta` has no `TOSCA-Meta-File-Version`
shop.csar:/TOSCA-Metadata/TOSCA.meta:1:1: error[csar]: `CSAR-Version` is `9.9`, which cannot be read
shop.csar:/TOSCA-Metadata/TOSCA.meta:2:1: error[csar]: `Entry-Definitions` names `definitions/none.yaml`, which is not there
shop.csar:/TOSCA-Metadata/TOSCA.meta:3:1: error[csar]: `Other-Definitions` names `a.yaml`, which is not there
shop.csar:/TOSCA-Metadata/TOSCA.meta:3:1: error[csar]: `Other-Definitions` names `scripts/brew.sh`, which is no YAML file
"#]]
            .raw()
        );
        let twice = "TOSCA-Meta-File-Version: 1.1\nTOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nEntry-Definitions: lib/types.yaml\n";
        assert!(
            meta(twice)
                .contains("TOSCA.meta:2:1: error[csar]: `TOSCA-Meta-File-Version` is there twice")
        );
        assert!(
            wrong(zip([("TOSCA-Metadata/other", ""), ("shop.yaml", SHOP)]))
                .contains("there is no `shop.csar:/TOSCA-Metadata/TOSCA.meta`")
        );
        assert!(meta("\u{1}\u{2}").contains("TOSCA.meta:1:1: error[csar]"));
        assert!(meta("CSAR-Version: \u{1b}[2J").contains("is `\\u{1b}[2J`"));
        let large = [("shop/TOSCA-Metadata/TOSCA.meta", META.repeat(10_000))];
        let error = Resolver::new("shop")
            .files(MemoryFiles::from(large))
            .resolve()
            .unwrap_err()
            .to_string();
        assert_eq!(error, "error[csar]: `shop/TOSCA-Metadata/TOSCA.meta` is larger than 1 MiB");
    }

    #[test]
    fn without_metadata() {
        assert!(wrong(zip([])).contains("there is no YAML file at its root"));
        assert!(
            wrong(zip([("shop/shop.yaml", SHOP)])).contains("there is no YAML file at its root")
        );
        assert!(
            wrong(zip([("a.yaml", SHOP), ("b.yml", SHOP)]))
                .contains("there is more than one YAML file at its root")
        );
        let unnamed = wrong(zip([
            ("shop.yaml", SHOP.replace("../lib", "lib").as_str()),
            ("lib/types.yaml", TYPES),
        ]));
        let expected = "shop.csar:/shop.yaml:1:1: error[csar]: without `TOSCA-Metadata/TOSCA.meta` the template needs metadata, \
                        which lack `template_name` and `template_version`";
        assert_eq!(unnamed, expected);
    }

    #[test]
    fn with_what_is_no_archive() {
        for bytes in [Vec::new(), b"PK".to_vec(), SHOP.into(), vec![0; 100_000]] {
            assert!(refusal(bytes).starts_with("it is no zip file that can be read"));
        }
        let whole = shop_with(&[]);
        assert!(refusal(whole[..whole.len() - 1].to_vec()).starts_with("it is no zip file"));
        assert!(refusal(whole[1..].to_vec()).starts_with("it is no zip file"));
        let missing =
            Resolver::new("none.csar").files(MemoryFiles::default()).resolve().unwrap_err();
        assert_eq!(missing.diagnostics[0].code, Code::File);
    }
}

mod refuses {
    use super::*;

    #[test]
    fn names_that_leave_the_archive() {
        for (name, why) in [
            ("../shop.yaml", "leads out of its directory by `..`"),
            ("lib/../../shop.yaml", "leads out of its directory by `..`"),
            ("/etc/shop.yaml", "is an absolute path"),
            ("C:/shop.yaml", "is an absolute path"),
            ("lib\\shop.yaml", "contains a backslash; parts of a path are separated by `/`"),
            ("lib//shop.yaml", "has a part without a name"),
        ] {
            let refused = refusal(zip([(name, "")]));
            assert_eq!(refused, format!("its entry `{}` {why}", name.escape_debug()));
        }
        // Characters that would move the cursor of a terminal are escaped.
        assert_eq!(
            refusal(zip([("a\u{1b}[2Jb", "")])),
            "its entry `a\\u{1b}[2Jb` contains a control character"
        );
    }

    #[test]
    fn names_that_are_there_twice() {
        let twice = patched(zip([("a.yaml", "1"), ("b.yaml", "2")]), b"b.yaml", b"a.yaml");
        assert_eq!(refusal(twice), "two of its entries have the same name");
        assert_eq!(
            refusal(zip([("a.yaml", "1"), ("./a.yaml", "2")])),
            "its entry `./a.yaml` is there twice"
        );
        assert_eq!(
            refusal(zip([("a", "1"), ("a/b", "2")])),
            "its entry `a/b` is in a directory that is a file"
        );
        assert_eq!(
            refusal(zip([("a/b", "1"), ("a", "2")])),
            "its entry `a` is a file and a directory"
        );
    }

    #[test]
    fn what_is_no_plain_file() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_symlink("lib/types.yaml", "/etc/passwd", SimpleFileOptions::DEFAULT).unwrap();
        let link = zip.finish().unwrap().into_inner();
        assert_eq!(refusal(link.clone()), "its entry `lib/types.yaml` is a link or a device");
        let device = patched(link, &[0xff, 0xa1], &[0xff, 0x21]);
        assert_eq!(refusal(device), "its entry `lib/types.yaml` is a link or a device");
    }

    #[test]
    fn encryption_and_rare_compressions() {
        let plain = zip([("a.yaml", "tea")]);
        assert_eq!(
            refusal(headers_patched(plain.clone(), 6, 8, &[1, 0])),
            "its entry `a.yaml` is encrypted"
        );
        let bzip2 = refusal(headers_patched(plain, 8, 10, &[12, 0]));
        assert!(bzip2.starts_with("its entry `a.yaml` is compressed by "), "{bzip2}");
    }

    #[test]
    fn headers_that_contradict_each_other() {
        let bytes = zip([("a.yaml", "tea")]);
        let central = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        let (local, directory) = bytes.split_at(central);
        let cloaked = [local, &patched(directory.to_vec(), b"a.yaml", b"b.yaml")].concat();
        assert!(refusal(cloaked).contains("header inconsistency"));
    }

    #[test]
    fn entries_that_share_their_bytes() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(b"tea").unwrap();
        zip.shallow_copy_file("a", "b").unwrap();
        assert!(refusal(zip.finish().unwrap().into_inner()).contains("header inconsistency"));
    }

    #[test]
    fn bombs() {
        let zeros = "\0".repeat(8 << 20);
        let refused = refusal(zip([("zeros", zeros.as_str())]));
        assert!(
            refused.starts_with("its entry `zeros` would become ")
                && refused.ends_with("200 are allowed"),
            "{refused}"
        );
        // The size that an entry claims limits how much is unpacked.
        let real = u32::try_from(zeros.len()).unwrap().to_le_bytes();
        let liar = patched(zip([("zeros", zeros.as_str())]), &real, &1000_u32.to_le_bytes());
        let archive = Archive::new("shop.csar", liar, &Limits::default()).unwrap();
        let error = archive.read("shop.csar:/zeros".as_ref()).unwrap_err();
        assert_eq!(error.to_string(), "File is larger than its declared uncompressed size");
        let braggart =
            patched(zip([("tea", "tea")]), &[5, 0, 0, 0, 3, 0, 0, 0], &[5, 0, 0, 0, 4, 0, 0, 0]);
        let archive = Archive::new("shop.csar", braggart, &Limits::default()).unwrap();
        let error = archive.read("shop.csar:/tea".as_ref()).unwrap_err();
        assert_eq!(error.to_string(), "its size is not what the archive claims");
        // A large size that an entry claims does not make the reader reserve memory.
        let larger = patched(
            zip([("zeros", "\0\0\0")]),
            &[5, 0, 0, 0, 3, 0, 0, 0],
            &[5, 0, 0, 0, 0, 0, 0, 0x0f],
        );
        assert!(refusal(larger).contains("would become"));
    }

    #[test]
    fn what_passes_a_limit() {
        let bytes = zip([("a", "12345"), ("b", "12345")]);
        let limited = |limits: Limits| refusals(bytes.clone(), &limits).join("\n");
        let none = Limits::default;
        assert_eq!(limited(Limits { entries: 1, ..none() }), "it has 2 entries, 1 are allowed");
        let entries = "its entry `a` is larger than 0 MiB\nits entry `b` is larger than 0 MiB";
        assert_eq!(limited(Limits { entry: 4, ..none() }), entries);
        assert_eq!(
            limited(Limits { total: 9, ..none() }),
            "its entries are larger than 0 MiB together"
        );
        let files = MemoryFiles::from([("shop.csar", bytes.clone())]);
        let large = Archive::open(&files, "shop.csar".as_ref(), &Limits { archive: 9, ..none() })
            .unwrap_err();
        assert_eq!(large.0[0].message, "`shop.csar` is refused: it is larger than 0 MiB");
        assert!(
            Archive::new("shop.csar", bytes, &Limits { entries: 2, entry: 5, total: 10, ..none() })
                .is_ok()
        );
    }

    #[test]
    fn more_entries_than_it_has_room_for() {
        // An end record of zip64 that claims 2^62 entries, its locator, and the ordinary end
        // record.
        let mut bytes = b"PK\x06\x06".to_vec();
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for field in [1_u64 << 62, 1 << 62, 46 << 56, 0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0");
        bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        assert_eq!(refusal(bytes), "it is in the zip64 form, which only larger archives need");
    }

    #[test]
    fn everything_at_once_but_not_without_end() {
        let names: Vec<_> = (0..1000).map(|number| format!("../{number}")).collect();
        assert_eq!(
            refusals(zip(names.iter().map(|name| (name.as_str(), ""))), &Limits::default()).len(),
            20
        );
    }
}

mod tarballs {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, EntryType, Header};

    fn add(tar: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, content: &[u8]) {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }

    fn tar<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Vec<u8> {
        let mut tar = Builder::new(Vec::new());
        for (name, text) in files {
            add(&mut tar, name, EntryType::Regular, text.as_bytes());
        }
        tar.into_inner().unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    fn entry(name: &str, kind: EntryType) -> Vec<u8> {
        let mut tar = Builder::new(Vec::new());
        add(&mut tar, name, kind, b"");
        tar.into_inner().unwrap()
    }

    /// What `tar -cf shop.tar .` writes.
    fn shop() -> Vec<u8> {
        let mut tar = Builder::new(Vec::new());
        add(&mut tar, "./", EntryType::Directory, b"");
        add(&mut tar, "./lib/", EntryType::Directory, b"");
        for (name, text) in FILES {
            add(&mut tar, &format!("./{name}"), EntryType::Regular, text.as_bytes());
        }
        tar.into_inner().unwrap()
    }

    #[test]
    fn are_read_as_zip_files_are() {
        let resolved = |name: &str, bytes: Vec<u8>| {
            let files = MemoryFiles::from([(name, bytes)]);
            Resolver::new(name).files(files).preset("prod").resolve().unwrap()
        };
        let zipped = resolved("shop.csar", shop_with(&[]));
        for name in ["shop.tar", "shop.csar", "SHOP.TAR", "shop.zip"] {
            assert_eq!(resolved(name, shop()).to_yaml(), zipped.to_yaml(), "{name}");
        }
        for name in ["shop.tar.gz", "shop.tgz", "shop.csar"] {
            let tarball = resolved(name, gzip(&shop()));
            assert_eq!(tarball.to_yaml(), zipped.to_yaml(), "{name}");
            assert_eq!(unzip(tarball.to_csar().unwrap()), unzip(zipped.to_csar().unwrap()));
        }
    }

    #[test]
    fn what_is_unsafe_is_refused() {
        let cases = [
            (tar([("../a", "")]), "its entry `../a` leads out of its directory by `..`"),
            (tar([("/a", "")]), "its entry `/a` is an absolute path"),
            (tar([("a", ""), ("./a", "")]), "its entry `./a` is there twice"),
            (tar([("a", ""), ("a/b", "")]), "its entry `a/b` is in a directory that is a file"),
            (
                entry("a", EntryType::Symlink),
                "its entry `a` is a link, a device or of another rare kind",
            ),
            (
                entry("a", EntryType::Char),
                "its entry `a` is a link, a device or of another rare kind",
            ),
            (gzip(&vec![0; 8 << 20]), "it would become more than 200 times larger"),
            (gzip(b""), "it is no tarball that can be read: it has no entries"),
        ];
        for (bytes, why) in cases {
            assert_eq!(refusal(bytes), why);
        }
        let short = gzip(&shop());
        assert!(refusal(short[..short.len() / 2].to_vec()).starts_with("it is no gzip file"));
        let none = Archive::new("shop.tar", SHOP.into(), &Limits::default()).unwrap_err();
        assert!(none.0[0].message.starts_with("`shop.tar` is refused: it is no tarball"));
    }

    #[test]
    fn limits_hold() {
        let bytes = tar([("a", "12345"), ("b", "12345")]);
        let limited = |limits: Limits| refusals(bytes.clone(), &limits).join("\n");
        let none = Limits::default;
        assert_eq!(limited(Limits { entries: 1, ..none() }), "it has more than 1 entries");
        let entries = "its entry `a` is larger than 0 MiB\nits entry `b` is larger than 0 MiB";
        assert_eq!(limited(Limits { entry: 4, ..none() }), entries);
        let total = "its entries are larger than 0 MiB together";
        assert_eq!(limited(Limits { total: 9, ..none() }), total);
        assert_eq!(refusals(gzip(&bytes), &Limits { total: 9, ..none() }), [total]);
        let limits = Limits { entries: 2, entry: 5, total: 10, ..none() };
        assert!(Archive::new("shop.tar", bytes, &limits).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn nothing_panics_on_a_broken_one(
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in proptest::option::of(any::<prop::sample::Index>()),
            is_packed in any::<bool>(),
        ) {
            let mut bytes = if is_packed { gzip(&shop()) } else { shop() };
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Ok(archive) = Archive::new("shop.tar", bytes, &Limits::default()) {
                walk(&archive);
            }
        }
    }
}

mod writes {
    use super::*;

    fn packed(bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
        resolver(bytes).preset("prod").resolve().unwrap().to_csar()
    }

    #[test]
    fn the_result_among_the_other_files() {
        let files = unzip(packed(shop_with(&[])).unwrap());
        assert_eq!(
            names(&files),
            [
                "TOSCA-Metadata/TOSCA.meta",
                "definitions/shop.yaml",
                "lib/types.yaml",
                "scripts/brew.sh"
            ]
        );
        assert_eq!(text_of(&files, "TOSCA-Metadata/TOSCA.meta"), META);
        assert_eq!(text_of(&files, "definitions/shop.yaml"), PROD);
        assert_eq!(text_of(&files, "scripts/brew.sh"), FILES[3].1);
    }

    #[test]
    fn the_same_bytes_whatever_it_comes_from() {
        let first = packed(shop_with(&[])).unwrap();
        assert_eq!(first, packed(shop_with(&[])).unwrap());
        let unordered = zip(FILES.into_iter().rev());
        assert_eq!(first, packed(unordered).unwrap());
        // From a directory, and from an archive that was written.
        let directory =
            MemoryFiles::from_iter(FILES.map(|(name, text)| (format!("shop/{name}"), text)));
        let resolution = Resolver::new("shop").files(directory).preset("prod").resolve().unwrap();
        assert_eq!(first, resolution.to_csar().unwrap());
        assert_eq!(first, resolver(first.clone()).resolve().unwrap().to_csar().unwrap());
        // Every byte of a header is fixed: version 2.0 by Unix, 1980-01-01, deflated, rw-r--r--.
        assert_eq!(&first[..14], b"PK\x03\x04\x14\0\0\0\x08\0\0\0\x21\0");
        let central = first.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        assert_eq!(&first[central + 38..central + 42], &(0o100_644_u32 << 16).to_le_bytes());
    }

    #[test]
    fn metadata_where_there_were_none() {
        let shop = SHOP.replace(
            "imports:\n  - ../",
            "metadata: { template_name: shop, template_version: 1.0, template_author: \"A tea\\nmerchant\" }\nimports:\n  - ",
        );
        let files =
            unzip(packed(zip([("shop.yaml", shop.as_str()), ("lib/types.yaml", TYPES)])).unwrap());
        assert_eq!(names(&files), ["TOSCA-Metadata/TOSCA.meta", "lib/types.yaml", "shop.yaml"]);
        let meta = META.replace("definitions/", "");
        assert_eq!(text_of(&files, "TOSCA-Metadata/TOSCA.meta"), meta);
    }

    #[test]
    fn metadata_that_are_still_true() {
        let about = |file: &str| format!("\nName: {file}\nHash: 00\n");
        let (script, shop) = (about("scripts/brew.sh"), about("definitions/shop.yaml"));
        let more = "Other-Definitions: \"lib/types.yaml\"\nMerchant-Licence: free\n";
        let files = unzip(
            packed(shop_with(&[(FILES[0].0, &format!("{META}{more}{shop}{script}"))])).unwrap(),
        );
        let expected =
            format!("{META}Other-Definitions: lib/types.yaml\nMerchant-Licence: free\n{script}");
        assert_eq!(text_of(&files, FILES[0].0), expected);
    }

    #[test]
    fn no_other_variable_template() {
        let types = TYPES.replace("tosca_simple_yaml_1_3", "'tosca_variability_1_0' # ours");
        let variable = SHOP.replace("tosca_variability_1_0", "tosca_simple_yaml_1_3");
        let files = unzip(
            packed(shop_with(&[
                ("lib/types.yaml", &types),
                ("other/variable.yaml", &variable),
                (
                    "other/versioned.yaml",
                    "tosca_definitions_version: tosca_variability_1_0\ntopology_template: {}\n",
                ),
                ("other/plain.yaml", PROD),
                ("other/playbook.yaml", "- hosts: [\n"),
                (".keep", "hidden"),
            ]))
            .unwrap(),
        );
        let left = [
            "definitions/shop.yaml",
            "lib/types.yaml",
            "other/plain.yaml",
            "other/playbook.yaml",
            "scripts/brew.sh",
        ];
        assert_eq!(names(&files)[2..], left);
        assert_eq!(
            text_of(&files, "lib/types.yaml"),
            TYPES.replace("tosca_simple_yaml_1_3", "tosca_simple_yaml_1_3 # ours")
        );
    }

    #[test]
    fn nothing_that_lacks_what_it_needs() {
        let needs = |types: &str, others: &[(&str, &str)]| {
            let mut files = vec![("lib/types.yaml", types)];
            files.extend(others);
            packed(shop_with(&files)).unwrap_err().to_string()
        };
        let importing = format!("imports: [more.yaml]\n{TYPES}");
        let variable = SHOP
            .replace("../lib/", "")
            .replace("    shop:", "    till:")
            .replace("    backup:", "    store:");
        let error = needs(&importing, &[("lib/more.yaml", &variable)]);
        assert_eq!(
            error,
            "error[csar]: the archive would not hold `lib/more.yaml`, which `lib/types.yaml` needs"
        );
        let other = format!("{META}Other-Definitions: other.yaml\n");
        let error = needs(TYPES, &[(FILES[0].0, &other), ("other.yaml", SHOP)]);
        assert_eq!(
            error,
            "error[csar]: the archive would not hold `other.yaml`, which `TOSCA-Metadata/TOSCA.meta` needs"
        );

        let outside = [("shop/template.yaml", SHOP), ("lib/types.yaml", TYPES)];
        let resolution = Resolver::new("shop").files(MemoryFiles::from(outside)).resolve().unwrap();
        let error = resolution.to_csar().unwrap_err().to_string();
        assert_eq!(
            error,
            "error[csar]: the archive would not hold `../lib/types.yaml`, which `template.yaml` needs"
        );
        let alone = Resolver::new("shop/template.yaml")
            .files(MemoryFiles::from(outside))
            .resolve()
            .unwrap();
        let error = alone.to_csar().unwrap_err();
        assert!(
            error.to_string().contains("no archive can be made of `shop/template.yaml`"),
            "{error}"
        );
    }

    #[test]
    fn tests_and_what_is_hidden_where_they_are_asked_for() {
        let extras = [
            (".git/config", ""),
            (".hidden", ""),
            ("definitions/tests/prod/inputs.yaml", "{}"),
            ("tests/prod/inputs.yaml", "{}"),
        ];
        let others = [("old.csar", ""), ("scripts/tests/brew.sh", "")];
        let all = || FILES.into_iter().chain(extras).chain(others);
        let in_directory = all().map(|(name, text)| (format!("shop/{name}"), text));
        let directory =
            Resolver::new("shop").files(MemoryFiles::from_iter(in_directory)).resolve().unwrap();
        let in_archive = resolver(zip(all())).resolve().unwrap();

        let sorted = |names: Vec<&'static str>| -> Vec<_> {
            let mut names: Vec<_> = names.into_iter().filter(|name| *name != FILES[0].0).collect();
            names.sort_unstable();
            [&[FILES[0].0], &*names].concat()
        };
        let kept: Vec<_> =
            FILES.iter().map(|(name, _)| *name).chain(["scripts/tests/brew.sh"]).collect();
        let with = |more: &[&'static str]| sorted([&*kept, more].concat());
        let names_of = |bytes: Result<Vec<u8>, Failure>| -> Vec<String> {
            names(&unzip(bytes.unwrap())).into_iter().map(Into::into).collect()
        };
        assert_eq!(names_of(directory.to_csar()), with(&[]));
        let extra_names = extras.map(|(name, _)| name);
        assert_eq!(names_of(directory.to_csar_with_all_files()), with(&extra_names));
        assert_eq!(names_of(in_archive.to_csar()), with(&[".git/config", ".hidden", "old.csar"]));
        let everything = [&extra_names[..], &["old.csar"]].concat();
        assert_eq!(names_of(in_archive.to_csar_with_all_files()), with(&everything));
    }

    #[test]
    fn what_it_can_read_itself() {
        // Compressed, these files would look like zip bombs.
        let (zeros, edge) = ("\0".repeat(3 << 20), "tea\0".repeat(1 << 18) + "x");
        let files = FILES.into_iter().chain([
            ("zeros", zeros.as_str()),
            ("edge", &edge),
            ("small", &zeros[..1 << 20]),
        ]);
        let directory =
            MemoryFiles::from_iter(files.map(|(name, text)| (format!("shop/{name}"), text)));
        let bytes = Resolver::new("shop").files(directory).resolve().unwrap().to_csar().unwrap();
        assert!(
            bytes.len() > zeros.len() + edge.len()
                && bytes.len() < zeros.len() + edge.len() + 10_000
        );
        let archive = Archive::new("shop.csar", bytes, &Limits::default()).unwrap();
        assert_eq!(archive.read("shop.csar:/zeros".as_ref()).unwrap(), zeros.as_bytes());
    }

    #[test]
    fn nothing_that_systems_read_differently() {
        for name in ["shop/a\\b", "shop/c:d", "shop/e\nf"] {
            let files = FILES
                .map(|(name, text)| (format!("shop/{name}"), text))
                .into_iter()
                .chain([(name.into(), "")]);
            let resolution =
                Resolver::new("shop").files(MemoryFiles::from_iter(files)).resolve().unwrap();
            assert!(
                resolution
                    .to_csar()
                    .unwrap_err()
                    .to_string()
                    .starts_with("error[csar]: the name of `"),
                "{name}"
            );
        }
    }
}

mod as_typed {
    use super::*;

    fn cuvee(dir: &TempDir, line: &str) -> Command {
        Command::new(cargo_bin!("cuvee"))
            .current_dir(dir.path())
            .args(line.split_whitespace())
            .env("CUVEE_PRESETS", "")
    }

    fn workplace() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("shop.csar"), shop_with(&[])).unwrap();
        for (name, text) in FILES {
            let path = dir.path().join("shop").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn tests_are_packed_where_all_files_are_asked_for() {
        let dir = workplace();
        fs::create_dir(dir.path().join("shop/tests")).unwrap();
        fs::write(dir.path().join("shop/tests/notes.txt"), "tea").unwrap();
        for (flag, is_packed) in [("", false), (" --all-files", true)] {
            cuvee(&dir, &format!("resolve shop -o a.csar{flag}")).assert().success();
            let files = unzip(fs::read(dir.path().join("a.csar")).unwrap());
            assert_eq!(names(&files).contains(&"tests/notes.txt"), is_packed);
        }
        cuvee(&dir, "resolve shop --all-files").assert().code(2);
    }

    #[test]
    fn resolve_gives_what_is_asked_for() {
        let dir = workplace();
        let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
        cuvee(&dir, "resolve shop.csar --preset prod").assert().success().stdout_eq(PROD);
        for line in [
            "shop.csar -o prod.csar",
            "shop.csar -o prod.zip",
            "shop -o from-directory.csar",
            "shop -o shop/inside.csar",
        ] {
            cuvee(&dir, &format!("resolve {line} --preset prod"))
                .assert()
                .success()
                .stdout_eq("")
                .stderr_eq("");
        }
        let archive = read("prod.csar");
        assert_eq!(archive, read("prod.zip"));
        assert_eq!(archive, read("from-directory.csar"));
        assert_eq!(archive, read("shop/inside.csar"));
        cuvee(&dir, "resolve shop -o shop/again.csar --preset prod").assert().success();
        assert_eq!(archive, read("shop/again.csar"));
        cuvee(&dir, "resolve prod.csar -o prod.yaml").assert().success();
        assert_eq!(read("prod.yaml"), PROD.as_bytes());
    }

    #[test]
    fn resolve_refuses_what_makes_no_sense() {
        let dir = workplace();
        let json = cuvee(&dir, "resolve shop.csar --format json -o prod.csar").assert().code(2);
        json.stderr_eq(
            "error: an archive holds YAML, so `--format json` does not go with it\n...\n",
        );
        let inside = cuvee(&dir, "resolve shop -o shop/prod.zip").assert().code(1);
        inside.stderr_eq(
            "error[csar]: the archive `shop/prod.zip` would contain itself when it is written again\n...\n",
        );
        let file = cuvee(&dir, "resolve shop/definitions/shop.yaml -o prod.csar").assert().code(1);
        file.stderr_eq(
            "error[csar]: no archive can be made of `shop/definitions/shop.yaml`: [..]\n...\n",
        );
        assert!(!dir.path().join("prod.csar").exists());
        fs::write(dir.path().join("prod.csar"), "old").unwrap();
        cuvee(&dir, "resolve shop.csar --preset prd -o prod.csar").assert().code(1);
        assert_eq!(fs::read(dir.path().join("prod.csar")).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn resolve_packs_no_links() {
        let dir = workplace();
        std::os::unix::fs::symlink(".", dir.path().join("shop/round")).unwrap();
        cuvee(&dir, "resolve shop").assert().success();
        let refused = cuvee(&dir, "resolve shop -o prod.csar").assert().code(1);
        refused
            .stderr_eq("error[csar]: `shop/round` is a link, which an archive cannot hold\n...\n");
    }

    #[test]
    fn absolute_imports_start_at_the_root_of_the_archive() {
        let dir = workplace();
        let files = [
            (
                "TOSCA-Metadata/TOSCA.meta",
                "CSAR-Version: 2.0\nCreated-By: Jo\nEntry-Definitions: a/b.yaml\n",
            ),
            (
                "a/b.yaml",
                "tosca_definitions_version: tosca_2_0\nimports: [/lib.yaml]\nservice_template: {node_templates: {a: {type: A}}}\n",
            ),
            ("lib.yaml", "tosca_definitions_version: tosca_2_0\nnode_types: {A: {}}\n"),
        ];
        fs::write(dir.path().join("rooted.csar"), zip(files)).unwrap();
        cuvee(&dir, "resolve rooted.csar -o out.csar").assert().success();
        cuvee(&dir, "validate out.csar").assert().success();
        fs::write(dir.path().join("lacking.csar"), zip(files[..2].iter().copied())).unwrap();
        cuvee(&dir, "resolve lacking.csar -o out.csar").assert().code(1);
    }

    #[test]
    fn archives_are_of_the_version_of_their_template() {
        let dir = workplace();
        let meta = |version| format!("{version}Created-By: Jo\nEntry-Definitions: a.yaml\n");
        let template =
            "tosca_definitions_version: tosca_2_0\nservice_template: {node_templates: {}}\n";
        for (version, why) in [
            ("CSAR-Version: 2.0\n", None),
            (
                "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\n",
                Some("the template is of TOSCA 2.0, and the archive of an earlier version"),
            ),
            (
                "CSAR-Version: 2.0\nTOSCA-Meta-File-Version: 1.1\n",
                Some("`TOSCA-Meta-File-Version` is not for archives of TOSCA 2.0"),
            ),
        ] {
            let files = [("TOSCA-Metadata/TOSCA.meta", &*meta(version)), ("a.yaml", template)];
            fs::write(dir.path().join("of.csar"), zip(files)).unwrap();
            let done = cuvee(&dir, "validate of.csar").assert();
            match why {
                Some(why) => done.code(1).stderr_eq(format!("error[csar]: {why}\n...\n")),
                None => done.success(),
            };
        }
    }

    #[test]
    fn every_command_takes_an_archive() {
        let dir = workplace();
        for line in [
            "inputs shop.csar",
            "options shop.csar",
            "variants shop.csar",
            "analyze shop.csar",
            "explain shop.csar node.backup",
            "graph shop.csar",
            "matrix shop.csar",
            "diff shop.csar --to prod",
            "export shop.csar --format uvl",
        ] {
            cuvee(&dir, line).assert().success();
        }
        fs::write(dir.path().join("bad.csar"), zip([("../a.yaml", "")])).unwrap();
        let refused = cuvee(&dir, "resolve bad.csar").assert().code(1).stdout_eq("");
        refused.stderr_eq("error[csar]: `bad.csar` is refused: its entry `../a.yaml` leads out of its directory by `..`\n...\n");
    }

    #[test]
    fn other_tools_agree() {
        let dir = workplace();
        let Ok(zip) = std::process::Command::new("zip")
            .args(["-rq", "../made.csar", "."])
            .current_dir(dir.path().join("shop"))
            .status()
        else {
            return;
        };
        assert!(zip.success());
        cuvee(&dir, "resolve made.csar --preset prod -o prod.csar").assert().success();
        cuvee(&dir, "resolve shop.csar --preset prod -o expected.csar").assert().success();
        let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
        assert_eq!(read("prod.csar"), read("expected.csar"));
    }
}

/// Files with any names and contents, of which none is a directory of another.
fn trees() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let name =
        proptest::collection::vec("[a-zA-Z0-9 _äß+-]{1,8}", 1..4).prop_map(|parts| parts.join("/"));
    let content = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        Just(TYPES.as_bytes().to_vec()),
        (any::<u8>(), 0..4_000_usize).prop_map(|(byte, times)| vec![byte; times]),
    ];
    // With an ending, a file cannot have the name of a directory.
    let file = (name, prop_oneof![Just(".sh"), Just(".yaml"), Just(".bin")])
        .prop_map(|(name, ending)| name + ending);
    proptest::collection::btree_map(file, content, 0..12)
}

/// An archive in which every part is worth breaking.
fn sample() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (index, (name, text)) in FILES.into_iter().enumerate() {
        let method =
            if index % 2 == 0 { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        zip.start_file(name, SimpleFileOptions::DEFAULT.compression_method(method)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.add_directory("empty", SimpleFileOptions::DEFAULT).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Reads every file and directory, as far as possible.
fn walk(archive: &Archive) {
    let mut open = vec![archive.root().to_owned()];
    while let Some(path) = open.pop() {
        if archive.is_dir(&path) {
            open.extend(archive.list(&path).unwrap());
        } else if let Ok(content) = archive.read(&path) {
            assert_eq!(content.len() as u64, archive.size(&path).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_goes_in_comes_out(tree in trees()) {
        let mut files: BTreeMap<_, _> = FILES.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into();
        files.extend(tree);
        let directory: MemoryFiles = files.iter().map(|(name, content)| (format!("shop/{name}"), content.clone())).collect();
        let bytes = Resolver::new("shop").files(directory).preset("prod").resolve().unwrap().to_csar().unwrap();

        let mut expected: Vec<_> = files.into_iter().collect();
        for (name, content) in &mut expected {
            if name == "definitions/shop.yaml" {
                *content = PROD.into();
            }
        }
        expected.sort_by_key(|(name, _)| (name != FILES[0].0, name.clone()));
        prop_assert_eq!(unzip(bytes.clone()), expected);
        let again = resolver(bytes.clone()).resolve().unwrap().to_csar().unwrap();
        prop_assert_eq!(bytes, again);
    }

    #[test]
    fn nothing_panics_on_a_broken_archive(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0), Just(0xff), any::<u8>()]), 1..8),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = sample();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(archive) = Archive::new("shop.csar", bytes.clone(), &Limits::default()) {
            walk(&archive);
        }
        if let Ok(resolution) = resolver(bytes).resolve() {
            let _ = resolution.to_csar();
        }
    }

    #[test]
    fn nothing_panics_on_any_metadata(meta in "([A-Za-z-]{0,9}|Entry-Definitions|CSAR-Version|[: \"“”\n\r\t./]|1\\.1|é){0,40}") {
        let _ = resolver(shop_with(&[(FILES[0].0, &format!("{meta}\n"))])).resolve();
        let _ = resolver(shop_with(&[(FILES[0].0, &format!("{META}Other-Definitions: {meta}\n"))])).resolve();
    }
}
