//! The only room that writes reports. Every output is a view of one [`Report`]; text from traffic enters an output
//! through [`printable`] alone.

pub mod chart;
pub mod files;
pub mod json;
pub mod markdown;
pub mod model;
pub mod printable;
pub mod terminal;
mod time;

pub use files::OutDir;
pub use json::render_json;
pub use markdown::render_markdown;
pub use model::{HashKey, InputError, RenderOptions, Report, Run, Section};
pub use terminal::render_terminal;
