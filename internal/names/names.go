// Package names quotes, suggests and sorts names of files, tensors and operators for
// messages.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error returns err with the name of a file, or of an item in it, before its message.
func Error(name string, err error) error { return &named{name, err} }

type named struct {
	name string
	err  error
}

func (e *named) Error() string {
	return "garner: " + e.name + ": " + strings.TrimPrefix(e.err.Error(), "garner: ")
}

func (e *named) Unwrap() error { return e.err }

// Quote quotes a name for a message and cuts it at 200 bytes.
func Quote(name string) string { return fmt.Sprintf("%.200q", name) }

// Plain gives a name as it is where it is printable, not empty and no longer than Quote
// cuts it; others it quotes. It is for lists of names out of files.
func Plain(name string) string {
	quoted := Quote(name)
	if name != "" && quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}

// First lists the first ten names, and says how many there are where there are
// more.
func First(all []string) string {
	const most = 10
	switch {
	case len(all) == 0:
		return "it holds none at all"
	case len(all) > most:
		return fmt.Sprintf("it has %d, the first of them %s", len(all), strings.Join(all[:most], ", "))
	}
	return "it has " + strings.Join(all, ", ")
}

// Near lists all names if they are few, and otherwise those most similar to name.
func Near(name string, all []string) string {
	const most = 10
	switch {
	case len(all) == 0:
		return "it holds none at all"
	case len(all) <= most:
		return "it has " + quoted(all)
	}
	type near struct {
		name     string
		distance int
	}
	sorted := make([]near, len(all))
	for i, n := range all {
		d := Distance(end(name), end(n))
		if strings.Contains(n, name) || strings.Contains(name, n) {
			d = 0 // a name that contains the other comes first
		}
		sorted[i] = near{n, d}
	}
	slices.SortStableFunc(sorted, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	nearest := make([]string, most)
	for i := range nearest {
		nearest[i] = sorted[i].name
	}
	return fmt.Sprintf("of its %d, the nearest are %s", len(all), quoted(nearest))
}

func quoted(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(name))
	}
	return b.String()
}

// Distance returns the Levenshtein distance of a and b in bytes, in time
// O(len(a)·len(b)).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// end returns the last 100 bytes of a name, the distinctive part of a long one.
func end(name string) string { return name[max(0, len(name)-100):] }

// Numeric compares names so that part-2 sorts before part-10: runs of digits compare
// as numbers, everything else byte by byte. Names that differ only in leading zeros
// compare as strings.
func Numeric(a, b string) int {
	whole := strings.Compare(a, b)
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
		a, b = a[m:], b[n:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

// digits returns the number of leading digits of s.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
