use super::*;
use crate::report::model::HashKey;

const KEY: HashKey = HashKey::zero();

fn page(reveal: bool) -> Page<'static> {
    Page { key: &KEY, reveal }
}

fn shown(text: &str, closed: bool) -> Shown {
    Shown { text: text.into(), chars: text.chars().count() as u64, hash: 7, closed }
}

fn value(text: &str) -> String {
    page(true).value(&shown(text, true)).whole().to_owned()
}

#[test]
fn nothing_invisible_survives() {
    assert_eq!(value("a\x1b[31mred\x07"), "a␛[31mred␇");
    assert_eq!(value("one\ntwo\r\n\tthree"), "one␊two␍␊␉three");
    assert_eq!(value("evil\u{202e}txt.exe"), "evil⟨U+202E⟩txt.exe");
    assert_eq!(value("zero\u{200b}width"), "zero⟨U+200B⟩width");
    assert_eq!(value("warm\u{a0}tone"), "warm⟨U+00A0⟩tone");
    assert_eq!(value("tag\u{e0041}"), "tag⟨U+E0041⟩");
    assert_eq!(value("\u{9b}31m"), "⟨U+009B⟩31m");
    for c in (0..0x11_0000).filter_map(char::from_u32).filter(|c| c.is_control() || is_invisible(*c)) {
        let text = value(&format!("x{c}x"));
        assert!(!text.chars().any(|c| c.is_control() || is_invisible(c)), "{:04x} survives", c as u32);
    }
    assert_eq!(value("Grüße, мир, 東京"), "Grüße, мир, 東京");
}

#[test]
fn empty_blank_absent_and_null_differ() {
    let page = page(false);
    let marks = [
        page.value(&shown("", false)).whole().to_owned(),
        page.value(&shown("   ", false)).whole().to_owned(),
        page.typed_value(&shown("null", false), ValueType::Null).whole().to_owned(),
        page.typed_value(&shown("null", true), ValueType::String).whole().to_owned(),
        ABSENT.to_owned(),
        NO_NAME.to_owned(),
    ];
    assert_eq!(marks, ["\"\"", "\"   \"", "(null)", "null", "(absent)", "(no name)"]);
}

#[test]
fn a_value_cannot_pose_as_a_mark() {
    assert_eq!(value("(absent)"), "\"(absent)\"");
    assert_eq!(value("<31 chars, #ab>"), "\"<31 chars, #ab>\"");
    assert_eq!(value(" warm"), "\" warm\"");
    assert_eq!(value("\"\""), "\"\"\"\"");
    assert_eq!(page(true).typed_value(&shown("42", true), ValueType::Number).whole(), "42 (number)");
    assert_eq!(value("42"), "42");
}

#[test]
fn the_privacy_rule_hides_open_long_and_multiline_values() {
    let page = page(false);
    let digest = KEY.digest(7);
    let hidden = |text: &str, closed| page.value(&shown(text, closed)).whole().to_owned();
    assert_eq!(hidden("My order never came", false), format!("<19 chars, #{digest}>"));
    assert_eq!(hidden("x", false), format!("<1 char, #{digest}>"));
    assert_eq!(hidden("firm.", true), "firm.");
    assert_eq!(hidden("Warm", true), "Warm");
    assert_eq!(hidden(&"long ".repeat(17), true), format!("<85 chars, #{digest}>"));
    assert_eq!(hidden("warm\nfirm", true), format!("<9 chars, #{digest}>"));
    assert_eq!(page.exact(&shown("My order", false)), Exact { text: None, withheld: Some("private") });
    assert_eq!(page.exact(&shown("", false)), Exact { text: Some(String::new()), withheld: None });
}

#[test]
fn revealed_text_says_where_it_was_cut() {
    let cut = Shown { text: "abc".into(), chars: 9000, hash: 7, closed: false };
    assert_eq!(page(true).value(&cut).whole(), "abc…");
    assert_eq!(page(true).exact(&cut).withheld, Some("cut"));
}

