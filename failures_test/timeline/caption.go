package timeline

import (
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// Caption is what stands above a picture.
type Caption struct {
	Verdict string // the title, a sentence; "" = the first finding, or that there is none
	Tone    Tone   // of the verdict
	Subject string // which failure, on which lock
	// ID keeps the names inside a picture apart from those of another one in the
	// same page; "" = one made from the trace.
	ID       string
	Language i18n.Language
}

var nothingBroken = i18n.New("no rule is broken")

// WithVerdict is the caption with a verdict made from the findings where it has none.
func (c Caption) WithVerdict(found []oracle.Finding) Caption {
	if c.Verdict == "" {
		c.Verdict, c.Tone = nothingBroken.Localize(c.Language), Good
		if len(found) > 0 {
			c.Verdict, c.Tone = strings.TrimPrefix(found[0].Sentence(c.Language), "✗ "), Bad
		}
	}
	return c
}

// Tone is the colour of a verdict.
type Tone string

// The tones. Without one, findings are bad news and no findings are good.
const (
	Bad  Tone = "r"
	Fair Tone = "o" // noticed, or inherent
	Good Tone = "g"
)
