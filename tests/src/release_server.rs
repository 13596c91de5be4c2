//! Serves a release folder over plain HTTP on the loopback interface, with injected faults.

use std::{
    collections::BTreeSet,
    io::{Read as _, Seek as _, SeekFrom},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// The fault of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// No fault.
    None,
    /// Every answer ends after this many bytes, although it announces the rest.
    CutEvery(usize),
    /// The first answer is cut in the middle, and requested ranges are ignored.
    CutOnceWithoutRanges,
    /// Every answer has this status and a web page as its body.
    Status(u16),
    /// Every answer is a web page instead of the file, as from a captive portal.
    Page,
    /// The server sends one byte per second.
    Slow,
    /// The answer redirects to another host, over plain HTTP.
    Redirect,
    /// The last byte is missing, and the announced length matches the sent bytes.
    Short,
    /// The answer has one additional byte.
    Long,
    /// The answer has no announced length and never ends.
    Endless,
}

/// The server. Dropping the value stops the server.
pub struct ReleaseServer {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

#[derive(Clone, Debug)]
struct Request {
    file: String,
    start: u64,
}

/// The served folder and its fault.
#[derive(Clone)]
struct Served {
    folder: PathBuf,
    faulty: String,
    fault: Fault,
}

impl ReleaseServer {
    /// Serves `folder`. Files whose names end with `faulty` are served with the fault.
    ///
    /// # Panics
    /// Panics if no port is free.
    pub async fn start(folder: &Path, faulty: &str, fault: Fault) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let served = Served { folder: folder.to_owned(), faulty: faulty.to_owned(), fault };
        let log = requests.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (served, log) = (served.clone(), log.clone());
                tokio::spawn(async move { drop(answer(stream, &served, &log).await) });
            }
        });
        Self { url, requests, task }
    }

    /// Returns the number of requests for files whose names end with `name`.
    ///
    /// # Panics
    /// Panics if the handler of a request has panicked.
    #[must_use]
    pub fn requests(&self, name: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|asked| asked.file.ends_with(name)).count()
    }

    /// Returns the number of different offsets at which downloads of such files resumed.
    ///
    /// # Panics
    /// Panics if the handler of a request has panicked.
    #[must_use]
    pub fn resumed(&self, name: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        let of_file = requests.iter().filter(|asked| asked.file.ends_with(name) && asked.start > 0);
        of_file.map(|asked| asked.start).collect::<BTreeSet<_>>().len()
    }
}

impl Drop for ReleaseServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    stream: TcpStream,
    served: &Served,
    log: &Mutex<Vec<Request>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = read_request(&mut stream).await?;
    let (file, start) = (request.file.clone(), request.start);
    let first = {
        let mut log = log.lock().unwrap();
        log.push(request);
        log.iter().filter(|asked| asked.file == file).count() == 1
    };
    let fault = if file.ends_with(&served.faulty) { served.fault } else { Fault::None };
    let path = served.folder.join(file.trim_start_matches('/'));
    let start = if fault == Fault::CutOnceWithoutRanges { 0 } else { start };
    let (head, body) = match fault {
        Fault::Endless => ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".into(), Vec::new()),
        Fault::Status(status) => (head(&format!("{status} Fault"), PAGE.len(), ""), PAGE.to_vec()),
        Fault::Page => (head("200 OK", PAGE.len(), ""), PAGE.to_vec()),
        Fault::Redirect => {
            (head("302 Found", 0, "location: http://192.0.2.1/stolen\r\n"), Vec::new())
        }
        Fault::None
        | Fault::CutEvery(_)
        | Fault::CutOnceWithoutRanges
        | Fault::Slow
        | Fault::Short
        | Fault::Long => match part(&path, start, fault) {
            Some((length, body)) if start < length => found(start, length, fault, first, body),
            Some((length, _)) if length > 0 => {
                (head("416 Range Not Satisfiable", 0, ""), Vec::new())
            }
            Some(_) | None => (head("404 Not Found", PAGE.len(), ""), PAGE.to_vec()),
        },
    };
    stream.write_all(head.as_bytes()).await?;
    if fault == Fault::Slow {
        for byte in body {
            stream.write_all(&[byte]).await?;
            stream.flush().await?;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        return Ok(());
    }
    stream.write_all(&body).await?;
    if fault == Fault::Endless {
        loop {
            stream.write_all(&[b'\n'; 64 * 1024]).await?;
        }
    }
    stream.flush().await
}

const PAGE: &[u8] = b"<!doctype html>\n<title>Sign in to this network</title>\n";

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Request> {
    let mut request = Request { file: String::new(), start: 0 };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let lower = line.trim().to_lowercase();
        if lower.is_empty() {
            return Ok(request);
        }
        if request.file.is_empty() {
            request.file = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        } else if let Some(range) = lower.strip_prefix("range: bytes=") {
            request.start = range.trim_end_matches('-').parse().unwrap_or(0);
        }
    }
}

/// Returns the announced length of a file, and the bytes to send from `start` on.
fn part(path: &Path, start: u64, fault: Fault) -> Option<(u64, Vec<u8>)> {
    let mut file = std::fs::File::open(path).ok().filter(|_| path.is_file())?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(start)).ok()?;
    let most = if let Fault::CutEvery(bytes) = fault { bytes as u64 } else { u64::MAX };
    let mut body = Vec::new();
    file.take(most).read_to_end(&mut body).ok()?;
    if fault == Fault::Short {
        body.pop();
        return Some((length - 1, body));
    }
    if fault == Fault::Long {
        body.push(b'\n');
        return Some((length + 1, body));
    }
    Some((length, body))
}

fn found(
    start: u64,
    length: u64,
    fault: Fault,
    first: bool,
    mut body: Vec<u8>,
) -> (String, Vec<u8>) {
    let rest = usize::try_from(length - start).unwrap();
    if first && fault == Fault::CutOnceWithoutRanges {
        body.truncate(body.len() / 2);
    }
    if start == 0 {
        return (head("200 OK", rest, ""), body);
    }
    let range = format!("content-range: bytes {start}-{}/{length}\r\n", length - 1);
    (head("206 Partial Content", rest, &range), body)
}

fn head(status: &str, length: usize, more: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n")
}
