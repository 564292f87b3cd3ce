package watched

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

type identity struct {
	id  uuid.UUID
	age time.Time
}

func newIdentity() identity { return identity{id: uuid.New(), age: time.Now()} }

func (i identity) String() string { return i.id.String() }

var (
	errTaken   = errors.New("taken")
	errNotHeld = errors.New("not held")
)

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
