package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// view is a first screen: locks, the failures that are played on them, and the texts around the table.
type view struct {
	flag, usage string
	excludes    []string // flags of the matrix
	title       i18n.Text
	columns     func() []stages.Stage
	failures    func() []catalogue.Failure
	shown       func(g grid) (rows [][]failures.Verdict, note i18n.Message) // without --all and --family
	byFamily    bool                                                        // name the family of the rows, as with --all
	inParts     bool                                                        // apart from those that no lock prevents, under headings
	next        []row                                                       // commands to try
}

// views are all views; the first has no flag.
var views = []view{
	{
		title: stagesTitle, columns: stages.Public, failures: everyFailure, shown: lessons("go run . --all"), inParts: true,
		next: []row{
			{"go run . show check-then-delete --stage 3", i18n.New("the failure, step by step")},
			{"go run . show check-then-delete --before-after", bothSides},
			{"go run . diff 4", whatChanged},
			{"go test -v ./stage4_lua_unlock/...", i18n.New("the failures, as tests")},
			{"go run . --steps", i18n.New("five steps to stage 6")},
			{"go run . --guards", i18n.New("what the resource can do")},
		},
	},
	{
		flag: "steps", usage: "the steps from stage 5 to stage 6 in place of the stages",
		title: stagesTitle, columns: stages.Steps, failures: everyFailure, shown: changesOfSteps,
		next: []row{
			{"go run . show grant-reply-lost --steps --before-after", bothSides},
			{"go run . diff 6.2", whatChanged},
			{"go run . explore --stage 6.2", i18n.New("all its schedules")},
		},
	},
	{
		flag: "documents", usage: "the locks of the five documents, in place of the stages: docs/documents.md",
		title:   i18n.New("The locks of five documents, as written, and what breaks them"),
		columns: stages.Documents, failures: everyFailure, shown: lessons("go run . --documents --all"), inParts: true,
	},
	{
		flag: "servers", usage: "locks on several servers: with WAIT, RedLock", excludes: []string{"all"},
		title:   i18n.New("Locks on several servers, and what breaks them"),
		columns: stages.OfServers, failures: func() []catalogue.Failure { return catalogue.OfServers },
		shown:    whole(i18n.New("With WAIT, a client holds the lock only when a replica has its key: a failover to a replica that lacks it is then less likely, not impossible. RedLock survives two of five servers that are down. While the holder has a vote to spare, it also survives a failover, a clock jump or a restart without keys of one server. With exactly three of the five keys, each of these lets a second client in. RedLock has no fencing token against a holder that pauses. A lock over one server can lose its key at its first failover, but costs a fifth. Where two must never write, the resource itself has to refuse.")),
		byFamily: true,
		next: []row{
			{"go run . show replica-behind --before-after", bothSides},
			{"go run . show replica-other --stage wait", i18n.New("what WAIT for one replica does not help against")},
			{"go run . show redlock-restart-empty", i18n.New("two majorities, step by step")},
			{"go run . show redlock-pause", i18n.New("what five servers do not help against")},
			{"go run . --guards", i18n.New("what helps there")},
		},
	},
	{
		flag: "guards", usage: "two failures that no lock prevents, without a guard of the resource and with each guard", excludes: []string{"family", "all"},
		title:   i18n.New("What no lock prevents, and a guard of the resource does"),
		columns: stages.Public, failures: guarded,
		shown: whole(i18n.New("Here ✓ means that the ledger is right, even if two clients held the lock. The lock saves work: while one client works, the others wait. The resource protects the data: a guard checks at the moment of the write, so it works on stage 1, and without any lock. Only the fencing token needs a lock that issues it. No guard does everything. A token and a condition let a client repeat its own write. A unique key and a version refuse that, but do not return the first result. An idempotency key does, if it is stored in one transaction with the effect. None of them calls back an e-mail.")),
		next: []row{
			{"go run . show process-pause --stage 1", i18n.New("two clients hold the lock, and the ledger takes both orders")},
			{"go run . show process-pause-unique --stage 1", i18n.New("two clients hold the lock, and the ledger refuses the second order")},
			{"go run . --servers", i18n.New("locks on several servers")},
		},
	},
}

