package page

import (
	_ "embed"
	"io/fs"
	"regexp"
	"strings"

	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/lesson"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

//go:embed lesson.js
var lessonScript string

// chapter is a chapter of the lesson.
type chapter struct {
	Title    string `json:"title"`
	Lead     string `json:"lead"`
	Remember string `json:"remember"`
	Entry    string `json:"entry,omitempty"`
	Spoken   string `json:"spoken,omitempty"` // the entry's answer of 30 seconds
	Next     string `json:"next"`
	Parts    []part `json:"parts"`
}

type part struct {
	Stage   string        `json:"stage,omitempty"`
	Path    string        `json:"path,omitempty"` // of the code
	Code    []lesson.Line `json:"code,omitempty"`
	Facts   []string      `json:"facts,omitempty"`
	Ask     string        `json:"ask"`
	Moves   []string      `json:"moves,omitempty"`
	Answers []answer      `json:"answers"`
	Known   int           `json:"known"` // the steps of each run that are shown before the question
}

type answer struct {
	Words string     `json:"words,omitempty"`
	Order string     `json:"order,omitempty"`
	Right bool       `json:"right,omitempty"`
	Then  string     `json:"then"`
	Play  []int      `json:"play"` // the answers whose runs are played when it is chosen
	Run   engine.Run `json:"run"`
}

// lessonOf converts the chapters with their runs. sources has the answers for an interview.
func lessonOf(played [][]*lesson.Played, sources fs.FS, in i18n.Language) (all []chapter, err error) {
	if len(played) == 0 {
		return nil, nil
	}
	themes, err := interview.Parse(sources, in)
	if err != nil {
		return nil, err
	}
	spoken := map[string]string{}
	for _, theme := range themes {
		for _, q := range theme.Questions {
			spoken[q.ID] = strings.ReplaceAll(strings.Join(strings.Fields(q.Parts[interview.Spoken]), " "), "`", "")
		}
	}
	say := func(t i18n.Text) string { return t.Localize(in) }
	several := func(texts []i18n.Text) (all []string) {
		for _, t := range texts {
			all = append(all, say(t))
		}
		return all
	}
	for n, parts := range played {
		c := lesson.Chapters[n]
		shown := chapter{Title: say(c.Title), Lead: say(c.Lead), Remember: say(c.Remember), Entry: c.Entry, Spoken: spoken[c.Entry], Next: say(c.Next)}
		for _, p := range parts {
			q := part{Stage: p.Stage, Path: p.Path, Code: p.Lines, Facts: several(p.Facts), Ask: say(p.Ask), Moves: several(p.Moves)}
			for _, row := range timeline.NewStory(p.Runs[0].Trace, nil, in).Rows() {
				if row.First >= 0 && row.Last < p.Known {
					q.Known++
				}
			}
			for i, a := range p.Answers {
				q.Answers = append(q.Answers, answer{say(a.Words), a.Order, p.Right[i], say(a.Then), p.ToPlay(i), engine.NewRun(p.Runs[i].Trace, p.Runs[i].Found, stages.Code{}, in)})
			}
			shown.Parts = append(shown.Parts, q)
		}
		all = append(all, shown)
	}
	return all, nil
}

// prompt is a question of the workshop.
type prompt struct {
	Title string `json:"title"` // "5. Compare, then delete"
	Hash  string `json:"hash"`  // of its question in the lesson, or of its run
}

// promptText matches the heading of a prompt, and its first link into the page.
var promptText = regexp.MustCompile(`(?s)\n### (\d+\. [^\n]+)\n.*?\]\([^() ]*index\.html[^() #]*(#[^() ]+)\)`)

// promptsOf reads the prompts of the workshop. sources is the repository's root.
func promptsOf(sources fs.FS, in i18n.Language) (all []prompt, err error) {
	name := map[i18n.Language]string{i18n.English: "docs/workshop.md", i18n.Chinese: "docs/zh-CN/workshop.md"}[in]
	text, err := fs.ReadFile(sources, name)
	for _, found := range promptText.FindAllSubmatch(text, -1) {
		all = append(all, prompt{string(found[1]), string(found[2])})
	}
	return all, err
}
