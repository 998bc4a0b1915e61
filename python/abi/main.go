// Command abi is the C interface of garner, built as a shared library:
//
//	go build -buildmode=c-shared -o libgarner.so ./abi
//
// garner.h says what its functions do. Each of them recovers from a panic, which becomes an
// error of class GARNER_INTERNAL, and takes integers for handles, so that no Go pointer leaves
// Go. The compiler holds the header equal to the functions: it includes it beside the
// declarations that cgo makes of them.
package main

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -Wno-unused-parameter
#include "garner.h"
*/
import "C"

func main() {}

//export garner_abi
func garner_abi() C.int32_t { return C.GARNER_ABI }
