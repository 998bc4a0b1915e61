"""Where live peers are known to depart from their own specifications, and rival.py's verdicts.

A difference has a name, the numbers of the rules that it departs from (docs/rules.md),
and a test of the case and of both answers. Every one that a run meets is counted and
printed under its name.
"""
import json
import os
import re

import numpy as np

from rival_cases import BITS, LIMITS, Case, Refused, Tensor, answer
from rival_computed import ELEMENTS, INPUTS, named, numbers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


with open(os.path.join(ROOT, "docs", "rules.md"), encoding="utf-8") as _f:
    RULES = set(re.findall(r"\*\*(\w+\.\d+)\*\*", _f.read()))


class Difference:
    def __init__(self, name, peers, rules, says, test):
        missing = [r for r in rules.split() if r not in RULES]
        if missing:
            raise ValueError("%s: docs/rules.md has no rule %s" % (name, ", ".join(missing)))
        self.name, self.peers, self.rules, self.says, self.test = name, peers.split(), rules, says, test


class View:
    """A case with both answers, as the tests of differences see it."""

    def __init__(self, case, want, got):
        self.case, self.op, self.want, self.got = case, case.op, want, got
        self.a, self.d, self.ix = case.attributes, case.data, case.indices or Tensor.of("i64", [], [0])
        self.computes, self.indexed = case.op in INPUTS, case.indices is not None
        self.refused = want.kind if isinstance(want, Refused) else None   # the class of error that is right
        self.output = got.get("output")                                   # the peer's result
        self.error = got.get("error")                                     # its message
        self.crash = got.get("crash")


DIFFERENCES = []


def difference(name, peers, rules, says):
    def add(test):
        DIFFERENCES.append(Difference(name, peers, rules, says, test))
        return test
    return add


def at_risk(v):
    """Whether an index is outside, and the peer did not say so: it answered, or it read other memory and was ended."""
    return v.refused == "index-out-of-range" and (v.output is not None or v.crash is not None)


def flat(t):
    return t.array.ravel().tolist()


def as_far_as(v, same):
    """Whether the peer's answer has the right dtype and shape, and every pair of elements is the same in some sense."""
    return (isinstance(v.want, Tensor) and v.output is not None and v.output.dtype == v.want.dtype and v.output.shape == v.want.shape
            and all(a == b or same(a, b) for a, b in zip(flat(v.want), flat(v.output))))


# What several peers share.

@difference("no element, no check", "numpy onnx onnxruntime torch tensorflow tflite openvino jax", "R.7",
            "indices are not looked at where the result has no element")
def _(v):
    return v.refused == "index-out-of-range" and v.output is not None and v.output.array.size == 0


@difference("no element, no rule", "onnx onnxruntime torch tensorflow jax", "R.1 RG.2 XE.1 XN.3 Tnd.4",
            "where the indices or the result have no element, their type, rank and extents are not looked at")
def _(v):
    return v.refused not in (None, "index-out-of-range") and v.output is not None and v.output.array.size == 0


@difference("the least axis means none", "numpy onnx", "NT.3 XG.2", "axis -2147483648, NumPy's own sign for no axis, takes data flat")
def _(v):
    return v.refused == "axis-out-of-range" and v.a.get("axis") == -2 ** 31


@difference("indices that are no integers", "numpy onnx openvino", "R.1", "booleans, and in the ONNX reference and OpenVINO floats, are converted to integers")
def _(v):
    return v.refused == "dtype" and v.output is not None


# NumPy and the ONNX reference, which calls it.

@difference("the upper half of u64 is negative", "numpy", "R.3 NA.5", "take_along_axis counts an index of 2^63 and more from the end: 2^64-1 is -1")
def _(v):
    if v.op != "numpy.take_along_axis" or v.ix.dtype != "u64" or v.refused != "index-out-of-range" or v.output is None:
        return False
    signed = [i - 2 ** 64 if i >= 2 ** 63 else i for i in flat(v.ix)]
    again = answer(Case(v.op, v.a, v.d, Tensor.of("i64", signed, v.ix.shape)))
    return isinstance(again, Tensor) and again.same(v.output)


