// Package docs carries the documents that commands read as data. A person reads
// docs/interview.md as a page; "go run . interview" asks its questions. There is
// one text for both, so they cannot differ.
package docs

import "embed"

// Interview has the interview questions: interview.md, and zh-CN/interview.md with
// the same questions in Chinese.
//
//go:embed interview.md zh-CN/interview.md
var Interview embed.FS
