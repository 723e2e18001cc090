package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluicehq/sluice/"

// A place is where a package stands. Imports go to lower layers, or stay within
// the unit: the tree of packages that make one thing, such as a stage.
type place struct {
	layer int
	unit  string
	test  bool // serves tests only: it imports what it likes, and only tests import it
}

// layout lists every package. A new one fails the test until somebody has
// written down where it belongs.
var layout = map[string]place{
	"sigma":                              {1, "sigma", false},
	"sigma/ast":                          {1, "sigma", false},
	"sigma/condition":                    {1, "sigma", false},
	"sigma/correlation":                  {1, "sigma", false},
	"sigma/engine":                       {1, "sigma", false},
	"sigma/event":                        {1, "sigma", false},
	"sigma/load":                         {1, "sigma", false},
	"sigma/load/internal/check":          {1, "sigma", false},
	"internal/await":                     {0, "internal/await", false},
	"internal/parallel":                  {0, "internal/parallel", false},
	"internal/plural":                    {0, "internal/plural", false},
	"sigma/packed":                       {1, "sigma", false},
	"sigma/pipeline":                     {1, "sigma", false},
	"sigma/result":                       {1, "sigma", false},
	"sigma/timespan":                     {1, "sigma", false},
	"state":                              {1, "state", false},
	"graph":                              {2, "graph", false},
	"graph/leaktest":                     {2, "graph", true},
	"graph/step":                         {2, "graph", false},
	"graph/catalog":                      {2, "graph", false},
	"graph/alert/bundle":                 {2, "graph", false},
	"graph/alert/bundle/markdowntest":    {2, "graph", true}, // a module of its own
	"graph/ocsf":                         {2, "graph", false},
	"graph/step/steptest":                {2, "graph", true},
	"internal/ratelog":                   {0, "internal/ratelog", false},
	"internal/certs":                     {0, "internal/certs", false},
	"internal/certs/certstest":           {0, "internal/certs", true},
	"internal/redact":                    {0, "internal/redact", false},
	"internal/kafkaconn":                 {1, "internal/kafkaconn", false},
	"internal/kafkaconn/dial":            {1, "internal/kafkaconn", false},
	"internal/kafkaconn/kafkatest":       {1, "internal/kafkaconn", true},
	"sources/kafka":                      {5, "sources", false},
	"actors/sink/kafka":                  {5, "actors/sink", false},
	"internal/natsconn":                  {1, "internal/natsconn", false},
	"internal/natsconn/dial":             {1, "internal/natsconn", false},
	"internal/natsconn/natstest":         {1, "internal/natsconn", true},
	"actors/mailbox":                     {3, "actors/mailbox", false},
	"actors":                             {4, "actors", false},
	"actors/actorstest":                  {4, "actors", true},
	"actors/parse":                       {5, "actors/parse", false},
	"actors/observe":                     {5, "actors/observe", false},
	"actors/evaluate":                    {5, "actors/evaluate", false},
	"actors/correlate":                   {5, "actors/correlate", false},
	"actors/enrich":                      {5, "actors/enrich", false},
	"actors/risk":                        {5, "actors/risk", false},
	"actors/alert":                       {5, "actors/alert", false},
	"actors/dispatch":                    {5, "actors/dispatch", false},
	"actors/reload":                      {5, "actors/reload", false},
	"actors/sources":                     {5, "actors/sources", false},
	"internal/watch":                     {0, "internal/watch", false},
	"actors/sink":                        {5, "actors/sink", false},
	"actors/sink/file":                   {5, "actors/sink", false},
	"actors/sink/nats":                   {5, "actors/sink", false},
	"actors/sink/stdout":                 {5, "actors/sink", false},
	"actors/sink/unix":                   {5, "actors/sink", false},
	"actors/sink/sinktest":               {5, "actors/sink", true},
	"actors/sink/otlp":                   {5, "actors/sink", false},
	"otlp":                               {4, "otlp", false},
	"otlp/export":                        {4, "otlp", false},
	"otlp/ingest":                        {6, "otlp", false},
	"otlp/otlptest":                      {4, "otlp", true},
	"actors/sink/webhook":                {5, "actors/sink", false},
	"internal/strict":                    {1, "internal/strict", false},
	"otlp/collectortest":                 {5, "otlp", true}, // a module of its own
	"actors/dataflow":                    {6, "actors/dataflow", false},
	"sources":                            {5, "sources", false},
	"sources/fetch":                      {4, "sources/fetch", false},
	"sources/ndjson":                     {5, "sources", false},
	"sources/frame":                      {5, "sources", false},
	"sources/jetstream":                  {5, "sources", false},
	"sources/stdin":                      {5, "sources", false},
	"sources/accept":                     {5, "sources", false},
	"sources/syslog":                     {5, "sources", false},
	"sources/unix":                       {5, "sources", false},
	"sources/evtx":                       {5, "sources", false},
	"sources/evtx/evtxtest":              {5, "sources", true},
	"sources/sourcetest":                 {5, "sources", true},
	"http/auth":                          {7, "http/auth", false},
	"http/reply":                         {0, "http/reply", false},
	"http/server":                        {7, "http/server", false},
	"http/api":                           {7, "http/api", false},
	"http/audit":                         {6, "http/audit", false}, // its records are what a route of the API shows
	"http/openapi":                       {1, "http/openapi", false},
	"http/openapi/openapitest":           {1, "http/openapi", true},
	"http/openapi/validatortest":         {8, "http/openapi", true}, // a module of its own
	"cmd/bench":                          {8, "cmd/bench", true},
	"cmd/sluice":                         {8, "cmd/sluice", false},
	"cmd/sluice/acceptance":              {8, "cmd/sluice", true},
	"cmd/sluice/client":                  {8, "cmd/sluice", false},
	"cmd/sluice/trialcert":               {8, "cmd/sluice", false},
	"cmd/sluice/command":                 {8, "cmd/sluice", false},
	"cmd/sluice/config":                  {8, "cmd/sluice", false},
	"cmd/sluice/daemon":                  {8, "cmd/sluice", false},
	"cmd/sluice/dynamic":                 {8, "cmd/sluice", false},
	"cmd/sluice/deadletters":             {8, "cmd/sluice", false},
	"cmd/sluice/silences":                {8, "cmd/sluice", false},
	"cmd/sluice/inputs":                  {8, "cmd/sluice", false},
	"cmd/sluice/logging":                 {8, "cmd/sluice", false},
	"cmd/sluice/migrate":                 {8, "cmd/sluice", false},
	"cmd/sluice/rulecache":               {8, "cmd/sluice", false},
	"cmd/sluice/ruleset":                 {8, "cmd/sluice", false},
	"cmd/sluice/shell":                   {8, "cmd/sluice", false},
	"cmd/sluice/terminal":                {8, "cmd/sluice", false},
	"sigma/correlation/internal/age":     {1, "sigma", false},
	"sigma/correlation/internal/exact":   {1, "sigma", false},
	"sigma/correlation/internal/match":   {1, "sigma", false},
	"sigma/correlation/internal/program": {1, "sigma", false},
	"sigma/correlation/internal/rank":    {1, "sigma", false},
	"sigma/correlation/internal/wheel":   {1, "sigma", false},
	"sigma/correlation/internal/window":  {1, "sigma", false},
	"sigma/engine/internal/compile":      {1, "sigma", false},
	"sigma/engine/internal/lazydfa":      {1, "sigma", false},
	"sigma/engine/internal/literal":      {1, "sigma", false},
	"sigma/engine/internal/scan":         {1, "sigma", false},
	"sigma/engine/internal/textset":      {1, "sigma", false},
	"internal/command":                   {1, "internal/command", false},
	"internal/document":                  {0, "internal/document", false},
	"internal/reference":                 {1, "sigma", true},
	"internal/childtest":                 {0, "internal/childtest", true},
	"internal/filetest":                  {0, "internal/filetest", true},
	"internal/logtest":                   {0, "internal/logtest", true},
	"internal/sigmatest":                 {1, "sigma", true},
	"internal/modetest":                  {1, "sigma", true},
	"graph/format":                       {2, "graph", false},
	"graph/filter":                       {2, "graph", false},
	"graph/extract":                      {2, "graph", false},
	"graph/extract/tree":                 {2, "graph", false},
	"graph/extract/jq":                   {2, "graph", false},
	"graph/extract/jsonpath":             {2, "graph", false},
	"graph/extract/cel":                  {2, "graph", false},
	"internal/unavailable":               {3, "internal/unavailable", false},
	"internal/suggest":                   {0, "internal/suggest", false},
	"internal/buildtags":                 {0, "internal/buildtags", false},
	"internal/disk":                      {0, "internal/disk", false},
	"internal/socketfile":                {0, "internal/socketfile", false},
	"internal/clip":                      {0, "internal/clip", false},
	"internal/terminaltest":              {0, "internal/terminaltest", true},
	"cmd/sluice/checks":                  {8, "cmd/sluice", false},
	"internal/egress":                    {1, "internal/egress", false},
	"internal/response":                  {0, "internal/response", false},
	"internal/signing":                   {1, "internal/signing", false},
	"internal/template":                  {2, "internal/template", false},
	"graph/scope":                        {2, "graph", false},
	"graph/alert":                        {2, "graph", false},
	"graph/alert/alertmanagertest":       {2, "graph", true}, // a module of its own
	"graph/alert/dedup":                  {2, "graph", false},
	"graph/alert/due":                    {2, "graph", false},
	"graph/alert/incident":               {2, "graph", false},
	"graph/alert/inhibit":                {2, "graph", false},
	"graph/alert/sample":                 {2, "graph", false},
	"graph/alert/silence":                {2, "graph", false},
	"graph/selector":                     {2, "graph", false},
	"graph/native":                       {2, "graph", false},
	"graph/binding":                      {3, "graph/binding", false},
}

