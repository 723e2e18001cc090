package command

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressIsShownOnlyDuringLongInputs(t *testing.T) {
	var errs bytes.Buffer
	out := &console{Streams: Streams{Err: &errs}}
	p := progress{on: true}
	begun := time.Unix(1000, 0)
	p.show(out, &tally{events: 1}, begun)
	p.show(out, &tally{events: 2}, begun.Add(progressDelay-1))
	if errs.Len() > 0 {
		t.Errorf("a short input shows %q", errs.String())
	}
	p.show(out, &tally{events: 3000, matches: 2}, begun.Add(2*time.Second))
	p.show(out, &tally{events: 3001}, begun.Add(2*time.Second+progressEvery-1))
	p.clear(out)
	if want := "\r3000 events, 2 matches, 1500 events/s\x1b[K\r\x1b[K"; errs.String() != want {
		t.Errorf("got %q, want %q", errs.String(), want)
	}
}

func TestProgressSaysHowMuchOfTheFilesHasBeenRead(t *testing.T) {
	read := int64(0)
	x := new(extent)
	x.add(3<<20, func() int64 { return read })
	x.add(1<<20, func() int64 { return 0 })
	for _, tc := range []struct {
		read int64
		want string
	}{{0, ", 0% of 4.0 MiB"}, {1 << 20, ", 25% of 4.0 MiB"}, {1 << 30, ", 100% of 4.0 MiB"}} {
		if read = tc.read; x.text() != tc.want {
			t.Errorf("after %d bytes: %q, want %q", tc.read, x.text(), tc.want)
		}
	}
	var errs bytes.Buffer
	p := progress{on: true, extent: x, begun: time.Unix(1000, 0)}
	p.show(&console{Streams: Streams{Err: &errs}}, &tally{events: 10}, time.Unix(1002, 0))
	if want := "\r10 events, 0 matches, 5 events/s, 100% of 4.0 MiB\x1b[K"; errs.String() != want {
		t.Errorf("got %q, want %q", errs.String(), want)
	}
	x.endless()
	if x.text() != "" || new(extent).text() != "" || (*extent)(nil).text() != "" {
		t.Error("a size is told that is not known")
	}
}

func TestSizesAreToldInAUnitThatFits(t *testing.T) {
	for n, want := range map[int64]string{7: "7 B", 2048: "2 KiB", 3 << 19: "1.5 MiB", 5 << 30: "5.0 GiB"} {
		if got := byteSize(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
