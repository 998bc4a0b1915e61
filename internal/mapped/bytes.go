package mapped

import "unsafe"

// BytesOf is the memory of a slice of numbers, shared: nothing in it may be a
// pointer.
func BytesOf[T any](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}
