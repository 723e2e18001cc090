package compile

import (
	"regexp"
	"sync"

	"github.com/sluicehq/sluice/sigma/engine/internal/lazydfa"
)

// Expression is a regular expression. Its forms are made when they are first
// asked for: most belong to rules that are seldom candidates.
type Expression struct {
	Number int // among all of the plan

	source  string
	regexp  lazy[*regexp.Regexp]
	program lazy[*lazydfa.Program]
}

// lazy is a value that is made once, by whoever needs it first.
type lazy[T any] struct {
	once sync.Once
	made T
}

func (l *lazy[T]) get(make func() T) T {
	l.once.Do(func() { l.made = make() })
	return l.made
}

// nothing is matched by no text. It stands for expressions that are not sound,
// which the loader lets nobody have.
const nothing = `\z\A.`

// Regexp returns the form that evaluates any text.
func (e *Expression) Regexp() *regexp.Regexp {
	return e.regexp.get(func() *regexp.Regexp {
		re, err := regexp.Compile(e.source)
		if err != nil {
			re = regexp.MustCompile(nothing)
		}
		return re
	})
}

// Program returns the form that evaluates ASCII texts faster.
func (e *Expression) Program() *lazydfa.Program {
	return e.program.get(func() *lazydfa.Program {
		p, err := lazydfa.Compile(e.source)
		if err != nil {
			p, _ = lazydfa.Compile(nothing)
		}
		return p
	})
}