// rooms orders the library: a package of a room imports rooms above its own line in
// this list, and what is internal to its own room. The first rooms import none.
var rooms = [][]string{
	{"sigma/condition", "sigma/event", "sigma/packed", "sigma/timespan"},
	{"sigma/ast"},
	{"sigma/load", "sigma/result"},
	{"sigma/engine", "sigma/pipeline"},
	{"sigma/correlation"},
	{"sigma"}, // the front door
}

// roomOf returns the room of a package of the library and its line in rooms, the
// room with the longest name that is a parent of the package.
func roomOf(pkg string) (room string, line int) {
	for i, names := range rooms {
		for _, name := range names {
			inside := pkg == name || name != "sigma" && strings.HasPrefix(pkg, name+"/")
			if inside && len(name) > len(room) {
				room, line = name, i
			}
		}
	}
	return room, line
}

// aloof packages import nothing of ours outside their unit but layer 0, which is
// for small things that need nothing and that everybody may need.
var aloof = []string{"http/auth", "http/server", "state", "actors/mailbox"}

// keepers name the only files that may import a third-party library, as
// patterns of path.Match.
var keepers = map[string][]string{
	"github.com/asynkron/protoactor-go": {
		"actors/*.go", "actors/mailbox/*.go", "actors/*/actor.go", "actors/*/client.go", "cmd/sluice/daemon/*.go",
		"actors/*/stage.go", "actors/dataflow/*.go", "actors/sink/dlq.go", "actors/sink/sink.go", // they make the actor a supervisor restarts
	},
	"github.com/dgraph-io/badger": {"state/*.go"},
	"github.com/klauspost":        {"state/*.go"},
	"github.com/urfave/cli":       {"cmd/sluice/command/*.go", "cmd/sluice/shell/*.go"},
	"google.golang.org/grpc":      {"otlp/*.go", "otlp/*/*.go", "http/server/*.go", "http/auth/call.go"},
	"github.com/nats-io":          {"sources/jetstream/*.go", "internal/natsconn/dial/*.go", "actors/sink/nats/*.go", "sources/fetch/nats.go"},
	"github.com/twmb/franz-go":    {"sources/kafka/*.go", "internal/kafkaconn/dial/*.go", "actors/sink/kafka/*.go"},
	"github.com/gorilla/mux":      {"http/api/*.go"},
	"github.com/fsnotify":         {"internal/watch/*.go"},
	"github.com/itchyny":          {"graph/extract/jq/*.go"},
	"cel.dev/cel-go":              {"graph/extract/cel/*.go"},
	"github.com/theory":           {"graph/extract/jsonpath/*.go"},
	"golang.org/x/net":            {"internal/egress/*.go", "internal/signing/*.go", "actors/sink/webhook/*.go", "sources/fetch/*.go"},
	"golang.org/x/time":           {"actors/sink/webhook/*.go"},
}