@difference("GatherElements is numpy.choose", "onnx", "XE.4", "an index outside is taken modulo the axis")
def _(v):
    return "GatherElements" in v.op and v.refused == "index-out-of-range" and v.output is not None


@difference("GatherElements of fewer rows", "onnx", "XE.3", "indices whose extents off the axis are smaller are refused, and so are more than 32 rows")
def _(v):
    return "GatherElements" in v.op and v.error is not None and ("should be the same size" in v.error or "at most" in v.error or "array objects" in v.error or "same length" in v.error or "zip()" in v.error or "shorter" in v.error)


@difference("GatherElements takes rows", "onnx", "XE.3", "of more than 32 rows of a matrix it takes the first component of each row of indices")
def _(v):
    return "GatherElements" in v.op and isinstance(v.want, Tensor) and v.d.array.ndim <= 2 and max(v.d.shape, default=0) > 31


@difference("GatherND of no component", "onnx", "R.18 XN.4", "a reshape with an unknown extent fails where an operand has no element")
def _(v):
    return "GatherND" in v.op and v.error is not None and "cannot reshape array of size 0" in v.error


@difference("scalars and batches unchecked", "onnx", "XG.1 XN.1 XN.2 XN.4", "scalar data, and batch_dims that the ranks or extents forbid, are computed where NumPy can")
def _(v):
    return v.refused in ("rank", "batch-dims") and v.output is not None


# ONNX Runtime.

@difference("batch_dims refused", "onnxruntime", "MN.4", "com.microsoft.GatherND has no batch_dims, which its page's third example sets")
def _(v):
    return v.op.startswith("com.microsoft") and v.error is not None and "Unrecognized attribute: batch_dims" in v.error


@difference("strings cut", "onnxruntime", "R.16 XG.3", "of a slice of several strings only some are copied; the others are empty")
def _(v):
    return v.d.dtype == "string" and as_far_as(v, lambda a, b: b == "")


@difference("a scalar repeated", "onnxruntime", "XN.1 MN.1", "empty tuples of GatherND repeat data of rank 0, where the model does not declare its rank")
def _(v):
    if "GatherND" not in v.op or v.refused != "rank" or v.output is None:
        return False
    scalar = v.d.array.ndim == 0 and v.ix.shape[-1:] == (0,) and v.output.shape == v.ix.shape[:-1]
    return scalar and all(e == flat(v.d)[0] for e in flat(v.output))


@difference("a negative batch_dims ends the process", "onnxruntime", "XN.2", "GatherND with a batch_dims below 0 may end the process instead of being refused")
def _(v):
    return "GatherND" in v.op and v.refused in ("rank", "batch-dims") and v.crash is not None and v.a.get("batch_dims", 0) < 0


# PyTorch.

@difference("indices modulo the axis", "torch", "RA.5", "take_along_dim with a dim takes every index modulo its axis")
def _(v):
    if v.op != "torch.take_along_dim" or v.refused != "index-out-of-range" or v.output is None:
        return False
    again = answer(Case(v.op, v.a, v.d, v.ix, policy={"negative": "from-end", "outside": "wrap"}))
    return isinstance(again, Tensor) and again.same(v.output)


# TensorFlow and TFLite.

@difference("batches flat", "tensorflow", "TB.3", "batch_gather adds an index to its batch's first row: one outside reads another batch, or is refused at the end of data")
def _(v):
    return v.op == "tensorflow.batch_gather" and v.refused == "index-out-of-range" and v.output is not None


@difference("empty params refused", "tensorflow tflite", "R.7 TNd.3 TNd.5 LN.3", "gather_nd refuses params without elements where there are tuples")
def _(v):
    return v.error is not None and ("params is empty" in v.error or "NumElements(params)" in v.error)


@difference("at most 7 components", "tensorflow tflite", "TNd.2 LN.2", "tuples have 7 components at most")
def _(v):
    return v.error is not None and "between 1 and 7" in v.error


