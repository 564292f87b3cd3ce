package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/term"
)

// learned runs the lesson with this input and configuration folder.
func learned(t *testing.T, config, typed string, args ...string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{t: t, sources: os.DirFS("../.."), in: strings.NewReader(typed), out: &stdout, err: &stderr, width: 80}
	a.configDir = func() (string, error) { return config, nil }
	status = a.run(append([]string{"learn"}, args...))
	return status, stdout.String(), stderr.String()
}

// rightAnswers returns the right answer to each question, a line each.
func rightAnswers(t *testing.T) (all []string) {
	t.Helper()
	played, err := lesson.PlayAll(t, os.DirFS("../.."))
	require.NoError(t, err)
	for _, parts := range played {
		for _, p := range parts {
			for i, right := range p.Right {
				if right {
					name := p.Answers[i].Order
					if name == "" {
						name = fmt.Sprint(i + 1)
					}
					all = append(all, name)
					break
				}
			}
		}
	}
	return all
}

func TestLessonIsPlayedToItsEndIn80Columns(t *testing.T) {
	answers := rightAnswers(t)
	for _, l := range i18n.Languages {
		config := t.TempDir()
		status, out, errors := learned(t, config, strings.Join(answers, "\n")+"\n", "--lang", string(l))
		require.Equal(t, exitOK, status, errors)
		require.Empty(t, errors)
		for _, line := range strings.Split(out, "\n") {
			require.LessOrEqual(t, term.Columns(line), 80, line)
		}
		screens := strings.Split(out, "\n> ")
		require.Len(t, screens, len(answers)+1)
		require.Equal(t, len(lesson.Chapters), strings.Count(out, remember.Args("what", "").Localize(l)))
		raw, err := os.ReadFile(filepath.Join(config, "lockkata", lessonFile))
		require.NoError(t, err)
		require.JSONEq(t, `["0","1","2","3","4","5","6","7","8","9"]`, string(raw))
	}
}

// Before the answer, a screen names no rule, no failure and no fix.
func TestLessonTellsNothingBeforeTheAnswer(t *testing.T) {
	for _, l := range i18n.Languages {
		for n := range lesson.Chapters {
			_, out, _ := learned(t, t.TempDir(), "", fmt.Sprint(n), "--lang", string(l))
			require.Contains(t, out, "\n> ")
			for _, r := range oracle.Rules() {
				require.NotContains(t, out, i18n.Text(r).Localize(l))
			}
			for _, f := range catalogue.Everything {
				require.NotContains(t, out, i18n.Text(f.Fixed).Localize(l))
				if strings.Contains(f.ID, "-") {
					require.NotContains(t, out, f.ID)
				}
			}
		}
	}
}

func TestLessonGoesOnWhereItWas(t *testing.T) {
	config := t.TempDir()
	status, out, _ := learned(t, config, "?\n0\n1234\n1324\nq\n")
	require.Equal(t, exitOK, status)
	for _, part := range []string{
		"  0  I don’t know\nAnswer with the numbers of all moves in a possible order, as 1234, or 0, or q.\n> ", "Then try each answer: its run takes ten seconds to read.", "Once. The second one asked",
		"Twice. Both asked before either wrote", "Remember: Looking and acting", "Chapter 1 (0–9) · The owner dies",
	} {
		require.Contains(t, out, part)
	}
	_, out, _ = learned(t, config, "")
	require.True(t, strings.HasPrefix(out, "Chapter 1 (0–9) · The owner dies\n"), "a question missed today is not asked again today: %s", out)

	file := filepath.Join(config, "lockkata", lessonFile)
	require.NoError(t, os.WriteFile(file, []byte(`["0", "0/1 2026-01-02", "99/1 2026-01-02"]`), 0o644))
	_, out, _ = learned(t, config, "1324\n")
	require.True(t, strings.HasPrefix(out, "2 questions that you missed the last time\n"), out)
	require.Contains(t, out, "Chapter 1 (0–9) · The owner dies\n")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, `["0"]`, string(raw), "now it is known")
}

func TestThirdMissGetsAHint(t *testing.T) {
	const hint = "Hint: " + "A key without a lease outlives its owner."
	_, out, _ := learned(t, t.TempDir(), "1\n3\n", "1")
	require.NotContains(t, out, hint)
	_, out, _ = learned(t, t.TempDir(), "1\n3\n4\n", "1")
	require.Contains(t, out, hint)
}

func TestEmptyLineIsNoAnswer(t *testing.T) {
	config := t.TempDir()
	status, out, _ := learned(t, config, "\n", "1")
	require.Equal(t, exitOK, status)
	require.True(t, strings.HasSuffix(out, "> \nAnswer with a number from 0 to 4, or q.\n> \n"), out)
	require.NoFileExists(t, filepath.Join(config, "lockkata", lessonFile), "nothing is missed")
}

func TestLessonRefusesAnUnknownChapter(t *testing.T) {
	status, _, errors := learned(t, t.TempDir(), "", "12")
	require.Equal(t, exitBadUsage, status)
	require.Contains(t, errors, `there is no chapter "12"; there are 0 to 9`)
}
