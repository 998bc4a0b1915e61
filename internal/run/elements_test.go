package run_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestRecordedElements holds that each element of testdata/elements.jsonl.gz is what OpenVINO
// answered, where its inputs are parameters and where they are constants, or is refused; and that numbers
// of everyday are run.
func TestRecordedElements(t *testing.T) {
	elements := func(dtype, text string) []garner.Tensor {
		d, err := garner.ParseDType(dtype)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var list []garner.Tensor
		for size := max(d.Bits()/8, 1); len(raw) > 0; raw = raw[size:] {
			made, err := garner.FromBytes(d, raw[:size], 1)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, made)
		}
		return list
	}
	constants := map[string][]bool{"pp": {false, false}, "dyn": {false, false}, "pc": {false, true}, "cp": {true, false}, "cc": {true, true}}
	equal, refused := 0, 0
	lines := linesOf(t, "testdata/elements.jsonl.gz")
	for lines.Scan() {
		var l struct {
			Op, DType, To, Made string
			Python              *bool
			Inputs              []string
			Want                map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		a := attrs{}
		if l.To != "" {
			a["destination_type"] = l.To
		}
		if l.Python != nil {
			a["m_pythondiv"] = *l.Python
		}
		in := make([][]garner.Tensor, len(l.Inputs))
		for i, text := range l.Inputs {
			in[i] = elements(l.DType, text)
		}
		for mode, text := range l.Want {
			want, same := elements(l.Made, text), 0
			for k := range want {
				given := make(map[*model.Value]garner.Tensor)
				n := node(l.Op, 1, a)
				for i := range in {
					v := constant(in[i][k])
					if !constants[mode][i] {
						v = &model.Value{Name: fmt.Sprint("x", i), Spec: model.Unknown}
						given[v] = in[i][k]
					}
					n.Inputs = append(n.Inputs, v)
				}
				got, err := run.Values(context.Background(), of("OpenVINO IR", n), n.Outputs, given, 1<<20)
				if err != nil {
					if refused++; !errors.Is(err, garner.ErrDType) && !bytes.Contains([]byte(err.Error()), []byte(" by 0")) {
						t.Errorf("%s of %s, %s: %v", l.Op, l.DType, mode, err)
					}
					continue
				}
				x, err := got[0].Bytes()
				y, bad := want[k].Bytes()
				if err != nil || bad != nil || got[0].DType() != want[k].DType() || !bytes.Equal(x, y) {
					t.Errorf("%s %v of %s, %s, of %v: %v; want %v", l.Op, a, l.DType, mode, at(in, k), got[0], want[k])
				}
				same++
			}
			equal += same
			if floats := l.Made[0] == 'f' && (l.Op == "Mod" || l.Op == "FloorMod"); same == 0 && !floats {
				t.Errorf("%s %v of %s, %s: none is run", l.Op, a, l.DType, mode)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if t.Logf("%d equal, %d refused", equal, refused); equal == 0 || equal < refused {
		t.Errorf("%d equal, %d refused", equal, refused)
	}
}

// at lists the k-th elements of lists.
func at(lists [][]garner.Tensor, k int) (some []garner.Tensor) {
	for _, list := range lists {
		some = append(some, list[k])
	}
	return some
}
