package packed

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

type inner struct {
	Name string
	Next *inner
}

type outer struct {
	Bool    bool
	Int     int64
	Uint    uint32
	Float   float64
	Text    string
	Digest  [4]byte
	List    []inner
	Map     map[string]string
	Any     map[string]any
	Pointer *inner
}

func TestEverythingComesBackAsItWas(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    outer
	}{
		{"nothing", outer{}},
		{"the ends of numbers", outer{Int: math.MinInt64, Uint: math.MaxUint32, Float: math.Inf(-1)}},
		{"text that is no UTF-8", outer{Text: "a\x00\xff"}},
		{"empty is not nil", outer{List: []inner{}, Map: map[string]string{}, Any: map[string]any{}}},
		{"values in values", outer{
			Bool: true, Int: -1, Digest: [4]byte{1, 2, 3, 255}, List: []inner{{Name: "a", Next: &inner{Name: "b"}}, {}},
			Map: map[string]string{"": "x", "k": ""}, Pointer: &inner{Next: &inner{}},
		}},
		{"JSON", outer{Any: map[string]any{
			"n": nil, "t": true, "f": false, "s": "x", "big": json.Number("123456789012345678901234567890"), "d": 1.5, "i": -3,
			"l": []any{"a", nil, []any{}}, "m": map[string]any{"k": json.Number("1")},
		}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data, err := Append(nil, tc.v)
			if err != nil {
				t.Fatal(err)
			}
			var got outer
			if err := Read(string(data), &got); err != nil || !reflect.DeepEqual(got, tc.v) {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.v)
			}
			for n := range data { // a part of it is an error, never a panic
				if err := Read(string(data[:n]), &got); !errors.Is(err, ErrDamaged) {
					t.Fatalf("the first %d of %d bytes: %v, want ErrDamaged", n, len(data), err)
				}
			}
		})
	}
}

func TestWhatIsNoPlainDataIsRefused(t *testing.T) {
	for _, v := range []any{func() {}, struct{ hidden int }{}, map[string]any{"k": struct{}{}}, make(chan int)} {
		if _, err := Append(nil, v); err == nil {
			t.Errorf("%T was packed, want an error", v)
		}
	}
}

func FuzzRead(f *testing.F) {
	data, err := Append(nil, []*ast.Rule{{Meta: ast.Meta{Title: "T", Attributes: map[string]any{"a": []any{1.5}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, data string) {
		var rules []*ast.Rule
		if err := Read(data, &rules); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged or nothing", err)
		}
	})
}
