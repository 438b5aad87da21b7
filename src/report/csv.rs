//! A CSV file for every table, with all rows.

use super::files::{Draft, Output};
use super::grid::Grid;
use super::model::{RenderOptions, Report};
use super::printable::Page;
use super::tables;
use std::io::{self, Write};

/// The folder `tables/`.
pub struct Tables;

impl Output for Tables {
    fn paths(&self) -> &'static [&'static str] {
        &["tables/"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()> {
        let page = Page::new(report, options);
        for grid in tables::all(report) {
            dir.file(&format!("tables/{}.csv", grid.name), |file| write_grid(&grid, &page, file))?;
        }
        Ok(())
    }
}

/// Writes one table: RFC 4180 with LF line ends, times in RFC 3339, an empty field for what is not known.
pub fn write_grid(grid: &Grid, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(&grid.columns)?;
    for row in &grid.rows {
        writer.write_record(row.iter().map(|cell| cell.for_csv(page)))?;
    }
    writer.flush()
}
