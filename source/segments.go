package source

import (
	"fmt"
	"time"

	"github.com/garner-go/garner/internal/mapped"
)

// Segments returns the ranges of files that hold the array, in order, without empty
// ones. Together with the Spec they identify the array.
func (f *File) Segments() []Segment {
	list := make([]Segment, len(f.parts))
	for i, p := range f.parts {
		list[i] = Segment{Path: p.file.path, Offset: p.offset, Bytes: f.at(p.to - p.from)}
	}
	return list
}

// A FileState tells a file from any other, and from itself before it was last
// written to, whatever its name, its size and its time of modification are set to.
type FileState struct {
	Size     int64     // in bytes
	Modified time.Time // when its contents were written to; a program may set it
	Inode    uint64    // its number in its file system; 0 where the system has none
	Changed  time.Time // when its contents, mode, owner or links changed; zero where the system does not say
}

// String says it for a person.
func (s FileState) String() string {
	text := fmt.Sprintf("%d bytes, written %s", s.Size, s.Modified.UTC().Format(time.RFC3339Nano))
	if !s.Changed.IsZero() {
		text += ", changed " + s.Changed.UTC().Format(time.RFC3339Nano)
	}
	if s.Inode != 0 {
		text += fmt.Sprintf(", inode %d", s.Inode)
	}
	return text
}

// States returns the states of the open files that hold the Segments, in their
// order. It costs a system call a file, and no byte is read. A file that the
// system cannot describe is a *ReadError.
func (f *File) States() ([]FileState, error) {
	if err := f.enter(0); err != nil {
		return nil, err
	}
	defer f.leave(0)
	of := make(map[*handle]FileState, len(f.files))
	list := make([]FileState, len(f.parts))
	for i, p := range f.parts {
		state, ok := of[p.file]
		if !ok {
			stamp, err := mapped.StampOf(p.file.file)
			if err != nil {
				return nil, &ReadError{Path: p.file.path, Row: -1, Err: err}
			}
			state = FileState(stamp)
			of[p.file] = state
		}
		list[i] = state
	}
	return list, nil
}
