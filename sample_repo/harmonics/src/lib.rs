//! Fits harmonic constituents to gauge levels (docs/adr/0001).

pub mod fit;

use std::fmt;

/// One cosine of the tide; the Python side calls it `Constituent` too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constituent {
    pub speed: f64,
    pub amplitude: f64,
    pub phase: f64,
}

/// What a constituent follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    Moon,
    Sun,
    Both,
}

/// Anything with a height at an hour.
pub trait Tide {
    fn height_at(&self, hours: f64) -> f64;
}

impl Tide for Constituent {
    fn height_at(&self, hours: f64) -> f64 {
        self.amplitude * (self.speed * hours - self.phase).to_radians().cos()
    }
}

impl Tide for [Constituent] {
    fn height_at(&self, hours: f64) -> f64 {
        self.iter().map(|part| part.height_at(hours)).sum()
    }
}

impl fmt::Display for Constituent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} m at {:.1}°", self.amplitude, self.phase)
    }
}
