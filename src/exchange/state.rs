//! The state between two runs: what is open, and what later messages need to know.

use super::{Exchange, machine::Core};
use crate::exchange::duplicates::Seen;
use serde::Serialize;
use thiserror::Error;

/// Grows with every change of what is saved.
const VERSION: u8 = 3;
/// blake3.
const CHECKSUM: usize = 32;

#[derive(Debug, Error)]
pub enum StateError {
    #[error("the saved exchange is of version {found}, this program reads version {VERSION}")]
    OtherVersion { found: u8 },
    #[error("the saved exchange is damaged")]
    Damaged,
    #[error("the saved exchange cannot be read ({0})")]
    Decode(#[from] rmp_serde::decode::Error),
}

impl Exchange {
    /// The state as bytes: version, checksum, MessagePack.
    ///
    /// # Errors
    /// None is known: everything saved has a form in MessagePack.
    pub fn save(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        let mut body = Vec::new();
        (&self.core, &self.seen).serialize(&mut rmp_serde::Serializer::new(&mut body))?;
        let mut bytes = Vec::with_capacity(1 + CHECKSUM + body.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(blake3::hash(&body).as_bytes());
        bytes.append(&mut body);
        Ok(bytes)
    }

    /// Goes on where [`Exchange::save`] left off.
    ///
    /// # Errors
    /// Bytes of another version, and bytes that are not what was saved.
    pub fn resume(bytes: &[u8]) -> Result<Self, StateError> {
        let (&found, rest) = bytes.split_first().ok_or(StateError::Damaged)?;
        if found != VERSION {
            return Err(StateError::OtherVersion { found });
        }
        let (checksum, body) = rest.split_at_checked(CHECKSUM).ok_or(StateError::Damaged)?;
        // Indices into the state are trusted from here on, so that the bytes must be the ones written.
        if blake3::hash(body).as_bytes() != checksum {
            return Err(StateError::Damaged);
        }
        let (core, seen): (Core, Seen) = rmp_serde::from_slice(body)?;
        Ok(Self { core, seen, ..Self::default() })
    }
}
