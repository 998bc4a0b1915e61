// Package shards reads and writes the manifest of an array that is cut into shards:
// files of any format that hold its elements one after the other, row-major.
//
//	rows/
//	  part-00001-of-00002.npy    the first elements
//	  part-00002-of-00002.npy    those that follow them
//	  manifest.json              what the array is, and its shards
//	  _SUCCESS                   empty, written last: the folder is whole
//
// A manifest is JSON, such as
//
//	{"garner": 1, "dtype": "f32", "shape": [1000000, 64],
//	 "operator": {"name": "numpy.take", "attributes": {"axis": 0}},
//	 "inputs": [{"operand": "data", "text": "table.npy", "identity": "…"}],
//	 "shards": [
//	  {"file": "part-00001-of-00002.npy", "elements": 32000000, "bytes": 128000128, "sha256": "…"},
//	  {"file": "/disk3/rest.npy", "elements": 32000000, "node": "node7"}
//	 ]}
//
// It may be written by hand: "operator", "inputs", "bytes" and "sha256" may be absent.
// A shard's file has one array, of the manifest's dtype, any shape and as many
// elements as "elements" says; a file without a header (.raw) holds them alone. Its
// name is a path below the manifest's folder, with slashes. A shard with "node" can
// be read on the machine of that name alone, where its path may be absolute.
//
// Read reads the manifest alone and opens no shard, so that a program can plan a
// gather from a table whose shards other machines hold. Package files opens the shards
// as one array.
package shards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

const (
	ManifestName = "manifest.json" // of the manifest in a folder of shards
	SuccessName  = "_SUCCESS"      // of the empty file that is written last
)

// Classes of errors. An ErrFormat is a manifest that is damaged or contradicts itself,
// or a shard that is not the one that it describes; an ErrUnfinished one without
// SuccessName beside it; an ErrNode a shard that another node can read.
var (
	ErrFormat     = errors.New("manifest of shards")
	ErrUnfinished = errors.New("unfinished folder of shards")
	ErrNode       = errors.New("shard of another node")
)

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// A Manifest describes an array and the shards that hold it.
type Manifest struct {
	DType    garner.DType // not String
	Shape    garner.Shape
	Operator *Operator // that made the array; nil where the manifest does not say it
	Inputs   []Input   // that it was made of
	Shards   []Shard   // in the order of their elements

	// Path is the file that the manifest was read from; "" of one that was not read.
	Path string
}

// An Operator is the operator that made an array.
type Operator struct {
	Name       string         `json:"name"` // such as openvino.Gather-8
	Attributes map[string]any `json:"attributes,omitempty"`
	Negative   string         `json:"negative,omitempty"` // its policies where they were replaced
	Outside    string         `json:"outside,omitempty"`
}

// An Input is an operand that an array was made of.
type Input struct {
	Operand  string `json:"operand"` // data, indices, or the name of a further one
	Text     string `json:"text"`    // as the user wrote it
	Identity string `json:"identity"`
}

// A Shard is a file of some elements of an array.
type Shard struct {
	File     string `json:"file"`             // path from the manifest's folder, with slashes; with a Node it may be absolute
	Elements int64  `json:"elements"`         // of the array that it holds
	Bytes    int64  `json:"bytes,omitempty"`  // of the file; 0 where they are not known
	SHA256   string `json:"sha256,omitempty"` // of the file, 64 hexadecimal digits; "" where it is not known
	Node     string `json:"node,omitempty"`   // the name of the only machine that can read it; "" where all can
}

// Spec returns the dtype and the shape of the whole array.
func (m *Manifest) Spec() garner.Spec { return garner.SpecOf(m.DType, m.Shape...) }

// ShardSpec returns the dtype and the elements of shard i, a vector.
func (m *Manifest) ShardSpec(i int) garner.Spec {
	return garner.SpecOf(m.DType, int(m.Shards[i].Elements))
}

// Dir returns the folder from which the paths of shards count.
func (m *Manifest) Dir() string { return filepath.Dir(m.Path) }

// MaxShards is the most shards of a manifest. A table of 10 TB in shards of 32 MiB has 300,000.
const MaxShards = 1 << 20

