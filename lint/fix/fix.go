// Package fix mends a model: it writes a copy of an ONNX file, or of OpenVINO's IR, in which
// findings of package lint are taken away.
//
//	report, err := fix.File(ctx, "model.onnx", "mended.onnx", fix.Options{})
//	for _, m := range report.Mends {
//		fmt.Println(m.Node.Name, m.Words)
//	}
//
// What is mended, and how, is in package lint ([lint.Mends]), in the words of no format.
// This package writes it: nodes of ONNX are inserted and changed at the level of
// protobuf's wire, layers of the IR in its text. Every other node and every weight is
// byte for byte what it was. Files of weights are not rewritten: external data is where it
// was, so the copy is in the model's folder; the .bin of an IR is a clone, another name or a copy
// of the old one.
//
// Every answer to operands that the node takes is the same, bit for bit. The copy is read back by
// garner's own reader before it is put in place: each node, value and constant is
// compared but for the mended ones, and package lint judges it again.
package fix

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/iredit"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/onnxedit"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// Options select what File mends.
type Options struct {
	Lint  lint.Options // which findings there are
	Rules []string     // the rules whose findings are mended, "L.4"; all where it is empty

	// Accept, unless it is nil, looks at the report before the copy is put in place. Where it
	// returns an error nothing is written, and File gives that error beside the report.
	Accept func(*Report) error
}

// A Report says what File did.
type Report struct {
	Model     *model.Model // as it was; it is closed
	Out       string       // the path of the mended model
	Mends     []lint.Mend
	Remaining []lint.Remaining // findings that remain in the mended model
	Weights   string           // how the .bin beside Out was made; "" where there is none
	Written   bool             // Out is in its place
}

// AtLeast counts the findings that remain, of a severity and above.
func (r *Report) AtLeast(s lint.Severity) int {
	n := 0
	for _, f := range r.Remaining {
		if f.Finding.Severity >= s {
			n++
		}
	}
	return n
}

// A format is how the models of one kind of files are mended.
type format interface {
	// write writes the mended model. added says which nodes are new, by the mend's number.
	write(to io.Writer, mends []lint.Mend) (made []added, err error)
	// read reads back what write has written, which stands at path.
	read(path string) (*model.Model, error)
	// beside gives the path of the file beside the mended model; "" where there is none. keeps
	// reports whether one that is there is as it would be.
	beside() string
	keeps(beside string) (bool, error)
	// finish makes the file beside the model.
	finish(out *atomicfile.Pair) (how string, err error)
	// changed is a source.ErrChanged where a file of the model is another than it was when it was opened.
	changed() error
	close() error
}

// added names the nodes of a mend in the mended model.
type added struct {
	all       []string // nodes that are new, and do not have the node's result
	constants []string // constants that are new
	kept      string   // the name that the node itself has now; "" where it keeps its name
	last      string   // the new node that makes what the node's result was; "" where the node itself does
}

// An unmendable is a mend that the format cannot write.
type unmendable struct {
	mend int
	err  error
}

func (e *unmendable) Error() string { return e.err.Error() }
func (e *unmendable) Unwrap() error { return e.err }

// mostRounds is how often the model is written anew without a mend that did not hold.
const mostRounds = 8

