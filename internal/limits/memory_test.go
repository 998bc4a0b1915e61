package limits

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// files makes a root of files, by their paths.
func files(texts map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range texts {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// limitsFile is a /proc/self/limits.
func limitsFile(space, data string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s%-21s%-21s%-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	for _, l := range [][2]string{{"Max data size", data}, {"Max stack size", "8388608"}, {"Max address space", space}} {
		fmt.Fprintf(&b, "%-26s%-21s%-21s%-10s\n", l[0], l[1], "unlimited", "bytes")
	}
	return b.String()
}

// TestLeast holds what limits a process, on roots of files as systems have them.
func TestLeast(t *testing.T) {
	const (
		gib      = 1 << 30
		pageSize = 4096
		v2       = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1       = "30 23 0:27 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n" +
			"32 30 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"35 30 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	)
	for _, tt := range []struct {
		name  string
		texts map[string]string
		want  Bound
	}{
		{"no files", nil, Bound{64 * gib, byMachine}},
		{"nothing limits", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "max\n",
			"proc/self/limits": limitsFile("unlimited", "unlimited"), "proc/self/statm": "300 200 100 1 0 50 0\n",
		}, Bound{64 * gib, byMachine}},
		{"v2, in a container", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "1073741824\n",
		}, Bound{gib, "the control group / allows"}},
		{"v2, its own group", map[string]string{
			"proc/self/cgroup": "0::/user.slice/job 1.scope\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/user.slice/memory.max":             "8589934592\n",
			"sys/fs/cgroup/user.slice/job 1.scope/memory.max": "2147483648\n",
		}, Bound{2 * gib, "the control group /user.slice/job 1.scope allows"}},
		{"v2, a group around it", map[string]string{
			"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/memory.max": "2147483648\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/c/memory.max": "8589934592\n",
			"sys/fs/cgroup/other/memory.max": "1\n",
		}, Bound{2 * gib, "the control group /a allows"}},
		{"v2, a part of the tree is mounted", map[string]string{
			"proc/self/cgroup": "0::/pod/box/job\n", "proc/self/mountinfo": strings.Replace(v2, "/ /sys/fs/cgroup", "/pod/box /sys/fs/cgroup", 1),
			"sys/fs/cgroup/job/memory.max": "2147483648\n", "sys/fs/cgroup/memory.max": "4294967296\n",
		}, Bound{2 * gib, "the control group /pod/box/job allows"}},
		{"v2, a group that the mount does not show", map[string]string{
			"proc/self/cgroup": "0::/../sibling\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "4294967296\n", "sys/fs/sibling/memory.max": "1\n",
		}, Bound{4 * gib, "the control group / allows"}},
		{"v1", map[string]string{
			"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/batch/job\n0::/\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/batch/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes":         "1\n",
		}, Bound{2 * gib, "the control group /batch/job allows"}},
		{"v1, a group around it", map[string]string{
			"proc/self/cgroup": "4:memory:/batch/job\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes": "8589934592\n",
			"sys/fs/cgroup/memory/batch/memory.limit_in_bytes":     "3221225472\n",
		}, Bound{3 * gib, "the control group /batch allows"}},
		{"v1, mounted elsewhere", map[string]string{
			"proc/self/cgroup": "4:hugetlb,memory:/job\n", "proc/self/mountinfo": `35 30 0:32 / /mnt/a\040b rw - cgroup cgroup rw,hugetlb,memory` + "\n",
			"mnt/a b/job/memory.limit_in_bytes": "2147483648\n",
		}, Bound{2 * gib, "the control group /job allows"}},
		{"v1 beside v2", map[string]string{
			"proc/self/cgroup":                               "4:memory:/old\n0::/new\n",
			"proc/self/mountinfo":                            v1 + strings.Replace(v2, "/sys/fs/cgroup", "/sys/fs/cgroup/unified", 1),
			"sys/fs/cgroup/memory/old/memory.limit_in_bytes": "3221225472\n",
			"sys/fs/cgroup/unified/new/memory.max":           "2147483648\n",
		}, Bound{2 * gib, "the control group /new allows"}},
		{"mounts that cannot be read", map[string]string{"sys/fs/cgroup/memory.max": "2147483648\n"}, Bound{2 * gib, "the control group / allows"}},
		{"RLIMIT_AS", map[string]string{
			"proc/self/limits": limitsFile("4294967296", "unlimited"), "proc/self/statm": "262144 200 100 1 0 50 0\n",
		}, Bound{3*gib - runtimeBytes, "RLIMIT_AS leaves"}},
		{"RLIMIT_AS, used up", map[string]string{
			"proc/self/limits": limitsFile("1073741824", "unlimited"), "proc/self/statm": "262144 200 100 1 0 50 0\n",
		}, Bound{leastLeft, "RLIMIT_AS leaves"}},
		{"RLIMIT_DATA", map[string]string{
			"proc/self/limits": limitsFile("8589934592", "4294967296"), "proc/self/statm": "262144 200 100 1 0 262144 0\n",
		}, Bound{3*gib - runtimeBytes, "RLIMIT_DATA leaves"}},
		{"the least of all", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "2147483648\n",
			"proc/self/limits": limitsFile("8589934592", "unlimited"), "proc/self/statm": "1000 200 100 1 0 262144 0\n",
		}, Bound{2 * gib, "the control group /a allows"}},
	} {
		if tt.want.Bytes > math.MaxInt {
			tt.want = Bound{math.MaxInt, byMachine}
		}
		if got := least(64*gib, files(tt.texts), pageSize); got != tt.want {
			t.Errorf("%s: %+v; want %+v", tt.name, got, tt.want)
		}
	}
}

// TestMemory holds the bound of this process, whatever the machine.
func TestMemory(t *testing.T) {
	b := Memory()
	if b.Bytes < 64<<20 || !strings.HasPrefix(b.String(), b.By+" ") || !strings.HasSuffix(b.String(), "iB") {
		t.Errorf("%+v, %s", b, b)
	}
}
