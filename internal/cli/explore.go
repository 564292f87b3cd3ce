package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// exploration is the arguments of explore.
type exploration struct {
	stage, env, property string
	clients, attempts    int // clients 0: each question has its own
	bound                int // -1: each question has its own
	asJSON               bool
	question             int // one question of the suite, in a child process; -1: all
}

func (a *app) exploreCommand() *cobra.Command {
	var x exploration
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Search all schedules, up to a bound, for one that breaks a lock",
		Long: "explore runs a lock under every schedule of its clients: which command is executed next, " +
			"which reply is delivered, when time passes, what fails. It runs all schedules without a fault (a delay, a crash, " +
			"a pause, a lost reply), then all with one fault, and so on, so the first one that breaks a property has " +
			"the fewest faults. The environment says which faults there are. No result means no bug within the bound, not no bug.",
		Annotations: map[string]string{belowHelp: a.environments() + "\n" +
			a.properties(propertiesTitle, func(p schedule.Property) i18n.Text { return p.About })},
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := cmp.Or(inRange(cmd, "bound", 0, 9), inRange(cmd, "clients", 2, 3), inRange(cmd, "attempts", 1, 3))
			if err != nil {
				return err
			}
			return a.explore(cmd.Context(), x)
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.stage, "stage", "all", "the stage to search, or all")
	f.StringVar(&x.env, "env", "", "only this environment")
	f.StringVar(&x.property, "property", "", "only this property")
	f.IntVar(&x.clients, "clients", 0, "2 or 3; without it, each search has its own")
	f.IntVar(&x.attempts, "attempts", 1, "how often each client asks for the lock, 1 to 3")
	f.IntVar(&x.bound, "bound", -1, "the most faults, 0 to 9; without it, each search has its own bound")
	f.BoolVar(&x.asJSON, "json", false, "print the answers as JSON")
	f.IntVar(&x.question, "question", -1, "")
	_ = f.MarkHidden("question") // the flag exists
	return cmd
}

var (
	propertiesTitle   = i18n.New("Properties:")
	environmentsTitle = i18n.New("Environments:")
	nobodyAsks        = i18n.New("there is no search for {property} in {env}: leave out --env, or see explore --help")
)

// environments lists the environments with their faults.
func (a *app) environments() string {
	var rows []row
	for _, e := range schedule.Envs {
		rows = append(rows, row{e.Name, e.About})
	}
	return a.say(environmentsTitle) + "\n" + a.table(rows)
}

// properties lists the properties with their descriptions.
func (a *app) properties(title i18n.Text, words func(schedule.Property) i18n.Text) string {
	var rows []row
	for _, p := range schedule.Properties {
		rows = append(rows, row{p.Name, words(p)})
	}
	return a.say(title) + "\n" + a.table(rows)
}

// job is one question about one stage.
type job struct {
	stage    stages.Stage
	question schedule.Question
}

// jobs returns the chosen questions of the suite.
func (x exploration) jobs() (jobs []job, err error) {
	asked := stages.Public()
	if x.stage != "all" {
		c, err := stages.Find(x.stage)
		if err != nil {
			return nil, err
		}
		asked = []stages.Stage{c}
	}
	if _, err := schedule.FindEnv(x.env); x.env != "" && err != nil {
		return nil, err
	}
	if _, err := schedule.FindProperty(x.property); x.property != "" && err != nil {
		return nil, err
	}
	for _, s := range asked {
		for i, q := range schedule.Suite {
			if x.env != "" && q.Env != x.env || x.question >= 0 && i != x.question || x.property != "" && !slices.Contains(q.Properties, x.property) {
				continue
			}
			if x.property != "" {
				q.Properties = []string{x.property}
			}
			if x.bound >= 0 {
				q.Bound = x.bound
			}
			q.Number, q.Clients = i, cmp.Or(x.clients, q.Clients)
			jobs = append(jobs, job{s, q})
		}
	}
	if len(jobs) == 0 {
		return nil, nobodyAsks.Args("property", x.property, "env", x.env)
	}
	return jobs, nil
}

// answer is the result for one property of one stage.
type answer struct {
	Stage string `json:"stage"`
	schedule.Answer
}

// explore runs the searches and prints the results, also when the context has ended meanwhile.
func (a *app) explore(ctx context.Context, x exploration) error {
	jobs, err := x.jobs()
	if err != nil {
		return err
	}
	defer world.TuneForBatch()()
	ask, others := a.ask, 0
	if len(jobs) > 1 && a.binary != "" { // a process searches on one core
		ask, others = a.askProcess, runtime.NumCPU()-1
	}
	answers, errs := make([][]answer, len(jobs)), make([]error, len(jobs))
	var begun, done atomic.Int64
	work := func() {
		for i := begun.Add(1) - 1; i < int64(len(jobs)); i = begun.Add(1) - 1 {
			answers[i], errs[i] = ask(ctx, x, jobs[i])
			a.tell(searchesDone.Args("n", done.Add(1), "all", len(jobs)))
		}
	}
	var asking sync.WaitGroup
	for range others {
		asking.Go(work)
	}
	work() // a search in this process needs the goroutine of the test
	asking.Wait()
	a.doing("")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := slices.Concat(answers...)
	if x.question >= 0 || x.asJSON {
		return json.NewEncoder(a.out).Encode(all)
	}
	return a.printAnswers(x, all)
}
