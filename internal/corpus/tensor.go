package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"math"
	"slices"
	"strconv"

	"github.com/garner-go/garner"
)

// The fields of a tensor, as an input and as an output.
var (
	inputFields  = []string{"name", "dtype", "shape", "values", "hex", "rule", "iota", "mod", "fill", "runtime"}
	outputFields = []string{"name", "dtype", "shape", "values", "hex", "rule", "iota", "mod", "fill", "crc32", "bytes", "sha256"}
)

// described is a tensor as a line describes it. Its elements are allocated when
// they are needed.
type described struct {
	dtype  garner.DType
	shape  garner.Shape
	known  bool            // whether the shape is known
	values json.RawMessage // the elements; nil: not listed
	codes  bool            // the values of nf4 are its codes
	bytes  []byte          // the bits of the elements; nil: not given. Beside values they must agree, except for NaNs
	fill   json.RawMessage // the value of every element; nil: none
	number func(i int) int64
	sum    *checksum
}

// checksum is the expectation of a result too large to list.
type checksum struct {
	bytes  int64 // -1: not given
	name   string
	digest []byte
	new    func() hash.Hash
}

// given reports whether the elements are known.
func (t *described) given() bool {
	return t.values != nil || t.bytes != nil || t.fill != nil || t.number != nil
}

func parseTensor(raw json.RawMessage, known []string) (t described, err error) {
	fields, err := object(raw, known)
	if err != nil {
		return t, err
	}
	var name string
	if err := json.Unmarshal(fields["dtype"], &name); err != nil {
		return t, errors.New("it has no dtype")
	}
	if t.dtype, err = garner.ParseDType(name); err != nil {
		return t, err
	}
	if raw := fields["shape"]; raw != nil && string(raw) != "null" {
		dims, err := list(raw)
		if err != nil {
			return t, fmt.Errorf("shape: %w", err)
		}
		t.known, t.shape = true, make(garner.Shape, len(dims))
		for i, d := range dims {
			if t.shape[i], err = natural(d); err != nil {
				return t, fmt.Errorf("shape: %w", err)
			}
		}
	}
	ways := 0
	for _, way := range []string{"values", "rule", "iota", "fill", "crc32", "sha256"} {
		if fields[way] != nil {
			ways++
		}
	}
	switch {
	case ways > 1, fields["hex"] != nil && ways == 1 && fields["values"] == nil:
		return t, errors.New("its elements are given in more than one way")
	case fields["mod"] != nil && fields["iota"] == nil:
		return t, errors.New("it has a mod and no iota")
	case (fields["bytes"] != nil) != (fields["crc32"] != nil):
		return t, errors.New("crc32 and bytes stand together")
	case (ways == 1 || fields["hex"] != nil) && !t.known:
		return t, errors.New("it has elements and no shape")
	}
	if raw := fields["runtime"]; raw != nil && string(raw) != "true" && string(raw) != "false" {
		return t, errors.New("runtime is no bool")
	}
	t.values, t.fill = fields["values"], fields["fill"]
	if raw := fields["hex"]; raw != nil {
		if t.bytes, err = hexField(raw); err != nil {
			return t, fmt.Errorf("hex: %w", err)
		}
	}
	if raw := fields["rule"]; raw != nil {
		if t.number, err = parseRule(raw); err != nil {
			return t, fmt.Errorf("rule: %w", err)
		}
	}
	if raw := fields["iota"]; raw != nil {
		if t.number, err = parseIota(raw, fields["mod"]); err != nil {
			return t, fmt.Errorf("iota: %w", err)
		}
	}
	t.sum, err = parseSum(fields)
	return t, err
}

