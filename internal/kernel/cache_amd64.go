//go:build !purego

package kernel

// cpuid sets the four numbers at r to EAX, EBX, ECX and EDX, as the instruction CPUID
// answers for a leaf. The instruction has no form in Go. For a subleaf that the
// processor lacks it is
//
//	for i := range 4 {
//		r[i] = 0
//	}
//
//go:noescape
func cpuid(r *uint32, leaf, subleaf uint32)

// LastCache returns the size in bytes of the largest cache that the processor names,
// or 0 where it names none. All cores and, on a virtual machine, other machines may
// share it.
func LastCache() int {
	const intel, amd = 4, 0x8000001d // leaves of one format
	var r [4]uint32
	for _, leaf := range []uint32{intel, amd} {
		if cpuid(&r[0], leaf&0x80000000, 0); r[0] < leaf {
			continue
		}
		size := 0
		for i := range uint32(8) {
			if cpuid(&r[0], leaf, i); r[0]&31 == 0 {
				break // no further cache
			}
			ways, partitions, line, sets := r[1]>>22+1, r[1]>>12&1023+1, r[1]&4095+1, r[2]+1
			size = max(size, int(ways)*int(partitions)*int(line)*int(sets))
		}
		if size > 0 {
			return size
		}
	}
	return 0
}
