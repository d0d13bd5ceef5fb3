package gauged

import (
	"fmt"
	"log"
	"time"
)

// Worker polls one gauge and keeps the last level that it believed.
type Worker struct {
	gauge Gauge
	last  *Reading
	sink  func(Reading)
}

// NewWorker returns a worker that has seen nothing yet.
func NewWorker(gauge Gauge, sink func(Reading)) *Worker {
	return &Worker{gauge: gauge, sink: sink}
}

// Step reads once. A jump that cannot be water is logged and dropped.
func (w *Worker) Step(since time.Time) error {
	readings, err := w.gauge.Read(since)
	if err != nil {
		return fmt.Errorf("read gauge: %w", err)
	}
	level, err := Smooth(readings)
	if err != nil {
		return err
	}
	if w.last != nil && !w.last.Believable(level) {
		log.Printf("%s: dropped a jump to %.2f m", level.Station, level.Level)
		return nil
	}
	w.last = &level
	w.sink(level)
	return nil
}
