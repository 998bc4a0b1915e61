#!/usr/bin/env python3
"""Gathers random rows of a table by PySpark, by Ray Data and by garner, on the same files and cores, and prints the medians.

    cluster.py --garner ./garner [--beam COMMAND] [--rounds 5] [--table 4000000] [--ids 1000000] [--cores 2] [--only TEXT,TEXT]
               [--dir DIR] [--json FILE]

The job: out[i] = table[ids[i]], in the order of the ids, in files. Rows have 256 bytes (64 f32), ids are uniform i64. Each
contestant uses as many processes, Spark threads or actors as --cores, all pinned to the same cores. Contestants:

    spark join    both are parquet; the ids, which carry their positions, are broadcast and joined with the table; the rows are
                  partitioned and sorted by position and written as parquet
    spark map     the ids are parquet; mapInArrow takes rows of the table by numpy.memmap of the .npy; written as parquet
    spark save    no row goes through the engine: each task takes rows by numpy.memmap and saves an .npy
    ray join      ray.data join of both parquets, sorted by position, written as parquet
    ray map       the ids are an .npy; map_batches of a function that takes rows by numpy.memmap; written as .npy
    ray pool      the same with a pool of actors that hold the numpy.memmap, which each run starts
    ray save      no row goes through the engine: each task takes rows by numpy.memmap and saves an .npy
    part          garner gather --part K/N, N processes at a time
    beam          --beam COMMAND, such as 'garner-beam gather {table} {ids} -o {out}'; left out where it is not given

The parquet files hold the same rows and ids as the .npy files, uncompressed; what the contestants write is uncompressed too.
garner flushes its results to the disk (fsync), as it always does; the others leave theirs in the page cache. --fsync 1 flushes
the files of the others too, in the measured time. The inputs are in the page cache, unless --cold 1 evicts them before each run;
a process of a run before that still maps a page keeps it there.

A round takes the contestants one after the other. Each starts its engine and runs the job four times, each time without the
result of the time before. `start` is the time until the engine was there, `first` the first run's time, `job` the median of the
other three; a contestant whose first run takes more than 40 s runs once more only, and in one round. garner has no
engine, so its job includes the starts of its processes. The last result of each round is compared with numpy's, bit for bit;
one that differs is WRONG, and fails the run.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("cluster.py needs numpy: pip install numpy pyarrow pyspark 'ray[data]'")

COLUMNS = 64  # of f32: 256 bytes a row
LONG = 40  # seconds of a run that is not repeated often
POSITION, ID, ROW = "position", "id", "row"


def ranges(n, parts):
    """The ranges of N elements that as many parts have, as --part cuts them."""
    return [(n * k // parts, n * (k + 1) // parts) for k in range(parts)]


def make(folder, table, ids):
    """Writes table and ids, as .npy and as parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(29)
    rows = np.lib.format.open_memmap(os.path.join(folder, "table.npy"), "w+", np.float32, (table, COLUMNS))
    schema = pa.schema([(ID, pa.int64()), (ROW, pa.binary(4 * COLUMNS))])
    with pq.ParquetWriter(os.path.join(folder, "table.parquet"), schema, compression="none", use_dictionary=False) as out:
        for a, b in ranges(table, 32):
            rows[a:b] = rng.random((b - a, COLUMNS), dtype=np.float32)
            row = pa.FixedSizeBinaryArray.from_buffers(schema.field(ROW).type, b - a, [None, pa.py_buffer(rows[a:b].tobytes())])
            out.write_table(pa.table([pa.array(np.arange(a, b)), row], schema=schema), row_group_size=b - a)
    rows.flush()
    at = rng.integers(0, table, ids)
    np.save(os.path.join(folder, "ids.npy"), at)
    with pq.ParquetWriter(os.path.join(folder, "ids.parquet"), pa.schema([(POSITION, pa.int64()), (ID, pa.int64())]), compression="none") as out:
        for a, b in ranges(ids, 8):
            out.write_table(pa.table({POSITION: np.arange(a, b), ID: at[a:b]}), row_group_size=b - a)
    os.sync()


def save_rows(folder, out, k, parts):
    """Saves part k of the result, without an engine."""
    table, ids = (np.load(os.path.join(folder, name), mmap_mode="r") for name in ("table.npy", "ids.npy"))
    a, b = ranges(len(ids), parts)[k]
    np.save(os.path.join(out, f"part-{k:05}.npy"), table[ids[a:b]])


