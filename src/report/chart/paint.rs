//! A drawing as PNG and as SVG.

use super::canvas::{Anchor, Canvas, Shape, WIDTH};
use super::font;
use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, Circle, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea as _, PathElement,
    Polygon, RGBColor, Rectangle, SVGBackend, ShapeStyle, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontFamily, IntoTextStyle as _, TextStyle};
use std::io;
use std::path::Path;

pub fn png(canvas: &Canvas, path: &Path) -> io::Result<()> {
    let root = BitMapBackend::new(path, size(canvas)).into_drawing_area();
    paint(canvas, &root, pixels).map_err(io::Error::other)
}

pub fn svg(canvas: &Canvas, path: &Path) -> io::Result<()> {
    let root = SVGBackend::new(path, size(canvas)).into_drawing_area();
    paint(canvas, &root, element).map_err(io::Error::other)
}

/// A line of text, its anchor in pixels.
struct Label<'t> {
    text: &'t str,
    x: i32,
    y: i32,
    anchor: Anchor,
    size: i32,
    color: RGBColor,
}

/// Text as pixels. plotters places glyphs at whole pixels without their side bearings, which tears words apart.
fn pixels<DB: DrawingBackend>(label: &Label<'_>, area: &DrawingArea<DB, Shift>) -> Painted<DB> {
    let width = font::width(label.text, label.size);
    let left = match label.anchor {
        Anchor::Start => label.x,
        Anchor::Middle => label.x - width / 2,
        Anchor::End => label.x - width,
    };
    let mut done = Ok(());
    font::draw(label.text, label.size, left, label.y, |x, y, cover| {
        if done.is_ok() && cover > 0.0 {
            done = area.draw_pixel((x, y), &label.color.mix(f64::from(cover)));
        }
    });
    done
}

/// Text as an element of its own.
fn element<DB: DrawingBackend>(label: &Label<'_>, area: &DrawingArea<DB, Shift>) -> Painted<DB> {
    let horizontal = match label.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let style: TextStyle = (FontFamily::Name(font::FAMILY), label.size)
        .with_color(label.color)
        .into_text_style(area)
        .pos(Pos::new(horizontal, VPos::Center));
    area.draw(&Text::new(label.text, (label.x, label.y), style))
}

fn size(canvas: &Canvas) -> (u32, u32) {
    (WIDTH.unsigned_abs(), canvas.height.unsigned_abs())
}

type Painted<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn paint<DB: DrawingBackend>(
    canvas: &Canvas,
    area: &DrawingArea<DB, Shift>,
    write: impl Fn(&Label<'_>, &DrawingArea<DB, Shift>) -> Painted<DB>,
) -> Painted<DB> {
    font::register();
    area.fill(&WHITE)?;
    for shape in &canvas.shapes {
        match shape {
            Shape::Box { x, y, width, height, ink, filled } => {
                let style = style(ink.rgb(), 1, *filled);
                area.draw(&Rectangle::new([(*x, *y), (x + width, y + height)], style))?;
            }
            Shape::Line { points, ink, width } => {
                area.draw(&PathElement::new(points.clone(), style(ink.rgb(), *width, false)))?;
            }
            Shape::Dot { x, y, radius, ink, filled } => {
                area.draw(&Circle::new((*x, *y), *radius, style(ink.rgb(), 2, *filled)))?;
            }
            Shape::Triangle { x, y, radius, ink } => {
                let corners = [(*x, y - radius), (x - radius, y + radius), (x + radius, y + radius)];
                area.draw(&Polygon::new(corners.to_vec(), style(ink.rgb(), 1, true)))?;
            }
            Shape::Text { x, y, anchor, size, ink, text } => {
                let (red, green, blue) = ink.rgb();
                let color = RGBColor(red, green, blue);
                write(&Label { text, x: *x, y: *y, anchor: *anchor, size: *size, color }, area)?;
            }
        }
    }
    area.present()
}

fn style((red, green, blue): (u8, u8, u8), width: u32, filled: bool) -> ShapeStyle {
    ShapeStyle { color: RGBColor(red, green, blue).into(), filled, stroke_width: width }
}
