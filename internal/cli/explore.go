package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

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
}

func (a *app) exploreCommand() *cobra.Command {
	var x exploration
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Search all schedules, up to a bound, for one that breaks a lock",
		Long: "explore runs a lock under every schedule of its clients: first all without a fault (a delay, a " +
			"crash, a pause, a lost reply), then all with one fault, and so on, so the first one that breaks a " +
			"property has the fewest faults. No result means no bug within the bound, not no bug.",
		Annotations: map[string]string{belowHelp: a.environments() + "\n" +
			a.properties(propertiesTitle, func(p schedule.Property) i18n.Text { return p.About })},
		Args: words(0, 0),
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
	return cmd
}

var (
	propertiesTitle   = i18n.New("Properties:")
	environmentsTitle = i18n.New("Environments:")
	howFar            = i18n.New("{stage}, {env}: up to {n} faults, {runs} schedules, {states} states, {rate} schedules/s")
	searchesDone      = i18n.New("{n} of {all} searches")
	failsIn           = i18n.New("{stage} in {env}: {error}")
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

// search is a search of a stage's schedules.
type search struct {
	Stage string
	schedule.Inquiry
}

// searches returns the chosen questions of the suite, about each chosen stage.
func (x exploration) searches(lang i18n.Language) (all []search, err error) {
	asked := stages.Public()
	if x.stage != "all" {
		s, err := stages.Find(x.stage)
		if err != nil {
			return nil, err
		}
		asked = []stages.Stage{s}
	}
	if _, err := schedule.FindEnv(x.env); x.env != "" && err != nil {
		return nil, err
	}
	if _, err := schedule.FindProperty(x.property); x.property != "" && err != nil {
		return nil, err
	}
	for _, s := range asked {
		for _, q := range schedule.Asked(x.env, x.property) {
			if x.bound >= 0 {
				q.Bound = x.bound
			}
			q.Clients = cmp.Or(x.clients, q.Clients)
			all = append(all, search{s.ID, schedule.Inquiry{Name: s.Subject.Name, Question: q, Attempts: x.attempts, Lang: lang}})
		}
	}
	if len(all) == 0 {
		return nil, nobodyAsks.Args("property", x.property, "env", x.env)
	}
	return all, nil
}

// answer is the result for one property of one stage.
type answer struct {
	Stage string `json:"stage"`
	schedule.Answer
}

// explore runs the searches and prints the results, also when the context has ended meanwhile.
func (a *app) explore(ctx context.Context, x exploration) error {
	lang := a.lang
	if x.asJSON {
		lang = i18n.English
	}
	searches, err := x.searches(lang)
	if err != nil {
		return err
	}
	replies, err := a.searchAll(ctx, searches)
	a.doing("")
	if err != nil {
		return err
	}
	var all []answer
	schedules := 0
	for i, s := range searches {
		answers, err := answersOf(s, replies[i])
		if err != nil {
			return err
		}
		if len(answers) > 0 { // of one search
			schedules += answers[0].Runs
		}
		all = append(all, answers...)
	}
	if x.asJSON {
		return json.NewEncoder(a.out).Encode(all)
	}
	return a.printAnswers(x, all, schedules)
}

// searchAll makes the searches, several of them in processes of their own. A reply is empty if the context ended
// before its search began.
func (a *app) searchAll(ctx context.Context, all []search) (replies []schedule.Reply, err error) {
	replies = make([]schedule.Reply, len(all))
	atOnce, one := 1, a.searchHere
	if len(all) > 1 && a.binary != "" {
		atOnce, one = runtime.NumCPU(), a.searchApart
	}
	slots, errs := make(chan struct{}, atOnce), make([]error, len(all))
	var searching sync.WaitGroup
	var telling sync.Mutex
	done := 0
	for i, s := range all {
		slots <- struct{}{}
		searching.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				replies[i], errs[i] = one(ctx, s)
			}
			telling.Lock()
			defer telling.Unlock()
			done++
			a.tell(searchesDone.Args("n", done, "all", len(all)))
		})
	}
	searching.Wait()
	return replies, cmp.Or(errs...)
}

// searchHere makes a search in this process, until the context ends.
func (a *app) searchHere(ctx context.Context, s search) (schedule.Reply, error) {
	defer world.TuneForBatch()()
	stage := stages.MustFind(s.Stage)
	begun, reported := time.Now(), time.Now()
	bench := schedule.Here(a.t, stage.Subject, func(q schedule.Inquiry, p schedule.Progress) {
		if time.Since(reported) > 250*time.Millisecond {
			reported = time.Now()
			a.tell(howFar.Args("stage", stage.NameText(), "env", q.Question.Env, "n", p.Bound,
				"runs", p.Runs, "states", p.States, "rate", int(float64(p.Runs)/time.Since(begun).Seconds())))
		}
	})
	replies, err := bench.Search(ctx, []schedule.Inquiry{s.Inquiry})
	if err != nil {
		return schedule.Reply{}, failedError{err}
	}
	return replies[0], nil
}

// searchApart makes a search in a process of this program, which replies what it knows when it is interrupted.
func (a *app) searchApart(ctx context.Context, s search) (reply schedule.Reply, err error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return reply, err
	}
	cmd := exec.CommandContext(ctx, a.binary, "search", string(raw))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	said, err := cmd.Output()
	if known := json.Unmarshal(said, &reply); ctx.Err() == nil {
		return reply, cmp.Or(err, known)
	} else if known != nil {
		return schedule.Reply{}, nil
	}
	return reply, nil
}

// searchCommand returns the command that searchApart runs.
func (a *app) searchCommand() *cobra.Command {
	return &cobra.Command{Use: "search TASK", Hidden: true, Args: words(1, 1), RunE: func(cmd *cobra.Command, args []string) error {
		var s search
		if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
			return err
		}
		reply, err := a.searchHere(cmd.Context(), s)
		if err != nil {
			return err
		}
		return json.NewEncoder(a.out).Encode(reply)
	}}
}

// answersOf returns the answers in a reply. If the search did not begin they say that it was cut short.
func answersOf(s search, reply schedule.Reply) (answers []answer, err error) {
	stage := stages.MustFind(s.Stage)
	if reply.Cause != nil {
		return nil, failedError{failsIn.Args("stage", stage.NameText(), "env", s.Question.Env, "error", reply.Cause.Text)}
	}
	for _, found := range reply.Found {
		answers = append(answers, answer{stage.ID, found.Answer})
	}
	if len(answers) == 0 {
		setup, properties := s.Question.Ask(stage.Subject, s.Attempts)
		for _, one := range (schedule.Result{}).Answers(setup, properties, 0) {
			answers = append(answers, answer{stage.ID, one})
		}
	}
	return answers, nil
}
