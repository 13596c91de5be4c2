//! Useless connections: heads and bodies without an end, and clients that do not read. They neither stop the backend nor lock
//! out other clients.

#![expect(clippy::disallowed_methods, reason = "counts what a process has open, and measures time")]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use link_platform::descriptors;
use serde_json::{Value, json};

use crate::program::{Place, Running, send};

/// The usual limit of open files of a process.
const FILES: usize = 1024;
const STRANGERS: usize = 1_100;
/// A generous deadline, for a busy machine.
const PROMPTLY: Duration = Duration::from_secs(3);
/// The deadline of heads and bodies, 30 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

const HALF_A_HEAD: &str = "POST /api/v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\n";
const HALF_A_BODY: &str = "POST /api/v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\n\
    Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";

/// Starts a backend with a hard limit of [`FILES`] open files and a quarter of that as the soft limit.
fn serve(place: &Place, arguments: &[&str]) -> Running {
    let limits = format!("ulimit -Sn {}; ulimit -Hn {FILES}; exec \"$@\"", FILES / 4);
    let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
    let command = place.command(&all);
    let mut limited = Command::new("sh");
    limited.args(["-c", &limits, "sh"]).arg(command.get_program()).args(command.get_args());
    limited.env_clear();
    for (name, value) in command.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    Running::start(limited)
}

fn strangers(address: &str, says: &str, number: usize) -> Vec<TcpStream> {
    let stranger = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        // Writing to a connection that was closed already may fail.
        stream.write_all(says.as_bytes()).unwrap_or(());
        stream
    };
    (0..number).map(stranger).collect()
}

fn is_over(stream: &mut TcpStream) -> bool {
    let mut rest = [0; 1024];
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

fn is_prompt(address: &str) {
    let since = Instant::now();
    let (status, ..) = send(address, "GET", "/healthz", "", ("text/plain", b""));
    assert_eq!(status, 200);
    assert!(since.elapsed() < PROMPTLY, "{:?}", since.elapsed());
}

#[test]
fn strangers_that_say_nothing_keep_nobody_out_and_are_sent_away() {
    // This process holds the client ends of all useless connections.
    assert!(descriptors::raise_limit().unwrap().is_none_or(|files| files > 2_000));
    let place = Place::new();
    let running = serve(&place, &["--metrics-listen", "127.0.0.1:0"]);
    let user = running.set_up();
    let (id, token) = crate::service::greeted(&running, &user);
    let poll = format!("/api/v1/agent/{id}/commands?wait=50");
    let poll = crate::service::begin(&running.address, &poll, &token);
    let metrics = running.metrics.clone().unwrap();
    crate::service::parked(&metrics);

    let mut strangers: Vec<_> = [HALF_A_HEAD, HALF_A_BODY, ""]
        .iter()
        .flat_map(|says| strangers(&running.address, says, STRANGERS / 3 + 1))
        .collect();
    strangers.extend(self::strangers(&metrics, HALF_A_HEAD, 100));
    println!("{} strangers, {} files open", strangers.len(), running.files());
    let three_quarters = FILES * 3 / 4;
    assert!(running.files() < three_quarters + 128, "{} files are open", running.files());
    is_prompt(&running.address);
    assert_eq!(running.log_in("ada@example.org", crate::program::PASSWORD), 200);
    let metric = crate::service::get(&metrics, "/metrics").1;
    assert!(metric.contains("link_parked_polls 1\n"), "a known device stays: {metric}");

    let (path, wish) = (format!("/api/v1/devices/{id}/update"), json!({ "version": "1.4.0" }));
    assert_eq!(running.call("POST", &path, &user, &wish).0, 202);
    let answer = crate::service::rest(poll);
    assert!(answer.contains("\"commands\":[{"), "{answer}");

    let since = Instant::now();
    while !strangers.iter_mut().all(is_over) {
        assert!(since.elapsed() < PATIENCE, "every stranger is sent away");
        is_prompt(&running.address);
        std::thread::yield_now();
    }
    println!("all sent away after {:?}, {} files open", since.elapsed(), running.files());
    assert!(running.files() < 100, "{} files are open", running.files());
}

#[test]
fn a_body_that_does_not_come_is_answered_with_what_to_do() {
    let place = Place::new();
    let running = place.serve(&[]);
    let mut stream = TcpStream::connect(&running.address).unwrap();
    stream.write_all(HALF_A_BODY.as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let problem: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(problem["code"], "request-timeout");
}
