package timeline

// Row is a row of [Text] as data: the texts of a step, and the state after it. K is the lock's key
// in all texts.
type Row struct {
	*Label
	Text     string // as in the lane
	Says     string // a sentence
	Redis    string // its keys, if they have changed
	Ledger   string
	Orders   []string
	Findings []string
}

// Rows returns the rows of the story.
func (s *Story) Rows() (rows []Row) {
	for l := range s.visible {
		row := Row{Label: l, Text: s.Text(l), Says: s.sentence(l), Redis: s.Redis(l), Ledger: s.LedgerNews(l), Orders: s.orders(l.After.Orders)}
		for _, f := range l.Found {
			row.Findings = append(row.Findings, s.Shorten(f.Sentence(s.language)))
		}
		rows = append(rows, row)
	}
	return rows
}
