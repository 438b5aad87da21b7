//! Why a run could not be done, as a person reads it.

use super::progress::visible;
use crate::frames::folder::FramesError;
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Frames(#[from] FramesError),
    #[error("{path}: cannot {action}: {source}")]
    Io { path: String, action: &'static str, source: io::Error },
    /// The reasons, one each.
    #[error("{}", nothing(.0))]
    Nothing(Vec<String>),
    #[error("{0}")]
    Failed(String),
    /// Shown with its place in the file.
    #[error("{0:?}")]
    Report(miette::Report),
}

/// One line a reason: what a reason quotes makes no lines of its own.
fn nothing(reasons: &[String]) -> String {
    match reasons {
        [] => "nothing to read".to_owned(),
        [reason] => visible(reason),
        reasons => {
            let lines: String = reasons.iter().map(|reason| format!("\n  {}", visible(reason))).collect();
            format!("nothing could be read:{lines}")
        }
    }
}

impl CliError {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, action, source }
    }

    /// Failures of standard output.
    pub fn output(source: io::Error) -> Self {
        Self::Io { path: "standard output".into(), action: "write", source }
    }

    /// The reader of our output went away (`mcptally … | head`): nobody is left to tell, and that is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}
