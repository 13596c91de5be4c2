//! Progress of a transfer: a bar on a terminal, a line per 5 % in a log.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use link_protocol::limits::PROGRESS_STEP_PERCENT;

use crate::output::{Output, ProgressStyle, bytes};

/// The visible progress of a transfer.
pub(crate) struct Progress {
    output: Output,
    bar: Option<ProgressBar>,
    lines: bool,
    last: Mutex<Option<(String, u64)>>,
}

impl Progress {
    /// Starts to show progress.
    pub(crate) fn start(output: Output) -> Self {
        let style = output.progress_style();
        let bar = (style == ProgressStyle::Bar).then(|| {
            let bar = bar_on(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar
        });
        Self { output, bar, lines: style == ProgressStyle::Lines, last: Mutex::new(None) }
    }

    /// Starts to show what is waited for, on a terminal alone: in a log, the answer is enough.
    pub(crate) fn waiting(output: Output, what: &str) -> Self {
        let mut progress = Self::start(output);
        progress.lines = false;
        progress.show(what, 0, 0);
        progress
    }

    /// Shows how much of the transfer is done.
    pub(crate) fn show(&self, what: &str, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            if total > 0 && bar.length() != Some(total) {
                bar.set_style(transferring());
                bar.set_length(total);
            }
            if total > 0 {
                bar.set_position(done.min(total));
            } else if bar.length().is_some() {
                // The next stage has no known size, so the bar of the last transfer must not stay.
                bar.set_style(waiting());
                bar.unset_length();
            }
            bar.set_message(what.to_owned());
        }
        if self.lines {
            let step = percent(done, total) / u64::from(PROGRESS_STEP_PERCENT);
            let mut last = self.last.lock().expect("no holder of this lock panics");
            if last.as_ref() != Some(&(what.to_owned(), step)) {
                self.output.say(&line(what, done, total));
                *last = Some((what.to_owned(), step));
            }
        }
    }

    /// Shows how many items are done.
    pub(crate) fn show_count(&self, what: &str, done: usize, total: usize) {
        if let Some(bar) = &self.bar {
            let total = u64::try_from(total).unwrap_or(u64::MAX);
            if bar.length() != Some(total) {
                bar.set_style(counting());
                bar.set_length(total);
            }
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX).min(total));
            bar.set_message(what.to_owned());
        }
        if self.lines {
            let step = (what.to_owned(), u64::try_from(done).unwrap_or(u64::MAX));
            let mut last = self.last.lock().expect("no holder of this lock panics");
            if last.as_ref() != Some(&step) {
                self.output.say(&format!("{what} {done} of {total}"));
                *last = Some(step);
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn bar_on(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(waiting());
    bar
}

fn percent(done: u64, total: u64) -> u64 {
    if total == 0 {
        0
    } else {
        u64::try_from(u128::from(done) * 100 / u128::from(total)).unwrap_or(100)
    }
}

fn line(what: &str, done: u64, total: u64) -> String {
    if total == 0 {
        return what.to_owned();
    }
    let step = u64::from(PROGRESS_STEP_PERCENT);
    let shown = percent(done, total) / step * step;
    format!("{what} {shown} % ({} of {})", bytes(done), bytes(total))
}

fn waiting() -> BarStyle {
    BarStyle::with_template("{spinner} {msg} ({elapsed})").expect("a valid template")
}

fn counting() -> BarStyle {
    BarStyle::with_template("{msg} {wide_bar} {pos} of {len} ({elapsed})")
        .expect("a valid template")
}

fn transferring() -> BarStyle {
    BarStyle::with_template(
        "{msg:<12} {wide_bar} {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta}",
    )
    .expect("a valid template")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Global;

    #[test]
    fn lines_are_in_steps_of_five_percent() {
        assert_eq!(line("downloading", 0, 1000), "downloading 0 % (0 B of 1.00 kB)");
        assert_eq!(line("downloading", 149, 1000), "downloading 10 % (149 B of 1.00 kB)");
        assert_eq!(line("downloading", 2048, 2048), "downloading 100 % (2.05 kB of 2.05 kB)");
        assert_eq!(line("queued", 0, 0), "queued");
    }

    /// A redeployment begins at 0 bytes of nothing, and ends with a stage of no known size.
    #[test]
    fn a_stage_of_unknown_size_has_no_bar() {
        let progress = Progress {
            output: Output::new(Global::default()),
            bar: Some(bar_on(ProgressDrawTarget::hidden())),
            lines: false,
            last: Mutex::new(None),
        };
        let bar = progress.bar.as_ref().expect("it was just made");
        progress.show("queued", 0, 0);
        assert_eq!(bar.length(), None);
        progress.show("downloading", 10, 1000);
        assert_eq!((bar.position(), bar.length()), (10, Some(1000)));
        progress.show("configuring", 0, 0);
        assert_eq!((bar.length(), bar.message().as_str()), (None, "configuring"));
    }

    #[test]
    fn percent_does_not_overflow() {
        assert_eq!(percent(u64::MAX, u64::MAX), 100);
        assert_eq!(percent(1, 0), 0);
    }
}
