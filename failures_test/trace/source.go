package trace

import (
	"fmt"
	"path"
)

// Source is the line of the lock that sent a command.
type Source struct {
	File     string `json:"file"` // the last folder and the file's name: stage1_setnx_expire/mutex.go
	Line     int    `json:"line"`
	Function string `json:"function"` // TryLock
}

// String returns "stage1_setnx_expire/mutex.go:57".
func (s Source) String() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Short returns "mutex.go:57"; "" for no source.
func (s *Source) Short() string {
	if s == nil || s.File == "" {
		return ""
	}
	return path.Base(s.String())
}
