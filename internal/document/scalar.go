package document

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// resolve types a plain scalar by the YAML 1.2 core schema, except that digits
// with a leading zero stay text.
func resolve(s string) (Kind, string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null, ""
	case "true", "True", "TRUE":
		return Bool, "true"
	case "false", "False", "FALSE":
		return Bool, "false"
	}
	if c := s[0]; (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
		return String, s // the fast path: almost every scalar
	}
	if kind, text, ok := number(s); ok {
		return kind, text
	}
	return String, s
}

func number(s string) (Kind, string, bool) {
	if rest, ok := strings.CutPrefix(s, "0x"); ok {
		return radix(rest, 16)
	}
	if rest, ok := strings.CutPrefix(s, "0o"); ok {
		return radix(rest, 8)
	}
	sign, body := "", s
	if body[0] == '+' || body[0] == '-' {
		sign, body = strings.TrimPrefix(body[:1], "+"), body[1:]
	}
	switch body {
	case ".inf", ".Inf", ".INF":
		return NonFinite, s, true
	case ".nan", ".NaN", ".NAN":
		return NonFinite, s, body == s
	}
	digits := countDigits(body)
	if digits == len(body) && digits > 0 {
		if body[0] == '0' && digits > 1 {
			return String, "", false
		}
		if body == "0" {
			sign = ""
		}
		return Int, sign + body, true
	}
	if !isFloat(body) {
		return String, "", false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return NonFinite, s, true
	}
	if f == 0 {
		return Float, "0", true
	}
	return Float, strconv.FormatFloat(f, 'f', -1, 64), true
}

func radix(digits string, base int) (Kind, string, bool) {
	n, ok := new(big.Int), digits != ""
	for i := range len(digits) {
		c := digits[i] | 0x20
		ok = ok && ('0' <= c && c < '0'+byte(min(base, 10)) || base == 16 && 'a' <= c && c <= 'f')
	}
	if !ok {
		return String, "", false
	}
	if _, ok = n.SetString(digits, base); !ok {
		return String, "", false
	}
	return Int, n.String(), true
}

// isFloat accepts digits with a fraction, an exponent or both.
func isFloat(s string) bool {
	whole := countDigits(s)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = countDigits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && countDigits(s) == len(s)
}

func countDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
