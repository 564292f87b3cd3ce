package world

import (
	"fmt"
	"time"
)

// RunLive plays a scenario in real time on a real redis-server. The lease is a
// second if the config does not say otherwise. The error is not nil when the
// scenario could not be played; it is [ErrNotOurs] or [ErrNotLive] when this
// server, or no server, can do what the scenario asks for.
func RunLive(server Redis, config Config, scenario func(*World)) (*Trace, error) {
	if config.Lease == 0 {
		config.Lease = time.Second
	}
	config = config.withDefaults()
	real, err := newReal(server, config.Lock)
	if err != nil {
		return nil, fmt.Errorf("world: Redis at %s: %w", server.Addr(), err)
	}
	w, err := newWorld(config, real, realTime{})
	if err != nil {
		real.close()
		return nil, err
	}
	withLabel(func(label string) {
		w.label = label
		err = w.play(scenario)
		w.mu.Lock()
		w.late(w.slow)
		w.mu.Unlock()
		w.close()
		if n := labelled(label) - 1; n > 0 && err == nil {
			err = fmt.Errorf("world: %w: %d of them", ErrLeft, n)
		}
	})
	return w.trace, err
}

// DiscoverScriptsLive is [Discover] on a real redis-server, for a lock whose client needs one.
func DiscoverScriptsLive(server Redis, config Config) ([]string, error) {
	var scripts []string
	_, err := RunLive(server, config, normalUse(&scripts))
	return scripts, err
}
