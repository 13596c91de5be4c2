//! Reports about the models that a device serves: which report is newer, and which models are gone.

use link_protocol::{
    counter::{Epoch, Generation},
    report::{ModelReport, ModelState},
};

/// The position of a stored report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reported {
    pub epoch: Epoch,
    pub generation: Generation,
}

/// Tells whether a report in `epoch` replaces the stored one. A new epoch starts the generations again. Within an
/// epoch, a report with an older generation has arrived late.
#[must_use]
pub fn takes_place(stored: Option<Reported>, epoch: Epoch, generation: Generation) -> bool {
    stored.is_none_or(|stored| stored.epoch != epoch || generation >= stored.generation)
}

/// Returns those `stored` states whose models the device has not `listed` at the start of a connection, marked as
/// removed.
#[must_use]
pub fn gone(stored: Vec<ModelReport>, listed: &[ModelReport]) -> Vec<ModelReport> {
    let is_listed =
        |state: &ModelReport| listed.iter().any(|report| report.model_id == state.model_id);
    stored
        .into_iter()
        .filter(|state| state.state != ModelState::Removed && !is_listed(state))
        .map(|state| ModelReport { is_serving: false, state: ModelState::Removed, ..state })
        .collect()
}

/// Returns the word for whether a reported model is `served` or `given_up`, or no word. A device that has given a model up
/// says why; of a model that somebody has stopped, it says nothing.
#[must_use]
pub fn service(report: &ModelReport) -> &'static str {
    let says_why = report.detail.as_ref().is_some_and(|detail| !detail.is_empty());
    match report.state {
        _ if report.is_serving => "served",
        ModelState::NotServing if says_why => "given_up",
        ModelState::NotServing
        | ModelState::Starting
        | ModelState::Serving
        | ModelState::Stopping
        | ModelState::Removed => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_given_up_by_a_device_that_says_why() {
        let with = |state: &str, detail: Option<&str>| {
            service(&ModelReport { detail: detail.map(str::to_owned), ..report(1, state) })
        };
        assert_eq!(with("serving", None), "served");
        assert_eq!(with("serving", Some("it was slow")), "served");
        assert_eq!(with("not_serving", Some("the port is taken")), "given_up");
        for (state, detail) in [
            ("not_serving", None),
            ("not_serving", Some("")),
            ("starting", Some("again")),
            ("stopping", Some("soon")),
            ("removed", Some("gone")),
        ] {
            assert_eq!(with(state, detail), "", "{state} {detail:?}");
        }
    }

    #[test]
    fn an_older_generation_of_the_same_epoch_came_late() {
        let stored = Some(Reported { epoch: Epoch(2), generation: Generation(5) });
        let takes =
            |stored, epoch, generation| takes_place(stored, Epoch(epoch), Generation(generation));
        assert!(takes(None, 1, 0));
        assert!(takes(stored, 2, 5) && takes(stored, 2, 6));
        assert!(!takes(stored, 2, 4));
        assert!(takes(stored, 3, 1), "another epoch begins again");
    }

    #[test]
    fn what_a_device_does_not_list_is_gone_once() {
        let (here, away, removed) =
            (report(1, "serving"), report(2, "serving"), report(3, "removed"));
        let gone = gone(vec![here.clone(), away.clone(), removed], std::slice::from_ref(&here));
        let expected = ModelReport { is_serving: false, state: ModelState::Removed, ..away };
        assert_eq!(gone, [expected]);
    }

    fn report(number: u8, state: &str) -> ModelReport {
        let value = json!({
            "model_id": format!("mdl_{number:032x}"), "pipeline_id": format!("pip_{number:032x}"),
            "state": state, "is_serving": state == "serving", "port": 8080,
            "allowlist_digest": "", "generation": 1,
        });
        serde_json::from_value(value).unwrap()
    }
}
