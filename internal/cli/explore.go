package cli

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// exploration is what explore was asked for.
type exploration struct {
	stage, env, property string
	clients, attempts    int
	clientsGiven         bool // else each question has its own
	bound                int
	random               int
	seed                 uint64
	asJSON               bool
	question             int // of the suite, for the explore that started this process; -1: all
}

func (a *app) exploreCommand() *cobra.Command {
	var x exploration
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Search all schedules, up to a bound, for one that breaks a lock",
		Long: "explore runs a lock under every schedule of its clients: which command is executed next, " +
			"which reply is delivered, when time passes, what fails. Each fault (a delay, a crash, a pause, " +
			"a lost reply) costs 1. All schedules of cost 0 are run, then all of cost 1, and so on, so the " +
			"first one that breaks a property has the fewest faults. No result means no bug within the bound, not no bug.",
		Annotations: map[string]string{belowHelp: a.environments() + "\n" +
			a.properties(propertiesTitle, func(p schedule.Property) i18n.Text { return i18n.Text(p.About) })},
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x.clientsGiven = cmd.Flags().Changed("clients")
			if err := checkBound(cmd, x.bound); err != nil {
				return err
			}
			switch random := cmd.Flags().Changed("random"); {
			case random && x.random < 1:
				return badRandom.Args("n", x.random)
			case !random && cmd.Flags().Changed("seed"):
				return seedAlone.Args()
			}
			return a.explore(x)
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.stage, "stage", "all", "the stage to search, or all")
	f.StringVar(&x.env, "env", "", "only this environment")
	f.StringVar(&x.property, "property", "", "only this property")
	f.IntVar(&x.clients, "clients", 0, "2 or 3; without it, each search has its own")
	f.IntVar(&x.attempts, "attempts", 1, "how often each client asks for the lock, 1 to 3")
	f.IntVar(&x.bound, "bound", -1, "the highest cost, 0 to 9; without it, each search has its own")
	f.IntVar(&x.random, "random", 0, "run that many schedules at random instead")
	f.Uint64Var(&x.seed, "seed", 1, "with --random: the same seed, the same schedules")
	f.BoolVar(&x.asJSON, "json", false, "print the answers as JSON")
	f.IntVar(&x.question, "question", -1, "")
	_ = f.MarkHidden("question") // there is such a flag
	return cmd
}

var (
	propertiesTitle   = i18n.New("Properties:")
	environmentsTitle = i18n.New("Environments:")
)

func init() {
	for _, e := range schedule.Envs {
		i18n.Register(i18n.Text(e.About))
	}
}

// environments lists what may happen in a schedule.
func (a *app) environments() string {
	var rows []row
	for _, e := range schedule.Envs {
		rows = append(rows, row{e.Name, a.say(i18n.Text(e.About))})
	}
	return a.say(environmentsTitle) + "\n" + a.table(rows)
}

// properties lists what a schedule may break, in words.
func (a *app) properties(title i18n.Text, words func(schedule.Property) i18n.Text) string {
	var rows []row
	for _, p := range schedule.Properties {
		rows = append(rows, row{p.Name, a.say(words(p))})
	}
	return a.say(title) + "\n" + a.table(rows)
}

// job is one question about one stage.
type job struct {
	stage    stages.Stage
	question schedule.Question
}

// Errors of explore.
var (
	orAll       = i18n.New("{error}, or all")
	nobodyAsks  = i18n.New("there is no search for {property} in {env}: leave out --env, or see explore --help")
	badClients  = i18n.New("--clients {n}: it can be 2 or 3")
	badAttempts = i18n.New("--attempts {n}: it can be 1 to 3")
	badBound    = i18n.New("--bound {n}: it can be 0 to 9")
	seedAlone   = i18n.New("--seed is for --random: add --random 1000, or leave out --seed")
	badRandom   = i18n.New("--random {n}: give how many schedules to run")
	failsIn     = i18n.New("{stage} in {env}: {error}")
)