// Limits of a manifest.
const (
	maxBytes    = 256 << 20 // of the text
	maxInputs   = 1000
	maxUnknown  = 1000    // keys of the object
	maxOperator = 1 << 20 // bytes of its text
	maxName     = 4096    // bytes of a path or the name of a node
)

// Check returns the ErrFormat with which Read and Write would refuse the manifest, or
// nil: a dtype that no shard has, a shape with more bytes than can be counted, shards
// whose elements are not those of the shape, one that ends inside a byte and is not
// the last, one that is listed twice, and a path that leads out of the folder. It
// looks at no file.
func (m *Manifest) Check() error {
	if m.DType.Bits() == 0 {
		return formatError("its dtype is %s, whose elements have no fixed width; write another", m.DType)
	}
	for _, d := range m.Shape {
		if d < 0 {
			return formatError("its shape %v has an extent below 0; correct it", m.Shape)
		}
	}
	total, ok := m.Shape.Len()
	if _, counts := m.Spec().Bytes(); !ok || !counts || len(m.Shape) > garner.MaxRank {
		return formatError("it describes %s%s, which has more bytes or dims than can be counted; correct the shape", m.DType, m.Shape)
	}
	if len(m.Shards) > MaxShards {
		return formatError("it has %d shards, and up to %d are read; make them larger", len(m.Shards), MaxShards)
	}
	if len(m.Inputs) > maxInputs {
		return formatError("it has %d inputs, and up to %d are read", len(m.Inputs), maxInputs)
	}
	left := int64(total)
	type place struct{ node, file string }
	seen := make(map[place]bool, len(m.Shards))
	for i, s := range m.Shards {
		what := "its shard " + names.Quote(s.File)
		if err := s.check(what); err != nil {
			return err
		}
		at := place{s.Node, path.Clean(s.File)}
		switch {
		case seen[at]:
			return formatError("%s is listed twice; list each file once", what)
		case s.Elements > left:
			return formatError("up to %s there are more elements than the %d of %s%s; correct the shape, or the elements of the shards", what, total, m.DType, m.Shape)
		case i < len(m.Shards)-1 && s.Elements%int64(perByte(m.DType)) != 0:
			return formatError("%s has %d elements of %s and ends inside a byte; only the last shard may", what, s.Elements, m.DType)
		}
		seen[at] = true
		left -= s.Elements
	}
	if left > 0 {
		return formatError("its shards have %d elements, and %s%s has %d; list the shards that are missing, or correct the shape", int64(total)-left, m.DType, m.Shape, total)
	}
	return nil
}

// perByte is how many elements end at a whole byte.
func perByte(d garner.DType) int { return max(1, 8/d.Bits()) }

// check refuses what no shard has; what names it in messages.
func (s Shard) check(what string) error {
	local := filepath.FromSlash(s.File)
	switch {
	case s.Elements < 0 || s.Bytes < 0:
		return formatError("%s has %d elements in %d bytes; neither can be below 0", what, s.Elements, s.Bytes)
	case !printable(s.File) || s.File == "":
		return formatError("%s has no name of up to %d printable characters; rename it", what, maxName)
	case !printable(s.Node):
		return formatError("%s has a node, %s, whose name is not printable; rename it", what, names.Quote(s.Node))
	case s.SHA256 != "" && (len(s.SHA256) != 2*sha256.Size || strings.Trim(s.SHA256, "0123456789abcdef") != ""):
		return formatError("%s has the sha256 %s, which is not of %d hexadecimal digits in lower case; leave it out, or correct it", what, names.Quote(s.SHA256), 2*sha256.Size)
	case s.Node != "" && path.IsAbs(s.File) && path.Clean(s.File) == s.File:
		return nil
	case s.Node != "" && path.IsAbs(s.File):
		return formatError("%s is an absolute path with . or .. or // in it; write it without", what)
	case !filepath.IsLocal(local) || strings.ContainsAny(s.File, "\\:") || path.Clean(s.File) == ".":
		return formatError("%s is not in the manifest's own folder; copy it there, or give its node, where its path may be absolute", what)
	}
	return nil
}

// printable reports whether a name may be shown and is not too long.
func printable(name string) bool {
	return len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
}

