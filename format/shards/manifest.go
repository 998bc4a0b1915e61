package shards

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/internal/jsonfile"
	"github.com/garner-go/garner/internal/names"
)

// version is what a manifest has under "garner".
const version = 1

// Read reads the manifest of a folder, or the one in a file. It opens no shard, and
// checks what Check checks. An array whose folder has no SuccessName is an
// ErrUnfinished, with which Read returns the manifest too: the job that writes it is not done.
//
// A manifest has up to 256 MiB and 2^20 shards; Read takes memory in proportion to it.
func Read(path string) (*Manifest, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ManifestName)
	}
	m, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if err := finished(path); err != nil {
		return m, names.Error(path, err)
	}
	return m, nil
}

func readFile(path string) (*Manifest, error) {
	file, err := layout.OpenHeader(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := parse(file, file.Size())
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, names.Error(path, err)
	}
	m.Path = path
	return m, nil
}

// finished is the error of a manifest without SuccessName beside it.
func finished(path string) error {
	_, err := os.Stat(filepath.Join(filepath.Dir(path), SuccessName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return garner.Errorf(ErrUnfinished, "its folder has no file %s, which is written last; wait for the job that writes the folder, or run it again, or make the empty file beside a manifest of your own", SuccessName)
	case err != nil:
		return garner.Errorf(err, "the file %s beside it cannot be looked at: %v; ask for the permission", SuccessName, err)
	}
	return nil
}

// parse reads the JSON of size bytes.
func parse(r io.Reader, size int64) (*Manifest, error) {
	if size > maxBytes {
		return nil, formatError("it has %d bytes, and a manifest of up to %d is read; it is no manifest of shards, or has too many", size, maxBytes)
	}
	p := parser{jsonfile.New(r, "it", ErrFormat)}
	m, seen, unknown := &Manifest{}, map[string]bool{}, 0
	err := p.Object("it", seen, func(key string) (err error) {
		switch key {
		case "garner":
			return p.version()
		case "dtype":
			m.DType, err = p.dtype()
		case "shape":
			m.Shape, err = p.shape()
		case "operator":
			m.Operator, err = p.operator()
		case "inputs":
			m.Inputs, err = p.inputs()
		case "shards":
			m.Shards, err = p.shards()
		default:
			if unknown++; unknown > maxUnknown {
				return formatError("it has more than %d keys that a manifest does not have; it is another file", maxUnknown)
			}
			err = p.Skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := p.End(); err != nil {
		return nil, err
	}
	for _, key := range []string{"garner", "dtype", "shape", "shards"} {
		if !seen[key] {
			return nil, formatError("it has no %q; it is no manifest of shards, which begins with {\"garner\": %d", key, version)
		}
	}
	return m, nil
}

// A parser reads the parts of a manifest.
type parser struct{ jsonfile.Parser }

func (p parser) version() error {
	v, err := p.Count("it", "garner")
	if err == nil && v != version {
		err = formatError("it is a manifest of version %d, and this garner reads version %d; use the garner that wrote it, or a later one", v, version)
	}
	return err
}

func (p parser) dtype() (garner.DType, error) {
	text, err := p.Text("it", "dtype")
	if err != nil {
		return garner.Invalid, err
	}
	d, err := garner.ParseDType(text)
	if err != nil {
		return garner.Invalid, formatError("its dtype is %s, which garner does not know; write one such as f32", names.Quote(text))
	}
	return d, nil
}

func (p parser) shape() (garner.Shape, error) {
	dims, err := p.Numbers("it", "shape")
	if err != nil {
		return nil, err
	}
	shape := make(garner.Shape, len(dims))
	for i, d := range dims {
		if d > math.MaxInt {
			return nil, formatError("its shape has an extent of %d, more than an int can count; correct it", d)
		}
		shape[i] = int(d)
	}
	return shape, nil
}

func (p parser) operator() (*Operator, error) {
	var text json.RawMessage
	if err := p.Decode(&text); err != nil {
		return nil, p.Spoilt(err)
	}
	if len(text) > maxOperator {
		return nil, formatError("its operator takes %d bytes, and up to %d are read; it is spoilt", len(text), maxOperator)
	}
	var o *Operator
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return nil, formatError("its operator is none: %v; correct it, or leave it out", err)
	}
	return o, nil
}

func (p parser) inputs() (all []Input, err error) {
	err = p.List("it", "inputs", func() error {
		if len(all) == maxInputs {
			return formatError("it has more than %d inputs, the most that are read; it is spoilt", maxInputs)
		}
		var in Input
		err := p.Object("an input", map[string]bool{}, func(key string) (err error) {
			switch key {
			case "operand":
				in.Operand, err = p.Text("an input", key)
			case "text":
				in.Text, err = p.Text("an input", key)
			case "identity":
				in.Identity, err = p.Text("an input", key)
			default:
				err = p.Skip()
			}
			return err
		})
		all = append(all, in)
		return err
	})
	return all, err
}

func (p parser) shards() (all []Shard, err error) {
	err = p.List("it", "shards", func() error {
		if len(all) == MaxShards {
			return formatError("it has more than %d shards, the most that are read; make them larger", MaxShards)
		}
		const what = "a shard"
		s, seen := Shard{}, map[string]bool{}
		err := p.Object(what, seen, func(key string) (err error) {
			switch key {
			case "file":
				s.File, err = p.Text(what, key)
			case "elements":
				s.Elements, err = p.Count(what, key)
			case "bytes":
				s.Bytes, err = p.Count(what, key)
			case "sha256":
				s.SHA256, err = p.Text(what, key)
			case "node":
				s.Node, err = p.Text(what, key)
			default:
				err = p.Skip()
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, key := range []string{"file", "elements"} {
			if !seen[key] {
				return formatError("shard %d of it has no %q; give every shard its file and elements", len(all)+1, key)
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Write writes a manifest to a folder, whole or not at all, and replaces one that is
// there. It refuses what Check refuses, and looks at no shard. Finish follows it.
func Write(dir string, m *Manifest) error {
	path := filepath.Join(dir, ManifestName)
	text, err := m.encode()
	if err != nil {
		return names.Error(path, err)
	}
	return put(path, text)
}

// Finish writes the empty file SuccessName to a folder whose shards and manifest are
// all there. Until then Read refuses the folder.
func Finish(dir string) error { return put(filepath.Join(dir, SuccessName), nil) }

func put(path string, text []byte) error {
	file, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer file.Abort() // does nothing after Commit
	if _, err := file.Write(text); err != nil {
		return err
	}
	return file.Commit()
}

// encode returns the text of a manifest, a line for each shard.
func (m *Manifest) encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	value := func(before string, v any) error {
		b.WriteString(before)
		if err := e.Encode(v); err != nil {
			return formatError("it cannot be written: %v; give attributes that JSON has", err)
		}
		b.Truncate(b.Len() - 1) // the end of the line
		return nil
	}
	err := errors.Join(
		value("{\"garner\": ", version),
		value(", \"dtype\": ", m.DType.String()),
		value(", \"shape\": ", append([]int{}, m.Shape...)),
	)
	if m.Operator != nil {
		err = errors.Join(err, value(",\n \"operator\": ", m.Operator))
	}
	if len(m.Inputs) > 0 {
		err = errors.Join(err, value(",\n \"inputs\": ", m.Inputs))
	}
	if err != nil {
		return nil, err
	}
	b.WriteString(",\n \"shards\": [")
	for i, s := range m.Shards {
		before := ",\n  "
		if i == 0 {
			before = "\n  "
		}
		if err := value(before, s); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n ]}\n")
	if b.Len() > maxBytes {
		return nil, formatError("it takes %d bytes, and a manifest of up to %d is read; make fewer shards", b.Len(), maxBytes)
	}
	return b.Bytes(), nil
}