func hexField(raw json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

func parseSum(fields map[string]json.RawMessage) (*checksum, error) {
	s := &checksum{bytes: -1}
	var err error
	switch {
	case fields["crc32"] != nil:
		s.name = "crc32"
		s.new = func() hash.Hash { return crc32.NewIEEE() }
		// More than an int counts is a case that a 32-bit machine skips.
		if s.bytes, err = strconv.ParseInt(string(fields["bytes"]), 10, 64); err != nil || s.bytes < 0 {
			return nil, fmt.Errorf("bytes: %s is no number from 0 on", fields["bytes"])
		}
	case fields["sha256"] != nil:
		s.name = "sha256"
		s.new = sha256.New
	default:
		return nil, nil
	}
	s.digest, err = hexField(fields[s.name])
	if err == nil && len(s.digest) != s.new().Size() {
		err = fmt.Errorf("%d bytes are no checksum", len(s.digest))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

// hashFactor is the factor of the corpora's multiplicative hash.
const hashFactor = 2654435761

// parseRule reads a rule, which derives the i-th element from u(i) =
// i·hashFactor mod 2^32: the remainder by a modulus, from a list that repeats,
// shifted right.
func parseRule(raw json.RawMessage) (func(i int) int64, error) {
	fields, err := object(raw, []string{"kind", "mod", "shift"})
	if err != nil {
		return nil, err
	}
	if kind := fields["kind"]; kind != nil && string(kind) != `"multiplicative-hash"` {
		return nil, fmt.Errorf("no kind %s", kind)
	}
	if fields["mod"] == nil && fields["shift"] == nil {
		return nil, errors.New("it has neither mod nor shift")
	}
	var mods []uint32
	if raw := fields["mod"]; raw != nil {
		if err := json.Unmarshal(raw, &mods); err != nil {
			return nil, fmt.Errorf("mod: %w", err)
		}
		if len(mods) == 0 || slices.Contains(mods, 0) {
			return nil, fmt.Errorf("mod %s; it is a list of numbers from 1 on", raw)
		}
	}
	shift := 0
	if raw := fields["shift"]; raw != nil {
		if shift, err = natural(raw); err != nil {
			return nil, fmt.Errorf("shift: %w", err)
		}
	}
	if mods == nil {
		return func(i int) int64 { return int64(uint32(i) * hashFactor >> shift) }, nil
	}
	return func(i int) int64 { return int64(uint32(i) * hashFactor % mods[i%len(mods)] >> shift) }, nil
}

// parseIota reads [start, step], and the modulus if there is one.
func parseIota(raw, mod json.RawMessage) (func(i int) int64, error) {
	var ends []int64
	if err := json.Unmarshal(raw, &ends); err != nil {
		return nil, err
	}
	if len(ends) != 2 {
		return nil, fmt.Errorf("%s is no [start, step]", raw)
	}
	start, step := ends[0], ends[1]
	// A tensor has at most maxResult elements, so the numbers stay within int64.
	const far = 1 << 31
	if start < -far || start > far || step < -far || step > far {
		return nil, fmt.Errorf("%s; both lie within ±2^31", raw)
	}
	if mod == nil {
		return func(i int) int64 { return start + int64(i)*step }, nil
	}
	m, err := natural(mod)
	if err != nil || m == 0 {
		return nil, fmt.Errorf("mod %s; it is a number from 1 on", mod)
	}
	return func(i int) int64 {
		v := (start + int64(i)*step) % int64(m)
		if v < 0 {
			v += int64(m)
		}
		return v
	}, nil
}

// tensor returns the tensor that is described.
func (t *described) tensor() (garner.Tensor, error) {
	switch {
	case t.bytes != nil:
		return t.ofBytes()
	case t.values != nil && t.codes:
		return ofCodes(t.dtype, t.shape, t.values)
	case t.values != nil:
		return ofValues(t.dtype, t.shape, t.values)
	case t.fill == nil && t.number == nil:
		return garner.Tensor{}, errors.New("its elements are not given")
	}
	n, err := t.size()
	if err != nil {
		return garner.Tensor{}, err
	}
	flat, err := t.part(0, n)
	if err != nil {
		return garner.Tensor{}, err
	}
	return flat.Reshape(t.shape...)
}

func (t *described) ofBytes() (garner.Tensor, error) {
	made, err := garner.FromBytes(t.dtype, t.bytes, t.shape...)
	if err != nil || t.values == nil {
		return made, err
	}
	said, err := ofValues(t.dtype, t.shape, t.values)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := same(made, said, false); err != nil {
		return garner.Tensor{}, fmt.Errorf("its values are not its bytes: %w", err)
	}
	return made, nil
}

// ofCodes returns a tensor of a type of 4 bits, given the list of its codes.
func ofCodes(dtype garner.DType, shape garner.Shape, raw json.RawMessage) (garner.Tensor, error) {
	codes, err := ofValues(garner.U4, shape, raw)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := codes.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.FromBytes(dtype, b, shape...)
}

// ofValues returns a tensor of a JSON list. It allocates nothing for a shape
// that the list does not fill.
func ofValues(dtype garner.DType, shape garner.Shape, raw json.RawMessage) (garner.Tensor, error) {
	fail := func(err error) (garner.Tensor, error) { return garner.Tensor{}, err }
	n, ok := shape.Len()
	if !ok || n > len(raw) {
		return fail(fmt.Errorf("shape %s holds more elements than there are values", shape))
	}
	var strs []string
	into, err := garner.Tensor{}, error(nil)
	switch dtype {
	case garner.String:
	case garner.Complex64:
		into, err = garner.New(garner.F32, n, 2)
	case garner.Complex128:
		into, err = garner.New(garner.F64, n, 2)
	default:
		into, err = garner.New(dtype, shape...)
	}
	if err != nil {
		return fail(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return fail(errors.New("values is no list"))
	}
	count := 0
	for ; dec.More(); count++ {
		if count == n {
			return fail(fmt.Errorf("there are more values than the %d of shape %s", n, shape))
		}
		switch {
		case dtype == garner.String:
			token, err := dec.Token()
			s, ok := token.(string)
			if err != nil || !ok {
				return fail(fmt.Errorf("value %d is no string", count))
			}
			strs = append(strs, s)
		case dtype.IsComplex():
			if err := setPair(into, count, dec); err != nil {
				return fail(fmt.Errorf("value %d: %w", count, err))
			}
		default:
			if err := setNext(into, count, dec); err != nil {
				return fail(fmt.Errorf("value %d: %w", count, err))
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return fail(syntax(err))
	}
	if count < n {
		return fail(fmt.Errorf("there are %d values for the %d of shape %s", count, n, shape))
	}
	switch {
	case dtype == garner.String:
		return garner.FromSlice(strs, shape...)
	case dtype.IsComplex():
		b, err := into.Bytes()
		if err != nil {
			return fail(err)
		}
		return garner.FromBytes(dtype, b, shape...)
	}
	return into, nil
}

// setPair reads [re, im] into two adjacent elements.
func setPair(into garner.Tensor, i int, dec *json.Decoder) error {
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return errors.New("a complex number is written [re, im]")
	}
	for part := range 2 {
		if err := setNext(into, 2*i+part, dec); err != nil {
			return err
		}
	}
	if token, err := dec.Token(); err != nil || token != json.Delim(']') {
		return errors.New("a complex number is written [re, im]")
	}
	return nil
}

// setNext reads a number or a bool into an element, exactly.
func setNext(into garner.Tensor, i int, dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return syntax(err)
	}
	dtype := into.DType()
	switch v := token.(type) {
	case json.Number:
		if dtype != garner.Bool {
			return into.SetText(i, v.String())
		}
	case bool:
		if dtype == garner.Bool {
			return into.SetText(i, strconv.FormatBool(v))
		}
	case string:
		if dtype.IsFloat() && slices.Contains([]string{"NaN", "Infinity", "-Infinity", "-0"}, v) {
			return into.SetText(i, v)
		}
	}
	return fmt.Errorf("%v is no %s", token, dtype)
}

// size returns how many elements a tensor has that is not listed.
func (t *described) size() (int, error) {
	n, ok := t.shape.Len()
	if !ok || n > maxBytes/max(1, bytesOf(t.dtype)) {
		return 0, fmt.Errorf("shape %s is larger than %d MiB, the most that a case may take", t.shape, maxBytes>>20)
	}
	return n, nil
}

// bytesOf returns how many bytes an element takes in memory, at least one: a
// limit on packed types limits their elements.
func bytesOf(dtype garner.DType) int {
	if dtype == garner.String {
		return 16 // the header of a string
	}
	return max(1, dtype.Bits()/8)
}

// part returns n elements of a tensor that is not listed, from the first-th on, as
// a vector.
func (t *described) part(first, n int) (garner.Tensor, error) {
	if t.fill != nil {
		return t.filled(n)
	}
	return t.numbered(first, n)
}

func (t *described) filled(n int) (garner.Tensor, error) {
	one, err := ofValues(t.dtype, nil, slices.Concat(json.RawMessage("["), t.fill, json.RawMessage("]")))
	if err != nil {
		return garner.Tensor{}, fmt.Errorf("fill: %w", err)
	}
	if t.dtype == garner.String {
		strs, err := garner.Values[string](one)
		if err != nil {
			return garner.Tensor{}, err
		}
		return garner.FromSlice(slices.Repeat(strs, n), n)
	}
	if t.dtype.Packed() {
		return t.each(n, func(int) (string, error) { return one.At() })
	}
	b, err := one.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.FromBytes(t.dtype, bytes.Repeat(b, n), n)
}

// each returns a vector of the texts of its elements.
func (t *described) each(n int, text func(i int) (string, error)) (garner.Tensor, error) {
	into, err := garner.New(t.dtype, n)
	for i := 0; i < n && err == nil; i++ {
		var s string
		if s, err = text(i); err == nil {
			err = into.SetText(i, s)
		}
	}
	return into, err
}

// numbered returns elements that are a function of their position. Large tensors
// have tens of millions of them, so the common types are written without text.
func (t *described) numbered(first, n int) (garner.Tensor, error) {
	bits := t.dtype.Bits()
	var put func(b []byte, v int64)
	switch {
	case t.dtype == garner.F32:
		put = func(b []byte, v int64) { binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v))) }
	case t.dtype == garner.F64:
		put = func(b []byte, v int64) { binary.LittleEndian.PutUint64(b, math.Float64bits(float64(v))) }
	case t.dtype.IsInteger() && bits == 8:
		put = func(b []byte, v int64) { b[0] = byte(v) }
	case t.dtype.IsInteger() && bits == 16:
		put = func(b []byte, v int64) { binary.LittleEndian.PutUint16(b, uint16(v)) }
	case t.dtype.IsInteger() && bits == 32:
		put = func(b []byte, v int64) { binary.LittleEndian.PutUint32(b, uint32(v)) }
	case t.dtype.IsInteger() && bits == 64:
		put = func(b []byte, v int64) { binary.LittleEndian.PutUint64(b, uint64(v)) }
	default:
		return t.each(n, func(i int) (string, error) { return strconv.FormatInt(t.number(first+i), 10), nil })
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if t.dtype.IsInteger() && bits < 64 {
		low, high = -1<<(bits-1), 1<<(bits-1)-1
	}
	if t.dtype.IsUnsigned() {
		low, high = 0, 1<<(bits%64)-1
		if bits == 64 {
			high = math.MaxInt64
		}
	}
	b := make([]byte, n*bits/8)
	for i := range n {
		v := t.number(first + i)
		if v < low || v > high {
			return garner.Tensor{}, fmt.Errorf("%d, element %d, is outside %s", v, first+i, t.dtype)
		}
		put(b[i*bits/8:], v)
	}
	return garner.FromBytes(t.dtype, b, n)
}
