//! Which pictures are made of a report, and what they are called.

use super::files::{OutDir, Output};
use super::model::{RenderOptions, Report};
use std::io;

/// The folder `charts/`.
pub struct Charts;

impl Output for Charts {
    fn paths(&self) -> &'static [&'static str] {
        &["charts/"]
    }

    fn write(&self, _report: &Report, _options: &RenderOptions, _dir: &OutDir) -> io::Result<()> {
        if super::chart::font::register() {
            Ok(())
        } else {
            Err(io::Error::other("the compiled-in font is unreadable"))
        }
    }
}
