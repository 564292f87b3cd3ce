package page

import "strconv"

// fold replaces each text of the runs by a number, and returns the texts, each once: a page repeats
// most of them often. page.js restores them.
func fold(all []failure) (once []string) {
	numbers := map[string]string{}
	number := func(text string) string {
		if text == "" {
			return ""
		}
		if _, known := numbers[text]; !known {
			numbers[text] = strconv.Itoa(len(once))
			once = append(once, text)
		}
		return numbers[text]
	}
	for _, f := range all {
		for _, c := range f.Cells {
			if c.Run == nil {
				continue
			}
			for i := range c.Run.Steps {
				s := &c.Run.Steps[i]
				for _, text := range []*string{&s.Kind, &s.Text, &s.Says, &s.Redis} {
					*text = number(*text)
				}
				for _, lanes := range []*[]string{&s.Does, &s.Lines} {
					var numbered []string // nil means the same as in the step before
					for _, text := range *lanes {
						numbered = append(numbered, number(text))
					}
					*lanes = numbered
				}
			}
		}
	}
	return once
}
