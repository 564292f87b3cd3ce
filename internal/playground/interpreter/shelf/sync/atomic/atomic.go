// Package atomic has what is generic in Go's sync/atomic.
package atomic

import "sync"

// Pointer is a pointer that goroutines share.
type Pointer[T any] struct {
	guard sync.Mutex
	now   *T
}

// Load is the pointer.
func (p *Pointer[T]) Load() *T {
	p.guard.Lock()
	defer p.guard.Unlock()
	return p.now
}

// Store changes it.
func (p *Pointer[T]) Store(to *T) { p.Swap(to) }

// Swap changes it, and is what it was.
func (p *Pointer[T]) Swap(to *T) *T {
	p.guard.Lock()
	defer p.guard.Unlock()
	was := p.now
	p.now = to
	return was
}

// CompareAndSwap changes it if it is what it is said to be.
func (p *Pointer[T]) CompareAndSwap(old, to *T) bool {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.now != old {
		return false
	}
	p.now = to
	return true
}
