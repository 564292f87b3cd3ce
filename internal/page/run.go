package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

var (
	//go:embed player.js
	playerScript string
	//go:embed picture.js
	pictureScript string
	//go:embed code.js
	codeScript string
	//go:embed stepper.js
	stepperScript string
	//go:embed player.css
	playerStyle string
	//go:embed run.html.tmpl
	runText string

	stepScript = playerScript + pictureScript + codeScript + stepperScript // the classes Player and Stepper, which step through runs
	stepTexts  = i18n.OfScript(stepScript)                                 // its texts

	runPage = template.Must(template.New("run").Parse(runText))
)

// Run returns a page about one verdict's run. It makes no requests. The reader steps through the
// run and sees the keys in Redis and the lines of the lock that the clients run.
func Run(v failures.Verdict, title string, code stages.Code, in i18n.Language) (string, error) {
	cell := engine.CellOf(v, code, in)
	data, err := script(map[string]any{"cell": cell, "files": code.Files, "dictionary": i18n.Dictionary(in, stepTexts...)})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = runPage.Execute(&b, map[string]any{
		"Title": title, "Verdict": cell.Verdict, "Text": timeline.Text(v.Trace, v.Findings, timeline.Options{Width: 110, Language: in}),
		"Policy": ownScript, "Lang": in.Tag(), "Style": template.CSS(playerStyle), "Script": template.JS(stepScript), "Data": data,
	})
	return string(allowScript(b.Bytes())), err
}

// script returns a value as JSON for a script element. No text in it can end the element.
func script(value any) (template.JS, error) {
	raw, err := json.Marshal(value) // which writes <, > and & as \u003c, \u003e and \u0026
	return template.JS(raw), err
}
