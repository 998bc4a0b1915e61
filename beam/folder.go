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
// before _SUCCESS says that the result is there. Each Run has a file in _garner/drivers, and a
// refusal of its own; where nothing was made, the last that leaves takes the folder away. The refusal
// of a pipeline that Build makes stays until the next run begins.

// workName is the folder in OUT of what a job needs until it is done.
const workName = "_garner"

const (
	jobName     = "job.json"     // what the shards in OUT are made of
	madeName    = "made"         // the job has made OUT, and takes it away where an index is refused
	refusedName = "refused.json" // the index that is refused
	shardsName  = "shards"       // the folder of what is known of each shard in place
	driversName = "drivers"      // the folder of a file for each driver that works on the job
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
	for try := range beginTries {
		var made bool
		if done, made, err = t.enter(); err != nil || done {
			quit(t.Out, t.Driver, made)
			if errors.Is(err, fs.ErrNotExist) && try+1 < beginTries {
				continue // the work folder went between two steps
			}
			return done, err
		}
		if t.Driver == "" {
			return false, nil
		}
		if _, err := os.Stat(driverFile(t.Out, t.Driver)); err == nil {
			return false, nil
		}
	}
	return false, garner.Errorf(files.ErrKept, "%s: other drivers of the job have ended there just now; run this one again", t.Out)
}

// beginTries is how often a driver begins whose folder another one, that was the last to
// leave, takes away at that moment.
const beginTries = 8

func driverFile(out, driver string) string {
	return filepath.Join(workFolder(out), driversName, driver)
}

// refusedFile is where a driver's job says which index it has refused.
func refusedFile(out, driver string) string {
	name := refusedName
	if driver != "" {
		name = "refused-" + driver + ".json"
	}
	return filepath.Join(workFolder(out), name)
}

// quit takes back a driver's file, and its folders where they have nothing else.
func quit(out, driver string, made bool) {
	if driver == "" {
		return
	}
	_ = os.Remove(driverFile(out, driver))
	if os.Remove(filepath.Join(workFolder(out), driversName)) == nil && made {
		_ = os.Remove(filepath.Join(workFolder(out), madeName))
	}
	_ = os.Remove(workFolder(out))
	if made {
		_ = os.Remove(out)
	}
}

