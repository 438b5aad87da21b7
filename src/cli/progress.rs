//! What is said on standard error while the work goes on.

use crate::report::printable::reveal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A message as one line with nothing invisible in it: file names and key names come from outside.
pub fn visible(message: &str) -> String {
    reveal(message)
}

/// How much is said.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    pub quiet: bool,
    pub verbose: bool,
}

impl Voice {
    /// A problem the user must know of, whatever `--quiet` says.
    pub fn problem(self, message: impl std::fmt::Display) {
        let _ = writeln!(anstream::stderr(), "mcptally: {}", visible(&message.to_string()));
    }

    pub fn remark(self, message: impl std::fmt::Display) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "mcptally: {}", visible(&message.to_string()));
        }
    }

    pub fn detail(self, message: impl std::fmt::Display) {
        if self.verbose {
            let _ = writeln!(anstream::stderr(), "mcptally: {}", visible(&message.to_string()));
        }
    }

    /// A bar over bytes, hidden where nobody watches.
    pub fn bar(self, total: Option<u64>) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::no_length(),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec}") {
            bar.set_style(style);
        }
        bar
    }
}

/// Keeps a bar in step with a counter of bytes until it is dropped.
pub struct Watching {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts to watch. A hidden bar needs no watching.
pub fn watch(bar: ProgressBar, bytes: &Arc<AtomicU64>) -> Watching {
    let done = Arc::new(AtomicBool::new(bar.is_hidden()));
    if bar.is_hidden() {
        return Watching { done, thread: None };
    }
    let (flag, bytes) = (done.clone(), bytes.clone());
    let thread = std::thread::spawn(move || {
        while !flag.load(Ordering::Relaxed) {
            bar.set_position(bytes.load(Ordering::Relaxed));
            std::thread::park_timeout(Duration::from_millis(200));
        }
        bar.finish_and_clear();
    });
    Watching { done, thread: Some(thread) }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
