package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
)

// TestExamples types every example of the help texts into a shell, and holds
// what is printed against what the example says after its #.
func TestExamples(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the examples are for a shell of Unix, and there is none: ", err)
	}
	examples := 0
	root := newProgram(nil, io.Discard, io.Discard).command()
	_, rest, _ := strings.Cut(root.Long, "Examples:\n")
	lines, _, _ := strings.Cut(rest, "\n\n")
	help := map[string]string{"garner": lines}
	for _, c := range root.Commands() {
		help[c.Name()] = c.Example
	}
	for name, example := range help {
		for line := range strings.Lines(example) {
			line = strings.TrimSpace(line)
			command, want, _ := strings.Cut(line, "   # ")
			examples++
			if name == "play" {
				t.Run(name+"/"+command, func(t *testing.T) { playExample(t, command) })
				continue
			}
			t.Run(name+"/"+command, func(t *testing.T) {
				sh := exec.Command("sh", "-c", command)
				sh.Dir = exampleFiles(t)
				var stderr bytes.Buffer
				sh.Stderr = &stderr
				out, err := sh.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, stderr.String())
				}
				if got := strings.TrimSpace(string(out)); want != "" && got != strings.TrimSpace(want) {
					t.Errorf("prints %s; the example says %s", got, want)
				}
			})
		}
	}
	if examples < 20 {
		t.Errorf("only %d examples were found", examples)
	}
}

// playExample types an example that runs until it is interrupted: it prints its address.
// Its port is a free one, and there is no browser that it could open.
func playExample(t *testing.T, command string) {
	garner, err := exec.LookPath("garner")
	if err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-c", "exec "+strings.ReplaceAll(command, ":8080", ":0"))
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(garner), "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait() // it was killed
	if err != nil || !strings.HasPrefix(line, "garner play: http://") {
		t.Errorf("prints %q, %v: %s", line, err, stderr.String())
	}
}

// TestReadmeCommands types every command of the README that a "$" begins into a shell,
// and holds what is printed against the lines behind it. Commands of one block run in one
// folder.
func TestReadmeCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a shell of Unix")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines, found := strings.CutPrefix(block, "    $ ")
		if !found {
			continue
		}
		dir := exampleFiles(t)
		for run := range strings.SplitSeq(lines, "\n    $ ") {
			command, want, _ := strings.Cut(run, "\n")
			sh := exec.Command("sh", "-c", command)
			sh.Dir = dir
			out, err := sh.CombinedOutput()
			if err != nil && !strings.HasPrefix(want, "    garner: ") {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
			if got, want := strings.TrimSpace(string(out)), strings.TrimSpace(want); got != want {
				t.Errorf("%s\nprints %q\nthe README says %q", command, got, want)
			}
			commands++
		}
	}
	if commands < 4 {
		t.Errorf("only %d commands were found", commands)
	}
}

// quantisedTable is a GGUF file with rows of 256 numbers in Q4_K, as gguf-py lays it
// out. The codes count up from 0 in even groups of 32 numbers, and down from 15 in odd
// ones; in odd rows it is the other way round. They are halved.
func quantisedTable(rows int) []byte {
	const kindQ4K, alignment = 12, 32
	name := "token_embd.weight"
	b := append([]byte("GGUF"), 3, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, 1) // tensors
	b = binary.LittleEndian.AppendUint64(b, 0) // keys
	b = binary.LittleEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.LittleEndian.AppendUint32(b, 2)
	b = binary.LittleEndian.AppendUint64(b, 256)
	b = binary.LittleEndian.AppendUint64(b, uint64(rows))
	b = binary.LittleEndian.AppendUint32(b, kindQ4K)
	b = binary.LittleEndian.AppendUint64(b, 0) // where the data begin
	b = append(b, make([]byte, (alignment-len(b)%alignment)%alignment)...)
	for row := range rows {
		block := make([]byte, 144)
		block[1] = 0x38 // 0.5
		for i := range 4 {
			block[4+i], block[12+i] = 1, 1 // scales of 1, minimums of 0
		}
		for i := range 128 {
			low := byte(i % 16)
			if row%2 == 1 {
				low = 15 - low
			}
			block[16+i] = low | (15-low)<<4
		}
		b = append(b, block...)
	}
	return b
}

// exampleFiles is a folder with the files that the examples name.
func exampleFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, err := garner.New(garner.F32, 2, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	writeNpy(t, filepath.Join(dir, "data.npy"), data)
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of([]int64{1, 0}, 2))
	for k := 1; k <= 4; k++ {
		writeNpy(t, filepath.Join(dir, fmt.Sprintf("rows-%d-of-4.npy", k)), data)
	}
	writeNpy(t, filepath.Join(dir, "at.npy"), garner.Of([]int64{0, 1, 2, 2, 1, 0}, 2, 3, 1))
	var b bytes.Buffer
	if err := safetensors.Write(&b, []safetensors.Named{{Name: "embeddings.weight", Tensor: data}}, nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "model.safetensors"), b.Bytes())
	b.Reset()
	if err := npz.Write(&b, []npz.Named{{Name: "table", Tensor: data}, {Name: "ids", Tensor: garner.Of([]int64{1, 0}, 2)}}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "arrays.npz"), b.Bytes())

	formats, err := filepath.Abs("../../format")
	if err != nil {
		t.Fatal(err)
	}
	shards := filepath.Join(dir, "shards")
	if err := os.Mkdir(shards, 0o777); err != nil {
		t.Fatal(err)
	}
	writeNpy(t, filepath.Join(shards, "part-1.npy"), data)
	writeNpy(t, filepath.Join(shards, "part-2.npy"), data)
	writeFile(t, filepath.Join(dir, "table.bin"), make([]byte, 64+5*256*2))
	writeFile(t, filepath.Join(dir, "table.gguf"), quantisedTable(4))
	for name, from := range map[string]string{
		"model.gguf":                       "gguf/testdata/real.gguf",
		"model.safetensors.index.json":     "safetensors/testdata/model.safetensors.index.json",
		"model-00001-of-00002.safetensors": "safetensors/testdata/model-00001-of-00002.safetensors",
		"model-00002-of-00002.safetensors": "safetensors/testdata/model-00002-of-00002.safetensors",
	} {
		b, err := os.ReadFile(filepath.Join(formats, filepath.FromSlash(from)))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), b)
	}

	const tests = "testdata"
	repository, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(repository, filepath.Join(dir, tests)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeNpy(t *testing.T, path string, x garner.Tensor) {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, b.Bytes())
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
