package term

import (
	"strings"
	"time"
)

// Clock is a moment of fake time, to the millisecond.
func Clock(d time.Duration) string { return Short(d.Round(time.Millisecond)) }

// Short is a duration without zero units: 1h, not 1h0m0s.
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
