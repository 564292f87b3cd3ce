//go:build live

package schedule_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/columns"
)

// What the documents show of the search is compared with the lessons.
func TestSearchOfTheWholeSuiteFindsWhatTheLessonsSay(t *testing.T) {
	runs, _ := searchAll(t, func(asked) bool { return true })
	require.Equal(t, columns.SuiteSchedules, runs, "write it into searches.go, then go generate ./docs")
}

func TestSearchFindsWhatTheLessonsOfStepsSay(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it keeps little of what it makes
	for _, a := range hidden(t) {
		if a.question.Env == "leave" {
			a.question.Bound = 1 // its own takes minutes: go run . explore --stage 6.4 --env leave
		}
		findWhatTheLessonSays(t, a)
	}
}
