package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a writer that waits until it is opened.
type gate struct {
	bytes.Buffer
	open chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(b)
}

func TestAWriterThatTakesNothingCostsRecordsAndNotTime(t *testing.T) {
	for _, tc := range []struct {
		name    string
		format  Format
		records int
		size    int
		kept    int
	}{
		{"what fits is kept", JSON, 5000, 10, 5000},
		{"there is a bound in records", JSON, 100_000, 10, queueRecords},
		{"and one in bytes", JSON, 100, 1 << 20, 3},
		{"a record that is larger than all is kept while it is alone", JSON, 3, 5 << 20, 1},
		{"in text, too", Text, 10_000, 10, queueRecords},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &gate{open: make(chan struct{})}
				log, q := NewQueued(w, tc.format, NewLevel(DefaultFilter(), OriginDefault))
				text, begin := strings.Repeat("x", tc.size), time.Now()
				for range tc.records {
					log.Info(text)
				}
				if took := time.Since(begin); took != 0 {
					t.Errorf("logging took %s", took)
				}
				if q.bytes > queueBytes && len(q.records) > 1 {
					t.Errorf("%d bytes wait", q.bytes)
				}
				close(w.open)
				synctest.Wait()
				log.Info("afterwards")
				q.Close(time.Second)
				lines := strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
				lost := tc.records - tc.kept
				want := tc.kept + 1
				if lost > 0 {
					want++
				}
				if len(lines) != want {
					t.Fatalf("%d lines, want %d", len(lines), want)
				}
				if lost == 0 {
					return
				}
				report := ""
				for i, line := range lines {
					if strings.Contains(line, "log records lost") {
						report = lines[i]
					}
				}
				count := fmt.Sprintf(`"records":%d}`, lost)
				if tc.format == Text {
					count = fmt.Sprintf(" records=%d", lost)
				}
				if !strings.Contains(report, count) || tc.format == JSON && !json.Valid([]byte(report)) {
					t.Errorf("got %q, want it to say that %d records were lost", report, lost)
				}
			})
		})
	}
}

func TestTheEndDoesNotWaitForAStuckWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &gate{open: make(chan struct{})}
		log, q := NewQueued(w, JSON, NewLevel(DefaultFilter(), OriginDefault))
		log.Info("x")
		begin := time.Now()
		q.Close(time.Second)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %s, want the second it was given", took)
		}
		log.Info("too late")
		close(w.open)
		synctest.Wait()
		if got := strings.Count(w.String(), "\n"); got != 1 {
			t.Errorf("%d lines, want the one before the end", got)
		}
	})
}

func TestAPatientWriterWaitsForRoomButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &gate{open: make(chan struct{})}
		_, q := NewQueued(w, JSON, NewLevel(DefaultFilter(), OriginDefault))
		p, begin := q.Patient(), time.Now()
		problem := []byte("sluice: a problem\n")
		for range queueRecords + 3 {
			_, _ = p.Write(problem)
		}
		if took := time.Since(begin); took != patience {
			t.Errorf("it waited for %s in all, want %s", took, patience)
		}
		close(w.open)
		synctest.Wait()
		p = q.Patient()
		for range 3 * queueRecords {
			_, _ = p.Write(problem)
		}
		q.Close(time.Second)
		if got := strings.Count(w.String(), string(problem)); got != 4*queueRecords {
			t.Errorf("%d lines, want %d", got, 4*queueRecords)
		}
	})
}

// A real pipe holds 64 KiB, and then a write waits for its reader.
func TestAPipeThatNobodyReadsHoldsNobodyUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log, q := NewQueued(w, JSON, NewLevel(DefaultFilter(), OriginDefault))
	for i := range 50_000 {
		log.Info("x", "n", i)
	}
	read := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		read <- string(all)
	}()
	q.Close(time.Minute)
	w.Close()
	var records, lost int
	for line := range strings.Lines(<-read) {
		var entry struct{ Fields struct{ Records int } }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if entry.Fields.Records > 0 {
			lost += entry.Fields.Records
		} else {
			records++
		}
	}
	if records+lost != 50_000 || records < queueRecords {
		t.Errorf("%d records and %d lost, want all of 50000 accounted for", records, lost)
	}
}
