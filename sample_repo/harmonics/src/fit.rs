//! Least squares, one constituent at a time.

use crate::{Constituent, Tide};

/// A level at an hour since the epoch of `tidebook.harmonics`.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub hours: f64,
    pub metres: f64,
}

/// Amplitude and phase of the cosine with this speed that explains the levels best.
pub fn fit(levels: &[Level], speed: f64) -> Constituent {
    let (mut along, mut across) = (0.0, 0.0);
    for level in levels {
        let angle = (speed * level.hours).to_radians();
        along += level.metres * angle.cos();
        across += level.metres * angle.sin();
    }
    let scale = 2.0 / levels.len().max(1) as f64;
    Constituent {
        speed,
        amplitude: along.hypot(across) * scale,
        phase: across.atan2(along).to_degrees(),
    }
}

/// What is left of the levels once the tide is taken away: wind, mostly.
pub fn residual(levels: &[Level], tide: &dyn Tide) -> Vec<Level> {
    levels
        .iter()
        .map(|level| Level {
            hours: level.hours,
            metres: level.metres - tide.height_at(level.hours),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_tide_is_found_again() {
        let moon = Constituent { speed: 30.0, amplitude: 2.0, phase: 40.0 };
        let levels: Vec<Level> = (0..240)
            .map(|hour| Level { hours: hour as f64, metres: moon.height_at(hour as f64) })
            .collect();
        assert!((fit(&levels, 30.0).amplitude - 2.0).abs() < 1e-6);
    }
}
