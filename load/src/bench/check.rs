//! Checks records against the rules of [`link_load::history`].

use anyhow::Context as _;
use link_load::history::{self, Event, What};
use link_platform::fs;

use crate::{args::Check, output};

pub(crate) fn run(options: &Check) -> anyhow::Result<()> {
    let mut events: Vec<Event> = Vec::new();
    for path in &options.records {
        let text = fs::read_to_string(path)?;
        for (number, line) in text.lines().enumerate() {
            let event = serde_json::from_str(line).with_context(|| {
                format!("`{}` has no event in line {}", path.display(), number + 1)
            })?;
            events.push(event);
        }
    }
    let has_callers = events.iter().any(|event| {
        matches!(event.what, What::Accepted { .. } | What::Unanswered | What::Observed { .. })
    });
    let mut found = history::check(&events);
    if !has_callers {
        // A record written only by devices does not contain the requests for commands.
        found.retain(|violation| !matches!(violation, history::Violation::Unasked { .. }));
    }
    for violation in &found {
        output::print(&violation.to_string())?;
    }
    anyhow::ensure!(
        found.is_empty(),
        "{} violations in {} events; the rules are in load/src/history.rs",
        found.len(),
        events.len()
    );
    output::print(&format!("{} events, no violation", events.len()))
}
