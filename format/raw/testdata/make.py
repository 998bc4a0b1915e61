"""Makes table.bin beside it with NumPy, and checks a file that garner wrote.

    pip install numpy==2.4.6
    python make.py                  makes the file beside this script
    go test -run TestNumPy ./format/raw -keep DIR
    python make.py --check DIR      reads what the test wrote and compares it with the array that it was made of
"""

import pathlib
import sys

import numpy as np


def table():
    return np.arange(15, dtype="<f4").reshape(5, 3) / 4


here = pathlib.Path(__file__).parent
if len(sys.argv) == 3 and sys.argv[1] == "--check":
    got = np.fromfile(pathlib.Path(sys.argv[2]) / "written.bin", "<f4").reshape(-1, 3)
    if got.tobytes() != table().tobytes():
        sys.exit(f"{got} is not the table")
    print("the table is the one that it was made of")
elif len(sys.argv) == 1:
    with open(here / "table.bin", "wb") as f:
        f.write(b"HEAD")  # an offset of 4
        table().tofile(f)
else:
    sys.exit(__doc__)
