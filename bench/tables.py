#!/usr/bin/env python3
"""Gathers random rows of a file of 16 GiB with garner, NumPy, safetensors and TensorStore, cold and warm, and prints the ratios.

    tables.py --dir DIR --garner ./garner --calls ./calls [--rounds 3] [--table FILE] [--results DIR] [--copies 4]
              [--only cold,peers,warm,memory,budget,batches,quantised,engine,command] [--cases FILE] [--json FILE]

DIR gets the table, 16 GiB of random bytes, unless --table names one, and the indices; they stay there for the next run.
Peers with a format of their own read a copy of the first --copies GiB, and as many rows in proportion, so that rows lie
as far apart, and so does garner beside them; copies are removed when they have been read. --results is where results are written: memory, for they are
not what is measured. A page that is to be cold is dropped by posix_fadvise, right before.

cold     200,000 random rows of 160 B, and of 4 KiB. numpy: np.take on an np.memmap, the call alone. garner: the whole
         command, start and result file included; and the call alone. fio: random reads of 4 KiB, 64 deep, O_DIRECT.
peers    safetensors: get_slice, row by row, which is its way; tensorstore: zarr3, sharded, chunks of about 4 KiB, one
         read of all rows with 64 reads at once, no cache.
warm     the same rows when they are in the page cache: first calls after opening, and the shortest of later ones, into a
         new output and into the one before. numpy's faster of take(ids, axis=0), take(out=, mode="clip") and table[ids].
memory   garner's call on 2 GiB of the table, warm and open, beside garner.GatherInto on a copy in memory.
budget   a million random rows of 1 KiB of 8 GiB, without a budget and with --memory 64M; VmHWM as the kernel counts it.
batches  go test -bench: batches of 16 rows of 1 KiB of an open table, one goroutine and many.

quantised cold random rows of a GGUF table of 16 GiB of Q4_K, which DIR gets too and keeps no longer than the part runs: of 1,024
         elements, 576 bytes, and of 4,096, 2,304 bytes. garner: the whole command, to f32, whose result of up to 3.3 GB is dropped,
         for it is not what is measured; into a file of --results, where some rows are compared with the definition; and with
         --memory 64M, dropped. fio: random reads of the pages that such rows take, O_DIRECT, 64 deep and 256 deep, before and after;
         the faster counts.

engine and command need no table of 16 GiB: they gather from .npy files of 128 MiB in the page cache. warm.json, or
--cases, has their shapes: GatherElements along both axes, columns, single elements, rows of 64 B, 256 B and 3 KiB, and
GatherND with pairs.

engine   one process opens both files and runs, in turns, Prepared.Run on the mapping, source.GatherInto, source.Gather to a
         writer that copies into memory, and a plain copy of the result. Reported are GatherInto / Run and
         (Gather - copy) / Run: the median over the turns of a process, then over the rounds. Pinned to 1 core, then to 2.
command  `garner gather DATA.npy INDICES.npy -o OUT.npy` beside `python -c` that does the same with numpy, from
         np.load(mmap_mode="r") to np.save; both write to --results, which is to be a file system in memory. The order
         alternates from round to round. The elements of the two results must be equal byte for byte.
"""
import argparse, json, os, re, shutil, statistics, struct, subprocess, sys, time, zlib

try:
    import numpy as np
except ImportError:
    sys.exit("tables.py needs numpy: pip install -r bench/requirements-tables.txt")

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 200_000
GIB = 1 << 30
NEED = 128  # MiB: the budget and 64 more


def drop(path):
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def make_table(path, size):
    """Random bytes: holes in a file would be read from nowhere."""
    r = np.random.Generator(np.random.SFC64(7))
    with open(path + ".part", "wb") as f:
        for at in range(0, size, 1 << 26):
            f.write(r.bytes(min(1 << 26, size - at)))
        f.flush()
        os.fsync(f.fileno())
    os.rename(path + ".part", path)


