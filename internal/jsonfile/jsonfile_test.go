package jsonfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

var errTest = errors.New("test")

// read reads an object of every kind of value.
func read(text string) (map[string]any, error) {
	p := New(strings.NewReader(text), "it", errTest)
	all := map[string]any{}
	err := p.Object("it", map[string]bool{}, func(key string) (err error) {
		switch key {
		case "text":
			all[key], err = p.Text("it", key)
		case "count":
			all[key], err = p.Count("it", key)
		case "numbers":
			all[key], err = p.Numbers("it", key)
		case "list":
			n := 0
			err = p.List("it", key, func() error { n++; return p.Skip() })
			all[key] = n
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil {
		err = p.End()
	}
	return all, err
}

// TestParser reads values of every kind, and refuses those of another.
func TestParser(t *testing.T) {
	const whole = `{"text":"a\n","count":9223372036854775807,"numbers":[0,18446744073709551615],"list":[1,[2,{"a":[]}],"",null],"else":{"count":[[]]}}`
	got, err := read(whole)
	want := map[string]any{"text": "a\n", "count": int64(1<<63 - 1), "numbers": []uint64{0, 1<<64 - 1}, "list": 4}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for n := range whole {
		if _, err := read(whole[:n]); !errors.Is(err, errTest) || !strings.HasPrefix(err.Error(), "garner: it ") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for text, want := range map[string]string{
		whole + "1":        "it goes on after its closing }",
		`{"text":1}`:       "it has the text 1 instead of a string",
		`{"text":{}}`:      "it has the text { instead of a string",
		`{"count":-1}`:     "it has the count -1 instead of an integer of 0 or more",
		`{"count":1e2}`:    "it has the count 1e2 instead",
		`{"count":"1"}`:    "it has the count 1 instead",
		`{"numbers":1}`:    "it has the numbers 1 instead of an array",
		`{"numbers":[[]]}`: "it has [ in its numbers, where integers of 0 or more stand",
		`{"list":{}}`:      "it has the list { instead of an array",
		`{"a":1,"a":1}`:    `it has the key "a" twice`,
		`{"a" 1}`:          "it is no JSON after 5 bytes",
		`7`:                "it is 7 instead of an object",
		`{"a":` + strings.Repeat("[", maxDepth+1): fmt.Sprintf("it nests deeper than %d", maxDepth),
	} {
		if _, err := read(text); !errors.Is(err, errTest) || !strings.HasPrefix(err.Error(), "garner: "+want) {
			t.Errorf("%.60s: %v; want %s", text, err, want)
		}
	}
}
