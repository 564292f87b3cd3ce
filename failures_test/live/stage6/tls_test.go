package stage6_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/redisserver"
)

// authority signs certificates for both sides.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate and a key, and writes both. The first signs itself.
func (a *authority) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, private
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &private.PublicKey, signer)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(a.t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(a.t, err)
	a.write(name+".crt", "CERTIFICATE", raw)
	a.write(name+".key", "EC PRIVATE KEY", secret)
	return cert, private
}

func (a *authority) write(name, kind string, raw []byte) {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600))
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// encrypted starts a server with a TLS port, which wants certificates of its clients.
func encrypted(t *testing.T) (s *server, addr string, client *tls.Config) {
	t.Helper()
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	port, err := redisserver.FreePort()
	require.NoError(t, err)
	s = start(t, "--tls-port", strconv.Itoa(port), "--tls-ca-cert-file", a.path("authority.crt"),
		"--tls-cert-file", a.path("server.crt"), "--tls-key-file", a.path("server.key"))
	pair, err := tls.LoadX509KeyPair(a.path("client.crt"), a.path("client.key"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return s, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}
}

func over(config *tls.Config) func(*redis.Options) {
	return func(o *redis.Options) { o.TLSConfig = config }
}

func TestLockWorksOverTLS(t *testing.T) {
	t.Parallel()
	s, addr, config := encrypted(t)
	m := mutexOn(t, clientOf(t, addr, over(config)))
	hold := lock(t, m, t.Context())
	waiting := startLock(t, mutexOn(t, clientOf(t, addr, over(config))))
	s.AwaitWaiters(1)
	inner := lock(t, m, hold.Context())
	requireSurvives(t, hold, 3*lease/2)
	require.NoError(t, inner.Unlock())
	require.NoError(t, hold.Unlock())
	require.NoError(t, requireHeld(t, waiting).Unlock())
}

func TestCertificateThatOneSideDoesNotTrustIsSaidAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	_, addr, config := encrypted(t)
	stranger := config.Clone()
	stranger.RootCAs = x509.NewCertPool()
	_, err := mutexOn(t, clientOf(t, addr, over(stranger))).Lock(t.Context())
	require.ErrorContains(t, err, "certificate signed by unknown authority")
	unknown := config.Clone()
	unknown.Certificates = nil
	_, err = mutexOn(t, clientOf(t, addr, over(unknown))).Lock(t.Context())
	require.ErrorContains(t, err, "certificate required")
}
