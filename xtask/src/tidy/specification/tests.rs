//! The table, the claims, and the findings where they disagree.

use super::*;
use crate::tidy::lexer::tests::rust;

const DOCUMENT: &str = "# Title\n\n| Id | Statement | State |\n|---|---|---|\n\
    | S1-7a | A proxy \\| fronts what is open. | open |\n| S3.1-2 | A cancel stops. | open |\n";

fn claims_in(text: &str) -> (Vec<String>, usize) {
    let (claims, findings) = claims(&[rust("tests/it/a.rs", text)]);
    (claims.into_iter().map(|claim| claim.id).collect(), findings.len())
}

fn claim(id: &str) -> Claim {
    Claim { id: id.to_owned(), path: "tests/it/a.rs".to_owned(), line: 7 }
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn reads_the_rows_and_leaves_the_header() {
    let (rows, findings) = rows(DOCUMENT);
    let read: Vec<_> =
        rows.iter().map(|row| (row.id.as_str(), row.line, row.state.as_str())).collect();
    assert_eq!(read, [("S1-7a", 5, "open"), ("S3.1-2", 6, "open")]);
    assert_eq!(messages(&findings), [""; 0]);
}

#[test]
fn refuses_a_malformed_and_a_repeated_id() {
    let (_, findings) = rows("| S1 | a | open |\n| S1-2 | a | open |\n| S1-2 | b | open |\n");
    assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn an_id_has_a_section_a_row_and_perhaps_a_letter() {
    for id in ["S1-1", "S3.1-2", "S4.4-13b"] {
        assert!(is_id(id), "{id}");
    }
    for id in ["", "S", "S1", "S1-", "S-1", "S1-a", "S1.2.3-1", "1-1", "S1-1ab", "S1-1A", "S.1-1"] {
        assert!(!is_id(id), "{id}");
    }
}

#[test]
fn finds_claims_above_and_inside_tests() {
    let above = "// Holds: S1-7a, S3.1-2\n#[test]\nfn a() {}\n";
    let above_with_docs = "/// A story.\n// Holds: S1-7a\n// why\n#[ignore = \"slow\"]\n#[tokio::test(flavor = \"x\")]\nasync fn a() {}\n";
    let below_the_attribute = "#[test]\n// Holds: S1-7a\nfn a() {}\n";
    let inside = "#[test]\nfn a() {\n    let b = |c| c;\n    // Holds: S1-7a\n    b(1);\n}\n";
    assert_eq!(claims_in(above), (vec!["S1-7a".to_owned(), "S3.1-2".to_owned()], 0));
    assert_eq!(claims_in(above_with_docs), (vec!["S1-7a".to_owned()], 0));
    assert_eq!(claims_in(below_the_attribute), (vec!["S1-7a".to_owned()], 0));
    assert_eq!(claims_in(inside), (vec!["S1-7a".to_owned()], 0));
}

#[test]
fn a_claim_elsewhere_is_a_finding() {
    for text in [
        "// Holds: S1-7a\nfn helper() {}\n",
        "fn helper() {\n    // Holds: S1-7a\n}\n",
        "#[derive(Debug)]\n// Holds: S1-7a\nstruct A;\n",
        "#[test]\nfn a() {}\n\nfn helper() {\n    // Holds: S1-7a\n}\n",
        "#[test]\nfn a() {}\n\n// Holds: S1-7a\nfn helper() {}\n",
        "#[test]\nfn a() {}\n\n// Holds: S1-7a\n",
        "// Holds: S1-7a\n",
    ] {
        assert_eq!(claims_in(text).1, 1, "{text}");
    }
}

#[test]
fn a_claim_that_is_not_quite_one_is_a_finding() {
    for comment in [
        "// Holds: S1-7a S1-7b",
        "// Holds:",
        "// holds: S1-7a",
        "/// Holds: S1-7a",
        "// Holds S1-7a",
    ] {
        assert_eq!(
            claims_in(&format!("{comment}\n#[test]\nfn a() {{}}\n")),
            (vec![], 1),
            "{comment}"
        );
    }
    assert_eq!(claims_in("// Holds the lock.\n#[test]\nfn a() {}\n"), (vec![], 0));
    assert_eq!(claims_in("#[test]\nfn a() { let b = \"// Holds: S1-1\"; }\n"), (vec![], 0));
}

#[test]
fn a_claim_of_no_row_is_a_finding() {
    let (rows, _) = rows(DOCUMENT);
    assert_eq!(
        messages(&check(&rows, &[claim("S9-99")])),
        ["tests/it/a.rs:7: specification: `S9-99` is not in docs/specification.md"]
    );
}

#[test]
fn the_state_column_must_be_true() {
    let (rows, _) = rows("| S1-1 | a | held |\n| S1-2 | b | open |\n| S1-3 | c | built |\n");
    assert_eq!(
        messages(&check(&rows, &[claim("S1-2")])),
        [
            "docs/specification.md:1: specification: `S1-1` is open, not `held`; run `cargo xtask tidy --write`",
            "docs/specification.md:2: specification: `S1-2` is held, not `open`; run `cargo xtask tidy --write`",
            "docs/specification.md:3: specification: `S1-3` is open, not `built`; run `cargo xtask tidy --write`",
        ]
    );
}

#[test]
fn a_rewritten_document_is_true_and_otherwise_the_same() {
    let rewritten = rewrite(DOCUMENT, &[claim("S1-7a")]);
    assert_eq!(
        rewritten,
        DOCUMENT.replace("fronts what is open. | open |", "fronts what is open. | held |")
    );
    assert_eq!(rewrite(&rewritten, &[]), DOCUMENT);
    assert_eq!(messages(&check(&rows(&rewritten).0, &[claim("S1-7a")])), [""; 0]);
}

#[test]
fn lists_the_open_rows_by_section() {
    let (rows, _) = rows(
        "| S1-1 | a | held |\n| S1-2 | b | open |\n| S3.1-1 | c | open |\n| S1-3 | d | open |\n",
    );
    assert_eq!(
        open_rows(&rows),
        "specification: 1 of 4 rows are held by tests, 3 are open\n  S1-2 S1-3\n  S3.1-1"
    );
}
