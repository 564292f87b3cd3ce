//go:build live

package schedule_test

import (
	"runtime/debug"
	"testing"
)

func TestSearchFindsWhatTheLessonsOfStepsSay(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it keeps little of what it makes
	for _, a := range steps(t) {
		if a.question.Env == "leave" {
			a.question.Bound = 1 // its own takes minutes: go run . explore --stage 6.4 --env leave
		}
		findWhatTheLessonSays(t, a)
	}
}
