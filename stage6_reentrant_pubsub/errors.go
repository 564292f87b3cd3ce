package stage6

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

var (
	// ErrLocked is returned by TryLock and TryLockFor when somebody else holds the
	// lock.
	ErrLocked = errors.New("stage6: lock is held by somebody else")
	// ErrNotHeld is returned when a hold is released a second time.
	ErrNotHeld = errors.New("stage6: hold is released already")
	// ErrLost is returned when a hold has ended before it was released, and is the
	// cause with which its context ends.
	ErrLost = errors.New("stage6: hold is lost")
	// ErrClosed is returned by a closed Service, and is the cause with which the
	// contexts of its holds end.
	ErrClosed = errors.New("stage6: service is closed")
)

// isUnknown tells whether a command that ended with err may have taken effect:
// the network or the context ended it, and Redis did not answer.
func isUnknown(err error) bool {
	if err == nil {
		return false
	}
	var network net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// explain says what an error of Redis means for a lock.
func explain(doing, key string, err error) error {
	if strings.Contains(err.Error(), "WRONGTYPE") { // a script puts its own words before it
		return fmt.Errorf("stage6: %s %s: the key holds no lock of this kind, but something else, such as a lock of another library: %w", doing, key, err)
	}
	return fmt.Errorf("stage6: %s %s: %w", doing, key, err)
}
