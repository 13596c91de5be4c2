//! Handlers against a server with scripted answers, and against one that never answers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::IntoResponse as _,
};
use link_agent_core::record::Report;
use link_client::http::Http;
use link_protocol::{
    config::{self, LogTarget, ReportingHandler},
    counter::Generation,
    id::DeviceId,
    release::Channel,
    report::{
        CommandReport, CommandResult, LifecycleReport, LifecycleStatus, LogRecord, ModelReport,
        ModelState, ProgressEvent, ProgressReport, Provenance, Severity, TelemetryReport,
    },
    system::{MemoryUsage, ProcessUsage, SystemReport},
};

use super::*;
use crate::control::transport::Way;

const ID: &str = "00000000000000000000000000000001";

/// The requests a backend has received, and its next answers; without one it answers 200.
#[derive(Clone, Default)]
struct Seen {
    calls: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<Vec<u16>>>,
    /// The time of each call.
    times: Arc<Mutex<Vec<Instant>>>,
    /// The `Retry-After` header of every answer.
    retry_after: Arc<Mutex<Option<&'static str>>>,
}

// Holds: S4.3-2, S4.3-5, S2.3-8, S4.3-3, S4.3-4
#[tokio::test]
async fn lifecycle_is_put_and_everything_else_posted_where_the_templates_say() {
    let (seen, http) = backend(&[]).await;
    let sink = reports(http.clone(), "{}");
    for item in items() {
        assert!(sink.deliver(&item).await.is_ok(), "{item:?}");
    }
    let record = LogRecord {
        message: "m".to_owned(),
        severity: Severity::Info,
        category: "other".to_owned(),
    };
    let logs =
        Sink::Backend(Box::new(Target::of_logs(Way::Http(http), device(), &LogTarget::default())));
    assert!(logs.deliver(&Item::Log(record)).await.is_ok());
    let agent = format!("/api/v1/agent/dev_{ID}");
    assert_eq!(
        *seen.calls.lock().unwrap(),
        [
            format!("PUT {agent}/status"),
            format!("POST {agent}/commands/cmd_{ID}/status"),
            format!("POST {agent}/models/mdl_{ID}/status"),
            format!("POST {agent}/models/mdl_{ID}/deployment"),
            format!("POST {agent}/models/mdl_{ID}/telemetry"),
            format!("POST {agent}/system"),
            "POST /api/v1/logs".to_owned(),
        ]
    );
}

// Holds: S4.3-5, S2.3-8
#[tokio::test]
async fn a_template_of_the_configuration_counts() {
    let (seen, http) = backend(&[]).await;
    let sink = reports(http, r#"{"command_status": "/results/{cid}/of/${identity.device_id}"}"#);
    assert!(sink.deliver(&items()[1]).await.is_ok());
    let path = format!("POST /api/v1/results/cmd_{ID}/of/dev_{ID}");
    assert_eq!(*seen.calls.lock().unwrap(), [path]);
}

// Holds: S7-6, S8-6
#[tokio::test]
async fn what_may_pass_is_tried_three_times_and_a_refusal_once() {
    let (seen, http) = backend(&[503, 500, 502, 503, 503, 200, 404]).await;
    let sink = reports(http, "{}");
    let item = &items()[0];
    let given_up = sink.deliver(item).await.unwrap_err();
    assert!(matches!(given_up, Failure::Unavailable { .. }), "{given_up:?}");
    assert_eq!(seen.calls.lock().unwrap().len(), 3);
    assert!(sink.deliver(item).await.is_ok());
    assert_eq!(seen.calls.lock().unwrap().len(), 6);
    let refused = sink.deliver(item).await.unwrap_err();
    let Failure::Refused(refused) = refused else { panic!("{refused:?}") };
    assert_eq!((refused.status, refused.retryable), (404, false));
    assert_eq!(seen.calls.lock().unwrap().len(), 7);
}

/// A handler waits as long as its configuration says, and 10 s without a word, for each of its three tries; between
/// them it waits 0.5 and 1.5 s. The clock is the test's: it jumps to the next deadline when nothing else can go on.
// Holds: S2.3-7, S8-5, S8-6
#[tokio::test(start_paused = true)]
async fn a_backend_that_is_silent_costs_a_handler_three_timeouts_and_two_pauses() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    link_client::install_crypto();
    let http = Http::new(&format!("http://{}", silent.local_addr().unwrap())).unwrap();
    for (args, waited) in [("{}", 32.0), (r#"{"timeout": 2.5}"#, 9.5), (r#"{"timeout": 20}"#, 62.0)]
    {
        let sink = reports(http.clone(), args);
        let began = tokio::time::Instant::now();
        let given_up = sink.deliver(&items()[0]).await.unwrap_err();
        assert!(matches!(given_up, Failure::Unavailable { .. }), "{given_up:?}");
        let took = began.elapsed().as_secs_f64();
        assert!((took - waited).abs() < 0.1, "{args}: {took} s");
    }
}

#[tokio::test]
async fn what_no_try_has_delivered_is_counted_as_lost() {
    let (seen, http) = backend(&[503, 503, 503, 404, 200]).await;
    let queue = Handler::queue();
    let handler = Handler::start("test", reports(http, "{}"), queue.clone()).unwrap();
    items().into_iter().take(3).for_each(|item| queue.push(item));
    let all_tried = async {
        while seen.calls.lock().unwrap().len() < 5 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_tried).await.unwrap();
    drop(handler);
    assert_eq!(queue.dropped(), 2);
}

#[tokio::test]
async fn what_is_kept_is_sent_once_the_backend_answers_and_is_lost_only_if_it_is_refused() {
    let (seen, http) = backend(&[503, 503, 503, 503, 200, 404]).await;
    let queue = Queue::new(8);
    let sending = drain("test", reports(http, "{}"), queue.clone(), 1, Undelivered::Kept);
    items().into_iter().take(2).for_each(|item| queue.push(item));
    let all_answered = async {
        while queue.dropped() < 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = sending => unreachable!("a queue has no end"),
        answered = tokio::time::timeout(Duration::from_secs(60), all_answered) => answered.unwrap(),
    }
    let calls = seen.calls.lock().unwrap();
    assert_eq!(calls.len(), 6, "four failures, then each is answered: {calls:?}");
    assert_eq!(calls[..5].iter().filter(|call| **call == calls[0]).count(), 5, "{calls:?}");
}

// Holds: S6-7, S6-9
#[tokio::test]
async fn who_hands_something_in_never_waits_for_a_backend_that_does_not_answer() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    link_client::install_crypto();
    let http = Http::new(&format!("http://{}", silent.local_addr().unwrap())).unwrap();
    let queue = Handler::queue();
    let handler = Handler::start("test", reports(http, "{}"), queue.clone()).unwrap();
    let item = items().remove(4);
    (0..3 * BOUND).for_each(|_| queue.push(item.clone()));
    assert!(queue.dropped() >= (2 * BOUND - 1) as u64, "{}", queue.dropped());
    drop(handler);
}

// Holds: S8-6
#[tokio::test]
async fn a_backend_that_asks_for_a_longer_wait_is_not_asked_earlier() {
    let (seen, http) = backend(&[503, 503]).await;
    *seen.retry_after.lock().unwrap() = Some("2");
    assert!(reports(http, "{}").deliver(&items()[0]).await.is_ok());
    let times = seen.times.lock().unwrap().clone();
    assert_eq!(times.len(), 3);
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= Duration::from_secs(2), "{:?}", pair[1] - pair[0]);
    }
}

