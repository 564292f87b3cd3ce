// The program that runs in a page makes no pages: that would bring text/template into it.

//go:build !js

package timeline

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"text/template"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

var (
	//go:embed player.js
	playerScript string
	//go:embed code.js
	codeScript string
	//go:embed stepper.js
	stepperScript string
	//go:embed page.html.tmpl
	pageText string
)

// PlayerScript and PlayerStyle are what a page needs to step through runs: the
// classes Player and Stepper, and how they look.
var (
	PlayerScript = playerScript + codeScript + stepperScript
	//go:embed player.css
	PlayerStyle string
)

// PlayerTexts are the texts in PlayerScript.
var PlayerTexts = texts.OfScript(PlayerScript)

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML draws a trace as a page that stands alone: it asks no host for anything. Its
// reader steps through the run, and sees at each step the keys in Redis and the
// lines of the lock that the clients run.
func HTML(trace *world.Trace, found []oracle.Finding, code Code, c Caption) (string, error) {
	c = c.WithVerdict(found)
	data, err := JSON(map[string]any{
		"run": NewRun(trace, found, code, c.Language), "verdict": c.Told(trace.LockKey()), "files": code.Files,
		"dictionary": texts.Dictionary(c.Language, PlayerTexts...),
	})
	if err != nil {
		return "", err
	}
	var page bytes.Buffer
	err = pageTemplate.Execute(&page, map[string]any{
		"Caption": c, "Style": PlayerStyle, "Script": PlayerScript, "Data": data, "Lang": c.Language.Tag(),
		"Text": Text(trace, found, Options{Width: 110, Language: c.Language}),
	})
	return page.String(), err
}

// JSON is a value as it may stand in a page's script element: no text in it can
// end the element.
func JSON(value any) (string, error) {
	raw, err := json.Marshal(value) // which writes <, > and & as \u003c, \u003e and \u0026
	return string(raw), err
}
