#!/usr/bin/env bash
# Checks the source without running it: generated files are what the templates
# say, formatting, vet, staticcheck, and a tidy go.mod. It changes nothing.
#
# Usage: scripts/verify.sh
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
step() { # step NAME COMMAND...: run, and go on after a failure
	local name=$1
	shift
	if "$@"; then echo "verify: $name ok"; else echo "verify: $name FAILED" >&2 && failed=1; fi
}

# Templates are generated into a copy, so that neither a dirty tree nor a
# missing git matters and nothing here is overwritten.
generated() {
	local copy status=0 file
	copy=$(mktemp -d)
	find . -name '*.templ' -not -path './.*/*' | tar cf - -T - | tar xf - -C "$copy"
	go tool templ generate -path "$copy" >"$copy/out" 2>&1 || { cat "$copy/out" && status=1; }
	for file in $(cd "$copy" && find . -name '*_templ.go'); do
		if ! diff -u "$file" "$copy/$file"; then status=1; fi
	done
	for file in $(find . -name '*_templ.go' -not -path './.*/*'); do
		if [ ! -f "$copy/$file" ]; then echo "$file has no template" && status=1; fi
	done
	rm -rf "$copy"
	if [ $status -ne 0 ]; then echo 'run "make generate" and commit the result'; fi
	return $status
}

formatted() {
	local list
	list=$(find . -name '*.go' -not -path './.*/*' -exec gofmt -l {} +)
	if [ -n "$list" ]; then echo "not formatted by gofmt:" && echo "$list" && return 1; fi
}

step "templ generate" generated
step gofmt formatted
step "go vet" go vet -tags screenshots ./...
step staticcheck go tool staticcheck ./...
step "go mod tidy" go mod tidy -diff
exit $failed
