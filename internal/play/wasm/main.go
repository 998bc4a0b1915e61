//go:build js

// Command wasm is garner for a page: WebAssembly that answers its questions. It puts two
// functions on the global object of the page or the worker that runs it:
//
//	garnerAsk(request: string): string                    play.Ask
//	garnerOpen(bytes: Uint8Array, name: string): string   play.Open
//
// Both return JSON, and never throw for what they are asked.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/garner-go/garner/internal/play"
)

func main() {
	global := js.Global()
	global.Set("garnerAsk", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return refused("garnerAsk takes one string, the request")
		}
		return string(play.Ask([]byte(args[0].String())))
	}))
	global.Set("garnerOpen", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 2 || !args[0].InstanceOf(global.Get("Uint8Array")) || args[1].Type() != js.TypeString {
			return refused("garnerOpen takes a Uint8Array, the bytes of a file, and a string, its name")
		}
		n := args[0].Length()
		if n > play.MostFile {
			return refused(fmt.Sprintf("the file has %d bytes; this page takes up to %d. The command garner reads files of any size", n, play.MostFile))
		}
		b := make([]byte, n)
		js.CopyBytesToGo(b, args[0])
		return string(play.Open(context.Background(), b, args[1].String()))
	}))
	select {} // the functions answer until the page is closed
}

// refused is an error as JSON.
func refused(message string) string {
	b, err := json.Marshal(play.Refusal{Message: message})
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(b)
}
