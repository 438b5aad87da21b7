//! The integration tests: one binary, one module per subject.

#[path = "suite/direction.rs"]
mod direction;
