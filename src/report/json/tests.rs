use super::*;

#[test]
fn the_checked_in_schema_is_fresh() {
    let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("MCPTALLY_WRITE_SCHEMA").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/assets/report.schema.json");
        std::fs::write(path, &fresh).unwrap();
    } else {
        assert!(SCHEMA_TEXT == fresh, "stale: run this test once with MCPTALLY_WRITE_SCHEMA=1");
    }
}
