//! Statistics: each formula in a file of its own, with its source.

pub mod change_point;
pub mod decimal;
pub mod fisher;
pub mod good_turing;
pub mod holm;
pub mod icc;
pub mod permutation;
pub mod quantiles;
pub mod random;
pub mod wilson;
