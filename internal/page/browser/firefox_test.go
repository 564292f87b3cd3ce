package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// firefox is a page in Firefox, driven by the Marionette protocol over TCP: JSON arrays, each
// prefixed by its length and a colon.
type firefox struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	sent int
}

// startFirefox opens an address in a new Firefox.
func startFirefox(t *testing.T, url string) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		t.Skip("no Firefox is installed: apt-get install --no-install-recommends firefox-esr")
	}
	profile := t.TempDir()
	prefs := "user_pref(\"marionette.port\", 0);\nuser_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\n"
	require.NoError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600))
	cmd := exec.Command(path, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	require.NoError(t, cmd.Start())
	f := &firefox{t: t}
	t.Cleanup(func() {
		if f.conn != nil { // Firefox writes into its profile until it has ended
			_, _ = io.WriteString(f.conn, `48:[0,0,"Marionette:Quit",{"flags":["eForceQuit"]}]`)
		}
		patience := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer patience.Stop()
		_ = cmd.Wait() // the status does not matter
	})
	require.Eventually(t, func() bool {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil {
			return false
		}
		conn, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		if err == nil {
			f.conn = conn
		}
		return err == nil
	}, 2*time.Minute, 50*time.Millisecond, "Firefox does not start")
	require.NoError(t, f.conn.SetDeadline(time.Now().Add(4*time.Minute)))
	f.in = bufio.NewReader(f.conn)
	_ = f.read() // its greeting
	f.ask("WebDriver:NewSession", map[string]any{})
	f.ask("WebDriver:SetTimeouts", map[string]any{"script": 180_000})
	f.ask("WebDriver:Navigate", map[string]any{"url": url})
	return f
}

func (f *firefox) read() json.RawMessage {
	f.t.Helper()
	length, err := f.in.ReadString(':')
	require.NoError(f.t, err)
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	require.NoError(f.t, err)
	raw := make([]byte, n)
	_, err = io.ReadFull(f.in, raw)
	require.NoError(f.t, err)
	return raw
}

// ask sends a command and returns its result.
func (f *firefox) ask(command string, params map[string]any) json.RawMessage {
	f.t.Helper()
	f.sent++
	raw, err := json.Marshal([]any{0, f.sent, command, params})
	require.NoError(f.t, err)
	_, err = fmt.Fprintf(f.conn, "%d:%s", len(raw), raw)
	require.NoError(f.t, err)
	var answer [4]json.RawMessage // kind, number, error, result
	require.NoError(f.t, json.Unmarshal(f.read(), &answer))
	require.Equal(f.t, "null", string(answer[2]), "%s %v", command, params)
	return answer[3]
}

// value returns the value of an expression in the page, as text.
func (f *firefox) value(expression string) (value string) {
	f.t.Helper()
	answer := struct{ Value *string }{&value}
	script := "return Promise.resolve(" + expression + ").then(String)"
	raw := f.ask("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []string{}})
	require.NoError(f.t, json.Unmarshal(raw, &answer))
	return value
}

func (f *firefox) until(expression string) {
	f.t.Helper()
	f.value(fmt.Sprintf("new Promise((done) => { const look = () => ((%s) ? done(0) : setTimeout(look, 10)); look(); })", expression))
}

func (f *firefox) click(selector string) {
	f.t.Helper()
	f.until(fmt.Sprintf("document.querySelector(%q)", selector))
	f.value(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

func (f *firefox) text(selector string) string {
	f.t.Helper()
	return f.value(fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// In Firefox the tests win stage 3 and drop NX.
func TestFirefoxPlaysAndBreaks(t *testing.T) {
	f := startFirefox(t, oneFile(t))
	f.value(`['error', 'unhandledrejection'].forEach((kind) => addEventListener(kind, (event) => {
		window.complained = event.message || event.reason; }))`)

	f.click(`a[href="#play/3"]`)
	f.until("document.querySelector('.option')")
	for f.value("Boolean(document.querySelector('.ending'))") == "false" {
		f.click(`.turns button[title="Hint (h)"]`)
		f.until("document.querySelector('.just-now').innerText.startsWith('Hint:')")
		before := f.value("location.hash")
		f.click(".option.hinted")
		f.until(fmt.Sprintf("location.hash !== %q", before))
	}
	require.Contains(t, f.text(".ending"), "You did it in 9 steps, 3 faults.")
	require.Contains(t, f.text(".ending"), "BROKEN: wrong delete: ")

	f.value("location.hash = '#break/2/nx-dropped'")
	f.until("document.querySelector('.column .turned')")
	require.Contains(t, f.text(".column"), "second-client was ✓")

	require.Equal(t, "undefined", f.value("window.complained"))
}
