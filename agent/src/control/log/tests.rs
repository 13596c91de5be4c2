//! Tests which messages become records.

use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

// Holds: S2.4-1, S2.4-2, S2.4-3, S2.4-4, S6-6
#[tokio::test]
async fn a_record_has_a_message_a_severity_and_a_category_and_nothing_else() {
    let records = Records::taking(Level::Debug);
    tracing::subscriber::with_default(subscriber(&records), || {
        tracing::error!(category = "security", attempts = 3, "a token was refused");
        tracing::warn!("the disk is nearly full");
        tracing::info!(device = %"dev_1", "ready");
        tracing::debug!("a detail");
    });
    let expected = [
        r#"{"message":"a token was refused attempts=3","severity":"error","category":"security"}"#,
        r#"{"message":"the disk is nearly full","severity":"warning","category":"other"}"#,
        r#"{"message":"ready device=dev_1","severity":"info","category":"other"}"#,
        r#"{"message":"a detail","severity":"info","category":"other"}"#,
    ];
    for text in expected {
        assert_eq!(records.next().await, text);
    }
}

#[tokio::test]
async fn a_handler_takes_what_is_severe_enough_and_is_the_agents_own() {
    let records = Records::taking(Level::Warning);
    tracing::subscriber::with_default(subscriber(&records), || {
        tracing::info!("not severe enough");
        tracing::error!(target: "hyper::proto", "not ours");
        tracing::error!(target: "link_agent::control::handler::http", "said while a record is sent");
        tracing::error!(target: LOCAL, "stays here");
        tracing::error!("{}", "x".repeat(10_000));
    });
    let text = records.next().await;
    assert!(text.starts_with(r#"{"message":"xxx"#) && text.len() < 5000, "{text}");
}

#[tokio::test]
async fn a_warning_that_repeats_becomes_one_record() {
    let records = Records::taking(Level::Debug);
    let all = tracing_subscriber::registry().with(records.clone()).with(Repeats::new());
    tracing::subscriber::with_default(all, || {
        (0..1000).for_each(|_| tracing::warn!(attempt = 1, "ignored a delivery"));
        (0..2).for_each(|_| tracing::info!("not a warning"));
        // A different request id does not make it a new warning.
        (0..1000).for_each(|id| tracing::warn!(request = id, "the engine did not answer"));
        tracing::info!("the last");
    });
    let expected = [
        "ignored a delivery attempt=1",
        "not a warning",
        "not a warning",
        "the engine did not answer request=0",
        "the last",
    ];
    for message in expected {
        let text = records.next().await;
        assert!(text.contains(message), "{text}");
    }
    assert_eq!(records.dropped(), 0);
}

impl Records {
    /// Returns records of `level` and above, which [`Self::next`] reads in the place of a backend.
    pub(crate) fn taking(level: Level) -> Self {
        let target = LogTarget { level, ..LogTarget::default() };
        Self(vec![Taker { target, queue: Handler::queue(), over_zenoh: false }])
    }

    /// Waits for the next record, and returns its JSON text.
    pub(crate) async fn next(&self) -> String {
        match self.0[0].queue.pop().await {
            Item::Log(record) => serde_json::to_string(&record).unwrap(),
            other @ (Item::Report(_) | Item::Telemetry(_) | Item::System(_)) => panic!("{other:?}"),
        }
    }
}

fn subscriber(records: &Records) -> impl Subscriber + use<> {
    tracing_subscriber::registry().with(records.clone())
}
