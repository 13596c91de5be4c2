//! Attacks that try to exhaust a listener, and the conditions that must hold afterwards.
//!
//! Pure: [`course`] defines what one connection sends, [`faults`] lists the violated conditions.
//! Every course is bounded, and the shell bounds the number of connections and their time.

use std::time::Duration;

use serde::Serialize;

/// The time within which a listener must answer after a siege.
pub const ANSWER: Duration = Duration::from_secs(1);

/// A huge body: below the limit of the serving port, above the limits of all other listeners.
const HUGE: usize = 31 * MIB;
const MIB: usize = 1024 * 1024;
/// Requests on one connection whose answers are never read.
const UNREAD: usize = 2_000;
/// The wait between two lines of a slow head.
const DRIP: Duration = Duration::from_secs(1);

/// A listener under attack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target {
    Backend,
    /// The local API of the agent.
    LocalApi,
    /// The port on which the agent serves a model.
    Serving,
}

/// The kind of an attack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// Sends nothing.
    Idle,
    /// Sends one line of its head each second.
    SlowHead,
    /// Sends part of its head and shuts down its sending side.
    HalfOpen,
    /// Announces a body and sends part of it.
    StalledBody,
    /// Sends as much of a body as the listener accepts.
    HugeBody,
    /// Keeps sending requests and reads no answer.
    DeafReader,
    /// Sends guesses of a password, a token or an origin.
    Guess,
}

/// The behaviour of one connection: its first bytes, and its actions until it is closed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Course {
    pub first: Vec<u8>,
    pub then: Then,
}

/// The behaviour of a connection after its first bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Then {
    /// Does nothing.
    Wait,
    /// Shuts down its sending side and waits.
    Shut,
    /// Sends `bytes` repeatedly, with a wait before each.
    Drip { bytes: Vec<u8>, every: Duration },
    /// Sends `bytes` `times` times, as fast as possible, then waits.
    Pour { bytes: Vec<u8>, times: usize },
    /// Sends `bytes` `times` times, as fast as possible, and reads nothing.
    Deaf { bytes: Vec<u8>, times: usize },
    /// Reads the answer and closes.
    Read,
}

/// The resources that a program holds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Held {
    /// Resident memory, in bytes.
    pub resident: u64,
    pub descriptors: u64,
}

/// The measurements of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    pub program: &'static str,
    /// The resources just after the start of the program.
    pub cold: Held,
    /// The resources after the first siege, which warms up the program.
    pub before: Held,
    pub peak: Held,
    pub after: Held,
}

/// The response time of a listener after the siege.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    pub listener: &'static str,
    /// The time in milliseconds; `None` if the answer was wrong or missing.
    pub ms: Option<u64>,
}

impl Target {
    pub const ALL: [Self; 3] = [Self::Backend, Self::LocalApi, Self::Serving];

    /// Returns the display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Backend => "backend",
            Self::LocalApi => "local API",
            Self::Serving => "serving port",
        }
    }

    /// Returns a request that shows that the program works: method, path and body.
    #[must_use]
    pub const fn probe(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Backend => ("GET", "/readyz", ""),
            Self::LocalApi => ("GET", "/healthz", ""),
            Self::Serving => ("POST", CHAT, QUESTION),
        }
    }

    /// Returns a path that accepts a body.
    const fn takes(self) -> &'static str {
        match self {
            Self::Backend => "/api/v1/auth/login",
            Self::LocalApi => "/update",
            Self::Serving => CHAT,
        }
    }

    /// Returns a request with a large or costly answer: method, path and body.
    const fn gives(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Backend => ("GET", "/api/v1/openapi.json", ""),
            Self::LocalApi => ("GET", "/healthz", ""),
            Self::Serving => ("POST", CHAT, QUESTION),
        }
    }
}

const CHAT: &str = "/v1/chat/completions";
const QUESTION: &str = r#"{"messages":[{"role":"user","content":"hi"}]}"#;

impl Shape {
    /// Every shape. The costliest shapes come first, because the others could use up a small
    /// connection limit.
    pub const ALL: [Self; 7] = [
        Self::HugeBody,
        Self::DeafReader,
        Self::StalledBody,
        Self::Guess,
        Self::SlowHead,
        Self::HalfOpen,
        Self::Idle,
    ];

