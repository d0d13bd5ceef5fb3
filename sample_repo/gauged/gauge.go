// Package gauged reads the gauges and hands levels to the fit.
package gauged

import (
	"errors"
	"sort"
	"time"
)

// MaxJump is the largest believable change between two readings, in metres.
const MaxJump = 0.8

// ErrNoReadings says that a gauge was silent.
var ErrNoReadings = errors.New("gauge was silent")

// Reading is one raw level, in metres above chart datum.
type Reading struct {
	Station string
	At      time.Time
	Level   float64
}

// Gauge is a source of readings.
type Gauge interface {
	Read(since time.Time) ([]Reading, error)
}

// Smooth takes the median of a window, so that one wave or one gull does not count.
func Smooth(readings []Reading) (Reading, error) {
	if len(readings) == 0 {
		return Reading{}, ErrNoReadings
	}
	sorted := append([]Reading(nil), readings...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Level < sorted[j].Level })
	return sorted[len(sorted)/2], nil
}

// Believable reports whether next can follow r.
func (r Reading) Believable(next Reading) bool {
	jump := next.Level - r.Level
	return jump <= MaxJump && jump >= -MaxJump
}
