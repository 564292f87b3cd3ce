package lesson_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
)

func TestPlay(t *testing.T) {
	for _, c := range lesson.Chapters {
		for _, p := range c.Parts {
			played, err := p.Play(t, os.DirFS("../.."))
			require.NoError(t, err)
			fmt.Println(c.Title, p.Ask, played.Right, played.Known, played.Lines)
			for i, r := range played.Runs {
				fmt.Println("--", i+1, p.Answers[i].Words)
				s := timeline.NewStory(r.Trace, r.Found, i18n.English)
				for _, row := range s.Rows() {
					fmt.Println(row.At, row.Lane, row.Text, "|", row.Redis, "|", row.Ledger, row.Findings, row.First < played.Known)
				}
			}
		}
	}
}
