# `make` alone lists the targets.
GO      ?= go
BIN     := bin
DATA    ?= $(firstword $(wildcard $(SLUICE_DATA)) $(wildcard ../shared/data))
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -X github.com/sluicehq/sluice/cmd/sluice/command.Version=$(VERSION) -X github.com/sluicehq/sluice/cmd/sluice/command.Revision=$(REVISION)
# Of releases: one source makes one file, wherever it lies and whoever builds it.
PLATFORMS := linux-amd64 linux-arm64
STATIC    := $(BIN)/static
DIST      := dist
RELEASE   := -trimpath -buildvcs=false -ldflags '$(LDFLAGS) -s -w -buildid='
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.DEFAULT_GOAL := help
.PHONY: help build demo test race lint fuzz fuzz-decoders bench bench-corpus bench-formats bench-correlation bench-daemon bench-bodies bench-otlp bench-sinks bench-tls bench-sockets bench-inputs hostile kills outages scan docs tags check clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the binaries into bin/
	@mkdir -p $(BIN)
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/...

demo: build ## evaluate example rules on example events, once and as a service
	@sh examples/demo/run.sh $(BIN)

test: ## all tests, shuffled; needs only Go
	$(GO) test -shuffle=on -timeout 30m ./...
	$(GO) test -tags no_otlp ./actors/sink
	$(GO) test -tags no_nats,no_kafka ./internal/buildtags ./cmd/sluice/inputs
	cd otlp/collectortest && $(GO) test -shuffle=on ./...
	cd http/openapi/validatortest && $(GO) test -shuffle=on ./...
	cd graph/alert/alertmanagertest && $(GO) test -shuffle=on ./...
	cd graph/alert/bundle/markdowntest && $(GO) test -shuffle=on ./...

# By default a program that is watched sleeps for a second before it ends.
race: ## all tests under the race detector; needs a C compiler
	CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 $$GORACE" $(GO) test -race -shuffle=on -timeout 30m ./...

lint: ## static checks
	$(GO) vet ./...
	$(GO) vet -tags no_otlp ./...
	cd otlp/collectortest && $(GO) vet ./...
	cd http/openapi/validatortest && $(GO) vet ./...
	cd graph/alert/alertmanagertest && $(GO) vet ./...
	cd graph/alert/bundle/markdowntest && $(GO) vet ./...
	$(GO) run $(LINT) run ./...

fuzz: ## every fuzz target for ten seconds
	@sh .ci/fuzz 10s

fuzz-decoders: ## every decoder of what comes in, one million executions each
	@sh .ci/fuzz $(or $(TIMES),1000000x) decoders

bench: ## benchmarks of the hot path
	$(GO) test -run '^$$' -bench . -benchmem ./sigma/... ./actors/...

bench-corpus: build ## the engine on real rules and events, one core, against its bars
	$(BIN)/bench corpus -data '$(DATA)'
	SLUICE_DATA='$(abspath $(DATA))' $(GO) test -run '^$$' -bench OverReference -cpu 1 ./internal/reference

bench-formats: build ## lines of syslog, CEF and logfmt against json.Valid over their events, on one core, against its bar
	$(BIN)/bench formats -data '$(DATA)'

bench-correlation: build ## correlations by type and window, and a lane of six rules, against their bars
	$(BIN)/bench correlation -data '$(DATA)'

bench-daemon: build ## the whole daemon under load, against its bar
	$(BIN)/bench daemon -daemon $(BIN)/sluice -data '$(DATA)'

bench-bodies: build ## bodies that are arrays against bodies of lines, against their bar
	$(BIN)/bench bodies -daemon $(BIN)/sluice -data '$(DATA)'

bench-otlp: build ## log records over HTTP and gRPC against bodies of lines, against their bar
	$(BIN)/bench otlp -daemon $(BIN)/sluice -data '$(DATA)'

bench-sinks: build ## daemons with several sinks against one, and with sinks that send against one that writes, against their bars
	$(BIN)/bench sinks -daemon $(BIN)/sluice -data '$(DATA)'

bench-tls: build ## a daemon that speaks TLS against one in clear, against its bar
	$(BIN)/bench tls -daemon $(BIN)/sluice -data '$(DATA)'

bench-sockets: build ## events over unix sockets and as syslog against events in requests, against their bar
	$(BIN)/bench sockets -daemon $(BIN)/sluice -data '$(DATA)'

bench-inputs: build ## events that come over unix sockets, NATS and Kafka against events over HTTP, by the daemon's processor time, against their bar
	$(BIN)/bench inputs -daemon $(BIN)/sluice -data '$(DATA)'

kills: ## a hundred daemons and twenty servers of NATS, and as many of Kafka, killed at random moments: nothing is lost, nothing counts twice
	SLUICE_KILLS=$(or $(KILLS),100) $(GO) test ./cmd/sluice/acceptance -run TestNothingIsLostHowever -count=1 -v -timeout 60m

outages: ## ten minutes of messages from NATS and Kafka to a sink that is down half of the time
	SLUICE_DOWN=$(or $(SPAN),10m) $(GO) test ./cmd/sluice/acceptance -run TestNothingIsLostAtASinkThatIsDownHalfOfTheTime -count=1 -v -timeout 30m

hostile: ## ten minutes of ordinary events among those that mean harm, with 512 MiB of memory
	SLUICE_HOSTILE=$(or $(SPAN),10m) $(GO) test ./cmd/sluice/acceptance -run TestOrdinaryEventsDoNotNoticeHostileOnes -count=1 -v -timeout 30m

scan: build ## 20,000 requests of Schemathesis to a daemon, every answer compared with the OpenAPI document
	@sh .ci/scan $(BIN)/sluice $(or $(REQUESTS),20000) $(or $(SEED),1)

docs: ## rewrite the generated parts of the reference pages
	$(GO) test ./cmd/sluice/acceptance -run TestReferencePagesAreFresh -count=1 -update
	cd graph/alert/alertmanagertest && $(GO) test -run TestBesideAlertmanager -count=1 -update .

tags: ## build and vet every combination of the tags that leave features out
	@sh .ci/tags

check: test lint tags race fuzz ## what a merge needs

.PHONY: static dist always
static: $(PLATFORMS:%=$(STATIC)/%/sluice) ## static programs for linux into bin/static/, one directory per platform

# Always built: go knows what has changed.
$(STATIC)/linux-%/sluice: always
	CGO_ENABLED=0 GOOS=linux GOARCH=$* $(GO) build $(RELEASE) -o $@ ./cmd/sluice

$(STATIC)/host/sluice: always
	CGO_ENABLED=0 $(GO) build $(RELEASE) -o $@ ./cmd/sluice

dist: static $(STATIC)/host/sluice ## archives of releases with checksums into dist/
	@sh .ci/dist '$(STATIC)' '$(DIST)' '$(VERSION)' $(PLATFORMS)

always:

clean: ## remove what was built
	rm -rf $(BIN) $(DIST)
