"""Records what TensorFlow makes of small graphs, for TestRecordedTensorFlow.

    go build -o values ./internal/shapes/testdata/values
    python record_tensorflow.py ./values tensorflow.jsonl.gz

tensorflow 2.21. A line is one graph: its GraphDef in hex; for some feeds the dtype and dims of each value;
and how much garner knew when this was recorded. Each graph has nodes of one operator, whose inputs have fixed,
open or no dims and whose lists are constants or inputs. It stops at a false inference, and counts where
TensorFlow's own inference knows more.
"""
import gzip
import inspect
import json
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

from beside_tensorflow import NAMES, dims_of, judge

v1 = tf.compat.v1
DT = {v: k for k, v in NAMES.items()}
SIZES = [dict(n=2, m=3, b=1), dict(n=4, m=1, b=2), dict(n=1, m=5, b=3), dict(n=6, m=2, b=1), dict(n=0, m=3, b=2)]
# Of no image, oneDNN's convolutions give the shape of their input, which TensorFlow's own inference contradicts.
EMPTY = {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}
VARIANTS = [("fixed", "const"), ("open", "const"), ("none", "const"), ("open", "input"), ("none", "none"), ("first", "const"), ("others", "const")]


class K:
    """A list that a node takes: a constant, or an input that always has these elements."""
    def __init__(self, a, dtype="i32"):
        self.a = np.array(a, object if dtype == "string" else DT[dtype])


class S:
    """A list that is the shape of a tensor, changed."""
    def __init__(self, like, change=lambda s: s):
        self.like, self.change = D(like), change


class D:
    """A tensor: "f32:n,3" has dims of names and numbers."""
    def __init__(self, text):
        self.dtype, _, dims = text.partition(":")
        self.dims = [int(d) if d.isdigit() else d for d in dims.split(",") if d]

    def shape(self, env):
        return [env.get(d, d) for d in self.dims]

    def make(self, rng, env):
        shape = self.shape(env)
        if self.dtype == "string":
            return np.full(shape, "a b", object)
        if self.dtype[0] == "f":
            return rng.standard_normal(shape).astype(DT[self.dtype])
        return np.asarray(rng.integers(0, 2, shape)).astype(DT[self.dtype])


def arg(a):
    return [arg(b) for b in a] if isinstance(a, list) else D(a) if isinstance(a, str) else a


r = tf.raw_ops


