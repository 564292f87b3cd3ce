// Package tls stands in the place of Go's own in a page, where nobody has a use for it: the
// clients reach Redis inside the program. Go's would be an eighth of what a visitor loads.
// It has what go-redis and miniredis name, and opens nothing.
package tls

import (
	"errors"
	"net"
)

// VersionTLS12 is a version of TLS.
const VersionTLS12 = 0x0303

// Config says how a connection is to be.
type Config struct {
	ServerName         string
	MinVersion         uint16
	InsecureSkipVerify bool
	Certificates       []Certificate
}

// Certificate is nobody's.
type Certificate struct{}

// Conn is a connection.
type Conn struct{ net.Conn }

var errNone = errors.New("tls: there is none in a page")

// Clone is the configuration itself.
func (c *Config) Clone() *Config { return c }

// Client fails with the connection's first use.
func Client(net.Conn, *Config) *Conn { return &Conn{} }

// Dial opens nothing.
func Dial(_, _ string, _ *Config) (*Conn, error) { return nil, errNone }

// DialWithDialer opens nothing.
func DialWithDialer(_ *net.Dialer, _, _ string, _ *Config) (*Conn, error) { return nil, errNone }

// Listen listens to nobody.
func Listen(_, _ string, _ *Config) (net.Listener, error) { return nil, errNone }

// LoadX509KeyPair loads nothing.
func LoadX509KeyPair(_, _ string) (Certificate, error) { return Certificate{}, errNone }
