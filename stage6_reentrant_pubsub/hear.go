package stage6

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// hear listens for the room until ctx ends, over one subscription after another.
func (r *room) hear(ctx context.Context) {
	s := r.mutex.svc
	for wait := reconnectPause; ; wait = min(2*wait, s.lease/3) {
		begun := time.Now()
		err := r.subscription(ctx)
		if ctx.Err() != nil || errors.Is(err, redis.ErrClosed) {
			return
		}
		s.logger.Warn("waiting without messages", "name", r.mutex.name, "error", err)
		if time.Since(begun) > s.lease { // it worked for a while
			wait = reconnectPause
		}
		if !pause(ctx, wait) {
			return
		}
		if cluster, ok := s.rdb.(*redis.ClusterClient); ok && s.publish == shardedPublish {
			cluster.ReloadState(ctx) // the slot may have moved
		}
	}
}

// subscription wakes the room for every message, and for every acknowledgement of
// the subscription: what was published before it was not heard. It returns when
// the subscription has ended.
func (r *room) subscription(ctx context.Context) error {
	s, channel := r.mutex.svc, r.mutex.channel
	if s.directed {
		channel += ":" + r.id
	}
	subscribe := s.rdb.Subscribe
	if s.publish == shardedPublish {
		subscribe = s.rdb.SSubscribe
	}
	sub := subscribe(ctx, channel)
	unblock := context.AfterFunc(ctx, func() { _ = sub.Close() }) // ends the wait for a message
	defer unblock()
	defer sub.Close()
	for {
		message, err := sub.Receive(ctx)
		if err != nil {
			return err
		}
		switch heard := message.(type) {
		case *redis.Subscription:
			if heard.Kind == "sunsubscribe" {
				return errMoved
			}
			r.signal()
		case *redis.Message:
			if s.directed {
				r.told(heard.Payload)
			} else {
				r.signal()
			}
		}
	}
}

// errMoved is the end of a subscription that Redis ended.
var errMoved = errors.New("stage6: the slot has moved to another node")

// reconnectPause is how long to wait before subscribing anew, at first: a server
// that is away, or that refuses, is asked less and less often.
const reconnectPause = 50 * time.Millisecond
