package openapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type colour string

type inner struct {
	Common string `json:"common"`
	Hidden int    `json:"hidden"`
}

type outer struct {
	inner
	Hidden   *bool   `json:"hidden" doc:"Whether it is"`
	Size     int     `json:"size,omitempty" min:"1" max:"9"`
	Name     string  `json:"name" minlen:"3" enum:"abc abcd"`
	Secret   string  `json:"-"`
	Children []outer `json:"children"`
	private  int
}

type either struct{}

func (either) OneOf() []any { return []any{"", inner{}} }

type shut struct{}

func (shut) Closed() {}

type own struct{}

func (own) MarshalJSON() ([]byte, error) { return nil, errors.New("never called") }

type ownList []own

func (ownList) MarshalJSON() ([]byte, error) { return nil, errors.New("never called") }

type unlisted string

func types() *schemas {
	return &schemas{
		home: reflect.TypeFor[outer]().PkgPath(), words: map[reflect.Type][]string{reflect.TypeFor[colour](): {"red", "green"}},
		components: make(map[string]*Schema), types: make(map[string]reflect.Type),
	}
}

func TestTypesBecomeSchemas(t *testing.T) {
	for _, tc := range []struct {
		name  string
		value any
		want  string
	}{
		{"nil is anything", nil, `{}`},
		{"JSON as it is", json.RawMessage{}, `{}`},
		{"a boolean", true, `{"type":"boolean"}`},
		{"an integer", 1, `{"type":"integer","format":"int64"}`},
		{"one that is never negative", uint64(1), `{"type":"integer","format":"int64","minimum":0}`},
		{"a number", 1.5, `{"type":"number","format":"double"}`},
		{"a text", "", `{"type":"string"}`},
		{"a word", colour(""), `{"type":"string","enum":["red","green"]}`},
		{"a time", time.Time{}, `{"type":"string","format":"date-time"}`},
		{"a pointer is what it points to", new(int), `{"type":"integer","format":"int64"}`},
		{"a list", []string{}, `{"type":"array","items":{"type":"string"}}`},
		{"a list of anything", []any{}, `{"type":"array","items":{}}`},
		{"a tuple", [2]any{}, `{"type":"array","items":{},"minItems":2,"maxItems":2}`},
		{"an object with any names", map[string]int64{}, `{"type":"object","additionalProperties":{"type":"integer","format":"int64"}}`},
		{"a struct without a name stands where it is", struct {
			A int `json:"a,omitempty"`
		}{}, `{"type":"object","properties":{"a":{"type":"integer","format":"int64"}}}`},
		{"one with a name is a component", inner{}, `{"$ref":"#/components/schemas/Inner"}`},
		{"one of several", either{}, `{"anyOf":[{"type":"string"},{"$ref":"#/components/schemas/Inner"}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := types()
			got, err := json.Marshal(s.of(reflect.TypeOf(tc.value)))
			if string(got) != tc.want || err != nil || len(s.errs) > 0 {
				t.Errorf("got %s, %v, %v\nwant %s", got, err, s.errs, tc.want)
			}
		})
	}
}

func TestMembersOfStructs(t *testing.T) {
	s := types()
	s.of(reflect.TypeFor[outer]())
	s.of(reflect.TypeFor[shut]())
	got, err := json.Marshal(s.components)
	const want = `{"Outer":{"type":"object","properties":{"common":{"type":"string"},` +
		`"hidden":{"description":"Whether it is","anyOf":[{"type":"boolean"},{"type":"null"}]},` +
		`"size":{"type":"integer","format":"int64","minimum":1,"maximum":9},"name":{"type":"string","enum":["abc","abcd"],"minLength":3},` +
		`"children":{"type":"array","items":{"$ref":"#/components/schemas/Outer"}}},"required":["common","hidden","name","children"]},` +
		`"Shut":{"type":"object","additionalProperties":false}}`
	if string(got) != want || err != nil || len(s.errs) > 0 {
		t.Errorf("got  %s, %v, %v\nwant %s", got, err, s.errs, want)
	}
	_ = outer{}.private
}

func TestTypesOfOtherPackagesHaveItsName(t *testing.T) {
	s := types()
	s.home = "example.org/elsewhere"
	if got := s.of(reflect.TypeFor[inner]()).Ref; got != "#/components/schemas/OpenapiInner" {
		t.Errorf("got %s", got)
	}
}

func TestTypesThatCannotBeDescribed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		value any
		want  string
	}{
		{"words that nobody listed", unlisted(""), "the words of type openapi.unlisted are not listed"},
		{"a struct that encodes itself", own{}, "type openapi.own encodes itself: describe its JSON by another type"},
		{"a list that encodes itself", ownList{}, "type openapi.ownList encodes itself: describe its JSON by another type"},
		{"a channel", make(chan int), "type chan int has no JSON schema"},
		{"a field without a tag", struct{ A int }{}, "field A of struct { A int } has no json tag"},
		{"a bound that is none", struct {
			A int `json:"a" max:"x"`
		}{}, `field A: strconv.ParseInt: parsing "x": invalid syntax`},
		{"a length that is none", struct {
			A string `json:"a" minlen:"x"`
		}{}, `field A: strconv.Atoi: parsing "x": invalid syntax`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := types()
			s.of(reflect.TypeOf(tc.value))
			if err := errors.Join(s.errs...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	s := types()
	s.types["Inner"] = reflect.TypeFor[outer]()
	s.of(reflect.TypeFor[inner]())
	if err := errors.Join(s.errs...); err == nil || !strings.Contains(err.Error(), "are both named Inner") {
		t.Errorf("got %v, want both types", err)
	}
}