@difference("batch_gather of i16", "tensorflow", "R.1", "the range that batch_gather adds has no kernel of 16 bits")
def _(v):
    return v.op == "tensorflow.batch_gather" and v.ix.dtype == "i16" and v.error is not None and "Range" in v.error


@difference("strings of at most 32 dims", "tensorflow", "R.4", "a result of strings becomes a NumPy array only up to 32 dims")
def _(v):
    return v.d.dtype == "string" and v.error is not None and "32 dimensions" in v.error


@difference("axis 0 has no batch_dims", "tensorflow", "Tg.3", "tf.gather does not look at batch_dims where axis is 0")
def _(v):
    return v.op == "tensorflow.gather" and v.refused == "batch-dims" and v.output is not None and v.a.get("axis") == 0


@difference("batch_dims of scalar indices", "tensorflow", "Tg.3 TG2.3", "with scalar indices a batch_dims of -1 is let through")
def _(v):
    return v.refused == "batch-dims" and v.ix.array.ndim == 0 and v.output is not None


@difference("a table without rows", "tflite", "LE.2", "EMBEDDING_LOOKUP reads other memory where the table has no rows")
def _(v):
    return v.op == "tflite.EMBEDDING_LOOKUP" and v.d.shape[:1] == (0,) and at_risk(v)


@difference("the sum of a tuple", "tflite", "LN.4", "GATHER_ND checks the position in data, not each component")
def _(v):
    return v.op == "tflite.GATHER_ND" and v.refused == "index-out-of-range" and v.output is not None


@difference("the least axis ends the process", "tensorflow", "Tg.2 TG2.2", "axis -2^63 ends the process instead of being refused")
def _(v):
    return v.refused == "axis-out-of-range" and v.crash is not None and v.a.get("axis") == -2 ** 63


# JAX.

@difference("an empty axis clamped", "jax", "R.15 JT.5", "clip and wrap answer for an empty axis")
def _(v):
    return v.op.startswith("jax.numpy") and v.refused == "index-out-of-range" and v.output is not None and 0 in v.d.shape


@difference("packed indices", "jax", "R.1", "XLA has no batched gather with indices of less than 8 bits, nor without components")
def _(v):
    return v.error is not None and ("sub-byte types" in v.error or "list index out of range" in v.error)


@difference("indices narrowed", "jax", "R.3", "positions are computed in the indices' own type: lengths that it lacks and unsigned values of its upper half come out as others")
def _(v):
    if v.error is not None:
        return "out of bounds for" in v.error
    return as_far_as(v, lambda a, b: True) and (v.ix.dtype[0] == "u" or BITS[v.ix.dtype] <= 16)


@difference("another NaN for the fill", "jax", "JG.4", "the NaN of f8e5m2 is 7f, or 7e after a conversion")
def _(v):
    return v.op.startswith("jax") and v.d.dtype == "f8e5m2" and as_far_as(v, lambda a, b: (a, b) == (0x7e, 0x7f))


@difference("disputed NaNs", "jax", "R.2", "signalling NaNs are quieted, as testdata/disputed.txt says")
def _(v):
    return (v.op, v.d.dtype) in DISPUTED and isinstance(v.want, Tensor) and v.output is not None and v.want.same_but_nan(v.output)


# OpenVINO.

@difference("indices unchecked", "openvino", "OG1.4 OG7.5 ON5.6 ON8.5 OE6.4", "an index outside gives zeros or other memory, or ends the process")
def _(v):
    return at_risk(v)


@difference("packed elements", "openvino", "R.2", "elements of less than 8 bits are read from wrong places, or end the process")
def _(v):
    return BITS[v.d.dtype] in (1, 2, 4) and isinstance(v.want, Tensor) and v.error is None and not v.computes


@difference("64 bits as 32", "openvino", "R.2", "i64, u64 and f64 are computed in 32 bits")
def _(v):
    if v.d.dtype == "f64":
        # As f32: what that holds exactly is unchanged.
        return as_far_as(v, lambda a, b: as_f32(a) != a)
    return v.d.dtype in ("i64", "u64") and as_far_as(v, lambda a, b: (a - b) % 2 ** 32 == 0)


