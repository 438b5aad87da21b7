//! The only room that writes reports. Every output is a view of one [`Report`]; text from traffic enters an output
//! through [`printable`] alone.

mod chart;
mod csv;
pub mod files;
#[cfg(test)]
mod fixture;
mod grid;
pub mod json;
mod markdown;
pub mod model;
mod outline;
mod pictures;
pub mod printable;
mod tables;
mod terminal;
#[cfg(test)]
mod tests;
mod time;
pub mod whole;
mod words;

pub use files::OutDir;
pub use json::render_json;
pub use markdown::render_markdown;
pub use model::{HashKey, InputError, RenderOptions, Report, Run, Section};
pub use terminal::render_terminal;
