package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
)

// printResults prints results, each as NAME = LITERAL.
// Of a long one the spec is given, and its tensor has the elements at its ends.
func (p *program) printResults(goals []wanted, tensors []garner.Tensor, long []garner.Spec) error {
	to := p.printer()
	for i, t := range tensors {
		if shape, ok := long[i].Shape(); ok && long[i].DType != garner.Invalid {
			text, err := summed(t.DType(), shape, func(first, n int) (string, error) {
				if first > 0 {
					first = t.Len() - n
				}
				part, err := t.Slice(0, first, first+n, 1)
				return part.Text(), err
			})
			if err != nil {
				return err
			}
			to.printf("%s = %s", plain(goals[i].name), strings.Replace(text, "-o FILE.npy", "-o DIR", 1))
			continue
		}
		open, end := "", ""
		if t.Rank() == 0 {
			open, end = "(", ")"
		}
		to.printf("%s = %s%s", plain(goals[i].name), t.DType(), open)
		if err := writeLists(to.buf, t); err != nil {
			return err
		}
		to.printf("%s\n", end)
	}
	return to.flush()
}

// fileNames lists the file names of results. It refuses two that are the same file
// on some system.
func fileNames(goals []wanted) ([]string, error) {
	names := make([]string, len(goals))
	taken := make(map[string]string)
	for i, g := range goals {
		names[i] = fileName(g.name) + ".npy"
		folded := strings.ToLower(names[i])
		if other, ok := taken[folded]; ok {
			return nil, cmdline.Wrong("results %s and %s would both be the file %s; ask for one at a time with --result", plain(other), plain(g.name), names[i])
		}
		taken[folded] = g.name
	}
	return names, nil
}

// fileName makes a file name that every system accepts: letters, digits and some
// others stay, all else becomes _.
func fileName(name string) string {
	safe := strings.Map(func(c rune) rune {
		if c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-_.+ ", c)) {
			return c
		}
		return '_'
	}, name)
	const most = 200 // bytes; file systems take 255
	if len(safe) > most {
		safe = strings.ToValidUTF8(safe[:most], "")
	}
	// Hidden names, empty names, and the device names of Windows.
	if strings.HasPrefix(safe, ".") || strings.HasPrefix(safe, " ") {
		safe = "_" + safe[1:]
	}
	base, _, _ := strings.Cut(strings.ToUpper(safe), ".")
	base = strings.TrimSpace(base)
	if safe == "" || slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, base) ||
		len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && base[3] >= '0' && base[3] <= '9' {
		safe = "_" + safe
	}
	return safe
}

// onDiskSize is about how many bytes a tensor takes in a file; 0 for strings.
func onDiskSize(t garner.Tensor) int64 {
	if t.DType() == garner.String {
		return 0
	}
	return cmdline.Volume(t.DType(), int64(t.Len()))
}

// write writes all results under temporary names, and then renames them all.
func (r *modelRun) write(ctx context.Context, dir string, goals []wanted, names []string, tensors []garner.Tensor) (err error) {
	p := r.program
	inputs := slices.Clip(r.model.Files)
	for _, in := range r.opened {
		inputs = append(inputs, in.Paths...)
	}
	if err := os.Mkdir(dir, 0o777); err == nil {
		defer func() {
			if err != nil {
				os.Remove(dir) // which fails unless it is empty
			}
		}()
	} else if !errors.Is(err, os.ErrExist) {
		return garner.Errorf(err, "cannot make the folder %s: %v; make the one around it, or name another", dir, cmdline.Reason(err))
	}
	p.unfinished.Store(true)
	defer p.unfinished.Store(false)
	total := int64(0)
	for _, t := range tensors {
		total += onDiskSize(t)
	}
	meter := p.Meter("writing", total)
	defer meter.Stop()
	writers := make([]*files.Writer, len(tensors))
	before := int64(0) // bytes of the finished files
	for i, t := range tensors {
		o := files.CreateOptions{Inputs: inputs, Progress: func(done, _ int64) { meter.Set(before + done) }}
		if writers[i], err = files.Create(ctx, filepath.Join(dir, names[i]), garner.SpecOf(t.DType(), t.Shape()...), o); err != nil {
			return err
		}
		defer writers[i].Abort()
		if err := writers[i].Put(t); err != nil {
			return cmdline.About("result "+plain(goals[i].name)+": ", err)
		}
		before += onDiskSize(t)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i, f := range writers {
		if err := f.Commit(); err != nil {
			return err
		}
		if names[i] != goals[i].name+".npy" {
			meter.Stop()
			fmt.Fprintf(p.Stderr, "result %s is in %s\n", plain(goals[i].name), names[i])
		}
	}
	return nil
}
