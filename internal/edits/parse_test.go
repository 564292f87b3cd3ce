package edits

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const whole = "== first\nfile: mutex.go\n- a\n- \tb\n+ c\nsuffers: much\ncell: oom x lost wake-up\n== second\n- d\nsuffers: more\ncell: oom x leak\nsearch: leak/crash\n"

func TestEditsAreRead(t *testing.T) {
	all, err := read(fstest.MapFS{"stage6.1.txt": {Data: []byte(whole)}})
	require.NoError(t, err)
	const file = "stage6_reentrant_pubsub/step1_told/mutex.go"
	require.Equal(t, []Edit{
		{Name: "first", File: file, Old: "a\n\tb", New: "c", Suffers: "much", Failure: "oom", Outcome: 'x', Rule: "lost wake-up"},
		{Name: "second", File: file, Old: "d", Suffers: "more", Failure: "oom", Outcome: 'x', Rule: "leak", Search: "leak/crash"},
	}, all)
}

func TestMalformedEditIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"== first\n- a\nsuffers: much\ncell: oom x leak\n":             `no line begins with file:`,
		"== first\nfile: mutex.go\nsuffers: much\ncell: oom x leak\n":  `no line begins with -`,
		"== first\nfile: mutex.go\n- a\nsuffers: much\n":               `no line begins with cell:`,
		"== first\nfile: mutex.go\n- a\nsuffers: much\ncell: oom x\n":  `cell "oom x" is not a failure, its outcome and a rule`,
		"== first\nfile: mutex.go\n- a\nsuffers: much\nfailure: oom\n": `line "failure: oom" begins with none of - + file: suffers: cell: search:`,
		whole + "== first\n- a\n":                                      `no line begins with suffers:`,
	} {
		_, err := read(fstest.MapFS{"stage2.txt": {Data: []byte(text)}})
		require.EqualError(t, err, `edits: stage2.txt: "first": `+want)
	}
	_, err := read(fstest.MapFS{"stage7.txt": {Data: []byte(whole)}})
	require.ErrorContains(t, err, "edits: stage7.txt: there is no stage")
}