// Node returns the name of the machine, or container, on which this process runs, as manifests
// have it: the environment variable GARNER_NODE, or the host name.
func Node() string {
	host, _ := os.Hostname()
	return cmp.Or(os.Getenv("GARNER_NODE"), host)
}

// Local reports whether this node can read the shard.
func (s Shard) Local() bool { return s.Node == "" || s.Node == Node() }

// Path returns the path of a shard of a manifest in dir. It looks at no file.
func (s Shard) Path(dir string) string {
	if path.IsAbs(s.File) {
		return filepath.FromSlash(s.File)
	}
	return filepath.Join(dir, filepath.FromSlash(s.File))
}

// Find returns Path, and looks whether the file is there with the bytes that the
// manifest says, and in dir, links resolved; it reads nothing. Errors: ErrNode,
// fs.ErrNotExist, ErrFormat; all name the shard.
func (s Shard) Find(dir string) (string, error) {
	what, at := "its shard "+names.Quote(s.File), s.Path(dir)
	if err := s.check(what); err != nil {
		return "", err
	}
	if !s.Local() {
		return "", garner.Errorf(ErrNode, "%s can be read on node %s alone, and this is %s; read it there, or name this one with the environment variable GARNER_NODE", what, names.Quote(s.Node), names.Quote(Node()))
	}
	info, err := s.stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", garner.Errorf(err, "%s is not there; copy it to %s, or make it again", what, at)
	case err != nil:
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err // the message names the path
		}
		return "", garner.Errorf(errors.Join(ErrFormat, err), "%s cannot be looked at (%v); copy the file itself to %s, no link to another folder", what, err, at)
	case s.Bytes > 0 && info.Size() != s.Bytes:
		return "", formatError("%s has %d bytes, and %d were written; it was cut short or replaced: make it again", what, info.Size(), s.Bytes)
	}
	return at, nil
}

// stat looks at a shard's file. os.Root refuses a link that leads out of the folder.
func (s Shard) stat(dir string) (fs.FileInfo, error) {
	if path.IsAbs(s.File) {
		return os.Stat(s.Path(dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(filepath.FromSlash(s.File))
}

// Verify reads a shard of a manifest in dir whole, and compares its bytes and its
// SHA-256 with what the manifest says, as far as it says them. One that differs is an
// ErrFormat; other errors are those of Find. When ctx is done it returns its cause.
func (s Shard) Verify(ctx context.Context, dir string) error {
	at, err := s.Find(dir)
	if err != nil {
		return err
	}
	if s.SHA256 == "" {
		return nil
	}
	_, sum, err := Sum(ctx, at)
	if err == nil && sum != s.SHA256 {
		err = formatError("its shard %s has the SHA-256 %s, and %s was written; it was damaged or replaced: make it again", names.Quote(s.File), sum, s.SHA256)
	}
	return err
}

// Sum reads a file and returns its size in bytes and its SHA-256, as a Shard has them.
// When ctx is done it returns its cause.
func Sum(ctx context.Context, path string) (bytes int64, sha256sum string, err error) {
	file, _, err := mapped.OpenFile(path)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	sum := sha256.New()
	for piece := make([]byte, 1<<20); ; {
		if ctx.Err() != nil {
			return 0, "", context.Cause(ctx)
		}
		n, err := file.Read(piece)
		sum.Write(piece[:n])
		bytes += int64(n)
		switch {
		case err == io.EOF:
			return bytes, hex.EncodeToString(sum.Sum(nil)), nil
		case err != nil:
			return 0, "", garner.Errorf(err, "%s cannot be read: %v; copy it to another disk", path, err)
		}
	}
}

// Extension returns the extension of the files in which shards of a dtype are written:
// .npy for NumPy's own dtypes; .safetensors for bf16 and those of 8 bits that NumPy
// lacks; .raw for packed ones, which those formats store otherwise or not at all.
func Extension(d garner.DType) string {
	switch {
	case d.Packed():
		return ".raw"
	case d == garner.BF16, d.IsFloat() && d.Bits() == 8:
		return ".safetensors"
	}
	return ".npy"
}

// FileName returns the name of shard i of n, counted from 0, of an array of a dtype:
// part-00001-of-00123.npy.
func FileName(d garner.DType, i, n int) string {
	return fmt.Sprintf("part-%05d-of-%05d%s", i+1, n, Extension(d))
}
