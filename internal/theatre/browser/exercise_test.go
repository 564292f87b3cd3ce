package browser

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/kata"
)

// write puts a text into the editor, in the place of what is there.
func (b *tab) write(text string) {
	b.t.Helper()
	raw, err := json.Marshal(text)
	require.NoError(b.t, err)
	b.eval(`((text) => {
		const area = document.querySelector('.editor textarea');
		area.value = text;
		area.dispatchEvent(new Event('input'));
	})(` + string(raw) + `)`)
}

// An exercise of kata's is done in the page: its start is red where its lesson is, its
// hints come one by one, and what solves it passes.
func TestExerciseIsDone(t *testing.T) {
	page, _ := withEngine(t, true)
	exercise, err := kata.Find("3")
	require.NoError(t, err)
	start, err := exercise.Start.Files(os.DirFS(repository))
	require.NoError(t, err)
	solution, err := exercise.Solution.Files(os.DirFS(repository))
	require.NoError(t, err)

	b := open(t, onDisk(t, page), wide, high)
	b.click(`a[href="#exercise/3"]`)
	b.until("document.querySelector('.editor textarea')")
	require.Equal(t, "Exercise 3: the owner's value", b.text("h1"))
	require.Equal(t, string(exercise.Story), b.text(".task .story"))
	require.Equal(t, start["mutex.go"], value[string](b, "document.querySelector('.editor textarea').value"))
	require.Zero(t, b.count(".hints li"))
	for i := range exercise.Hints {
		b.click(".task .more")
		require.Equal(t, i+1, b.count(".hints li"), "one by one")
	}
	require.False(t, b.isShown(".task .more"), "there are three")

	b.grade()
	says := `^Not passed: the lock survives \d+ of the 19 failures that are asked for, and then comes delete-foreign. BROKEN: `
	require.Regexp(t, says, b.text(".status .verdict"))
	require.Equal(t, "✗", b.text(`.column a[href="#exercise/3/delete-foreign"]`))
	require.Contains(t, b.text(".confirm"), "go run . kata start 3, save mutex.go in the folder that it makes, then go run . kata check")
	require.Equal(t, start["mutex.go"], value[string](b, `(() => {
		const make = URL.createObjectURL;
		let saved;
		URL.createObjectURL = (blob) => { saved = blob.text(); return 'blob:'; };
		addEventListener('click', (event) => event.preventDefault(), {once: true});
		document.querySelector('.confirm a').click();
		URL.createObjectURL = make;
		return saved; })()`), "what is saved")

	b.write(solution["mutex.go"])
	b.grade()
	require.Contains(t, b.text(".status .verdict"), "Passed: the lock survives all 19 failures that are asked for. "+string(exercise.Fixed))
	require.Equal(t, len(exercise.Required()), b.count(".column li"), "what is asked for, and no more")
	require.Contains(t, b.text(".status"), string(exercise.Question))
	b.click(`.column a[href="#exercise/3/delete-foreign"]`)
	b.until("document.querySelector('.controls .take')")
	require.Contains(t, b.text(".lines"), "package mylock", "the code is the visitor's")
	b.click(`a[href="#exercise/3"]`)
	b.until("document.querySelector('.editor textarea')")
	require.Equal(t, solution["mutex.go"], value[string](b, "document.querySelector('.editor textarea').value"), "it is kept")
	require.Equal(t, 3, b.count(".hints li"))
}
