package apart

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"lockkata/internal/i18n"
)

var (
	notHere = i18n.New("the lockkata repository is not here: run this in its folder ({why})")
	needsGo = i18n.New("the go command is needed: {why}")
)

// FindRoot returns the repository's folder, as the go command finds it from dir. dir is inside it,
// or is a learner's folder whose go.mod refers to it.
func FindRoot(dir string) (string, error) {
	out, err := GoCommand(context.Background(), dir, "list", "-m", "-f", "{{.Dir}}", "lockkata").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", notHere.Args("why", strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", needsGo.Args("why", err)
	}
	return strings.TrimSpace(string(out)), nil
}
