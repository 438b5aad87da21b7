//! MCP with no file format in it.

pub mod elicitation;
pub mod message;
pub mod prompt;
