// Package beam gathers on more than one machine, as a pipeline of Apache Beam: a Job says what
// is gathered and where the result goes, and Run runs it on a Runner.
package beam

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
)

// A Description says what is gathered, as the command line of garner does. It has a form in
// JSON.
type Description struct {
	Operator   string             `json:"operator"`             // a name that "garner ops" lists, such as openvino.Gather-8
	Attributes Attributes         `json:"attributes,omitempty"` // of the operator
	Negative   string             `json:"negative,omitempty"`   // its policy, as --negative has it; "" is the operator's own
	Outside    string             `json:"outside,omitempty"`    // its policy, as --outside has it, such as fill=0; "" is the operator's own
	Data       Operand            `json:"data"`
	Indices    Operand            `json:"indices,omitzero"`  // zero where the operator takes data alone
	Further    map[string]Operand `json:"further,omitempty"` // by their names, such as offsets
}

// An Operand is a literal, a range, or an array in files, which every worker opens. DType, Shape
// and Offset are of files that do not say what they have, such as .raw; further operands have
// none of them.
type Operand struct {
	Text   string       `json:"text"`             // what the command line has, with an absolute path
	DType  string       `json:"dtype,omitempty"`  // such as f32; "" is the operand's own
	Shape  garner.Shape `json:"shape,omitzero"`   // -1 is an open dim
	Offset int64        `json:"offset,omitempty"` // bytes before its first element
	Raw    bool         `json:"raw,omitempty"`    // quantised blocks as bytes; of Data alone
	To     string       `json:"to,omitempty"`     // the float dtype that elements are converted to; never of Indices

	Lenient bool `json:"lenient,omitempty"` // read a model whose text its format refuses; of Data alone
}

// Attributes are the attributes of a Description by name: int64, []int64, bool, string or nil.
// JSON keeps these types.
type Attributes map[string]any

// UnmarshalJSON reads integers exactly. A number that is no int64 is an error.
func (a *Attributes) UnmarshalJSON(text []byte) error {
	return (*cmdline.Attributes)(a).UnmarshalJSON(text)
}

// line is the description as workers open it.
func (d Description) line() cmdline.Description {
	line := cmdline.Description{
		Operator: d.Operator, Attributes: cmdline.Attributes(d.Attributes), Negative: d.Negative, Outside: d.Outside,
		Data: cmdline.Described(d.Data), Indices: cmdline.Described(d.Indices),
	}
	for name, o := range d.Further {
		if line.Further == nil {
			line.Further = make(map[string]cmdline.Described)
		}
		line.Further[name] = cmdline.Described(o)
	}
	return line
}

const (
	// MostShardBytes is the largest size in bytes of a shard of the result. Flink's sort buffer
	// takes no larger records.
	MostShardBytes = 32 << 20

	// DefaultShardBytes is the size in bytes of a shard where a job gives none. Flink keeps the
	// rows of a shard several times while it groups them: some 150 MB of a task manager's heap for
	// each slot with shards of 32 MiB.
	DefaultShardBytes = 16 << 20

	leastBytes = 1 << 20 // of a shard, and of the memory of its run
)

// A Job is a gather whose result is a folder of shards. It has a form in JSON.
type Job struct {
	Description
	Out        string `json:"out"`                   // the folder of the result, absolute
	ShardBytes int64  `json:"shard_bytes,omitempty"` // the most bytes of a shard of the result, at most MostShardBytes; 0 is DefaultShardBytes
	Memory     int64  `json:"memory,omitempty"`      // the most bytes that the run of one shard takes, beside its rows; 0 is 128 MiB
}

// Names of runners.
const (
	PrismRunner = "prism" // in this process
	FlinkRunner = "flink" // by a Beam job server
)

// A Runner runs the pipeline of a Job. The zero Runner is Prism on all cores.
type Runner struct {
	Name      string // PrismRunner or FlinkRunner; "" is PrismRunner
	Endpoint  string // HOST:PORT of the job server; "" with Prism
	Workers   int    // how many work at a time; 0 is the runner's default
	FlinkREST string // HOST:PORT of Flink's REST API, for what the job server does not tell, and to cancel; "": it is not asked
	Worker    string // the path of this program on the workers; "": where it runs here
	Image     string // a container image whose entry point is a worker, instead of Worker
}

// Check returns what is wrong with a runner: a garner.ErrAttribute.
func (r Runner) Check() error {
	wrong := func(format string, args ...any) error { return garner.Errorf(garner.ErrAttribute, format, args...) }
	switch {
	case r.Name != "" && r.Name != PrismRunner && r.Name != FlinkRunner:
		return wrong("no runner %q; give %s or %s", r.Name, PrismRunner, FlinkRunner)
	case r.Workers < 0 || r.Workers > 1<<16:
		return wrong("%d workers; give 1 to %d, or 0 for the runner's default", r.Workers, 1<<16)
	case r.Name == FlinkRunner && r.Endpoint == "":
		return wrong("%s needs the endpoint of a Beam job server, HOST:PORT; the port is most often 8099", FlinkRunner)
	case r.Name == FlinkRunner:
		if host, port, err := net.SplitHostPort(r.Endpoint); err != nil || host == "" || port == "" {
			return wrong("endpoint %q; give the HOST:PORT of a Beam job server, such as localhost:8099", r.Endpoint)
		}
	case r.Endpoint != "":
		return wrong("%s runs in this process and has no endpoint; choose another runner, or give none", PrismRunner)
	case r.FlinkREST != "" || r.Worker != "" || r.Image != "":
		return wrong("%s runs in this process: it has no REST API, and its workers neither path nor image; choose another runner, or give none", PrismRunner)
	}
	return nil
}

