// Package house holds the rules of this tree that a test can hold: which
// package may import which, what has a comment, where unsafe may stand, and
// that every rule of docs/rules.md is in the code and in a test.
package house
