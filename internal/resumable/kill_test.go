package resumable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner/internal/atomicfile"
)

// writes is the variable that makes this test a program that writes a file: its
// value is the file's name.
const writes = "GARNER_TEST_WRITES"

func TestMain(m *testing.M) {
	if path := os.Getenv(writes); path != "" {
		if err := writeAll(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// blob is what the program writes.
func blob() []byte {
	b := make([]byte, 96<<10)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// writeAll writes the blob, or goes on with it, and notes every few KiB.
func writeAll(path string) error {
	place, err := atomicfile.Find(path)
	if err != nil {
		return err
	}
	b := blob()
	f, err := Begin(context.Background(), place, identity, int64(len(b)), Options{Resume: true})
	if err != nil {
		return err
	}
	defer f.Abort()
	f.step = 5000
	f.Back(f.At() / 16 * 16) // as a caller does that begins with an element
	for at := f.At(); at < f.size; {
		n := min(at+1000, f.size)
		if _, err := f.Write(b[at:n]); err != nil {
			return err
		}
		at = n
	}
	return f.Commit()
}

// kills is how many processes a test kills: few, unless GARNER_KILLS says more.
func kills(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("GARNER_KILLS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("GARNER_KILLS is %q; give a number", text)
	}
	return n
}

// TestKills kills runs at random moments, and runs again until one succeeds: every
// time the file is whole, and nothing stands beside it.
func TestKills(t *testing.T) {
	want := blob()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	run := func(patience time.Duration) (killed bool, took time.Duration) {
		var said bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writes+"="+path)
		cmd.Stderr = &said
		from := time.Now()
		if err := cmd.Start(); errors.Is(err, syscall.ENOEXEC) {
			t.Skip("the system cannot start this test itself, which runs under an emulator: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s; there stand %s", err, said.String(), folder(t, dir))
			}
			return false, time.Since(from)
		case <-time.After(patience):
		}
		cmd.Process.Kill()
		killed = (<-ended) != nil
		if said.Len() > 0 {
			t.Fatalf("%s; there stand %s", said.String(), folder(t, dir))
		}
		return killed, 0
	}
	_, usual := run(time.Minute)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for done, most := 0, kills(t, 25); done < most; {
		write(t, path, "as it was")
		for {
			killed, _ := run(time.Duration(r.Int64N(int64(usual) * 5 / 4)))
			if !killed {
				break
			}
			done++
			if b, err := os.ReadFile(path); err != nil || string(b) != "as it was" && !bytes.Equal(b, want) {
				t.Fatalf("a killed run left %d bytes under the name, %v", len(b), err)
			}
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
			t.Fatalf("after %d kills there are %d bytes, %v", done, len(b), err)
		}
		holds(t, path, "", "out")
	}
}
