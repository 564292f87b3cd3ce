package schedule

// lessons are, for each property and environment of the suite, what the stages'
// lessons say: the cost and the number of steps of the shortest counterexample with
// one attempt of each client, none up to the suite's bound, or - where the property
// does not apply.
var lessons = map[string][6]string{
	"leak/crash":             {"1/2", "none", "none", "none", "none", "none"},
	"leak/reply-loss":        {"1/4", "1/7", "1/7", "1/7", "1/7", "none"},
	"truth/reply-loss":       {"1/4", "1/4", "1/4", "1/4", "1/4", "none"},
	"exclusion/short-pauses": {"none", "none", "none", "none", "none", "none"},
	"damage/short-pauses":    {"none", "none", "none", "none", "none", "none"},
	"wrong-delete/async":     {"3/9", "3/7", "3/9", "none", "none", "none"},
	"exclusion/async":        {"2/9", "2/5", "2/5", "2/5", "2/5", "none"},
	"watchdog/async":         {"-", "-", "-", "-", "3/5", "none"},
	"wrong-delete/pause":     {"2/11", "2/9", "2/11", "none", "none", "none"},
	"damage/pause":           {"2/15", "2/11", "2/11", "2/11", "2/11", "2/15"},
	"damage-fenced/pause":    {"-", "-", "-", "-", "-", "none"},
	"wake-up/short-pauses":   {"-", "-", "-", "-", "-", "none"},
	"leak/refusal":           {"1/4", "none", "none", "none", "none", "none"},
	"wake-up/refusal":        {"-", "-", "-", "-", "-", "none"},
	"wake-up/leave":          {"-", "-", "-", "-", "-", "none"},
}

// SuiteSchedules is how many schedules the search of the suite runs on all stages.
const SuiteSchedules = 77134

// Lesson is what the lesson of a stage, from 1, says about a property in an
// environment: cost/steps, none, or - where the property does not apply; "" where
// nobody asks.
func Lesson(property, env string, stage int) string {
	row, asked := lessons[property+"/"+env]
	if !asked {
		return ""
	}
	return row[stage-1]
}
