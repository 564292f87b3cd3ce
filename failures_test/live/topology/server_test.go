//go:build live

package topology_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
)

// server is one redis-server, with a connection that looks at it alone.
type server struct {
	*redisserver.Server
	rdb *redis.Client
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort, Args: args})
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket()})
	t.Cleanup(func() { _ = rdb.Close() }) // nothing is to be saved
	return &server{s, rdb}
}

// do sends a command to this server.
func (s *server) do(t *testing.T, command ...any) any {
	t.Helper()
	answer, err := s.rdb.Do(t.Context(), command...).Result()
	require.NoError(t, err, "%v", command)
	return answer
}

// fieldOf is a field of what INFO or CLUSTER INFO answers; "" if it has none.
func fieldOf(info, field string) string {
	found := regexp.MustCompile(`(?m)^` + field + `:(.*?)\r?$`).FindStringSubmatch(info)
	if found == nil {
		return ""
	}
	return found[1]
}

// waitForField waits until a field of INFO has that value.
func (s *server) waitForField(t *testing.T, section, field, want string) {
	t.Helper()
	eventually(t, field+":"+want, func() error {
		info, err := s.rdb.Info(t.Context(), section).Result()
		if got := fieldOf(info, field); err != nil || got != want {
			return fmt.Errorf("%q, %w", got, err)
		}
		return nil
	})
}

// waitForSubscribers waits until that many connections listen on the lock's channel
// there: one for each process that waits.
func (s *server) waitForSubscribers(t *testing.T, count int64) {
	t.Helper()
	eventually(t, "a subscription", func() error {
		got, err := s.rdb.PubSubNumSub(t.Context(), channel).Result()
		if err != nil || got[channel] != count {
			return fmt.Errorf("%d of %d subscribed, %w", got[channel], count, err)
		}
		return nil
	})
}

// refused is an error until the server has refused a command with an error of that
// kind.
func (s *server) refused(t *testing.T, kind string) error {
	t.Helper()
	if fieldOf(s.do(t, "INFO", "errorstats").(string), "errorstat_"+kind) == "" {
		return fmt.Errorf("no %s yet", kind)
	}
	return nil
}

// waitForRefusals waits until whoever waits has been refused twice: before his
// subscription, and when it was acknowledged. From then on he only listens. The
// other EVALSHA is that of the holder, for a script that Redis did not know yet.
func (s *server) waitForRefusals(t *testing.T) {
	t.Helper()
	eventually(t, "the second refusal", func() error {
		info, err := s.rdb.Info(t.Context(), "commandstats").Result()
		if err != nil {
			return err
		}
		var calls int
		if _, err := fmt.Sscanf(fieldOf(info, "cmdstat_evalsha"), "calls=%d,", &calls); err != nil || calls < 3 {
			return fmt.Errorf("%d calls, %w", calls, err)
		}
		return nil
	})
}
