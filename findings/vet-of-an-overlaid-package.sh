#!/usr/bin/env bash
# A package whose folder exists only in the overlay of the go command. Can it be built, and compiled as a test?
#
# One would guess: both, since an overlay is for the whole build. In fact go build does, and go test -c does not: it
# runs vet before, even with -c, and vet changes into the folder, which is not there. With -vet=off the same test
# binary is compiled.
#
# Seen on 2026-11-29 with go1.26.8 on linux/amd64:
#
#   build: ok
#   test -c: demo/made: …/vet: chdir …/made: no such file or directory
#   test -c -vet=off: ok
#
# It needs a go command that can fetch Go 1.26.8, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOTOOLCHAIN=go1.26.8 GOWORK=off GOFLAGS=

printf 'module demo\n\ngo 1.26\n' >go.mod
printf 'package made\n\nfunc One() int { return 1 }\n' >one.text
printf 'package made\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal("not one")\n\t}\n}\n' >test.text
printf '{"Replace": {"%s/made/made.go": "%s/one.text", "%s/made/made_test.go": "%s/test.text"}}' "$dir" "$dir" "$dir" "$dir" >overlay.json

try() { # words of the go command
  local said
  if said=$(go "$@" -overlay overlay.json -o "$dir/made.exe" ./made 2>&1); then
    echo "ok"
  else
    echo "${said%%$'\n'*}" | sed -E "s|[^ ]*/vet: chdir [^ ]*/made|…/vet: chdir …/made|"
  fi
}

said="build: $(try build)
test -c: $(try test -c)
test -c -vet=off: $(try test -c -vet=off)"
echo "$said"
[ "$said" = "build: ok
test -c: demo/made: …/vet: chdir …/made: no such file or directory
test -c -vet=off: ok" ] || { echo "this differs from what was seen" >&2; exit 1; }
