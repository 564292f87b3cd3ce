// Command lockkata shows what goes wrong with a Redis lock, stage by stage.
// Without arguments it plays every failure on every stage.
package main

import (
	"embed"

	"lockkata/internal/cli"
)

// sources are the locks' own files, for "diff" and pages, and the documents, for "interview".
//
//go:embed stage*/*.go stage*/*.lua stage*/step*/*.go failures_test/documents/*/*.go *.md stage*/*.md docs/*.md docs/*/*.md docs/zh-CN/interview/*.md internal/page/*.json
var sources embed.FS

func main() { cli.Main(sources) }
