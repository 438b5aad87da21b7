//! MCP with no file format in it.

mod canonical;
pub mod elicitation;
pub mod json;
pub mod message;
pub mod parse;
pub mod prompt;
