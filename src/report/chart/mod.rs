//! Pictures: drawn once as shapes, painted as PNG and SVG.

pub mod argument;
pub mod canvas;
pub mod chain;
pub mod column;
pub mod font;
pub mod paint;
pub mod rate;
mod scale;
pub mod sessions;
