package stages

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/documents/doc1"
	"lockkata/failures_test/documents/doc2"
	"lockkata/failures_test/documents/doc3"
	"lockkata/failures_test/documents/doc4"
	"lockkata/failures_test/documents/doc5"
	"lockkata/failures_test/world"
)

// documents are the locks of the five documents with which the project began.
var documents = []Stage{
	{
		ID: "doc1", Hidden: true, Dir: "failures_test/documents/doc1", Title: "notes on a lock with a watchdog",
		Challenge: "v1/doc1/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc1", New: adapters.Plain(doc1.GetLock),
			Has: []failures.Feature{failures.Scripts, failures.Watchdog, failures.Reentry},
		},
	},
	{
		ID: "doc2", Hidden: true, Dir: "failures_test/documents/doc2", Title: "a wiki page: a hash, pub/sub and a Timer",
		Challenge: "v1/doc2/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc2", New: adapters.Plain(doc2.New),
			Has: []failures.Feature{failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Force},
		},
	},
	{
		ID: "doc3", Hidden: true, Dir: "failures_test/documents/doc3", Title: "a design document: a count in the process",
		Challenge: "v1/doc3/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc3", New: adapters.Plain(with(doc3.New, true)),
			Has:      []failures.Feature{failures.Scripts, failures.Watchdog, failures.Reentry},
			Variants: map[failures.Variant]world.Constructor{failures.FixedLease: adapters.Plain(with(doc3.New, false))},
		},
	},
	{
		ID: "doc4", Hidden: true, Dir: "failures_test/documents/doc4", Title: "Redisson's watchdog, as a chapter quotes it",
		Challenge: "v1/doc4/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc4", New: adapters.Plain(with(doc4.New, -1)),
			Has:      []failures.Feature{failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub},
			Variants: map[failures.Variant]world.Constructor{failures.FixedLease: adapters.Plain(quotedFixed)},
		},
	},
	{
		ID: "doc5", Hidden: true, Dir: "failures_test/documents/doc5", Title: "five stages, SETNX to a daemon",
		Challenge: "v1/doc5/2c/1x/async/exclusion/b.B.a.A",
		Subject: failures.Subject{
			Name: "doc5", New: adapters.Plain(with(doc5.New, true)),
			Has:      []failures.Feature{failures.Scripts, failures.Watchdog},
			Variants: map[failures.Variant]world.Constructor{failures.FixedLease: adapters.Plain(with(doc5.New, false))},
		},
	},
}

// Documents returns the stages of the documents' locks.
func Documents() []Stage { return Table[len(Table)-len(documents):] }

// with sets the last argument of a constructor.
func with[L world.Locker, A any](create func(redis.UniversalClient, string, time.Duration, A) (L, error), last A,
) func(redis.UniversalClient, string, time.Duration) (L, error) {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (L, error) {
		return create(rdb, name, lease, last)
	}
}

func quotedFixed(rdb redis.UniversalClient, name string, lease time.Duration) (*doc4.Lock, error) {
	return doc4.New(rdb, name, lease, lease)
}