def cases():
    def one(op, *args, **attrs):
        return op, [arg(a) for a in args], attrs

    f, i = "f32:n,3,m", "i32:n,3,m"
    for op in "Abs Neg ZerosLike OnesLike Identity StopGradient Snapshot PreventGradient DeepCopy".split():
        yield one(op, i)
    for op in ("Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Elu Erf Erfc Erfinv Exp Expm1 Floor Inv IsFinite IsInf IsNan L2Loss LeakyRelu Lgamma Log Log1p Ndtri "
               "Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square Tan Tanh RandomShuffle FakeQuantWithMinMaxArgs AsString").split():
        yield one(op, f)
    yield one("Conj", "complex64:n,3")
    yield one("CheckNumerics", f, message="m")
    yield one("Softmax", "f32:n,3")
    yield one("LogSoftmax", "f32:n,3")
    yield one("Invert", i)
    yield one("LogicalNot", "bool:n,3")
    for op in "StringLower StringUpper StringStrip StringLength".split():
        yield one(op, "string:n,3")
    yield one("StringToHashBucketFast", "string:n,3", num_buckets=7)
    yield one("StringToHashBucketStrong", "string:n,3", num_buckets=7, key=[1, 2])
    yield one("StringToHashBucket", "string:n,3", num_buckets=7)
    yield one("StaticRegexReplace", "string:n,3", pattern="a", rewrite="b")
    yield one("StaticRegexFullMatch", "string:n,3", pattern="a")
    yield one("StringSplit", "string:n", K(" ", "string"))
    yield one("StringSplitV2", "string:n", K(" ", "string"))
    for pair in (("n,3,m", "n,3,m"), ("n,1,m", "3,1"), ("3", "n,3"), ("", "n,m"), ("n,m", ""), ("n,m", "1,m")):
        ops = "AddV2 Sub Mul FloorMod Minimum Maximum Less LessEqual Greater GreaterEqual".split() if pair[0] == "n,3,m" else ["AddV2", "Less"]
        for op in ops:
            yield one(op, *("f32:" + p for p in pair))
        for op in ["Equal", "NotEqual"]:
            yield one(op, *("f32:" + p for p in pair))
            yield one(op, *("f32:" + p for p in pair), incompatible_shape_error=False)
        yield one("SelectV2", "bool:" + pair[0], "f32:" + pair[1], "f32:")
    for op in "Add RealDiv SquaredDifference Atan2 DivNoNan MulNoNan Pow Xdivy Xlogy Xlog1py NextAfter Igamma Igammac Zeta ApproximateEqual".split():
        yield one(op, "f32:n,m", "f32:n,m")
    for op in "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift".split():
        yield one(op, "i32:n,m", "i32:m")
    for op in "Div FloorDiv TruncateDiv TruncateMod Mod".split():
        yield one(op, "i32:n,m", K(2))
    for op in "LogicalAnd LogicalOr".split():
        yield one(op, "bool:n,m", "bool:m")
    yield one("AddN", ["f32:n,3", "f32:n,3", "f32:n,3"])
    yield one("IdentityN", ["f32:n,3", "i32:m"])
    yield one("Select", "bool:n", "f32:n,3", "f32:n,3")
    yield one("Select", "bool:", "f32:n,3", "f32:n,3")
    yield one("Select", "bool:n,3", "f32:n,3", "f32:n,3")
    yield one("Cast", f, DstT=tf.int64)
    yield one("Cast", "f32:3", DstT=tf.bool)
    yield one("Shape", f)
    yield one("Shape", f, out_type=tf.int64)
    yield one("ShapeN", [f, "f32:n"])
    yield one("Size", f)
    yield one("Rank", f)
    yield one("EnsureShape", "f32:n,3", shape=[None, 3])
    for s in ([-1], [-1, 3], [3, -1, 1]):
        yield one("Reshape", f, K(s))
    yield one("Reshape", f, S("f32:n,3,m"))
    yield one("Reshape", f, S("f32:m,n,3"))
    yield one("Reshape", f, S("f32:n,3,m", lambda s: r.ConcatV2(values=[s[:1], [-1]], axis=0)))
    yield one("Reshape", f, S("f32:n,3,m", lambda s: tf.stack([s[0] * s[1], s[2]])))
    yield one("Reshape", f, S("f32:n,3,m", lambda s: tf.stack([tf.reduce_prod(s[:2]), s[-1]])))
    for d in (0, 1, -1, [-2]):
        yield one("ExpandDims", f, K(d))
    yield one("Squeeze", "f32:n,1,3,1")
    yield one("Squeeze", "f32:n,1,3,1", axis=[1])
    yield one("Squeeze", "f32:n,1,3,1", axis=[-1, 1])
    yield one("Transpose", f, K([2, 0, 1]))
    yield one("ConjugateTranspose", f, K([2, 0, 1]))
    for axis in (0, 1, -1):
        yield one("Pack", ["f32:n,3", "f32:n,3"], axis=axis)
        yield one("Unpack", "f32:3,3", num=3, axis=axis)
        yield one("ConcatV2", ["f32:n,3", "f32:n,3"] if axis else ["f32:n,3", "f32:m,3"], K(axis))
    yield one("Concat", K(1), ["f32:n,3", "f32:n,m"])
    yield one("Pack", ["f32:", "f32:", "f32:"])
    yield one("Unpack", "f32:n,3,m", num=3, axis=1)
    yield one("Split", K(1), "f32:n,6", num_split=3)
    yield one("Split", K(0), "f32:4,n", num_split=2)
    yield one("SplitV", "f32:n,6", K([1, -1, 2]), K(1), num_split=3)
    yield one("SplitV", "f32:n,6", K([1, 5]), K(1), num_split=2)
    for b, s in (([0, 1, 0], [-1, 2, -1]), ([0, 0, 0], [-1, -1, -1]), ([0, 2, 0], [0, 1, 1])):
        yield one("Slice", "f32:n,3,m", K(b), K(s))
    yield one("Slice", f, K([0, 0, 0]), S("f32:n,3,m"))
    for b, e, st, kw in (([0], [1], [1], {}), ([0], [0], [1], dict(end_mask=1)), ([1, 0], [0, 2], [1, 1], dict(end_mask=1)), ([0, -1], [0, 0], [1, -1], dict(begin_mask=1, end_mask=3)),
                         ([0, 0], [0, 1], [1, 1], dict(ellipsis_mask=1, shrink_axis_mask=2)), ([0, 0], [0, 1], [1, 1], dict(new_axis_mask=1)), ([-1], [0], [1], dict(shrink_axis_mask=1)),
                         ([0, 0, 0], [0, 0, 0], [1, 1, 1], dict(new_axis_mask=5, ellipsis_mask=2)), ([0, 1], [100, 3], [2, 2], {}), ([0, 0, 0, 0], [0, 0, 0, 2], [1, 1, 1, 1], dict(ellipsis_mask=2, new_axis_mask=1, end_mask=4)),
                         ([0, 1, 0], [0, 2, 0], [1, 1, 1], dict(begin_mask=5, end_mask=5, shrink_axis_mask=2))):
        yield one("StridedSlice", f, K(b), K(e), K(st), **kw)
    yield one("Fill", K([2, 3]), "f32:")
    yield one("Fill", S("f32:n,m"), "i32:")
    yield one("BroadcastTo", "f32:3", K([2, 3]))
    yield one("BroadcastTo", "f32:1,m", S("f32:n,m"))
    yield one("BroadcastArgs", S("f32:n,m"), S("f32:m"))
    yield one("Tile", f, K([2, 1, 3]))
    yield one("Tile", "f32:n,1", S("f32:n,m"))
    yield one("Range", K(0), K(7), K(2))
    yield one("Range", K(0), S("f32:n,m", lambda s: s[0]), K(1))
    yield one("Range", K(5), K(-2), K(-3))
    yield one("LinSpace", K(0.0, "f32"), K(1.0, "f32"), K(5))
    yield one("Pad", "f32:n,3", K([[1, 2], [0, 1]]))
    yield one("PadV2", "f32:n,3", K([[1, 2], [0, 1]]), "f32:")
    yield one("MirrorPad", "f32:3,n", K([[1, 2], [0, 0]]), mode="SYMMETRIC")
    for op in "ArgMax ArgMin".split():
        yield one(op, "f32:3,n", K(0))
        yield one(op, "f32:n,3,m", K(-2), output_type=tf.int32)
    yield one("TopKV2", "f32:n,3", K(2))
    yield one("Where", "bool:n,3")
    yield one("OneHot", "i32:n,3", K(4), "f32:", "f32:")
    yield one("OneHot", "i32:n,3", K(4), "f32:", "f32:", axis=0)
    yield one("Unique", "i32:n")
    yield one("Unique", "i32:n", out_idx=tf.int64)
    yield one("UniqueWithCounts", "i32:n")
    yield one("UniqueV2", "i32:n,3", K([0], "i64"))
    yield one("UniqueV2", "i32:n", K(np.zeros(0), "i64"))
    yield one("UniqueWithCountsV2", "i32:n,3", K([1], "i64"))
    yield one("InTopKV2", "f32:n,3", "i32:n", K(2))
    for kw in ({}, dict(transpose_a=True), dict(transpose_b=True)):
        yield one("MatMul", "f32:3,n" if "transpose_a" in kw else "f32:n,3", "f32:m,3" if "transpose_b" in kw else "f32:3,m", **kw)
        kw = {{"transpose_a": "adj_x", "transpose_b": "adj_y"}[k]: v for k, v in kw.items()}
        for op in ("BatchMatMul", "BatchMatMulV2"):
            yield one(op, "f32:b,3,n" if "adj_x" in kw else "f32:b,n,3", "f32:b,m,3" if "adj_y" in kw else "f32:b,3,m", **kw)
        yield one("BatchMatMulV3", "f32:b,3,n" if "adj_x" in kw else "f32:b,n,3", "f32:m,3" if "adj_y" in kw else "f32:3,m", Tout=tf.float32, **kw)
    yield one("BatchMatMulV2", "f32:b,1,n,3", "f32:4,3,m")
    yield one("Einsum", ["f32:b,n,3", "f32:3,m"], equation="abc,cd->adb")
    for op in "Sum Prod Max Min Mean EuclideanNorm".split():
        for axes in (0, [0], [-1], [0, 2], np.zeros(0)):
            yield one(op, "f32:n,3,m", K(axes))
        yield one(op, "f32:n,3,m", K([1]), keep_dims=True)
    for op in "All Any".split():
        yield one(op, "bool:n,3", K([0]))
        yield one(op, "bool:n,3", K([1]), keep_dims=True)
    for op in "Cumsum Cumprod CumulativeLogsumexp".split():
        yield one(op, f, K(0))
    yield one("Reverse", "f32:n,3", K([True, False], "bool"))
    yield one("ReverseV2", f, K([1]))
    yield one("ReverseSequence", "f32:n,3", K([1, 1, 1]), seq_dim=0, batch_dim=1)
    yield one("Roll", f, K([1]), K([0]))
    yield one("InvertPermutation", K([1, 0, 2]))
    yield one("ClipByValue", "f32:n,3", "f32:", "f32:")
    yield one("MatrixBandPart", "f32:n,3,3", K(1, "i64"), K(0, "i64"))
    yield one("MatrixInverse", "f32:n,3,3")
    yield one("BiasAdd", "f32:n,m,3", "f32:3")
    yield one("BiasAdd", "f32:n,3,m,1", "f32:3", data_format="NCHW")
    yield one("BiasAddV1", "f32:n,m", "f32:m")
    yield one("LRN", "f32:n,3,m,2")
    yield one("Bincount", "i32:n", K(4), "f32:n")
    yield one("DynamicPartition", "f32:n,3", "i32:n", num_partitions=2)
    yield one("DynamicStitch", [K([0, 2]), K([1])], ["f32:2,n", "f32:1,n"])
    yield one("ParallelDynamicStitch", [K([0, 2]), K(1)], ["f32:2,n", "f32:n"])
    for op in "SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd".split():
        yield one(op, "f32:3,n", K([0, 0, 1]))
    for op in "UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd".split():
        yield one(op, "f32:n,3,m", "i32:n,3", K(5))
    yield one("ScatterNd", "i32:n,1", "f32:n,3", K([5, 3]))
    for op in "TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMin TensorScatterMax".split():
        yield one(op, "f32:4,3", "i32:n,1", "f32:n,3")
    yield one("SparseToDense", K([[0, 0], [1, 1]]), K([2, 3]), "f32:2", "f32:", validate_indices=False)
    yield one("SparseReshape", K([[0, 0], [1, 1]], "i64"), K([2, 3], "i64"), K([3, 2], "i64"))
    yield one("SparseFillEmptyRows", K([[0, 0], [1, 1]], "i64"), "f32:2", K([4, 3], "i64"), "f32:")
    yield one("StringNGrams", K(["a", "b", "c"], "string"), K([0, 1, 3], "i64"), separator=" ", ngram_widths=[2], left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False)
    yield one("RandomUniform", S("f32:n,m"), dtype=tf.float32)
    yield one("RandomStandardNormal", K([2, 3]), dtype=tf.float64)
    yield one("TruncatedNormal", K([2, 3]), dtype=tf.float32)
    yield one("RandomUniformInt", S("f32:n,m"), K(0), K(5))
    yield one("StatelessRandomUniform", K([2, 3]), K([1, 2]))
    yield one("StatelessRandomNormal", K([2, 3]), K([1, 2]))
    yield one("Multinomial", "f32:n,3", K(4))
    for p in ("SAME", "VALID"):
        for strides in ([1, 1, 1, 1], [1, 2, 3, 1]):
            yield one("Conv2D", "f32:n,7,m,2", "f32:3,1,2,4", strides=strides, padding=p)
            yield one("MaxPool", "f32:n,7,m,2", ksize=[1, 2, 1, 1], strides=strides, padding=p)
            yield one("AvgPool", "f32:n,7,m,2", ksize=[1, 2, 1, 1], strides=strides, padding=p)
        yield one("DepthwiseConv2dNative", "f32:n,7,m,2", "f32:3,1,2,4", strides=[1, 2, 2, 1], padding=p)
        yield one("Conv3D", "f32:n,7,m,5,2", "f32:3,1,2,2,4", strides=[1, 2, 1, 1, 1], padding=p)
        yield one("MaxPool3D", "f32:n,7,m,5,2", ksize=[1, 2, 1, 2, 1], strides=[1, 2, 1, 1, 1], padding=p)
        yield one("AvgPool3D", "f32:n,7,m,5,2", ksize=[1, 2, 1, 2, 1], strides=[1, 2, 1, 1, 1], padding=p)
    yield one("Conv2D", "f32:n,7,m,2", "f32:3,1,2,4", strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0], dilations=[1, 2, 1, 1])
    yield one("Conv2DBackpropInput", K([2, 6, 6, 2]), "f32:3,3,2,4", "f32:2,3,3,4", strides=[1, 2, 2, 1], padding="SAME")
    yield one("Conv3DBackpropInputV2", K([2, 6, 6, 6, 2]), "f32:3,3,3,2,4", "f32:2,3,3,3,4", strides=[1, 2, 2, 2, 1], padding="SAME")
    for op in "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3".split():
        yield one(op, "f32:n,2,m,3", "f32:3", "f32:3", "f32:3", "f32:3", **({} if op == "FusedBatchNorm" else {}), is_training=False)
    for op in "ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea".split():
        yield one(op, "f32:n,4,m,2", K([3, 5]))
    yield one("DepthToSpace", "f32:n,2,m,8", block_size=2)
    yield one("SpaceToDepth", "f32:n,2,4,3", block_size=2)
    for op, kw in (("GatherV2", {}), ("GatherV2", dict(batch_dims=1))):
        yield one(op, "f32:n,3,m", "i32:n,2", K(1), **kw)
    yield one("Gather", "f32:3,m", "i32:n,2")
    yield one("GatherNd", "f32:3,3,m", "i32:n,2")
    yield one("RegexReplace", "string:n", K("a", "string"), K("b", "string"))
    yield one("RegexFullMatch", "string:n", K("a", "string"))
    yield one("StringToNumber", K(["1", "2"], "string"))
    yield one("FakeQuantWithMinMaxVars", f, "f32:", "f32:")
    yield one("FakeQuantWithMinMaxVarsPerChannel", "f32:n,3", "f32:3", "f32:3")
    yield one("QuantizeAndDequantizeV2", f, "f32:", "f32:")
    yield one("Switch", "f32:n,3", "bool:")


