package kata

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

func TestMistakes(t *testing.T) {
	root := repositoryRoot(t)
	var locks []Files
	all := mistakes(t)
	for _, m := range all {
		files, err := exercise(t, m.exercise).Solution.Files(os.DirFS(root))
		require.NoError(t, err)
		locks = append(locks, m.apply(t, files))
	}
	for i, m := range all {
		if only := os.Getenv("ONLY"); only != "" && !strings.HasPrefix(m.exercise+" "+m.name, only) {
			continue
		}
		begun := time.Now()
		p, err := Build(t.Context(), root, locks[i])
		if err != nil {
			fmt.Printf("%-4s %-45s %s\n", m.exercise, m.name, err)
			continue
		}
		w := workshop{root: root, lang: i18n.English}
		built := time.Since(begun)
		r := Result{Exercise: exercise(t, m.exercise), Folder: Folder{Root: root, Dir: root + "/mylock"}}
		r.Report, err = w.examine(t.Context(), p, locks[i], r.Exercise)
		p.Close()
		require.NoError(t, err)
		r.Passed = r.Exercise.passed(r.Report)
		screen := strings.Split(r.Screen(View{Width: 200}), "\n")
		fmt.Printf("%-4s %-45s %.1f+%.1f %s\n", m.exercise, m.name, built.Seconds(), (time.Since(begun) - built).Seconds(), screen[2])
		if os.Getenv("SCREEN") != "" {
			fmt.Println(r.Screen(View{Width: 120}))
		}
	}
}
