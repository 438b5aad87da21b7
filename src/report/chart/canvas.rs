//! A picture as a list of shapes in pixels, so that every format is painted from the same drawing.

use super::font;

/// Width of every picture, in pixels.
pub const WIDTH: i32 = 1100;
/// Font sizes, in pixels.
pub const TITLE: i32 = 22;
pub const TEXT: i32 = 15;

/// Colours of Okabe and Ito's palette ("Color Universal Design", 2008), safe for colour-blind readers. Those used for
/// opposites differ in lightness too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Black,
    Grey,
    Pale,
    /// Dark: what is as it should be.
    Blue,
    /// Light: what is not.
    Orange,
    Vermilion,
}

impl Ink {
    pub fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Black => (0x22, 0x22, 0x22),
            Self::Grey => (0x70, 0x70, 0x70),
            Self::Pale => (0xe4, 0xe4, 0xe4),
            Self::Blue => (0x00, 0x72, 0xb2),
            Self::Orange => (0xe6, 0x9f, 0x00),
            Self::Vermilion => (0xd5, 0x5e, 0x00),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Box {
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        ink: Ink,
        filled: bool,
    },
    Line {
        points: Vec<(i32, i32)>,
        ink: Ink,
        width: u32,
    },
    Dot {
        x: i32,
        y: i32,
        radius: i32,
        ink: Ink,
        filled: bool,
    },
    /// Points up; tells a kind apart from dots without colour.
    Triangle {
        x: i32,
        y: i32,
        radius: i32,
        ink: Ink,
    },
    /// `y` is the middle of the line of text.
    Text {
        x: i32,
        y: i32,
        anchor: Anchor,
        size: i32,
        ink: Ink,
        text: String,
    },
}

/// A picture in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    pub height: i32,
    pub shapes: Vec<Shape>,
}

impl Canvas {
    /// Begins with the sentence that says what the picture shows, and a line below it. Answers the canvas and the
    /// first free pixel row.
    pub fn titled(height: i32, title: &str, subtitle: &str) -> (Self, i32) {
        let mut canvas = Self { height, shapes: Vec::new() };
        let mut y = 30;
        for line in wrap(title, TITLE, WIDTH - 60) {
            canvas.text(30, y, Anchor::Start, TITLE, Ink::Black, line);
            y += TITLE + 6;
        }
        for line in wrap(subtitle, TEXT, WIDTH - 60) {
            canvas.text(30, y, Anchor::Start, TEXT, Ink::Grey, line);
            y += TEXT + 6;
        }
        (canvas, y + 4)
    }

    pub fn text(&mut self, x: i32, y: i32, anchor: Anchor, size: i32, ink: Ink, text: impl Into<String>) {
        self.shapes.push(Shape::Text { x, y, anchor, size, ink, text: text.into() });
    }

    /// Text of the usual size.
    pub fn label(&mut self, x: i32, y: i32, anchor: Anchor, text: impl Into<String>) {
        self.text(x, y, anchor, TEXT, Ink::Black, text);
    }

    pub fn line(&mut self, points: Vec<(i32, i32)>, ink: Ink, width: u32) {
        self.shapes.push(Shape::Line { points, ink, width });
    }

    pub fn bar(&mut self, x: i32, y: i32, width: i32, height: i32, ink: Ink) {
        self.shapes.push(Shape::Box { x, y, width, height, ink, filled: true });
    }

    pub fn frame(&mut self, x: i32, y: i32, width: i32, height: i32, ink: Ink) {
        self.shapes.push(Shape::Box { x, y, width, height, ink, filled: false });
    }

    pub fn dot(&mut self, x: i32, y: i32, radius: i32, ink: Ink) {
        self.shapes.push(Shape::Dot { x, y, radius, ink, filled: true });
    }

    pub fn ring(&mut self, x: i32, y: i32, radius: i32, ink: Ink) {
        self.shapes.push(Shape::Dot { x, y, radius, ink, filled: false });
    }

    pub fn triangle(&mut self, x: i32, y: i32, radius: i32, ink: Ink) {
        self.shapes.push(Shape::Triangle { x, y, radius, ink });
    }
}

/// Breaks text at spaces so that no line is wider than `room` pixels.
pub fn wrap(text: &str, size: i32, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
impl Canvas {
    /// Texts stay inside the picture and do not touch each other.
    pub fn assert_legible(&self, name: &str) {
        let boxes = self.text_boxes();
        for (index, (text, [left, top, right, bottom])) in boxes.iter().enumerate() {
            let inside = *left >= 0 && *top >= 0 && *right <= WIDTH && *bottom <= self.height;
            assert!(inside, "{name}: {text} runs out of the picture");
            for (other, b) in &boxes[index + 1..] {
                let apart = *right <= b[0] || b[2] <= *left || *bottom <= b[1] || b[3] <= *top;
                assert!(apart, "{name}: {text} touches {other}");
            }
        }
    }

    /// Every text with the pixels it covers: left, top, right, bottom.
    fn text_boxes(&self) -> Vec<(String, [i32; 4])> {
        self.shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text { x, y, anchor, size, text, .. } => {
                    let width = font::width(text, *size);
                    let left = match anchor {
                        Anchor::Start => *x,
                        Anchor::Middle => x - width / 2,
                        Anchor::End => x - width,
                    };
                    Some((text.clone(), [left, y - size / 2, left + width, y + size / 2]))
                }
                _ => None,
            })
            .collect()
    }
}