class Spark:
    def __init__(self, kind, folder, cores):
        from pyspark.sql import SparkSession

        self.kind, self.folder, self.cores = kind, folder, cores
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.spark = (
            SparkSession.builder.master(f"local[{cores}]")
            .config("spark.driver.memory", "6g")
            .config("spark.ui.enabled", "false")
            .config("spark.log.level", "ERROR")
            .config("spark.local.dir", os.path.join(folder, "spark"))
            .config("spark.sql.parquet.compression.codec", "uncompressed")
            .config("spark.sql.shuffle.partitions", cores)
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", 65536)
            .getOrCreate()
        )

    def run(self, out):
        folder, cores, kind = self.folder, self.cores, self.kind
        if kind == "save":
            os.makedirs(out)
            self.spark.sparkContext.parallelize(range(cores), cores).foreach(lambda k: save_rows(folder, out, k, cores))
            return
        from pyspark.sql import functions as F

        ids = self.spark.read.parquet(os.path.join(folder, "ids.parquet"))
        if kind == "join":
            table = self.spark.read.parquet(os.path.join(folder, "table.parquet"))
            each = -(-len(np.load(os.path.join(folder, "ids.npy"), mmap_mode="r")) // cores)
            rows = table.join(F.broadcast(ids), ID).select(POSITION, ROW)
            rows = rows.repartitionById(cores, F.expr(f"int({POSITION} div {each})")).sortWithinPartitions(POSITION)
        else:

            def take(batches):
                import pyarrow as pa

                table = np.load(os.path.join(folder, "table.npy"), mmap_mode="r")
                for batch in batches:
                    rows = table[batch.column(ID).to_numpy()]
                    # Spark's binary has offsets: rows of one length still need them.
                    ends = pa.py_buffer(np.arange(0, rows.nbytes + 1, 4 * COLUMNS, dtype=np.int32))
                    row = pa.BinaryArray.from_buffers(pa.binary(), len(rows), [None, ends, pa.py_buffer(rows)])
                    yield pa.RecordBatch.from_arrays([batch.column(POSITION), row], names=[POSITION, ROW])

            rows = ids.mapInArrow(take, f"{POSITION} long, {ROW} binary")
        rows.write.parquet(out)

    def stop(self):
        self.spark.stop()


class Take:
    """Takes rows of the table."""

    def __init__(self, folder):
        self.table = np.load(os.path.join(folder, "table.npy"), mmap_mode="r")

    def __call__(self, batch):
        return {ROW: self.table[batch[ID]]}


class Ray:
    def __init__(self, kind, folder, cores):
        import ray

        self.kind, self.folder, self.cores = kind, folder, cores
        ray.init(num_cpus=cores, include_dashboard=False, logging_level="ERROR", object_store_memory=4 << 30, configure_logging=False)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        context.target_max_block_size = 128 << 20

    def run(self, out):
        import pyarrow as pa
        import ray

        folder, cores = self.folder, self.cores
        if self.kind == "save":
            os.makedirs(out)
            task = ray.remote(num_cpus=1)(save_rows)
            ray.get([task.remote(folder, out, k, cores) for k in range(cores)])
        elif self.kind == "join":
            ids, table = (ray.data.read_parquet(os.path.join(folder, name)) for name in ("ids.parquet", "table.parquet"))
            rows = ids.join(table, "inner", num_partitions=cores, on=(ID,)).select_columns([POSITION, ROW])
            rows.sort(POSITION).write_parquet(out, compression="none")
        else:
            at = np.load(os.path.join(folder, "ids.npy"))
            ids = ray.data.from_arrow([pa.table({ID: at[a:b]}) for a, b in ranges(len(at), 4 * cores)])
            if self.kind == "pool":
                rows = ids.map_batches(Take, fn_constructor_args=(folder,), batch_size=None, num_cpus=0.5, compute=ray.data.ActorPoolStrategy(size=cores))
            else:
                rows = ids.map_batches(lambda batch: Take(folder)(batch), batch_size=None)
            rows.write_numpy(out, column=ROW)

    def stop(self):
        import ray

        ray.shutdown()


ENGINES = {"spark": Spark, "ray": Ray}


def evict(folder):
    """Takes the inputs out of the page cache."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peer(engine, kind, folder, cores, out, fsync, cold):
    """Runs one contestant in a process of its own, and prints its seconds."""
    begin = time.perf_counter()
    it = ENGINES[engine](kind, folder, cores)
    start = time.perf_counter() - begin

    def run():
        it.run(out)
        if fsync:
            flush(out)

    seconds = dict(start=start, **repeated(run, out, folder, cold))
    it.stop()
    print(json.dumps(seconds))


def repeated(run, out, folder, cold):
    """The seconds of the first run, and of those that follow."""
    seconds = []
    while len(seconds) < (2 if seconds and seconds[0] > LONG else 4):
        shutil.rmtree(out, ignore_errors=True)
        if cold:
            evict(folder)
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return dict(first=seconds[0], job=statistics.median(seconds[1:]))


def flush(out):
    for name in files(out):
        with open(name) as f:
            os.fsync(f.fileno())


def files(out):
    """The files of a result."""
    return sorted(f for f in glob.glob(os.path.join(out, "**"), recursive=True) if f.endswith((".npy", ".parquet")))


def right(out, folder):
    """Whether a result is numpy's."""
    want = np.load(os.path.join(folder, "table.npy"), mmap_mode="r")[np.load(os.path.join(folder, "ids.npy"))]
    at = 0
    for name in files(out):
        if name.endswith(".npy"):
            got = np.load(name, mmap_mode="r")
        else:
            import pyarrow.parquet as pq

            got = pq.read_table(name)
            if not np.array_equal(got[POSITION].to_numpy(), np.arange(at, at + len(got))):
                return False
            got = np.array(b"".join(b"".join(chunk.to_pylist()) for chunk in got[ROW].chunks))
            got = np.frombuffer(got.tobytes(), np.float32).reshape(-1, COLUMNS)
        if not np.array_equal(got.view(np.uint32), want[at : at + len(got)].view(np.uint32)):
            return False
        at += len(got)
    return at == len(want)


def commands(list_of_args):
    """Runs commands side by side."""
    running = [subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for args in list_of_args]
    errors = [p.communicate()[1] for p in running]
    if any(p.returncode for p in running):
        raise RuntimeError("".join(errors)[-2000:])


def contest(name, o, folder, out):
    """One contestant's seconds in one round."""
    table, ids = (os.path.join(folder, f) for f in ("table.npy", "ids.npy"))
    if name in ("part", "beam"):
        if name == "part":
            make = [[o.garner, "gather", table, ids, "-o", os.path.join(out, "part-{part}.npy"), "--part", f"{k + 1}/{o.cores}"] for k in range(o.cores)]
        else:
            make = [[word.format(table=table, ids=ids, out=out) for word in o.beam.split()]]


        def run():
            os.makedirs(out)
            commands(make)

        return repeated(run, out, folder, o.cold)
    engine, kind = name.split()
    args = [sys.executable, os.path.abspath(__file__), "--peer", engine, kind, folder, str(o.cores), out, str(o.fsync), str(o.cold)]
    run = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        text, errors = run.communicate(timeout=o.limit)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return None
    if run.returncode:
        raise RuntimeError(errors[-2000:])
    return json.loads(text.splitlines()[-1])


def main():
    if sys.argv[1:2] == ["--peer"]:
        engine, kind, folder, cores, out, fsync, cold = sys.argv[2:]
        return peer(engine, kind, folder, int(cores), out, int(fsync), int(cold))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--garner", required=True)
    parser.add_argument("--beam", default="", metavar="COMMAND")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", type=int, default=4_000_000, metavar="ROWS")
    parser.add_argument("--ids", type=int, default=1_000_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for one contestant in one round; one that takes longer is left out of later rounds")
    parser.add_argument("--fsync", type=int, default=0, help="1: the others flush their results too")
    parser.add_argument("--cold", type=int, default=0, help="1: the files are not in the page cache when a run begins")
    parser.add_argument("--only", default="", metavar="TEXT,TEXT", help="only contestants with one of these in their names")
    parser.add_argument("--dir", help="where the files go; the default is a temporary folder, which is removed")
    parser.add_argument("--json", metavar="FILE")
    o = parser.parse_args()
    o.garner = os.path.abspath(o.garner)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: o.cores])
    names = [name for name in ("spark join", "spark map", "spark save", "ray join", "ray map", "ray pool", "ray save", "part", "beam") if any(text in name for text in o.only.split(","))]
    if "beam" in names and not o.beam:
        names.remove("beam")
        print("beam is left out: --beam COMMAND is not given")
    seconds, wrong, slow = {name: [] for name in names}, [], []
    with tempfile.TemporaryDirectory(dir=o.dir) as folder:
        make(folder, o.table, o.ids)
        out = os.path.join(folder, "out")
        for i in range(o.rounds):
            for name in names[i % len(names) :] + names[: i % len(names)]:
                if name in slow:
                    continue
                try:
                    s = contest(name, o, folder, out)
                except RuntimeError as e:
                    sys.exit(f"{name} failed:\n{e}")
                if s is None:
                    slow.append(name)
                    print(f"round {i + 1}  {name:<11} is left out: more than {o.limit:.0f} s", flush=True)
                else:
                    seconds[name].append(s)
                    if s["first"] > LONG:
                        slow.append(name)
                    if not right(out, folder):
                        wrong.append(name)
                    print(f"round {i + 1}  {name:<11}", "  ".join(f"{k} {v:.2f} s" for k, v in s.items()), "WRONG" if name in wrong else "", flush=True)
                shutil.rmtree(out, ignore_errors=True)
    print(f"\nmedians of {o.rounds} rounds, {o.ids} of {o.table} rows of {4 * COLUMNS} bytes, {o.cores} cores, seconds\n\n{'':12} {'start':>7} {'first':>7} {'job':>7}  job / part")
    median = {name: {k: statistics.median(s[k] for s in seconds[name]) for k in seconds[name][0]} for name in names if seconds[name]}
    for name, m in median.items():
        ratio = f"{m['job'] / median['part']['job']:10.1f}" if "part" in median else ""
        print(f"{name:12}", *(f"{m[k]:7.2f}" if k in m else f"{'':7}" for k in ("start", "first", "job")), ratio, "WRONG" if name in wrong else "")
    if o.json:
        with open(o.json, "w") as f:
            json.dump(dict(table=o.table, ids=o.ids, cores=o.cores, fsync=o.fsync, cold=o.cold, seconds=seconds, wrong=wrong), f, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
