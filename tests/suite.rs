//! The integration tests: one binary, one module per subject.

#[path = "suite/bad_input.rs"]
mod bad_input;
#[path = "suite/captures.rs"]
mod captures;
#[path = "suite/commands.rs"]
mod commands;
#[path = "suite/detection.rs"]
mod detection;
#[path = "suite/direction.rs"]
mod direction;
#[path = "suite/golden.rs"]
mod golden;
#[path = "suite/hops.rs"]
mod hops;
#[path = "suite/http.rs"]
mod http;
#[path = "suite/own_formats.rs"]
mod own_formats;
#[path = "suite/packets.rs"]
mod packets;
#[path = "suite/properties.rs"]
mod properties;
#[path = "suite/samples.rs"]
mod samples;
#[path = "suite/severities.rs"]
mod severities;
#[path = "suite/suggestion.rs"]
mod suggestion;
#[path = "suite/support.rs"]
mod support;
#[path = "suite/thresholds.rs"]
mod thresholds;
#[path = "suite/truth.rs"]
mod truth;
