package lint

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// bags reports whether an operator adds up the rows that it gathers. Models have those of
// OpenVINO and of TensorFlow.
func bags(operator string) bool {
	return strings.HasPrefix(operator, "openvino.Embedding") || strings.HasPrefix(operator, "tensorflow.sparse_segment_")
}

// named gives an input of a gather by the name that its operator has for it; an unknown
// value where the node leaves it out, or the operator has none.
func named(n *model.Node, o operators.Operator, name string) *model.Value {
	if i := slices.Index(o.Inputs(), name); i >= 0 {
		return input(n, 2+i)
	}
	return lacking
}

// endsOf gives the input that says where the bags of a gather end, and its name; an unknown
// value where there is none.
func endsOf(n *model.Node) (v *model.Value, name string) {
	o, err := operators.Find(n.Operator, 0)
	if err != nil {
		return lacking, ""
	}
	for _, name := range []string{"offsets", "segment_ids"} {
		if v := named(n, o, name); v != lacking {
			return v, name
		}
	}
	return lacking, ""
}

// misplacedEnds finds offsets and segments that no bags have, where they are a constant.
func misplacedEnds(r *Rule, s *subject) error {
	v, name := endsOf(s.node)
	c := s.constant(v)
	if c == nil || !c.Spec.DType.IsInteger() || !s.allowed.allows(c) {
		return nil
	}
	// The greatest that the bags may have, where it is known.
	most, beyond, severity := int64(math.MaxInt64), "", r.Severity
	if name == "offsets" {
		if dims := s.indices.Spec.Dims; len(dims) == 1 && dims[0].Max != garner.Unbounded {
			most, beyond = int64(dims[0].Max), fmt.Sprintf("passes the end: there are %s indices", dims[0])
		}
	} else {
		if severity = Warning; runtimeOf(s.operator.Name) == TensorFlow { // OpenVINO takes them
			severity = r.Severity
		}
		if n, known, err := s.number(named(s.node, s.operator, "num_segments")); err != nil {
			return err
		} else if known && n >= 0 {
			most, beyond = n-1, fmt.Sprintf("is no segment: there are %d", n)
		}
	}
	ends, err := s.endsIn(c)
	if err != nil {
		return err
	}
	at, err := ends.above(c, most)
	switch {
	case err != nil:
		return err
	case at < ends.rise:
		value, err := ends.element(c, at)
		if err == nil {
			s.findAs(r, severity, s.answers(r), "%s[%d] = %s %s", name, at, value, beyond)
		}
		return err
	case ends.wrong != "":
		s.findAs(r, severity, s.answers(r), "%s[%d] = %s", name, at, ends.wrong)
	}
	return nil
}

// An endsScan is what one reading of offsets or segments found for every bag that has them.
type endsScan struct {
	rise  int64  // how many of the first are not negative and do not fall
	wrong string // the next, and what is wrong with it; "" where there is none
}

// endsIn reads a constant once for all bags of the model.
func (l *linter) endsIn(c *model.Constant) (*endsScan, error) {
	if done, ok := l.ends[stored(c)]; ok {
		return done, nil
	}
	found := &endsScan{}
	before := garner.Index{}
	err := l.pieces(c, func(t garner.Tensor, _ int64) (bool, error) {
		err := integers(t, func(_ int, x garner.Index) bool {
			switch {
			case signed(x) < 0:
				found.wrong = x.String() + " is negative"
			case signed(x) < signed(before):
				found.wrong = fmt.Sprintf("%s falls: the one before is %s", x, before)
			default:
				before = x
				found.rise++
			}
			return found.wrong == ""
		})
		return found.wrong == "", err
	})
	l.ends[stored(c)] = found
	return found, err
}

// signed gives an index as an int64, the greatest for one beyond.
func signed(x garner.Index) int64 {
	if x.Unsigned && x.Bits > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x.Bits)
}

// above gives the number of the first that exceeds most; rise where none of the first
// does.
func (e *endsScan) above(c *model.Constant, most int64) (at int64, err error) {
	at = int64(sort.Search(int(e.rise), func(i int) bool {
		x, failed := e.element(c, int64(i))
		if failed != nil {
			err = failed
		}
		return signed(x) > most
	}))
	return at, err
}

// element reads one.
func (e *endsScan) element(c *model.Constant, at int64) (x garner.Index, err error) {
	err = mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		if t, err = t.Reshape(t.Len()); err != nil {
			return err
		}
		x, err = t.Int(int(at))
		return err
	})
	return x, err
}

// defaultOutside finds a default_index that is no row of the table.
func defaultOutside(r *Rule, s *subject) error {
	n, known, err := s.number(named(s.node, s.operator, "default_index"))
	if err != nil || !known {
		return err
	}
	rows := garner.AnyDim
	if dims := s.data.Spec.Dims; len(dims) > 0 {
		rows = dims[0]
	}
	inside := n >= 0 && (rows.Max == garner.Unbounded || n < int64(rows.Max))
	if inside || n == -1 && s.operator.Name != "openvino.EmbeddingSegmentsSum-3" { // zeros
		return nil
	}
	length := ""
	if rows.Max != garner.Unbounded {
		length = fmt.Sprintf(", whose length is %s", rows)
	}
	s.find(r, s.answers(r), "default_index = %d is outside axis 0 of data%s; where a bag has no indices", n, length)
	return nil
}

// repeatedScale finds a compressed table whose scale or zero point is repeated along an axis
// before one that it has.
func repeatedScale(r *Rule, s *subject) error {
	if !s.compressed {
		return nil
	}
	codes := s.call.Inputs[0].Spec.Dims
	for i, v := range s.call.Inputs[2:] {
		dims := v.Spec.Dims
		repeated := -1 // the first axis along which it is repeated
		for axis, d := range codes {
			has := 1
			if own := axis - len(codes) + len(dims); own >= 0 {
				has = dims[own].Min
			}
			if has > 1 && repeated >= 0 {
				s.find(r, s.answers(r), "%s of the compressed table is %s and its codes are %s: each is of several positions along axis %d, and differs along axis %d",
					s.call.Role(2+i), v.Type(), s.call.Inputs[0].Type(), repeated, axis)
				return nil
			} else if has == 1 && d.Min > 1 && repeated < 0 {
				repeated = axis
			}
		}
	}
	return nil
}
