package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// doubled is a model of OpenVINO IR that broadcasts x to the shape s and adds the
// result to itself, again and again. It gathers row x of that along axis x.
func doubled(times int) string {
	var layers, edges strings.Builder
	layer := func(id int, op, version, data string, inputs int) {
		fmt.Fprintf(&layers, "<layer id=\"%d\" name=\"%s%d\" type=\"%s\" version=\"%s\">%s", id, strings.ToLower(op), id, op, version, data)
		if inputs > 0 {
			layers.WriteString("<input>")
			for i := range inputs {
				fmt.Fprintf(&layers, "<port id=\"%d\"/>", i)
			}
			layers.WriteString("</input>")
		}
		if op != "Result" {
			layers.WriteString("<output><port id=\"9\" precision=\"I64\"/></output>")
		}
		layers.WriteString("</layer>\n")
	}
	edge := func(from, to, port int) {
		fmt.Fprintf(&edges, "<edge from-layer=\"%d\" from-port=\"9\" to-layer=\"%d\" to-port=\"%d\"/>\n", from, to, port)
	}
	layer(0, "Parameter", "opset1", `<data shape="1" element_type="i64"/>`, 0)
	layer(1, "Parameter", "opset1", `<data shape="?" element_type="i64"/>`, 0)
	layer(2, "Broadcast", "opset3", `<data mode="numpy"/>`, 2)
	edge(0, 2, 0)
	edge(1, 2, 1)
	for i := range times {
		layer(3+i, "Add", "opset1", "", 2)
		edge(2+i, 3+i, 0)
		edge(2+i, 3+i, 1)
	}
	layer(3+times, "Gather", "opset8", "", 3)
	edge(2+times, 3+times, 0)
	edge(0, 3+times, 1)
	edge(0, 3+times, 2)
	layer(4+times, "Result", "opset1", "", 1)
	edge(3+times, 4+times, 0)
	return "<net name=\"doubled\" version=\"11\"><layers>\n" + layers.String() + "</layers><edges>\n" + edges.String() + "</edges></net>\n"
}

// watch reads every millisecond how much memory a process has held at most, until it
// ends; peak returns it in MiB. The resource usage that wait returns is no measure: it
// counts the memory of this process too, as it was before the other began its program.
func watch(pid int) (peak func() int) {
	most := make(chan int)
	go func() {
		kib := 0
		for {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, line, found := strings.Cut(string(b), "VmHWM:")
			if err != nil || !found {
				most <- kib >> 10
				return
			}
			if n, err := fmt.Sscan(line, &kib); n != 1 || err != nil {
				panic(err)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return func() int { return <-most }
}

// TestRunMemory runs a model whose tensors together take ten times the budget, and
// two at a time fit, and holds the process's peak memory as the kernel reports it.
// With half the budget it is refused before anything is computed.
func TestRunMemory(t *testing.T) {
	if emulated {
		t.Skip("an emulator's own memory is counted too")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "doubled.xml"), []byte(doubled(20)))
	args := []string{"run", "doubled.xml", "--input", "parameter0=[0]", "--input", "parameter1=[16777216]"} // 128 MiB each
	const budget = 300
	p := start(t, dir, nil, append(args, "--memory", fmt.Sprint(budget, "M"))...)
	peak := watch(p.cmd.Process.Pid)
	if got := p.status(t); got != statusDone {
		t.Fatalf("status %d: %s", got, p.stderr.String())
	}
	if most := peak(); most == 0 || most > budget+64 && !raceEnabled {
		t.Errorf("it took %d MiB of memory, and was given %d", most, budget)
	}
	p = start(t, dir, nil, append(args, "--memory", "200M")...)
	peak = watch(p.cmd.Process.Pid)
	if got := p.status(t); got != statusRefused || !strings.Contains(p.stderr.String(), `node "add4"`) || !strings.Contains(p.stderr.String(), "a tensor i64[16777216] takes 128 MiB beside the 128 MiB in use, and there are 200 MiB for all; give less at a time; --memory 200M is the limit") {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	if used := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(); used > 2*time.Second {
		t.Errorf("it took %v to refuse", used)
	}
	if most := peak(); most > 100 && !raceEnabled {
		t.Errorf("it took %d MiB to refuse", most)
	}
}
