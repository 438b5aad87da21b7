//! Pure functions from frames and expectations to tables and findings.

pub mod tables;
