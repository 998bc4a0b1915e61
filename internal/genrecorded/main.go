// Command genrecorded writes internal/play/recorded/answers.json: what the runtimes
// answered, by operator and kind of index, from the recordings.
//
//	go generate ./internal/play/recorded
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/garner-go/garner/internal/play/recorded"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "garner: genrecorded takes the folder of the recordings and the file to write")
		os.Exit(2)
	}
	entries, err := entriesOf(os.Args[1])
	var file []byte
	if err == nil {
		file, err = text(entries)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], file, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "garner: "+strings.TrimPrefix(err.Error(), "garner: "))
		os.Exit(1)
	}
}

// text gives the file: a list, an entry a line.
func text(entries []recorded.Entry) ([]byte, error) {
	b := bytes.NewBufferString("[\n")
	for i, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		// What follows from the rest of a line is not written.
		line = bytes.Replace(line, []byte(`"text":"",`), nil, 1)
		b.Write(line)
		if i < len(entries)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}
