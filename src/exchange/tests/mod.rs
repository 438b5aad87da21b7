//! The exchange as a whole: messages in, rows out.

mod lanes;
mod pairing;
mod questions;
mod resuming;
mod wire;