@difference("NaNs quieted", "openvino torch", "R.2", "signalling NaNs of f16 are quieted, and in OpenVINO those of bf16 and f64, by a conversion through f32")
def _(v):
    return v.d.dtype in ("f16", "bf16", "f64") and isinstance(v.want, Tensor) and v.output is not None and v.want.same_but_nan(v.output)


@difference("division by zero", "openvino", "R.18", "Gather ends the process where an operand has no element")
def _(v):
    return v.crash == "ended by SIGFPE" and 0 in v.d.shape + v.ix.shape


@difference("GatherND of no component", "openvino", "R.18 ON5.5 ON8.4", "nothing is written where k is 0: the result is other memory")
def _(v):
    return "GatherND" in v.op and v.ix.array.ndim > 0 and v.ix.shape[-1] == 0 and v.error is None


@difference("an empty axis read", "openvino", "OG8.6", "Gather-8 gives other memory where the axis is empty, instead of zeros")
def _(v):
    return v.op == "openvino.Gather-8" and 0 in v.d.shape and v.output is not None and as_far_as(v, lambda a, b: True)


@difference("narrow indices of strings", "openvino", "R.1", "strings are gathered with indices of 32 and 64 bits alone")
def _(v):
    return v.d.dtype == "string" and v.error is not None


@difference("one batch at the axis", "openvino", "OG7.4 OG8.4", "Gather with batch_dims equal to the axis and one batch ends the process or takes another element")
def _(v):
    b = v.a.get("batch_dims", 0)
    b += v.ix.array.ndim if b < 0 else 0
    one = v.op in ("openvino.Gather-7", "openvino.Gather-8") and b > 0 and all(n == 1 for n in v.d.shape[:b])
    return one and isinstance(v.want, Tensor) and (v.crash is not None or as_far_as(v, lambda a, b: True))


@difference("indices of 32 bits", "openvino", "R.3", "indices are narrowed to 32 bits: 2^32 is row 0")
def _(v):
    return any(abs(i) >= 2 ** 31 for i in flat(v.ix)) and as_far_as(v, lambda a, b: True)


@difference("at most 31 dims", "openvino", "R.4", "a tensor has 31 dims at most")
def _(v):
    return v.error is not None and "bitset" in v.error


# Operators that compute. What several peers share comes first.

