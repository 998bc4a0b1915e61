//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/garner-go/garner"
)

// recipe returns a recipe of docs/recipes, and the folder that it is run in: with a table
// and indices, and whole.npy, the rows that a gather without parts makes.
func recipe(t *testing.T, name string) (path, dir string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "docs", "recipes", name))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	table, ids := make([]float32, 300), make([]int64, 100)
	for i := range table {
		table[i] = float32(i) / 4
	}
	for i := range ids {
		ids[i] = int64(i * 37 % 100)
	}
	writeNpy(t, filepath.Join(dir, "table.npy"), garner.Of(table, 100, 3))
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(ids, 100))
	shell(t, dir, nil, "garner", "gather", "table.npy", "ids.npy", "-o", "whole.npy")
	return path, dir
}

// shell runs a command in a folder, with variables beside its own.
func shell(t *testing.T, dir string, env []string, command ...string) {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
}

// equalFiles reports whether a file has the bytes of whole.npy.
func equalFiles(t *testing.T, dir, name string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(dir, "whole.npy"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not whole.npy, %v", name, err)
	}
}

// needs skips a recipe whose program this machine lacks; .ci/run installs them.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("the recipe needs %s: %v", program, err)
	}
}

func TestRecipeShell(t *testing.T) {
	path, dir := recipe(t, "parts.sh")
	shell(t, dir, nil, "sh", path)
	equalFiles(t, dir, "rows.npy")
}

func TestRecipeMake(t *testing.T) {
	needs(t, "make")
	path, dir := recipe(t, "parts.mk")
	shell(t, dir, nil, "make", "-f", path, "-j", "8")
	equalFiles(t, dir, "rows.npy")
	if err := os.Remove(filepath.Join(dir, "rows-7-of-64.npy")); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, nil, "make", "-f", path, "-j", "8") // makes one part
	equalFiles(t, dir, "rows.npy")
}

// holdParts runs one part of 64 by a function, then all others by the command, and joins.
func holdParts(t *testing.T, dir string, run func()) {
	t.Helper()
	run()
	if _, err := os.Stat(filepath.Join(dir, "rows-3-of-64.npy")); err != nil {
		t.Fatalf("index 2 made no part 3: %v", err)
	}
	for k := 1; k <= 64; k++ {
		if k != 3 {
			shell(t, dir, nil, "garner", "gather", "table.npy", "ids.npy", "-o", "rows-{part}-of-{parts}.npy", "--part", fmt.Sprintf("%d/64", k))
		}
	}
	shell(t, dir, nil, "garner", "join", "rows-*-of-64.npy", "-o", "rows.npy")
	equalFiles(t, dir, "rows.npy")
}

func TestRecipeKubernetes(t *testing.T) {
	path, dir := recipe(t, "kubernetes.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			CompletionMode       string `yaml:"completionMode"`
			Completions          int
			Parallelism          int
			BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
			Template             struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Name, Image  string
						WorkingDir   string `yaml:"workingDir"`
						Command      []string
						VolumeMounts []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
						} `yaml:"volumeMounts"`
					}
					Volumes []struct {
						Name  string
						Claim struct {
							Name string `yaml:"claimName"`
						} `yaml:"persistentVolumeClaim"`
					}
				}
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || job.Spec.Completions != 64 || len(pod.Containers) != 1 {
		t.Fatalf("%+v", job)
	}
	c := pod.Containers[0]
	if c.VolumeMounts[0].MountPath != c.WorkingDir || c.VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Errorf("%+v", pod)
	}
	holdParts(t, dir, func() { shell(t, dir, []string{"JOB_COMPLETION_INDEX=2"}, c.Command...) })
}

func TestRecipeSlurm(t *testing.T) {
	path, dir := recipe(t, "slurm.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n#SBATCH --array=0-63\n") {
		t.Error("the array is not 0 to 63")
	}
	shell(t, dir, nil, "sh", "-n", path)
	holdParts(t, dir, func() { shell(t, dir, []string{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=64"}, "sh", path) })
}

// TestRecipesPython runs the recipes of Ray and Dask over modules of their names that call
// the tasks one after the other.
func TestRecipesPython(t *testing.T) {
	needs(t, "python3")
	for name, stub := range map[string]map[string]string{
		"parts_ray.py": {"ray.py": `
def remote(**options):
    def wrap(f):
        f.remote = lambda *args: f(*args)
        return f
    assert options["max_retries"] > 0
    return wrap
def init(): pass
def get(refs): return refs
`},
		"parts_dask.py": {"dask/__init__.py": "", "dask/distributed.py": `
class Client:
    def __init__(self, address=None): pass
    def map(self, f, items, retries=0, **fixed): return [f(i, **fixed) for i in items]
    def gather(self, futures): return futures
`},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := recipe(t, name)
			modules := t.TempDir()
			for file, text := range stub {
				file = filepath.Join(modules, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			shell(t, dir, []string{"PYTHONPATH=" + modules, "PYTHONDONTWRITEBYTECODE=1"}, "python3", path)
			shell(t, dir, nil, "garner", "join", "rows-*-of-64.npy", "-o", "rows.npy")
			equalFiles(t, dir, "rows.npy")
		})
	}
}

// TestRecipesListed holds that docs/parts.md lists every recipe.
func TestRecipesListed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "parts.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "docs", "recipes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(string(page), "](recipes/"+f.Name()+")") {
			t.Errorf("docs/parts.md does not list %s", f.Name())
		}
	}
}
