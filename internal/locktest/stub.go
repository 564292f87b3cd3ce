package locktest

import (
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

type Promise struct {
	ID     string
	Title  i18n.Text
	Advice i18n.Text
	Basic  bool
	Needs  []failures.Feature
	Check  func(*testing.T, failures.Subject) Broken
}

type Broken struct {
	Text   i18n.Message
	Advice i18n.Message
	Trace  *world.Trace
	Source world.Source
}

var Promises []Promise

const NewValue = "new-value"