EPSILON = {"f64": 2.0 ** -52, "f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7}


def near(v, kept=False):
    """Which numbers of a peer's answer are as near to the right ones as rounding allows; None where dtype or shape differ.
    A zero is of the same sign; with kept, -0 may stand where +0 is right."""
    if not v.computes or not isinstance(v.want, Tensor) or v.output is None or v.output.dtype != v.want.dtype or v.output.shape != v.want.shape:
        return None
    if v.want.dtype not in EPSILON:
        return np.array([a == b for a, b in zip(flat(v.want), flat(v.output))], bool).reshape(v.want.shape)
    want, got = numbers(v.want).astype(np.float64), numbers(v.output).astype(np.float64)
    largest = 1.0
    for t in [v.want] + ([v.d] if v.d.dtype in EPSILON else []):
        a = np.abs(numbers(t).astype(np.float64))
        largest = max(largest, float(a[np.isfinite(a)].max(initial=0)))
    n = v.ix.array.size + 4
    with np.errstate(all="ignore"):
        close = np.abs(want - got) <= EPSILON[v.want.dtype] * n * n * largest
        close &= (want != 0) | (got != 0) | (np.signbit(want) == np.signbit(got)) | (kept & np.signbit(got))
    return close | ~np.isfinite(want) & ~np.isfinite(got)  # infinities of terms meet in another order


@difference("rounded otherwise", "tensorflow openvino", "R.29 R.30 TES.5 QB.7",
            "terms are added in wider types or another order, products are not rounded before they are added, or quotients are computed otherwise")
def _(v):
    ok = near(v)
    return ok is not None and bool(ok.all())


@difference("the only term keeps its sign", "tensorflow", "TES.5", "a bag whose only term is -0, weighted, is -0")
def _(v):
    ok = near(v, kept=True)
    return v.op.endswith("embedding_lookup_sparse") and "weights" in named(v.case) and ok is not None and bool(ok.all())


@difference("rows unwritten", "openvino", "R.33 OC.6", "bags without terms, and rows of indices outside, may be memory that nobody wrote")
def _(v):
    ok = near(v)
    if ok is None:
        return False
    blank = (v.want.array == 0).astype(bool)
    default = named(v.case).get("default_index") if v.case.extra else None
    if default is not None and 0 <= default.array < v.d.shape[0]:
        blank |= (v.want.array == v.d.array[int(default.array)]).astype(bool)
    return bool(np.all(ok | blank))


@difference("bags of some types", "openvino", "OBO.1 OBN.1 OBP.1 OBK.1 OBS.1", "of bf16, f64, i16, u16 and u32 nothing is written: the result is other memory")
def _(v):
    other = v.computes and v.d.dtype in ("bf16", "f64", "i16", "u16", "u32") and v.op not in ELEMENTS
    return other and v.output is not None and isinstance(v.want, Tensor) and v.output.shape == v.want.shape


@difference("means of integers", "openvino", "R.29 OBN.2 OBK.2", "sums of integers do not wrap before they are divided, and those of 64 bits are of 32")
def _(v):
    return v.computes and v.a.get("reduction") == "mean" and v.d.dtype in LIMITS and as_far_as(v, lambda a, b: True)


@difference("operands unchecked", "torch openvino", "R.31 R.32 R.35", "offsets, segments or weights that do not fit are let through, and other memory is read")
def _(v):
    return v.computes and v.op != "openvino.compressed-gather" and v.refused == "shape-mismatch" and v.error is None and bool(v.case.extra)


@difference("one type of indices", "openvino", "R.31 R.32", "offsets, segments and numbers of bags are i32 or i64, and all of the type of the indices")
def _(v):
    return v.computes and v.error is not None and "get_input_element_type" in v.error and isinstance(v.want, Tensor)


@difference("weights of another type", "torch tensorflow openvino", "R.35", "weights are converted to the type of the rows, or the rows to theirs")
def _(v):
    return v.computes and v.refused == "dtype" and v.output is not None and len(v.case.extra) > 1


@difference("other numbers", "tensorflow", "TES.1 TSS.1", "complex numbers are added too")
def _(v):
    return v.computes and v.refused == "dtype" and v.output is not None and v.d.dtype.startswith("complex")


@difference("integers without a kernel", "tensorflow torch openvino", "TES.1 TSS.1 TSM.1 REB.1 OBO.1", "means, products with weights or sums of some integer types have no kernel")
def _(v):
    return v.computes and v.error is not None and isinstance(v.want, Tensor) and v.d.dtype in LIMITS and v.case.op not in ELEMENTS


# PyTorch.

@difference("rows of a matrix alone", "torch", "RU.2", "a table of FBGEMM has two dims")
def _(v):
    return v.op == "torch.quantized_embedding_unpack" and v.error is not None and v.d.array.ndim != 2


@difference("no bag ends the process", "torch", "REB.6", "offsets without an element end the process where there are indices")
def _(v):
    ends = named(v.case).get("offsets") if v.computes else None
    return v.op == "torch.embedding_bag" and v.crash is not None and ends is not None and ends.array.size <= bool(v.a.get("include_last_offset"))


@difference("bags of no index", "torch", "REB.6", "a matrix of indices without columns is refused")
def _(v):
    return v.op == "torch.embedding_bag" and v.error is not None and "step must be nonzero" in v.error


@difference("unsigned offsets", "torch", "R.31", "offsets of 16 bits and unsigned ones are refused")
def _(v):
    return v.computes and v.error is not None and any(t.dtype in ("u16", "i16") for t in v.case.extra)


@difference("the last bag goes on", "torch", "REB.6", "with include_last_offset, the last bag of some sums and means takes the indices behind its end too, or counts them")
def _(v):
    ok = near(v)
    return v.op == "torch.embedding_bag" and bool(v.a.get("include_last_offset")) and ok is not None and bool(ok[:-1].all())


# ONNX Runtime.

@difference("scales of bf16", "onnxruntime", "MB.1", "there is no kernel for scales of bf16 on a CPU")
def _(v):
    return v.op in ELEMENTS and v.error is not None and "NOT_IMPLEMENTED" in v.error and v.case.extra[0].dtype == "bf16"


@difference("axes of u8", "onnxruntime", "MB.5", "codes of u8 lie along the last dim, and never along gather_axis, also those of 8 bits")
def _(v):
    return v.op in ELEMENTS and v.d.dtype == "u8" and v.error is not None and ("must be the last dimension" in v.error or "must not be the same" in v.error)


# TensorFlow.

@difference("bags unchecked", "tensorflow", "R.32", "an id of no bag of the result is left out, and bags of ids that are left out may fall")
def _(v):
    return v.op == "tensorflow.safe_embedding_lookup_sparse" and v.refused in ("index-out-of-range", "shape-mismatch") and v.output is not None


@difference("safe lookups of matrices", "tensorflow", "TSS.3", "safe_embedding_lookup_sparse takes a table of two dims alone")
def _(v):
    return v.op == "tensorflow.safe_embedding_lookup_sparse" and v.error is not None and v.d.array.ndim != 2


# gguf-py.

@difference("a table of no byte", "gguf", "GD.2 GR.3", "a table without a byte is not decoded")
def _(v):
    return v.error is not None and (v.d.array.size == 0 or v.indexed and 0 in v.ix.shape)


@difference("elements of a vector", "gguf", "GR.3", "rows of a vector are its bytes")
def _(v):
    return v.refused == "rank" and v.output is not None


@difference("bytes of another type", "gguf", "GD.2 GR.2", "data of any type are taken as bytes")
def _(v):
    return v.refused == "dtype" and v.output is not None


@difference("NumPy's indices", "gguf", "GR.4", "rows are taken by NumPy, so a negative index counts from the end")
def _(v):
    return v.refused == "index-out-of-range" and v.output is not None


def as_f32(code):
    """The bits of an f64 that went through f32."""
    with np.errstate(all="ignore"):
        value = np.frombuffer(code.to_bytes(8, "little"), np.float64)
        return int.from_bytes(value.astype(np.float32).astype(np.float64).tobytes(), "little")


def disputed_names():
    """The recordings that testdata/disputed.txt disputes: pairs of a file and a name."""
    with open(os.path.join(ROOT, "testdata", "disputed.txt"), encoding="utf-8") as f:
        return {tuple(line.split(" | ")[0].split()) for line in f if line.strip() and not line.startswith("#")}


def disputes():
    """The operators and dtypes whose NaNs a peer changes, by the disputed recordings."""
    names, found = disputed_names(), set()
    for file in {file for file, _ in names}:
        with open(os.path.join(ROOT, "testdata", "conformance", file), encoding="utf-8") as f:
            for line in f:
                d = json.loads(line)
                if (file, d["name"]) in names:
                    dtype = d["inputs"][0]["dtype"]
                    found.add((d["op"], {"bfloat16": "bf16", "float16": "f16"}.get(dtype, dtype)))
    return found


DISPUTED = disputes()


# The verdicts on a peer's answer.
AGREED, UNASKED, TYPES, FINDING = "agreed", "not asked", "refused: types", "finding"


def judge(peer, case, want, got, types):
    """The verdict on a peer's answer: one of the four above, or a Difference. types are the dtypes
    of data and of indices that the peer takes for the operator."""
    if "unasked" in got:
        return UNASKED
    if isinstance(want, Refused):
        if "error" in got:
            return AGREED
    elif "output" in got and case.accepts(want, got["output"]):
        return AGREED
    if "error" in got and isinstance(want, Tensor) and (case.data.dtype not in types[0] or case.indices is not None and case.indices.dtype not in types[1]):
        return TYPES
    view = View(case, want, got)
    for d in DIFFERENCES:
        if peer in d.peers and d.test(view):
            return d
    return FINDING
