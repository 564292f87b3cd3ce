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

// A lock to repair is opened by its link: it fails as kata says, is mended, and passes; a
// friend gets the mended lock. One that begins with a document's lock can be played as well.
func TestLockIsRepaired(t *testing.T) {
	page, _ := withEngine(t, true)
	url := onDisk(t, page)
	begin := func(id string) (b *tab, exercise kata.Exercise, solution kata.Files) {
		exercise, err := kata.Find(id)
		require.NoError(t, err)
		solution, err = exercise.Solution.Files(os.DirFS(repository))
		require.NoError(t, err)
		b = open(t, url+"#exercise/"+id, wide, high)
		b.click(".start")
		b.until("document.querySelector('.editor textarea')")
		require.Equal(t, string(exercise.Story), b.text(".task .story"))
		return b, exercise, solution
	}
	b, r1, solution := begin("r1")
	require.Equal(t, "Exercise r1: repair this lock: the lease", b.text("h1"))
	b.grade()
	require.Regexp(t, `^Not passed: the lock survives \d+ of the \d+ failures that are asked for, and then comes crash-before-expire\. `+
		`BROKEN: lease: A asked for a lease of 30s, and its SET set 8h20m0s, sent at mutex\.go:44\.`, b.text(".status .verdict"))
	require.Contains(t, b.text(".confirm"), "go run . kata start r1, save mutex.go")
	b.write(solution["mutex.go"])
	b.grade()
	require.Contains(t, b.text(".status .verdict"), "Passed: the lock survives all ")
	require.Contains(t, b.text(".status"), "Why the search does not see it: "+string(r1.Search.Blind))
	require.Equal(t, "Exercise r2: repair this lock: the refusal", b.text(`.status a[href="#exercise/r2"]`))
	b.click(".write-view .turns button:last-child")
	b.until("document.querySelector('.shared a.share')")
	link := value[string](b, "document.querySelector('.shared a.share').hash")

	friend := open(t, url+link, wide, high)
	friend.until("document.querySelector('.start')")
	friend.click(".start")
	friend.until("document.querySelector('.editor textarea')")
	require.Equal(t, solution["mutex.go"], value[string](friend, "document.querySelector('.editor textarea').value"))

	b.click(`.status a[href="#exercise/r2"]`)
	b.until("document.querySelector('h1').textContent.includes('r2')")
	require.Equal(t, "truth in refusal", value[string](b, "[...document.querySelectorAll('.asked select')].map(({value}) => value).join(' in ')"),
		"where kata explore finds the mistake")
	b.click(".write-view .search")
	b.until("document.querySelector('.found .see')")

	b, r10, solution := begin("r10")
	b.grade()
	require.Contains(t, b.text(".status .verdict"), "and then comes "+r10.Fixes[0])
	b.write(solution["lock.go"])
	b.grade()
	require.Contains(t, b.text(".status .verdict"), "Passed: the lock survives all ")
	b.click(".write-view .turns button:nth-child(2)")
	b.until("document.querySelector('.play-view .option')")
	require.Contains(t, b.text(".stage-title"), "doc1")

	b.click("#tool-language")
	b.until("document.querySelector('.play-view .option') && document.documentElement.lang === 'zh-CN'")
	b.click(`.choose a[href="#exercise/r10"]`)
	b.until("document.querySelector('.editor textarea')")
	require.Contains(t, b.text("h1"), "r10")
	require.Equal(t, r10.Story.In("zh"), b.text(".task .story"))
	b.eval("localStorage.clear()")
}

// An exercise that has to be compiled says so, and how to go on.
func TestExerciseForACompilerSaysHowToGoOn(t *testing.T) {
	page, _ := withEngine(t, true)
	b := open(t, onDisk(t, page), wide, high)
	b.click(`a[href="#exercise/6"]`)
	b.until("document.querySelector('.task')")
	require.Contains(t, b.text(".task"), "Go on with go run . kata start 6 and go run . kata check in a folder of lockkata.")
	require.Zero(t, b.count(".editor"))
}
