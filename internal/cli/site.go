package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockkata/internal/playground/build"
	"lockkata/internal/site"
	"lockkata/internal/texts"
	"lockkata/internal/theatre"
)

func (a *app) siteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "site DIR",
		Short: "Write all of it as pages for any static host: the theatre, the playground, the documents",
		Long: "site writes a folder that any static host can serve, or a memory stick can carry: the " +
			"documents in both languages with their pictures, the theatre with the playground, and " +
			"lockkata.html, which is the theatre with the playground in one file. Beside each file " +
			"stands one that is compressed by gzip. It builds the playground: run it in the folder of " +
			"lockkata, with Go.",
		Args: oneFolder("public"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := maybeFolder(args[0]); err != nil {
				return err
			}
			if err := a.site(cmd.Context(), args[0]); err != nil {
				return failedError{err}
			}
			return nil
		},
	}
}

var siteIsIn = texts.New("{folder}: {n} files, each also compressed. It begins with {index}; {whole} is one file for a disk.")

// whole is the site's file that needs no other.
const whole = "lockkata.html"

func (a *app) site(ctx context.Context, folder string) error {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	a.note(isBuilding)
	runner, err := build.Runner(ctx, ".")
	if err != nil {
		return err
	}
	packed, err := build.Wasm(ctx, ".", a.sources)
	if err != nil {
		return err
	}
	shown, err := a.perform()
	if err != nil {
		return err
	}
	if err := a.surprises(expecting(shown.columns, shown.rows)); err != nil {
		return err
	}
	beside, err := shown.page(engineBeside(runner))
	if err != nil {
		return err
	}
	inside, err := shown.page(theatre.Engine{Runner: runner, Packed: packed})
	if err != nil {
		return err
	}
	s, err := site.New(os.DirFS("."))
	if err != nil {
		return err
	}
	s.Add("docs/theatre.html", beside)
	s.Add("docs/"+theatre.EngineFile, packed)
	s.Add(whole, inside)
	if err := s.Write(folder); err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.say(siteIsIn, "folder", folder, "n", len(s.Names()),
		"index", filepath.Join(folder, "index.html"), "whole", filepath.Join(folder, whole)))
	return nil
}
