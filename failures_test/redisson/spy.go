package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// spy hears what is published for the waiters of a lock, where Redisson would.
type spy struct {
	rdb   *redis.Client
	sub   *redis.PubSub
	fence string // another channel: what comes before its message was sent before it
}

// newSpy listens when it returns.
func (a *arena) newSpy(ctx context.Context, lock string) (*spy, error) {
	channel := redissonChannel(lock)
	s := &spy{rdb: a.rdb, fence: "fence:" + channel}
	s.sub = a.rdb.Subscribe(ctx, s.fence)
	subscribe := s.sub.Subscribe
	if a.mode == cluster {
		subscribe = s.sub.SSubscribe
	}
	err := subscribe(ctx, channel)
	for range 2 {
		if err == nil {
			_, err = s.sub.Receive(ctx) // the acknowledgement
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.sub.Close())
	}
	return s, nil
}

func (s *spy) Close() error { return s.sub.Close() }

// heard is what was published since it was last asked.
func (s *spy) heard(ctx context.Context) ([]string, error) {
	if err := s.rdb.Publish(ctx, s.fence, "").Err(); err != nil {
		return nil, err
	}
	var payloads []string
	for {
		message, err := s.sub.ReceiveMessage(ctx)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(message.Channel, "fence:") {
			return payloads, nil
		}
		payloads = append(payloads, message.Payload)
	}
}

// heardUnlock returns an error unless one unlock was published, and nothing else.
func (s *spy) heardUnlock(ctx context.Context) error {
	heard, err := s.heard(ctx)
	if err == nil && !slices.Equal(heard, []string{"0"}) {
		err = fmt.Errorf("the channel of Redisson heard %q, not one \"0\"", heard)
	}
	return err
}