// alone reports whether no other driver works in a folder.
func alone(out, driver string) bool {
	entries, err := os.ReadDir(filepath.Join(workFolder(out), driversName))
	for _, e := range entries {
		if e.Name() != driver {
			return false
		}
	}
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// enter is one try of begin. made is true where it has made the job's folder.
func (t *task) enter() (done, made bool, err error) {
	id, err := t.identity()
	if err != nil {
		return false, false, err
	}
	made = true
	if err := os.Mkdir(t.Out, 0o777); errors.Is(err, fs.ErrExist) {
		made = false
	} else if err != nil {
		return false, false, err
	}
	if t.Driver != "" {
		if err := os.MkdirAll(filepath.Join(workFolder(t.Out), driversName), 0o777); err != nil {
			return false, made, err
		}
		if err := os.WriteFile(driverFile(t.Out, t.Driver), nil, 0o666); err != nil {
			return false, made, err
		}
	}
	if made {
		if err := putFile(filepath.Join(workFolder(t.Out), madeName), nil); err != nil {
			return false, made, err
		}
	}
	was, err := os.ReadFile(filepath.Join(workFolder(t.Out), jobName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, made, err
	}
	begun := err == nil
	if begun && string(was) != id && refusedIn(t.Out) != nil && alone(t.Out, t.Driver) { // nothing was made
		if err := t.forgive(jobName); err != nil {
			return false, made, err
		}
		begun = false
	}
	done, err = t.look(id, string(was), begun)
	return done, made, err
}

// forgive removes the refusals of earlier runs, and other files of the work folder.
func (t *task) forgive(others ...string) error {
	for _, path := range append(refusals(t.Out), refusedFile(t.Out, "")) {
		driver := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "refused-"), ".json")
		if _, err := os.Stat(driverFile(t.Out, driver)); err == nil {
			continue // it has not read it yet
		}
		others = append(others, filepath.Base(path))
	}
	for _, name := range others {
		if err := os.Remove(filepath.Join(workFolder(t.Out), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// refusals are the files of refusals in a folder.
func refusals(out string) []string {
	all, _ := filepath.Glob(filepath.Join(pattern(workFolder(out)), "refused*.json"))
	return all
}

// look decides by what is in the folder whether the job begins, goes on or is done.
func (t *task) look(id, was string, begun bool) (done bool, err error) {
	m, read := shards.Read(t.Out)
	switch {
	case begun && read != nil:
		return false, t.goOn(id, was)
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
	return t.forgive()
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
	if err != nil { // a file system without links
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return garner.Errorf(files.ErrKept, "%s: another job has begun there at the same time (%v); run this one again", t.Out, err)
		}
		_, err = f.WriteString(id)
		return errors.Join(err, f.Sync(), f.Close())
	}
	return nil
}

// leave ends the work of a driver in a folder. The last one takes the folder away where
// nothing is made that another run could go on with: the work folder, and the job's where the job has
// made it and nothing else is in it.
func leave(out, driver string) error {
	if driver == "" {
		return nil
	}
	for _, path := range []string{refusedFile(out, driver), driverFile(out, driver)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if records, err := os.ReadDir(filepath.Join(workFolder(out), shardsName)); err == nil && len(records) > 0 {
		return nil
	}
	if parts, err := filepath.Glob(filepath.Join(pattern(out), "part-*")); err != nil || len(parts) > 0 {
		return err
	}
	if err := os.Remove(filepath.Join(workFolder(out), driversName)); err != nil {
		return nil // others work there
	}
	made := false
	err := takeAway(out, func(away string) {
		_, err := os.Stat(filepath.Join(away, madeName))
		made = err == nil
	})
	if err != nil {
		return err
	}
	if made {
		_ = os.Remove(out)
	}
	return nil
}

// takeAway removes the work folder. It goes in one step: a driver that begins now finds all of it,
// or nothing, and a worker that is late writes nothing into it. look, if not nil, sees it before.
func takeAway(out string, look func(away string)) error {
	away := workFolder(out) + "-" + newToken()[:8]
	if err := os.Rename(workFolder(out), away); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if look != nil {
		look(away)
	}
	return os.RemoveAll(away)
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

// note writes a small file of a worker into the work folder. That folder it does not make: where it is
// gone, the result of another driver is there, for which nobody needs the file, or the job has ended.
func note(out, path string, b []byte) error {
	var err error
	if dir := filepath.Dir(path); dir != workFolder(out) {
		err = os.Mkdir(dir, 0o777)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		var f *atomicfile.File
		if f, err = atomicfile.Create(path); err == nil {
			defer f.Abort()
			_, err = f.Write(b)
			err = errors.Join(err, f.Commit())
		}
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, there := os.Stat(filepath.Join(out, shards.SuccessName)); there == nil {
		return nil
	}
	return garner.Errorf(err, "%s is gone: the job has ended, or somebody has removed it; run it again", workFolder(out))
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
		if left.MatchString(e.Name()) && (strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), workName+"-")) {
			if err := os.RemoveAll(filepath.Join(out, e.Name())); err != nil {
				return err
			}
		}
	}
	return takeAway(out, nil)
}

// A refusal is the result of a job whose indices are refused.
type refusal struct{ Index *garner.IndexError }

// Outcome says how a pipeline that has ended, by an error too, left the folder of a job: nil
// where the result is whole, and a *garner.IndexError where an index was refused, and no row is
// written. It changes nothing: the refusal stays in the folder until the next job begins there.
func Outcome(out string) error { return outcome(out, refusedIn(out)) }

func outcome(out string, refused error) error {
	if _, err := os.Stat(filepath.Join(out, shards.SuccessName)); err == nil {
		return nil
	}
	if refused == nil {
		return fmt.Errorf("garner-beam: the pipeline has ended, and %s has neither its result nor a refusal; look at the engine's log, and see that all workers share the folder", out)
	}
	return refused
}

// refusedIn returns the index that a job of a folder has refused; nil where there is none.
func refusedIn(out string) error {
	for _, path := range refusals(out) {
		if err := refusalOf(path); err != nil {
			return err
		}
	}
	return nil
}

// refusalOf returns the index that a file says was refused; nil where there is no file.
func refusalOf(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var r refusal
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	return r.Index
}
