#!/usr/bin/env bash
# Makes internal/onnxpb/onnx-ml.pb.go of the onnx-ml.proto that the pip package
# onnx carries (Apache-2.0), which is not kept here. It needs Go, Python with pip, and
# protoc (Debian's package protobuf-compiler).
#
# The protobuf package is renamed, as a program may have only one of a name, and
# whoever imports garner may have generated ONNX's messages too. Nothing of it is
# on the wire.
set -euo pipefail
cd "$(dirname "$0")"

onnx=1.23.2           # the pip package
protoc_gen_go=v1.36.12 # google.golang.org/protobuf, as in go.mod

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 -m pip --quiet --disable-pip-version-check download --no-deps --only-binary :all: --python-version 3.12 --dest "$scratch" "onnx==$onnx"
python3 -m zipfile -e "$scratch"/onnx-*.whl "$scratch/wheel"
GOBIN=$scratch go install "google.golang.org/protobuf/cmd/protoc-gen-go@$protoc_gen_go"
sed 's/^package onnx;/package garner.onnx;/' "$scratch/wheel/onnx/onnx-ml.proto" >"$scratch/onnx-ml.proto"
PATH=$scratch:$PATH protoc --proto_path="$scratch" \
	--go_out=internal/onnxpb --go_opt=paths=source_relative \
	--go_opt=Monnx-ml.proto=github.com/garner-go/garner/onnx/modelproto/internal/onnxpb \
	onnx-ml.proto
gofmt -l -w internal/onnxpb
