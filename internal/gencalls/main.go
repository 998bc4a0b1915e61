// Command gencalls prints the calls of internal/play/calls as code, one a line, each a JSON
// object: the text, garner's answer, and what the operator's runtime is known to answer
// instead. bench/snippets.py runs them.
//
//	go run ./internal/gencalls [LANGUAGE]      python, go or garner; default python
//	go run ./internal/gencalls grid            the calls that testdata/conformance/record_calls.py records
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/internal/play/recorded"
)

func main() {
	language := code.Python
	if len(os.Args) > 1 {
		language = os.Args[1]
	}
	out := bufio.NewWriter(os.Stdout)
	var err error
	if language == "grid" {
		err = writeGrid(json.NewEncoder(out))
	} else {
		err = write(json.NewEncoder(out), language)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "garner: "+strings.TrimPrefix(err.Error(), "garner: "))
		os.Exit(1)
	}
}

// A line is one call.
type line struct {
	Title    string  `json:"title"`
	Operator string  `json:"operator"`
	Text     string  `json:"text,omitempty"`
	Receipt  string  `json:"receipt,omitempty"` // of the text
	Unsaid   string  `json:"unsaid,omitempty"`  // why there is no text
	Kind     string  `json:"kind"`
	Want     *answer `json:"want,omitempty"`  // garner's result
	Error    string  `json:"error,omitempty"` // or its refusal
	Known    []known `json:"known,omitempty"` // recorded answers that depart from the specification
}

// An answer is a tensor: its elements as texts, in row-major order.
type answer struct {
	DType  string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	Values []string `json:"values"`
}

// known is a recorded answer, and the result that its class makes here, where it makes one.
type known struct {
	recorded.Answer
	Want *answer `json:"want,omitempty"`
}

func write(to *json.Encoder, language string) error {
	list, err := calls.All()
	if err != nil {
		return err
	}
	for _, c := range list {
		l := line{Title: c.Title, Operator: c.Operator.Name, Kind: string(c.Reach)}
		text, err := code.Of(c.Operator, c.Call, language)
		if l.Text = text; err != nil {
			l.Unsaid = err.Error()
		} else {
			l.Receipt = c.Receipt(text)
		}
		if l.Error = ""; c.Err != nil {
			l.Error = c.Err.Error()
		} else if l.Want, err = answerOf(c.Want); err != nil {
			return err
		}
		if l.Known, err = departures(c); err != nil {
			return err
		}
		if err := to.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func answerOf(t garner.Tensor) (*answer, error) {
	a := &answer{DType: t.DType().String(), Shape: t.Shape(), Values: []string{}}
	if t.DType() == garner.String {
		values, err := garner.Values[string](t)
		a.Values = append(a.Values, values...)
		return a, err
	}
	flat, err := t.Reshape(t.Len())
	for i := 0; i < t.Len() && err == nil; i++ {
		var text string
		text, err = flat.At(i)
		a.Values = append(a.Values, text)
	}
	return a, err
}

// departures lists the recorded answers of the runtime to such a call that are not what its
// specification says.
func departures(c calls.Call) ([]known, error) {
	op, err := c.Operator.New(c.Call.Values)
	if err != nil || c.Plan == nil {
		return nil, err
	}
	var list []known
	for _, a := range recorded.Of(c.Recorded(), c.Reach) {
		if a.Follows || a.When != "" {
			continue
		}
		k := known{Answer: a}
		made := op
		switch a.Class {
		case recorded.FromEnd:
			made = garner.WithNegative(op, garner.FromEnd)
		case recorded.Zero:
			made = garner.WithOutside(op, garner.Zero)
		case recorded.LastRow, recorded.FirstRow:
			made = garner.WithOutside(op, garner.Clamp)
		case recorded.Wrapped:
			made = garner.WithOutside(garner.WithNegative(op, garner.FromEnd), garner.Wrap)
		default:
			made = nil
		}
		if made != nil {
			out, err := garner.Gather(made, c.Call.Data, c.Call.Indices, c.Call.Operands...)
			if errors.Is(err, garner.ErrIndex) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if k.Want, err = answerOf(out); err != nil {
				return nil, err
			}
		}
		list = append(list, k)
	}
	return list, nil
}
