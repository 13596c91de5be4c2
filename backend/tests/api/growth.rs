//! The cost of an operation does not grow with the fleet or its history. The test counts the rows that statements visit
//! with few records and with many, on both databases.
//!
//! SQLite reports the steps of its virtual machine for each statement, PostgreSQL the rows that each node of a plan
//! reads (`auto_explain`, sent to the client). `LINK_TEST_FULL` uses the sizes of a large installation.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "reads which sizes are asked for, and the figures are the point"
)]

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    subscriber,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt as _},
};

use crate::{
    cluster::{Cluster, Database},
    harness::{Device, World, pair, registration},
};

/// The devices of an account, and the finished commands and deployments of each.
#[derive(Clone, Copy, Debug)]
struct Size {
    devices: u32,
    commands: u32,
    deployments: u32,
}

const FEW: Size = Size { devices: 60, commands: 2, deployments: 2 };
const MANY: Size = Size { devices: 2_500, commands: 8, deployments: 3 };
const FULL: Size = Size { devices: 10_000, commands: 100, deployments: 11 };

/// The size of the window of a filtered list, in rows.
const WINDOW: u64 = 2_000;

/// How the cost of an operation may grow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bound {
    /// It stays the same.
    Same,
    /// It grows up to the rows of one window.
    Window,
    /// It grows with the number of devices, but not with their history.
    Devices,
}

/// The work of each statement, by its text.
#[derive(Clone, Debug, Default)]
struct Visited(Arc<Mutex<BTreeMap<String, u64>>>);

impl Visited {
    fn take(&self) -> BTreeMap<String, u64> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<S: Subscriber> Layer<S> for Visited {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        match event.metadata().target() {
            "link_backend::statements" => event.record(&mut fields),
            "sqlx::postgres::notice" => {
                event.record(&mut fields);
                let Some((_, plan)) = fields.message.split_once("plan:") else { return };
                let plan: Value = serde_json::from_str(plan).unwrap();
                // A compiled plan costs more than any of these statements, so it is off.
                assert!(plan.get("JIT").is_none(), "{plan}");
                fields.text = plan["Query Text"].as_str().unwrap().to_owned();
                fields.steps = rows(&plan["Plan"]);
            }
            _ => return,
        }
        *self.0.lock().unwrap().entry(fields.text).or_default() += fields.steps;
    }
}

