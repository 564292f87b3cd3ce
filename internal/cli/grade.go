package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/foreign"
	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/redisserver"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// grading is the arguments of grade.
type grading struct {
	apart.Grading
	foreign.Worker
	json, update bool
	expect       string
}

func (a *app) gradeCommand() *cobra.Command {
	var g grading
	cmd := &cobra.Command{
		Use:   "grade DIR | grade -- COMMAND…",
		Short: "Run every failure on your own lock, and print its report card",
		Long: "grade compiles the Go package in a folder, here or anywhere, and runs the catalogue on its lock, " +
			"in a process of its own. The package has a func NewMutex(rdb redis.UniversalClient, name string, " +
			"lease time.Duration), which returns a lock and an error, or a func Subject() failures.Subject. " +
			"With -- it starts a worker instead, which hosts a lock of any language, and runs the failures on " +
			"real servers, in real time: docs/worker.md. How to use the card in CI: docs/grade.md.",
		Example: "go run . grade stage4_lua_unlock",
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash == 0 && len(args) > 0 {
				return nil
			}
			if cmd.ArgsLenAtDash() < 0 && len(args) > 1 {
				return lacksDash.Args("command", strings.Join(args, " "))
			}
			return words(1, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			isWorker := cmd.ArgsLenAtDash() == 0
			if isWorker {
				g.Command = args
			}
			for _, id := range g.Only {
				if _, ok := catalogue.Find(id); !ok {
					return suggest(noFailure.Args("name", strconv.Quote(id)), id, failureIDs())
				}
			}
			switch {
			case g.update && g.expect == "":
				return updatesNone.Args()
			case g.update && g.Only != nil:
				return updatesSome.Args()
			case !isWorker && (g.Shared || g.Stop):
				return onlyWorkers.Args()
			case g.Stop && (g.Shared || !fleet.CanStop()):
				return stopsOne.Args()
			}
			return a.grade(cmd.Context(), args[0], g)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&g.json, "json", false, "print the card as JSON")
	f.StringVar(&g.expect, "expect", "", "compare the card with this `FILE`: exit status 1 when a cell differs")
	f.BoolVar(&g.update, "update", false, "with --expect: write the card into the file")
	f.StringSliceVar(&g.Grading.Has, "has", nil, "what a lock without a Subject has: watchdog, re-entry, pub/sub, fencing, force, scripts, close")
	f.StringSliceVar(&g.Only, "only", nil, "play only this `FAILURE`, and draw it")
	f.BoolVar(&g.Shared, "shared", false, "of a worker: one hosts the locks of all processes")
	f.BoolVar(&g.Stop, "stop", false, "of a worker: a pause stops the process too (SIGSTOP), not only its connections")
	return cmd
}

var (
	updatesNone  = i18n.New("--update writes the file of --expect: name it, as in --expect card.txt --update")
	updatesSome  = i18n.New("--update writes the whole card: leave out --only")
	onlyWorkers  = i18n.New("--shared and --stop are for a worker: go run . grade --shared -- COMMAND")
	lacksDash    = i18n.New("grade takes one folder; a worker stands after --, as in go run . grade -- {command}")
	stopsOne     = i18n.New("--stop goes with one worker for each process, and not on Windows: leave it out, or leave out --shared")
	notToTheEnd  = i18n.NewPlural("{n} failure was not tried", "{n} failures were not tried")
	notGraded    = i18n.New("the lock cannot be graded")
	updateWrites = i18n.New("cannot read the file of --expect ({error}): add --update, which writes it")
	updateTakes  = i18n.New("if these are right, add --update: it rewrites the file")
)

func (a *app) grade(ctx context.Context, dir string, g grading) error {
	g.Lang, g.Say = a.lang, a.tell
	if g.json { // for programs and files
		g.Lang = i18n.English
	}
	card, err := gradeCard(ctx, dir, g)
	a.doing("")
	if err != nil {
		return err
	}
	if g.json {
		err = a.printJSON(card)
	} else {
		a.gradeText(card)
		pictures := ""
		for _, c := range card.Cells {
			if g.Only != nil && c.Trace != nil {
				pictures += a.draw(c.Trace, c.Findings)
			}
		}
		if pictures != "" {
			a.legend(pictures)
		}
	}
	switch {
	case err != nil:
		return err
	case card.Compile != nil || card.Cause != nil && len(card.Cells) == 0:
		return failedError{notGraded.Args()}
	case card.Left() > 0 && !card.BreaksBasic():
		return failedError{notToTheEnd.Of(card.Left())}
	case g.update:
		if err := os.WriteFile(g.expect, []byte(card.Golden()), 0o644); err != nil {
			return failedError{err}
		}
	case g.expect != "":
		raw, err := os.ReadFile(g.expect)
		if err != nil {
			return updateWrites.Args("error", err)
		}
		if differences := card.Differences(string(raw), g.Only, g.Lang); len(differences) > 0 {
			return failedError{errors.New(strings.Join(append(differences, updateTakes.Localize(g.Lang)), "\n"))}
		}
	}
	return nil
}

// gradeCard returns the card of a worker, or of the lock in a folder.
func gradeCard(ctx context.Context, dir string, g grading) (card apart.Card, err error) {
	if g.Command != nil {
		if card, err = apart.GradeWorker(ctx, g.Worker, g.Grading); errors.Is(err, redisserver.ErrMissing) {
			err = needsServer.Args("error", err, "variable", redisserver.Binary)
		}
		return card, err
	}
	root, err := apart.FindRoot(".")
	if err != nil {
		return card, err
	}
	return apart.Grade(ctx, root, dir, g.Grading)
}

// Texts of a card around its cells.
var (
	needsServer  = i18n.New("a worker is played on a real server: {error}, or name its program in {variable}")
	lockOf       = i18n.New("The lock of {command}, on {server}")
	lockIn       = i18n.New("The lock in {dir}")
	isUnusable   = i18n.New("✗ {kind}: {error}")
	seeAdapters  = i18n.New("docs/grade.md shows a func Subject, with adapters for locks of other shapes.")
	isRuined     = i18n.New("✗ it {kind}: {what}")
	isNotPlayed  = i18n.New("… cannot be played here: it {kind}: {what}")
	notTried     = i18n.NewPlural("{n} was not tried: too many runs did not end", "{n} were not tried: too many runs did not end")
	notAsked     = i18n.NewPlural("{n} was not asked: first the lock has to survive the basic ones", "{n} were not asked: first the lock has to survive the basic ones")
	notPlayedFor = i18n.NewPlural("{what}: {n} failure", "{what}: {n} failures")
	lockKeys     = i18n.New("Taken for the lock: {keys}. If one is a counter or a queue, name it in the Ignore of a Subject.")
	besideKeys   = i18n.New("Taken for the lock: {keys}; beside it: {others}. If that is wrong, say so in the Ignore of a Subject.")
	printedBy    = i18n.New("The worker also printed: {text}")
	shows        = i18n.New("→ the runs show more features: --has {features} plays their failures too")
)

// gradeText prints the card for a person: why the lock could not be graded to the end, the causes, and
// a line for each failure.
func (a *app) gradeText(card apart.Card) {
	title := lockIn.Args("dir", card.Dir)
	if card.Worker != "" {
		title = lockOf.Args("command", card.Worker, "server", card.Server)
	}
	a.heading(term.Bold, title.Localize(a.lang))
	switch keys, others := strings.Join(card.Locks, ", "), strings.Join(card.AuxKeys, ", "); {
	case len(card.AuxKeys) > 0:
		a.heading("", a.say(besideKeys, "keys", keys, "others", others))
	case len(card.Locks) > 1:
		a.heading("", a.say(lockKeys, "keys", keys))
	}
	if c := card.Compile; c != nil {
		a.heading(term.Red, a.say(isUnusable, "kind", c.Kind(), "error", c))
		if c.API {
			a.heading("", a.say(seeAdapters))
		}
	}
	for _, c := range card.Ends() {
		say := isRuined
		if c.IsNotPlayed() {
			say = isNotPlayed
		}
		a.heading(term.Red, a.say(say, "kind", c.Kind, "what", c.Text))
		a.heading("", c.Next.Localize(a.lang))
	}
	for _, cause := range card.Causes {
		a.item("  "+a.signOf(failures.Broken)+" ", cause.Localize(a.lang))
	}
	a.gradeCells(card)
	if card.Printed != "" && card.Worker != "" {
		a.heading("", a.say(printedBy, "text", strconv.Quote(card.Printed)))
	}
}

// gradeCells prints a line for each failure, by family, and the number of each outcome.
func (a *app) gradeCells(card apart.Card) {
	if len(card.Cells) == 0 {
		return
	}
	count, lacking := map[failures.Outcome]int{}, map[string]int{}
	var lacks []string // in the order of the failures
	for _, family := range families() {
		var rows []row
		for _, c := range card.Cells {
			if c.Failure.Family != family[0].Family {
				continue
			}
			count[c.Outcome]++
			what := apart.Summary(c, a.lang)
			if c.Outcome != failures.NotApplicable {
				rows = append(rows, row{a.signOf(c.Outcome) + " " + c.Failure.ID, i18n.Text(what)})
				continue
			}
			if lacking[what]++; lacking[what] == 1 {
				lacks = append(lacks, what)
			}
		}
		a.section(a.color.Paint(term.Bold, a.say(i18n.Text(family[0].Family))), rows)
	}
	fmt.Fprintln(a.out)
	for _, what := range lacks {
		a.item("  "+a.signOf(failures.NotApplicable)+" ", notPlayedFor.Of(lacking[what], "what", what).Localize(a.lang))
	}
	a.printCounts(count)
	switch left := card.Left(); {
	case card.BreaksBasic():
		a.item("  ", notAsked.Of(left).Localize(a.lang))
	case left > 0:
		a.item("  ", notTried.Of(left).Localize(a.lang))
	}
	if shown := card.Shows(); len(shown) > 0 {
		a.item("  ", a.say(shows, "features", strings.Join(shown, ",")))
	}
}
