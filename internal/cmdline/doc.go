// Package cmdline is the command line of a gather, which several programs take: its flags,
// operands and errors. Flags and Console.Ask make a Request of a command line;
// Console.OpenRequest opens its operands as tensors, and Console.OpenArrays as arrays, which
// may be larger than memory.
package cmdline
