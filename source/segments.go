package source

// Segments returns the ranges of files that hold the array, in order, without empty
// ones. Together with the Spec they identify the array.
func (f *File) Segments() []Segment {
	list := make([]Segment, len(f.parts))
	for i, p := range f.parts {
		list[i] = Segment{Path: p.file.path, Offset: p.offset, Bytes: (p.to - p.from) / f.block * f.stored}
	}
	return list
}
