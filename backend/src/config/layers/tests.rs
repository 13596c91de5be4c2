//! The sources of a configuration, merged and refused.

use super::*;

fn file(text: &str) -> Given {
    Given { file: Some(("backend.toml".into(), text.to_owned())), ..Given::default() }
}

fn flag(name: &'static str, values: &[&str]) -> Flag {
    Flag { name, values: values.iter().map(|text| (*text).to_owned()).collect() }
}

fn faults(given: &Given) -> Vec<String> {
    join(given).unwrap_err().faults.iter().map(ToString::to_string).collect()
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let mut given = file("device_limit = 1\nlisten = \"127.0.0.1:1\"\n[log]\nformat = \"json\"");
    given.environment.insert("LINK_BACKEND_DEVICE_LIMIT".to_owned(), "2".to_owned());
    given.environment.insert("LINK_BACKEND_LISTEN".to_owned(), "127.0.0.1:2".to_owned());
    given.environment.insert(
        "LINK_BACKEND_ALLOWED_ORIGINS".to_owned(),
        "https://a.example,https://b.example".to_owned(),
    );
    given.flags.push(("device_limit", flag("--device-limit", &["3"])));
    let joined = join(&given).unwrap();
    assert_eq!(joined.values.device_limit, 3);
    assert_eq!(joined.values.listen.port(), 2);
    assert_eq!(joined.values.allowed_origins.len(), 2);
    assert_eq!(joined.values.log.format, crate::config::file::LogFormat::Json);
    let place = |key: &str| joined.places[key].to_string();
    assert_eq!(
        ["device_limit", "listen", "log.format", "log.filter"].map(place),
        ["--device-limit", "LINK_BACKEND_LISTEN", "file", "default"]
    );
}

#[test]
fn every_fault_is_told_at_once_with_its_key_and_where_it_stands() {
    let mut given = file(
        "listn = \"127.0.0.1:1\"\ndevice_limit = 0\npublic_url = \"ftp://x\"\n\
         [log]\nformat = \"xml\"\n[retention]\nlog_rows = \"many\"\n[zzz]\nqqq = 1",
    );
    given.environment.insert("LINK_BACKEND_LISTEN".to_owned(), "everywhere".to_owned());
    given.flags.push(("shutdown.notice_s", flag("--notice", &["601"])));
    assert_eq!(
        faults(&given),
        [
            "listn: there is no such key; is `listen` meant?",
            "zzz: there is no such key; `link-backend config schema` lists them",
            "device_limit: expected a whole number from 1 to 4294967295, found 0",
            "listen: expected an address and a port, such as 127.0.0.1:8000 (from \
             LINK_BACKEND_LISTEN)",
            "log.format: unknown variant `xml`, expected `text` or `json`",
            "public_url: expected an address such as https://link.example.org",
            "retention.log_rows: invalid type: string \"many\", expected i64",
            "shutdown.notice_s: expected a whole number from 0 to 600, found 601 (from --notice)",
        ]
    );
}

#[test]
fn a_password_in_the_file_is_refused_and_not_shown() {
    let said = faults(&file("[database]\nurl = \"postgres://ada:hunter2@db/link\"")).join("\n");
    assert!(said.contains("`database.url_file`") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_file_that_is_no_toml_is_one_fault_with_its_line() {
    let said = faults(&file("device_limit = 3\nlisten = \n"));
    assert!(said.len() == 1 && said[0].starts_with("line 2: "), "{said:?}");
}

#[test]
fn without_anything_the_defaults_hold_and_every_key_has_a_variable() {
    let joined = join(&Given::default()).unwrap();
    assert_eq!(joined.values, ConfigFile::default());
    assert!(joined.places.values().all(|place| *place == Place::Default));
    let keys = keys();
    assert_eq!(keys["allowed_origins"], Kind::List);
    assert_eq!(keys["sharing.accounts"], Kind::List);
    assert_eq!(keys["shutdown.notice_s"], Kind::Number);
    assert_eq!(keys["database.url_file"], Kind::Text);
    assert_eq!(variable("database.url_file"), "LINK_BACKEND_DATABASE_URL_FILE");
}