#[derive(Default)]
struct Fields {
    text: String,
    steps: u64,
    message: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "text" => value.clone_into(&mut self.text),
            "message" => value.clone_into(&mut self.message),
            _ => {}
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == "steps" {
            self.steps = u64::try_from(value).unwrap();
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

/// Returns the number of rows that the scans of a plan read, including rows that a filter dropped.
fn rows(plan: &Value) -> u64 {
    let number = |name: &str| plan[name].as_f64().unwrap_or(0.0);
    let own = if plan.get("Relation Name").is_some() || plan.get("Index Name").is_some() {
        let read = number("Actual Rows")
            + number("Rows Removed by Filter")
            + number("Rows Removed by Index Recheck");
        (read * number("Actual Loops")) as u64
    } else {
        0
    };
    let below = plan["Plans"].as_array().map_or(0, |plans| plans.iter().map(rows).sum());
    own + below
}

/// A fleet of a given size.
struct Fleet {
    world: World,
    user: String,
    /// The newest device, which was registered normally. All others are copies of it.
    device: Device,
    model: String,
    key: String,
}

impl Fleet {
    async fn new(world: World, size: Size) -> Self {
        let user = world.create_first_account().await;
        let device = world.online_device(&user).await;
        let model = world.model(&user, false).await;
        world.deployed(&user, &device, &model).await;
        world.put(&device.path("/system"), &device.token, json!({ "cpu_percent": 1.0 })).await;
        let key = world.key(&user, "fleet").await;
        let fleet = Self { world, user, device, model, key };
        fleet.seed(size).await;
        fleet
    }

    /// Copies the device with its history.
    async fn seed(&self, Size { devices, commands, deployments }: Size) {
        let count = |most: u32| {
            format!(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) "
            )
        };
        let id = |kind: &str, number: &str| {
            let zeros = "0".repeat(24);
            format!("'{kind}_{zeros}' || substr(CAST(100000000 + {number} AS TEXT), 2)")
        };
        let digest = format!("'{}' || substr(CAST(100000000 + n.i AS TEXT), 2)", "0".repeat(56));
        let (device, old) = (id("dev", "n.i"), id("dev", "(n.i - 1) / K + 1"));
        let per = |statement: String, each: u32| statement.replace('K', &each.to_string());
        let text = [
            format!(
                "INSERT INTO devices (device_id, account_id, name, token_digest, epoch, public_key, \
                 registered_with, tags, agent_version, platform, status, greeted_epoch, \
                 last_seen_ms, registered_ms, last_seq) {}SELECT {device}, account_id, name, \
                 {digest}, epoch, public_key, registered_with, '[\"lab\"]', agent_version, \
                 platform, status, greeted_epoch, last_seen_ms, registered_ms, last_seq \
                 FROM devices, n WHERE device_id = '{}'",
                count(devices),
                self.device.id
            ),
            format!(
                "INSERT INTO commands (command_id, device_id, seq, command, idempotency_key, state, \
                 attempt, result, reported_ms, issued_ms, expires_ms, account_id, unfinished, kind) {}SELECT {}, {}, \
                 n.i, command, idempotency_key, state, attempt, result, reported_ms, issued_ms, \
                 expires_ms, account_id, unfinished, kind FROM commands, n WHERE device_id = '{}'",
                count(devices * commands),
                id("cmd", "n.i"),
                per(old.clone(), commands),
                self.device.id
            ),
            format!(
                "INSERT INTO deployments (deployment_id, model_id, device_id, command_id, alias, \
                 port, state, bytes_done, bytes_total, allowlist, proxy, removed, created_ms, \
                 updated_ms, account_id, newest) {}SELECT {}, model_id, {}, {}, alias, port, state, \
                 bytes_done, bytes_total, allowlist, proxy, removed, created_ms, updated_ms, \
                 account_id, n.i % {deployments} = 0 FROM deployments, n WHERE device_id = '{}'",
                count(devices * deployments),
                id("dep", "n.i"),
                per(old, deployments),
                id("cmd", "n.i"),
                self.device.id
            ),
            format!(
                "UPDATE accounts SET devices = {} WHERE devices > 0",
                devices + 1
            ),
        ]
        .join(";\n");
        if let Some(database) = &self.world.database {
            let mut connection = PgConnection::connect(&database.url()).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
            sqlx::raw_sql("ANALYZE").execute(&mut connection).await.unwrap();
        } else {
            let file = self.world.folder.path().join("link.db");
            link_sqlite::open(&file).unwrap().execute_batch(&text).unwrap();
        }
    }

    /// Performs every operation with a bounded cost, and returns the work of each operation.
    async fn visit(&self, visited: &Visited) -> Vec<(String, Bound, BTreeMap<String, u64>)> {
        let mut all = Vec::new();
        let (device, model) = (&self.device.id, &self.model);
        let copy = format!("dev_{}00000007", "0".repeat(24));
        let first = self.world.get("/api/v1/commands", &self.user).await.text("next_cursor");
        visited.take();
        for (path, bound) in [
            ("commands".to_owned(), Bound::Same),
            (format!("commands?cursor={first}"), Bound::Same),
            ("commands?open=true".to_owned(), Bound::Same),
            ("commands?type=DEPLOY_MODEL".to_owned(), Bound::Same),
            ("commands?type=REPAIR_SERVING".to_owned(), Bound::Same),
            ("commands?type=DEPLOY_MODEL&open=true".to_owned(), Bound::Same),
            (format!("commands?type=DEPLOY_MODEL&device_id={copy}&limit=2"), Bound::Same),
            (format!("commands?type=DEPLOY_MODEL&device_id={copy}&open=true"), Bound::Same),
            (format!("commands?device_id={copy}&limit=2"), Bound::Same),
            (format!("commands?device_id={copy}&open=true"), Bound::Same),
            ("deployments".to_owned(), Bound::Same),
            ("deployments?current=true".to_owned(), Bound::Same),
            (format!("deployments?device_id={copy}&limit=2"), Bound::Same),
            (format!("deployments?device_id={copy}&current=true"), Bound::Same),
            (format!("deployments?model_id={model}"), Bound::Same),
            (format!("deployments?model_id={model}&current=true"), Bound::Same),
            (format!("deployments?device_id={copy}&model_id={model}&limit=2"), Bound::Same),
            ("deployments?stale=true&current=true".to_owned(), Bound::Window),
            ("deployments?stale=true".to_owned(), Bound::Window),
            ("deployments?current=false".to_owned(), Bound::Window),
            ("deployments?q=nothing-has-this".to_owned(), Bound::Window),
            ("devices".to_owned(), Bound::Same),
            ("devices?select=tag=none,state=online".to_owned(), Bound::Window),
            ("devices?select=tag=lab".to_owned(), Bound::Window),
            ("devices?q=nothing-has-this".to_owned(), Bound::Window),
            ("devices?sort=registered".to_owned(), Bound::Same),
            ("devices?sort=-name".to_owned(), Bound::Devices),
            ("devices?sort=last_seen&select=state=offline".to_owned(), Bound::Devices),
            (format!("devices/{device}/metrics?period=30d"), Bound::Same),
            ("models".to_owned(), Bound::Same),
            ("models?sort=-name&q=a".to_owned(), Bound::Same),
            ("summary".to_owned(), Bound::Devices),
        ] {
            let answer = self.world.get(&format!("/api/v1/{path}"), &self.user).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            all.push((path.replace(&copy, "…").replace(model, "…"), bound, visited.take()));
        }
        self.world.sweep().await;
        all.push(("sweep".to_owned(), Bound::Same, visited.take()));
        self.world.backend.app.purge().await.unwrap();
        all.push(("purge".to_owned(), Bound::Same, visited.take()));
        let mut body = registration("fleet_key", &self.key);
        body["public_key"] = serde_json::to_value(pair(9).verifying()).unwrap();
        let path = "/api/v1/devices/register-with-key";
        assert_eq!(self.world.post(path, "", body).await.status, 201);
        all.push(("registration".to_owned(), Bound::Same, visited.take()));
        self.world.poll(&self.device, 0).await;
        all.push(("poll".to_owned(), Bound::Same, visited.take()));
        let path = format!("/api/v1/models/{model}/repair-serving/{device}");
        let repair = self.world.act(&path, &self.user).await;
        assert_eq!(repair.status, 202, "{repair:?}");
        self.world.poll(&self.device, 0).await;
        self.world.result(&self.device, &repair.text("command_id"), "succeeded").await;
        all.push(("repair".to_owned(), Bound::Same, visited.take()));
        self.world.backend.app.survey(None).await;
        all.push(("metrics".to_owned(), Bound::Devices, visited.take()));
        all
    }
}

/// Compares the work of every statement of every operation in a small fleet and in a large one. `unit` is the maximum
/// cost of one row.
async fn compare(few: Fleet, many: Fleet, size: Size, unit: u64, visited: &Visited) {
    let small = few.visit(visited).await;
    let large = many.visit(visited).await;
    let mut grown = Vec::new();
    for ((operation, bound, few), (_, _, many)) in small.into_iter().zip(large) {
        let total = |visited: &BTreeMap<String, u64>| visited.values().sum::<u64>();
        println!("{operation}: {} {}", total(&few), total(&many));
        assert!(!many.is_empty(), "{operation}: nothing was counted");
        for (text, many) in many {
            let few = few.get(&text).copied().unwrap_or(0);
            let most = match bound {
                Bound::Same => few + few / 5 + 20 * unit,
                Bound::Window => (WINDOW + 500) * unit,
                Bound::Devices => u64::from(size.devices + 100) * unit,
            };
            if many > most {
                grown.push(format!("{operation}: {few} grew to {many} (at most {most}): {text}"));
            }
        }
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

fn size() -> Size {
    if std::env::var_os("LINK_TEST_FULL").is_some() { FULL } else { MANY }
}

fn listen() -> (Visited, subscriber::DefaultGuard) {
    let visited = Visited::default();
    let layer = visited.clone().with_filter(LevelFilter::TRACE);
    (visited, subscriber::set_default(Registry::default().with(layer)))
}

#[tokio::test]
async fn what_a_statement_of_sqlite_visits_does_not_grow_with_the_fleet_or_its_history() {
    let world = || async { World::on(None, tempfile::tempdir().unwrap(), roomy).await };
    let few = Fleet::new(world().await, FEW).await;
    let many = Fleet::new(world().await, size()).await;
    let (visited, _listens) = listen();
    // A row of a list takes some steps for each of its columns.
    compare(few, many, size(), 60, &visited).await;
}

// The server ends with the thread that started it, so this test has its own.
#[test]
fn what_a_statement_of_postgresql_visits_does_not_grow_with_the_fleet_or_its_history() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = || async {
            let database = explaining(&cluster.url()).await;
            World::on(Some(database), tempfile::tempdir().unwrap(), roomy).await
        };
        let few = Fleet::new(world().await, FEW).await;
        let many = Fleet::new(world().await, size()).await;
        let (visited, _listens) = listen();
        compare(few, many, size(), 3, &visited).await;
    });
    cluster.end("INT");
}

/// Creates a database that sends the plan of every executed statement to the client.
async fn explaining(server: &str) -> Database {
    let database = Database::create(server).await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    for (name, value) in [
        ("session_preload_libraries", "auto_explain"),
        ("auto_explain.log_min_duration", "0"),
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_timing", "off"),
        ("auto_explain.log_format", "json"),
        ("client_min_messages", "log"),
    ] {
        let text = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {name} = %L', \
             current_database(), '{value}'); END $$"
        );
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    database
}

fn roomy(config: &mut link_backend::config::Config) {
    config.device_limit = 20_000;
}
