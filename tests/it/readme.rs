//! The blocks of the README, of docs/releases.md and of two sections of docs/operations.md, read from the files: every
//! command exists and accepts its arguments, and every configuration is valid. `booted::readme` runs the first steps
//! literally, on a machine that boots.

use std::process::Command;

use link_protocol::catalogue::Catalogue;
use link_tests::{
    program,
    readme::{Block, blocks, blocks_of, checkout, commands},
};

/// Programs of the system that the documents use.
const OF_THE_SYSTEM: [&str; 5] = ["cat", "cd", "curl", "sh", "systemctl"];

/// What runs a block.
enum Held {
    /// `booted::readme` types it on a machine that boots.
    Booted,
    /// Each of these files has the text after it, which is that of a test of the same steps.
    By(&'static [(&'static str, &'static str)]),
    /// No test of this checkout can run it, because it needs this.
    Needs(&'static str),
}

/// Every block of the documents, in order: its section, how it begins, and what runs it.
const BLOCKS: [(&str, &str, Held); 23] = [
    (CHECKOUT, "scripts/quickstart", Held::By(&[("scripts/test", "scripts/quickstart --once")])),
    (CHECKOUT, "scripts/test", Held::Needs("a machine for itself: it runs this test too")),
    (WAY_IN, "curl -fsSL https://releases.example/stable/install.sh", Held::Booted),
    (WAY_IN, "dashboard   http://127.0.0.1:8000/", Held::Booted),
    (WAY_IN, "linkctl run smollm2-135m", Held::Booted),
    (WAY_IN, "Agent      …, version …", Held::Booted),
    (WAY_IN, "linkctl model search", Held::Booted),
    (WAY_IN, "linkctl update ", Held::Booted),
    (SERVER, "curl -fsSL https://releases.example/stable/install.sh", Held::Booted),
    (
        SERVER,
        "systemctl restart link-backend",
        Held::By(&[
            (
                "tests/it/booted/backend.rs",
                "fn a_backend_of_the_machine_outlives_kills_and_reboots_and_leaves_nothing()",
            ),
            (
                "tests/it/published.rs",
                "fn what_was_pulled_is_served_whole_in_parts_and_by_its_tag()",
            ),
        ]),
    ),
    (
        SERVER,
        "link account create",
        Held::By(&[
            (
                "cli/tests/it/login.rs",
                "fn the_first_account_takes_its_secrets_from_stdin_line_by_line()",
            ),
            (
                "cli/tests/it/register.rs",
                "fn a_new_key_is_shown_with_the_whole_line_for_a_device()",
            ),
        ]),
    ),
    (
        SERVER,
        "curl -fsSL https://link.example/install.sh",
        Held::By(&[(
            "tests/it/published.rs",
            "fn the_installer_of_a_backend_knows_its_address_and_a_shell_reads_it()",
        )]),
    ),
    (
        SERVER,
        "link model add ./model.gguf",
        Held::By(&[
            (
                "tests/it/main_job.rs",
                "fn an_old_deployment_is_refused_then_repaired_then_answers()",
            ),
            ("scripts/quickstart", "run_link repair-serving \"$model\" --wait"),
        ]),
    ),
    (
        TROUBLE,
        "link doctor ",
        Held::By(&[
            (
                "tests/it/doctor.rs",
                "fn a_page_is_told_what_keeps_it_out_and_a_stale_allowlist_is_repaired()",
            ),
            ("cli/tests/it/logs.rs", "fn local_logs_are_merged_by_time_and_filtered()"),
            ("tests/it/secrets.rs", "fn the_archive_of_link_support_holds_no_secret()"),
        ]),
    ),
    (
        RELEASES,
        "cargo xtask release-key",
        Held::By(&[(
            "tests/it/published/catalogue.rs",
            "fn a_name_of_the_published_catalogue_leads_to_an_answer()",
        )]),
    ),
    (
        RELEASES,
        "{\"models\"",
        Held::By(&[("tests/it/readme.rs", "fn the_list_of_models_is_one()")]),
    ),
    (
        FROM_IT,
        "LINK_INSTALL_URL=",
        Held::By(&[(
            "scripts/quickstart",
            "LINK_INSTALL_URL=file://$release sh scripts/install.sh",
        )]),
    ),
    (
        DAILY,
        "link member invite",
        Held::By(&[
            ("tests/it/people.rs", "fn the_audit_log_tells_who_did_what_to_whom_it_concerns()"),
            (
                "tests/it/people.rs",
                "fn a_model_is_deployed_to_all_devices_of_a_fleet_and_every_command_is_explained()",
            ),
            ("cli/tests/it/login.rs", "fn a_machine_waits_until_its_person_has_let_it_in()"),
            (
                "cli/tests/it/logs.rs",
                "fn logs_are_printed_oldest_first_and_filtered_by_the_backend()",
            ),
            (
                "tests/it/transfer.rs",
                "fn a_device_that_serves_begins_anew_in_the_account_that_it_is_given_to()",
            ),
        ]),
    ),
    (DEVICE, "{\n  \"schema_version\"", Held::By(&[CONFIGURATION])),
    (
        DEVICE,
        "~/.local/share/link/current/link-agent --check-config",
        Held::By(&[(
            "tests/it/configuration.rs",
            "fn a_person_can_check_a_configuration_and_have_its_schema()",
        )]),
    ),
    (DEVICE, "{ \"schema_version\"", Held::By(&[CONFIGURATION])),
    (
        DEVICE,
        "curl --unix-socket",
        Held::By(&[("tests/it/local_api.rs", "fn the_metrics_are_what_prometheus_reads()")]),
    ),
    (DEVICE, "scrape_configs:", Held::Needs("a Prometheus")),
];

const WAY_IN: &str = "Install, start, ask";
const SERVER: &str = "A device elsewhere, a server for several people";
const TROUBLE: &str = "When something does not work";
const CHECKOUT: &str = "From a clone to a chat";
const RELEASES: &str = "Build and sign";
const FROM_IT: &str = "Install from it";
const DAILY: &str = "Every day";
const DEVICE: &str = "Settings and metrics of a device";
const CONFIGURATION: (&str, &str) = ("tests/it/readme.rs", "fn every_configuration_is_one()");

#[test]
fn every_block_has_something_that_runs_it() {
    let blocks = documented();
    for (block, (section, begin, held)) in blocks.iter().zip(&BLOCKS) {
        let is_known = block.section == *section && block.text.starts_with(begin);
        assert!(is_known, "not the next block of the table, which is `{begin}`: {block:?}");
        match held {
            Held::Booted => {}
            Held::By(tests) => {
                for (file, text) in *tests {
                    let source = std::fs::read_to_string(checkout().join(file)).unwrap();
                    assert!(source.contains(text), "{file} has no `{text}`, for {block:?}");
                }
            }
            Held::Needs(what) => assert!(!what.is_empty(), "{block:?}"),
        }
    }
    assert_eq!(blocks.len(), BLOCKS.len(), "a block is in no row of the table");
}

#[test]
fn every_command_exists_and_takes_its_words() {
    let mut count = 0;
    for block in documented().into_iter().filter(|block| block.language == "sh") {
        for words in commands(&block.text) {
            check(&words);
            count += 1;
        }
    }
    assert!(count > 30, "{count} commands were found");
}

#[test]
fn every_configuration_is_one() {
    let mut count = 0;
    let is_one = |block: &Block| block.language == "json" && block.text.contains("schema_version");
    for Block { text, .. } in documented().into_iter().filter(is_one) {
        let home = tempfile::tempdir().unwrap();
        let (config, key) = (home.path().join("config"), home.path().join("fleet.key"));
        std::fs::create_dir(&config).unwrap();
        let text = text.replace("/etc/link/fleet.key", key.to_str().unwrap());
        std::fs::write(&key, "lfk_0123456789\n").unwrap();
        std::fs::write(config.join("agent.json"), text).unwrap();
        let checked = Command::new(program::path("link-agent"))
            .arg("--check-config")
            .env("LINK_HOME", home.path())
            .output()
            .unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn the_list_of_models_is_one() {
    let blocks = documented();
    let block = blocks.iter().find(|block| block.text.starts_with("{\"models\"")).unwrap();
    let text = block.text.replace('…', &"0".repeat(64));
    let list: Catalogue = serde_json::from_str(&text).unwrap();
    assert_eq!(list.models.len(), 1);
}

/// Returns the blocks of the documents, in the order of `BLOCKS`.
fn documented() -> Vec<Block> {
    let is_tested = |block: &Block| [DAILY, DEVICE].contains(&block.section.as_str());
    let mut documented = blocks();
    documented.extend(blocks_of("docs/releases.md"));
    documented.extend(blocks_of("docs/operations.md").into_iter().filter(is_tested));
    documented
}

fn check(words: &[String]) {
    // An id that the document abbreviates.
    let words = words.iter().map(|word| word.replace('…', &"0".repeat(32))).collect::<Vec<_>>();
    let words = words.as_slice();
    let program = words[0].rsplit('/').next().unwrap();
    match (program, words[0].starts_with("scripts/")) {
        (_, true) => assert!(checkout().join(&words[0]).is_file(), "{words:?}"),
        ("link" | "linkctl", _) => parses(link_cli::command(), words),
        ("link-backend", _) => {
            parses(<link_backend::args::Arguments as clap::CommandFactory>::command(), words);
        }
        ("runuser", _) => {
            let program = words.iter().position(|word| word == "--").unwrap() + 1;
            check(&words[program..]);
        }
        ("link-agent", _) => has_help("link-agent", &words[1..]),
        ("cargo", _) => {
            assert_eq!(words[1], "xtask", "{words:?}");
            has_help("xtask", &words[2..]);
        }
        (other, _) => assert!(OF_THE_SYSTEM.contains(&other), "{words:?}"),
    }
}

/// Parses the arguments as the program does, without running it.
fn parses(command: clap::Command, words: &[String]) {
    let parsed = command.try_get_matches_from(words);
    if let Err(error) = parsed {
        panic!("{words:?}: {error}");
    }
}

/// Checks the arguments of a program that has no library, with `--help`: the program exits after it has read them.
fn has_help(program: &str, words: &[String]) {
    let helped = Command::new(program::path(program)).args(words).arg("--help").output().unwrap();
    assert!(helped.status.success(), "{words:?}: {}", String::from_utf8_lossy(&helped.stderr));
}
