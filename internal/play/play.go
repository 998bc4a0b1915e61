// Package play answers questions about gathers in JSON, for a page: which answer each
// operator gives to the same operands, the picture of one of them, the call as code.
//
//	play.Ask([]byte(`{"ask":"answers","call":{"data":"[1,2,3]","indices":"[0,-1,7]"}}`))
//
// It touches no file, no network and no clock, and what a question may cost is
// limited, so that whoever writes the question can be anyone.
package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/garner-go/garner"
)

// Limits of a question. A wider one is refused in words.
const (
	MostBytes    = 4 << 20 // of a request, in bytes
	MostElements = 1 << 16 // of all literals of a call together, and of a result
	mostTerms    = 1 << 20 // elements that the bags of one operator reduce
	mostLists    = 1 << 16 // lists in the text of a result, which may have many without an element
	mostText     = 4096    // bytes of the text of a result
	mostNumbers  = 64      // of an attribute that is a list
)

// A Refusal is a question without an answer: what is wrong, and which part of the
// question.
type Refusal struct {
	Message string `json:"error"`
	Where   string `json:"where,omitempty"` // data, indices, axis, operands.offsets …; "" where no part of the call is wrong
}

func (r *Refusal) Error() string { return r.Message }

// refuse returns a Refusal.
func refuse(where, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), where}
}

// refusal is an error of garner as a Refusal; of a Refusal it is that.
func refusal(where string, err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	return &Refusal{bare(err), where}
}

// bare is the text of an error without the name of the package.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "garner: ") }

// A request is a question.
type request struct {
	Ask      string `json:"ask"`
	Call     *Call  `json:"call"`
	Operator string `json:"operator"`
	Language string `json:"language"`
}

// A question is one form of request: whether it has a call and an operator, and what
// answers it.
type question struct {
	call, operator bool
	answer         func(r *request) (any, error)
}

// questions are the forms of request by their names.
var questions = map[string]question{
	"operators": {answer: func(*request) (any, error) { return Operators(), nil }},
	"answers":   {call: true, answer: func(r *request) (any, error) { return Answer(*r.Call) }},
	"picture":   {call: true, operator: true, answer: func(r *request) (any, error) { return Draw(*r.Call, r.Operator) }},
	"code":      {call: true, operator: true, answer: func(r *request) (any, error) { return Write(*r.Call, r.Operator, r.Language) }},
}

// Ask answers a request in JSON with JSON. It always answers: a request that is none, or
// that is refused, with {"error":"words","where":"part of the call"}. It never panics.
//
//	{"ask":"operators"}                                      the operators, dtypes and examples
//	{"ask":"answers","call":CALL}                            what each operator answers: see Answers
//	{"ask":"picture","call":CALL,"operator":NAME}            how one operator gathers: see Picture
//	{"ask":"code","call":CALL,"operator":NAME,"language":L}  the call as code
//
// CALL is a [Call]. An answer takes time in proportion to the operands, which are limited:
// about a second for the largest, some milliseconds for those that a person types.
func Ask(asked []byte) (answer []byte) {
	defer func() {
		if r := recover(); r != nil {
			answer = encode(&Refusal{Message: fmt.Sprintf("garner has a fault: %v; please report it with this call", r)})
		}
	}()
	result, err := ask(asked)
	if err != nil {
		return encode(refusal("", err))
	}
	return encode(result)
}

// encode writes a value that encoding/json takes.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // an SVG would be twice as long
	if err := e.Encode(v); err != nil {
		panic(err) // Ask recovers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func ask(asked []byte) (any, error) {
	if len(asked) > MostBytes {
		return nil, refuse("", "the request has %d bytes; there may be %d", len(asked), MostBytes)
	}
	var r request
	d := json.NewDecoder(bytes.NewReader(asked))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, malformed(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, refuse("", "text follows the request; it is one JSON object")
	}
	q, ok := questions[r.Ask]
	switch {
	case !ok:
		return nil, refuse("", "there is no question %q; ask operators, answers, picture or code", r.Ask)
	case q.call && r.Call == nil:
		return nil, refuse("", "the request has no call; give one, such as {\"data\":\"[1,2,3]\",\"indices\":\"[0]\"}")
	case q.operator && r.Operator == "":
		return nil, refuse("", "the request has no operator; give one of {\"ask\":\"operators\"}")
	}
	return q.answer(&r)
}

// malformed says what of a request is not as it must be.
func malformed(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return refuse("", "the request is not JSON of a known form: %v", err)
	}
	where := strings.TrimPrefix(wrong.Field, "call.")
	switch where {
	case "axis", "batch_dims":
		return refuse(where, "%s is %s; give an integer, or null for the default of each operator", where, wrong.Value)
	case wrong.Field:
		return refuse("", "%s cannot be a JSON %s", wrong.Field, wrong.Value)
	}
	return refuse(where, "%s cannot be a JSON %s", where, wrong.Value)
}

// classOf names the class of an error of garner, and says in words what the operator
// answers.
func classOf(err error) (class, words string) {
	var shape *garner.ShapeError
	switch {
	case errors.Is(err, garner.ErrIndex):
		return garner.ErrIndex.Error(), "an error: an index is outside"
	case errors.As(err, &shape):
		return string(shape.Kind), "an error: the shapes do not fit"
	case errors.Is(err, garner.ErrDType):
		return garner.ErrDType.Error(), "an error: the types do not fit"
	case errors.Is(err, garner.ErrAttribute):
		return garner.ErrAttribute.Error(), "an error: the attributes do not fit"
	}
	return "other", "an error"
}
