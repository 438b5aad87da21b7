pub mod audit;
pub mod exchange;
pub mod expect;
pub mod finding;
pub mod frames;
pub mod protocol;
pub mod report;
pub mod schema;
