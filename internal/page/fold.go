package page

import "strconv"

// fold puts a number in the place of each text of the runs, and returns the texts, each once: a
// page says most of them often. page.js puts them back.
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
					var numbered []string // what is nil is as it was in the step before
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
