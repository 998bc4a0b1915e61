// Package house holds the rules of this tree that a test can check: which
// package may import which, which declarations need a comment, which files may
// use unsafe, and that the code and a test name every rule of docs/rules.md.
package house
