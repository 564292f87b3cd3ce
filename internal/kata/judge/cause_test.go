package judge

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

func TestValueWithTheNumberOfTheProcessIsTold(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	for value, told := range map[string]bool{"host:" + pid + ":1": true, "host:" + pid + "0": false, pid: false, "order:" + pid: false} {
		trace := &world.Trace{Lock: "order:" + pid, Events: []world.Event{{Client: "A", Kind: world.Sent, Command: []string{"SET", "k", value}}}}
		require.Equal(t, told, numbered(trace) != nil, value)
	}
}

// The lease of the lock may be why a day goes wrong; that of a waiter's own key is not.
func TestDayIsNotBlamedOnAWaitersKey(t *testing.T) {
	for lease, blamed := range map[time.Duration]bool{30 * time.Second: false, time.Second: true} {
		lock, waiter := world.Key{Name: "k", TTL: lease}, world.Key{Name: "k:b", TTL: time.Second}
		trace := &world.Trace{Lock: "k", Lease: 30 * time.Second}
		acquires := func(client string, installed string, held bool, keys ...world.Key) {
			call := len(trace.Events)
			claim := world.ClaimRefused
			if held {
				claim = world.ClaimDone
			}
			for _, e := range []world.Event{
				{Kind: world.Called},
				{Kind: world.Executed, Command: []string{"SET"}, Effects: []world.Effect{{Kind: world.Installed, Key: installed, Owner: world.Owner{Client: client, Process: client}}}, Keys: keys},
				{Kind: world.Returned, Result: &world.Result{Held: held, Claim: claim}},
			} {
				e.Client, e.Process, e.Call, e.Op = client, client, call, world.OpTryLock
				trace.Events = append(trace.Events, e)
			}
		}
		acquires("A", "k", true, lock)
		acquires("B", "k:b", false, lock, waiter)
		var c Cause
		c.blame(trace, i18n.English)
		require.Equal(t, blamed, c.Next.Text != "", c.Text)
	}
}

// Redis reads such a script. It is the embedded one that may lack the command.
func TestScriptWithAnUnknownCommandIsReadable(t *testing.T) {
	for says, next := range map[string]i18n.Text{
		"<string> line:1(column:5) near 'if': syntax error":                           mendScript,
		":5: Unknown Redis command called from script script: 6f3ffc2e8f2e56e762dd06": spellIt,
	} {
		reply := "(error) ERR Error compiling script (new function): " + says
		var c Cause
		c.blame(&world.Trace{Events: []world.Event{{Kind: world.Executed, Reply: reply, Command: []string{"EVALSHA", "take"}}}}, i18n.English)
		require.Equal(t, next, c.Next.Text)
	}
}
