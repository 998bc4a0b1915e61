package source

// view is the array's bytes in the mapped file; nil where they do not lie there
// as they are.
func (f *File) view() []byte {
	if f.codec != nil || len(f.parts) != 1 {
		return nil
	}
	p := f.parts[0]
	m := p.file.mapping()
	if m == nil || int64(m.Size()) < p.offset+f.size {
		return nil
	}
	return m.Bytes()[p.offset : p.offset+f.size]
}

// resident reports whether rows are in the page cache, as far as a look at some
// of them tells.
func (f *File) resident(rows []int64, size int) bool { return len(rows) == 0 }
