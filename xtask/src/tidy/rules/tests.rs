//! Each rule on a minimal file that breaks it and on one that does not.

use super::*;
use crate::tidy::lexer::tests::rust;

/// Returns the rules that `text` breaks, each with its line.
fn broken(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    check(&rust(path, text)).into_iter().map(|finding| (finding.rule, finding.line)).collect()
}

#[test]
fn a_file_opens_with_its_purpose() {
    assert_eq!(broken("agent/src/a.rs", "//! Files.\n"), []);
    assert_eq!(broken("agent/src/a.rs", "\n//! Files.\n"), []);
    for text in
        ["", "fn a() {}\n", "// Files.\n//! Late.\n", "#![forbid(unsafe_code)]\n//! Late.\n"]
    {
        assert_eq!(broken("agent/src/a.rs", text), [("module-docs", 1)], "{text:?}");
    }
}

#[test]
fn a_long_product_file_fails_and_its_inline_tests_do_not_count() {
    let body = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
    assert_eq!(broken("agent/src/a.rs", &body(400)), []);
    assert_eq!(broken("agent/src/a.rs", &body(401)), [("length", 401)]);
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", body(400), "\n".repeat(600));
    assert_eq!(broken("agent/src/a.rs", &tested), []);
}

#[test]
fn a_test_file_may_be_longer() {
    let body = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
    for path in ["tests/it/a.rs", "agent/src/a/tests.rs", "protocol/tests/a.rs"] {
        assert_eq!(broken(path, &body(800)), [], "{path}");
        assert_eq!(broken(path, &body(801)), [("length", 801)], "{path}");
    }
}

#[test]
fn operating_systems_are_told_apart_in_platform_only() {
    for cfg in [
        "#[cfg(unix)]",
        "#[cfg(not(windows))]",
        "#[cfg(all(test, target_os = \"linux\"))]",
        "#[cfg_attr(target_family = \"unix\", expect(dead_code))]",
        "if cfg!(windows) {}",
        "#[cfg(any(\n  test,\n  unix,\n))]",
    ] {
        let text = format!("//! Files.\n{cfg}\n");
        assert_eq!(broken("agent/src/a.rs", &text), [("system-cfg", 2)], "{cfg}");
        assert_eq!(broken("platform/src/a.rs", &text), [], "{cfg}");
    }
}

#[test]
fn other_cfgs_and_words_are_fine() {
    for text in [
        "#[cfg(test)]",
        "#[cfg(feature = \"unix\")]",
        "my_cfg(unix)",
        "// cfg(unix)",
        "let a = \"cfg(unix)\";",
    ] {
        assert_eq!(broken("agent/src/a.rs", &format!("//! Files.\n{text}\n")), [], "{text}");
    }
}

#[test]
fn pure_places_do_not_act() {
    for (place, act) in [
        ("protocol/src/a.rs", "use std::fs;"),
        ("protocol/src/a.rs", "use std::{fmt, net::TcpStream};"),
        ("agent/core/src/a/b.rs", "let now = Instant::now();"),
        ("agent/core/src/a.rs", "let now = std::time::SystemTime::now();"),
        ("backend/src/domain.rs", "let now = jiff::Timestamp::now();"),
        ("backend/src/domain/a.rs", "async fn a(pool: sqlx::SqlitePool) {}"),
        ("installer/src/decide/plan.rs", "std::process::exit(1)"),
        ("installer/src/decide/guard/a.rs", "use tokio::sync::mpsc;"),
        ("installer/src/decide/service.rs", "std::env::var(\"A\")"),
        ("protocol/src/a.rs", "reqwest::get(url)"),
        ("protocol/src/a.rs", "std::thread::sleep(time)"),
    ] {
        assert_eq!(broken(place, &format!("//! Core.\n{act}\n")), [("purity", 2)], "{act}");
        assert_eq!(broken("agent/src/shell.rs", &format!("//! Shell.\n{act}\n")), [], "{act}");
    }
}

#[test]
fn the_tests_of_a_pure_place_may_act() {
    let inline = "//! Core.\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert_eq!(broken("protocol/src/a.rs", inline), []);
    assert_eq!(broken("protocol/src/a/tests.rs", "//! Tests.\nuse std::fs;\n"), []);
}

#[test]
fn pure_places_may_name_harmless_parts_of_std() {
    let text = "//! Core.\nuse std::{fmt, net::IpAddr, time::Duration};\n/// Not `std::fs`.\nfn a(now: Timestamp) {}\n";
    assert_eq!(broken("protocol/src/a.rs", text), []);
}

#[test]
fn lints_are_expected_and_never_allowed() {
    for text in ["#[allow(dead_code)]", "#![allow(dead_code)]", "# [ allow (dead_code)]"] {
        assert_eq!(
            broken("agent/src/a.rs", &format!("//! Files.\n{text}\n")),
            [("no-allow", 2)],
            "{text}"
        );
    }
    assert_eq!(
        broken("agent/src/a.rs", "//! Files.\n#[expect(dead_code, reason = \"later\")]\n"),
        []
    );
}

#[test]
fn unfinished_work_names_its_issue() {
    assert_eq!(broken("agent/src/a.rs", "//! Files.\n// TODO: later\n"), [("unfinished-work", 2)]);
    assert_eq!(
        broken("agent/src/a.rs", "//! Files.\n/// FIXME # later\n"),
        [("unfinished-work", 2)]
    );
    assert_eq!(broken("agent/src/a.rs", "//! Files.\n// TODO(#12): later\n"), []);
    assert_eq!(broken("agent/src/a.rs", "//! Files.\nlet todos = \"TODO\"; // MASTODON\n"), []);
}
