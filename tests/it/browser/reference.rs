//! The pages that the backend makes itself: the checks of the other pages do not see them.

use link_tests::backend::NewBackend;
use serde_json::json;

use super::chromium::Browser;

/// What finds violations of accessibility. `scripts/prepare web` installs it.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/node_modules/axe-core/axe.min.js");

/// Returns the violations of the page.
const VIOLATIONS: &str = r"
    return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0].html.slice(0, 160)}`));
";

#[tokio::test]
async fn browser_finds_no_violation_in_the_reference() {
    find_no_violation("/docs", "#schemas", "reference").await;
}

#[tokio::test]
async fn browser_finds_no_violation_in_the_page_for_an_unknown_address() {
    find_no_violation("/nothing-here", "a[href='/workspace']", "missing").await;
}

/// Checks the page at an address, once it shows an element, in light and dark colours, and takes its pictures.
async fn find_no_violation(path: &str, css: &str, name: &str) {
    let axe = std::fs::read_to_string(AXE).unwrap_or_else(|error| {
        panic!("{AXE}: {error}: run `scripts/prepare web` first");
    });
    let backend = NewBackend::start().await;
    let browser = Browser::start().await;
    browser.open(&format!("{}{path}", backend.url)).await;
    browser.find(css).await;
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await;
        let violations = browser.run(&format!("{axe}\n{VIOLATIONS}"), vec![]).await;
        assert_eq!(violations, json!([]), "{path} in {scheme} colours");
    }
    browser.pictures(name).await;
}