// File mends the model at path and writes it to out, of the same format. out appears whole
// or not at all, and never in the place of a file of the model. Where nothing can be mended,
// out is a copy. The memory that it takes is in proportion to the model without its
// weights, which are copied piece by piece.
//
// Errors are those of the readers and of lint.Model, a file that cannot be written, and a
// copy that cannot be read back equal.
func File(ctx context.Context, path, out string, o Options) (*Report, error) {
	for _, rule := range o.Rules {
		if !slices.ContainsFunc(lint.Rules(), func(r lint.Rule) bool { return r.ID == rule }) {
			return nil, garner.Errorf(garner.ErrAttribute, "there is no rule %q; lint has L.1 to L.%d", rule, len(lint.Rules()))
		}
	}
	place, err := atomicfile.Find(out)
	if err != nil {
		return nil, err
	}
	if place.Target == "" {
		return nil, garner.Errorf(nil, "cannot write %s: it is no regular file, and a mended model is read back before it is put in place; name a file", out)
	}
	extension := strings.ToLower(filepath.Ext(path))
	if extension != ".onnx" && extension != ".xml" {
		return nil, garner.Errorf(garner.ErrAttribute, "%s is no model that can be mended: those are .onnx and .xml (OpenVINO IR); convert one of TensorFlow or LiteRT to one of these first, and mend that", path)
	}
	if strings.ToLower(filepath.Ext(out)) != extension {
		return nil, garner.Errorf(garner.ErrAttribute, "cannot write %s: a mended model has the format of the old one; name a file that ends in %s", out, extension)
	}
	m, err := openModel(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var f format
	if extension == ".onnx" {
		f, err = openONNX(m, out)
	} else {
		f, err = openIR(m, out)
	}
	if err != nil {
		return nil, err
	}
	report, err := write(ctx, m, f, out, o)
	if err != nil {
		return report, errors.Join(err, f.close())
	}
	if err := errors.Join(f.close(), m.Close()); err != nil {
		return nil, err
	}
	return report, nil
}

// openModel opens a model of a format that is mended.
func openModel(path string) (*model.Model, error) { return openAs(filepath.Ext(path), path) }

// openAs opens a model as one of the format of an extension.
func openAs(extension, path string) (*model.Model, error) {
	if strings.EqualFold(extension, ".onnx") {
		return modelproto.Open(path)
	}
	return ir.Open(path, ir.Options{})
}

// usesAs gives a function that lists the files with weights of the model at a path, of the format of
// an extension; none where it is no such model.
func usesAs(extension string) func(path string) []string {
	return func(path string) []string {
		m, err := openAs(extension, path)
		if err != nil {
			return nil
		}
		defer m.Close() // only its files are asked for
		return m.Weights()
	}
}

func write(ctx context.Context, m *model.Model, f format, out string, o Options) (*Report, error) {
	findings, err := lint.Model(ctx, m, o.Lint)
	if err != nil {
		return nil, err
	}
	wanted, unwanted := findings, []lint.Finding(nil)
	if len(o.Rules) > 0 {
		wanted = nil
		for _, f := range findings {
			if slices.Contains(o.Rules, f.Rule.ID) {
				wanted = append(wanted, f)
			} else {
				unwanted = append(unwanted, f)
			}
		}
	}
	mends, remaining, err := lint.Mends(ctx, m, wanted)
	if err != nil {
		return nil, err
	}
	for _, f := range unwanted {
		remaining = append(remaining, lint.Remaining{Finding: f, Why: "its rule is not among those to mend"})
	}
	leave := func(i int, why string) {
		for _, f := range wanted {
			if f.Node == mends[i].Node && slices.Contains(mends[i].Rules, f.Rule) {
				remaining = append(remaining, lint.Remaining{Finding: f, Why: why})
			}
		}
		mends = slices.Delete(mends, i, i+1)
	}
	for round := 0; ; round++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		report := &Report{Model: m, Out: out, Mends: mends, Remaining: sorted(m, remaining)}
		err := attempt(ctx, m, f, o, findings, report)
		var not *unmendable
		if errors.As(err, &not) && round < mostRounds+len(findings) {
			leave(not.mend, not.Error())
			continue
		}
		if err != nil && !errors.Is(err, errNotAccepted) {
			return nil, err
		}
		return report, err
	}
}

// errNotAccepted is the class of what Options.Accept returns.
var errNotAccepted = errors.New("not accepted")

// sorted lists findings in the order of the model's nodes.
func sorted(m *model.Model, list []lint.Remaining) []lint.Remaining {
	place := map[*model.Node]int{}
	for n := range m.Gathers() {
		place[n] = len(place)
	}
	slices.SortStableFunc(list, func(a, b lint.Remaining) int { return place[a.Finding.Node] - place[b.Finding.Node] })
	return list
}

