package source

// Segments are the pieces of files of which the array consists, in order, those
// without bytes left out: together with the Spec they tell one array from
// another.
func (f *File) Segments() []Segment {
	list := make([]Segment, len(f.parts))
	for i, p := range f.parts {
		list[i] = Segment{Path: p.file.path, Offset: p.offset, Bytes: (p.to - p.from) / f.block * f.stored}
	}
	return list
}
