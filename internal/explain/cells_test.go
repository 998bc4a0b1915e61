package explain

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/torch"
)

// shown are the elements and attributes of a picture: nothing that a policy of a page
// against style sheets and scripts stops.
var shown = map[string][]string{
	"svg":     {"xmlns", "width", "height", "viewBox", "role"},
	"title":   {},
	"defs":    {},
	"pattern": {"id", "width", "height", "patternUnits"},
	"g":       {"fill", "stroke", "class", "data-cell", "font-family", "font-size", "font-weight", "text-anchor"},
	"rect":    {"x", "y", "width", "height", "rx", "fill", "stroke", "stroke-width", "stroke-dasharray"},
	"path":    {"d", "fill", "stroke", "stroke-width", "stroke-opacity"},
	"text":    {"x", "y", "data-cell"},
	"tspan":   {"dx", "class", "font-family", "font-size", "font-weight", "text-anchor", "fill"},
}

// TestMarked draws every kind of picture for a page: it is the picture of the file with
// names, and each cell that it draws is described.
func TestMarked(t *testing.T) {
	for _, tt := range pictured {
		t.Run(tt.name, func(t *testing.T) {
			e := explained(t, "op", tt.op, ruletest.Tensor(t, tt.data), ruletest.Tensor(t, tt.indices))
			svg, cells, err := e.Marked()
			if err != nil {
				t.Fatal(err)
			}
			parse(t, svg)
			named := map[string]int{}
			d := xml.NewDecoder(bytes.NewReader(svg))
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				start, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				may, ok := shown[start.Name.Local]
				if !ok {
					t.Errorf("an element %s", start.Name.Local)
				}
				for _, a := range start.Attr {
					if !slices.Contains(may, a.Name.Local) {
						t.Errorf("an attribute %s of %s", a.Name.Local, start.Name.Local)
					}
					if a.Name.Local == "data-cell" && start.Name.Local == "g" {
						named[a.Value]++
					}
				}
			}
			for id := range named {
				if _, ok := cells[id]; !ok {
					t.Errorf("cell %s is drawn and not described", id)
				}
			}
			for id, c := range cells {
				if named[id] != 1 {
					t.Errorf("cell %s is described and drawn %d times", id, named[id])
				}
				for _, other := range c.Related {
					back, ok := cells[other]
					if !ok {
						t.Errorf("cell %s goes with %s, which is not drawn", id, other)
					}
					if other[0] == 'r' || id[0] == 'r' {
						if !slices.Contains(back.Related, id) {
							t.Errorf("cell %s goes with %s, and not that with it", id, other)
						}
					}
				}
			}
			plain, err := e.SVG()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(plain, []byte("data-cell")) || len(plain) > len(svg) {
				t.Errorf("the picture of a file has names of cells")
			}
		})
	}
}

// TestCells compares the words of cells.
func TestCells(t *testing.T) {
	for _, tt := range []struct {
		op                  garner.Op
		data, indices, cell string
		want                Cell
	}{
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "r1", Cell{"result[1]", "result[1] = 30 is data[2], by indices[1] = -1", []string{"d2", "i1"}}},
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "r2", Cell{"result[2]", "result[2] = 0 is filled: outside, by indices[2] = 7", []string{"i2"}}},
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "i1", Cell{"indices[1]", "indices[1] = -1 is position 2 of axis 0", []string{"d2", "r1"}}},
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "i2", Cell{"indices[2]", "indices[2] = 7 is outside axis 0: 0", []string{"r2"}}},
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "d0", Cell{"data[0]", "data[0] = 10 is read once", []string{"i0", "r0"}}},
		{openvino.Gather8{}, "[10,20,30]", "[0,-1,7]", "d1", Cell{"data[1]", "data[1] = 20 is not read", []string{}}},
		{strict.Gather{}, "[10,20,30]", "[0,7]", "r1", Cell{"result[1]", "there is no result[1]: outside, by indices[1] = 7", []string{"i1"}}},
		{strict.Gather{}, "[10,20,30]", "[0,7]", "i1", Cell{"indices[1]", "indices[1] = 7 is outside axis 0, and refused", []string{"r1"}}},
		{openvino.GatherND8{}, "[[1,2],[3,4]]", "[[1,0],[1,0]]", "r1", Cell{"result[1]", "result[1] = 3 is data[1,0], by indices[1,0] = 1, indices[1,1] = 0", []string{"d2", "i2", "i3"}}},
		{openvino.GatherND8{}, "[[1,2],[3,4]]", "[[1,0],[1,0]]", "d2", Cell{"data[1,0]", "data[1,0] = 3 is read 2 times", []string{"i0", "i1", "i2", "i3", "r0", "r1"}}},
		{torch.Take{}, "[[1,2],[3,4]]", "[2]", "i0", Cell{"indices[0]", "indices[0] = 2 is position 2 of data, taken flat", []string{"d2", "r0"}}},
	} {
		t.Run(tt.cell+" of "+tt.data, func(t *testing.T) {
			_, cells, err := explained(t, "op", tt.op, ruletest.Tensor(t, tt.data), ruletest.Tensor(t, tt.indices)).Marked()
			if err != nil {
				t.Fatal(err)
			}
			got := cells[tt.cell]
			if got.At != tt.want.At || got.Text != tt.want.Text || !slices.Equal(got.Related, tt.want.Related) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
