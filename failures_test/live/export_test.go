package live

import "context"

// Socket starts one redis-server and tells where it answers.
func Socket(ctx context.Context) (addr string, end func() error, err error) {
	p, err := start(ctx)
	if err != nil {
		return "", nil, err
	}
	return p.Addr(), p.close, nil
}
