//! Messages become exchanges: questions meet their answers.

pub mod check;
pub mod render;