// Check returns what is wrong with a job's sizes and folder. It opens no operand, and writes
// nothing.
func (j Job) Check() error {
	switch {
	case j.ShardBytes < 0 || j.ShardBytes > MostShardBytes:
		return garner.Errorf(garner.ErrAttribute, "shards of %d bytes; give at most %d", j.ShardBytes, MostShardBytes)
	case j.ShardBytes > 0 && j.ShardBytes < leastBytes, j.Memory != 0 && j.Memory < leastBytes:
		return garner.Errorf(garner.ErrAttribute, "shards of %d bytes and %d bytes of memory; give at least %d of each, or 0", j.ShardBytes, j.Memory, leastBytes)
	}
	for _, text := range j.texts() {
		if o := cmdline.ParseOperand(text).File; !o.IsURL() && !filepath.IsAbs(o.Path) {
			return garner.Errorf(garner.ErrAttribute, "%s is no absolute path; workers have other folders", text)
		}
	}
	return j.CheckOut()
}

// texts are the operands that are files, as files.Parse takes them.
func (j Job) texts() []string {
	var all []string
	for _, o := range append(slices.Collect(maps.Values(j.Further)), j.Data, j.Indices) {
		if cmdline.ParseOperand(o.Text).Kind == cmdline.KindFile { // a literal may be the name of a file too
			all = append(all, o.Text)
		}
	}
	return all
}

// left matches what a run writes into its folder.
var left = regexp.MustCompile(`^(part-\d{5,}-of-\d{5,}\.[a-z]+|manifest\.json|_SUCCESS|_garner(-[0-9a-f]{8})?|\.garner-[0-9a-f]{8}\.tmp)$`)

// CheckOut refuses the folder of a job's result where it is no folder, has other files than
// an earlier run has left, or has a file of an operand. The error is a garner.ErrAttribute.
func (j Job) CheckOut() error {
	out := j.Out
	if out == "" {
		return garner.Errorf(garner.ErrAttribute, "the job has no folder for its result; give one")
	}
	if !filepath.IsAbs(out) {
		return garner.Errorf(garner.ErrAttribute, "%s is no absolute path; workers have other folders", out)
	}
	if !utf8.ValidString(out) {
		return garner.Errorf(garner.ErrAttribute, "%q is not UTF-8, in which a job is described; give it another name", out)
	}
	for _, path := range files.FilesOf(j.texts()...) {
		if within(path, out) {
			return garner.Errorf(garner.ErrAttribute, "%s has the operand %s; name another folder", out, path)
		}
	}
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		if info, other := os.Stat(out); other == nil && !info.IsDir() {
			return garner.Errorf(garner.ErrAttribute, "%s is a file; name a folder", out)
		}
		return garner.Errorf(err, "cannot read the folder %s: %v; name another", out, err)
	}
	other, more := "", 0
	for _, e := range entries {
		if left.MatchString(e.Name()) && e.IsDir() == strings.HasPrefix(e.Name(), workName) && (e.Name() != "manifest.json" || made(filepath.Join(out, e.Name()))) {
			continue
		}
		if other == "" {
			other = e.Name()
		} else {
			more++
		}
	}
	if other == "" {
		return nil
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" and %d more", more)
	}
	return garner.Errorf(garner.ErrAttribute, "%s has %s%s, which no earlier run has left; name an empty folder, or one that does not exist", out, other, others)
}

// made reports whether a run has written a manifest. One that is written by hand describes
// a table, and names no operator.
func made(manifest string) bool {
	var says struct {
		Garner   int
		Operator json.RawMessage
	}
	text, err := os.ReadFile(manifest)
	return err == nil && json.Unmarshal(text, &says) == nil && says.Garner > 0 && says.Operator != nil
}

// within reports whether a file is in a folder or below it, by any of its names.
func within(path, folder string) bool {
	is, err := os.Stat(folder)
	if err != nil {
		return false // it does not exist, and no file is in it
	}
	for _, p := range []string{path, real(path)} {
		if abs, err := filepath.Abs(p); err == nil {
			for p = abs; ; p = filepath.Dir(p) {
				if info, err := os.Stat(p); err == nil && os.SameFile(info, is) {
					return true
				}
				if p == filepath.Dir(p) {
					break
				}
			}
		}
	}
	return false
}

// real is a path without symbolic links; as it is where one leads nowhere.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}
