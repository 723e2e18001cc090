package auth

import (
	"errors"
	"regexp"
	"strings"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckVariable refuses what is no name of a variable that could hold a token. The error does
// not quote it: those who mistake the setting give the token itself.
func CheckVariable(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the variable is empty")
	case strings.HasPrefix(name, "$") && variableName.MatchString(strings.Trim(name[1:], "{}")):
		return errors.New("it takes the name of the variable that holds the token, written without $")
	case !variableName.MatchString(name):
		return errors.New("it takes the name of the variable that holds the token, not the token itself")
	}
	return nil
}