    /// Returns the number of concurrent connections of this shape, where most shapes use `each`.
    #[must_use]
    pub fn connections(self, each: usize) -> usize {
        match self {
            Self::HugeBody => each.div_ceil(10),
            Self::Guess => each.div_ceil(5),
            Self::Idle | Self::SlowHead | Self::HalfOpen | Self::StalledBody | Self::DeafReader => {
                each
            }
        }
    }
}

/// Returns the course of connection `number` to the listener named by `host`.
#[must_use]
pub fn course(target: Target, shape: Shape, host: &str, number: usize) -> Course {
    let begun = format!("POST {} HTTP/1.1\r\nHost: {host}\r\n", target.takes());
    let body = |length: String| {
        format!("{begun}Content-Type: application/json\r\n{length}\r\n\r\n").into_bytes()
    };
    match shape {
        Shape::Idle => Course { first: vec![], then: Then::Wait },
        Shape::SlowHead => {
            let bytes = b"X-Slow: slow\r\n".to_vec();
            Course { first: begun.into_bytes(), then: Then::Drip { bytes, every: DRIP } }
        }
        Shape::HalfOpen => Course { first: begun.into_bytes(), then: Then::Shut },
        Shape::StalledBody => {
            let mut first = body("Content-Length: 1000".to_owned());
            first.extend(b"{\"messages\": [");
            Course { first, then: Then::Wait }
        }
        // Every second body does not declare its length.
        Shape::HugeBody if number.is_multiple_of(2) => {
            let first = body(format!("Content-Length: {}", HUGE + MIB));
            Course { first, then: Then::Pour { bytes: vec![b' '; MIB], times: HUGE / MIB } }
        }
        Shape::HugeBody => {
            let first = body("Transfer-Encoding: chunked".to_owned());
            let chunk = [format!("{MIB:x}\r\n").into_bytes(), vec![b' '; MIB], b"\r\n".to_vec()];
            Course { first, then: Then::Pour { bytes: chunk.concat(), times: HUGE / MIB } }
        }
        Shape::DeafReader => {
            let (method, path, body) = target.gives();
            let bytes = request(method, path, host, "", body);
            Course { first: vec![], then: Then::Deaf { bytes, times: UNREAD } }
        }
        Shape::Guess => Course { first: guess(target, host, number), then: Then::Read },
    }
}

/// Returns a complete request; `more` holds additional header lines.
#[must_use]
pub fn request(method: &str, path: &str, host: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}");
    format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

fn guess(target: Target, host: &str, number: usize) -> Vec<u8> {
    const CLOSE: &str = "Connection: close\r\n";
    match target {
        Target::Backend => {
            let password = "a password that nobody has";
            let body = format!(
                "{{\"email\":\"person-{number}@example.org\",\"password\":\"{password}\"}}"
            );
            request("POST", target.takes(), host, CLOSE, &body)
        }
        Target::LocalApi => {
            let token = format!("{CLOSE}Authorization: Bearer guess-{number}\r\n");
            request("POST", target.takes(), host, &token, "{}")
        }
        Target::Serving => {
            let origin = format!("{CLOSE}Origin: https://guess-{number}.example.org\r\n");
            request("POST", CHAT, host, &origin, QUESTION)
        }
    }
}

/// Returns the programs whose resources did not return to their former level, and the listeners
/// that did not answer in time. The list is empty if there are none.
#[must_use]
pub fn faults(seen: &[Seen], answered: &[Answered]) -> Vec<String> {
    let mut faults = Vec::new();
    for Seen { program, before, after, .. } in seen {
        if !is_back(before.resident, after.resident) {
            let (before, after) = (before.resident / 1000, after.resident / 1000);
            faults.push(format!("{program}: {after} kB resident, {before} kB before"));
        }
        if !is_back(before.descriptors, after.descriptors) {
            let (before, after) = (before.descriptors, after.descriptors);
            faults.push(format!("{program}: {after} descriptors, {before} before"));
        }
    }
    for Answered { listener, ms } in answered {
        match ms {
            Some(ms) if u128::from(*ms) <= ANSWER.as_millis() => {}
            Some(ms) => faults.push(format!("{listener}: answered after {ms} ms")),
            None => faults.push(format!("{listener}: answered wrongly or not at all")),
        }
    }
    faults
}

/// Returns whether `after` exceeds `before` by at most a tenth, rounded up.
const fn is_back(before: u64, after: u64) -> bool {
    after <= before + before.div_ceil(10)
}

#[cfg(test)]
mod tests;
