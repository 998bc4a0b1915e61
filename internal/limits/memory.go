package limits

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/garner-go/garner/internal/units"
)

// A Bound is the most memory that this process can have, and what limits it.
type Bound struct {
	Bytes int64
	By    string // "this machine has", "the control group /batch/job allows", "RLIMIT_AS leaves"
}

// String returns the bound for a message: "this machine has 24 GiB".
func (b Bound) String() string { return b.By + " " + units.Bytes(b.Bytes) }

// Memory returns the least of the machine's memory, the limits of the control groups
// that the process is in (cgroup v1 and v2, each with the groups around it), and what
// RLIMIT_AS and RLIMIT_DATA leave. Only the last two count what the process already
// has. A program that allocates more is killed, so a command asks here first. It
// reads about ten small files, and opens none that is large.
func Memory() Bound { return current() }

const byMachine = "this machine has"

// ByAddressSpace is the By of a Bound that limits the mapping of files too.
const ByAddressSpace = "RLIMIT_AS leaves"

// AddressSpace returns RLIMIT_AS, the bytes of memory and of mapped files together that
// this process may have; false where nothing limits them, or the system does not tell.
func AddressSpace() (bytes int64, ok bool) {
	return softLimit(read(os.DirFS("/"), "proc/self/limits"), addressSpace)
}

const addressSpace = "Max address space"

// softLimit returns a limit out of the text of /proc/self/limits by the begin of its line.
func softLimit(limits, line string) (n int64, ok bool) {
	_, values, _ := strings.Cut(limits, line)
	soft, _, _ := strings.Cut(strings.TrimLeft(values, " "), " ")
	return number(soft)
}

// runtimeBytes is kept back from RLIMIT_AS and RLIMIT_DATA: Go's heap reserves
// address space in arenas of 64 MiB, and an allocation may begin in a new one.
const runtimeBytes = 128 << 20

// leastLeft is what RLIMIT_AS and RLIMIT_DATA always leave: runtimeBytes has room for it,
// and so for what is small.
const leastLeft = 1 << 20

// least returns the bound of a Linux process on a machine with so many bytes. root is
// the root of the file system; files that it lacks limit nothing.
func least(machine int64, root fs.FS, pageSize int) Bound {
	b := Bound{Bytes: min(machine, math.MaxInt), By: byMachine}
	for _, dir := range memoryGroups(root) {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} { // of v2 and of v1
			if n, ok := number(read(root, path.Join(dir.path, name))); ok && n < b.Bytes {
				b = Bound{n, "the control group " + dir.name + " allows"}
			}
		}
	}
	limits := read(root, "proc/self/limits")
	pages := strings.Fields(read(root, "proc/self/statm"))
	for _, l := range []struct {
		line, by string
		used     int // the field of statm with the pages that count against the limit
	}{
		{addressSpace, ByAddressSpace, 0},
		{"Max data size", "RLIMIT_DATA leaves", 5},
	} {
		n, ok := softLimit(limits, l.line)
		if !ok {
			continue
		}
		if l.used < len(pages) {
			if used, ok := number(pages[l.used]); ok {
				n -= used * int64(pageSize)
			}
		}
		if n = max(n-runtimeBytes, leastLeft); n < b.Bytes {
			b = Bound{n, l.by}
		}
	}
	return b
}

// A group is the folder of a control group, without the leading slash, and the
// group's name.
type group struct{ path, name string }

// memoryGroups lists the control groups that may limit the process's memory: its own
// and those around it, as far up as the file system shows them.
func memoryGroups(root fs.FS) []group {
	var all []group
	of := make(map[string]string) // the process's group, by version
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		// 4:memory:/a/b of v1, 0::/a/b of v2
		if part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(part) == 3 {
			if part[1] == "" {
				of["cgroup2"] = part[2]
			} else if listed(part[1], "memory") {
				of["cgroup"] = part[2]
			}
		}
	}
	for line := range strings.Lines(read(root, "proc/self/mountinfo")) {
		// 35 31 0:32 ROOT MOUNTPOINT rw,relatime - cgroup cgroup rw,memory
		mount, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		at, system := strings.Fields(mount), strings.Fields(kind)
		if len(at) < 5 || len(system) < 3 || system[0] == "cgroup" && !listed(system[2], "memory") {
			continue
		}
		own, ok := of[system[0]]
		if !ok {
			continue
		}
		// A container sees its own group at the mount point, or a part of the tree
		// whose root has another name outside of it. A group that the mount does not
		// show (/../x) is limited by the mount point's at least.
		from, point := unescape(at[3]), strings.TrimPrefix(unescape(at[4]), "/")
		inside, ok := strings.CutPrefix(own+"/", strings.TrimSuffix(from, "/")+"/")
		if !ok || strings.Contains("/"+inside, "/../") {
			inside = ""
		}
		for inside = strings.Trim(inside, "/"); ; inside = path.Dir(inside) {
			if inside == "." {
				inside = ""
			}
			all = append(all, group{path.Join(point, inside), path.Join("/", from, inside)})
			if inside == "" {
				break
			}
		}
	}
	// Where the mounts cannot be read: the places that all systems use.
	return append(all, group{"sys/fs/cgroup", "/"}, group{"sys/fs/cgroup/memory", "/"})
}

// listed reports whether a list with commas has a name.
func listed(list, name string) bool { return strings.Contains(","+list+",", ","+name+",") }

// unescape reads a path of mountinfo.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// read returns the text of a file; "" where it cannot be read.
func read(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(text)
}

// number parses a limit; false for "max", "unlimited" and whatever else is no number.
// One beyond int64 limits nothing.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}
