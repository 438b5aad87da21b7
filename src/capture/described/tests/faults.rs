//! What is wrong with a description is shown where it stands.

use super::*;

/// A description with one thing wrong, and the text that is pointed at.
#[test]
fn faults_are_shown_at_their_places() {
    let head = "[formats.x]\nkind = \"records\"\n";
    for (rest, place) in [
        ("", "[formats.x]"),
        ("body = \"msg\"", "\"msg\""),
        ("body = \"/msg\"\nsesion = \"/s\"", "sesion"),
        ("body = [\"/a\", 7]", "7"),
        ("body = \"$b\"", "\"$b\""),
        ("body = \"../b\"", "\"../b\""),
        ("body = \"/a/[b\"", "\"/a/[b\""),
        ("body = \"/m\"\nrecords = \"columns\"", "\"columns\""),
        ("body = \"/m\"\nrecords = \"/a/*\"", "\"/a/*\""),
        ("body = \"/m\"\nzone = \"Mars/Olympus\"", "\"Mars/Olympus\""),
        ("body = \"/m\"\ntime = { at = \"/t\", unit = \"h\" }", "\"h\""),
        ("body = \"/m\"\ntime = { at = \"/t\", format = \"%!\" }", "\"%!\""),
        (
            "body = \"/m\"\ndirection = { at = \"/d\", table = { up = \"north\" } }",
            "{ at = \"/d\", table = { up = \"north\" } }",
        ),
        ("body = \"/m\"\nmatch = { at = \"/x\" }", "{ at = \"/x\" }"),
        ("body = \"/m\"\nmatch = { at = \"/x\", matches = '(' }", "'('"),
        ("body = \"/m\"\nmatch = { at = \"/x\", type = \"date\" }", "\"date\""),
        ("body = \"/m\"\neach = \"/e/*\"\nmatch = { at = \"./x\", is = 1 }", "{ at = \"./x\", is = 1 }"),
        ("body = \"/m\"\nserver = { path = 'a' }", "'a'"),
        ("message = {}", "{}"),
        ("body = \"/m\"\nrecords = [\"lines\", \"array\"]", "[\"lines\", \"array\"]"),
        ("body = \"/m\"\norder = \"size\"", "\"size\""),
        ("body = \"/m\"\neach = [\"/a\", \"/a/b\"]", "\"/a/b\""),
        ("body = \"/m\"\ncount = { at = \"/x\", there = true }", "{ at = \"/x\", there = true }"),
        ("body = \"/m\"\ndirection = { at = \"/d\", inward = \"me\" }", "\"me\""),
        ("body = \"/m\"\nnoise = { at = \"/x\", lacks = '[' }", "'['"),
    ] {
        let text = format!("{head}{rest}\n");
        let error = load("mcptally.toml", &text).err().unwrap_or_else(|| panic!("no fault: {rest}"));
        let (_, span) = error.place().unwrap_or_else(|| panic!("no place: {error}"));
        assert_eq!(&text[span.clone()], place, "{error}");
    }
    let kind = load("mcptally.toml", "[formats.x]\nkind = \"columns\"\n").err().unwrap();
    assert!(kind.to_string().contains("records and lines"), "{kind}");
    assert!(load("mcptally.toml", "[formats.\"a b\"]\nkind = \"records\"\nbody = \"/m\"\n").is_err());
    assert!(load("mcptally.toml", "[formats").is_err());
    assert!(load("mcptally.toml", "[[intended]]\nprompt = \"p\"\n").unwrap().is_empty());
}

/// As above, of descriptions of text lines.
#[test]
fn faults_of_lines_are_shown_at_their_places() {
    let head = "[formats.x]\nkind = \"lines\"\n";
    for (rest, place) in [
        ("", "[formats.x]"),
        ("line = [{ match = '^a' }]", "[{ match = '^a' }]"),
        ("line = [{ match = '(?P<json>[' }]", "'(?P<json>['"),
        ("line = [{ match = '^(?P<json>\\{)', as = \"xml\" }]", "\"xml\""),
        ("line = [{ match = '^a', as = \"quoted\" }]", "\"quoted\""),
        ("line = [{ match = '^(?P<json>\\{)', tme = \"$at\" }]", "tme"),
        ("line = [{ match = '^(?P<json>\\{)', time = \"$at\" }]", "\"$at\""),
        ("line = [{ match = '^(?P<json>\\{)' }]\ntime = \"$at\"", "\"$at\""),
        ("line = [{ match = '^(?P<json>\\{)' }]\nbefore = ')'", "')'"),
        ("line = [{ match = '^(?P<json>\\{)' }]\ndoubled = \"yes\"", "\"yes\""),
        ("line = [{ match = '^(?P<json>\\{)', sets = { client = \"$a\" } }]", "client"),
        (
            "line = [{ match = '^(?P<m>\\w)', method = \"$m\", message = [{ method = \"$m\" }] }]",
            "[{ method = \"$m\" }]",
        ),
        ("line = [{ matches = '^a' }]", "{ matches = '^a' }"),
    ] {
        let text = format!("{head}{rest}\n");
        let error = load("mcptally.toml", &text).err().unwrap_or_else(|| panic!("no fault: {rest}"));
        let (_, span) = error.place().unwrap_or_else(|| panic!("no place: {error}"));
        assert_eq!(&text[span.clone()], place, "{error}");
    }
}
