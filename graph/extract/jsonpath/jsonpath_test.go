package jsonpath_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract/jsonpath"
	"github.com/sluicehq/sluice/sigma/event"
)

func nodes(tb testing.TB, query, text string) ([]string, error) {
	tb.Helper()
	q, err := jsonpath.Compile(query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	var got []string
	run := q.NewRun()
	run.Begin(len(text))
	err = run.Over([]byte(text), func(v event.Value) bool {
		got = append(got, string(v.Raw))
		return true
	})
	return got, err
}

// The values of section 1.5 of RFC 9535.
const bookstore = `{"store":{"book":[
{"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},
{"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},
{"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
{"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99}],
"bicycle":{"color":"red","price":399}}}`

// The examples of RFC 9535, and what its text demands beside them.
func TestQueries(t *testing.T) {
	for _, tc := range []struct {
		name, query, text string
		want              []string
	}{
		{"the root", "$", `{"k": "v"}`, []string{`{"k": "v"}`}},
		{"authors of books", "$.store.book[*].author", bookstore, []string{`"Nigel Rees"`, `"Evelyn Waugh"`, `"Herman Melville"`, `"J. R. R. Tolkien"`}},
		{"all authors", "$..author", bookstore, []string{`"Nigel Rees"`, `"Evelyn Waugh"`, `"Herman Melville"`, `"J. R. R. Tolkien"`}},
		{"prices in the store", "$.store..price", bookstore, []string{"8.95", "12.99", "8.99", "22.99", "399"}},
		{"the third book", "$..book[2].title", bookstore, []string{`"Moby Dick"`}},
		{"a member that an element has not", "$..book[2].publisher", bookstore, nil},
		{"the last book", "$..book[-1].title", bookstore, []string{`"The Lord of the Rings"`}},
		{"the first two books", "$..book[0,1].price", bookstore, []string{"8.95", "12.99"}},
		{"the same by a slice", "$..book[:2].price", bookstore, []string{"8.95", "12.99"}},
		{"books with a number", "$..book[?@.isbn].price", bookstore, []string{"8.99", "22.99"}},
		{"books that are cheap", "$..book[?@.price<10].price", bookstore, []string{"8.95", "8.99"}},
		{"names in quotes", `$.o['j j']`, `{"o": {"j j": {"k.k": 3}}}`, []string{`{"k.k": 3}`}},
		{"names in names", `$.o['j j']['k.k']`, `{"o": {"j j": {"k.k": 3}}}`, []string{"3"}},
		{"a name with an escape", `$["\u263a"]`, `{"☺":1}`, []string{"1"}},
		{"a name that is written with one", `$.a`, `{"\u0061":1}`, []string{"1"}},
		{"wildcards of an object, in the order of the text", "$.o[*]", `{"o":{"k":2,"j":1}}`, []string{"2", "1"}},
		{"a wildcard twice", "$.a[*,*]", `{"a":[5,3]}`, []string{"5", "3", "5", "3"}},
		{"numbers of any length as received, compared as doubles", "$[?@ > 1e307]", "[1," + strings.Repeat("9", 1001) + ",-" + strings.Repeat("9", 1001) + "]", []string{strings.Repeat("9", 1001)}},
		{"long fractions likewise", "$[?@ == $[0]]", "[1.5," + "1.5" + strings.Repeat("0", 40) + ",2]", []string{"1.5", "1.5" + strings.Repeat("0", 40)}},
		{"an index from the end", "$[-2]", `["a","b"]`, []string{`"a"`}},
		{"an index beyond the end", "$[2]", `["a","b"]`, nil},
		{"an index before the beginning", "$[-3]", `["a","b"]`, nil},
		{"an index of an object", "$[0]", `{"0":1}`, nil},
		{"a slice", "$[1:3]", `["a","b","c","d"]`, []string{`"b"`, `"c"`}},
		{"a slice without end", "$[5:]", `["a","b","c","d","e","f","g"]`, []string{`"f"`, `"g"`}},
		{"a slice with a step", "$[1:5:2]", `["a","b","c","d","e","f","g"]`, []string{`"b"`, `"d"`}},
		{"a slice backwards", "$[5:1:-2]", `["a","b","c","d","e","f","g"]`, []string{`"f"`, `"d"`}},
		{"all backwards", "$[::-1]", `["a","b"]`, []string{`"b"`, `"a"`}},
		{"a slice without step", "$[1:3:0]", `["a","b","c"]`, nil},
		{"a slice of nothing", "$[1:1]", `["a"]`, nil},
		{"a filter of values", `$.a[?@.b == 'kilo']`, `{"a":[3,5,{"b":"j"},{"b":"kilo"}]}`, []string{`{"b":"kilo"}`}},
		{"a filter of scalars", `$.a[?@>3.5]`, `{"a":[3,5,1,{"b":6}]}`, []string{"5"}},
		{"a filter for what is there", `$.a[?@.b]`, `{"a":[3,{"b":null},{"c":1}]}`, []string{`{"b":null}`}},
		{"a filter for what is not", `$.a[?!@.b]`, `{"a":[3,{"b":null}]}`, []string{"3"}},
		{"a filter that looks at the root", `$.a[?@.b == $.x]`, `{"a":[{"b":6},{"b":7}],"x":6}`, []string{`{"b":6}`}},
		{"a filter within a filter", `$[?@[?@.b]]`, `[[{"b":1}],[{"c":1}]]`, []string{`[{"b":1}]`}},
		{"and, or, parentheses", `$[?(@.a == 1 || @.a == 2) && !(@.b == 3)].a`, `[{"a":1},{"a":2,"b":3},{"a":3}]`, []string{"1"}},
		{"length", `$[?length(@.a) == 2].a`, `[{"a":"éé"},{"a":[1]},{"a":{"x":1,"y":2}},{}]`, []string{`"éé"`, `{"x":1,"y":2}`}},
		{"count", `$[?count(@.*) == 2]`, `[[1,2],[1]]`, []string{"[1,2]"}},
		{"value", `$[?value(@..c) == 'red'].d`, `[{"a":{"c":"red"},"d":1},{"d":2}]`, []string{"1"}},
		{"match", `$[?match(@.d, "1974-05-..")].d`, `[{"d":"1974-05-11"},{"d":"x1974-05-11"},{}]`, []string{`"1974-05-11"`}},
		{"match with alternatives", `$[?match(@, "ab|cd")]`, `["ab","cd","abx","xcd"]`, []string{`"ab"`, `"cd"`}},
		{"search", `$[?search(@.d, "[BR]ob")].d`, `[{"d":"Bob Dylan"},{"d":"Tom"}]`, []string{`"Bob Dylan"`}},
		{"what is not there does not match", `$[?!match(@.d, "x")]`, `[{"d":"x"},{"e":1}]`, []string{`{"e":1}`}},
		{"an expression that is none", `$[?match(@, "[")]`, `["["]`, nil},
		{"descendants by index", "$..[0]", `{"a":[5,{"b":[1]}]}`, []string{"5", "1"}},
		{"descendants by wildcard", "$..*", `{"o":{"j":1},"a":[5]}`, []string{`{"j":1}`, "[5]", "1", "5"}},
		{"descendants of descendants", "$.a..[0, 1]", `{"a":[5,[7,8]]}`, []string{"5", "[7,8]", "7", "8"}},
		{"null is a value", "$.a", `{"a":null}`, []string{"null"}},
		{"null is no object", "$.a.b", `{"a":null}`, nil},
		{"numbers as received", "$.n", `{"n":1.50e1}`, []string{"1.50e1"}},
		{"the last of members with one key", "$.a", `{"a":1,"\u0061":2}`, []string{"2"}},
		{"the same by wildcard", "$.*", `{"a":1,"b":3,"\u0061":2}`, []string{"3", "2"}},
		{"the same of many", "$.a", `{"a":0,` + strings.Repeat(`"b":1,`, 50) + `"a":2}`, []string{"2"}},
		{"the same of many by wildcard", "$.*", `{"a":0,` + strings.Repeat(`"b":1,`, 50) + `"a":2}`, []string{"1", "2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := nodes(t, tc.query, tc.text)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestWhatIsNoQuery(t *testing.T) {
	for _, tc := range []struct{ name, query, want string }{
		{"nothing", "", "unexpected end of input: a query begins with $, such as $.Records[*]"},
		{"no root", "a.b", "unexpected identifier at position 1: a query begins with $, such as $.Records[*]"},
		{"an open bracket", "$[", "unexpected eof at position 3"},
		{"white space at the end", "$.a ", "unexpected blank space at position 4"},
		{"an unknown function", "$[?size(@) == 1]", "unknown function size() at position 4"},
		{"a number that is too large", "$[9007199254740993]", `cannot parse "9007199254740993", value out of range at position 3`},
		{"it is too long", "$" + strings.Repeat(".a", jsonpath.MaxQuery), "the query is longer than 65536 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := jsonpath.Compile(tc.query)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// Queries that would take for ever end, and what they have brought until then stands.
func TestHostileQueriesEnd(t *testing.T) {
	deep := strings.Repeat("[", 128) + strings.Repeat("]", 128)
	wide := "[" + strings.TrimSuffix(strings.Repeat(`{"a":[1,2,3]},`, 5000), ",") + "]"
	for _, tc := range []struct{ name, query, text string }{
		{"descendants of descendants of descendants", "$..*..*..*..*..*", deep},
		{"each value with each other one", "$[?$..b]", wide},
		{"each value below each other one", "$[?count($..*) > count(@.*)]", wide},
		{"filters of the root within each other", "$[?$[?$[?@.b]]]", wide},
		{"many selectors of descendants", "$..[" + strings.Repeat("*,", 100) + "*]..[" + strings.Repeat("*,", 100) + "*]", wide},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := nodes(t, tc.query, tc.text); !errors.Is(err, jsonpath.ErrSteps) {
				t.Errorf("ended with %v, want %v", err, jsonpath.ErrSteps)
			}
		})
	}
	if got, err := nodes(t, "$..*", wide); err != nil || len(got) != 25_000 {
		t.Errorf("%d nodes, %v: a wide value is walked through", len(got), err)
	}
}