async fn backend(answers: &[u16]) -> (Seen, Http) {
    let seen = Seen::default();
    seen.answers.lock().unwrap().extend(answers.iter().rev());
    let answer = |State(seen): State<Seen>, request: Request| async move {
        let call = format!("{} {}", request.method(), request.uri());
        seen.calls.lock().unwrap().push(call);
        seen.times.lock().unwrap().push(Instant::now());
        let status = seen.answers.lock().unwrap().pop().unwrap_or(200);
        let mut response = StatusCode::from_u16(status).unwrap().into_response();
        if let Some(wait) = *seen.retry_after.lock().unwrap() {
            response.headers_mut().insert(header::RETRY_AFTER, wait.parse().unwrap());
        }
        response
    };
    let router = Router::new().fallback(answer).with_state(seen.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    link_client::install_crypto();
    (seen, Http::new(&format!("http://{address}")).unwrap())
}

fn reports(http: Http, args: &str) -> Sink {
    let text = format!(
        r#"{{"schema_version": "2.1", "reporting": {{"handlers": [{{"type": "http", "args": {args}}}]}}}}"#
    );
    let (config, faults) = config::read(&text);
    assert!(faults.is_empty(), "{faults}");
    match config.reporting.handlers.into_iter().next() {
        Some(ReportingHandler::Http(targets)) => {
            Sink::Backend(Box::new(Target::of_reports(Way::Http(http), device(), targets)))
        }
        other => panic!("{other:?}"),
    }
}

fn device() -> DeviceId {
    format!("dev_{ID}").parse().unwrap()
}

fn items() -> Vec<Item> {
    let model_id = format!("mdl_{ID}").parse().unwrap();
    vec![
        Item::Report(Report::Lifecycle(LifecycleReport {
            status: LifecycleStatus::Online,
            agent_version: semver::Version::new(1, 3, 0),
            uptime_s: 5,
            update: None,
        })),
        Item::Report(Report::Command(CommandReport {
            command_id: format!("cmd_{ID}").parse().unwrap(),
            status: CommandResult::Succeeded,
            output: "done".to_owned(),
            attempt: 1,
        })),
        Item::Report(Report::Model(ModelReport {
            model_id,
            pipeline_id: format!("pip_{ID}").parse().unwrap(),
            state: ModelState::Serving,
            is_serving: true,
            port: 8080.try_into().unwrap(),
            allowlist_digest: "d".to_owned(),
            generation: Generation(1),
            detail: None,
        })),
        Item::Report(Report::Progress {
            model_id,
            progress: ProgressReport {
                deployment_id: Some(format!("dep_{ID}").parse().unwrap()),
                event: ProgressEvent::Downloading,
                bytes_done: 5,
                bytes_total: 100,
            },
        }),
        Item::Telemetry(TelemetryReport {
            inference_id: format!("inf_{ID}").parse().unwrap(),
            model_id,
            prompt_tokens: Some(1),
            completion_tokens: None,
            provenance: Provenance::Exact,
            audio_ms: None,
            images: None,
            duration_ms: 9,
            time_to_first_token_ms: None,
        }),
        Item::System(SystemReport {
            cpu_percent: 12.5,
            cpu_count: 8,
            load_1m: None,
            memory: MemoryUsage { used_bytes: 1, total_bytes: 2 },
            disk: None,
            temperature_celsius: None,
            gpus: vec![],
            engines: vec![],
            builds: vec![],
            channel: Channel::Stable,
            transport: None,
            agent: ProcessUsage { cpu_percent: 0.1, memory_bytes: 1 },
        }),
    ]
}