// attempt writes the model with the mends of a report, reads it back, and puts it in place
// where it holds. An *unmendable names a mend to leave out.
func attempt(ctx context.Context, m *model.Model, f format, o Options, findings []lint.Finding, report *Report) error {
	out, mends := report.Out, report.Mends
	pair, err := atomicfile.NewPair(out, f.beside(), atomicfile.PairOptions{Inputs: m.Files, Uses: usesAs(filepath.Ext(out)), Keeps: f.keeps})
	if err != nil {
		return err
	}
	defer pair.Abort()
	if f.beside() != "" && !pair.Kept() {
		if err := pair.Free(); err != nil {
			return err
		}
	}
	file, err := pair.Writer(0)
	if err != nil {
		return err
	}
	made, err := f.write(file, mends)
	if err != nil {
		return err
	}
	path, err := file.Written()
	if err != nil {
		return err
	}
	back, err := f.read(path)
	if err != nil {
		return notHeld(f, out, err)
	}
	defer back.Close()
	held, err := compare(ctx, m, back, mends, made)
	if err != nil {
		return notHeld(f, out, err)
	}
	if err := held.judge(ctx, back, o, findings, mends); err != nil {
		return err
	}
	if err := back.Close(); err != nil {
		return err
	}
	if o.Accept != nil {
		if err := o.Accept(report); err != nil {
			return garner.Errorf(errors.Join(errNotAccepted, err), "%s", strings.TrimPrefix(err.Error(), "garner: "))
		}
	}
	// What was written, and what it was compared with, may be of two states of the model. finish may give a file of it
	// another name, which changes its state.
	if err := f.changed(); err != nil {
		return err
	}
	how, err := f.finish(pair)
	if err != nil {
		return err
	}
	if err := pair.Put(); err != nil {
		return err
	}
	report.Weights, report.Written = how, true
	return nil
}

// notHeld says that the copy is not what it must be, or that the model is no longer what it was.
func notHeld(f format, out string, err error) error {
	if changed := f.changed(); changed != nil {
		return changed
	}
	return garner.Errorf(err, "%s was not written, because garner does not read it back equal to the model: %s", out, strings.TrimPrefix(err.Error(), "garner: "))
}

// An onnxFile is an ONNX file that is mended.
type onnxFile struct {
	path string
	file *mapped.File
	m    *model.Model
}

func openONNX(m *model.Model, out string) (format, error) {
	if len(m.Files) > 1 {
		from, err := os.Stat(folderOf(m.Path))
		if err != nil {
			return nil, garner.Errorf(err, "%s: its folder cannot be looked at: %v", m.Path, err)
		}
		if to, err := os.Stat(folderOf(out)); err == nil && !os.SameFile(from, to) {
			return nil, garner.Errorf(nil, "cannot write %s: the model's weights are in %s beside it, which are not copied; write into the same folder, %s", out, m.Files[1], folderOf(m.Path))
		}
	}
	file, err := mapped.Open(m.Path)
	if err != nil {
		return nil, err
	}
	return &onnxFile{m.Path, file, m}, nil
}

// changed is a source.ErrChanged where the file at path, or one that holds constants of the model, is not as it was.
func changed(m *model.Model, path string, was mapped.Stamp) error {
	file, err := os.Open(path)
	if err != nil {
		return garner.Errorf(err, "%s cannot be read: %v", path, err)
	}
	defer file.Close() // nothing was read
	now, err := mapped.StampOf(file)
	if err != nil {
		return garner.Errorf(err, "%s cannot be looked at: %v", path, err)
	}
	if now != was {
		return model.Changed(path)
	}
	return m.Changed()
}

// folderOf gives the folder of a path, behind links in its last element.
func folderOf(path string) string {
	return filepath.Dir(path)
}

func (f *onnxFile) changed() error { return changed(f.m, f.path, f.file.Stamp()) }

func (f *onnxFile) close() error { return f.file.Close() }

func (f *onnxFile) beside() string { return "" }

func (f *onnxFile) keeps(string) (bool, error) { return false, nil }

func (f *onnxFile) finish(*atomicfile.Pair) (string, error) { return "", nil }

func (f *onnxFile) read(path string) (*model.Model, error) { return modelproto.Open(path) }

