package timeline

// Verdict is a caption's verdict as the player wants it.
type Verdict struct {
	Text string `json:"text"`
	Tone Tone   `json:"tone"`
}

// Told is the caption's verdict, with K for the lock's key.
func (c Caption) Told(key string) Verdict {
	return Verdict{shortened(c.Verdict, key), c.Tone}
}
