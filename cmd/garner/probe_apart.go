package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A probedPlace is an operand that rows of stored elements are read from.
type probedPlace struct {
	Operand string  `json:"operand"`
	Bytes   int64   `json:"bytes"`         // of the operand
	OfRow   float64 `json:"row_bytes"`     // the mean
	Pages   float64 `json:"pages_per_row"` // the mean; 0 of an operand in memory
}

// placesProbed is how many rows are looked at.
const placesProbed = 256

// request returns the request of --as, whose DATA is TABLE; nil without --as.
func (f *probeFlags) request() (*cmdline.Request, error) {
	if f.operator.As == "" {
		if len(f.further.Given)+len(f.operator.Attributes) > 0 {
			return nil, cmdline.Wrong("--operand and --attr are of the operator of --as; name it")
		}
		return nil, nil
	}
	o, err := f.operator.Find(operators.Gather)
	if err != nil {
		return nil, err
	}
	values, err := f.operator.Numbers()
	if err != nil {
		return nil, err
	}
	r := &cmdline.Request{Operator: o, Numbers: values, Memory: (&cmdline.SizeFlag{}).Budget()}
	if r.Op, err = cmdline.NewOperator(o, values); err != nil {
		return nil, err
	}
	if !garner.TakesIndices(r.Op) {
		return nil, cmdline.Wrong("--as %s takes no INDICES; name an operator that gathers", o.Name)
	}
	_, err = f.further.Texts(o)
	return r, err
}

// places returns what a row of the elements that a request decodes is read from: codes,
// scales and zero points. It is nil without a request.
func (p *program) places(ctx context.Context, f *probeFlags, r *cmdline.Request, file *source.File) ([]probedPlace, error) {
	if r == nil {
		return nil, nil
	}
	defer r.Close()
	o := r.Operator
	texts, err := f.further.Texts(o)
	if err != nil {
		return nil, err
	}
	one := garner.Of([]int64{0}, 1)
	if err := p.OpenFurther(ctx, r, texts, file.Spec(), one.Spec(), true); err != nil {
		return nil, err
	}
	if err := r.Missing(file.Spec(), one.Spec()); err != nil {
		return nil, err
	}
	more, _ := r.Arrays()
	plan, err := source.NewPlan(ctx, r.Op, file, source.Memory(one), more...)
	if err != nil {
		one = garner.Of([]int64{0}, 1, 1) // a bag, of an operator that takes a matrix of them
		var also error
		if plan, also = source.NewPlan(ctx, r.Op, file, source.Memory(one), more...); also != nil {
			return nil, err
		}
	}
	if plan.Stored == nil {
		return nil, cmdline.Wrong("--as %s gathers elements as they are stored; name an operator that decodes them, such as gguf.get_rows", o.Name)
	}
	names, operands := []string{"TABLE"}, []source.Array{file}
	scales, zeros := plan.Stored.Operands()
	for _, at := range []garner.Position{scales, zeros} {
		name, a := "", source.Array(nil)
		if at.Given {
			name, a = o.Further()[at.At], more[at.At]
		}
		names, operands = append(names, name), append(operands, a)
	}
	return placesOf(plan, one.Shape(), names, operands)
}

// placesOf looks where random rows of a plan of stored elements lie, whose indices are one
// of this shape.
func placesOf(plan *garner.Plan, one garner.Shape, names []string, operands []source.Array) (places []probedPlace, err error) {
	terms := plan.Terms()
	extents := garner.Shape{}
	for _, l := range terms.Loops {
		extents = append(extents, l.Extent)
	}
	total, _ := extents.Len()
	rows := make([]int64, min(total, placesProbed)) // of one index
	random := rand.New(rand.NewPCG(1, 2))
	found := make([]probedPlace, len(operands))
	dim := plan.Axes[0].Dim
	for range placesProbed {
		if dim == 0 {
			break
		}
		if _, err := terms.Rows(rows, garner.Of([]int64{random.Int64N(int64(dim))}, one...), 0); err != nil {
			return nil, err
		}
		for k, a := range operands {
			pages := map[string]bool{}
			for _, row := range rows {
				span := plan.Stored.Spans(int(row), plan.Slice)[k]
				found[k].OfRow += float64(span.To-span.From) / placesProbed
				if file, ok := a.(*source.File); ok {
					addPages(pages, file, span)
				}
			}
			found[k].Pages += float64(len(pages)) / placesProbed
		}
	}
	for k, a := range operands {
		if a == nil {
			continue
		}
		found[k].Operand = names[k]
		found[k].Bytes, _ = a.Spec().Bytes()
		places = append(places, found[k])
	}
	return places, nil
}

// addPages adds the pages of files that hold a range of an array's bytes, which are stored
// as they are.
func addPages(pages map[string]bool, file *source.File, span exec.Span) {
	from := int64(0) // bytes of the segments before
	for _, s := range file.Segments() {
		first, last := max(span.From-from, 0), min(span.To-from, s.Bytes)-1
		for page := (s.Offset + first) / pageSize; first <= last && page <= (s.Offset+last)/pageSize; page++ {
			pages[fmt.Sprint(page, " ", s.Path)] = true
		}
		from += s.Bytes
	}
}

// apart warns where codes, scales and zero points of a row lie apart; "" where they lie
// together.
func apart(places []probedPlace) string {
	pages, beside, of, parts := 0.0, int64(0), []string{}, 0
	for i, p := range places {
		if p.Pages == 0 {
			continue
		}
		parts++
		pages += p.Pages
		of = append(of, fmt.Sprintf("%s %.3g", p.Operand, p.Pages))
		if i > 0 {
			beside += p.Bytes
		}
	}
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf("the codes and scales of a row lie apart: a cold row takes %.3g page-ins (%s).\n"+
		"         Have the %s beside %s in the page cache before, by reading them once; or store the table in a kind\n"+
		"         whose rows hold their scales, such as Q8_0 or Q4_0 of GGUF, or rows of FBGEMM: then %.3g do.",
		pages, strings.Join(of, ", "), units.Bytes(beside), places[0].Operand, max(1, places[0].Pages))
}
