// Package condition reads condition expressions of Sigma rules: names of
// detections joined by and, or, not and quantifiers.
package condition

import (
	"fmt"
	"strings"
)

// Op is the operator of an expression node.
type Op uint8

// The operators. Ident names one detection; Quant counts several.
const (
	Ident Op = iota
	And
	Or
	Not
	Quant
)

var opNames = [...]string{"ident", "and", "or", "not", "quant"}

// String returns the name of the operator.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// MarshalText prints the name of the operator.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (o *Op) UnmarshalText(b []byte) error {
	for i, n := range opNames {
		if n == string(b) {
			*o = Op(i)
			return nil
		}
	}
	return fmt.Errorf("unknown operator %q", b)
}

// QuantAll as Count of a Quant node asks for every covered detection.
const QuantAll = -1

// Them as Name of a Quant node covers every detection whose name does not begin
// with an underscore.
const Them = "them"

// Expr is a node of a condition. And and Or have two or more Args, Not has one.
// Ident has the detection's Name; Quant has Count (QuantAll, or at least 1) and
// as Name either Them or a pattern in which * stands for any run.
type Expr struct {
	Op    Op      `json:"op"`
	Args  []*Expr `json:"args,omitempty"`
	Name  string  `json:"name,omitempty"`
	Count int     `json:"count,omitempty"`
}

// Covers reports whether the target of a quantifier covers the detection name.
// Names that begin with two underscores are injected and never covered.
func Covers(target, name string) bool {
	if strings.HasPrefix(name, "__") {
		return false
	}
	if target == Them {
		return !strings.HasPrefix(name, "_")
	}
	return glob(target, name)
}

func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return true
}
