package garner_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// recordedValues is testdata/values.json, whose own script says what it holds.
type recordedValues struct {
	Decode, Text map[string][]recordedCode
	Encode       map[string][]recordedText
	Integers     map[string][]recordedInteger
}

type recordedCode struct {
	Code uint64
	Text string
}

type recordedText struct {
	Text string
	Code *uint64 // nil for any NaN
}

type recordedInteger struct {
	Code  uint64
	Value int64
}

// UnmarshalJSON reads [code, text]; the code of a float64 is quoted, as JSON's
// numbers do not carry it.
func (r *recordedCode) UnmarshalJSON(b []byte) error {
	var code json.RawMessage
	if err := json.Unmarshal(b, &[]any{&code, &r.Text}); err != nil {
		return err
	}
	var err error
	r.Code, err = strconv.ParseUint(strings.Trim(string(code), `"`), 10, 64)
	return err
}

func (r *recordedText) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Text, &r.Code})
}

func (r *recordedInteger) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.Code, &r.Value})
}

func readValues(t *testing.T) (v recordedValues) {
	t.Helper()
	b, err := os.ReadFile("testdata/values.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Decode) != 9 || len(v.Encode) != 9 || len(v.Text) != 11 || len(v.Integers) != 6 {
		t.Fatalf("values.json holds %d, %d, %d and %d types", len(v.Decode), len(v.Encode), len(v.Text), len(v.Integers))
	}
	return v
}

// scalarOf is a rank-0 tensor with the given bits, for types of up to 64.
func scalarOf(t *testing.T, d garner.DType, code uint64) garner.Tensor {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, code)
	s, err := garner.FromBytes(d, b[:(d.Bits()+7)/8])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// codeOf is the bits of a rank-0 tensor.
func codeOf(t *testing.T, s garner.Tensor) uint64 {
	t.Helper()
	b, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

func dtypeNamed(t *testing.T, name string) garner.DType {
	t.Helper()
	d, err := garner.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sameFloat(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

// TestDecodeRecorded holds the value of every code of the narrow floats, and of
// a sample of f16 and bf16, against ml_dtypes and numpy.
func TestDecodeRecorded(t *testing.T) {
	for name, rows := range readValues(t).Decode {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			want, err := strconv.ParseFloat(r.Text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := scalarOf(t, d, r.Code).Float64(0); err != nil || !sameFloat(got, want) {
				t.Errorf("%s %#x is %v (%v), want %v", d, r.Code, got, err, want)
			}
		}
	}
}

// TestEncodeRecorded holds decimals, ties and neighbours of ties above all,
// against their nearest codes.
func TestEncodeRecorded(t *testing.T) {
	for name, rows := range readValues(t).Encode {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			s := scalarOf(t, d, 1)
			if err := s.SetText(0, r.Text); err != nil {
				t.Errorf("%s %s: %v", d, r.Text, err)
				continue
			}
			v, err := s.Float64(0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Code == nil {
				if !math.IsNaN(v) {
					t.Errorf("%s %s became %v, want NaN", d, r.Text, v)
				}
			} else if code := codeOf(t, s); code != *r.Code {
				t.Errorf("%s %s became %#x, want %#x", d, r.Text, code, *r.Code)
			}
		}
	}
}

// TestTextRecorded holds what is printed against numpy's shortest decimals for
// f32, f64 and f16, and against the shortest found by trying for the others.
func TestTextRecorded(t *testing.T) {
	for name, rows := range readValues(t).Text {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			if got, err := scalarOf(t, d, r.Code).At(); err != nil || got != r.Text {
				t.Errorf("%s %#x prints as %s (%v), want %s", d, r.Code, got, err, r.Text)
			}
		}
	}
}

func TestIntegersRecorded(t *testing.T) {
	for name, rows := range readValues(t).Integers {
		d := dtypeNamed(t, name)
		for _, r := range rows {
			s := scalarOf(t, d, r.Code)
			want := strconv.FormatInt(r.Value, 10)
			if got, err := s.At(); err != nil || got != want {
				t.Errorf("%s %#x prints as %s (%v), want %s", d, r.Code, got, err, want)
			}
			if got, err := s.Int(0); err != nil || got.String() != want || got.Unsigned != d.IsUnsigned() {
				t.Errorf("%s %#x is %v (%v), want %s", d, r.Code, got, err, want)
			}
			if got, err := s.Float64(0); err != nil || got != float64(r.Value) {
				t.Errorf("%s %#x is %v (%v), want %s", d, r.Code, got, err, want)
			}
			back := scalarOf(t, d, 0)
			if err := back.SetText(0, want); err != nil || codeOf(t, back) != r.Code {
				t.Errorf("%s %s became %#x (%v), want %#x", d, want, codeOf(t, back), err, r.Code)
			}
		}
	}
}

// TestTextReadsBack prints every code of the types of up to 16 bits, and many
// of the wider ones, and reads the text back. NaNs come back as NaN.
func TestTextReadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range garner.DTypes() {
		if d == garner.String || d == garner.Complex128 {
			continue
		}
		codes := make([]uint64, 0, 1<<16)
		switch {
		case d == garner.Bool:
			codes = append(codes, 0, 1)
		case d.Bits() <= 16:
			step := uint64(1)
			if testing.Short() && d.Bits() == 16 {
				step = 7
			}
			for c := uint64(0); c < 1<<d.Bits(); c += step {
				codes = append(codes, c)
			}
		default:
			for range 2000 {
				codes = append(codes, rng.Uint64()>>(64-d.Bits()))
			}
			for shift := range d.Bits() {
				codes = append(codes, 1<<shift, 1<<shift-1, ^uint64(0)>>(64-d.Bits())^1<<shift)
			}
		}
		for _, code := range codes {
			s, back := scalarOf(t, d, code), scalarOf(t, d, 0)
			text, err := s.At()
			if err != nil {
				t.Fatal(err)
			}
			if err := back.SetText(0, text); err != nil {
				t.Errorf("%s %#x prints as %s: %v", d, code, text, err)
				continue
			}
			if codeOf(t, back) == code {
				continue
			}
			again, _ := back.At()
			if !strings.Contains(text, "NaN") || again != text {
				t.Errorf("%s %#x prints as %s, which reads back as %#x, %s", d, code, text, codeOf(t, back), again)
			}
		}
	}
}
