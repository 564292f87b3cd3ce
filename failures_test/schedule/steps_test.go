package schedule_test

import (
	"testing"

	"lockkata/internal/columns"
)

// steps asks every question about the steps to the last stage.
func steps(t *testing.T) []asked {
	var hidden []columns.Column
	for _, c := range columns.All {
		if c.Hidden {
			hidden = append(hidden, c)
		}
	}
	return questions(t, hidden)
}

// The rest of them is asked by the live tests.
func TestQuickSearchesFindWhatTheLessonsOfStepsSay(t *testing.T) {
	for _, a := range steps(t) {
		if a.isQuick() {
			findWhatTheLessonSays(t, a)
		}
	}
}