// addViews adds the flags of the views.
func addViews(root *cobra.Command) {
	var flags []string
	for _, v := range views[1:] {
		root.Flags().Bool(v.flag, false, v.usage)
		flags = append(flags, v.flag)
		for _, other := range v.excludes {
			root.MarkFlagsMutuallyExclusive(v.flag, other)
		}
	}
	root.MarkFlagsMutuallyExclusive(flags...)
}

// chosenView returns the view of the flag that is set.
func chosenView(flags *pflag.FlagSet) view {
	for _, v := range views[1:] {
		if isSet, _ := flags.GetBool(v.flag); isSet { // the flag exists
			return v
		}
	}
	return views[0]
}

var (
	stagesTitle  = i18n.New("A Redis lock, stage by stage, and what breaks it")
	someFailures = i18n.New("{n} of {all} failures are shown; the counts are of all {all}. All: {command}")
	someChanges  = i18n.New("{n} of {changed} failures whose result changes from step to step are shown, at most {most} for each step. The counts are of all {all}. To see all, by family: {command}")
	whatChanged  = i18n.New("what the fix changed")
	bothSides    = i18n.New("before and after")
)

func everyFailure() []catalogue.Failure { return catalogue.All }

// guarded returns two failures, each without a guard, with the token, and with each of the others.
func guarded() (all []catalogue.Failure) {
	for _, id := range []string{"process-pause", "write-delayed"} {
		for _, f := range catalogue.All {
			if f.ID == id || strings.HasPrefix(f.ID, id+"-") {
				all = append(all, f)
			}
		}
	}
	return all
}

// whole shows all rows, and a note.
func whole(note i18n.Text) func(grid) ([][]failures.Verdict, i18n.Message) {
	return func(g grid) ([][]failures.Verdict, i18n.Message) { return g.rows, note.Args() }
}

// lessons shows the failures that tell the story of the stages, ordered by the stage that fixes them.
func lessons(command string) func(grid) ([][]failures.Verdict, i18n.Message) {
	return func(g grid) ([][]failures.Verdict, i18n.Message) {
		rows := slices.DeleteFunc(slices.Clone(g.rows), func(row []failures.Verdict) bool { return !row[0].Failure.FirstScreen })
		sortByFix(rows, stages.All())
		slices.SortStableFunc(rows, func(a, b []failures.Verdict) int { return cmp.Compare(g.partOf(a), g.partOf(b)) })
		return rows, someFailures.Args("n", len(rows), "all", len(g.rows), "command", command)
	}
}

// mostOfAStep is the most failures that --steps shows for each step.
const mostOfAStep = 4

// changesOfSteps shows failures whose result changes, ordered by step.
func changesOfSteps(g grid) ([][]failures.Verdict, i18n.Message) {
	want := func(row []failures.Verdict, column int) failures.Outcome {
		return g.columns[column].Expect(row[0].Failure)
	}
	left := slices.DeleteFunc(slices.Clone(g.rows), func(row []failures.Verdict) bool {
		return !slices.ContainsFunc(g.columns, func(c stages.Stage) bool { return c.Expect(row[0].Failure) != want(row, 0) })
	})
	sortByFix(left, g.columns)
	at := make([][][]failures.Verdict, len(g.columns))
	for _, row := range left {
		for n := 1; n < len(g.columns); n++ {
			was, is := want(row, n-1), want(row, n)
			if was != is && is != failures.Broken && len(at[n]) < mostOfAStep {
				at[n] = append(at[n], row)
				break
			}
		}
	}
	rows := slices.Concat(at...)
	return rows, someChanges.Args("n", len(rows), "changed", len(left), "most", mostOfAStep, "all", len(g.rows), "command", "go run . --steps --all")
}

// sortByFix sorts the failures by the lock that fixes them, unfixed ones last.
func sortByFix(rows [][]failures.Verdict, of []stages.Stage) {
	place := func(row []failures.Verdict) int {
		if _, fixed := stages.FixedBy(of, row[0].Failure); fixed != nil {
			return slices.Index(stages.IDs(of), fixed.ID)
		}
		return len(of)
	}
	slices.SortStableFunc(rows, func(a, b []failures.Verdict) int { return cmp.Compare(place(a), place(b)) })
}
