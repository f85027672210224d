# Sandgate. `make run` starts the gateway, `make test` proves it, `make help` lists the rest.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

# Arguments of the gateway, or of the benchmark: make run ARGS="--listen 127.0.0.1:9000"
ARGS ?=

# What `gateway version` says. It is asked for when the gateway is built, not before.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# All that can end up in our own programs, embedded files included. Folders are
# in the list as well: their times tell of files that came or went.
SOURCES := go.mod go.sum $(shell find cmd handlers internal sandboxclient \
	\( -name testdata -o -name __pycache__ -o -path internal/webui/dist \) -prune -o -type d -print -o -type f ! -name '*_test.go' -print)

# All that the pages are built from.
PAGES := $(shell find web \( -name node_modules -o -name test-results \) -prune -o -type f -print)

RUN_PROGRAMS := bin/gateway bin/sandboxd bin/runsc
PROGRAMS     := $(RUN_PROGRAMS) bin/runc

STATIC   := CGO_ENABLED=0 tools/build.sh
STRIPPED := -ldflags "-s -w"

.PHONY: run build test soak lint bench clean help setup-run setup-test setup-lint

run: setup-run $(RUN_PROGRAMS) ## install and build what is missing, then serve on 127.0.0.1:8787
	@exec bin/gateway $(ARGS)

build: $(PROGRAMS) ## fill bin/ with gateway, sandboxd, runsc and runc

test: setup-test $(PROGRAMS) bin/versitygw ## every test under the race detector, and some seconds of fuzzing
	@tools/test.sh

soak: setup-test $(PROGRAMS) ## 3,000 runs, 500 notebooks asleep, 200 sleeps of one (some hours)
	@SOAK_RUNS=3000 CGO_ENABLED=0 go test -buildvcs=false -count=1 -timeout 6h -v -run 'TestSoak|TestSleep' ./internal/e2e

lint: setup-lint bin/golangci-lint ## linters, formatting, tidy modules, scripts and embedded programs
	@tools/lint.sh

bench: setup-test $(PROGRAMS) ## measure, as ratios to a bare python3 in the same run
	@CGO_ENABLED=0 go run -buildvcs=false ./bench $(ARGS)

clean: ## remove bin/
	rm -rf bin

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /make \1 - /p' Makefile

setup-run setup-test setup-lint: setup-%:
	@tools/setup.sh $*

bin/gateway: $(SOURCES) internal/webui/dist/index.html
	@$(STATIC) gateway . ./cmd/gateway -ldflags "-s -w -X main.version=$(VERSION)"

internal/webui/dist/index.html: $(PAGES)
	@tools/pages.sh

bin/sandboxd: $(SOURCES)
	@$(STATIC) sandboxd . ./cmd/sandboxd $(STRIPPED)

# runsc compares its version before it restores a checkpoint.
RUNSC_VERSION = $(shell sed -n 's/^require gvisor.dev.gvisor \([^ ]*\).*/\1/p' tools/runsc/go.mod)+mended
bin/runsc: tools/runsc/go.mod tools/runsc/go.sum tools/runsc/filters/main.go tools/runsc.sh
	@echo "building runsc the first time takes about two minutes"
	@CGO_ENABLED=0 tools/runsc.sh $(RUNSC_VERSION)

bin/runc: tools/runc/go.mod tools/runc/go.sum
	@tools/setup.sh runc
	@CGO_ENABLED=1 tools/build.sh runc tools/runc github.com/opencontainers/runc -tags seccomp $(STRIPPED)

# An S3 server, for tests alone.
bin/versitygw: tools/versitygw/go.mod tools/versitygw/go.sum
	@$(STATIC) versitygw tools/versitygw github.com/versity/versitygw/cmd/versitygw $(STRIPPED)

bin/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@echo "building the linters the first time takes about two minutes"
	@$(STATIC) golangci-lint tools/lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $(STRIPPED)
