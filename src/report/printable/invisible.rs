//! Characters a reader cannot see, and what is written instead.

/// Replaces what cannot be seen: control characters by their pictures (␊), everything else by ⟨U+202E⟩.
pub fn reveal(text: &str) -> String {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('␦')),
            '\u{7f}' => out.push('␡'),
            _ if is_invisible(c) => out.push_str(&format!("⟨U+{:04X}⟩", c as u32)),
            _ => out.push(c),
        }
    }
    out
}

/// Control characters, bidirectional controls, zero-width and other default-ignorable characters, spaces that look
/// like the plain one, private use and non-characters (Unicode 16, `Default_Ignorable_Code_Point`, `Bidi_Control`,
/// `White_Space`).
pub fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0x00..=0x1f | 0x7f..=0xa0 | 0xad
        | 0x034f | 0x061c | 0x115f..=0x1160 | 0x1680 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f
        | 0x2800 | 0x3000 | 0x3164 | 0xe000..=0xf8ff
        | 0xfdd0..=0xfdef | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0x10_ffff)
        || (c as u32) & 0xfffe == 0xfffe
}
