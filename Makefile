# Everything a developer does by command. "make" alone lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help build demo test unit race verify generate vendor-static screenshots pictures weigh setup image clean \
	bench bench-checker bench-checker-sqlite bench-outage bench-restore bench-throughput bench-burst bench-dead bench-overload bench-scale bench-batch bench-retention bench-reports bench-alarms bench-history

# Distributions hide servers from ordinary users.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
IMAGE ?= carillon:dev
# Everything but the tests that need a browser, npm packages or much time.
UNIT := $$(go list ./... | grep -v -e /e2e -e /bench$$)

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-14s %s\n", $$1, $$2}'

build: ## build the static binary dist/carillon
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o dist/carillon .

demo: ## run a center with sample executors and jobs on 127.0.0.1:8080
	go run . demo

setup: ## get what the tests need (MariaDB, Chromium, npm and Python packages into .tools)
	scripts/setup.sh

# The journeys run after the rest: they watch clocks and want the machine for themselves.
test: setup verify ## everything: setup, verify, all tests with MariaDB, browser and foreign executors
	@go build -o .tools/testsum ./scripts/testsum
	@{ rc=0; go test -json -count=1 $(UNIT) || rc=1; \
	   go test -json -count=1 -timeout=15m -parallel=3 ./e2e || rc=1; \
	   go test -json -count=1 -p=1 -timeout=15m ./e2e/crash ./e2e/interop ./bench || rc=1; \
	   exit $$rc; } | .tools/testsum

unit: ## the fast tests: everything but the journeys in e2e and bench (needs MariaDB)
	go test $(UNIT)

race: ## all tests with the race detector (needs a C compiler and make setup)
	go test -race -p=1 ./...

verify: ## generated files, gofmt, go vet, staticcheck, go mod tidy; changes nothing
	scripts/verify.sh

generate: ## generate Go from the templates
	go tool templ generate

vendor-static: ## fetch the third-party browser files again (needs npm)
	scripts/vendor-static.sh

screenshots: setup ## take the pictures in docs/images again
	mkdir -p docs/images
	CARILLON_SCREENSHOTS="$(CURDIR)/docs/images" go test -tags screenshots -count=1 -run '^Test(Screenshots|MailPictures)$$' ./e2e

# PICTURES is the folder, OF a pattern for the names: make pictures OF='^runs.*en.*390'
PICTURES ?= dist/pictures
pictures: setup ## every page, dialog and menu: two languages, light and dark, three widths (PICTURES=folder OF=pattern)
	CARILLON_PICTURES="$(abspath $(PICTURES))" CARILLON_PICTURES_OF='$(OF)' go test -tags screenshots -count=1 -v -timeout=60m -run '^TestPictures$$' ./e2e

weigh: setup ## bytes, requests, layout shift and server times of every page of the demo, as a table (six minutes)
	go test -tags screenshots -count=1 -v -timeout=20m -run '^TestWeigh$$' ./e2e

# The figures of docs/benchmarks.md; each takes minutes.
bench: bench-checker bench-checker-sqlite bench-outage bench-restore bench-throughput bench-burst bench-dead bench-overload bench-scale bench-batch bench-retention bench-reports bench-alarms bench-history ## all proofs and measurements

bench-checker: setup ## made exactly once? 10 minutes, 3 nodes on MariaDB, every fault that can be mixed
	go run ./bench --nodes 3 checker --duration 10m

bench-checker-sqlite: setup ## the same on SQLite, one node that is killed
	go run ./bench --engine sqlite checker --duration 10m --faults kill

bench-outage: setup ## thousands of jobs that waited for a month: do the others go on?
	go run ./bench --nodes 2 checker --jobs 60 --duration 2m --faults outage

bench-restore: setup ## the database goes back to a copy: is any success untrue?
	go run ./bench --nodes 2 checker --jobs 60 --duration 30s --faults restore

bench-throughput: setup ## highest sustained rate of completed runs
	go run ./bench throughput

bench-burst: setup ## many jobs due at one instant
	go run ./bench burst

bench-dead: setup ## jobs whose executor has no address beside living ones
	go run ./bench dead

bench-overload: setup ## a minute at 150 % of what the machine sustains, then 30 %
	go run ./bench overload

bench-scale: setup ## one scan beside up to a million stored jobs
	go run ./bench scale

bench-batch: setup ## ten thousand jobs stopped and started in the console while others run
	go run ./bench batch

bench-retention: setup ## a million old runs removed while 300 a second are made, in turn with none
	go run ./bench retention

bench-reports: setup ## reports of ten million runs of 5000 jobs in 90 days
	go test -run "^$$" -bench "^BenchmarkReport$$" -benchtime 20x -timeout 60m ./store

bench-alarms: setup ## an executor that goes away, a storm of failing runs: what is told, what it costs
	go run ./bench alarms

bench-history: setup ## the pages with ten million stored runs
	go run ./bench history

image: ## build the container image carillon:dev
	docker build -t $(IMAGE) .

clean: ## remove what was built and fetched
	rm -rf dist .tools
