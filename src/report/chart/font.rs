//! The font compiled in, so that pictures need no fonts on the machine.

use ab_glyph::{Font as _, FontRef};
use plotters::style::{FontStyle, register_font};
use std::sync::LazyLock;

/// Name under which plotters knows the font; also what an SVG asks its viewer for.
pub const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static BYTES: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");

static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| {
    register_font(FAMILY, FontStyle::Normal, BYTES).ok()?;
    FontRef::try_from_slice(BYTES).ok()
});

/// Makes the font known to plotters. False if the font cannot be read, which a test rules out.
pub fn register() -> bool {
    FONT.is_some()
}

/// Whether the font can draw a character.
pub fn has_glyph(c: char) -> bool {
    FONT.as_ref().is_some_and(|font| font.glyph_id(c).0 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_readable_and_covers_what_labels_use() {
        assert!(register());
        assert!("aZ09 Äß Ωλ Жя €–—…“”→≤≥≈□⟨⟩".chars().all(has_glyph));
        assert!(!has_glyph('東'));
    }
}
