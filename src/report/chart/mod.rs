//! Pictures of the tables.

pub mod font;
