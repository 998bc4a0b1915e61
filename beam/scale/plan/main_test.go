package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/scale"
	"github.com/garner-go/garner/files"
)

func TestPlan(t *testing.T) {
	ids := filepath.Join(t.TempDir(), "ids.npy")
	if err := files.Save(context.Background(), ids, garner.Of([]int64{3, -1, 3, 999}, 4), files.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(t.TempDir(), "huge.npy")
	if err := files.Save(context.Background(), huge, garner.Of([]uint64{1 << 63}, 1), files.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want []string // in what is printed, or in the error
	}{
		{"--indices 1000000000 --table 10000000000", []string{"| expected |", "| requests: elements | 145 M |", "| read, a disk | 21.7 GB |"}},
		{"--indices 1000000000 --table 10000000000 --unit 16777216 --workers 10", []string{"| rows in a request | 1.23 |", "| shuffled, a worker | 31.5 GB |"}},
		{"--indices 1000000 --zipf 1 --scattered", []string{"| shards of the result | 16 |"}},
		{"--table 1000 --row 10 --ids " + ids, []string{"| counted |", "| rows: payload | 20 B |"}},
		{"--table 999 --ids " + ids, []string{"index 3 is 999, outside 0…998"}},
		{"--table 999 --ids " + huge, []string{"index 0 is 9223372036854775808, outside 0…998"}},
		{"--row 0", []string{"Row is 0"}},
		{"--workers 0", []string{"a worker or more"}},
		{"more", []string{"flags only"}},
		{"--sorted --zipf 1", []string{"only uniform"}},
		{"--ids none.npy", []string{"none.npy"}},
	} {
		var out bytes.Buffer
		err := run(strings.Fields(c.args), &out)
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, got)
			}
		}
	}
	// The counts of a file are those of its values.
	j, c, err := count(scale.Job{Table: 1000, Row: 10}, ids)
	if err != nil || j.Indices != 4 || c.Fetched != 2 {
		t.Errorf("%+v: %+v, %v", j, c, err)
	}
}