// jobs are the questions that were asked.
func (x exploration) jobs() ([]job, error) {
	asked := stages.Public()
	if x.stage != "all" {
		c, err := stages.Find(x.stage)
		if err != nil {
			return nil, orAll.Args("error", err)
		}
		asked = []stages.Stage{c}
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	var jobs []job
	for _, s := range asked {
		for _, q := range x.questions() {
			jobs = append(jobs, job{s, q})
		}
	}
	if len(jobs) == 0 {
		return nil, nobodyAsks.Args("property", x.property, "env", x.env)
	}
	return jobs, nil
}

// checkBound refuses a bound that was given and is not a cost. Without the flag it is -1.
func checkBound(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("bound") && (n < 0 || n > 9) {
		return badBound.Args("n", n)
	}
	return nil
}

func (x exploration) check() error {
	if x.env != "" {
		if _, err := schedule.FindEnv(x.env); err != nil {
			return err
		}
	}
	if x.property != "" {
		if _, err := schedule.FindProperty(x.property); err != nil {
			return err
		}
	}
	switch {
	case x.clientsGiven && x.clients != 2 && x.clients != 3:
		return badClients.Args("n", x.clients)
	case x.attempts < 1 || x.attempts > 3:
		return badAttempts.Args("n", x.attempts)
	}
	return nil
}

// questions are those of the suite that were asked for.
func (x exploration) questions() []schedule.Question {
	var asked []schedule.Question
	for i, q := range schedule.Suite {
		if x.env != "" && q.Env != x.env || x.question >= 0 && i != x.question {
			continue
		}
		if x.property != "" {
			if !slices.Contains(q.Properties, x.property) {
				continue
			}
			q.Properties = []string{x.property}
		}
		q.Number = i
		if x.clients != 0 {
			q.Clients = x.clients
		}
		if x.bound >= 0 {
			q.Bound = x.bound
		}
		asked = append(asked, q)
	}
	return asked
}

// answer is what was found about one property of one stage.
type answer struct {
	Stage string `json:"stage"`
	schedule.Answer
	Random bool `json:"random,omitempty"`
}

// explore asks the questions and prints what was found.
func (a *app) explore(x exploration) error {
	jobs, err := x.jobs()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted(context.Background())
	defer stop()
	var answers []answer
	if len(jobs) > 1 && a.binary != "" && x.question < 0 && x.random == 0 {
		answers, err = a.exploreInProcesses(ctx, x, jobs)
	} else {
		answers, err = a.exploreHere(ctx, x, jobs)
	}
	if err != nil {
		return err
	}
	if x.question >= 0 { // the process that asks prints it
		for i, one := range answers {
			answers[i].Text = one.TextIn(a.lang)
		}
	}
	if x.question >= 0 || x.asJSON {
		return json.NewEncoder(a.out).Encode(answers)
	}
	return a.printAnswers(x, answers)
}

// exploreHere asks one question after another.
func (a *app) exploreHere(ctx context.Context, x exploration, jobs []job) ([]answer, error) {
	defer world.TuneForBatch()()
	var answers []answer
	ready := map[string]failures.Subject{}
	for _, j := range jobs {
		subject, ok := ready[j.stage.ID]
		if !ok {
			var err error
			if subject, err = failures.DiscoverScripts(a.t, j.stage.Subject); err != nil {
				return nil, err
			}
			ready[j.stage.ID] = subject
		}
		s, properties := j.question.Ask(subject, x.attempts)
		if len(properties) == 0 {
			continue
		}
		more, err := a.ask(ctx, x, j, s, properties)
		if err != nil {
			return nil, err
		}
		answers = append(answers, more...)
	}
	return answers, nil
}

// ask searches, or hunts, and says what it found about each property.
func (a *app) ask(ctx context.Context, x exploration, j job, s schedule.Setup, properties []schedule.Property) ([]answer, error) {
	begun := time.Now()
	progress := a.progress(j, begun)
	stop := func(p schedule.Progress) bool {
		progress(p)
		return ctx.Err() != nil
	}
	var result schedule.Result
	var err error
	if x.random > 0 {
		s.Property = properties[0]
		properties = properties[:1]
		result, err = schedule.Hunt(a.t, s, x.seed, x.random, stop)
	} else {
		result, err = schedule.Search(a.t, s, properties, schedule.Limits{Bound: j.question.Bound, Stop: stop})
	}
	progress(schedule.Progress{})
	if err != nil {
		return nil, failsIn.Args("stage", j.stage.NameText(), "env", s.Env.Name, "error", err)
	}
	var answers []answer
	for _, one := range result.Answers(s, properties, time.Since(begun)) {
		answers = append(answers, answer{j.stage.ID, one, x.random > 0})
	}
	return answers, nil
}