def lists(value):
    return [v for a in value for v in lists(a)] if isinstance(value, (list, tuple)) else [value]


def build(case, k, feeds):
    """The nodes of a case in the k-th variant; feeds gets a function for each placeholder."""
    op, args, attrs = case
    dims, how = VARIANTS[k]
    count = [0]

    def placeholder(dtype, shape, make):
        p = v1.placeholder(DT[dtype], shape)
        feeds[p.op.name] = make
        return p

    def tensor(a, at):
        kind = {"first": "none" if at else "open", "others": "open" if at else "none"}.get(dims, dims)
        shape = {"fixed": a.shape(SIZES[0]), "open": [d if isinstance(d, int) else None for d in a.dims], "none": None}[kind]
        env = SIZES[0] if dims == "fixed" else None
        return placeholder(a.dtype, shape, lambda rng, e: a.make(rng, env or e))

    def given(a):
        at = count[0]
        count[0] += 1
        if isinstance(a, list):
            count[0] = at
            return [given(b) for b in a]
        if isinstance(a, D):
            return tensor(a, at)
        if isinstance(a, S):
            return a.change(r.Shape(input=tensor(a.like, 0 if dims == "others" else at)))
        if how == "const":
            return tf.constant(a.a)
        return placeholder(NAMES[a.a.dtype.name] if a.a.dtype.kind not in "OUS" else "string", None if how == "none" else a.a.shape, lambda rng, e: a.a)

    parameters = [p for p in inspect.signature(getattr(r, op)).parameters if p not in ("name", *attrs)]
    return getattr(r, op)(**dict(zip(parameters, [given(a) for a in args])), **attrs)


