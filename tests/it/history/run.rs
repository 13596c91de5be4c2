//! One run: devices, a caller and faults, all from one seed, then a quiet phase until no command is
//! open.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use link_client::http::Http;
use link_load::{
    device::Flaw,
    fleet::{Behaviour, Fleet},
    history::Event,
    identities,
    record::Record,
    shared::Faults,
    transport::{self, zenoh::Zenoh},
};
use link_protocol::{id::DeviceId, key::KeyKind};
use link_tests::{backend::TestBackend, device::free_port};
use rand::RngExt as _;
use tokio::task::JoinSet;

use super::{
    caller::Caller,
    page::{CATCHES_UP, Differs, Page, Slip, Trouble},
    replicas::{Replicas, Size},
};
use crate::{cluster::Cluster, fault_proxy::FaultProxy};

const DEVICES: usize = 4;
/// The longest wait of a device before a reconnection. With an agent's 60 s, a device whose connection was cut six times
/// would come back only after the timeout of the quiet phase.
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// How long faults occur.
const BREAKS_FOR: Duration = Duration::from_secs(4);
/// The share of connections that the proxy breaks.
const BREAKS: f64 = 0.5;
const FAULTS: Faults =
    Faults { duplicate: 0.4, lose_receipt: 0.15, lose_answer: 0.15, restart: 0.1 };

/// How the devices reach the backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Over {
    Http,
    Zenoh,
}

/// The connections that break: to the API, and to the router if there is one.
struct Ways {
    api: FaultProxy,
    router: Option<FaultProxy>,
}

/// What a run leaves behind.
pub(super) struct Ran {
    pub(super) events: Vec<Event>,
    /// What a page went through that shows what the API says, or what differs.
    pub(super) page: Result<Trouble, Differs>,
}

/// Runs a seed against one backend. A page follows the event stream meanwhile.
pub(super) async fn run(over: Over, seed: u64, flaw: Option<Flaw>, slip: Option<Slip>) -> Ran {
    let (mut backend, ways) = start(over, seed).await;
    let key = backend.key(KeyKind::Fleet).await;
    let direct = Http::new(&backend.url).unwrap();
    let identities = identities::register(&direct, &key, 0, DEVICES).await.unwrap();
    let devices: Vec<DeviceId> = identities.iter().map(|identity| identity.device_id).collect();
    let model = backend.model_at("simulated", "http://127.0.0.1:9/model", b"model").await.model_id;

    let record = Arc::new(Record::in_memory());
    let behaviour = behaviour(seed, flaw);
    let url = format!("http://{}", ways.api.address);
    let http = transport::http::Http::new(&url).unwrap();
    let kept = Arc::clone(&record);
    let fleet = match over {
        Over::Http => Fleet::start(identities, &http, behaviour, kept),
        Over::Zenoh => Fleet::start(identities, &Zenoh::new(http), behaviour, kept),
    };
    let mut page = Page::open(&url, &backend.owner, devices[0], slip).await;
    let mut caller = Caller::new(&url, &backend.owner, &record, model, devices, seed);
    caller.deploy_everywhere(&backend).await;

    let end = Instant::now() + BREAKS_FOR;
    let mut kills = [end - BREAKS_FOR * 2 / 3, end - BREAKS_FOR / 4].into_iter().peekable();
    // A busy machine accepts few commands in the given time.
    let latest = end + BREAKS_FOR * 5;
    while Instant::now() < end || (caller.accepted.len() < 20 && Instant::now() < latest) {
        if kills.next_if(|time| Instant::now() >= *time).is_some() {
            backend.kill();
            backend.restart().await;
        }
        if caller.chance.random_bool(0.03) {
            ways.cut();
        }
        caller.ask().await;
        tokio::time::sleep(Duration::from_millis(caller.chance.random_range(1..40))).await;
    }
    ways.calm();
    let owners = [Arc::clone(&backend.owner)];
    caller.settle(&owners).await;
    let page = page.catches_up(patience(slip)).await;
    drop(fleet);
    caller.observe(&owners).await;
    Ran { events: record.events(), page }
}

/// Returns how long a page may show something old. A page with a deliberate fault shows it for ever.
fn patience(slip: Option<Slip>) -> Duration {
    slip.map_or(CATCHES_UP, |_slip| Duration::from_secs(5))
}

