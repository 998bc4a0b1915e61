package literal

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// An interval is a range START:STOP:STEP of integers.
type interval struct{ start, stop, step int64 }

// isRange reports whether a text without white space around it is meant as a range.
func isRange(text string) bool {
	return strings.ContainsRune(text, ':') && strings.ContainsAny(text, "0123456789") && strings.Trim(text, "+-:0123456789"+whiteSpace) == ""
}

// Elements is how many elements a text has that is a range; ok is false for other
// text. Parse takes 8 bytes for each, so a caller that lets anyone write the text
// asks first.
func Elements(text string) (n uint64, ok bool) {
	if !isRange(text) {
		return 0, false
	}
	r, err := parseRange(text)
	return r.len(), err == nil
}

// First is the text of a range of the first n elements of a range that has more; ok is
// false for other text.
func First(text string, n int) (first string, ok bool) {
	if !isRange(text) || n < 1 {
		return "", false
	}
	r, err := parseRange(text)
	if err != nil || r.len() <= uint64(n) {
		return "", false
	}
	return fmt.Sprintf("%d:%d:%d", r.start, r.start+int64(n)*r.step, r.step), true // not beyond stop
}

// parseRange reads START:STOP or START:STOP:STEP.
func parseRange(text string) (r interval, err error) {
	r.step = 1
	at := 0
	for i, into := range []*int64{&r.start, &r.stop, &r.step} {
		word, rest, more := strings.Cut(text[at:], ":")
		column := at + len(word) - len(strings.TrimLeft(word, whiteSpace))
		trimmed := strings.Trim(word, whiteSpace)
		syntax := func(message string) error { return &SyntaxError{column + 1, message} }
		switch v, err := strconv.ParseInt(trimmed, 10, 64); {
		case trimmed == "":
			return r, syntax("a range names both ends, and its step if it has one: 0:100 or 0:100:2")
		case err != nil && allSigned(trimmed):
			return r, dtypeError(column, "%s of the range does not fit i64", trimmed)
		case err != nil:
			return r, syntax("\"" + trimmed + "\" is no integer; a range is 0:100 or 0:100:2")
		case i == 2 && v == 0:
			return r, syntax("the step of a range is 0; 0:100:2 goes up and 100:0:-2 goes down")
		case i == 2 && more:
			return r, syntax("a range has three parts at most: 0:100:2")
		default:
			*into = v
		}
		if !more {
			return r, nil
		}
		at = len(text) - len(rest)
	}
	return r, nil
}

// allSigned reports whether text is digits behind a sign, if there is one.
func allSigned(text string) bool {
	digits := strings.TrimLeft(text[:1], "+-") + text[1:]
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// len is how many integers the range has, as in Python: from start on, before stop.
func (r interval) len() uint64 {
	switch {
	case r.step > 0 && r.stop > r.start:
		return (uint64(r.stop)-uint64(r.start)-1)/uint64(r.step) + 1
	case r.step < 0 && r.stop < r.start:
		return (uint64(r.start)-uint64(r.stop)-1)/-uint64(r.step) + 1
	}
	return 0
}

// tensor is the range in rank 1.
func (r interval) tensor(dtype garner.DType) (garner.Tensor, error) {
	n := r.len()
	if n > math.MaxInt/8 {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "the range has %d elements, more bytes than an int can count; write a shorter one", n)
	}
	if dtype == garner.Invalid {
		dtype = garner.I64
	}
	if dtype == garner.String || dtype == garner.Bool {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "a range is of integers, and the dtype asked for is %s", dtype)
	}
	t, err := garner.New(dtype, int(n))
	if err != nil {
		return garner.Tensor{}, err
	}
	if dtype == garner.I64 {
		values, err := garner.Values[int64](t)
		for i := range values {
			values[i] = r.start + int64(i)*r.step
		}
		return t, err
	}
	for i := range t.Len() {
		if err := t.SetText(i, strconv.FormatInt(r.start+int64(i)*r.step, 10)); err != nil {
			return garner.Tensor{}, garner.Errorf(garner.ErrDType, "the range: %s", bare(err))
		}
	}
	return t, nil
}
