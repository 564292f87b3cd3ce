package main

import (
	"context"
	"crypto/sha1"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/rueidis"

	"lockkata/failures_test/world"
)

// attributed is rueidis's client, which sends everything from one goroutine. It
// notes whose value a script is sent with, so that the world can tell whose call the
// script belongs to. It changes nothing of what is sent.
type attributed struct{ rueidis.Client }

// senders are the clients by the values of their holds, which are random.
var senders sync.Map

func newAttributed(option rueidis.ClientOption) (rueidis.Client, error) {
	client, err := rueidis.NewClient(option)
	return attributed{client}, err
}

// Do sends a command.
func (c attributed) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if lane, value := world.Lane(ctx), valueOf(cmd.Commands()); lane != "" && value != "" {
		senders.LoadOrStore(value, lane)
	}
	return c.Client.Do(ctx, cmd)
}

// valueOf is the hold's value in a script of rueidislock's: EVALSHA sha 1 key value
// deadline.
func valueOf(args []string) string {
	if len(args) != 6 || !strings.HasPrefix(args[0], "EVAL") {
		return ""
	}
	return args[4]
}

// rueidisErrand tells whose call a script belongs to. Renewals are nobody's: the
// lock sends them by itself.
func rueidisErrand(args []string) (client string, is bool) {
	value := valueOf(args)
	if value == "" {
		return "", true
	}
	if isRenewal(args[1]) {
		return "", false
	}
	lane, known := senders.Load(value)
	if !known {
		return "", true
	}
	return lane.(string), true
}

// renewals are the SHA1s of the scripts that renew, as a rehearsal saw them.
var renewals sync.Map

// noteRenewals learns which of the scripts renew.
func noteRenewals(scripts []string) {
	for _, source := range scripts {
		if renewsIn(source) {
			renewals.Store(fmt.Sprintf("%x", sha1.Sum([]byte(source))), true)
		}
	}
}

func renewsIn(source string) bool { return strings.Contains(source, "PEXPIREAT") }

// isRenewal tells of a script, or of its SHA1, whether it renews.
func isRenewal(script string) bool {
	_, is := renewals.Load(script)
	return is || renewsIn(script)
}

// serverError is an answer of Redis's, as go-redis marks one.
type serverError struct{ error }

// RedisError marks it.
func (serverError) RedisError() {}

// Unwrap is the library's error.
func (e serverError) Unwrap() error { return e.error }

// fromRedis marks an error that Redis answered: whoever reads it must not take it
// for the lock's own word.
func fromRedis(err error) error {
	if _, is := rueidis.IsRedisErr(err); is {
		return serverError{err}
	}
	return err
}
