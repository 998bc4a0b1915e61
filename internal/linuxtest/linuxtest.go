// Package linuxtest gives tests of commands what Linux lends to a process: a
// pseudo-terminal, and mounted file systems.
package linuxtest
