package timeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// A write to the ledger has left, and has no answer yet.
func TestMomentTellsAWriteThatHasBegun(t *testing.T) {
	trace := &world.Trace{Events: []world.Event{{Kind: world.Called, Client: "B", Call: 1, Op: world.OpInsert, Text: "tea"}}}
	require.Equal(t, `B asks the ledger to insert order "tea".`, timeline.Moment(trace, 1, texts.English))
	require.Equal(t, `B 让账本创建订单 "tea"。`, timeline.Moment(trace, 1, texts.Chinese))
}
