package schedule

import (
	"slices"

	failures "lockkata/failures_test"
)

// Question is one search: clients in an environment, and the properties to break.
type Question struct {
	Env        string
	Properties []string
	Clients    int
	Together   bool
	Bound      int // default bound of the search: a few seconds on stage 6
}

// Suite has the questions about each lock.
var Suite = []Question{
	{Env: "crash", Properties: []string{"leak"}, Clients: 2, Bound: 4},
	{Env: "reply-loss", Properties: []string{"leak", "truth"}, Clients: 2, Bound: 4},
	{Env: "short-pauses", Properties: []string{"exclusion", "damage"}, Clients: 2, Bound: 4},
	{Env: "async", Properties: []string{"wrong-delete", "exclusion", "watchdog"}, Clients: 2, Bound: 3},
	{Env: "pause", Properties: []string{"wrong-delete", "damage"}, Clients: 2, Bound: 2},
	{Env: "pause", Properties: []string{"damage-fenced"}, Clients: 2, Bound: 2},
	{Env: "short-pauses", Properties: []string{"wake-up"}, Clients: 2, Bound: 4},
	{Env: "refusal", Properties: []string{"leak"}, Clients: 2, Bound: 4},
	{Env: "refusal", Properties: []string{"wake-up"}, Clients: 3, Together: true, Bound: 2},
	{Env: "leave", Properties: []string{"wake-up"}, Clients: 3, Together: true, Bound: 2},
}

// Asked returns the questions of the suite about an environment and a property, "" for any.
func Asked(env, property string) (asked []Question) {
	for _, q := range Suite {
		if env != "" && q.Env != env || property != "" && !slices.Contains(q.Properties, property) {
			continue
		}
		if property != "" {
			q.Properties = []string{property}
		}
		asked = append(asked, q)
	}
	return asked
}

// Ask returns the setup of a question about a lock, and the properties that apply to it; none if
// the question does not apply.
func (q Question) Ask(subject failures.Subject, attempts int) (Setup, []Property) {
	var properties []Property
	for _, name := range q.Properties {
		p, err := FindProperty(name)
		if err != nil {
			panic(err) // a test covers each name of the suite
		}
		if p.Suits(subject) {
			properties = append(properties, p)
		}
	}
	env, err := FindEnv(q.Env)
	if err != nil {
		panic(err)
	}
	return Setup{
		Subject: subject, Clients: q.Clients, Together: q.Together, Attempts: attempts, Env: env,
	}, properties
}
