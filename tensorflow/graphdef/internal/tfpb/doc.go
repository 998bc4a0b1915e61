// Package tfpb has the messages of TensorFlow's files that package graphdef reads, with the
// fields that it reads: see reduce.py there.
package tfpb
