package graph

import (
	"strconv"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestAListStaysWhatItIsUntilItHasEnded(t *testing.T) {
	var from ResultArenas
	var batch result.Batch
	add := func(p *ResultArena, title string) *ResultSet {
		p.Begin()
		p.Add(Result{Detection: batch.Add(result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: title}}))})
		return p.List(Token{})
	}
	type held struct {
		list *ResultSet
		want string
	}
	var kept []held
	for n := range 200 {
		lists := 1 + n*7%300
		p := from.Get(lists, lists)
		var ended Releaser
		for i := range lists {
			want := strconv.Itoa(n) + "/" + strconv.Itoa(i)
			list := add(p, want)
			if i == 0 && n%5 == 0 {
				kept = append(kept, held{list, want})
				continue
			}
			ended.List(list)
		}
		ended.Flush()
		p.Leave()
		for _, h := range kept {
			if got := h.list.Results[0].Detection.Rule.Title; got != h.want || len(h.list.Results) != 1 {
				t.Fatalf("a list that waits has the %d results of %q, want %q", len(h.list.Results), got, h.want)
			}
		}
		if n%50 == 0 {
			for _, h := range kept {
				ended.List(h.list)
			}
			ended.Flush()
			kept = nil
		}
	}
}

func TestResultsThatNoListWasMadeOfAreForgotten(t *testing.T) {
	var from ResultArenas
	p := from.Get(0, 0)
	p.Begin()
	p.Add(Result{Enrichments: []byte("left behind")})
	p.Begin()
	p.Add(Result{Enrichments: []byte("own")})
	if l := p.List(Token{}); len(l.Results) != 1 || string(l.Results[0].Enrichments) != "own" {
		t.Errorf("the list has %d results, the first of them %s, want its own only", len(l.Results), l.Results[0].Enrichments)
	}
}

func TestAListOfNobodysMemoryEnds(*testing.T) {
	var ended Releaser
	ended.List(&ResultSet{})
	ended.Flush()
}

// The race detector is what fails this test.
func TestListsAreChangedElsewhereWhileOthersAreAdded(t *testing.T) {
	const lists = 4 * arenaSets
	var from ResultArenas
	p := from.Get(arenaLeast, arenaLeast)
	made := make(chan *ResultSet, lists)
	done := make(chan int)
	go func() {
		changed := 0
		for l := range made {
			l.Results[0].Enrichments, l.Results[1].Enrichments = []byte("one"), []byte("two")
			l.Token = Token{}
			changed++
		}
		done <- changed
	}()
	for range lists {
		p.Begin()
		p.Add(Result{})
		p.Add(Result{})
		made <- p.List(Token{})
	}
	close(made)
	if got := <-done; got != lists {
		t.Errorf("%d lists were changed, want %d", got, lists)
	}
}
