//! A page of the dashboard: the data layer that is behind the real pages, in Node (`web/tests/real_page.ts`). It logs in, loads the
//! lists of an account and follows the event stream through the same faults, so at the end it shows what the API says.

use std::{
    collections::BTreeMap,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use link_client::backend::BackendClient;
use link_protocol::{backend_api::event::EventKind, id::DeviceId};
use link_tests::{
    backend::{EMAIL, PASSWORD},
    program,
    wait::until,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/tests/real_page.ts");
/// The kinds of what the page shows, the names of their ids, and their lists. The page leaves out deployments that others have
/// replaced, and the commands of other devices.
const LISTS: [(EventKind, &str, &str); 4] = [
    (EventKind::Device, "device_id", "devices?"),
    (EventKind::Deployment, "deployment_id", "deployments?current=true&"),
    (EventKind::Model, "model_id", "models?"),
    (EventKind::Command, "command_id", "commands?device_id="),
];
/// The members of a device that change without an event: the stream tells them as `system`, or not at all.
const UNTOLD: [&str; 2] = ["last_seen_at", "system"];
/// How many commands of its device the page loads, the newest first.
const COMMANDS: usize = 100;
/// The timeout of a request for a list, and of an answer of the page.
const ANSWER: Duration = Duration::from_secs(10);
/// The wait before the next look.
const PAUSE: Duration = Duration::from_millis(200);
/// How long after the last fault a page may show something old.
pub(super) const CATCHES_UP: Duration = Duration::from_secs(60);

/// Documents, by their kind and id.
type Shown = BTreeMap<(EventKind, String), Value>;

/// A deliberate fault between page and backend, to verify that the check finds what a page has missed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Slip {
    /// Each list is answered as it was the first time, as by a cache that should not be there.
    LoadsOnce,
}

/// How often the page had to do what.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
pub(super) struct Trouble {
    /// Its stream was cut.
    pub(super) cuts: usize,
    /// It opened the stream.
    pub(super) opened: usize,
    /// It loaded the lists.
    pub(super) loaded: usize,
}

/// A page that does not show what the API says.
#[derive(Debug)]
pub(super) struct Differs {
    pub(super) what: String,
    pub(super) trouble: Trouble,
}

/// An open page. Dropping the value closes it.
pub(super) struct Page {
    api: Api,
    device: DeviceId,
    asks: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _program: Child,
}

/// A connection to the API with the login of the account's owner.
struct Api {
    http: reqwest::Client,
    url: String,
    owner: Arc<BackendClient>,
}

impl Page {
    /// Opens a page at `url` that logs in as the owner of the account, and shows the commands of `device`. Returns once it follows
    /// the stream.
    pub(super) async fn open(
        url: &str,
        owner: &Arc<BackendClient>,
        device: DeviceId,
        slip: Option<Slip>,
    ) -> Self {
        let mut program = tokio::process::Command::new(program::node())
            .arg(PROGRAM)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut asks = program.stdin.take().unwrap();
        let answers = BufReader::new(program.stdout.take().unwrap()).lines();
        let opening = json!({
            "origin": url,
            "email": EMAIL,
            "password": PASSWORD,
            "device_id": device,
            "stale": slip == Some(Slip::LoadsOnce),
        });
        asks.write_all(format!("{opening}\n").as_bytes()).await.unwrap();
        let mut answers = answers;
        let live = tokio::time::timeout(CATCHES_UP, answers.next_line()).await;
        live.expect("the page follows the stream").unwrap().expect("the page is open");
        let http = reqwest::Client::builder().connect_timeout(ANSWER).build().unwrap();
        let api = Api { http, url: url.to_owned(), owner: Arc::clone(owner) };
        Self { api, device, asks, answers, _program: program }
    }

    /// Waits until the page shows what the API says.
    ///
    /// # Errors
    /// What differs after `patience`.
    pub(super) async fn catches_up(&mut self, patience: Duration) -> Result<Trouble, Differs> {
        let deadline = Instant::now() + patience;
        loop {
            let (shown, trouble) = self.shown().await;
            let commands = shown.keys().filter(|(kind, _)| *kind == EventKind::Command).count();
            let wanted = until("the lists of the API", || async {
                self.api.lists(self.device, commands.max(COMMANDS)).await.ok()
            });
            match difference(&shown, &wanted.await) {
                None => return Ok(trouble),
                Some(_) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Some(what) => return Err(Differs { what, trouble }),
            }
        }
    }

    /// Asks the page what it shows.
    async fn shown(&mut self) -> (Shown, Trouble) {
        self.asks.write_all(b"\n").await.unwrap();
        let line = tokio::time::timeout(CATCHES_UP, self.answers.next_line()).await;
        let line = line.expect("the page answers").unwrap().expect("the page is open");
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        let trouble = serde_json::from_value(answer["trouble"].take()).unwrap();
        let mut shown = Shown::new();
        for (kind, id, _) in LISTS {
            take(&mut shown, kind, id, answer[kind.as_str()].take());
        }
        (shown, trouble)
    }
}

impl Api {
    /// Returns what a page shows of the account, with that many commands of `device`.
    async fn lists(&self, device: DeviceId, commands: usize) -> reqwest::Result<Shown> {
        let mut all = Shown::new();
        for (kind, id, path) in LISTS {
            let items = if kind == EventKind::Command {
                let mut items = self.list(&format!("{path}{device}&")).await?;
                items.truncate(commands);
                items
            } else {
                self.list(path).await?
            };
            take(&mut all, kind, id, items.into());
        }
        Ok(all)
    }

    async fn list(&self, path: &str) -> reqwest::Result<Vec<Value>> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let mut page = self.page(&format!("{path}limit=200{cursor}")).await?;
            all.append(page["items"].as_array_mut().unwrap());
            let Some(next) = page["next_cursor"].as_str() else { return Ok(all) };
            let next = format!("&cursor={next}");
            assert_ne!(next, cursor, "a list goes on");
            cursor = next;
        }
    }

    async fn page(&self, path: &str) -> reqwest::Result<Value> {
        let request = self.http.get(format!("{}/api/v1/{path}", self.url)).timeout(ANSWER);
        let answer = request.bearer_auth(self.owner.access_token().expose()).send().await?;
        answer.error_for_status()?.json().await
    }
}

/// Adds documents without what changes without an event.
fn take(all: &mut Shown, kind: EventKind, id: &str, items: Value) {
    let Value::Array(items) = items else { panic!("{kind:?} is a list: {items}") };
    for mut item in items {
        let name = item[id].as_str().unwrap().to_owned();
        let members = item.as_object_mut().unwrap();
        UNTOLD.iter().for_each(|name| drop(members.remove(*name)));
        all.insert((kind, name), item);
    }
}

/// Returns the first document that differs.
fn difference(shown: &Shown, wanted: &Shown) -> Option<String> {
    let keys = shown.keys().chain(wanted.keys());
    let (of_page, of_api) = keys
        .map(|key| (shown.get(key), wanted.get(key)))
        .find(|(of_page, of_api)| of_page != of_api)?;
    Some(format!("the page shows {of_page:?}, the API says {of_api:?}"))
}
