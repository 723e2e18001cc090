package compile

import (
	"sync"

	"github.com/sluicehq/sluice/sigma/engine/internal/lazydfa"
)

// Expression is a regular expression.
type Expression struct {
	Number int // among all of the plan

	// Program is the compiled expression. It is made when it is first asked for: most
	// belong to rules that are seldom candidates.
	Program func() *lazydfa.Program
}

// nothing is matched by no text. It stands for expressions that are not sound,
// which the loader lets nobody have.
const nothing = `\z\A.`

func newExpression(number int, source string) *Expression {
	return &Expression{number, sync.OnceValue(func() *lazydfa.Program {
		p, err := lazydfa.Compile(source)
		if err != nil {
			p, _ = lazydfa.Compile(nothing)
		}
		return p
	})}
}
