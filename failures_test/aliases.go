package failures

import (
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
)

// The names that the test of a lock needs to describe it, so that it imports this package only.

// Locker is a lock of one name as one owner uses it.
type Locker = world.Locker

// Feature is something that a lock may have, and that a failure may need.
type Feature = catalogue.Feature

// The features; see [catalogue.Feature].
const (
	Scripts     = catalogue.Scripts
	Watchdog    = catalogue.Watchdog
	Reentry     = catalogue.Reentry
	PubSub      = catalogue.PubSub
	Fencing     = catalogue.Fencing
	Force       = catalogue.Force
	Closing     = catalogue.Closing
	Waits       = catalogue.Waits
	HoldContext = catalogue.HoldContext
	FixedValue  = catalogue.FixedValue
)

// Variant is a way to set up a lock.
type Variant = catalogue.Variant

// The variants that an exercise asks for. The others are in the catalogue.
const (
	FixedLease = catalogue.FixedLease
	Limited    = catalogue.Limited
)
