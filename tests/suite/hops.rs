//! One conversation recorded at two places: counted twice unless one place is chosen.

use crate::support::{capture, run};
use serde_json::Value;
use std::ffi::OsString;

const FOLDER: &str = "10-http-json-and-2026-pcap";

fn audit(more: &[&str], files: &[&str]) -> Value {
    let mut arguments: Vec<OsString> = vec!["audit".into(), "--json".into(), "-".into(), "--quiet".into()];
    arguments.extend(files.iter().map(|file| capture(FOLDER, file).into_os_string()));
    arguments.extend(more.iter().map(OsString::from));
    run(arguments).json()
}

fn double_captures(report: &Value) -> usize {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["rule"] == "MT907").count()
}

#[test]
fn packets_and_archive_of_one_conversation_count_once_with_hop() {
    let alone = audit(&[], &["py1-json.pcapng"]);
    assert_eq!(double_captures(&alone), 0);
    let both = audit(&[], &["py1-json.pcapng", "py1-json-capture.har.gz"]);
    assert_eq!(double_captures(&both), 1);
    let twice = |report: &Value| report["ledger"]["totals"]["prompt_calls"].as_u64();
    assert_eq!(twice(&both), twice(&alone).map(|calls| 2 * calls));
    for side in ["outer", "inner"] {
        let one = audit(&["--hop", side], &["py1-json.pcapng", "py1-json-capture.har.gz"]);
        assert_eq!(double_captures(&one), 0);
        assert_eq!(one["calls"], alone["calls"], "{side}");
        assert_eq!(one["unknown_keys"], alone["unknown_keys"], "{side}");
        assert_eq!(one["missing_required"], alone["missing_required"], "{side}");
    }
}
