//! A page of the dashboard: it loads the lists of an account, follows the event stream, and goes on after each cut. It keeps
//! the rules for readers of the stream, so at the end it shows what the API says.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use link_client::backend::BackendClient;
use link_protocol::backend_api::event::EventKind;
use link_tests::wait::until;
use serde_json::Value;
use tokio::task::JoinHandle;

/// What the page shows, the path of its list, and the name of its id.
const LISTS: [(EventKind, &str, &str); 3] = [
    (EventKind::Device, "devices", "device_id"),
    (EventKind::Deployment, "deployments", "deployment_id"),
    (EventKind::Command, "commands", "command_id"),
];
/// The members of a device that change without an event: the stream tells them as `system`, or not at all.
const UNTOLD: [&str; 2] = ["last_seen_at", "system"];
/// The longest silence. The backend sends a heartbeat each 15 s.
const SILENCE: Duration = Duration::from_secs(40);
/// The timeout of a request for a list.
const ANSWER: Duration = Duration::from_secs(10);
/// The wait before the next attempt.
const PAUSE: Duration = Duration::from_millis(50);
/// How long after the last fault a page may show something old.
pub(super) const CATCHES_UP: Duration = Duration::from_secs(60);

/// Documents, by their kind and id.
type Shown = BTreeMap<(EventKind, String), Value>;

/// A deliberate fault of a page, to verify that the check finds it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Slip {
    /// It goes on without what it has missed, where the backend cannot tell it any more.
    LoadsOnce,
}

/// How often the page had to do what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    pub(super) cuts: usize,
    pub(super) resumed: usize,
    pub(super) loaded: usize,
}

/// An open page. Dropping the value closes it.
pub(super) struct Page {
    api: Api,
    state: Arc<Mutex<(Shown, Trouble)>>,
    reading: JoinHandle<()>,
}

/// Why a stream has ended: it was cut, or an answer did not arrive.
#[derive(Debug)]
struct Cut;

/// A connection to the API with the login of the account's owner.
#[derive(Clone)]
struct Api {
    http: reqwest::Client,
    url: String,
    owner: Arc<BackendClient>,
}

struct Reader {
    api: Api,
    state: Arc<Mutex<(Shown, Trouble)>>,
    slip: Option<Slip>,
    last: Option<String>,
}

