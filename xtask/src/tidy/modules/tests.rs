//! Small module trees with and without cyclic imports.

use super::*;

const MANIFEST: &str = "crate/Cargo.toml";

fn crates(files: &[(&str, &str)]) -> Vec<Crate> {
    let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
    let sources: Vec<RustFile> = files
        .iter()
        .map(|(path, text)| RustFile::from(file(&format!("crate/src/{path}"), text)))
        .collect();
    read(&[file(MANIFEST, "")], &sources)
}

fn findings(files: &[(&str, &str)], known: &str) -> Vec<String> {
    let mut known = Known::read(known);
    let found = check(&crates(files), &mut known);
    found.into_iter().chain(known.rest()).map(|finding| finding.to_string()).collect()
}

/// Three layers: `run` imports `engine`, which imports `state`.
const TIDY: [(&str, &str); 4] = [
    ("lib.rs", "mod engine;\nmod run;\nmod state;\n"),
    ("run.rs", "use crate::engine::Engine;\npub(crate) struct View(Engine);\n"),
    ("engine.rs", "use crate::state;\npub(crate) struct Engine(state::State);\n"),
    ("state.rs", "pub(crate) struct State;\n"),
];

fn with(file: &'static str, text: &'static str) -> Vec<(&'static str, &'static str)> {
    let others = TIDY.into_iter().filter(|(path, _)| *path != file);
    others.chain([(file, text)]).collect()
}

#[test]
fn imports_that_point_downwards_are_fine() {
    assert_eq!(findings(&TIDY, ""), [""; 0]);
}

#[test]
fn an_import_that_points_upwards_is_refused_with_its_place_and_the_way_back() {
    let found = findings(&with("state.rs", "//! State.\n\nuse crate::run::View;\n"), "");
    assert_eq!(found.len(), 3, "{found:#?}");
    let expected = "crate/src/state.rs:3: modules: `state` imports `View` from `run`, which imports `state` again \
                    (run → engine → state): move what both need into a module below both, or pass it as an argument";
    assert!(found.contains(&expected.to_owned()), "{found:#?}");
}

#[test]
fn a_path_counts_like_a_use() {
    for upward in [
        "fn a() { crate::run::start() }\n",
        "fn a(_: super::run::View) {}\n",
        "fn a() { print!(\"{}\", crate::run::NAME) }\n",
        "#[derive(crate::run::Make)]\nstruct A;\n",
        "fn a() { fn b() { use crate::run as c; } }\n",
    ] {
        let found = findings(&with("state.rs", upward), "");
        assert!(
            found.iter().any(|line| line.starts_with("crate/src/state.rs:1")),
            "{upward}{found:#?}"
        );
    }
}

#[test]
fn what_stands_deeper_counts_for_the_sibling_above_it() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "mod inner;\npub(crate) struct A;\n"),
        ("a/inner.rs", "use crate::b::other::B;\n"),
        ("b.rs", "pub(crate) mod other;\n"),
        ("b/other.rs", "use crate::a::A;\npub(crate) struct B;\n"),
    ];
    let found = findings(&files, "");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("crate/src/a/inner.rs:1: modules: `a` imports `B` from `b`"),
        "{found:#?}"
    );
}

#[test]
fn what_a_parent_hands_on_belongs_to_the_child_that_has_it() {
    let files = [
        ("lib.rs", "mod a;\n"),
        ("a.rs", "mod one;\nmod two;\npub(crate) use two::Two;\n"),
        ("a/one.rs", "use crate::a::Two;\npub(crate) struct One;\n"),
        ("a/two.rs", "use super::one::One;\npub(crate) struct Two;\n"),
    ];
    let found = findings(&files, "");
    assert!(
        found.iter().any(|line| line.contains("`a::one` imports `Two` from `a::two`")),
        "{found:#?}"
    );
}

#[test]
fn parent_and_child_may_know_each_other_and_a_grandchild_takes_nothing_from_above_its_parent() {
    let inner = |text| {
        [
            ("lib.rs", "mod a;\npub(crate) struct Root;\n"),
            ("a.rs", "mod b;\nuse crate::Root;\nuse b::B;\npub(crate) struct A;\n"),
            ("a/b.rs", text),
        ]
    };
    assert_eq!(findings(&inner("use super::A;\npub(crate) struct B;\n"), ""), [""; 0]);
    let found = findings(&inner("use crate::Root;\npub(crate) struct B;\n"), "");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].contains("`a::b` imports `Root` from `crate`, which stands above its parent"),
        "{found:#?}"
    );
}

#[test]
fn what_tests_import_does_not_count() {
    for text in [
        "#[cfg(test)]\nmod tests {\n    use crate::run::View;\n}\n",
        "#[cfg(test)]\nuse crate::run::View;\n",
        "#[cfg(test)]\nfn a(_: crate::run::View) {}\n",
        "#[cfg(test)]\nmod run_tests;\n",
    ] {
        assert_eq!(findings(&with("state.rs", text), ""), [""; 0], "{text}");
    }
}

#[test]
fn names_of_other_crates_and_local_ones_are_no_modules() {
    let text =
        "use std::run;\nuse ::run::View;\nfn a(run: u8) -> u8 { let engine = run; engine }\n";
    assert_eq!(findings(&with("state.rs", text), ""), [""; 0]);
}

#[test]
fn a_known_circle_is_quiet_until_it_is_open() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub(crate) struct A;\n"),
        ("b.rs", "use crate::a::A;\npub(crate) struct B;\n"),
    ];
    let known = "# Known.\n\ncrate/src/lib.rs: a -> b\ncrate/src/lib.rs: b -> a\n";
    assert_eq!(findings(&files, known), [""; 0]);
    assert_eq!(findings(&TIDY, known).len(), 2);
}

#[test]
fn a_graph_is_printed_from_the_top_floor_down() {
    let text = graphs(&crates(&TIDY), "crate/");
    assert_eq!(
        text,
        "crate/src/lib.rs\n  crate\n    2 run → engine\n    1 engine → state\n    0 state\n"
    );
    let summary = summary(&crates(&TIDY));
    assert_eq!(summary, "modules: crate/src/lib.rs: 2 arrows, 0 upward, no circle\n");
}
