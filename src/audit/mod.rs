//! Pure functions from frames and expectations to tables and findings.

pub mod clients;
pub mod context;
pub mod contract_index;
pub mod effect;
pub mod elicited;
#[cfg(test)]
pub mod fixture;
pub mod handler;
pub mod intended;
pub mod sessions;
pub mod stats;
pub mod tables;
pub mod values;
pub mod wording;
