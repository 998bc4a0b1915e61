package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/pages"
)

// assembled lists the assembly functions of this build.
func assembled(t *testing.T) []string {
	t.Helper()
	if len(Forms()) == 1 {
		return nil // another architecture, or built with the tag purego
	}
	files, err := filepath.Glob("*_" + runtime.GOARCH + ".s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly for %s: %v", runtime.GOARCH, err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^TEXT\s+·(\w+)\(SB\)`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// nameOf returns the name of a function, or "" for nil.
func nameOf(function any) string {
	v := reflect.ValueOf(function)
	if v.IsNil() {
		return ""
	}
	name := runtime.FuncForPC(v.Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], ".abi0")
}

// TestRowsAtPlaces compares the forms of long slices, in large results and small ones, with the
// generic one, at every alignment of dst.
func TestRowsAtPlaces(t *testing.T) {
	src := make([]byte, 3<<20)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	each(t, func(t *testing.T, form string) {
		for _, size := range []int{2048, 2111, 2112, 2175, 4096, 5000, 8256} {
			for _, result := range []int{64 << 10, 2 << 20} {
				rows := make([]int64, (result-64)/size)
				for j := range rows {
					rows[j] = int64(j * 7919 % (len(src) - size))
				}
				for at := range 65 {
					if result > 1<<20 && at%13 != 0 {
						continue
					}
					got, want := make([]byte, result), make([]byte, result)
					m := Move{At: at, Step: size, Size: size, Elem: 1}
					Rows(got, src, rows, m, nil)
					RowsGeneric(want, src, rows, m, nil)
					if !bytes.Equal(got, want) {
						t.Fatalf("%s: slices of %d at %d of %d bytes differ from the definition", form, size, at, result)
					}
				}
			}
		}
	})
}

// TestAssemblyIsTried compares every form with the generic one, on memory whose
// alignment lets every form run, and checks that each assembly function is
// selected for some size. The fuzz tests would not run a function that no size
// selects.
func TestAssemblyIsTried(t *testing.T) {
	tried := map[string]bool{"": true}
	each(t, func(t *testing.T, form string) {
		for _, size := range sizes[1:] {
			move, ahead := rowsForm(size)
			for _, f := range []rowsFunc{move, ahead, streamForm(size, size, true), streamForm(size, size, false)} {
				tried[nameOf(f)] = true
			}
			for _, m := range []Move{{}, {Stream: true}} {
				for _, asked := range []int{0, 5, 10} {
					m.Size, m.Elem = size, 1
					m.Ahead.Rows = make([]int64, asked)
					for _, m.Step = range []int{size, (size + 63) &^ 63} {
						tryRows(t, form, m)
					}
				}
			}
		}
		for size := 1; size <= SlicesMost; size++ {
			move, ahead := slicesForm(size)
			tried[nameOf(move)], tried[nameOf(ahead)] = true, true
			for _, asked := range []int{0, 3, 50, 200} {
				trySlices(t, form, size, asked)
			}
		}
		for _, size := range []int{1, 2, 4, 8} {
			for _, width := range []int{4, 8} {
				move, ahead := elementsForm(size, width)
				tried[nameOf(move)], tried[nameOf(ahead)] = true, true
				columns, past := columnsForm(size, width, 10, 20)
				flat, each, stream := flatForm(size, width)
				for _, f := range []columnsFunc{columns, past, flat, each, stream} {
					tried[nameOf(f)] = true
				}
				for _, v := range []Values{{}, {Ahead: 3}, {Ahead: 50}, {Stream: true}, {Ahead: 50, Stream: true}} {
					v.Width = width
					tryElements(t, form, size, v)
				}
				tryColumns(t, form, size, width, false)
				tryColumns(t, form, size, width, true)
			}
		}
		for _, width := range []int{4, 8} {
			for k := 1; k <= MaxTuple; k++ {
				tried[nameOf(tuplesForm(width, k))] = true
				tryTuples(t, form, width, k)
			}
		}
		for _, bits := range []int{8, 16, 32, 64} {
			for _, unsigned := range []bool{false, true} {
				tried[nameOf(widenForm(Width{bits, unsigned}))] = true
				tryLoad(t, form, Width{bits, unsigned})
			}
		}
		for _, o := range []Outside{Clamp, Wrap} {
			tried[nameOf(settleForm(o))] = true
			trySettle(t, form, o)
		}
		for c := range conversions {
			tried[nameOf(convertForm(Conversion(c)))] = true
			tryConvert(t, form, Conversion(c))
		}
		for kind := range stored {
			tried[nameOf(decodeForm(Stored(kind)))] = true
			tryDecode(t, form, Stored(kind))
		}
		for _, bits := range []int{4, 8} {
			tried[nameOf(affineForm(bits))] = true
			tryAffine(t, form, bits)
			for _, signed := range []bool{false, true} {
				for _, half := range []bool{false, true} {
					tried[nameOf(scaleForm(bits, signed, half))] = true
					tryScale(t, form, Runs{Bits: bits, Signed: signed, Float16: half})
				}
			}
		}
		for _, bits := range []int{2, 4, 8} {
			for _, weighted := range []bool{false, true} {
				sum, _ := affineSumForm(bits, weighted)
				tried[nameOf(sum)] = true
				trySumAffine(t, form, bits, weighted)
			}
		}
		for _, n := range []Number{F32, F64} {
			for _, of := range [][3]bool{{}, {true, false, false}, {false, true, false}, {true, false, true}} {
				f, _ := bagsForm(n, of[0], of[1], of[2])
				tried[nameOf(f)] = true
			}
			for _, reciprocal := range []bool{false, true} {
				tried[nameOf(quotientForm(n == F64, reciprocal))] = true
				tryDivide(t, form, n, reciprocal)
			}
		}
		if form != forms[0] {
			// A prefetch has no result; this checks only that it does not fault.
			tried["prefetchLines"] = true
			Prefetch(make([]byte, 1000))
			Prefetch[byte](nil)
			Prefetch(make([]string, 9)[1:])
		}
	})
	if size := LastCache(); size < 0 || size > 0 && size < 64<<10 {
		t.Errorf("the largest cache has %d bytes", size)
	}
	names := assembled(t)
	tried["cpuid"] = slices.Contains(names, "cpuid")
	for _, name := range names {
		if slices.ContainsFunc(formNames[:], func(form string) bool {
			return strings.HasSuffix(name, form) && !slices.Contains(forms, form)
		}) {
			continue // this machine lacks the instructions
		}
		if !tried[name] {
			t.Errorf("no size is moved by %s", name)
		}
	}
	for name := range tried {
		if name != "" && !slices.Contains(names, name) && tried[name] {
			t.Errorf("%s is in no file of assembly", name)
		}
	}
}

// loops returns Go functions whose bodies are the loops in the comments of the
// assembly functions. A parameter is a field of the argument struct, where a
// pointer is the slice that begins there.
func loops(t *testing.T) (source string, names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	parameter := func(list *strings.Builder, field *ast.Field) {
		for _, name := range field.Names {
			of := types.ExprString(field.Type)
			fmt.Fprintf(list, "%s %s, ", name.Name, strings.Replace(of, "*", "[]", 1))
		}
	}
	structs, functions := map[string]string{}, map[string]*ast.FuncDecl{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Body == nil {
					functions[decl.Name.Name] = decl
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						if fields, ok := spec.Type.(*ast.StructType); ok {
							var list strings.Builder
							for _, field := range fields.Fields.List {
								parameter(&list, field)
							}
							structs["*"+spec.Name.Name] = list.String()
						}
					}
				}
			}
		}
	}
	names = slices.Sorted(maps.Keys(functions))
	var b strings.Builder
	for _, name := range names {
		decl := functions[name]
		var list strings.Builder
		for _, field := range decl.Type.Params.List {
			if args := structs[types.ExprString(field.Type)]; args != "" {
				list.WriteString(args)
			} else {
				parameter(&list, field)
			}
		}
		result := ""
		if decl.Type.Results != nil {
			field := decl.Type.Results.List[0]
			result = fmt.Sprintf("(%s %s)", field.Names[0].Name, types.ExprString(field.Type))
		}
		fmt.Fprintf(&b, "func loop_%s(%s) %s {\n", name, list.String(), result)
		code := 0
		for line := range strings.Lines(decl.Doc.Text()) {
			if strings.HasPrefix(line, "\t") {
				b.WriteString(line)
				code++
			}
		}
		if code < 3 {
			t.Errorf("the comment of %s has no loop", name)
		}
		b.WriteString("}\n\n")
	}
	return b.String(), names
}

// littleEndian stands for encoding/binary, as far as the loops use it.
const littleEndian = `package binary

var LittleEndian order

type order struct{}

func (order) Uint16([]byte) uint16 { return 0 }
func (order) Uint32([]byte) uint32 { return 0 }
func (order) Uint64([]byte) uint64 { return 0 }

func (order) PutUint16([]byte, uint16) {}
func (order) PutUint32([]byte, uint32) {}
`

type onlyPackage struct{ *types.Package }

func (p onlyPackage) Import(path string) (*types.Package, error) {
	if path != p.Path() {
		return nil, fmt.Errorf("a loop imports %s", path)
	}
	return p.Package, nil
}

// TestStubsAreLoops checks that the comment of every assembly function has a Go
// loop that compiles with the function's arguments as variables.
func TestStubsAreLoops(t *testing.T) {
	source, names := loops(t)
	for _, name := range assembled(t) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not declared", name)
		}
	}
	files := token.NewFileSet()
	check := func(path, text string, config types.Config) *types.Package {
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		config.Error = func(err error) { t.Error(err) }
		checked, _ := config.Check(path, files, []*ast.File{file}, nil)
		return checked
	}
	binary := check("encoding/binary", littleEndian, types.Config{})
	check("loops", `package loops

import "encoding/binary"

type Component struct{ Dim, Stride int64 }

func prefetch(b []byte, at, n int) {}
func single(half uint16) uint32 { return 0 }
func half(single uint32) uint16 { return 0 }

func halfAt(b []byte) float32 { return 0 }

func put(b []byte, v float32) {}

func putHalf(b []byte, v float32) {}

func fma(a, b, c float32) float32 { return 0 }

type Place struct{ Codes, Scale, Zero int64 }

func prefetchRow(row Place, codes, scales, zeros int) {}

func at32(b []byte) float32 { return 0 }

func at64(b []byte) float64 { return 0 }

func put32(b []byte, v float32) {}

func put64(b []byte, v float64) {}

const negative32, negative64 = 0, 0

func fill32(b []byte, v float32) {}

func fill64(b []byte, v float64) {}

func factors(b []byte, j int) (s, t float32) { return 0, 0 }

var _ = binary.LittleEndian

`+source, types.Config{Importer: onlyPackage{binary}})
}

// tryRows moves ten rows into page-aligned memory, which non-temporal stores need.
func tryRows(t *testing.T, form string, m Move) {
	t.Helper()
	rows := []int64{3, 0, 9, 9, 1, 2, 8, 4, 7, 0}
	src := pattern(10 * m.Size)
	for j := range rows {
		rows[j] *= int64(m.Size)
	}
	got, err := pages.Alloc(10 * m.Step)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Free(got)
	want := make([]byte, len(got))
	Rows(got, src, rows, m, nil)
	RowsGeneric(want, src, rows, m, nil)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %+v: differs from the definition", form, m)
	}
}

// tryElements moves a hundred elements into page-aligned memory.
func tryElements(t *testing.T, form string, size int, v Values) {
	t.Helper()
	const n, dim = 100, 10
	src := pattern(dim * size)
	var want []byte
	v.Bytes, v.Dim = make([]byte, n*v.Width), dim
	for j := range n {
		at := (j*3 + 2) % dim
		v.Bytes[j*v.Width] = byte(at)
		want = append(want, src[at*size:(at+1)*size]...)
	}
	got, err := pages.Alloc(n * size)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Free(got)
	if moved := Elements(got, src, n, size, v); moved != n || !bytes.Equal(got, want) {
		t.Errorf("%s: size %d, %+v: %d of %d moved, or they differ", form, size, v, moved, n)
	}
}

// trySlices moves a hundred slices, up to the value before the last, which is
// outside.
func trySlices(t *testing.T, form string, size, asked int) {
	t.Helper()
	const n, dim = 100, 10
	src := pattern(dim * size)
	var want []byte
	v := Values{Bytes: make([]byte, n*8), Dim: dim, Ahead: asked}
	for j := range n {
		at := (j*3 + 2) % dim
		v.Bytes[j*8] = byte(at)
		want = append(want, src[at*size:(at+1)*size]...)
	}
	v.Bytes[(n-2)*8] = dim
	got, moved := make([]byte, n*size), n-2
	if m := Slices(got, src, n, size, v); m != moved || !bytes.Equal(got[:moved*size], want[:moved*size]) {
		t.Errorf("%s: slices of %d bytes: %d of %d moved, or they differ", form, size, m, n-2)
	}
}

// tryColumns moves three tuples of twenty columns out of ten rows.
func tryColumns(t *testing.T, form string, size, width int, stream bool) {
	t.Helper()
	const tuples, n, dim, to = 3, 20, 10, 192
	src, values := pattern(dim*n*size), make([]byte, tuples*n*width)
	got, err := pages.Alloc(tuples * to)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Free(got)
	want := make([]byte, len(got))
	for i := range tuples {
		for j := range n {
			row := (i*3 + j*7 + 1) % dim
			values[(i*n+j)*width] = byte(row)
			copy(want[i*to+j*size:], src[(row*n+j)*size:][:size])
		}
	}
	c := Columns{Values: Values{Bytes: values, Width: width, Dim: dim, Stream: stream}, From: n * width, To: to, Tuples: tuples, Wide: n, Stride: n, Lane: 1}
	if moved := Gather(got, src, size, c); moved != tuples || !bytes.Equal(got, want) {
		t.Errorf("%s: size %d, index of %d bytes: %d of %d tuples moved, or they differ", form, size, width, moved, tuples)
	}
}

// tryTuples resolves twenty tuples, the last of them invalid.
func tryTuples(t *testing.T, form string, width, k int) {
	t.Helper()
	const n = 20
	values, axes, want := make([]byte, n*k*width), make([]Component, k), make([]int64, n)
	for j := range n {
		want[j] = 100 + int64(j)
		for c := range k {
			v := (3*j + c) % 10
			values[(j*k+c)*width] = byte(v)
			axes[c] = Component{Dim: 10, Stride: 1 << (8 * c)}
			want[j] += int64(v) << (8 * c)
		}
	}
	values[(n*k-1)*width], want[n-1] = 10, -1
	rows := make([]int64, n)
	if o := Tuples(rows, values, width, 100, 1, axes, false); o != 1 || !slices.Equal(rows, want) {
		t.Errorf("%s: tuples of %d in %d bytes: %v, %d outside; want %v", form, k, width, rows, o, want)
	}
}

// pattern returns n bytes that differ from place to place.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestValuesAreLookedAtOnce changes index values while a kernel reads them. A kernel
// that loaded a value once for the check and once more for the move would read
// memory outside src, and fault.
func TestValuesAreLookedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, form string) {
		if form == forms[0] {
			return // the Go loops load a value into a variable
		}
		for _, width := range []int{4, 8} {
			const n, dim = 64, 16
			values := make([]int64, n*width/8)
			stop, stopped := make(chan bool), make(chan bool)
			go func() {
				defer close(stopped)
				for i := int64(0); ; i++ {
					select {
					case <-stop:
						return
					default:
						// An invalid value; one of 8 bytes is outside the address space.
						atomic.StoreInt64(&values[i%8], (i/8%2)*(1<<30|1<<58))
					}
				}
			}()
			src, dst := guard.Bytes(t, dim*4), make([]byte, n*4)
			v := Values{Bytes: Bytes(values), Width: width, Dim: dim}
			c := Columns{Values: v, Tuples: 1, Wide: n, Stride: 1}
			for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
				for range 100 {
					Elements(dst, src, n, 4, v)
					if columns, _ := columnsForm(4, width, dim, 1); columns != nil {
						Gather(dst, src, 4, c)
					}
				}
			}
			close(stop)
			<-stopped
		}
	})
}

// put writes an f32, single reads one.
func put(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

func single(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// digit returns bits bits of b from one on.
func digit(b []byte, at, bits int) int { return int(b[at/8]) >> (at % 8) & (1<<bits - 1) }

// tryDecode decodes blocks whose scale is 1 and whose minimum is 2, in memory whose
// other bytes must stay. Package codec's tests hold every other scale.
func tryDecode(t *testing.T, form string, kind Stored) {
	t.Helper()
	const one, two = "\x00\x3c", "\x00\x40"
	size := stored[kind]
	values := &[16]int8{-8, 7, 1, 9, -128, 127, 4, 5, 0, 3, 2, 1, -1, -2, -3, 99}
	for _, n := range []int{0, 1, 3, 16, 35, decodedMost/4/size.elements + 17} {
		src := pattern(n * size.bytes)
		got := bytes.Repeat([]byte{0xa5}, n*size.elements*4+64)
		want := bytes.Clone(got)
		for b := range n {
			block, to := src[b*size.bytes:][:size.bytes], want[b*size.elements*4:]
			for e := range size.elements {
				v, factor := 0, float32(1)
				switch kind {
				case Nibbles:
					copy(block, one)
					v = int(values[digit(block[2:], e%16*8+e/16*4, 4)])
				case MXFP4:
					block[0] = 128
					v = int(values[digit(block[1:], e%16*8+e/16*4, 4)])
				case Q8_0:
					copy(block, one)
					v = int(int8(block[2+e]))
				case Q4_K, Q5_K:
					copy(block, one+two)
					j, codes := e/32, block[16:]
					s, m := digit(block[4:], 8*j, 6), digit(block[8:], 8*j, 6)
					if j >= 4 {
						s = digit(block[8:], 8*j, 4) | digit(block[4:], 8*(j-4)+6, 2)<<4
						m = digit(block[8:], 8*j+4, 4) | digit(block[8:], 8*(j-4)+6, 2)<<4
					}
					fifth := 0
					if kind == Q5_K {
						fifth, codes = digit(codes, e%32*8+j, 1)<<4, codes[32:]
					}
					v = s*(digit(codes, (e/64*32+e%32)*8+j%2*4, 4)|fifth) - 2*m
				case Q6_K:
					copy(block[208:], one)
					v = digit(block, (e/128*64+e%64)*8+e%128/64*4, 4) | digit(block[128:], (e/128*32+e%32)*8+e%128/32*2, 2)<<4
					v, factor = v-32, float32(int8(block[192+e/16])) // 0·−1 is −0
				}
				put(to[4*e:], float32(v)*factor)
			}
		}
		done := Decode(kind, values, got[:len(got)-64], src, []int64{0}, n)
		if done != (decodeForm(kind) != nil) {
			t.Errorf("%s: kind %d: %d blocks are decoded: %v", form, kind, n, done)
		}
		to := 0
		if done {
			to = n * size.elements * 4
		}
		if !bytes.Equal(got[:to], want[:to]) {
			t.Errorf("%s: kind %d: %d blocks differ from the formula", form, kind, n)
		}
		if slices.ContainsFunc(got[to:], func(b byte) bool { return b != 0xa5 }) {
			t.Errorf("%s: kind %d: wrote behind %d blocks", form, kind, n)
		}
		if each := n / 5; done && each > 0 && n < 100 { // the same blocks, as rows in another order
			edge, at, row := guard.Bytes(t, each*5*size.bytes), []int64{}, each*size.elements*4
			copy(edge, src)
			got := guard.Bytes(t, 23*row)
			for j := range 23 {
				at = append(at, int64(j*3%5*each*size.bytes))
			}
			Decode(kind, values, got, edge, at, each)
			for j := range at {
				if from := j * 3 % 5 * row; !bytes.Equal(got[j*row:(j+1)*row], want[from:from+row]) {
					t.Errorf("%s: kind %d: row %d of %d blocks is another", form, kind, j, each)
				}
			}
			if !panics(func() { Decode(kind, values, got, edge, []int64{1}, 5*each) }) || !panics(func() { Decode(kind, values, got, edge, []int64{-1}, 1) }) {
				t.Errorf("%s: kind %d: a row outside is accepted", form, kind)
			}
		}
	}
}

// tryAffine decodes rows of up to 70 codes, of which one has a scale or a bias that is
// not finite.
func tryAffine(t *testing.T, form string, bits int) {
	t.Helper()
	const rows = 20
	scales := map[int][2]string{ // 1.5 and -3.25, infinity and NaN
		8: {"\x00\x00\xc0\x3f\x00\x00\x50\xc0", "\x00\x00\x80\xff\x01\x00\x80\x7f"},
		4: {"\x00\x3e\x80\xc2", "\x00\xfc\x01\x7e"},
	}[bits]
	for n := range 70 {
		codes := (n*bits + 7) / 8
		size := codes + bits
		src, at := guard.Bytes(t, rows*size), make([]int64, rows+n%3)
		copy(src, pattern(len(src)))
		bad := n % (rows + 1)
		for j := range rows {
			tail := src[j*size+codes:]
			copy(tail, scales[0])
			if j == bad {
				half := n % 2 * bits / 2
				copy(tail[half:bits], scales[1][half:][:bits/2])
			}
		}
		for j := range at {
			at[j] = int64((j * 7 % rows) * size)
		}
		want := slices.Index(at, int64(bad*size))
		if want < 0 {
			want = len(at)
		}
		if affineForm(bits) == nil || n < 16 {
			want = 0
		}
		got := guard.Bytes(t, 4*n*len(at))
		if done := Affine(got, src, at, n, codes, bits); done != want {
			t.Errorf("%s: %d of %d rows of %d codes of %d bits, want %d", form, done, len(at), n, bits, want)
		}
		for j := range at {
			for i := range n {
				v := float32(0)
				if j < want && i < n&^15 {
					v = float32(digit(src[at[j]:], i*bits, bits))*1.5 - 3.25
				}
				if got := single(got[4*(j*n+i):]); got != v {
					t.Fatalf("%s: row %d, code %d of %d of %d bits is %v, want %v", form, j, i, n, bits, got, v)
				}
			}
		}
	}
}

// tryScale decodes rows of one to three runs of 16 to 128 codes, with a scale and a zero
// point of each run and of all, from places in any order.
func tryScale(t *testing.T, form string, r Runs) {
	t.Helper()
	if !r.Fast() {
		return
	}
	const rows = 21
	values := new([256]float32)
	for i := range values[:16] {
		values[i] = float32(i*i - 20)
	}
	r.Values = values
	floats := func(n int, value func(i int) float32) []float32 {
		all := view[float32](guard.Bytes(t, 4*n))
		for i := range all {
			all[i] = value(i)
		}
		return all
	}
	width := 4
	if r.Float16 {
		width = 2
	}
	for seed, length := range []int{16, 48, 64, 80, 128} {
		for _, r.Count = range []int{1, 3} {
			r.Length, r.ScaleStep, r.ZeroStep, r.Far = length, seed%2, seed/2%2, seed != 2
			size := r.Count * r.Length * r.Bits / 8
			src := guard.Bytes(t, rows*size)
			copy(src, pattern(len(src)))
			eachScale, eachZero := 1+(r.Count-1)*r.ScaleStep, 1+(r.Count-1)*r.ZeroStep
			r.Scales = floats(rows*eachScale, func(i int) float32 { return []float32{1, -2, 0.25}[i%3] })
			r.Zeros = floats(rows*eachZero, func(i int) float32 { return float32(i%5) - 1 })
			places := make([]Place, rows+3)
			for j := range places {
				at := int64(j * 8 % rows)
				places[j] = Place{at * int64(size), at * int64(eachScale), (at + 1) % rows * int64(eachZero)}
			}
			got := guard.Bytes(t, len(places)*r.Count*r.Length*width)
			Scale(got, src, places, &r)
			for i := range len(places) * r.Count * r.Length {
				p, e := places[i/r.Count/r.Length], i%(r.Count*r.Length)
				code := float32(digit(src[p.Codes:], e*r.Bits, r.Bits))
				if r.Bits == 4 {
					code = values[int(code)]
				} else if r.Signed {
					code = float32(int8(code))
				}
				run := e / r.Length
				want := (code - r.Zeros[int(p.Zero)+run*r.ZeroStep]) * r.Scales[int(p.Scale)+run*r.ScaleStep]
				v := float32(0)
				if !r.Float16 {
					v = single(got[4*i:])
				} else if h := binary.LittleEndian.Uint16(got[2*i:]); h&0x7fff > 0 {
					v = math.Float32frombits(uint32(h&0x8000)<<16 | uint32(h&0x7fff)<<13 + 112<<23) // a normal f16
				}
				if v != want {
					t.Fatalf("%s: %d runs of %d codes of %d bits, signed %v: code %d is %v, want %v", form, r.Count, r.Length, r.Bits, r.Signed, i, v, want)
				}
			}
			for _, p := range []Place{{Codes: -1}, {Scale: -1}, {Zero: -1}, {Codes: int64(len(src)-size) + 1}, {Scale: int64(len(r.Scales)-eachScale) + 1}, {Zero: int64(len(r.Zeros)-eachZero) + 1}} {
				if !panics(func() { Scale(got, src, []Place{{}, p}, &r) }) {
					t.Errorf("%s: a row at %+v of %d codes is accepted", form, p, len(src)*8/r.Bits)
				}
			}
		}
	}
}

// TestLongRows decodes rows that take several calls of assembly.
func TestLongRows(t *testing.T) {
	each(t, func(t *testing.T, form string) {
		for _, bits := range []int{8, 4} {
			const n = decodedMost/4*2 + 37
			size := (n*bits+7)/8 + bits
			src := pattern(2 * size)
			for j := range 2 {
				tail := src[(j+1)*size-bits:]
				if bits == 8 {
					put(tail, 1.5)
					put(tail[4:], float32(j))
				} else {
					copy(tail, "\x00\x3e\x00\x3c")
				}
			}
			got := make([]byte, 2*4*n)
			rows := Affine(got, src, []int64{int64(size), 0}, n, size-bits, bits)
			if want := 2; affineForm(bits) != nil && rows != want {
				t.Errorf("%s: %d of %d rows", form, rows, want)
			}
			for j := range rows {
				bias := float32(1 - j)
				if bits == 4 {
					bias = 1
				}
				for i := range n &^ 15 {
					if v, want := single(got[4*(j*n+i):]), float32(digit(src[(1-j)*size:], i*bits, bits))*1.5+bias; v != want {
						t.Fatalf("%s: element %d of row %d of %d bits is %v, want %v", form, i, j, bits, v, want)
					}
				}
			}
			for _, length := range []int{decodedMost/4*2 + 48, decodedMost / 16} {
				const count = 3
				r := Runs{Bits: bits, Values: new([256]float32), Count: count, Length: length, Scales: []float32{0, 1, 2, 3, 4}, Zeros: []float32{0, 1}, ScaleStep: 1}
				if !r.Fast() {
					continue
				}
				for i := range r.Values {
					r.Values[i] = float32(i)
				}
				codes := pattern((count*length + 16) * bits / 8)
				got := make([]byte, 2*4*count*length)
				Scale(got, codes, []Place{{0, 1, 1}, {int64(2 * bits), 2, 0}}, &r)
				for i := range 2 * count * length {
					j, e := i/(count*length), i%(count*length)
					want := (float32(digit(codes, (e+16*j)*bits, bits)) - float32(1-j)) * float32(1+j+e/length)
					if v := single(got[4*i:]); v != want {
						t.Fatalf("%s: code %d of runs of %d of %d bits is %v, want %v", form, i, length, bits, v, want)
					}
				}
			}
		}
	})
}

// panics reports whether a call panics.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// trySettle settles eight values off an axis of five.
func trySettle(t *testing.T, form string, o Outside) {
	t.Helper()
	got := []int64{-6, -5, -1, 0, 4, 5, 9, 1 << 40}
	want := map[Outside][]int64{Clamp: {0, 0, 4, 0, 4, 4, 4, 4}, Wrap: {4, 0, 4, 0, 4, 0, 4, 1}}[o]
	if Settle(got, got, 5, Policy{true, o}); !slices.Equal(got, want) {
		t.Errorf("%s: policy %d: %v, want %v", form, o, got, want)
	}
}

// tryLoad widens 0 to 39 values, so that every remainder modulo 8 occurs.
func tryLoad(t *testing.T, form string, w Width) {
	t.Helper()
	src := pattern(60 * w.Bits / 8)
	for n := range 40 {
		values := make([]int64, n+1)
		values[n] = 77
		Load(values[:n], src, 3, 1, w, 0)
		for j, v := range values[:n] {
			want, at := int64(0), (3+j)*w.Bits/8
			for k := range w.Bits / 8 {
				want |= int64(src[at+k]) << (8 * k)
			}
			if shift := 64 - w.Bits; !w.Unsigned {
				want = want << shift >> shift
			} else if want < 0 {
				want = math.MaxInt64
			}
			if v != want {
				t.Errorf("%s: %+v: value %d of %d is %d, want %d", form, w, j, n, v, want)
			}
		}
		if values[n] != 77 {
			t.Errorf("%s: %+v: wrote behind %d values", form, w, n)
		}
	}
}
