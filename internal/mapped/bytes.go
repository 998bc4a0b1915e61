package mapped

import "unsafe"

// BytesOf returns the memory of a slice as bytes, without a copy. T must not contain
// pointers.
func BytesOf[T any](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}
