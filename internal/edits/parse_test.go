package edits

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lockkata/internal/stages"
)

const whole = "== mutex.go: first\n- a\n- \tb\n+ c\nsuffers: much\ncell: oom x lost wake-up\n" +
	"== hold.go: second\n- d\nsuffers: more\ncell: oom x leak\nsearch: leak/crash\n" +
	"== hold.go: the same\n- e\n+ f\nsuffers: no client\ncell: none\n"

func TestEditsAreParsed(t *testing.T) {
	all, err := read(fstest.MapFS{"stage6.1.txt": {Data: []byte(whole)}})
	require.NoError(t, err)
	const folder = "stage6_reentrant_pubsub/step1_told/"
	for i := range all {
		require.Equal(t, "6.1", all[i].Stage.ID)
		all[i].Stage = stages.Stage{}
	}
	require.Equal(t, []Edit{
		{Name: "first", Change: Change{folder + "mutex.go", "a\n\tb", "c"}, Suffers: "much", Failure: "oom", Outcome: 'x', Rule: "lost wake-up"},
		{Name: "second", Change: Change{folder + "hold.go", "d", ""}, Suffers: "more", Failure: "oom", Outcome: 'x', Rule: "leak", Search: "leak/crash"},
		{Name: "the same", Change: Change{folder + "hold.go", "e", "f"}, Suffers: "no client"},
	}, all)
}

func TestMalformedEditIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"== third\n- a\nsuffers: much\ncell: oom x leak\n":       `its first line has no file`,
		"== mutex.go: third\nsuffers: much\ncell: oom x leak\n":  `no line begins with -`,
		"== mutex.go: third\n- a\nsuffers: much\n":               `no line begins with cell:`,
		"== mutex.go: third\n- a\ncell: oom x leak\n":            `no line begins with suffers:`,
		"== mutex.go: third\n- a\nsuffers: much\ncell: oom x\n":  `cell "oom x" is not a failure, its outcome and a rule`,
		"== mutex.go: third\n- a\nfailure: oom\nsuffers: much\n": `line "failure: oom\n" has none of - + suffers: cell: search: at its beginning`,
	} {
		_, err := read(fstest.MapFS{"stage2.txt": {Data: []byte(whole + text)}})
		require.EqualError(t, err, `edits: stage2.txt: "third": `+want)
	}
	_, err := read(fstest.MapFS{"stage7.txt": {Data: []byte(whole)}})
	require.ErrorContains(t, err, "edits: stage7.txt: there is no stage")
}
