//! Archives as they should be, and archives that attack their reader.

use tar::{Builder, EntryType, Header};

use super::*;

#[test]
fn an_archive_has_a_network_and_its_settings() {
    let plain = archive(&[("model.onnx", b"net"), ("model.json", b"{}"), ("labels.txt", b"a")]);
    let folder = archive(&[
        ("./vad/model.json", b"{}"),
        ("./vad/LICENSE", b"MIT"),
        ("./vad/labels.txt", b"a"),
        ("./vad/model.onnx", b"net"),
    ]);
    let wanted = Package {
        network: b"net".to_vec(),
        settings: Some(b"{}".to_vec()),
        labels: Some(b"a".to_vec()),
    };
    for bytes in [plain, folder] {
        assert_eq!(read(&*bytes).unwrap(), wanted);
    }
}

#[test]
fn a_folder_may_be_an_entry_of_its_own() {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder, "vad/", EntryType::Directory, b"", None);
    append(&mut builder, "vad/model.onnx", EntryType::Regular, b"net", None);
    append(&mut builder, "vad/model.json", EntryType::Regular, b"{}", None);
    assert!(read(&*builder.into_inner().unwrap()).is_ok());
}

#[test]
fn a_file_that_is_no_archive_is_a_network() {
    let package = read(&b"\x08\x0a"[..]).unwrap();
    assert_eq!(package, Package { network: b"\x08\x0a".to_vec(), ..Package::default() });
    assert!(matches!(read(&b""[..]), Err(InvalidPackage::Empty)));
    assert!(matches!(read(&b"GGUF\x03"[..]), Err(InvalidPackage::LanguageModel)));
    assert!(matches!(read(&b"\x1f\x8b\x08"[..]), Err(InvalidPackage::Compressed)));
    assert!(matches!(read(&b"PK\x03\x04"[..]), Err(InvalidPackage::Compressed)));
}

#[test]
fn entries_that_are_no_files_are_refused() {
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, "model.onnx", kind, b"", None);
        let read = read(&*builder.into_inner().unwrap());
        assert!(matches!(read, Err(InvalidPackage::Kind(_))), "{kind:?}: {read:?}");
    }
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    for name in [
        "../model.onnx",
        "a/../../model.onnx",
        "/etc/model.onnx",
        "C:\\model.onnx",
        "a\\model.onnx",
        "a/b/model.onnx",
        "a\u{1b}[31m/model.onnx",
    ] {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, name, EntryType::Regular, b"net", None);
        let read = read(&*builder.into_inner().unwrap());
        assert!(matches!(read, Err(InvalidPackage::Name(_))), "{name}: {read:?}");
    }
    let two_folders = archive(&[("a/model.onnx", b"net"), ("b/model.json", b"{}")]);
    assert!(matches!(read(&*two_folders), Err(InvalidPackage::Name(_))));
}

#[test]
fn a_duplicate_is_refused() {
    let twice = archive(&[("model.json", b"{}"), ("./model.json", b"{}"), ("model.onnx", b"net")]);
    assert!(matches!(read(&*twice), Err(InvalidPackage::Twice { .. })));
}

#[test]
fn an_incomplete_archive_says_what_is_missing() {
    let without = |name: &str| read(&*archive(&[(name, b"{}")])).unwrap_err().to_string();
    assert_eq!(without("model.json"), "the archive has no `model.onnx`");
    assert_eq!(without("model.onnx"), "the archive has no `model.json`");
}

#[test]
fn ten_gigabytes_of_zeros_are_no_model() {
    let zeros = io::repeat(0).take(10 << 30);
    assert!(matches!(read(zeros), Err(InvalidPackage::Missing("model.onnx"))));
}

#[test]
fn a_size_that_exceeds_its_bound_is_refused_before_the_content() {
    for (name, size) in [("model.onnx", 10 << 30), ("model.json", 2 << 20), ("NOTES", 2 << 20)] {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, name, EntryType::Regular, b"", Some(size));
        let source = io::Cursor::new(builder.into_inner().unwrap()).chain(io::repeat(0));
        assert!(matches!(read(source), Err(InvalidPackage::TooLarge { .. })), "{name}");
    }
}

#[test]
fn a_claimed_size_reserves_no_memory() {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder, "model.onnx", EntryType::Regular, b"net", Some(MODEL_BYTES));
    let read = read(&builder.into_inner().unwrap()[..1024]);
    assert!(
        matches!(read, Err(InvalidPackage::Truncated(_) | InvalidPackage::Damaged(_))),
        "{read:?}"
    );
}

#[test]
fn more_entries_than_a_model_has_are_refused() {
    let names: Vec<String> = (0..17).map(|number| format!("{number}.txt")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(matches!(read(&*archive(&entries)), Err(InvalidPackage::TooManyEntries)));
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic_the_reader(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..2048)) {
        let _outcome = read(&*bytes);
        let _outcome = read_archive(&*bytes);
    }
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, content) in entries {
        append(&mut builder, name, EntryType::Regular, content, None);
    }
    builder.into_inner().unwrap()
}

/// Appends an entry with a name that a well-behaved writer would refuse, and a size that the content need not have.
fn append(
    builder: &mut Builder<Vec<u8>>,
    name: &str,
    kind: EntryType,
    content: &[u8],
    size: Option<u64>,
) {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    if let Some(ustar) = header.as_ustar_mut().filter(|_| kind.is_symlink() || kind.is_hard_link())
    {
        ustar.linkname[..11].copy_from_slice(b"/etc/passwd");
    }
    header.set_size(size.unwrap_or(content.len() as u64));
    header.set_cksum();
    builder.append(&header, content).unwrap();
}
