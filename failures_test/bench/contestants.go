package main

import (
	"context"
	"errors"
	"fmt"
)

// contestant is a locker of this process.
type contestant struct {
	kind string
	*locker
}

// openAll makes a locker of each kind.
func openAll(s settings, kinds ...string) ([]contestant, error) {
	var all []contestant
	for _, kind := range kinds {
		l, _, err := open(kind, s)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", kind, err), closeAll(all))
		}
		all = append(all, contestant{kind, l})
	}
	return all, nil
}

func closeAll(all []contestant) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// onServer runs a measurement against a redis-server of its own.
func onServer(ctx context.Context, measure func(*server) ([]row, error)) (rows []row, err error) {
	s, err := startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return measure(s)
}
