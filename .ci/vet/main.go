// Command vet looks for what go vet looks for, but reads the libraries instead of compiling
// them. So it takes seconds for a system that nothing else is compiled for.
//
//	GOOS=windows GOFLAGS=-tags=live vet ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/suite/vet"
)

func main() { multichecker.Main(vet.Suite...) }