// imports of one file.
type source struct {
	file    string // slash path below the module
	pkg     string
	test    bool
	imports []string
}

func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	var out []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s := source{file: filepath.ToSlash(rel), test: strings.HasSuffix(name, "_test.go")}
		s.pkg = path.Dir(s.file)
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPackagesStandInTheirLayer(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range sources(t) {
		from, listed := layout[s.pkg]
		if !listed && !seen[s.pkg] {
			t.Errorf("package %s is not in the layout: write down its layer", s.pkg)
		}
		seen[s.pkg] = true
		for _, imported := range s.imports {
			name, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			to, known := layout[name]
			switch {
			case !known || !listed:
			case to.test && !s.test && !from.test:
				t.Errorf("%s imports %s, which serves tests", s.file, name)
			case s.test || from.test:
			case to.unit == from.unit && from.unit == "sigma":
				fromRoom, fromLine := roomOf(s.pkg)
				toRoom, toLine := roomOf(name)
				if fromRoom == "" || toRoom == "" || fromRoom != toRoom && toLine >= fromLine {
					t.Errorf("%s (room %q) imports %s (room %q), which is no lower room", s.file, fromRoom, name, toRoom)
				}
			case to.unit == from.unit:
			case slices.Contains(aloof, from.unit) && to.layer > 0:
				t.Errorf("%s imports %s, but %s imports nothing of ours above layer 0", s.file, name, from.unit)
			case to.layer >= from.layer:
				t.Errorf("%s (layer %d) imports %s (layer %d)", s.file, from.layer, name, to.layer)
			}
		}
	}
	for _, name := range slices.Concat(rooms...) {
		if !seen[name] {
			t.Errorf("the rooms list %s, which does not exist", name)
		}
	}
	for name := range layout {
		if !seen[name] {
			t.Errorf("the layout lists %s, which does not exist", name)
		}
	}
}

func TestThirdPartyLibrariesStayWithTheirKeepers(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || layout[s.pkg].test {
			continue
		}
		for _, imported := range s.imports {
			for library, patterns := range keepers {
				if !strings.HasPrefix(imported, library) {
					continue
				}
				kept := slices.ContainsFunc(patterns, func(p string) bool {
					ok, err := path.Match(p, s.file)
					return err == nil && ok
				})
				if !kept {
					t.Errorf("%s imports %s, which belongs to %s", s.file, imported, strings.Join(patterns, ", "))
				}
			}
		}
	}
}
