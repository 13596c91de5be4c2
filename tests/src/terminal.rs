//! A program on a terminal of its own: the test reads the screen and types. Dropping the value ends the program.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::wait::until;

/// A terminal with a running program.
pub struct Terminal {
    child: Child,
    shown: Arc<Mutex<String>>,
    is_closed: Arc<AtomicBool>,
}

impl Terminal {
    /// Runs the shell command `line` on a terminal. `prepare` sets the environment.
    ///
    /// # Panics
    /// Panics if `script` cannot be run.
    pub fn run(line: &str, prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("script");
        command.args(["-qefc", line, "/dev/null"]);
        prepare(&mut command);
        command.env("TERM", "xterm").env("SHELL", "/bin/sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (shown, mut output) = (Arc::<Mutex<String>>::default(), child.stdout.take().unwrap());
        let (keeps, is_closed) = (Arc::clone(&shown), Arc::<AtomicBool>::default());
        let closes = Arc::clone(&is_closed);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                keeps.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
            closes.store(true, Ordering::SeqCst);
        });
        Self { child, shown, is_closed }
    }

    /// Types `keys`.
    ///
    /// # Panics
    /// Panics if the terminal is gone.
    pub fn types(&mut self, keys: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Returns everything that the terminal has shown so far.
    ///
    /// # Panics
    /// Panics if the thread that reads the terminal has panicked.
    #[must_use]
    pub fn text(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Waits until the terminal shows `text`.
    ///
    /// # Panics
    /// Panics if the program ends before, or if that takes too long.
    pub async fn shows(&self, text: &str) {
        let look = || async {
            // In this order, so that the end of the program hides no text.
            let is_closed = self.is_closed.load(Ordering::SeqCst);
            let is_shown = self.text().contains(text);
            (is_shown || is_closed).then_some(is_shown)
        };
        let seen = tokio::time::timeout(std::time::Duration::from_secs(50), until(text, look));
        assert_eq!(seen.await, Ok(true), "no `{text}` in:\n{}", self.text());
    }

    /// Waits until the program has ended, which must be with `code`.
    ///
    /// # Panics
    /// Panics if the program ends otherwise, or not in time.
    pub async fn ended_with(&mut self, code: i32) {
        let status =
            until("the program to end", || std::future::ready(self.child.try_wait().unwrap()))
                .await;
        assert_eq!(status.code(), Some(code), "{}", self.text());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program may already have ended.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}
