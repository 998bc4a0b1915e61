package beam

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/atomicfile"
)

// The life of a job's folder.
//
//	begin   makes the folder, and in it _garner/job.json, which says whose shards it has
//	write   puts part-… in place, then _garner/shards/N, which says what its file is
//	decide  writes _garner/refused.json instead, where an index is refused
//	finish  writes manifest.json, then _SUCCESS, and takes away _garner
//
// A kill between any two steps leaves what the next run of the job goes on with. Several
// drivers may run one job: all write the same bytes, and nobody takes away what another needs
// before _SUCCESS says that the result is there. A refusal stays until the next run begins.

// workName is the folder in OUT of what a job needs until it is done.
const workName = "_garner"

const (
	jobName     = "job.json"     // what the shards in OUT are made of
	madeName    = "made"         // the job has made OUT, and takes it away where an index is refused
	refusedName = "refused.json" // the index that is refused
	shardsName  = "shards"       // the folder of what is known of each shard in place
)

func workFolder(out string) string { return filepath.Join(out, workName) }

// record is the file that says that a shard is in place, and what it is: a later run of the
// job keeps a shard that is still so.
func (t *task) record(shard int64) string {
	return filepath.Join(workFolder(t.Out), shardsName, fmt.Sprint(shard))
}

// identity differs between any two jobs whose shards differ.
func (t *task) identity() (string, error) {
	b, err := json.Marshal(struct {
		Manifest *shards.Manifest
		PerShard int64
		Ends     []int64
	}{t.Manifest, t.PerShard, t.Ends})
	if err != nil {
		return "", err
	}
	if t.unknown {
		b = append(b, newToken()...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// begin makes the folder ready for the job. done is true where it has the result.
func (t *task) begin() (done bool, err error) {
	id, err := t.identity()
	if err != nil {
		return false, err
	}
	was, err := os.ReadFile(filepath.Join(workFolder(t.Out), jobName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	begun := err == nil
	if _, err := os.Stat(filepath.Join(workFolder(t.Out), refusedName)); err == nil && string(was) != id {
		if err := takeAway(t.Out); err != nil { // nothing was made
			return false, err
		}
		begun = false
	}
	made := true
	if err := os.Mkdir(t.Out, 0o777); errors.Is(err, fs.ErrExist) {
		made = false
	} else if err != nil {
		return false, err
	}
	m, read := shards.Read(t.Out)
	switch {
	case begun && read != nil:
		return false, t.goOn(id, string(was))
	case read == nil || errors.Is(read, shards.ErrUnfinished) && m != nil:
		if same, err := t.made(m); err != nil {
			return false, err
		} else if !same {
			return false, garner.Errorf(files.ErrKept, "%s has the result of another job, or its operands have changed since; remove it, or give another folder", t.Out)
		}
		if read == nil && whole(t.Out, m) {
			_ = sweep(t.Out) // where finish was killed; the result is whole all the same
			return true, nil
		}
		if err := t.reopen(m); err != nil {
			return false, err
		}
	case !errors.Is(read, fs.ErrNotExist):
		return false, read
	default:
		parts, err := filepath.Glob(filepath.Join(pattern(t.Out), "part-*"))
		if err != nil {
			return false, err
		}
		if len(parts) > 0 {
			return false, garner.Errorf(files.ErrKept, "%s has %s, and nothing says which job has made it; remove it, or give another folder", t.Out, filepath.Base(parts[0]))
		}
	}
	if made {
		if err := putFile(filepath.Join(workFolder(t.Out), madeName), nil); err != nil {
			return false, err
		}
	}
	return false, t.claim(id)
}

// pattern is a path as a pattern that it alone matches.
func pattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// goOn looks at what an earlier run of a job, or one of another driver, has begun.
func (t *task) goOn(id, was string) error {
	if was != id {
		return garner.Errorf(files.ErrKept, "%s has shards of another job, or its operands have changed since; remove it, or give another folder", t.Out)
	}
	if err := os.Remove(filepath.Join(workFolder(t.Out), refusedName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// claim says whose shards the folder has, unless another driver has done so meanwhile.
func (t *task) claim(id string) error {
	path := filepath.Join(workFolder(t.Out), jobName)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".garner-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(id)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path) // unlike a rename, it replaces nothing
	if errors.Is(err, fs.ErrExist) {
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return t.goOn(id, string(was))
	}
	t.claimed = err == nil
	if err != nil { // a file system without links
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return garner.Errorf(files.ErrKept, "%s: another job has begun there at the same time (%v); run this one again", t.Out, err)
		}
		t.claimed = true
		_, err = f.WriteString(id)
		return errors.Join(err, f.Sync(), f.Close())
	}
	return nil
}

// leave takes back what begin made, for a job that no engine took.
func (t *task) leave() {
	if !t.claimed {
		return
	}
	if entries, err := os.ReadDir(filepath.Join(workFolder(t.Out), shardsName)); err == nil && len(entries) > 0 {
		return // records of a result that is not whole
	}
	takeAway(t.Out)
}

// takeAway removes the work folder, and the job's folder where the job has made it and
// nothing else is in it.
func takeAway(out string) error {
	_, err := os.Stat(filepath.Join(workFolder(out), madeName))
	made := err == nil
	if err := os.RemoveAll(workFolder(out)); err != nil {
		return err
	}
	if made {
		_ = os.Remove(out)
	}
	return nil
}

// made reports whether a manifest is that of this job's result.
func (t *task) made(m *shards.Manifest) (bool, error) {
	if t.unknown {
		return false, nil
	}
	is := *m
	is.Shards, is.Path = nil, ""
	a, err := json.Marshal(is)
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(t.Manifest)
	return string(a) == string(b), err
}

// whole reports whether every shard of a manifest is there, with its length.
func whole(dir string, m *shards.Manifest) bool {
	for _, s := range m.Shards {
		if _, err := s.Find(dir); err != nil {
			return false
		}
	}
	return true
}

// reopen makes a folder whose result is not whole one that the job goes on with: what its
// manifest says of the shards becomes their records.
func (t *task) reopen(m *shards.Manifest) error {
	if !sameShards(t.files(), m.Shards) {
		return garner.Errorf(files.ErrKept, "%s has shards of this job of another size, of which some are missing; remove it, or give the size of before", t.Out)
	}
	if err := os.Remove(filepath.Join(t.Out, shards.SuccessName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i, s := range m.Shards {
		text, err := json.Marshal(shardFile{int64(i), s.Bytes, s.SHA256})
		if err != nil {
			return err
		}
		if err := putFile(t.record(int64(i)), text); err != nil {
			return err
		}
	}
	return nil
}

// files are the shards of the result, without what is known of their bytes.
func (t *task) files() []shards.Shard {
	var all []shards.Shard
	for i := range t.Shards {
		first, end := t.shard(i)
		all = append(all, shards.Shard{File: t.file(i), Elements: end - first})
	}
	return all
}

// sameShards reports whether two lists have the same files of the same elements.
func sameShards(a, b []shards.Shard) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].File != b[i].File || a[i].Elements != b[i].Elements {
			return false
		}
	}
	return true
}

// putFile writes a small file, whole or not at all, and its folder where that lacks.
func putFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Commit()
}

// finish writes the manifest, says that the result is there, and sweeps.
func (t *task) finish(all []shardFile) error {
	m := *t.Manifest
	m.Shards = t.files()
	for i, s := range all {
		m.Shards[i].Bytes, m.Shards[i].SHA256 = s.Bytes, s.SHA256
	}
	if err := shards.Write(t.Out, &m); err != nil {
		return err
	}
	if err := shards.Finish(t.Out); err != nil {
		return err
	}
	return sweep(t.Out)
}

// sweep takes away what a job whose result is there has no more use for, and what writers that
// were killed have left.
func sweep(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if left.MatchString(e.Name()) && strings.HasPrefix(e.Name(), ".") {
			if err := os.Remove(filepath.Join(out, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.RemoveAll(workFolder(out))
}

// A refusal is the result of a job whose indices are refused.
type refusal struct{ Index *garner.IndexError }

// Outcome says how a pipeline that has ended, by an error too, left the folder of a job: nil
// where the result is whole, and a *garner.IndexError where an index was refused, and no row is
// written. It changes nothing: the refusal stays in the folder until the next job begins there.
func Outcome(out string) error {
	if _, err := os.Stat(filepath.Join(out, shards.SuccessName)); err == nil {
		return nil
	}
	refused := refusedIn(out)
	if refused == nil {
		return fmt.Errorf("garner-beam: the pipeline has ended, and %s has neither its result nor a refusal; look at the engine's log, and see that all workers share the folder", out)
	}
	return refused
}

// refusedIn returns the index that the job of a folder has refused; nil where there is none.
func refusedIn(out string) error {
	b, err := os.ReadFile(filepath.Join(workFolder(out), refusedName))
	if err != nil {
		return nil
	}
	var r refusal
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	return r.Index
}