def main():
    tool, out = sys.argv[1:]
    lines, wrong, total = [], 0, dict(equal=0, more=0, less=0, contradicts=0)
    less, refused = {}, 0
    for case in cases():
        feeds = {}
        with tf.Graph().as_default() as g:
            try:
                for k in range(len(VARIANTS)):
                    build(case, k, feeds)
            except (ValueError, TypeError, NotImplementedError) as e:
                refused += 1
                print("refused:", case[0], VARIANTS[k], e)
                continue
        def_ = g.as_graph_def()
        tensors = {t.op.name + (f":{i}" if i else ""): t for op in g.get_operations() for i, t in enumerate(op.outputs) if op.type not in ("Const",)}
        runs = []
        for env in SIZES:
            with v1.Session(graph=g) as s:
                made = {}
                if env["n"] == 0 and case[0] in EMPTY:
                    continue
                feed = {f"{n}:0": m(np.random.default_rng(5), env) for n, m in feeds.items()}
                try:
                    made = s.run(tensors, feed)
                except tf.errors.OpError:  # of some; one by one
                    for name, t in tensors.items():
                        try:
                            made[name] = s.run(t, feed)
                        except tf.errors.OpError:
                            continue
            runs.append({n: [NAMES[tensors[n].dtype.name], *np.shape(v)] for n, v in made.items() if tensors[n].op.type != "Placeholder"})
        if not any(runs):
            refused += 1
            print("no run:", case[0], case[2])
            continue
        with tempfile.NamedTemporaryFile(suffix=".pb") as f:
            f.write(def_.SerializeToString())
            f.flush()
            said = json.loads(subprocess.run([tool, f.name], capture_output=True, text=True, check=True).stdout)
        if "error" in said:
            sys.exit(f"{case[0]}: {said['error']}")
        known = [0] * 6
        for v in said["values"]:
            if not v["op"]:
                continue
            known[0] += v["dtype"] != ""
            if v["dims"] is not None:
                known[1] += 1
                for low, high in v["dims"]:
                    known[2] += low == high
                    known[3] += 0 <= high < 2**31 - 1
                    known[4] += low
            for run in runs:
                if v["name"] in run:
                    dtype, *shape = run[v["name"]]
                    if judge(v, dtype, shape) == "contradicts":
                        wrong += 1
                        print("FALSE", case[0], case[2], v, dtype, shape)
            if v["name"] in tensors:
                t = tensors[v["name"]]
                kind = judge(v, NAMES[t.dtype.name], dims_of(t))
                total[kind] += 1
                if kind == "contradicts":
                    print("CONTRADICTS", case[0], case[2], v, t)
                if kind == "less":
                    less.setdefault(case[0], []).append((dims_of(t), v["rank"], v["dims"], case[2]))
        lines.append(json.dumps(dict(model=def_.SerializeToString().hex(), runs=runs, known=known)))
    for op, list_ in less.items():
        print("less:", op, len(list_), list_[0])
    print(len(lines), "graphs; beside TensorFlow's inference:", total, ";", wrong, "false,", refused, "cases without a run")
    if wrong or refused:
        sys.exit(1)
    with gzip.GzipFile(out, "wb", mtime=0) as f:
        f.write("\n".join(lines).encode() + b"\n")


main()
