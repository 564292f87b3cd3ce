package term

import (
	"regexp"
	"time"
)

// Clock formats a moment of fake time, to the millisecond.
func Clock(d time.Duration) string { return Short(d.Round(time.Millisecond)) }

var zeroUnits = regexp.MustCompile(`(h)0m0s$|(m)0s$`)

// Short formats a duration without zero units at its end: 1h, not 1h0m0s.
func Short(d time.Duration) string { return zeroUnits.ReplaceAllString(d.String(), "$1$2") }