impl Page {
    /// Opens a page at `url`, with the login of `owner`.
    pub(super) fn open(url: &str, owner: &Arc<BackendClient>, slip: Option<Slip>) -> Self {
        let state = Arc::<Mutex<(Shown, Trouble)>>::default();
        let api = Api::new(url, owner);
        let mut reader = Reader { api: api.clone(), state: Arc::clone(&state), slip, last: None };
        let reading = tokio::spawn(async move {
            loop {
                let Err(Cut) = reader.follow().await;
                reader.state.lock().unwrap().1.cuts += 1;
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { api, state, reading }
    }

    /// Waits until the page shows what the API says.
    ///
    /// # Errors
    /// What differs after `patience`.
    pub(super) async fn catches_up(&self, patience: Duration) -> Result<Trouble, String> {
        let deadline = Instant::now() + patience;
        loop {
            let wanted = until("the lists of the API", || async { self.api.lists().await.ok() });
            let wanted = wanted.await;
            let (shown, trouble) = self.state.lock().unwrap().clone();
            match difference(&shown, &wanted) {
                None => return Ok(trouble),
                Some(_) if Instant::now() < deadline => tokio::time::sleep(PAUSE * 4).await,
                Some(difference) => return Err(format!("{difference}, after {trouble:?}")),
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Reader {
    /// Follows the stream until it is cut.
    async fn follow(&mut self) -> Result<std::convert::Infallible, Cut> {
        let mut request = self.api.get("events?kinds=device,deployment,command");
        if let Some(last) = &self.last {
            request = request.header("last-event-id", last);
        }
        let answer = tokio::time::timeout(ANSWER, request.send()).await.map_err(|_| Cut)?;
        let mut answer = answer.map_err(|_| Cut)?.error_for_status().map_err(|_| Cut)?;
        let mut read = Vec::new();
        loop {
            let piece = tokio::time::timeout(SILENCE, answer.chunk()).await.map_err(|_| Cut)?;
            let piece = piece.map_err(|_| Cut)?.ok_or(Cut)?;
            read.extend_from_slice(&piece);
            while let Some(end) = read.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = read.drain(..end + 2).collect();
                self.take(std::str::from_utf8(&frame).unwrap()).await?;
            }
        }
    }

    /// Takes an event, or a comment without one.
    async fn take(&mut self, frame: &str) -> Result<(), Cut> {
        let field = |name: &str| {
            frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let Some(event) = field("event") else { return Ok(()) };
        let data: Value = serde_json::from_str(field("data").unwrap_or("{}")).unwrap();
        match event {
            "ready" if data["resumed"] == true => self.state.lock().unwrap().1.resumed += 1,
            "ready" | "reset" => self.load().await?,
            "end" => return Err(Cut),
            kind => self.apply(kind.parse().unwrap(), data),
        }
        // Only now: whoever names an event has applied it.
        self.last = field("id").map(str::to_owned);
        Ok(())
    }

    async fn load(&mut self) -> Result<(), Cut> {
        let before = self.state.lock().unwrap().1.loaded;
        if self.slip == Some(Slip::LoadsOnce) && before > 0 {
            return Ok(());
        }
        // What it has missed is missing until it has loaded: a stream that is cut meanwhile begins anew.
        self.last = None;
        let loaded = self.api.lists().await?;
        let mut state = self.state.lock().unwrap();
        state.0 = loaded;
        state.1.loaded += 1;
        Ok(())
    }

    fn apply(&self, kind: EventKind, event: Value) {
        let Value::Object(mut event) = event else { panic!("an event is an object") };
        let id = event["id"].as_str().unwrap().to_owned();
        let item = event.remove("item").filter(|item| !item.is_null());
        let mut state = self.state.lock().unwrap();
        match (event["change"].as_str(), item) {
            (Some("changed"), Some(item)) => drop(state.0.insert((kind, id), told(item))),
            (Some("removed"), _) => drop(state.0.remove(&(kind, id))),
            other => panic!("an event has changed or removed something: {other:?}"),
        }
    }
}

impl Api {
    fn new(url: &str, owner: &Arc<BackendClient>) -> Self {
        let http = reqwest::Client::builder().connect_timeout(ANSWER).build().unwrap();
        Self { http, url: url.to_owned(), owner: Arc::clone(owner) }
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.get(format!("{}/api/v1/{path}", self.url));
        request.bearer_auth(self.owner.access_token().expose())
    }

    async fn lists(&self) -> Result<Shown, Cut> {
        let mut all = Shown::new();
        for (kind, path, id) in LISTS {
            let mut cursor = String::new();
            loop {
                let page = self.page(&format!("{path}?limit=200{cursor}")).await?;
                for item in page["items"].as_array().unwrap() {
                    let name = item[id].as_str().unwrap().to_owned();
                    all.insert((kind, name), told(item.clone()));
                }
                let Some(next) = page["next_cursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
        }
        Ok(all)
    }

    async fn page(&self, path: &str) -> Result<Value, Cut> {
        let answer = self.get(path).timeout(ANSWER).send().await.map_err(|_| Cut)?;
        let answer = answer.error_for_status().map_err(|_| Cut)?;
        answer.json().await.map_err(|_| Cut)
    }
}

/// Removes from a document what changes without an event.
fn told(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        UNTOLD.iter().for_each(|name| drop(members.remove(*name)));
    }
    document
}

/// Returns the first document that differs.
fn difference(shown: &Shown, wanted: &Shown) -> Option<String> {
    let keys = shown.keys().chain(wanted.keys());
    let (of_page, of_api) = keys
        .map(|key| (shown.get(key), wanted.get(key)))
        .find(|(of_page, of_api)| of_page != of_api)?;
    Some(format!("the page shows {of_page:?}, the API says {of_api:?}"))
}
