package failures

import (
	"slices"
	"strings"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Subject is a lock that the catalogue judges.
type Subject struct {
	Name string
	// New makes one owner's lock of that name. Commands that it sends are executed at once.
	New world.Constructor
	// NewOver is used instead of New for a lock of several servers.
	NewOver world.Constructor
	// Variants are the same lock set up in another way, for failures that need it.
	Variants map[Variant]world.Constructor
	// Ignore reports whether a key is not a lock, but a counter or a queue of a lock.
	Ignore func(key string) bool
	// AttributeTo and SkipFrames are for a lock that sends through its own goroutines or
	// layers; see [world.Config].
	AttributeTo world.AttributeTo
	SkipFrames  []string
	// Has lists the features of the lock beyond a Locker. A failure that needs another
	// feature does not apply.
	Has []Feature
	// Scripts are the Lua scripts that Redis knows from the beginning; see [DiscoverScripts].
	Scripts []string
}

// With returns the lock with a feature.
func (s Subject) With(f Feature) Subject {
	if !slices.Contains(s.Has, f) {
		s.Has = append(slices.Clip(s.Has), f)
	}
	return s
}

// SendsWait reports whether a trace shows that the lock asks how many replicas have its key.
func SendsWait(tr *trace.Trace) bool {
	return tr != nil && slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind == trace.Sent && e.Command[0] == "WAIT" })
}

// Shows returns the features that a trace shows and s.Has does not list. Only scripts, pub/sub and a
// watchdog can be seen in a trace.
func (s Subject) Shows(tr *trace.Trace) (shown []Feature) {
	show := func(f Feature) {
		if !slices.Contains(shown, f) && !slices.Contains(s.Has, f) {
			shown = append(shown, f)
		}
	}
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Sent && strings.HasPrefix(e.Command[0], "EVAL"):
			show(Scripts)
		case e.Kind == trace.Sent && strings.HasSuffix(e.Command[0], "SUBSCRIBE"):
			show(PubSub)
		case e.Kind == trace.Executed && e.Background && e.Effects.Include(trace.Leased):
			show(Watchdog)
		}
	}
	return shown
}

// Config returns the configuration of a world for the lock.
func (s Subject) Config() world.Config {
	create, servers := s.New, 1
	if s.NewOver != nil {
		create, servers = s.NewOver, catalogue.RedLockServers
	}
	copies := 0
	if slices.Contains(s.Has, Waits) {
		copies = catalogue.Replicas
	}
	return world.Config{New: create, Around: adapters.Around, Servers: servers, Replicas: copies, Ignore: s.Ignore, AttributeTo: s.AttributeTo, SkipFrames: s.SkipFrames, Scripts: s.Scripts}
}

// ConfigFor returns the configuration of the world in which a failure runs on the lock.
func (s Subject) ConfigFor(f catalogue.Failure) world.Config {
	config := s.Config()
	config.Client, config.Guard, config.Lease, config.Replicas = f.Client, f.Guard, f.Lease, max(f.Replicas, config.Replicas)
	if variant, ok := s.Variants[f.Variant]; ok {
		config.New = variant
	} else if f.Variant == catalogue.Nested {
		config.New = adapters.Nested(config.New)
		config.Ignore = func(key string) bool {
			return strings.Contains(key, adapters.Another) || s.Ignore != nil && s.Ignore(key)
		}
	}
	return config
}

// Failures returns the catalogue for the lock: that of RedLock for a lock of several servers.
func (s Subject) Failures() []catalogue.Failure {
	switch {
	case s.NewOver != nil:
		return catalogue.OfRedLock
	case slices.Contains(s.Has, Waits):
		return slices.Concat(catalogue.All, catalogue.OfReplicas)
	}
	return catalogue.All
}

// Applies reports whether a failure applies to the lock, which has what the failure is about.
func Applies(f catalogue.Failure, s Subject) bool { return s.lacks(f).Text == "" }

// The texts for a failure that does not apply.
var (
	missingFeatureText  = i18n.New("this lock has no {features}")
	wrongServersText    = i18n.New("the failures of RedLock are for a lock of several servers, all others for a lock of one")
	missingVariantText  = i18n.New("this lock has no {variant}")
	excludedFeatureText = i18n.New("not for a lock with {features}")
)

// lacks returns the reason why a failure does not apply; no text if it does.
func (s Subject) lacks(f catalogue.Failure) i18n.Message {
	_, varies := s.Variants[f.Variant]
	has := func(feature Feature) bool { return slices.Contains(s.Has, feature) }
	missing := named(f.Needs, func(n Feature) bool { return !has(n) })
	barred := named(f.Unless, has)
	switch {
	case (f.Family == catalogue.RedLock) != (s.NewOver != nil):
		return wrongServersText.Args()
	case missing != "":
		return missingFeatureText.Args("features", missing)
	case barred != "":
		return excludedFeatureText.Args("features", barred)
	case !varies && (f.Variant == catalogue.FixedLease && has(Watchdog) || slices.Contains([]Variant{catalogue.LongLease, catalogue.Beside, catalogue.BesideRenewed, catalogue.Crowded}, f.Variant)):
		return missingVariantText.Args("variant", i18n.Text(f.Variant))
	}
	return i18n.Message{}
}

// named returns the names of some features.
func named(all []Feature, some func(Feature) bool) string {
	var names []string
	for _, f := range all {
		if some(f) {
			names = append(names, string(f))
		}
	}
	return strings.Join(names, ", ")
}
