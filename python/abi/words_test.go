package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/garner-go/garner/files"
)

// Python has a word for each option that a text of the engine names, and Python's functions have each option of a file but
// those of callers in Go.
func TestOptionsHaveWords(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("..", "src", "garner", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, text, _ := strings.Cut(read("_native.py"), "_OPTIONS = {")
	text, _, _ = strings.Cut(text, "}")
	words := map[string]string{}
	for _, m := range regexp.MustCompile(`"([A-Z]\w*)": "(\w+)=`).FindAllStringSubmatch(text, -1) {
		words[m[1]] = m[2]
	}

	// Options of callers in Go: what Python reads otherwise, or sets itself.
	own := map[string]bool{"Blocks": true, "Elsewhere": true, "InPlace": true, "Inflated": true}
	python := read("_table.py") + read("_files.py")
	for _, of := range []any{files.Options{}, files.ModelOptions{}} {
		for f := range reflect.TypeOf(of).Fields() {
			if !f.IsExported() || own[f.Name] {
				continue
			}
			if words[f.Name] == "" {
				t.Errorf("%T.%s has no word in _OPTIONS of _native.py", of, f.Name)
			} else if !regexp.MustCompile(`\b` + words[f.Name] + `: [A-Za-z].* = `).MatchString(python) {
				t.Errorf("%T.%s is %s= to Python, and no function has it", of, f.Name, words[f.Name])
			}
		}
	}

	named := 0
	option := regexp.MustCompile(`Options\.([A-Z]\w*)`)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if strings.HasPrefix(path, filepath.Join(root, "internal", "cmdline")) { // which has the words of the command
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || !option.Match(b) {
			return err
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(path, -1, len(b)), b, nil, 0)
		for {
			_, tok, lit := s.Scan()
			if tok == token.EOF {
				return nil
			}
			if tok != token.STRING {
				continue
			}
			for _, m := range option.FindAllStringSubmatch(lit, -1) {
				if named++; words[m[1]] == "" {
					t.Errorf("%s names %s, for which _OPTIONS of _native.py has no word", path, m[0])
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < 10 {
		t.Errorf("%d texts name an option; there are more", named)
	}
}
