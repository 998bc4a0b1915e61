package main

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// The caller frees the memory of a run after it. What the library keeps of the operator has no slice over that memory, or
// Go's collector, which then holds memory of Go, does not free it.
func TestARunKeepsNoMemoryOfTheCaller(t *testing.T) {
	freed := make(chan string, 16)
	memory := func(name string) *[64]int64 {
		p := new([64]int64)
		runtime.SetFinalizer(p, func(*[64]int64) { freed <- name })
		return p
	}
	var of _Ctype_garner_prepared
	prepare := func() {
		data, ids := memory("data of garner_prepare"), memory("indices of garner_prepare")
		var failed _Ctype_int64_t
		if of, failed = preparedFor(t, `{"name": "onnx.Gather-13"}`, unsafe.Slice((*float32)(unsafe.Pointer(data)), 8), ids[:3], 3); failed != 0 {
			t.Fatal(read(t, failed))
		}
	}
	run := func(name string, flags _Ctype_int32_t, numbers *_Ctype_int64_t) {
		data, ids, out := memory("data of "+name), memory("indices of "+name), memory("the output of "+name)
		if failed := runPrepared(of.handle, unsafe.Pointer(data), unsafe.Pointer(ids), numbers, unsafe.Pointer(out), nil, nil, flags, 0); failed != 0 {
			t.Fatal(read(t, failed))
		}
	}
	prepare()
	defer garner_release(of.handle)
	five := []_Ctype_int64_t{5, 8, 5, 2}
	run("the first run", 0, nil)
	run("a run of the same layout", 0, nil)
	run("a run of another layout", 0, &five[0])
	run("a run that looks first", wholeFlag, &five[0])
	missing := map[string]bool{"data of garner_prepare": true, "indices of garner_prepare": true}
	for _, name := range []string{"the first run", "a run of the same layout", "a run of another layout", "a run that looks first"} {
		missing["data of "+name], missing["indices of "+name], missing["the output of "+name] = true, true, true
	}
	for end := time.Now().Add(2 * time.Minute); len(missing) > 0 && time.Now().Before(end); {
		runtime.GC()
		select {
		case name := <-freed:
			delete(missing, name)
		case <-time.After(10 * time.Millisecond):
		}
	}
	for name := range missing {
		t.Errorf("%s is still held", name)
	}
}
