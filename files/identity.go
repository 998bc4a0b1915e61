package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/blocks"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/source"
)

// Identify returns a text that differs between any two arrays, for the Value of a
// Fact: of an array in files, where it lies in them and their source.FileStates; of
// one in memory, a SHA-256 of its elements, which takes a
// second per gigabyte; of one that source.Convert views, that of the array beneath; of a Spread, its manifest and the states of the shards that this node has. An array in files that is opened again has the same text until
// one of its files is written to, moved, or given another mode. ok is false for other arrays, such as those of a URL, and
// for nil.
func Identify(a source.Array) (fact string, ok bool, err error) { return identify(a, true) }

// IdentifyContents is Identify without the times of change of files: the text stays the same where a file gets another
// mode, owner or link, and also where one was written to and its time of modification set back.
func IdentifyContents(a source.Array) (fact string, ok bool, err error) { return identify(a, false) }

func identify(a source.Array, changed bool) (fact string, ok bool, err error) {
	if h, ok := a.(*held); ok {
		a = h.Array
	}
	if file, inFiles := a.(*source.File); inFiles {
		fact, err = identifyFile(file, changed)
		return fact, true, err
	}
	if t, tiled := a.(interface { // of model.Constant
		Files() []*source.File
		Layout() string
	}); tiled {
		all := a.Spec().String() + " " + t.Layout()
		for _, file := range t.Files() {
			fact, err := identifyFile(file, changed)
			if err != nil {
				return "", false, err
			}
			all += "\n" + fact
		}
		return fmt.Sprintf("%s in %d tiles with SHA-256 %x", a.Spec(), len(t.Files()), sha256.Sum256([]byte(all))), true, nil
	}
	if s, spread := a.(*Spread); spread {
		fact, err = s.identity()
		return fact, err == nil, err
	}
	if c, converted := a.(interface{ Converted() source.Array }); converted {
		of, ok, err := identify(c.Converted(), changed)
		return fmt.Sprintf("%s, converted from %s", a.Spec(), of), ok, err
	}
	v, inMemory := a.(interface{ Tensor() (garner.Tensor, bool) })
	if !inMemory {
		return "", false, nil
	}
	t, inMemory := v.Tensor()
	if !inMemory || t.DType() == garner.String {
		return "", false, nil
	}
	spec := t.Spec()
	spec.Strides = nil
	sum := sha256.New()
	io.WriteString(sum, spec.String())
	err = mapped.Guard(func() error {
		return blocks.Each(t, func(block garner.Tensor) error {
			b, err := block.Bytes()
			sum.Write(b)
			return err
		})
	})
	return fmt.Sprintf("%s with SHA-256 %s", spec, hex.EncodeToString(sum.Sum(nil))), true, err
}

func identifyFile(file *source.File, changed bool) (fact string, err error) {
	var all strings.Builder
	segments := file.Segments()
	states, err := file.States()
	if err != nil {
		return "", err
	}
	for i, s := range segments {
		path, err := filepath.Abs(s.Path)
		if err != nil {
			return "", err
		}
		if !changed {
			states[i].Changed = time.Time{}
		}
		fmt.Fprintf(&all, "%s, %d bytes from byte %d on of %s\n", path, s.Bytes, s.Offset, states[i])
	}
	fact = file.Spec().String()
	for _, from := range file.ConvertedFrom() {
		fact += ", converted from " + from.String()
	}
	switch {
	case len(segments) == 1:
		fact += " in " + strings.TrimSuffix(all.String(), "\n")
	case len(segments) > 1:
		first, _, _ := strings.Cut(all.String(), "\n")
		fact += fmt.Sprintf(" in %d pieces with SHA-256 %x, the first %s", len(segments), sha256.Sum256([]byte(all.String())), first)
	}
	return fact, nil
}
