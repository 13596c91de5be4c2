//! A named pipe whose client end is the child's standard input.
//!
//! The name is random, and the parent connects before the child starts. Other users may not write to the pipe, and a
//! second client is refused.

#![expect(clippy::disallowed_types, reason = "IO shell: a pipe is opened like a file")]

use std::{
    fmt,
    fs::File,
    hash::{BuildHasher as _, RandomState},
    io,
    os::windows::{
        fs::OpenOptionsExt as _,
        io::{AsHandle as _, IntoRawHandle as _},
    },
    pin::pin,
    process::Stdio,
    task::{Context, Poll, Waker},
};

use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, Lines,
        ReadHalf, WriteHalf, split,
    },
    net::windows::named_pipe::{NamedPipeClient, NamedPipeServer, ServerOptions},
};
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OVERLAPPED;

use crate::process::{Program, TiedChild};

pub(super) const WORKS: bool = true;

trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

pub(super) struct Line {
    reader: Lines<BufReader<ReadHalf<Box<dyn Pipe>>>>,
    writer: WriteHalf<Box<dyn Pipe>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl Line {
    fn new(pipe: impl Pipe + 'static) -> Self {
        let pipe: Box<dyn Pipe> = Box::new(pipe);
        let (reader, writer) = split(pipe);
        Self { reader: BufReader::new(reader).lines(), writer }
    }

    pub(super) async fn next(&mut self) -> Option<String> {
        self.reader.next_line().await.ok().flatten()
    }

    pub(super) async fn tell(&mut self, text: &str) {
        let _nobody_reads = self.writer.write_all(format!("{text}\n").as_bytes()).await;
    }
}

pub(super) fn start(program: &Program) -> io::Result<(TiedChild, Line)> {
    let name = format!(r"\\.\pipe\link-line-{}", unguessable());
    let ours = ServerOptions::new().first_pipe_instance(true).max_instances(1).create(&name)?;
    // The child's runtime reads from this handle, which it can only do if reads do not block.
    let mut options = File::options();
    options.read(true).write(true).custom_flags(FILE_FLAG_OVERLAPPED);
    let theirs = options.open(&name)?;
    connected(&ours)?;
    let child = TiedChild::start_reading(program, Stdio::from(theirs))?;
    Ok((child, Line::new(ours)))
}

/// Has the runtime read from a pipe that its client has opened. The runtime's first attempt, before the client was there, failed,
/// and the runtime tries again only after a call that connects.
fn connected(pipe: &NamedPipeServer) -> io::Result<()> {
    let mut now = Context::from_waker(Waker::noop());
    match pin!(pipe.connect()).poll(&mut now) {
        Poll::Ready(connected) => connected,
        Poll::Pending => Err(io::ErrorKind::NotConnected.into()),
    }
}

pub(super) fn of_parent() -> Option<Line> {
    let stdin = io::stdin().as_handle().try_clone_to_owned().ok()?.into_raw_handle();
    #[expect(unsafe_code, reason = "owns the handle that was just duplicated")]
    // SAFETY: the handle is valid, nobody else owns it, and the parent has opened it for overlapped
    // calls.
    let pipe = unsafe { NamedPipeClient::from_raw_handle(stdin) };
    pipe.ok().map(Line::new)
}

/// Returns a name that no other process can guess: the standard library keys its hashes at random.
fn unguessable() -> String {
    let hash = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", hash(), hash())
}
