package browser

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every link to the engine's features says that there is no engine, and how to get one.
func TestPageWithoutAnEngineSaysSo(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), wide, high)
	require.Contains(t, b.text(".lists"), "run go run . serve in lockkata’s folder.")
	for _, hash := range []string{"#play/3", "#take/late-unlock/3/step-2", "#break/2"} {
		b.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		b.until("document.querySelector('#note').innerText")
		require.Equal(t, "Play and break the locks", b.text("h1"))
		require.Contains(t, b.text("#note"), "This copy of the page can only replay.")
		b.eval("location.hash = '', 0")
		b.until("!document.querySelector('#note').innerText")
	}
}
