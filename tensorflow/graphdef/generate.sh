#!/usr/bin/env bash
# Makes internal/tfpb/tensorflow.pb.go of the .proto files that the pip package
# tensorflow-cpu 2.15.1 carries (Apache-2.0), which are not kept here; later ones carry
# none. reduce.py says which messages and fields are kept. It needs Go, Python with pip,
# and protoc (Debian's package protobuf-compiler). WHEEL may name the folder of a wheel
# that is unpacked already.
set -euo pipefail
cd "$(dirname "$0")"

tensorflow=2.15.1      # the pip package
protobuf=6.33.2        # the pip package that reduce.py runs on
protoc_gen_go=v1.36.12 # google.golang.org/protobuf, as in go.mod

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

wheel=${WHEEL:-$scratch/wheel}
if [ ! -d "$wheel" ]; then
	python3 -m pip --quiet --disable-pip-version-check download --no-deps --only-binary :all: --python-version 3.11 --platform manylinux_2_17_x86_64 --dest "$scratch" "tensorflow-cpu==$tensorflow"
	python3 -m zipfile -e "$scratch"/tensorflow_cpu-*.whl "$wheel"
fi
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" --quiet --disable-pip-version-check install "protobuf==$protobuf"
GOBIN=$scratch go install "google.golang.org/protobuf/cmd/protoc-gen-go@$protoc_gen_go"
# Debian has Google's own two files in another package. Nothing that imports them is kept.
mkdir -p "$scratch/google/protobuf"
for message in Any BoolValue; do
	file=any
	[ $message = Any ] || file=wrappers
	echo "syntax = \"proto3\"; package google.protobuf; message $message {}" >"$scratch/google/protobuf/$file.proto"
done
protoc --proto_path="$wheel/tensorflow/include" --proto_path="$scratch" --include_imports --descriptor_set_out="$scratch/whole.bin" \
	tensorflow/core/protobuf/saved_model.proto tensorflow/core/protobuf/tensor_bundle.proto
"$scratch/venv/bin/python" reduce.py "$scratch/whole.bin" "$scratch/reduced.bin"
PATH=$scratch:$PATH protoc --descriptor_set_in="$scratch/reduced.bin" \
	--go_out=internal/tfpb --go_opt=paths=source_relative \
	--go_opt=Mtensorflow.proto=github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb \
	tensorflow.proto
gofmt -l -w internal/tfpb
