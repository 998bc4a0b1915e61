"""Makes the .npz files beside it with NumPy, and checks files that garner wrote.

    pip install numpy==2.4.6
    python make.py                  makes the files beside this script
    go test -run TestWriteNumPy ./format/npz -keep DIR
    python make.py --check DIR      loads what the test wrote and compares it with the arrays that it was made of
"""

import io
import pathlib
import sys
import zipfile

import numpy as np


def arrays():
    """The arrays of stored.npz and deflated.npz, by name. npz_test.go says the same in Go."""
    return {
        "f4": np.arange(6, dtype="<f4").reshape(2, 3),
        "big": np.arange(6, dtype=">i8").reshape(3, 2),
        "fortran": np.asfortranarray(np.arange(6, dtype="<u2").reshape(2, 3)),
        "scalar": np.float64(1.5),
        "empty": np.zeros((0, 4), "f4"),
        "words": np.array(["ab", "naïve"]),
        "bytes": np.array([b"ab", b"c"]),
        "layer/0/名前": np.array([1 + 2j], "c16"),
        "zeros": np.zeros(20000, "i1"),
        "v2": np.array([0x3F80, 0x4000], "<u2").view("V2"),
    }


def streamed(compression):
    """An archive written to a pipe: sizes and sums follow the members."""

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = bytearray()

        def writable(self):
            return True

        def write(self, b):
            self.data += b
            return len(b)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", compression) as z:
        for name, a in list(arrays().items())[:2]:
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = compression
            with z.open(info, "w") as f:
                np.lib.format.write_array(f, a)
    return bytes(pipe.data)


here = pathlib.Path(__file__).parent
if len(sys.argv) == 3 and sys.argv[1] == "--check":
    path = pathlib.Path(sys.argv[2]) / "written.npz"
    if zipfile.ZipFile(path).testzip() is not None:
        sys.exit("a checksum is wrong")
    got, want = np.load(path, allow_pickle=False), arrays()
    if got.files != list(want):
        sys.exit(f"it holds {got.files}")
    for name, a in want.items():
        a = np.asarray(a)
        a = a.astype(a.dtype.newbyteorder("<"))
        if got[name].dtype != a.dtype or got[name].shape != a.shape or got[name].tobytes() != a.tobytes():
            sys.exit(f"{name}: {got[name].dtype}{got[name].shape} is not {a.dtype}{a.shape}")
    print(len(want), "arrays are those that they were made of")
elif len(sys.argv) == 1:
    np.savez(here / "stored.npz", **arrays())
    np.savez_compressed(here / "deflated.npz", **arrays())
    np.savez(here / "one.npz", np.arange(3))
    for name, method in [("streamed.npz", zipfile.ZIP_STORED), ("streamed_deflated.npz", zipfile.ZIP_DEFLATED)]:
        (here / name).write_bytes(streamed(method))
    for name, method in [("bzip2.npz", zipfile.ZIP_BZIP2), ("lzma.npz", zipfile.ZIP_LZMA)]:
        with zipfile.ZipFile(here / name, "w", method) as z:
            with z.open("a.npy", "w") as f:
                np.lib.format.write_array(f, np.arange(3))
else:
    sys.exit(__doc__)
