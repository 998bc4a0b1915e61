package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/play"
)

var update = flag.Bool("update", false, "write ../tests/answers.jsonl")

// An asked is a call and what the operators answer to it on the page of "garner play".
type asked struct {
	Data       string     `json:"data"`
	DType      string     `json:"dtype"`
	Indices    string     `json:"indices"`
	IndexDType string     `json:"index_dtype"`
	Axis       *int64     `json:"axis"`
	BatchDims  *int64     `json:"batch_dims"`
	Answers    []answered `json:"answers"`
}

// An answered is an answer, and the operators that give it.
type answered struct {
	Operators map[string]string `json:"operators"` // the error of each in its own words; "" where there is none
	DType     string            `json:"dtype"`
	Shape     []int             `json:"shape"`
	Values    string            `json:"values"`
	Class     string            `json:"class"`
}

// nested is a literal of an array of some dims, whose elements next makes.
func nested(dims []int, next func() int) string {
	if len(dims) == 0 {
		return fmt.Sprint(next())
	}
	parts := make([]string, dims[0])
	for i := range parts {
		parts[i] = nested(dims[1:], next)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// answersFile is tests/answers.jsonl: random small calls, the same each time.
func answersFile(t *testing.T) []byte {
	var b bytes.Buffer
	random := rand.New(rand.NewPCG(20, 1))
	for turn := range 100 {
		dims := func(most int) []int {
			d := make([]int, random.IntN(most+1))
			for i := range d {
				d[i] = 1 + random.IntN(4)
			}
			return d
		}
		data, indices := dims(3), dims(3)
		if turn%3 == 0 && len(data) > 0 { // of equal ranks, for the operators that need it
			indices = slices.Clone(data)
			indices[random.IntN(len(data))] = 1 + random.IntN(3)
		}
		dtypes := []string{"f32", "i32", "i64", "f64", "u8"}
		n, reach := 0, 1+random.IntN(6)
		a := asked{
			Data: nested(data, func() int { n++; return n }), DType: dtypes[turn%len(dtypes)], IndexDType: []string{"i64", "i32"}[turn%2],
			Indices: nested(indices, func() int {
				if turn%4 == 0 {
					return random.IntN(2)
				}
				return random.IntN(2*reach+1) - reach
			}),
		}
		if len(data) > 0 && turn%5 < 3 {
			axis := int64(random.IntN(2*len(data)) - len(data))
			a.Axis = &axis
		}
		if turn%7 == 0 {
			batch := int64(random.IntN(2))
			a.BatchDims = &batch
		}
		found, err := play.Answer(play.Call{Data: a.Data, DataDType: a.DType, Indices: a.Indices, IndicesDType: a.IndexDType, Axis: a.Axis, BatchDims: a.BatchDims})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range found.Groups {
			if g.Cut {
				t.Fatalf("values of call %d are cut", turn)
			}
			of := answered{Operators: map[string]string{}, DType: g.DType, Shape: g.Shape, Values: g.Values, Class: g.Class}
			for _, o := range g.Operators {
				of.Operators[o.Name] = o.Error
			}
			a.Answers = append(a.Answers, of)
		}
		line, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// tests/test_answers.py compares garner.answers with this file.
func TestAnswersAreThoseOfThePage(t *testing.T) {
	const name = "../tests/answers.jsonl"
	want := answersFile(t)
	if *update {
		if err := os.WriteFile(name, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the page answers: write it with go test ./abi -run Answers -update", name)
	}
}
