//! An incomplete backup is refused.

use super::*;

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(Vec::new());
    for (index, (path, text)) in files.iter().enumerate() {
        let file = folder.path().join(index.to_string());
        std::fs::write(&file, text).unwrap();
        writer.add(path, &file, &mut |_| {}).unwrap();
    }
    let version = semver::Version::new(1, 3, 0);
    writer.finish(version, jiff::Timestamp::UNIX_EPOCH, Some(3)).unwrap().0
}

fn unpacked(bytes: &[u8]) -> Result<(tempfile::TempDir, Manifest), InvalidBackup> {
    let made = tempfile::tempdir();
    made.map_err(InvalidBackup::Io).and_then(|folder| {
        let manifest = unpack(bytes, folder.path(), &mut |_| {})?;
        Ok((folder, manifest))
    })
}

#[test]
fn what_comes_out_is_what_went_in() {
    let (folder, manifest) =
        unpacked(&archive(&[("link.db", "rows"), ("models/a.b", "")])).unwrap();
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!((read("link.db"), read("models/a.b")), ("rows".to_owned(), String::new()));
    assert_eq!((manifest.schema, manifest.parts.len()), (Some(3), 2));
}

#[test]
fn a_copy_that_was_cut_anywhere_is_refused() {
    let whole = archive(&[("link.db", &"rows".repeat(500)), ("models/a.b", "weights")]);
    let text = b"\n  ]\n}";
    let end = whole.windows(text.len()).position(|window| window == text).unwrap() + text.len();
    for cut in (0..end).step_by(97).chain([end - 1]) {
        assert!(unpacked(&whole[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_file_of_another_kind_is_no_backup() {
    let mut model = b"GGUF\x03\0\0\0".to_vec();
    model.extend((0..4096_u16).map(|byte| byte.to_le_bytes()[0]));
    for bytes in [&model[..], &model[..100], &b"SQLite format 3\0".repeat(64)] {
        let refused = unpacked(bytes).unwrap_err();
        assert!(matches!(refused, InvalidBackup::NotABackup), "{refused}");
    }
}

#[test]
fn a_copy_that_was_cut_in_its_first_part_is_cut_off_and_no_other_file() {
    let whole = archive(&[("link.db", &"rows".repeat(500)), ("models/a.b", "weights")]);
    for cut in [600, 1024, 2000] {
        let refused = unpacked(&whole[..cut]).unwrap_err();
        assert!(matches!(refused, InvalidBackup::Cut), "cut at {cut}: {refused}");
    }
}

/// A failed read is not taken for damage of the file.
#[test]
fn a_failed_read_is_told_as_it_is() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let refused = unpack(Broken, folder.path(), &mut |_| {}).unwrap_err();
    assert!(matches!(refused, InvalidBackup::Io(_)), "{refused}");
}

#[test]
fn a_changed_byte_of_a_part_is_noticed() {
    let mut bytes = archive(&[("link.db", "the rows")]);
    let at = bytes.windows(8).position(|window| window == b"the rows").unwrap();
    bytes[at] ^= 1;
    let refused = unpacked(&bytes).unwrap_err();
    assert!(matches!(refused, InvalidBackup::Damaged(ref part) if part == "link.db"), "{refused}");
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    for path in ["../outside", "/outside", "a/../../outside"] {
        assert!(leaves(path), "{path}");
    }
    let mut tar = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    tar.append_link(&mut link, "models", "/tmp").unwrap();
    let refused = unpacked(&tar.into_inner().unwrap()).unwrap_err();
    assert!(matches!(refused, InvalidBackup::Foreign(_)), "{refused}");
}
