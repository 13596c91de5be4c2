//! The README's blocks, read from the file: every command in them exists and takes the words that stand there, and
//! every configuration is one. `booted::readme` runs the way in literally, on a machine that boots.

use std::process::Command;

use link_tests::{
    program,
    readme::{Block, blocks, checkout, commands},
};

/// Programs of a usual system that the README uses.
const OF_THE_SYSTEM: [&str; 3] = ["cd", "curl", "sh"];

#[test]
fn every_command_exists_and_takes_its_words() {
    let mut count = 0;
    for block in blocks().into_iter().filter(|block| block.language == "sh") {
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
    for Block { text, .. } in blocks().into_iter().filter(|block| block.language == "json") {
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

fn check(words: &[String]) {
    // An id that the README leaves out.
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

/// Checks every word as the program does, without running it.
fn parses(command: clap::Command, words: &[String]) {
    let parsed = command.try_get_matches_from(words);
    if let Err(error) = parsed {
        panic!("{words:?}: {error}");
    }
}

/// Checks the words of a program that has no library: it ends with its help once they are read.
fn has_help(program: &str, words: &[String]) {
    let helped = Command::new(program::path(program)).args(words).arg("--help").output().unwrap();
    assert!(helped.status.success(), "{words:?}: {}", String::from_utf8_lossy(&helped.stderr));
}