/// Runs a seed against two backends on one database of the server. If it `loses`, an accepted command is deleted from the
/// database at the end.
pub(super) async fn run_replicas(
    cluster: &mut Cluster,
    size: Size,
    seed: u64,
    flaw: Option<Flaw>,
    loses: bool,
) -> Ran {
    let mut replicas = Replicas::start(cluster, seed, size).await;
    let identities = replicas.register(seed).await;
    let devices: Vec<DeviceId> = identities.iter().map(|identity| identity.device_id).collect();
    let first = replicas.first();
    let model = first.model_at("simulated", "http://127.0.0.1:9/model", b"model").await.model_id;

    let record = Arc::new(Record::in_memory());
    let proxy = FaultProxy::start(replicas.addresses(), size.breaks, seed).await;
    let url = format!("http://{}", proxy.address);
    let http = transport::http::Http::new(&url).unwrap();
    let fleet = Fleet::start(identities, &http, behaviour(seed, flaw), Arc::clone(&record));
    let mut page = Page::open(&url, &first.owner, devices[0], None).await;
    let share = size.devices.div_ceil(size.callers);
    let progress = Arc::new(AtomicUsize::new(0));
    let mut callers: Vec<Caller> = devices
        .chunks(share)
        .zip(seed * 1_000..)
        .map(|(devices, seed)| {
            let devices = devices.to_vec();
            let mut caller = Caller::new(&url, &first.owner, &record, model, devices, seed);
            caller.progress = Arc::clone(&progress);
            caller
        })
        .collect();
    join_all(callers.iter_mut().map(|caller| caller.deploy_everywhere(first))).await;

    let end = Instant::now() + size.breaks_for;
    let over = Arc::new(AtomicBool::new(false));
    let asking: JoinSet<Caller> =
        callers.into_iter().map(|caller| caller.ask_until(Arc::clone(&over))).collect();
    let faults = replicas.breaks(end, &proxy, &progress).await;
    over.store(true, Ordering::Relaxed);
    let callers = asking.join_all().await;
    proxy.calm();
    replicas.recovered().await;
    let owners = replicas.owners();
    join_all(callers.iter().map(|caller| caller.settle(&owners))).await;
    let tally = fleet.tally();
    eprintln!("{faults} faults, {} connections, {} hellos", tally.connects, tally.hellos);
    let page = page.catches_up(CATCHES_UP).await;
    drop(fleet);
    if loses {
        replicas.lose(callers[0].accepted[0].1).await;
    }
    join_all(callers.iter().map(|caller| caller.observe(&owners))).await;
    Ran { events: record.events(), page }
}

const fn behaviour(seed: u64, flaw: Option<Flaw>) -> Behaviour {
    Behaviour {
        work: Duration::from_millis(40),
        faults: FAULTS,
        seed,
        flaw,
        longest_wait: LONGEST_WAIT,
        keeps_acknowledgements: false,
    }
}

/// Starts a backend, and the proxies that break its connections.
async fn start(over: Over, seed: u64) -> (TestBackend, Ways) {
    let (backend, router) = match over {
        Over::Http => (TestBackend::start().await, None),
        Over::Zenoh => {
            let listens = SocketAddr::from(([127, 0, 0, 1], free_port().get()));
            let router = FaultProxy::start(vec![listens], BREAKS, seed + 1).await;
            let (listen, endpoint) = (format!("tcp/{listens}"), format!("tcp/{}", router.address));
            let arguments = ["--zenoh-listen", &listen, "--zenoh-endpoint", &endpoint];
            (TestBackend::start_with(&arguments).await, Some(router))
        }
    };
    let api = backend.url.trim_start_matches("http://").parse().unwrap();
    let api = FaultProxy::start(vec![api], BREAKS, seed).await;
    (backend, Ways { api, router })
}

impl Ways {
    /// Cuts every connection.
    fn cut(&self) {
        self.each(FaultProxy::cut);
    }

    /// Cuts every connection, and breaks none afterwards.
    fn calm(&self) {
        self.each(FaultProxy::calm);
    }

    fn each(&self, act: impl Fn(&FaultProxy)) {
        [Some(&self.api), self.router.as_ref()].into_iter().flatten().for_each(act);
    }
}
