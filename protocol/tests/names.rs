//! Each `as_str` gives the name that the value has on the wire. Tables, problem documents and `--json` use it.

use link_protocol::{
    backend_api::operation::{ItemState, OperationState},
    deployment::DeploymentState,
    problem::Code,
    report::Severity,
};
use serde::Serialize;

fn on_the_wire(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .expect("a name is text")
}

#[test]
fn names_in_texts_are_the_names_on_the_wire() {
    for state in DeploymentState::ALL {
        assert_eq!(state.as_str(), on_the_wire(&state));
    }
    for severity in Severity::ALL {
        assert_eq!(severity.as_str(), on_the_wire(&severity));
    }
    for state in ItemState::ALL {
        assert_eq!(state.as_str(), on_the_wire(&state));
    }
    for state in [
        OperationState::Running,
        OperationState::Succeeded,
        OperationState::Failed,
        OperationState::Cancelled,
    ] {
        assert_eq!(state.as_str(), on_the_wire(&state));
    }
}

/// Programs match on these names, so a change must be deliberate.
#[test]
fn the_names_of_states_and_codes_stay() {
    let mut names: Vec<String> = DeploymentState::ALL.map(|state| state.as_str().to_owned()).into();
    names.extend(ItemState::ALL.map(|state| state.as_str().to_owned()));
    names.extend(Severity::ALL.map(|severity| severity.as_str().to_owned()));
    names.extend(Code::ALL.iter().map(|code| format!("{} {code}", code.status())));
    let golden = include_str!("golden/names.txt");
    let found = format!("{}\n", names.join("\n"));
    assert_eq!(found, golden, "write tests/golden/names.txt anew if the change is meant");
}
