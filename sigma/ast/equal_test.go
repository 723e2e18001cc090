package ast_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Every field of a detection, and of what stands below it, has a say in whether two
// detections are equal: also one that somebody adds later.
func TestDetectionsThatDifferAnywhereAreNotEqual(t *testing.T) {
	var one, other ast.Detection
	fill(t, reflect.ValueOf(&one).Elem(), nil)
	fill(t, reflect.ValueOf(&other).Elem(), nil)
	if !one.Equal(other) {
		t.Fatalf("%+v and %+v are not equal", one, other)
	}
	tried := 0
	alter(t, reflect.ValueOf(&other).Elem(), "Detection", func(place string) {
		tried++
		if one.Equal(other) || other.Equal(one) {
			t.Errorf("detections that differ in %s are equal", place)
		}
	})
	if !one.Equal(other) {
		t.Error("what was altered was not put back")
	}
	if tried < 100 {
		t.Errorf("%d differences were tried, want a hundred and more", tried)
	}
}

func TestDetectionsThatShareTheirTreesAreEqual(t *testing.T) {
	var one ast.Detection
	fill(t, reflect.ValueOf(&one).Elem(), nil)
	none := one
	if none.Node = nil; none.Equal(one) || one.Equal(none) || !none.Equal(none) {
		t.Error("a detection without a tree is equal to itself alone")
	}
	if same := one; !same.Equal(one) {
		t.Error("a copy is not equal")
	}
}

// fill sets everything in v to a value that is not zero. Of types that contain
// themselves it makes two levels.
func fill(t *testing.T, v reflect.Value, within []reflect.Type) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		times := 0
		for _, outer := range within {
			if outer == v.Type() {
				times++
			}
		}
		if times > 1 {
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), append(within[:len(within):len(within)], v.Type()))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), within)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), within)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, within)
		fill(t, value, within)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("nobody knows how to fill %s", v.Type())
	}
}

// alter changes one thing in v at a time, calls tell with its name, and puts it back.
func alter(t *testing.T, v reflect.Value, place string, tell func(place string)) {
	t.Helper()
	with := func(other reflect.Value, how string) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(other)
		tell(place + how)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			alter(t, v.Field(i), place+"."+v.Type().Field(i).Name, tell)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		with(reflect.Zero(v.Type()), " (none)")
		alter(t, v.Elem(), place, tell)
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		with(reflect.Zero(v.Type()), " (none)")
		with(reflect.AppendSlice(v, v), " (twice)")
		for i := range v.Len() {
			alter(t, v.Index(i), fmt.Sprintf("%s[%d]", place, i), tell)
		}
	case reflect.Map:
		with(reflect.Zero(v.Type()), " (none)")
		for _, key := range v.MapKeys() {
			other := reflect.MakeMap(v.Type())
			other.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
			with(other, " (another value)")
		}
	case reflect.String:
		with(reflect.ValueOf(v.String()+"y").Convert(v.Type()), "")
	case reflect.Int:
		with(reflect.ValueOf(v.Int()+1).Convert(v.Type()), "")
	case reflect.Bool:
		with(reflect.ValueOf(!v.Bool()), "")
	case reflect.Uint8, reflect.Uint32:
		with(reflect.ValueOf(v.Uint()+1).Convert(v.Type()), "")
	default:
		t.Fatalf("%s: nobody knows how to alter %s", place, v.Type())
	}
}
