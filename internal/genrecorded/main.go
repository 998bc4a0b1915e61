// Command genrecorded writes internal/play/recorded/answers.tsv: what the runtimes
// answered, by operator and kind of index, from the recordings.
//
//	go generate ./internal/play/recorded
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/garner-go/garner/internal/play/recorded"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "garner: genrecorded takes the folder of the recordings, that of the recordings of lint, and the file to write")
		os.Exit(2)
	}
	entries, err := entriesOf(os.Args[1], os.Args[2])
	if err == nil {
		err = os.WriteFile(os.Args[3], text(entries), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "garner: "+strings.TrimPrefix(err.Error(), "garner: "))
		os.Exit(1)
	}
}

// text gives the file: an entry a line.
func text(entries []recorded.Entry) []byte {
	var b bytes.Buffer
	var before []string
	for _, e := range entries {
		var line string
		line, before = e.Text(before)
		b.WriteString(line)
	}
	return b.Bytes()
}
