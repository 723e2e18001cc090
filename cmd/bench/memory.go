package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// usage is what a process that loads the rules and judges the lanes takes.
type usage struct {
	Rules                       int
	Parse, Compile              time.Duration
	LoadedMB, SettledMB, PeakMB float64
}

// childUsage measures in a process of its own, so that nothing but the rules
// and the engine is in its memory.
func childUsage(data string) (usage, error) {
	var u usage
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return u, err
	}
	defer os.RemoveAll(dir)
	if err := unpack(data, dir); err != nil {
		return u, err
	}
	self, err := os.Executable()
	if err != nil {
		return u, err
	}
	cmd := exec.Command(self, "corpus", "-memory", "-data", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return u, fmt.Errorf("measure memory: %w", err)
	}
	return u, json.Unmarshal(out, &u)
}

// unpack writes rules and lanes as plain files.
func unpack(data, dir string) error {
	archive, err := sigmatest.ReadRuleArchive(data)
	if err != nil {
		return err
	}
	rules, err := fs.Sub(archive, "rules")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "rules"), rules); err != nil {
		return err
	}
	for _, lane := range sigmatest.Lanes() {
		lines, err := sigmatest.ReadLane(data, lane)
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, lane))
		if err != nil {
			return err
		}
		for _, line := range lines {
			if _, err := f.Write(append(line[:len(line):len(line)], '\n')); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// printUsage is the child: dir is what unpack wrote.
func printUsage(dir string) error {
	var u usage
	start := sigmatest.ProcessorTime()
	c, err := load.Load(context.Background(), []string{filepath.Join(dir, "rules")}, load.Options{})
	if err != nil {
		return err
	}
	u.Rules, u.Parse = len(c.Rules), sigmatest.ProcessorTime()-start
	start = sigmatest.ProcessorTime()
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		return err
	}
	u.Compile = sigmatest.ProcessorTime() - start
	u.LoadedMB = resident("VmRSS") / (1 << 20)
	debug.FreeOSMemory()
	u.SettledMB = resident("VmRSS") / (1 << 20)
	j := &judge{worker: set.NewWorker(), events: new(engine.Events), batch: new(result.Batch)}
	for _, lane := range sigmatest.Lanes() {
		if err := judgeFile(j, filepath.Join(dir, lane)); err != nil {
			return err
		}
	}
	u.PeakMB = resident("VmHWM") / (1 << 20)
	return json.NewEncoder(os.Stdout).Encode(u)
}