class Cut:
    """Rows of one size at the end of the file, or at its beginning as far as they go: a table without a header."""

    def __init__(self, path, width, size=None):
        whole = os.path.getsize(path)
        size = whole if size is None else size
        self.path, self.width, self.rows = path, width, size // width
        self.offset = whole - self.rows * width

    def flags(self, dash="--"):
        return [dash + "dtype", "f32", dash + "shape", f"{self.rows},{self.width // 4}", dash + "offset", str(self.offset)]

    def memmap(self):
        return np.memmap(self.path, np.float32, "r", self.offset, (self.rows, self.width // 4))

    def ids(self, folder, n):
        path = os.path.join(folder, f"ids-{self.rows}-{n}.npy")
        if not os.path.exists(path):
            np.save(path, np.random.default_rng(1).integers(0, self.rows, n))
        return path


def watch(command):
    """Runs a command; its seconds and the most resident memory that the kernel counted, in MiB."""
    begin = time.perf_counter()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while p.poll() is None:
        try:
            with open(f"/proc/{p.pid}/status") as f:
                m = re.search(r"VmHWM:\s+(\d+) kB", f.read())
            most = max(most, int(m[1]) if m else 0)
        except OSError:
            pass
        time.sleep(0.002)
    spent = time.perf_counter() - begin
    if p.returncode:
        sys.exit(f"{' '.join(command)}: {p.stderr.read().strip()}")
    return spent, most / 1024


def peer(*args):
    """A peer in a process of its own."""
    r = subprocess.run([sys.executable, os.path.abspath(__file__), "--peer", *map(str, args)], capture_output=True, text=True)
    if r.returncode:
        return {"error": (r.stderr.strip().splitlines() or ["no answer"])[-1][:160]}
    return json.loads(r.stdout)


def timed(f):
    begin = time.perf_counter()
    result = f()
    return time.perf_counter() - begin, result


def peer_numpy(path, width, ids, calls):
    cut = Cut(path, int(width))
    ids = np.load(ids)
    table = cut.memmap()
    if not int(calls):
        first, out = timed(lambda: np.take(table, ids, axis=0))
        return {"first": first, "crc32": zlib.crc32(out)}
    out = np.zeros((len(ids), cut.width // 4), np.float32)
    out += 1  # its pages are there
    first = timed(lambda: np.take(table, ids, axis=0, out=out, mode="clip"))[0]
    fresh, reused = [], []
    for _ in range(int(calls)):
        fresh.append(min(timed(lambda: np.take(table, ids, axis=0))[0], timed(lambda: table[ids])[0]))
        reused.append(timed(lambda: np.take(table, ids, axis=0, out=out, mode="clip"))[0])
    return {"first": first, "fresh": fresh, "reused": reused, "crc32": zlib.crc32(out)}


def peer_safetensors(path, ids):
    from safetensors import safe_open

    ids = np.load(ids)
    with safe_open(path, framework="np") as f:
        rows = f.get_slice("table")
        out = np.empty((len(ids), rows.get_shape()[1]), np.float32)
        return {"first": timed(lambda: [out.__setitem__(i, rows[int(k)]) for i, k in enumerate(ids)])[0], "crc32": zlib.crc32(out)}


def peer_tensorstore(path, ids):
    import tensorstore as ts

    ids = np.load(ids)
    context = {"cache_pool": {"total_bytes_limit": 0}, "file_io_concurrency": {"limit": 64}}
    store = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path}, "context": context}, open=True, read=True).result()
    first, out = timed(lambda: store[ids, :].read().result())
    again = timed(lambda: store[ids, :].read().result())[0]
    return {"first": first, "warm": again, "crc32": zlib.crc32(np.ascontiguousarray(out))}


def copy_safetensors(cut, rows, path):
    header = json.dumps({"table": {"dtype": "F32", "shape": [rows, cut.width // 4], "data_offsets": [0, rows * cut.width]}}).encode()
    header += b" " * (-(len(header) + 8) % 4096)
    with open(path, "wb") as out, open(cut.path, "rb") as f:
        out.write(len(header).to_bytes(8, "little") + header)
        f.seek(cut.offset)
        left = rows * cut.width
        while left:
            left -= out.write(f.read(min(left, 1 << 26)))
        os.fsync(out.fileno())


def copy_tensorstore(cut, rows, path):
    import tensorstore as ts

    inner = max(1, 4096 // cut.width)
    outer = inner * max(1, (32 << 20) // (inner * cut.width))
    columns = cut.width // 4
    store = ts.open({
        "driver": "zarr3", "kvstore": {"driver": "file", "path": path},
        "metadata": {
            "shape": [rows, columns], "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [outer, columns]}},
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [inner, columns], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}],
        },
    }, create=True, delete_existing=True).result()
    table = cut.memmap()
    for at in range(0, rows, outer):
        end = min(rows, at + outer)
        store[at:end, :].write(np.asarray(table[at:end])).result()
    os.sync()


def files_of(path):
    if os.path.isfile(path):
        return [path]
    return [os.path.join(d, f) for d, _, names in os.walk(path) for f in names]


def remove(path):
    for f in files_of(path):
        os.remove(f)
    for d, _, _ in sorted(os.walk(path), reverse=True):
        os.rmdir(d)


def fio(path, engine, seconds=4, split="4k/100", depth=64):
    command = ["fio", "--name=rows", f"--filename={path}", "--readonly", "--rw=randread", f"--bssplit={split}", f"--iodepth={depth}", f"--ioengine={engine}",
               "--direct=1", f"--runtime={seconds}", "--time_based", "--output-format=json"]
    try:
        r = subprocess.run(command, capture_output=True, text=True)
        return json.loads(r.stdout)["jobs"][0]["read"]["iops"]
    except (OSError, ValueError, KeyError, IndexError):
        return 0.0


class Blocks:
    """A table of Q4_K in a GGUF file: random blocks whose scales are finite. Its rows may be of any number of blocks."""

    BYTES, ELEMENTS = 144, 256

    def __init__(self, path, size):
        self.path, self.count = path, size // self.BYTES // 16 * 16
        self.offset = len(self.header(4))

    def header(self, blocks):
        """The header, as long for rows of any length."""
        name, text = b"token_embd.weight", b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
        text += struct.pack("<Q", len(name)) + name + struct.pack("<IQQIQ", 2, blocks * self.ELEMENTS, self.count // blocks, 12, 0)
        return text + bytes(-len(text) % 32)

    def make(self):
        r = np.random.Generator(np.random.SFC64(8))
        with open(self.path, "wb") as f:
            f.write(self.header(4))
            for at in range(0, self.count, 1 << 18):
                n = min(1 << 18, self.count - at)
                blocks = np.frombuffer(r.bytes(n * self.BYTES), np.uint8).reshape(n, self.BYTES).copy()
                blocks[:, [1, 3]] &= 0xBF  # the highest bit of the exponents: no infinity, no NaN
                f.write(blocks)
            f.flush()
            os.fsync(f.fileno())

    def cut(self, blocks):
        """Gives rows another number of blocks."""
        with open(self.path, "r+b") as f:
            f.write(self.header(blocks))
            f.flush()
            os.fsync(f.fileno())

    def rows(self, ids, blocks):
        """Some rows, decoded by the definition."""
        stored = np.memmap(self.path, np.uint8, "r", self.offset).reshape(-1, self.BYTES * blocks)[ids].reshape(-1, self.BYTES)
        d, low = (stored[:, i : i + 2].copy().view(np.float16).astype(np.float32) for i in (0, 2))
        s, q = stored[:, 4:16], stored[:, 16:].reshape(-1, 4, 1, 32)
        scale = np.concatenate([s[:, :4] & 63, s[:, 8:] & 15 | s[:, :4] >> 6 << 4], axis=1).astype(np.float32)
        least = np.concatenate([s[:, 4:8] & 63, s[:, 8:] >> 4 | s[:, 4:8] >> 6 << 4], axis=1).astype(np.float32)
        codes = np.concatenate([q & 15, q >> 4], axis=2).reshape(-1, 8, 32).astype(np.float32)
        return ((d * scale)[:, :, None] * codes - (low * least)[:, :, None]).reshape(len(ids), -1)


# What numpy does instead of each of garner's commands, with d and i mapped.
NUMPY = {"gather": "np.take(d, i, axis={axis})", "elements": "np.take_along_axis(d, i, axis={axis})", "gathernd": "d[tuple(i.T)]"}


class Case:
    """One gather of warm.json, with its operands as .npy files in the page cache."""

    def __init__(self, case, folder):
        self.name, self.op, self.axis = case["name"], case["op"], case.get("axis", 0)
        # The shapes are part of the name, so that files of other shapes are not taken for these.
        shapes = "-".join(case[k].replace(",", "x") for k in ("data", "indices"))
        self.folder = os.path.join(folder, f"warm-{self.name}-{shapes}")
        self.data, self.indices = (os.path.join(self.folder, n + ".npy") for n in ("data", "indices"))
        if not os.path.exists(self.folder):
            shutil.rmtree(self.folder + ".part", ignore_errors=True)
            subprocess.run([sys.executable, os.path.join(HERE, "bench_peers.py"), "--make", self.folder + ".part", "--op", self.op,
                            "--data", case["data"], "--indices", case["indices"], "--axis", str(self.axis)], check=True)
            os.rename(self.folder + ".part", self.folder)
        for path in self.data, self.indices:
            with open(path, "rb") as f:
                while f.read(1 << 24):
                    pass

    def command(self, garner, out):
        axis = [] if self.op == "gathernd" else ["--axis", str(self.axis)]
        return [garner, self.op, self.data, self.indices, *axis, "-o", out]

    def numpy(self, out):
        return [sys.executable, "-c", f"import numpy as np; d, i = (np.load(f, mmap_mode='r') for f in ({self.data!r}, {self.indices!r})); "
                f"np.save({out!r}, {NUMPY[self.op].format(axis=self.axis)})"]

    def calls(self, calls, turns, cores):
        """The times of Prepared.Run, GatherInto, Gather and a copy, in a process that is pinned to so many cores."""
        cpus = set(sorted(os.sched_getaffinity(0))[:cores])
        command = [calls, "-op", self.op, "-axis", str(self.axis), "-calls", str(turns), self.data, self.indices]
        r = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        if r.returncode:
            sys.exit(f"{' '.join(command)}: {r.stderr.strip()}")
        return json.loads(r.stdout)


def wall(command):
    """The seconds of a process from its start to its end."""
    begin = time.perf_counter()
    r = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    spent = time.perf_counter() - begin
    if r.returncode:
        sys.exit(f"{' '.join(command)}: {r.stderr.strip()}")
    return spent


def same_elements(one, other):
    """Whether two .npy files hold the same bytes of the same dtype and shape; their headers may differ."""
    a, b = np.load(one, mmap_mode="r"), np.load(other, mmap_mode="r")
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


class Bench:
    def __init__(self, args):
        self.args, self.found, self.lines = args, {}, []
        os.makedirs(args.dir, exist_ok=True)
        self.table = args.table or os.path.join(args.dir, "table.raw")
        self.out = os.path.join(args.results, "tables-result.raw")

    def need_table(self):
        if not os.path.exists(self.table):
            print(f"making {self.table}", file=sys.stderr)
            make_table(self.table, 16 * GIB)
        print(f"{self.table}: {os.path.getsize(self.table) / GIB:.2f} GiB, {ROWS} rows")

    def cases(self):
        with open(self.args.cases) as f:
            for case in json.load(f):
                yield Case(case, self.args.dir)

    def garner(self, cut, ids, *flags):
        spent, most = watch([self.args.garner, "gather", cut.path, ids, *cut.flags(), *flags, "-o", self.out])
        crc = 0
        with open(self.out, "rb") as f:
            while b := f.read(1 << 24):
                crc = zlib.crc32(b, crc)
        os.remove(self.out)
        return spent, most, crc

    def calls(self, cut, ids, calls, *flags):
        command = [self.args.calls, *cut.flags("-"), "-calls", str(calls), *flags, cut.path, ids]
        r = subprocess.run(command, capture_output=True, text=True)
        if r.returncode:
            sys.exit(f"{' '.join(command)}: {r.stderr.strip()}")
        return json.loads(r.stdout)

    def say(self, name, figures, verdict=None):
        self.lines.append((name, figures, verdict))
        mark = "" if verdict is None else ("   holds" if verdict else "   MISSED")
        print(f"{name:34} {figures}{mark}", flush=True)

    def same(self, name, *sums):
        if len(set(sums)) > 1:
            self.say(name, f"WRONG: the results differ: {sums}", False)

    def cold(self):
        for width in 160, 4096:
            cut = Cut(self.table, width)
            ids = cut.ids(self.args.dir, ROWS)
            rounds = []
            for _ in range(self.args.rounds):
                r = {"libaio": fio(self.table, "libaio"), "pairs": []}
                # The disk has its moods: garner stands between two runs of fio.
                before = fio(self.table, "io_uring")
                for _ in range(2):
                    drop(self.table)
                    spent, _, crc = self.garner(cut, ids)
                    after = fio(self.table, "io_uring")
                    r["pairs"].append({"garner": spent, "fio": (before + after) / 2 or r["libaio"]})
                    before = after
                drop(self.table)
                r["call"] = self.calls(cut, ids, 1)["reused"][0]
                drop(self.table)
                n = peer("numpy", cut.path, width, ids, 0)
                r["numpy"] = n["first"]
                self.same(f"cold {width} B", crc, n["crc32"])
                rounds.append(r)
            self.found[f"cold {width}"] = rounds
            pairs = [p for r in rounds for p in r["pairs"]]
            middle = lambda k, of=rounds: statistics.median(r[k] for r in of)
            name = f"cold, rows of {width} B"
            self.say(name, f"garner {middle('garner', pairs):.2f} s the command, {middle('call'):.2f} s the call; numpy {middle('numpy'):.1f} s; "
                     f"fio {middle('fio', pairs) / 1000:.0f} k/s by io_uring, {middle('libaio') / 1000:.0f} by libaio")
            ratio = statistics.median(r["numpy"] / statistics.median(p["garner"] for p in r["pairs"]) for r in rounds)
            self.say(name, f"numpy's time is {ratio:.1f} of garner's (bar: 5)", ratio >= 5)
            if min(p["fio"] for p in pairs) > 0:
                ratios = [ROWS / p["garner"] / p["fio"] for p in pairs]
                self.say(name, f"garner's rows a second are {statistics.median(ratios):.2f} of fio's reads, {min(ratios):.2f} to {max(ratios):.2f} (bar: 0.8)", statistics.median(ratios) >= 0.8)
            else:
                self.say(name, "fio is not installed, or does not run: left out")

    def peers(self):
        for width in 160, 4096:
            cut = Cut(self.table, width)
            rows = min(cut.rows, int(self.args.copies * GIB) // width)
            n = int(ROWS * rows / cut.rows)
            part = Cut(self.table, width, rows * width)
            part.offset = cut.offset  # the beginning of what all others read
            ids = part.ids(self.args.dir, n)
            want = zlib.crc32(np.take(part.memmap(), np.load(ids), axis=0))
            mine = os.path.join(self.args.dir, f"copy-{width}.safetensors")
            copy_safetensors(part, rows, mine)
            for name in "safetensors", "tensorstore":
                path = mine
                try:
                    if name == "tensorstore":
                        path = os.path.join(self.args.dir, f"copy-{width}.zarr3")
                        copy_tensorstore(part, rows, path)
                    times = []
                    for _ in range(self.args.rounds):
                        for f in files_of(path):
                            drop(f)
                        t = peer(name, path, ids)
                        if "error" in t:
                            break
                        self.same(f"{name}, rows of {width} B", t["crc32"], want)
                        # Garner reads a copy too: what was just written may be faster to read.
                        drop(mine)
                        spent, _ = watch([self.args.garner, "gather", mine + "#table", ids, "-o", self.out])
                        os.remove(self.out)
                        times.append({"peer": t["first"], "warm": t.get("warm"), "garner": spent})
                finally:
                    if name == "tensorstore":
                        remove(path)
                if "error" in t:
                    self.say(f"{name}, rows of {width} B", "left out: " + t["error"])
                    continue
                self.found[f"{name} {width}"] = {"rows": n, "of": rows, "rounds": times}
                ratio = statistics.median(t["peer"] / t["garner"] for t in times)
                peers, ours = (statistics.median(t[k] for t in times) for k in ("peer", "garner"))
                warm = [t["warm"] for t in times if t["warm"]]
                again = f" (warm {1e6 * statistics.median(warm) / n:.0f} µs)" if warm else ""
                self.say(f"cold, {name}, {width} B", f"{n} rows of {self.args.copies:g} GiB: {1e6 * peers / n:.0f} µs a row{again}, garner {1e6 * ours / n:.0f} µs: "
                         f"{ratio:.1f} times as long (bar: 1)", ratio > 1)
            remove(mine)

    def warm(self):
        for width in 160, 4096:
            cut = Cut(self.table, width)
            ids = cut.ids(self.args.dir, ROWS)
            self.garner(cut, ids)  # what is to be warm
            rounds = []
            for _ in range(self.args.rounds):
                n, g = peer("numpy", cut.path, width, ids, 5), self.calls(cut, ids, 6)
                rounds.append({"numpy": n, "garner": g, "command": self.garner(cut, ids)[0]})
                self.same(f"warm {width} B", n["crc32"], g["crc32"])
            self.found[f"warm {width}"] = rounds
            for what, ours, theirs in (
                ("the first call", lambda r: r["garner"]["reused"][0], lambda r: r["numpy"]["first"]),
                ("a new output", lambda r: min(r["garner"]["fresh"]), lambda r: min(r["numpy"]["fresh"])),
                ("the output before", lambda r: min(r["garner"]["reused"][1:]), lambda r: min(r["numpy"]["reused"])),
            ):
                ratio = statistics.median(theirs(r) / ours(r) for r in rounds)
                self.say(f"warm, rows of {width} B, {what}", f"garner {1e3 * statistics.median(map(ours, rounds)):.1f} ms, numpy {1e3 * statistics.median(map(theirs, rounds)):.1f} ms: "
                         f"{ratio:.1f} times as long (bar: 1)", ratio >= 1)
            self.say(f"warm, rows of {width} B", f"the whole command takes garner {statistics.median(r['command'] for r in rounds):.2f} s")

    def memory(self):
        for width in 160, 4096:
            cut = Cut(self.table, width, 2 * GIB)
            ids = cut.ids(self.args.dir, ROWS)
            self.calls(cut, ids, 1)
            rounds = [self.calls(cut, ids, 6, "-memory") for _ in range(2 * self.args.rounds)]
            self.found[f"memory {width}"] = rounds
            # What else a machine does lengthens calls of a few ms: the shortest count, but for the second, which is one.
            second = lambda r: r["reused"][1] / min(r["in_memory"]["reused"][1:])
            later = lambda r: min(r["reused"][2:]) / min(r["in_memory"]["reused"][1:])
            fresh = lambda r: min(r["fresh"]) / min(r["in_memory"]["fresh"])
            ratio = statistics.median(map(second, rounds))
            least = min(min(r["in_memory"]["reused"][1:]) for r in rounds)
            self.say(f"in memory, rows of {width} B", f"the second call takes {ratio:.2f} of the in-memory gather's {1e3 * least:.1f} ms, later ones "
                     f"{statistics.median(map(later, rounds)):.2f}, into new outputs {statistics.median(map(fresh, rounds)):.2f} (bar: 1.3)", ratio <= 1.3)

    def budget(self):
        cut = Cut(self.table, 1024, 8 * GIB)
        ids = cut.ids(self.args.dir, 1_000_000)
        for state in "cold", "warm":
            rounds = []
            if state == "warm":
                self.garner(cut, ids)
            for _ in range(self.args.rounds):
                r = {}
                for name, flags in ("free", ()), ("64M", ("--memory", "64M")):
                    if state == "cold":
                        drop(self.table)
                    r[name], r[name + " MiB"], crc = self.garner(cut, ids, *flags)
                    r[name + " crc"] = crc
                self.same("budget", r["free crc"], r["64M crc"])
                rounds.append(r)
            self.found["budget " + state] = rounds
            ratio = statistics.median(r["free"] / r["64M"] for r in rounds)
            most = max(r["64M MiB"] for r in rounds)
            middle = lambda k: statistics.median(r[k] for r in rounds)
            self.say(f"--memory 64M, {state}", f"{middle('64M'):.2f} s, {middle('free'):.2f} s without: {ratio:.2f} of its speed (bar: 0.5)", ratio >= 0.5)
            self.say(f"--memory 64M, {state}", f"VmHWM {most:.0f} MiB (bar: {NEED}); {middle('free MiB'):.0f} without", most <= NEED)

    def batches(self):
        r = subprocess.run(["go", "test", "-run", "^$", "-bench", "Table16x1K", "-count", "5", "./source"], capture_output=True, text=True, cwd=os.path.dirname(HERE))
        found = re.findall(r"^Benchmark(Table16x1K\w*?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op.*?(\d+) allocs/op", r.stdout, re.M)
        if not found:
            self.say("batches", "left out: " + (r.stderr.strip().splitlines() or r.stdout.strip().splitlines() or ["no answer"])[-1][:160])
        for name in dict.fromkeys(f[0] for f in found):
            times, allocs = [float(f[1]) / 1000 for f in found if f[0] == name], max(int(f[2]) for f in found if f[0] == name)
            self.found["batches " + name] = {"us": times, "allocs": allocs}
            self.say(f"batches, {name}", f"{statistics.median(times):.2f} µs a batch (bar: 5), {allocs} allocations (bar: 0)", statistics.median(times) < 5 and allocs == 0)


    def quantised(self):
        table = Blocks(os.path.join(self.args.dir, "table.gguf"), 16 * GIB)
        out = os.path.join(self.args.results, "tables-result.npy")
        try:
            print(f"making {table.path}", file=sys.stderr)
            table.make()
            for blocks in 4, 16:
                table.cut(blocks)
                width, count = blocks * table.BYTES, table.count // blocks
                ids = np.random.default_rng(1).integers(0, count, ROWS)
                path = os.path.join(self.args.dir, "ids-quantised.npy")
                np.save(path, ids)
                at = table.offset + ids * width
                pages = (at + width - 1) // 4096 - at // 4096 + 1
                shares = [round(100 * float((pages == n).mean())) for n in range(1, pages.max() + 1)]
                split = ":".join(f"{4 * (n + 1)}k/{share}" for n, share in enumerate(shares) if share)
                name = f"cold, Q4_K, {blocks * table.ELEMENTS} elements"

                def garner(to, *flags):
                    drop(table.path)
                    return watch([self.args.garner, "gather", table.path + "#token_embd.weight", path, *flags, "-o", to])

                disk = lambda: max(fio(table.path, "io_uring", 3, split, depth) for depth in (64, 256))
                rounds, before = [], disk()
                for _ in range(2 * self.args.rounds):
                    r = {"garner": garner("-")[0]}
                    after = disk()
                    r["fio"] = (before + after) / 2
                    before = after
                    r["64M"], r["64M MiB"] = garner("-", "--memory", "64M")
                    r["file"], _ = garner(out)
                    got, some = np.load(out, mmap_mode="r"), slice(0, ROWS, 97)
                    if not np.array_equal(got[some].view(np.uint32), table.rows(ids[some], blocks).view(np.uint32)):
                        self.say(name, "WRONG: the rows differ from the definition", False)
                    os.remove(out)
                    rounds.append(r)
                self.found[f"quantised {width}"] = rounds
                middle = lambda k: statistics.median(r[k] for r in rounds)
                self.say(name, f"{width} B a row, pages {split}: garner {middle('garner'):.2f} s, {ROWS / middle('garner') / 1000:.0f} k rows/s; into a file in memory {middle('file'):.2f} s; "
                         f"--memory 64M {middle('64M'):.2f} s, VmHWM {max(r['64M MiB'] for r in rounds):.0f} MiB; fio {middle('fio') / 1000:.0f} k/s")
                if min(r["fio"] for r in rounds) > 0:
                    ratios = [ROWS / r["garner"] / r["fio"] for r in rounds]
                    self.say(name, f"garner's rows a second are {statistics.median(ratios):.2f} of fio's reads, {min(ratios):.2f} to {max(ratios):.2f} (bar: 0.9)", statistics.median(ratios) >= 0.9)
                else:
                    self.say(name, "fio is not installed, or does not run: left out")
        finally:
            if os.path.exists(table.path):
                os.remove(table.path)

    def engine(self):
        """source on a warm mapped file, held against Prepared.Run on the same mapping."""
        least = lambda r, way: min(r[way])
        bars = {"into": 1.05, "gather": 1.3}
        for case in self.cases():
            for cores in 1, 2:
                if cores > len(os.sched_getaffinity(0)):
                    self.say(f"engine, {case.name}", "2 cores: left out, this process may use one only")
                    continue
                rounds = [case.calls(self.args.calls, TURNS, cores) for _ in range(self.args.rounds)]
                self.found[f"engine {case.name} {cores}"] = rounds
                name = f"engine, {case.name}, {cores} core{'s'[:cores - 1]}"
                self.same(name, *(r["crc32"] for r in rounds))
                ratios = {"into": lambda r: [i / run for i, run in zip(r["into"], r["run"])],
                          "gather": lambda r: [(g - c) / run for g, c, run in zip(r["gather"], r["copy"], r["run"])]}
                lows = {"into": lambda r: least(r, "into") / least(r, "run"),
                        "gather": lambda r: (least(r, "gather") - least(r, "copy")) / least(r, "run")}
                middle = lambda way: 1e3 * statistics.median(t for r in rounds for t in r[way])
                self.say(name, f"Run {middle('run'):.2f} ms ({rounds[0]['regime']}), GatherInto {middle('into'):.2f}, Gather {middle('gather'):.2f}, copy {middle('copy'):.2f}")
                for way, what in ("into", "GatherInto"), ("gather", "Gather less the copy"):
                    ratio = statistics.median(statistics.median(ratios[way](r)) for r in rounds)
                    low = statistics.median(map(lows[way], rounds))
                    self.say(name, f"{what} takes {ratio:.2f} of Run, {low:.2f} by the least times (bar: {bars[way]})", ratio <= bars[way])

    def command(self):
        """The whole command beside python and numpy, both from warm files to a file in memory."""
        ours, theirs = (os.path.join(self.args.results, f"tables-{who}.npy") for who in ("garner", "numpy"))
        ratios = []
        for case in self.cases():
            commands = {"garner": (case.command(self.args.garner, ours), ours), "numpy": (case.numpy(theirs), theirs)}
            rounds = []
            try:
                for n in range(-1, 2 * self.args.rounds):  # round -1 is not counted: programs and libraries are read from the disk
                    spent = {}
                    for who in (("garner", "numpy") if n % 2 == 0 else ("numpy", "garner")):
                        command, out = commands[who]
                        if os.path.exists(out):
                            os.remove(out)
                        spent[who] = wall(command)
                    if not same_elements(ours, theirs):
                        self.say(f"command, {case.name}", "WRONG: the results differ", False)
                        break
                    if n >= 0:
                        rounds.append(spent)
            finally:
                for out in ours, theirs:
                    if os.path.exists(out):
                        os.remove(out)
            self.found[f"command {case.name}"] = rounds
            if len(rounds) < 2 * self.args.rounds:
                continue
            ratio = statistics.median(r["numpy"] / r["garner"] for r in rounds)
            ratios.append(ratio)
            middle = lambda who: 1e3 * statistics.median(r[who] for r in rounds)
            self.say(f"command, {case.name}", f"garner {middle('garner'):.0f} ms, python and numpy {middle('numpy'):.0f} ms: {ratio:.2f} times as long (bar: 1.5)", ratio >= 1.5)
        if ratios:
            mean = statistics.geometric_mean(ratios)
            self.say("command, geometric mean", f"python and numpy take {mean:.2f} times as long, {min(ratios):.2f} to {max(ratios):.2f} (bar: 3)", mean >= 3)


TURNS = 15  # of one process of engine
ON_TABLE = ("cold", "peers", "warm", "memory", "budget")
PARTS = (*ON_TABLE, "batches", "quantised", "engine", "command")


def main():
    if sys.argv[1:2] == ["--peer"]:
        print(json.dumps(globals()["peer_" + sys.argv[2]](*sys.argv[3:])))
        return 0
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", required=True, help="on the disk that is measured; 17 GiB and the copies; for engine and command 1.3 GiB")
    p.add_argument("--garner", required=True)
    p.add_argument("--calls", required=True, help="go build -o calls ./bench/calls")
    p.add_argument("--table", help="a file of random bytes that is there already")
    p.add_argument("--results", default="/dev/shm")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--copies", type=float, default=4, help="GiB of a copy for a peer")
    p.add_argument("--only", default=",".join(PARTS))
    p.add_argument("--cases", default=os.path.join(HERE, "warm.json"), help="the gathers of engine and command")
    p.add_argument("--json")
    args = p.parse_args()
    args.garner, args.calls = os.path.abspath(args.garner), os.path.abspath(args.calls)
    parts = args.only.split(",")
    for part in parts:
        if part not in PARTS:
            sys.exit(f"--only {part}: give some of {', '.join(PARTS)}")
    b = Bench(args)
    print(f"{args.rounds} rounds, medians; {os.cpu_count()} cores; numpy {np.__version__}")
    if set(parts) & set(ON_TABLE):
        b.need_table()
    for part in parts:
        getattr(b, part)()
    if args.json:
        with open(args.json, "w") as f:
            json.dump(b.found, f, indent=1)
    missed = [name for name, _, verdict in b.lines if verdict is False]
    print(f"{len(missed)} bars missed" + (": " + "; ".join(dict.fromkeys(missed)) if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
