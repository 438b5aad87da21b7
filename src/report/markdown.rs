use super::model::{RenderOptions, Report};
use std::io::{self, Write};

pub fn render_markdown(report: &Report, _options: &RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", report.run.version)
}
