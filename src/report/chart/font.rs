//! The font compiled in, so that pictures need no fonts on the machine.

use ab_glyph::{Font as _, FontRef, ScaleFont as _};
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

/// Width of a line of text in pixels, at a font size in pixels.
pub fn width(text: &str, size: i32) -> i32 {
    let Some(font) = FONT.as_ref() else { return 0 };
    let scaled = font.as_scaled(size as f32);
    text.chars().map(|c| scaled.h_advance(scaled.glyph_id(c))).sum::<f32>().ceil() as i32
}

/// Covers pixels with a line of text that begins at `x` and has its middle at `y`: `pixel(x, y, share covered)`.
pub fn draw(text: &str, size: i32, x: i32, y: i32, mut pixel: impl FnMut(i32, i32, f32)) {
    let Some(font) = FONT.as_ref() else { return };
    let scaled = font.as_scaled(size as f32);
    let mut pen = x as f32;
    let baseline = y as f32 + (scaled.ascent() + scaled.descent()) / 2.0;
    for c in text.chars() {
        let id = scaled.glyph_id(c);
        let glyph = id.with_scale_and_position(size as f32, ab_glyph::point(pen, baseline));
        pen += scaled.h_advance(id);
        let Some(outline) = scaled.outline_glyph(glyph) else { continue };
        let bounds = outline.px_bounds();
        let (left, top) = (bounds.min.x as i32, bounds.min.y as i32);
        outline.draw(|dx, dy, cover| pixel(left + dx as i32, top + dy as i32, cover.min(1.0)));
    }
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
