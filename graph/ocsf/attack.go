package ocsf

import (
	"strings"
)

// tactic is a tactic of MITRE ATT&CK.
type tactic struct{ tag, name, uid string }

// tactics are those that tags of rules name.
var tactics = []tactic{
	{"reconnaissance", "Reconnaissance", "TA0043"},
	{"resource-development", "Resource Development", "TA0042"},
	{"initial-access", "Initial Access", "TA0001"},
	{"execution", "Execution", "TA0002"},
	{"persistence", "Persistence", "TA0003"},
	{"privilege-escalation", "Privilege Escalation", "TA0004"},
	{"defense-evasion", "Defense Evasion", "TA0005"},
	{"credential-access", "Credential Access", "TA0006"},
	{"discovery", "Discovery", "TA0007"},
	{"lateral-movement", "Lateral Movement", "TA0008"},
	{"collection", "Collection", "TA0009"},
	{"command-and-control", "Command and Control", "TA0011"},
	{"exfiltration", "Exfiltration", "TA0010"},
	{"impact", "Impact", "TA0040"},
}

// attack is what a tag says of ATT&CK: a tactic, a technique or a technique below
// another. The zero value says nothing.
type attack struct {
	tactic    int // number in tactics and one
	technique int // four digits and one
	below     int // three digits and one
}

const attackPrefix = "attack."

// attackOf reads a tag.
func attackOf(tag string) attack {
	if len(tag) <= len(attackPrefix) || !strings.EqualFold(tag[:len(attackPrefix)], attackPrefix) {
		return attack{}
	}
	return attackNamed(tag[len(attackPrefix):])
}

// attackNamed reads what follows the prefix of a tag.
func attackNamed(name string) attack {
	for i := range tactics {
		if sameTactic(name, tactics[i].tag) {
			return attack{tactic: i + 1}
		}
	}
	if name == "" || name[0]|0x20 != 't' {
		return attack{}
	}
	technique, below, has := strings.Cut(name[1:], ".")
	a := attack{technique: digits(technique, 4)}
	if has {
		a.below = digits(below, 3)
	}
	if a.technique == 0 || has && a.below == 0 {
		return attack{}
	}
	return a
}

// sameTactic reports whether a name is that of a tactic, in any case and with
// underscores or hyphens.
func sameTactic(name, tag string) bool {
	if len(name) != len(tag) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			c = '-'
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		if c != tag[i] {
			return false
		}
	}
	return true
}

// digits returns the number of n digits that s is, and one; else 0.
func digits(s string, n int) int {
	if len(s) != n {
		return 0
	}
	number := 0
	for i := range n {
		if s[i] < '0' || s[i] > '9' {
			return 0
		}
		number = number*10 + int(s[i]-'0')
	}
	return number + 1
}

func (a attack) append(dst []byte) []byte {
	switch {
	case a.tactic > 0:
		t := &tactics[a.tactic-1]
		dst = append(append(dst, `{"tactic":{"name":"`...), t.name...)
		dst = append(append(dst, `","uid":"`...), t.uid...)
	case a.below > 0:
		dst = appendDigits(append(dst, `{"sub_technique":{"uid":"T`...), a.technique-1, 1000)
		dst = appendDigits(append(dst, '.'), a.below-1, 100)
	default:
		dst = appendDigits(append(dst, `{"technique":{"uid":"T`...), a.technique-1, 1000)
	}
	return append(dst, `"}}`...)
}

// appendDigits appends a number with as many digits as the power of ten says.
func appendDigits(dst []byte, number, power int) []byte {
	for ; power > 0; power /= 10 {
		dst = append(dst, '0'+byte(number/power%10))
	}
	return dst
}

// few is up to how many things are compared with each other; more are looked up.
const few = 32

// appendAttacks appends attacks with a comma in front: what the tags say of ATT&CK in
// their order, each once. It appends nothing when they say nothing. Names are tags when
// read is attackOf.
func appendAttacks(dst []byte, names []string, read func(string) attack) []byte {
	var buf [few]attack // of those told
	told := buf[:0]
	var known map[attack]bool // instead, when there are many
	for _, name := range names {
		a := read(name)
		if a == (attack{}) {
			continue
		}
		switch {
		case known != nil:
			if known[a] {
				continue
			}
			known[a] = true
		case contains(told, a):
			continue
		case len(told) == few:
			known = make(map[attack]bool)
			for _, t := range told {
				known[t] = true
			}
			known[a] = true
		default:
			told = append(told, a)
		}
		if len(told) == 1 && known == nil {
			dst = append(dst, `,"attacks":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = a.append(dst)
	}
	if len(told) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

func contains(all []attack, a attack) bool {
	for i := range all {
		if all[i] == a {
			return true
		}
	}
	return false
}
