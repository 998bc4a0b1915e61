package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A path is a name of a file in JSON, where a byte that is no UTF-8 is a surrogate on its own, \udc80 … \udcff, as
// Python's os.fsdecode makes it.
type path string

func (p path) MarshalJSON() ([]byte, error) {
	all := []byte{'"'}
	for text := string(p); text != ""; {
		n := 0
		for n < len(text) {
			if r, size := utf8.DecodeRuneInString(text[n:]); r != utf8.RuneError || size > 1 {
				n += size
				continue
			}
			break
		}
		valid, err := json.Marshal(text[:n])
		if err != nil {
			return nil, err
		}
		all = append(all, valid[1:len(valid)-1]...)
		if text = text[n:]; text != "" {
			all = fmt.Appendf(all, `\udc%02x`, text[0])
			text = text[1:]
		}
	}
	return append(all, '"'), nil
}

func (p *path) UnmarshalJSON(raw []byte) error {
	var bytes []byte
	from := 0
	text := func(to int) error {
		var s string
		err := json.Unmarshal(append(append([]byte{'"'}, raw[from:to]...), '"'), &s)
		bytes = append(bytes, s...)
		return err
	}
	if len(raw) < 2 || raw[0] != '"' {
		return json.Unmarshal(raw, (*string)(p))
	}
	end := len(raw) - 1
	from = 1
	for i := 1; i < end; {
		switch n, ok := escaped(raw[i:end]); {
		case raw[i] != '\\':
			i++
		case !ok:
			i += 2
		case n>>10 == 0xd800>>10: // the first half of a character; what follows is its second
			i += 6
			if second, ok := escaped(raw[i:end]); ok && second>>10 == 0xdc00>>10 {
				i += 6
			}
		case n < 0xdc80 || n > 0xdcff:
			i += 6
		default:
			if err := text(i); err != nil {
				return err
			}
			bytes = append(bytes, byte(n))
			i += 6
			from = i
		}
	}
	if err := text(end); err != nil {
		return err
	}
	*p = path(bytes)
	return nil
}

// escaped returns the number of \uNNNN that text begins with.
func escaped(text []byte) (n uint64, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return n, err == nil
}
