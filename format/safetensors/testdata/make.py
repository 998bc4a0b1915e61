"""Makes the files beside it with the safetensors package, and checks files that garner wrote.

    pip install numpy==2.4.6 safetensors==0.8.0
    python make.py                  makes the files beside this script
    go test -run TestWriteReal ./format/safetensors -keep DIR
    python make.py --check DIR      reads what the test wrote and compares it with what this script would write
"""

import json
import pathlib
import sys

import numpy as np
from safetensors import TensorSpec, deserialize, serialize

# The dtypes' names in TensorSpec, and the bytes of an element. float4_e2m1fn_x2 counts pairs.
DTYPES = {
    "bool": 1, "uint8": 1, "int8": 1, "float8_e5m2": 1, "float8_e4m3fn": 1, "float8_e8m0fnu": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float4_e2m1fn_x2": 1, "int16": 2, "uint16": 2, "float16": 2,
    "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "complex64": 8, "float64": 8, "int64": 8, "uint64": 8,
}


def files():
    """The files by name. Element bytes count up from a number of the tensor's own, so that a mix-up shows."""
    keep = []

    def spec(dtype, shape, first):
        n = int(np.prod(shape)) * DTYPES[dtype]
        data = (np.arange(n) + first) % 256
        data = (data % 2 if dtype == "bool" else data).astype(np.uint8)
        keep.append(data)
        return TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=n)

    yield "real.safetensors", serialize(
        {f"all.{d}": spec(d, (2, 3), 16 * i) for i, d in enumerate(DTYPES)}
        | {"empty": spec("float32", (0, 4), 0), "scalar": spec("int64", (), 1), "naïve \"<名>\"\n": spec("uint8", (3,), 7)},
        {"made by": "make.py <&> \u2028"},
    )
    yield "plain.safetensors", serialize({"b": spec("float32", (2, 3), 0), "a": spec("int8", (5,), 9)}, None)
    # A model cut in two, with the index that transformers' save_pretrained writes beside it.
    shards = {
        "model-00001-of-00002.safetensors": {"embed": spec("float32", (4, 3), 0), "norm": spec("bfloat16", (3,), 50)},
        "model-00002-of-00002.safetensors": {"head": spec("int64", (2, 2), 100)},
    }
    weights = {name: file for file, tensors in shards.items() for name in tensors}
    index = {"metadata": {"total_size": 48 + 6 + 32}, "weight_map": dict(sorted(weights.items()))}
    for file, tensors in shards.items():
        yield file, serialize(tensors, {"format": "pt"})
    yield "model.safetensors.index.json", (json.dumps(index, indent=2, sort_keys=True) + "\n").encode()


here = pathlib.Path(__file__).parent
if len(sys.argv) == 3 and sys.argv[1] == "--check":
    for name, want in files():
        if name.startswith("model"):
            continue  # which garner does not write
        got = (pathlib.Path(sys.argv[2]) / name).read_bytes()
        if sorted((k, v["dtype"], v["shape"], bytes(v["data"])) for k, v in deserialize(got)) != sorted(
            (k, v["dtype"], v["shape"], bytes(v["data"])) for k, v in deserialize(bytes(want))
        ):
            sys.exit(f"{name}: the package reads other tensors than those that were written")
        print(name, "read back", "and the same bytes" if got == bytes(want) else "(other bytes)")
elif len(sys.argv) == 1:
    for name, data in files():
        (here / name).write_bytes(data)
else:
    sys.exit(__doc__)
