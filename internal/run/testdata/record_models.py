"""Records what TensorFlow and LiteRT answer to models of one operator: models.jsonl.gz, one model a
line, with its file, its inputs and its result.

    pip install tensorflow==2.21.0
    python record_models.py
"""

import base64
import gzip
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as frozen

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(3)


def bits(x):
    x = np.asarray(x, order="C")
    return {"dtype": x.dtype.name, "shape": list(x.shape), "hex": x.tobytes().hex()}


def data(dtype, shape):
    return rng.integers(0, 256, tuple(shape) + (np.dtype(dtype).itemsize,), dtype=np.uint8).view(dtype).reshape(shape)


def pads():
    for turn in range(48):
        dtype = [np.float32, np.int32, np.int64, np.uint8, np.int8][turn % 5]
        shape = rng.integers(2, 5, 1 + turn % 4)
        x = data(dtype, shape)
        if turn % 3 == 0:
            p = rng.integers(0, 4, (len(shape), 2)).astype(np.int32 if turn % 2 else np.int64)
            yield x, (lambda p: lambda x: tf.raw_ops.Pad(input=x, paddings=p))(p)
        elif turn % 3 == 1:
            p, v = rng.integers(0, 4, (len(shape), 2)).astype(np.int32), data(dtype, ())
            yield x, (lambda p, v: lambda x: tf.raw_ops.PadV2(input=x, paddings=p, constant_values=v))(p, v)
        else:
            mode = ["REFLECT", "SYMMETRIC"][turn // 3 % 2]
            p = np.stack([rng.integers(0, d + turn // 3 % 2, 2) for d in shape]).astype(np.int32)
            yield x, (lambda p, mode: lambda x: tf.raw_ops.MirrorPad(input=x, paddings=p, mode=mode))(p, mode)


def chosen(op, c, result, yes, no):
    return lambda x: op(cond=c, input=[x], Tout=[tf.float32] * 2, then_branch=yes, else_branch=no, output_shapes=[[2, 2], [3, 2]])[result]


def choices():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for op in (tf.raw_ops.If, tf.raw_ops.StatelessIf):
        for turn in range(4):
            c = [np.array(True), np.array(False), np.array(3), np.array(0)][turn]
            yes = tf.function(lambda x: (tf.gather(x, [2, 0]), x + 1)).get_concrete_function(tf.TensorSpec([3, 2], tf.float32))
            no = tf.function(lambda x: (tf.gather(x, [1, 1]), x * 2)).get_concrete_function(tf.TensorSpec([3, 2], tf.float32))
            yield x, chosen(op, c, turn % 2, yes, no)


def wheres():
    r = tf.raw_ops
    for x in ([[1, 0], [0, 2]], [[[0, 3]], [[4, 0]]], [0, 0]):
        for dtype in (np.int32, np.int64, np.float32, np.uint8, np.int8, np.bool_, np.uint32):
            yield np.array(x).astype(dtype), lambda x: r.Where(condition=x)
    yield np.array([np.nan, 0, -0.0, np.inf], np.float32), lambda x: r.Where(condition=x)
    yield np.zeros((0, 3), np.int64), lambda x: r.Where(condition=x)


def quotients():
    r = tf.raw_ops
    x = rng.standard_normal((2, 64)).astype(np.float32)
    for dtype in (np.float32, np.float64):
        yield x.astype(dtype), lambda x: r.RealDiv(x=x[0], y=x[1])
        for by in (3, 10, 4, .5):
            yield x.astype(dtype), lambda x: r.RealDiv(x=x, y=np.array(by, dtype))
        yield np.array([1, -2, 0, 6], dtype), lambda x: r.RealDiv(x=x, y=np.array(3, dtype))


def around():
    """What stands around gathers, one operator each."""
    r, i32, i64 = tf.raw_ops, np.int32, np.int64
    a = lambda *v, dtype=i32: np.array(v, dtype)
    x, odd = np.arange(24, dtype=i64).reshape(2, 3, 4) - 5, np.array([[1.5, -2.25, 0], [-0.0, 65504, 7.75]], np.float32)
    one = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
    yield x, lambda x: r.ExpandDims(input=x, axis=-1)
    yield one, lambda x: r.Squeeze(input=x)
    yield one, lambda x: r.Squeeze(input=x, axis=[-2])
    yield x, lambda x: r.Transpose(x=x, perm=a(2, 0, 1))
    yield x, lambda x: r.ConcatV2(values=[x, x + 1], axis=-2)
    yield x, lambda x: r.Slice(input=x, begin=a(0, 1, 2), size=a(-1, 2, 1))
    yield x, lambda x: x[1, ..., ::2]
    yield x, lambda x: x[:, tf.newaxis, -1, 3:0:-1]
    yield x, lambda x: x[::-1, 5:1, -9:2]
    yield x, lambda x: x[-9:9:1, :, 1:]
    for t in (tf.int32, tf.int64):
        yield odd, lambda x: r.Shape(input=x, out_type=t)
        yield odd, lambda x: r.Size(input=x, out_type=t)
    yield x, lambda x: r.Rank(input=x)
    yield a(5), lambda x: r.Range(start=2, limit=r.Reshape(tensor=x, shape=np.zeros(0, i32)), delta=2)
    yield a(-5), lambda x: r.Range(start=2, limit=r.Reshape(tensor=x, shape=np.zeros(0, i32)), delta=-3)
    yield x, lambda x: r.Tile(input=x, multiples=a(1, 2, 3))
    yield a(7), lambda x: r.Fill(dims=a(2, 3), value=x[0])
    yield odd, lambda x: r.BroadcastTo(input=x, shape=a(2, 2, 3))
    yield odd, lambda x: r.ZerosLike(x=x)
    yield odd, lambda x: r.OnesLike(x=x)
    yield a(2, 3, 4), lambda x: r.Prod(input=x, axis=0)
    yield a(2, 3, 4), lambda x: r.Prod(input=x, axis=a(0), keep_dims=True)
    yield odd, lambda x: r.Select(condition=[True, False], x=x, y=x + 1)
    yield odd, lambda x: r.Select(condition=x > 0, x=x, y=x + 1)
    yield odd, lambda x: r.SelectV2(condition=[True, False, True], t=x, e=x + 1)
    yield x, lambda x: r.Pack(values=[x, x], axis=-1)
    yield x, lambda x: r.Unpack(value=x, num=3, axis=1)[2]
    yield x, lambda x: tf.split(x, 2, axis=-1)[1]
    yield x, lambda x: tf.split(x, [1, -1], axis=1)[1]
    yield x, lambda x: r.Neg(x=x)
    yield x.astype(i32), lambda x: r.Neg(x=x)
    for op in (r.AddV2, r.Sub, r.Mul):
        yield odd, lambda x: op(x=x, y=a(3, .5, -2, dtype=np.float32))
        yield x, lambda x: op(x=x, y=np.array(3, i64))
    for op in (r.FloorDiv, r.TruncateDiv, r.FloorMod, r.TruncateMod, r.Mod, r.Minimum, r.Maximum, r.Div):
        yield x, lambda x: op(x=x, y=np.array([3, -3, 2, -7], i64))
        yield x.astype(i32), lambda x: op(x=x, y=np.array([3, -3, 2, -7], i32))
    for op in (r.Equal, r.NotEqual, r.Less, r.LessEqual, r.Greater, r.GreaterEqual):
        yield odd, lambda x: op(x=x, y=np.float32(1.5))
        yield x, lambda x: op(x=x, y=np.array(3, i64))
    for op in (r.BitwiseAnd, r.BitwiseOr, r.BitwiseXor):
        yield x, lambda x: op(x=x, y=np.array(6, i64))
    yield x, lambda x: r.Invert(x=x)
    yield x, lambda x: r.LogicalOr(x=r.LogicalNot(x=x > 2), y=r.LogicalAnd(x=x > 4, y=x < 9))
    for t in (tf.int32, tf.int64, tf.int8, tf.float32, tf.float64, tf.float16, tf.bool, tf.bfloat16, tf.uint8):
        yield odd, lambda x: tf.cast(tf.cast(x, t), tf.float32)
        yield x, lambda x: tf.cast(tf.cast(x, t), tf.int64)
    yield a(2, 1, 3), lambda x: r.BroadcastArgs(s0=x, s1=a(4, 1))
    yield x, lambda x: r.StopGradient(input=r.Snapshot(input=x))


def tops():
    """The greatest of rows with equal numbers, zeros of both signs and infinities: the numbers, and where they stand."""
    for dtype in (np.float32, np.float64, np.int64, np.int32, np.int16, np.int8, np.uint8):
        x = rng.integers(0, 6, (3, 9)).astype(dtype)
        if np.issubdtype(dtype, np.floating):
            x[0, :4] = [np.inf, -np.inf, 0.0, -0.0]
        for k in (1, 4, 9):
            for result in (0, 1):
                yield x, lambda x: tf.raw_ops.TopKV2(input=x, k=k)[result]
        yield x[0], lambda x: tf.raw_ops.TopKV2(input=x, k=3, sorted=False)[0]
        yield x, lambda x: tf.raw_ops.TopKV2(input=x, k=0)[1]


def bags():
    """Sums and means of bags of every length to 26, one of them empty."""
    random = np.random.default_rng(5)
    lengths = [*range(1, 18), 0, 24, 25, 26]
    segments = np.repeat(np.arange(len(lengths)), lengths).astype(np.int32)
    for op in (tf.raw_ops.SparseSegmentSum, tf.raw_ops.SparseSegmentMean, tf.raw_ops.SparseSegmentSqrtN):
        for dtype in (np.float32, np.float64, np.float16):
            ids = random.integers(0, 9, len(segments))
            yield random.standard_normal((9, 3)).astype(dtype), lambda x: op(data=x, indices=ids, segment_ids=segments)


def negations():
    """Negative numbers of floats, without zeros, and of integers."""
    random = np.random.default_rng(6)
    yield random.standard_normal((5, 3)).astype(np.float32), lambda x: tf.raw_ops.Neg(x=x)
    for dtype in (np.int32, np.int64):
        yield random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 7, dtype), lambda x: tf.raw_ops.Neg(x=x)


def main():
    with gzip.GzipFile(os.path.join(HERE, "models.jsonl.gz"), "wb", mtime=0) as to:
        for kind, cases in (("pads", pads()), ("choices", choices()), ("where", wheres()), ("quotients", quotients()), ("around", around()), ("tops", tops()), ("bags", bags()), ("negations", negations())):
            for x, f in cases:
                run = tf.function(f, input_signature=[tf.TensorSpec(x.shape, x.dtype, "x")])
                made = run.get_concrete_function()
                want = run(x).numpy()
                graph = made.graph.as_graph_def() if kind == "choices" else frozen(made).graph.as_graph_def()
                line = {"runtime": f"tensorflow {tf.__version__} CPU", "file": "m.pb", "model": base64.b64encode(graph.SerializeToString()).decode()}
                to.write((json.dumps(line | {"kind": kind, "input": bits(x), "want": bits(want)}) + "\n").encode())
                if kind == "choices" or x.itemsize == 1 and kind == "pads":  # the converter has no PAD of such a type, and may end the process
                    continue
                try:
                    model = tf.lite.TFLiteConverter.from_concrete_functions([made]).convert()
                except Exception:  # an operator or a type that LiteRT lacks
                    continue
                lite = tf.lite.Interpreter(model_content=model)
                try:
                    lite.allocate_tensors()
                    lite.set_tensor(lite.get_input_details()[0]["index"], x)
                    lite.invoke()
                    want = lite.get_tensor(lite.get_output_details()[0]["index"])
                except (RuntimeError, ValueError):  # such as of paddings of i64
                    continue
                line = {"runtime": f"tf.lite {tf.__version__} CPU", "file": "m.tflite", "model": base64.b64encode(model).decode()}
                to.write((json.dumps(line | {"kind": kind, "input": bits(x), "want": bits(want)}) + "\n").encode())


if __name__ == "__main__":
    main()
