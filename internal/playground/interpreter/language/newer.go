package language

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"
)

type fatal struct{ what string }

func (f fatal) Error() string { return "fatal: " + f.what }

// mended rethrows what is no error, and returns what is one.
func mended(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fatal, *lostError:
			err = r.(error)
		case fmt.Stringer, error:
			err = fmt.Errorf("some: %w", r.(error))
		default:
			panic(fmt.Sprint("again: ", r))
		}
	}()
	f()
	return nil
}

// A case of several types leaves a value in its interface.
func casesOfSeveralTypes() string {
	var out []any
	for _, what := range []any{fatal{"a"}, &lostError{"b"}, codeError(3), 7} {
		func() {
			defer func() { out = append(out, recover()) }()
			err := mended(func() { panic(what) })
			out = append(out, err, errors.As(err, new(fatal)))
		}()
	}
	return say(out...)
}

type retrier interface{ Retry() bool }

func (f *fatal) Retry() bool { return f.what == "r" }

// Errors of libraries are asked for a method that only the lock's own have.
func askedForOwnMethods() string {
	var out []any
	for _, err := range []error{redis.Nil, context.DeadlineExceeded, fmt.Errorf("x: %w", &fatal{"r"}), errors.Join(errBase, &fatal{}), errBase} {
		var r retrier
		_, ok := err.(retrier)
		out = append(out, ok, errors.As(err, &r), r != nil && r.Retry())
	}
	return say(out...)
}

type (
	ender   interface{ Done() <-chan struct{} }
	another interface{ Done() bool }
)

// An interface of the lock's own holds a value whose type only a library knows.
func narrowInterfaces() string {
	ctx, cancel := context.WithCancel(context.Background())
	var e ender = ctx
	cancel()
	<-e.Done()
	_, same := any(ctx).(ender)
	_, other := any(ctx).(another)
	err := e.(interface{ Err() error }).Err()
	return say(same, other, err, ender.Done(context.Background()) == nil)
}

type (
	phase uint8
	who   string
	mark  [4]byte
)

func (p phase) String() string { return fmt.Sprintf("phase %d", uint8(p)) }

func (m *mark) UnmarshalBinary(b []byte) error {
	n, err := hex.Decode(m[:], b)
	if n < len(m) {
		err = errors.Join(err, errors.New("short"))
	}
	return err
}

// Numbers, texts and arrays of the lock's own types are read into.
func readInto() string {
	var p phase
	var w who
	var m, short mark
	n, err := fmt.Sscanf("7/ab", "%d/%s", &p, &w)
	var f float64
	_, err2 := fmt.Sscan("300 2.5", &p, &f)
	reply := redis.NewStringCmd(context.Background())
	reply.SetVal("01ff7f80")
	err3, err4 := reply.Scan(&m), reply.Scan(&w)
	reply.SetVal("01")
	return say(n, err, p, w, err2, f, err3, m, err4, reply.Scan(&short), short)
}

func moreOfLibraries() string {
	random := rand.New(rand.NewPCG(1, 2))
	parts := slices.Collect(slices.Chunk([]int{1, 2, 3, 4, 5}, 2))
	parts[0] = append(parts[0], 9)
	words := strings.FieldsFunc("a1bc2", unicode.IsDigit)
	return say(random.IntN(1000), random.Float64(), parts, words, strings.Map(unicode.ToUpper, "äx"), string(bytes.Repeat([]byte("ab"), 2)))
}