#[test]
fn credentials_are_masked_even_when_revealed() {
    let secrets = [
        "sk-proj-abcdefghijklmnop1234567890",
        "use AKIAIOSFODNN7EXAMPLE please",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "password=hunter22",
        "Authorization: Bearer abcdef1234567890",
        "api_key: \"0123456789\"",
        "https://bob:swordfish@example.org/",
        "Zk3vQ9xLr2TbWmE7uNaYp5DsHc8JgVf4oK1i",
        "d41d8cd98f00b204e9800998ecf8427e",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    ];
    for secret in secrets {
        let text = value(secret);
        assert!(text.contains("<credential, "), "{secret} → {text}");
        assert_eq!(page(true).exact(&shown(secret, true)).withheld, Some("credential"), "{secret}");
    }
    assert!(!value("password=hunter22").contains("hunter22"));
    assert!(value("https://bob:swordfish@example.org/").ends_with("@example.org/"));
}

#[test]
fn ordinary_text_is_no_credential() {
    let ordinary = [
        "warm but not sycophantic",
        "123e4567-e89b-12d3-a456-426614174000",
        "QuarterlyReport2026FinalVersionForReview",
        "the-secret-of-a-good-reply-is-to-listen-first",
        "/home/team/projects/review-replies/2026/january/notes",
        "token",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "20260101000000000000000000000000000000",
    ];
    for text in ordinary {
        assert_eq!(value(text), text);
    }
}

#[test]
fn names_are_shown_and_overlong_ones_hidden() {
    let page = page(false);
    assert_eq!(page.name("reply_to_review").whole(), "reply_to_review");
    assert_eq!(page.name("").whole(), "\"\"");
    assert_eq!(page.optional_name(None).whole(), "(no name)");
    assert!(page.name(&"k".repeat(300)).whole().starts_with("<300 chars, #"));
    assert!(page.name("sk-abcdefghijklmnopqrstuvwx").whole().starts_with("<credential, "));
    assert_eq!(page.name("9f86d081884c7d659a2feaa0c55ad015").whole(), "9f86d081884c7d659a2feaa0c55ad015");
}

#[test]
fn cuts_fall_between_graphemes() {
    let flags = Printable("🇩🇪🇫🇷🇮🇹".into());
    assert_eq!(flags.terminal(2), "🇩🇪…");
    assert_eq!(flags.terminal(3), "🇩🇪🇫🇷🇮🇹");
    assert_eq!(Printable("e\u{301}e\u{301}e\u{301}".into()).terminal(2), "e\u{301}…");
    assert_eq!(Printable("abc".into()).terminal(0), "…");
    let heap = format!("a{}", "\u{301}".repeat(500));
    assert!(Printable(heap).terminal(10).chars().count() < 12);
}

#[test]
fn markdown_is_inert() {
    let markdown = |text: &str| Printable(text.into()).markdown(200);
    assert_eq!(markdown("a|b`c`*d*"), "a\\|b\\`c\\`\\*d\\*");
    assert_eq!(markdown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_eq!(markdown("[x](javascript:alert(1))"), "\\[x\\](javascript:alert(1))");
    assert_eq!(markdown("reply_to_review _b_"), "reply_to_review \\_b\\_");
    assert_eq!(markdown("https://evil.example www.evil.example"), "https&#58;//evil.example www&#46;evil.example");
    assert_eq!(markdown("&lt;"), "&amp;lt;");
}

#[test]
fn html_and_csv_are_inert() {
    let printable = |text: &str| Printable(text.into());
    assert_eq!(printable("<b a=\"'&\">").html(99), "&lt;b a=&quot;&#39;&amp;&quot;&gt;");
    for formula in ["=cmd()", "+1", "-1", "@SUM(A1)", "  =1", "＝1"] {
        assert_eq!(printable(formula).csv(), format!("'{formula}"));
    }
    assert_eq!(page(true).value(&shown("\t=1", true)).csv(), "\"␉=1\"");
    assert_eq!(page(true).name("\r=1").csv(), "\"␍=1\"");
    assert_eq!(printable("1=1").csv(), "1=1");
}

#[test]
fn chart_labels_use_what_the_font_has() {
    assert_eq!(Printable("Größe мир ␊".into()).chart(30), "Größe мир □");
    assert_eq!(Printable("東京 tone".into()).chart(30), "□□ tone");
}
