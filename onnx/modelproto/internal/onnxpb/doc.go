// Package onnxpb is ONNX's messages: what protoc-gen-go makes of onnx-ml.proto,
// by ../../generate.sh.
package onnxpb

//go:generate ../../generate.sh