func (f *onnxFile) write(to io.Writer, mends []lint.Mend) (made []added, err error) {
	var segments []onnxedit.Segment
	err = f.file.Read(0, f.file.Size(), func(b []byte) error {
		parsed, err := onnxedit.Parse(b)
		if err != nil {
			return model.InFile(f.path, err)
		}
		w := &onnxWriter{parsed, opsetOf(f.m)}
		with := make(map[string]onnxedit.Replacement, len(mends))
		for i := range mends {
			nodes, names, err := w.replacement(&mends[i])
			if err != nil {
				return &unmendable{i, err}
			}
			with[mends[i].Node.At] = nodes
			made = append(made, names)
		}
		segments, err = parsed.Replace(with)
		return model.InFile(f.path, err)
	})
	if err != nil {
		return nil, err
	}
	in, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	stamp, err := mapped.StampOf(in)
	if err != nil {
		return nil, err
	}
	if stamp != f.file.Stamp() {
		return nil, model.Changed(f.path)
	}
	for _, s := range segments {
		if s.Bytes != nil {
			_, err = to.Write(s.Bytes)
		} else {
			err = copyRange(to, in, int64(s.From), int64(s.To))
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// An irFile is the text of an IR that is mended, with its .bin.
type irFile struct {
	path, out string
	text      []byte
	stamp     mapped.Stamp // of the file of text
	bin       *mapped.File // nil where the model has no constant with elements
	m         *model.Model
}

// binOf gives the path of the .bin of an .xml.
func binOf(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".bin" }

func openIR(m *model.Model, out string) (format, error) {
	file, _, err := mapped.OpenFile(m.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stamp, err := mapped.StampOf(file)
	if err != nil {
		return nil, garner.Errorf(err, "%s cannot be looked at: %v", m.Path, err)
	}
	text, err := io.ReadAll(file) // the reader has refused a text that is too long
	if err != nil {
		return nil, garner.Errorf(err, "%s cannot be read: %v", m.Path, err)
	}
	f := &irFile{path: m.Path, out: out, text: text, stamp: stamp, m: m}
	if info, err := os.Stat(binOf(m.Path)); err == nil && info.Mode().IsRegular() {
		if f.bin, err = mapped.Open(binOf(m.Path)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *irFile) beside() string {
	if f.bin == nil {
		return ""
	}
	return binOf(f.out)
}

// keeps reports whether a .bin is the model's, or holds the same.
func (f *irFile) keeps(beside string) (bool, error) {
	info, err := os.Stat(beside)
	if err != nil {
		return false, garner.Errorf(err, "cannot write %s: %v", beside, err)
	}
	old, err := os.Stat(binOf(f.path))
	if err != nil {
		return false, garner.Errorf(err, "%s cannot be looked at: %v", binOf(f.path), err)
	}
	if os.SameFile(info, old) {
		return true, nil
	}
	if !info.Mode().IsRegular() || info.Size() != old.Size() {
		return false, nil
	}
	return equalFiles(beside, binOf(f.path))
}

func (f *irFile) changed() error { return changed(f.m, f.path, f.stamp) }

func (f *irFile) close() error {
	if f.bin == nil {
		return nil
	}
	return f.bin.Close()
}

func (f *irFile) read(path string) (*model.Model, error) {
	return ir.Open(path, ir.Options{Weights: binOf(f.path)})
}

func (f *irFile) write(to io.Writer, mends []lint.Mend) (made []added, err error) {
	parsed, err := iredit.Parse(f.text)
	if err != nil {
		return nil, model.InFile(f.path, err)
	}
	var all []iredit.Replacement
	for i := range mends {
		r, names, err := irReplacement(parsed, &mends[i])
		if err != nil {
			return nil, &unmendable{i, err}
		}
		all = append(all, r)
		made = append(made, names)
	}
	text, err := parsed.Replace(all)
	if err != nil {
		return nil, model.InFile(f.path, err)
	}
	_, err = to.Write(text)
	return made, err
}

func (f *irFile) finish(out *atomicfile.Pair) (string, error) {
	if f.bin == nil {
		return "", nil
	}
	return weights(binOf(f.path), binOf(f.out), out)
}

// floatBits gives the bits of an integer as f32.
func floatBits(v int64) uint32 { return math.Float32bits(float32(v)) }
