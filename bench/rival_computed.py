"""Random cases of operators that compute what they gather, and the answers of their specifications: bags,
and gathers of stored elements.

The definitions follow docs/rules.md and the pages that it names, and share no code with garner. NumPy does the
arithmetic of f32 and f64. f16 and bf16 are computed in f32 and rounded: as f32 has more than twice their bits, that is
one rounding of the exact result. Integers are Python's.
"""
import math

import numpy as np

from rival_cases import BITS, LIMITS, MAKERS, NAN, Case, Refused, Tensor, along, axis_of, blank, define, need, reader

CALCULABLE = ["f32", "f64", "f16", "bf16"] + [name for name in LIMITS if BITS[name] >= 8]
FLOATS = CALCULABLE[:4]

# What each operator takes behind the indices: an operand of the call, or a number that the command takes as an attribute.
OPERAND, NUMBER = "operand", "attr"
INPUTS = {
    "torch.embedding_bag": [("offsets", OPERAND), ("per_sample_weights", OPERAND)],
    "torch.quantized_embedding": [], "torch.quantized_embedding_unpack": [],
    "torch.quantized_embedding_bag": [("offsets", OPERAND), ("per_sample_weights", OPERAND)],
    "openvino.EmbeddingBagOffsetsSum-3": [("offsets", OPERAND), ("default_index", NUMBER), ("per_sample_weights", OPERAND)],
    "openvino.EmbeddingBagOffsets-15": [("offsets", OPERAND), ("default_index", NUMBER), ("per_sample_weights", OPERAND)],
    "openvino.EmbeddingBagPackedSum-3": [("per_sample_weights", OPERAND)],
    "openvino.EmbeddingBagPacked-15": [("per_sample_weights", OPERAND)],
    "openvino.EmbeddingSegmentsSum-3": [("segment_ids", OPERAND), ("num_segments", NUMBER), ("default_index", NUMBER), ("per_sample_weights", OPERAND)],
    "openvino.compressed-gather": [("scale", OPERAND), ("zero_point", OPERAND)],
    "com.microsoft.GatherBlockQuantized-1": [("scales", OPERAND), ("zero_points", OPERAND)],
    "tensorflow.embedding_lookup_sparse": [("ids_indices", OPERAND), ("dense_shape", NUMBER), ("weights", OPERAND)],
    "tensorflow.safe_embedding_lookup_sparse": [("ids_indices", OPERAND), ("dense_shape", NUMBER), ("weights", OPERAND)],
    "tensorflow.sparse_segment_sum": [("segment_ids", OPERAND), ("num_segments", NUMBER)],
    "tensorflow.sparse_segment_mean": [("segment_ids", OPERAND), ("num_segments", NUMBER)],
    "tensorflow.sparse_segment_sqrtn": [("segment_ids", OPERAND), ("num_segments", NUMBER)],
    "gguf.get_rows": [], "gguf.dequantize": [],
    "tflite.hybrid-embedding-lookup": [("scale", OPERAND)],
}
# The dtype of data that holds elements of its own; others hold those of any dtype that calculates.
ELEMENTS = {op: {"openvino.compressed-gather": "u4", "tflite.hybrid-embedding-lookup": "i8"}.get(op, "u8") for op in INPUTS
            if "mbedding_bag" != op[-12:] and ("quantized" in op or op.startswith(("gguf", "com.", "openvino.compressed", "tflite.")))}
UNINDEXED = ("torch.quantized_embedding_unpack", "gguf.dequantize")


def named(case):
    """The inputs behind the indices, by name."""
    return {name: t for (name, _), t in zip(INPUTS[case.op], case.extra)}


# ---------------------------------------------------------------- numbers

SMALL = {"f8e4m3fn": (4, 3, 7), "f8e5m2": (5, 2, 15), "f8e4m3fnuz": (4, 3, 8), "f8e5m2fnuz": (5, 2, 16), "f4e2m1": (2, 1, 1)}
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
       0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)


def small_float(dtype, code):
    """The value of a float of 8 or 4 bits."""
    exponents, mantissas, bias = SMALL[dtype]
    sign, e, m = code >> exponents + mantissas & 1, code >> mantissas & (1 << exponents) - 1, code & (1 << mantissas) - 1
    if dtype.endswith("fnuz") and code == 0x80 or dtype == "f8e4m3fn" and code & 0x7f == 0x7f or dtype == "f8e5m2" and e == 31 and m:
        return math.nan
    if dtype == "f8e5m2" and e == 31:
        return -math.inf if sign else math.inf
    v = math.ldexp(m, 1 - bias - mantissas) if e == 0 else math.ldexp((1 << mantissas) + m, e - bias - mantissas)
    return -v if sign else v


def brain(a):
    """f32 values rounded to those of bf16."""
    bits = a.astype(np.float32).view(np.uint32).astype(np.uint64)
    near = (bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(a), a, near).astype(np.float32)


def away_from_zero(a):
    """f32 values rounded to those of bf16, of two as near the one farther from 0."""
    bits = a.astype(np.float32).view(np.uint32).astype(np.uint64)
    return np.where(np.isnan(a), a, (bits + 0x8000 & 0xffff0000).astype(np.uint32).view(np.float32)).astype(np.float32)


def half(a):
    """f32 values rounded to those of f16."""
    return a.astype(np.float16).astype(np.float32)


ROUND = {"f16": half, "bf16": brain}


def numbers(t):
    """The elements of a tensor as an array that NumPy calculates with: of f64, of f32, or of Python's integers."""
    codes = t.array.ravel().tolist()
    if t.dtype in LIMITS:
        a = np.empty(len(codes), object)
        a[:] = codes
    elif t.dtype == "nf4":
        a = np.array([NF4[c] for c in codes], np.float32)
    elif t.dtype in SMALL:
        a = np.array([small_float(t.dtype, c) for c in codes], np.float32)
    elif t.dtype == "bf16":
        a = (np.array(codes, np.uint32) << np.uint32(16)).view(np.float32)
    elif t.dtype == "f16":
        a = np.array(codes, np.uint16).view(np.float16).astype(np.float32)
    else:
        a = np.array(codes, {"f32": np.uint32, "f64": np.uint64}[t.dtype]).view({"f32": np.float32, "f64": np.float64}[t.dtype])
    return a.reshape(t.shape)


def coded(dtype, a):
    """The array's numbers, which the dtype has, as a Tensor."""
    if dtype in LIMITS:
        return Tensor.of(dtype, a.ravel().tolist(), a.shape)
    bits = {"f64": lambda: a.astype(np.float64).view(np.uint64), "f32": lambda: a.astype(np.float32).view(np.uint32),
            "f16": lambda: a.astype(np.float16).view(np.uint16), "bf16": lambda: brain(a).view(np.uint32) >> np.uint32(16)}[dtype]()
    return Tensor.of(dtype, bits.ravel().tolist(), a.shape)


def towards_zero(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def through_float(dtype, a, b):
    """A quotient of integers of 64 bits as f64, cut: what the dtype does not hold is what x86 makes of it."""
    q = int(float(a) / float(b))
    low, high = LIMITS[dtype]
    return q if q <= high else low if low < 0 else 1 << 63


class Arithmetic:
    """Sums, products and quotients of arrays of one dtype, each rounded once; integers wrap."""

    def __init__(self, dtype):
        self.integer = dtype in LIMITS
        if self.integer:
            low, high = LIMITS[dtype]
            self.done = np.frompyfunc(lambda v: (v - low) % (high - low + 1) + low, 1, 1)
        else:
            self.wide = np.float64 if dtype == "f64" else np.float32
            self.done = ROUND.get(dtype, lambda a: a)

    def of(self, n):
        return n if self.integer else self.wide(n)

    def add(self, a, b):
        return self.done(a + b)

    def mul(self, a, b):
        return self.done(a * b)

    def div(self, a, b):
        return self.done(np.frompyfunc(towards_zero, 2, 1)(a, b) if self.integer else np.divide(a, b))

    def sqrt(self, a):
        return self.done(np.sqrt(a))


def rounded_once(a, b, c):
    """a·b + c in f32: the product is exact in f64, and the sum is rounded to odd, then to f32."""
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    p, c = np.broadcast_arrays(p, c)
    s = p + c
    part = s - p
    error = p - (s - part) + (c - part)
    even = s.copy().view(np.uint64) & np.uint64(1) == 0
    odd = np.where((error > 0) & even, np.nextafter(s, np.inf), np.where((error < 0) & even, np.nextafter(s, -np.inf), s))
    return odd.astype(np.float32)


# ---------------------------------------------------------------- bags

def calculates(c, weights=None, float_only=False):
    """R.34, R.35."""
    need(c.case.data.dtype in CALCULABLE, "dtype")
    need(c.case.data.dtype in FLOATS or not float_only, "dtype")
    need(weights is None or weights.dtype == c.case.data.dtype, "dtype")


def whole(t):
    """The integers of an input."""
    need(t.dtype in LIMITS, "dtype")
    return t.array


def begins(offsets, n, first_is_zero, last):
    """R.31: where each bag begins, and where the last one ends."""
    need(offsets.ndim == 1, "rank")
    ends = offsets.tolist()
    need(ends or not last, "shape-mismatch")
    need(not ends or not first_is_zero or ends[0] == 0, "shape-mismatch")
    bounds = ends if last else ends + [n]
    need(all(0 <= v <= n for v in ends) and all(a <= b for a, b in zip(ends, ends[1:])), "shape-mismatch")
    return [range(a, b) for a, b in zip(bounds, bounds[1:])]


def segmented(segments, n, count):
    """R.32: the terms of each bag; without a count, the last segment says how many bags there are."""
    ids = segments.tolist()
    need(len(ids) == n, "shape-mismatch")
    need(all(a <= b for a, b in zip(ids, ids[1:])), "shape-mismatch")
    if count is None:
        count = ids[-1] + 1 if ids else 0
    need(all(0 <= v < count for v in ids), "index-out-of-range")
    return [[t for t in range(n) if ids[t] == b] for b in range(count)]


def pool(c, table, bags, how, weights=None, from_zero=False, reciprocal=False, rounded=False, left_out=lambda t, row: False, empty=None, late=False, add=None, away=False):
    """R.29, R.30, R.33: the rows of each bag, reduced. empty is the row of a bag without terms; late says that it is
    looked at only where there is such a bag. add, if given, makes a sum, a row and a weight into the next sum. away says that
    sums of bf16 halfway between two are rounded away from 0."""
    s, columns = table.shape[0], table.shape[1:]
    dtype = "f32" if table.dtype == np.float32 and c.case.data.dtype == "u8" else c.case.data.dtype
    calc = Arithmetic("f32" if dtype in ROUND else dtype)
    ids = c.ix.ravel().tolist()
    if weights is not None:
        need(weights.shape == c.ix.shape, "shape-mismatch")
        weights = numbers(weights).ravel()
    need(all(0 <= v < s for t, v in enumerate(ids) if not left_out(t, v)), "index-out-of-range")
    bags = [[t for t in terms if not left_out(t, ids[t])] for terms in bags]
    if empty is not None and not 0 <= empty < s:
        need(late and all(bags), "index-out-of-range")
    out = np.zeros((len(bags),) + columns, table.dtype)
    for b, terms in enumerate(bags):
        if not terms:
            if empty is not None:
                out[b] = table[empty]
            continue
        total = None
        for t in terms:
            if add is not None:
                total = add(np.zeros(columns, np.float32) if total is None else total, ids[t], None if weights is None else weights[t])
                continue
            row = table[ids[t]] if weights is None else calc.mul(table[ids[t]], weights[t])
            if total is None:
                total = calc.add(row, calc.of(0)) if from_zero and how != "max" else row
            elif how == "max":
                total = np.where(row > total, row, total)
            else:
                total = calc.add(total, row)
        if how in ("mean", "sqrtn"):
            total = (away_from_zero if away and dtype == "bf16" else ROUND[dtype])(total) if rounded and dtype in ROUND else total
            n = calc.of(len(terms))
            if weights is not None:
                n = calc.of(0)
                for t in terms:
                    n = calc.add(n, calc.mul(weights[t], weights[t]) if how == "sqrtn" else weights[t])
            n = calc.sqrt(n) if how == "sqrtn" else n
            if reciprocal and weights is None and not calc.integer:
                total = calc.mul(total, calc.div(calc.of(1), n))
            elif weights is not None and dtype in ("i64", "u64") and n:
                total = np.frompyfunc(lambda v: through_float(dtype, v, n), 1, 1)(total)  # TES.5
            else:
                total = calc.div(total, n) if n else np.zeros_like(total)  # TES.5
        elif away and dtype == "bf16" and how == "sum":
            total = away_from_zero(total)
        out[b] = ROUND[dtype](total) if dtype in ROUND else total
    return coded(dtype, out)


def matrix_or_offsets(c, table, offsets, last):
    """The bags of PyTorch."""
    need(table.ndim == 2, "rank")
    if offsets is None:
        need(c.ix.ndim == 2, "rank")
        n = c.ix.shape[1]
        return [range(b * n, (b + 1) * n) for b in range(c.ix.shape[0])]
    need(c.ix.ndim == 1, "rank")
    return begins(offsets, c.ix.size, True, last)


@define("torch.embedding_bag", knows=("mode", "include_last_offset", "padding_idx"))
def embedding_bag(c):
    more = named(c.case)
    weights, offsets = more.get("per_sample_weights"), more.get("offsets")
    calculates(c, weights)
    offsets = None if offsets is None else whole(offsets)
    how = c.word("mode", ("mean", "sum", "max"))
    c.check()
    need(weights is None or how == "sum", "attribute")
    table, padding = numbers(c.case.data), c.get("padding_idx")
    need(table.ndim == 2, "rank")
    if padding is not None:
        need(-table.shape[0] <= padding < table.shape[0], "attribute")
        padding %= table.shape[0]
    bags = matrix_or_offsets(c, table, offsets, c.get("include_last_offset", False))
    add = None
    if padding is None and weights is not None and c.case.data.dtype in ("f32", "f16", "bf16"):  # REB.7
        add = lambda total, row, weight: rounded_once(table[row], np.float32(weight), total)
    return pool(c, table, bags, how, weights, from_zero=True, rounded=True, left_out=lambda t, row: row == padding, add=add, away=padding is None)  # REB.7


def openvino_table(c, weights):
    calculates(c, weights)
    table = numbers(c.case.data)
    need(table.ndim >= 1, "rank")
    return table


@define("openvino.EmbeddingBagOffsetsSum-3")
@define("openvino.EmbeddingBagOffsets-15", knows=("reduction",))
def embedding_bag_offsets(c):
    more = named(c.case)
    weights, empty = more.get("per_sample_weights"), more.get("default_index")
    table, offsets = openvino_table(c, weights), whole(more["offsets"])
    how = c.word("reduction", ("sum", "mean"))
    c.check()
    need(weights is None or how == "sum", "attribute")
    need(c.ix.ndim == 1, "rank")
    empty = None if empty is None or int(whole(empty)) == -1 else int(empty.array)
    return pool(c, table, begins(offsets, c.ix.size, False, False), how, weights, empty=empty)


@define("openvino.EmbeddingBagPackedSum-3")
@define("openvino.EmbeddingBagPacked-15", knows=("reduction",))
def embedding_bag_packed(c):
    weights = named(c.case).get("per_sample_weights")
    table = openvino_table(c, weights)
    how = c.word("reduction", ("sum", "mean"))
    c.check()
    need(weights is None or how == "sum", "attribute")
    need(c.ix.ndim == 2, "rank")
    n = c.ix.shape[1]
    return pool(c, table, [range(b * n, (b + 1) * n) for b in range(c.ix.shape[0])], how, weights)


@define("openvino.EmbeddingSegmentsSum-3")
def embedding_segments_sum(c):
    more = named(c.case)
    weights, empty = more.get("per_sample_weights"), more.get("default_index")
    table, segments, count = openvino_table(c, weights), whole(more["segment_ids"]), int(whole(more["num_segments"]))
    c.check()
    need(count >= 0, "attribute")
    need(c.ix.ndim == 1 and segments.ndim == 1, "rank")
    empty = None if empty is None else int(whole(empty))
    return pool(c, table, segmented(segments, c.ix.size, count), "sum", weights, empty=empty, late=empty == -1)


@define("tensorflow.embedding_lookup_sparse", knows=("combiner",))
@define("tensorflow.safe_embedding_lookup_sparse", knows=("combiner", "default_id"))
def lookup_sparse(c):
    more = named(c.case)
    weights, where = more.get("weights"), whole(more["ids_indices"])
    how = c.word("combiner", ("mean", "sum", "sqrtn"))
    calculates(c, weights, float_only=how == "sqrtn")
    c.check()
    table = numbers(c.case.data)
    need(table.ndim >= 1 and c.ix.ndim == 1 and where.ndim == 2, "rank")
    safe = c.case.op == "tensorflow.safe_embedding_lookup_sparse"
    count = int(whole(more["dense_shape"])[0]) if safe else None
    need(count is None or count >= 0, "attribute")
    need(where.shape[0] == c.ix.size, "shape-mismatch")
    bags = segmented(where[:, 0], c.ix.size, count)
    light = numbers(weights).ravel() if weights is not None and how != "sum" else None
    left_out = lambda t, row: safe and (row < 0 or light is not None and t < len(light) and not light[t] > 0)
    return pool(c, table, bags, how, weights, weights is not None, True, False, left_out, c.get("default_id"), late=True)


@define("tensorflow.sparse_segment_sum")
@define("tensorflow.sparse_segment_mean")
@define("tensorflow.sparse_segment_sqrtn")
def sparse_segment(c):
    more, how = named(c.case), c.case.op.rsplit("_", 1)[1]
    calculates(c, float_only=how == "sqrtn")
    segments = whole(more["segment_ids"])
    c.check()
    table, count = numbers(c.case.data), None
    need(table.ndim >= 1 and c.ix.ndim == 1 and segments.ndim == 1, "rank")
    if "num_segments" in more:
        count = int(whole(more["num_segments"]))
        need(count >= 0, "attribute")
    return pool(c, table, segmented(segments, c.ix.size, count), how, None, False, True)


# ---------------------------------------------------------------- stored elements

def f16_at(b, at):
    return b[:, at:at + 2].copy().view("<f2").astype(np.float32)


def fields(raw, *shifts):
    """Fields of bytes [n, groups, m], those of one shift side by side: [n, groups, shifts, m]."""
    return raw[:, :, None, :] >> np.array(shifts, np.uint8)[None, None, :, None]


def nibbles(b, groups=1):
    """Codes of 4 bits: of each group of bytes the lower halves, then the upper ones."""
    n, each = len(b), b.shape[1] // groups
    return (fields(b.reshape(n, groups, each), 0, 4) & 15).reshape(n, groups, 2 * each)


def fives(b, at):
    """Codes of 5 bits, whose highest ones lie in 4 bytes before the nibbles."""
    high = b[:, at:at + 4].copy().view("<u4").astype(np.int64) >> np.arange(32) & 1
    return nibbles(b[:, at + 4:at + 20])[:, 0] | high << 4


IQ4 = np.array((-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113), np.float32)
FP4 = np.array((0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12), np.float32)  # twice the numbers


def twos(b):
    """Codes of 2 bits of 64 bytes: [n, 16, 16]."""
    return (fields(b.reshape(len(b), 2, 32), 0, 2, 4, 6) & 3).astype(np.int32).reshape(-1, 16, 16)


def sixes(s):
    """Eight scales and eight minimums of 6 bits in 12 bytes."""
    low, high = s[:, :4] & 63, s[:, 4:8] & 63
    scales = np.concatenate([low, s[:, 8:] & 15 | s[:, :4] >> 6 << 4], 1)
    minimums = np.concatenate([high, s[:, 8:] >> 4 | s[:, 4:8] >> 6 << 4], 1)
    return scales.astype(np.float32), minimums.astype(np.float32)


def q2_k(b):
    scales, codes = b[:, :16], twos(b[:, 16:80]).astype(np.float32)
    return (f16_at(b, 80) * (scales & 15))[:, :, None] * codes - (f16_at(b, 82) * (scales >> 4))[:, :, None]


def q3_k(b):
    s = b[:, 96:108]
    low = np.concatenate([s[:, :8] & 15, s[:, :8] >> 4], 1)
    high = np.concatenate([s[:, 8:] >> 2 * k & 3 for k in range(4)], 1)
    scales = (low | high << 4).astype(np.int32) - 32
    mask = (b[:, None, :32] >> np.arange(8, dtype=np.uint8)[None, :, None] & 1).reshape(-1, 16, 16)
    codes = twos(b[:, 32:96]) - np.where(mask, 0, 4)
    return (f16_at(b, 108) * scales.astype(np.float32))[:, :, None] * codes.astype(np.float32)


def k_of(b, codes):
    scales, minimums = sixes(b[:, 4:16])
    return (f16_at(b, 0) * scales)[:, :, None] * codes.astype(np.float32) - (f16_at(b, 2) * minimums)[:, :, None]


def q4_k(b):
    return k_of(b, nibbles(b[:, 16:144], 4).reshape(-1, 8, 32))


def q5_k(b):
    high = b[:, None, 16:48] >> np.arange(8, dtype=np.uint8)[None, :, None] & 1
    return k_of(b, nibbles(b[:, 48:176], 4).reshape(-1, 8, 32) | high << 4)


def q6_k(b):
    low = (fields(b[:, :128].reshape(-1, 2, 64), 0, 4) & 15).reshape(-1, 16, 16)
    high = (fields(b[:, 128:192].reshape(-1, 2, 32), 0, 2, 4, 6) & 3).reshape(-1, 16, 16)
    codes = (low | high << 4).astype(np.float32) - np.float32(32)
    return (f16_at(b, 208) * b[:, 192:208].view(np.int8).astype(np.float32))[:, :, None] * codes


def iq4_xs(b):
    high = b[:, 2:4].copy().view("<u2").astype(np.int32) >> 2 * np.arange(8) & 3
    low = np.stack([b[:, 4:8] & 15, b[:, 4:8] >> 4], 2).reshape(-1, 8).astype(np.int32)
    scales = ((low | high << 4) - 32).astype(np.float32)
    return (f16_at(b, 0) * scales)[:, :, None] * IQ4[nibbles(b[:, 8:], 8)]


def tq1_0(b):
    power = lambda raw, n: (raw[:, None, :].astype(np.int32) * 3 ** np.arange(n)[None, :, None] % 256 * 3 >> 8).reshape(len(raw), n * raw.shape[1]) - 1
    codes = np.concatenate([power(b[:, :32], 5), power(b[:, 32:48], 5), power(b[:, 48:52], 4)], 1)
    return codes.astype(np.float32) * f16_at(b, 52)


def mxfp4(b):
    e = b[:, :1].astype(np.uint32)
    scale = np.where(e < 2, np.uint32(0x00200000) << np.minimum(e, 1), np.maximum(e, 1) - 1 << 23).astype(np.uint32).view(np.float32)
    return scale * FP4[nibbles(b[:, 1:])[:, 0]]


def nvfp4(b):
    e = b[:, :4] & 0x7f
    scale = np.array([small_float("f8e4m3fn", v) if v < 0x7f else 480 for v in range(128)], np.float32)[e]
    scale = np.where(b[:, :4] == 0x7f, np.float32(0), scale) / np.float32(2)
    return scale[:, :, None] * FP4[nibbles(b[:, 4:], 4)]


# Each kind: the bytes and the elements of a block, where it has an f16, and the elements of blocks [n, bytes].
GGUF = {
    "F16": (2, 1, (0,), lambda b: f16_at(b, 0)),
    "BF16": (2, 1, (), lambda b: (b.copy().view("<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)),
    "Q4_0": (18, 32, (0,), lambda b: (nibbles(b[:, 2:])[:, 0].astype(np.float32) - 8) * f16_at(b, 0)),
    "Q4_1": (20, 32, (0, 2), lambda b: nibbles(b[:, 4:])[:, 0].astype(np.float32) * f16_at(b, 0) + f16_at(b, 2)),
    "Q5_0": (22, 32, (0,), lambda b: (fives(b, 2) - 16).astype(np.float32) * f16_at(b, 0)),
    "Q5_1": (24, 32, (0, 2), lambda b: fives(b, 4).astype(np.float32) * f16_at(b, 0) + f16_at(b, 2)),
    "Q8_0": (34, 32, (0,), lambda b: b[:, 2:].view(np.int8).astype(np.float32) * f16_at(b, 0)),
    "Q2_K": (84, 256, (80, 82), q2_k), "Q3_K": (110, 256, (108,), q3_k), "Q4_K": (144, 256, (0, 2), q4_k),
    "Q5_K": (176, 256, (0, 2), q5_k), "Q6_K": (210, 256, (208,), q6_k),
    "IQ4_NL": (18, 32, (0,), lambda b: f16_at(b, 0) * IQ4[nibbles(b[:, 2:])[:, 0]]), "IQ4_XS": (136, 256, (0,), iq4_xs),
    "TQ1_0": (54, 256, (52,), tq1_0),
    "TQ2_0": (66, 256, (64,), lambda b: (twos(b[:, :64]) - 1).reshape(-1, 256).astype(np.float32) * f16_at(b, 64)),
    "MXFP4": (17, 32, (), mxfp4), "NVFP4": (36, 64, (), nvfp4),
}
NOT_DECODED = ("IQ1_S", "IQ2_XS", "IQ3_S", "Q8_K", "Q8_1", "q4_k", "")


def stored_bytes(c):
    need(c.case.data.dtype == "u8", "dtype")
    c.check()
    need(c.d.ndim >= 1, "rank")
    return np.frombuffer(c.case.data.bytes(), np.uint8).reshape(c.d.shape)


@define("gguf.get_rows", "gguf.dequantize", knows=("type",))
def gguf_rows(c):
    kind = GGUF.get(c.get("type", ""))
    need(c.case.data.dtype == "u8", "dtype")
    c.check()
    need(kind is not None, "attribute")
    size, elements, _, decode = kind
    raw = stored_bytes(c)
    need(raw.shape[-1] % size == 0, "shape-mismatch")
    shape = raw.shape[:-1] + (raw.shape[-1] // size * elements,)
    table = decode(np.ascontiguousarray(raw.reshape(-1, size))).astype(np.float32).reshape(shape)
    if c.case.op == "gguf.dequantize":
        return coded("f32", table)
    need(table.ndim >= 2, "rank")
    return Tensor("f32", along(coded("f32", table).array, c.ix, 0, 0, reader("reject", "error")))


def fbgemm_parts(c, bits):
    """The codes of rows of FBGEMM, and a scale and a bias of each row."""
    raw = stored_bytes(c)
    tail = 8 if bits == 8 else 4
    need(raw.shape[-1] >= tail, "shape-mismatch")
    cut = raw.shape[-1] - tail
    codes = np.stack([raw[..., :cut] >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1)
    codes = codes.reshape(raw.shape[:-1] + (cut * (8 // bits),))
    scale, bias = np.moveaxis(np.ascontiguousarray(raw[..., cut:]).view("<f4" if bits == 8 else "<f2").astype(np.float32), -1, 0)
    return codes, scale, bias


def fbgemm(c, bits):
    """QB.6."""
    codes, scale, bias = fbgemm_parts(c, bits)
    return rounded_once(codes, scale[..., None], bias[..., None])


@define("torch.quantized_embedding", "torch.quantized_embedding_unpack", "torch.quantized_embedding_bag", knows=("bits", "include_last_offset"))
def quantized_embedding(c):
    op, more = c.case.op, named(c.case)
    bits, weights, offsets = c.get("bits", 0), more.get("per_sample_weights"), more.get("offsets")
    need(weights is None or weights.dtype == "f32", "dtype")
    offsets = None if offsets is None else whole(offsets)
    need(c.case.data.dtype == "u8", "dtype")
    c.check()
    need(bits in ((8, 4) if op == "torch.quantized_embedding" else (8, 4, 2)), "attribute")
    table = fbgemm(c, bits)
    if op == "torch.quantized_embedding_unpack":
        if bits == 8:  # RU.2
            raw, last = c.case.data.array.astype(np.uint8), table.shape[-1] // 8 * 8
            scale, bias = np.moveaxis(np.ascontiguousarray(raw[..., -8:]).view("<f4").astype(np.float64), -1, 0)
            table[..., last:] = raw[..., last:-8] * scale[..., None] + bias[..., None]
        return coded("f32", table)
    need(table.ndim == 2, "rank")
    if op == "torch.quantized_embedding_bag":
        bags = matrix_or_offsets(c, table, offsets, c.get("include_last_offset", False))
        codes, scales, biases = fbgemm_parts(c, bits)

        def add(total, row, weight):  # RQB.2
            w = np.float32(1 if weight is None else weight)
            return rounded_once(codes[row], scales[row] * w, total + biases[row] * w)
        return pool(c, table, bags, "sum", weights, from_zero=True, add=add)
    return Tensor("f32", along(coded("f32", table).array, c.ix, 0, 0, reader("reject", "error")))


def unpacked(a, bits):
    """The codes of bytes along the last axis."""
    return np.stack([a >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(a.shape[:-1] + (a.shape[-1] * (8 // bits),))


def gathered(table, c, axis):
    """A negative index counts from the end, one outside gives zeros."""
    out = along(table.array, c.ix, axis, 0, reader("from-end", "fill"))
    flat = out.ravel()
    for i, v in enumerate(flat):
        flat[i] = v if isinstance(v, int) else 0
    return Tensor(table.dtype, flat.reshape(out.shape))


def scaled(codes, zeros, scales, dtype):
    """QB.7: (code − zero point)·scale, both rounded to f32, and the product to the result's type."""
    v = codes.astype(np.float32) - zeros if zeros is not None else codes.astype(np.float32)
    return coded(dtype, ROUND.get(dtype, lambda a: a)((v * scales).astype(np.float32)))


@define("com.microsoft.GatherBlockQuantized-1", knows=("gather_axis", "quantize_axis", "block_size", "bits"))
def gather_block_quantized(c):
    more, dtype = named(c.case), c.case.data.dtype
    scales, zeros = more["scales"], more.get("zero_points")
    bits, block = c.get("bits", 4), c.get("block_size", 128)
    floats = dtype in SMALL
    need(floats or dtype in ("i4", "u4", "u8"), "dtype")
    need(scales.dtype in ("f32", "f16", "bf16"), "dtype")
    need(zeros is None or floats or zeros.dtype == dtype, "dtype")
    c.check()
    need(floats or bits in ((8, 4, 2) if dtype == "u8" else (4,)), "attribute")
    need(zeros is None or not floats, "attribute")
    need(block >= 16 and block & block - 1 == 0 or block == 0 and floats, "attribute")
    need(c.d.ndim >= 1, "rank")
    along_codes, axis = axis_of(c.get("quantize_axis", 1), c.d.ndim), axis_of(c.get("gather_axis", 0), c.d.ndim)
    need(dtype != "u8" or axis == 0 and (bits == 8 or axis != along_codes), "attribute")
    codes, packed = numbers(c.case.data), dtype == "u8" and bits < 8
    if packed:
        codes = unpacked(codes, bits)
    want = list(codes.shape)
    want[along_codes] = -(-want[along_codes] // block) if block else min(1, want[along_codes])
    have, ok = scales.shape, len(scales.shape) == len(want)
    need(ok and all(h == w or floats and h == 1 and k != along_codes for k, (h, w) in enumerate(zip(have, want))), "shape-mismatch")
    zero = np.float32(1 << bits - 1 if dtype == "u8" else 0)
    if zeros is not None:
        each = 8 // bits if packed else 1
        need(list(zeros.shape) == want[:-1] + [-(-want[-1] // each)], "shape-mismatch")
        zero = numbers(zeros)
        zero = (unpacked(zero, bits)[..., :want[-1]] if packed else zero).astype(np.float32)
    spread = lambda a: np.repeat(a, block or max(codes.shape[along_codes], 1), along_codes).take(range(codes.shape[along_codes]), along_codes)
    zero = zero if zeros is None else spread(zero)
    return gathered(scaled(codes, zero, spread(numbers(scales)), scales.dtype), c, axis)


@define("openvino.compressed-gather", knows=("axis", "output", "reshape"))
def compressed_gather(c):
    more, dtype = named(c.case), c.case.data.dtype
    scale, zero = more["scale"], more.get("zero_point")
    need(dtype in LIMITS and BITS[dtype] <= 8 or dtype in SMALL or dtype == "nf4", "dtype")
    need(scale.dtype in ("f32", "f16", "bf16"), "dtype")
    output = c.get("output") or scale.dtype
    output = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(output, output)
    c.check()
    need(output in ("f32", "f16", "bf16"), "attribute")
    codes = numbers(c.case.data)
    if dtype == "nf4":
        codes = ROUND.get(scale.dtype, lambda a: a)(codes)
    for t in more.values():
        lead = codes.ndim - t.array.ndim
        need(lead >= 0 and all(m == n or m == 1 for m, n in zip(t.shape, codes.shape[lead:])), "shape-mismatch")
    table = scaled(codes, None if zero is None else numbers(zero).astype(np.float32), numbers(scale), output)
    shape = c.get("reshape")
    if shape is not None:
        need(all(n >= -1 for n in shape) and shape.count(-1) <= 1, "attribute")
        known = math.prod(n for n in shape if n >= 0)
        need((known > 0 and table.array.size % known == 0) if -1 in shape else known == table.array.size, "shape-mismatch")
        table = Tensor(table.dtype, table.array.reshape(shape))
    need(table.array.ndim >= 1, "rank")
    return gathered(table, c, axis_of(c.get("axis", 0), table.array.ndim))


@define("tflite.hybrid-embedding-lookup")
def hybrid_embedding_lookup(c):
    scale = named(c.case)["scale"]
    need(c.case.data.dtype in ("i8", "i4", "i2"), "dtype")
    need(scale.dtype == "f32", "dtype")
    c.check()
    codes = numbers(c.case.data)
    need(codes.ndim >= 2 and c.ix.ndim == 1, "rank")
    lead = codes.ndim - scale.array.ndim
    need(lead >= 0 and all(m == n or m == 1 for m, n in zip(scale.shape, codes.shape[lead:])), "shape-mismatch")
    table = scaled(codes, None, numbers(scale), "f32")
    return Tensor("f32", along(table.array, c.ix, 0, 0, reader("reject", "error")))


# ---------------------------------------------------------------- random cases

def floats(m, dtype, n, rough):
    """Numbers of few bits, whose sums are exact in any order and any wider type; rough ones are any, NaN and −0 among them."""
    rng = m.rng
    if not rough:
        return coded(dtype, np.array([rng.randrange(-7, 8) / 2 for _ in range(n)], np.float64 if dtype == "f64" else np.float32)).array.tolist()
    plain = coded(dtype, ROUND.get(dtype, lambda a: a)(np.array([rng.gauss(0, 1) * 10 ** rng.choice([-3, 0, 0, 2]) for _ in range(n)], np.float64 if dtype == "f64" else np.float32)))
    sign = 1 << BITS[dtype] - 1
    odd = (NAN[dtype], NAN[dtype] & ~(NAN[dtype] & -NAN[dtype]), sign, sign, 0)  # NaN, infinity, −0, 0
    return [rng.choice(odd) if rng.random() < 0.04 else v for v in plain.array.tolist()]


def some_numbers(m, dtype, shape, rough):
    n = math.prod(shape)
    if dtype in FLOATS:
        return Tensor.of(dtype, floats(m, dtype, n, rough), shape)
    if rough:
        return m.elements(dtype, shape)
    low, high = LIMITS[dtype]
    return Tensor.of(dtype, [m.rng.randrange(max(low, -5), min(high, 9)) for _ in range(n)], shape)


def few(m, most):
    return m.rng.randrange(3 * most) if m.chance(0.1) else m.rng.randrange(most)


def rows_at(m, n, s, style):
    """n positions of s, mostly in a type of the frameworks' indices."""
    dtype = m.rng.choice(["i64"] * 10 + ["i32"] * 10 + ["i16", "u8", "u16", "u32", "i8", "u64"])
    low, high = LIMITS[dtype]
    at = [m.rng.randrange(s) if s else 0 for _ in range(n)]
    if style == "outside" and n:
        for _ in range(m.rng.choice([1, 1, 2])):
            at[m.rng.randrange(n)] = m.rng.choice([s, s + 1, -1, -1, -s, -s - 1, 2 ** 31, 2 ** 40])
    if style == "negative":
        at = [m.rng.randrange(-s, s) if s else 0 for _ in range(n)]
    return Tensor.of(dtype, [min(high, max(low, v)) for v in at], [n])


def table(m, rank, wrong, float_only=False):
    """A table of rows, in most cases of floats."""
    dtype = m.rng.choice(["f32"] * 6 + ["f64", "f64", "f16", "bf16"] + (CALCULABLE if not float_only else []))
    shape = [1 + few(m, 8)] + [few(m, 6) + (m.chance(0.9)) for _ in range(rank - 1)]
    if m.chance(0.02):
        shape[0] = 0
    if wrong == "dtype":
        return m.elements(m.rng.choice(["bool", "string", "i4", "complex64", "f8e5m2"]), shape)
    return some_numbers(m, dtype, shape, m.chance(0.4))


def weights_of(m, data, shape, wrong):
    shape, dtype = list(shape), data.dtype
    if wrong == "weights":
        if m.chance(0.5) and dtype in CALCULABLE:
            dtype = "f64" if dtype == "f32" else "f32"
        else:
            shape[-1] += 1
    if dtype not in CALCULABLE:
        return m.elements(dtype, shape)
    if dtype in LIMITS or m.chance(0.3):
        return some_numbers(m, dtype, shape, False)
    return coded(dtype, np.array([m.rng.choice([1, 2, 0.5, -1, 0.25, 0]) for _ in range(math.prod(shape))], np.float64 if dtype == "f64" else np.float32).reshape(shape))


def ends(m, count, n, at_zero, last, wrong):
    """Offsets of count bags over n indices."""
    dtype = m.rng.choice(["i64"] * 5 + ["i32"] * 5 + ["u16", "i16"])
    at = sorted(m.rng.randrange(n + 1) for _ in range(count + last))
    if at and at_zero:
        at[0] = 0
    if wrong == "ends":
        how = m.rng.randrange(5)
        if how == 0 or not at:
            return Tensor.of("f32", [0] * len(at), [len(at)])
        if how == 1:
            return Tensor.of("i64", at, [1, len(at)])
        if how == 2:
            at[-1] = n + 1
        elif how == 3:
            at[0] = -1
            dtype = "i64"
        else:
            at[m.rng.randrange(len(at))] = m.rng.randrange(n + 2)
    return Tensor.of(dtype, at, [len(at)])


def segments(m, count, n, wrong):
    dtype = m.rng.choice(["i32", "i32", "i64"])
    at = sorted(m.rng.randrange(count) for _ in range(n)) if count else []
    if wrong == "ends":
        how = m.rng.randrange(4)
        if how == 0 or not at:
            return Tensor.of("f32", [0] * len(at), [len(at)])
        if how == 1:
            at.append(at[-1])
        elif how == 2:
            at[0] = -1
        else:
            at[m.rng.randrange(n)] = m.rng.randrange(count)
    return Tensor.of(dtype, at, [len(at)])


def scalar(m, v):
    return Tensor.of(m.rng.choice(["i64", "i32"]), [v], [])


def trouble(m, *kinds):
    """What is wrong with a case, at most one thing."""
    return m.rng.choice(kinds) if m.chance(0.25) else ""


def word(m, attributes, name, words, wrong):
    if wrong == "attribute":
        attributes[name] = m.rng.choice(["min", "SUM", "average"])
    elif m.chance(0.8):
        attributes[name] = m.rng.choice(words)


def bags_of_torch(m, op):
    quantized = op == "torch.quantized_embedding_bag"
    wrong = trouble(m, "index", "dtype", "weights", "ends", "rank", "attribute", "attribute" if quantized else "padding")
    attributes = {}
    if quantized:
        data = fbgemm_rows(m, attributes, wrong)
    else:
        data = table(m, 2 if wrong != "rank" or m.chance(0.5) else m.rng.choice([1, 3]), wrong)
        word(m, attributes, "mode", ["sum", "sum", "mean", "max"], wrong)
        if wrong == "padding":
            attributes["padding_idx"] = m.rng.choice([data.shape[0], -data.shape[0] - 1])
        elif m.chance(0.25) and data.shape[0]:
            attributes["padding_idx"] = m.rng.randrange(-data.shape[0], data.shape[0])
    n, count = few(m, 14), few(m, 6)
    matrix = m.chance(0.25) and wrong != "ends"
    if matrix:
        n = few(m, 5) * count
    style = "outside" if wrong == "index" else ""
    indices, extra = rows_at(m, n, data.shape[0], style), []
    if matrix:
        indices = Tensor(indices.dtype, indices.array.reshape(count, n // count if count else few(m, 5)))
        return Case(op, attributes, data, indices, extra)
    if m.chance(0.3):
        attributes["include_last_offset"] = m.chance(0.7)
    if wrong != "rank" or data.array.ndim != 2:
        extra.append(ends(m, count, n, True, attributes.get("include_last_offset", False), wrong))
        if wrong == "weights" or m.chance(0.5) and (quantized or attributes.get("mode") == "sum"):
            extra.append(weights_of(m, Tensor("f32", data.array) if quantized else data, [n], wrong))
            if not quantized:
                attributes["mode"] = "sum"
    return Case(op, attributes, data, indices, extra)


def bags_of_openvino(m, op):
    packed, segmented_ = "Packed" in op, "Segments" in op
    wrong = trouble(m, "index", "dtype", "weights", "rank", "ends", "default", "attribute")
    data = table(m, m.rng.choice([1, 2, 2, 2, 3]), wrong)
    n, count, attributes = few(m, 14), few(m, 6), {}
    if op.endswith("15"):
        word(m, attributes, "reduction", ["sum", "mean"], wrong)
    elif wrong == "attribute" and not segmented_:
        attributes["reduction"] = "sum"
    shape = [n]
    if packed:
        shape = [count, few(m, 5)]
        if wrong == "rank":
            shape = m.rng.choice([[shape[1]], shape + [1]])
    elif wrong == "rank":
        shape = m.rng.choice([[n, 1], [1, n]])
    indices = rows_at(m, math.prod(shape), data.shape[0], "outside" if wrong == "index" else "")
    indices = Tensor(indices.dtype, indices.array.reshape(shape))
    extra = []
    if segmented_:
        extra += [segments(m, count, math.prod(shape) if count else 0, wrong), scalar(m, -1 if wrong == "attribute" else count)]
        if not count:
            indices = Tensor.of("i64", [], [0] if len(shape) == 1 else [0, 1])
    elif not packed:
        extra.append(ends(m, count, math.prod(shape), m.chance(0.7), False, wrong))
    full = packed or m.chance(0.7)
    if not packed and full:
        s = data.shape[0]
        extra.append(scalar(m, m.rng.choice([s, -2, s + 5]) if wrong == "default" else m.rng.randrange(-1, s)))
    if full and (wrong == "weights" or m.chance(0.5)) and attributes.get("reduction") != "mean":
        extra.append(weights_of(m, data, indices.shape or [1], wrong))
    return Case(op, attributes, data, indices, extra)


def bags_of_tensorflow(m, op):
    wrong = trouble(m, "index", "dtype", "weights", "ends", "attribute")
    data = table(m, m.rng.choice([1, 2, 2, 3]), wrong, float_only=bool(wrong) or m.chance(0.7))
    n, count, attributes = few(m, 14), 1 + few(m, 6), {}
    safe = op == "tensorflow.safe_embedding_lookup_sparse"
    if n == 0:
        wrong = "" if wrong in ("ends", "weights") else wrong
    where = segments(m, count, n, wrong)
    indices = rows_at(m, n, data.shape[0], "outside" if wrong == "index" else "negative" if safe and m.chance(0.4) else "")
    if "sparse_segment" in op:
        extra = [where]
        if wrong == "attribute":
            extra.append(scalar(m, -1))
        elif m.chance(0.4):
            extra.append(scalar(m, count + few(m, 3)))
        return Case(op, attributes, data, indices, extra)
    word(m, attributes, "combiner", ["sum", "mean", "sqrtn"], wrong)
    if safe and m.chance(0.3) and data.shape[0]:
        attributes["default_id"] = m.rng.randrange(data.shape[0])
    columns = Tensor(where.dtype, np.stack([where.array, np.array([0] * where.array.size, object)], 1).reshape(where.array.size, 2))
    if columns.dtype != "f32":
        columns.dtype = "i64"
    extra = [columns, Tensor.of("i64", [count + few(m, 3), 1], [2])]
    if wrong == "weights" or m.chance(0.5):
        extra.append(weights_of(m, data, [n], wrong))
    return Case(op, attributes, data, indices, extra)


def fbgemm_rows(m, attributes, wrong, two=True):
    rng = m.rng
    bits = rng.choice([8, 4, 2] if two else [8, 4])
    attributes["bits"] = rng.choice([0, 3, 16, -8]) if wrong == "attribute" else bits
    rows, codes, tail = 1 + few(m, 6), few(m, 12), 8 if bits == 8 else 4
    values = []
    for _ in range(rows):
        pair = np.array(rng.choice([[0.5, -1.5], [rng.gauss(0, 1), rng.gauss(0, 3)], [rng.gauss(0, 1), rng.gauss(0, 3)]]), "<f4" if bits == 8 else "<f2")
        values += [rng.randrange(256) for _ in range(codes)] + list(pair.tobytes())
    shape = [rows, codes + tail]
    if wrong == "dtype":
        return m.elements(rng.choice(["i8", "f32", "u16"]), shape)
    if wrong == "rank":
        shape = [rows, 1, codes + tail]
    return Tensor.of("u8", values, shape)


def rows_of_torch(m, op):
    wrong = trouble(m, "index", "dtype", "attribute", "rank", "short")
    attributes = {}
    data = fbgemm_rows(m, attributes, wrong, op != "torch.quantized_embedding")
    if wrong == "short":
        data = m.elements("u8", [3, m.rng.randrange(4)])
    if op == "torch.quantized_embedding_unpack":
        return Case(op, attributes, data, None)
    indices = rows_at(m, few(m, 10), data.shape[0], "outside" if wrong == "index" else "")
    return Case(op, attributes, data, indices)


def rows_of_gguf(m, op):
    rng, wrong = m.rng, trouble(m, "index", "dtype", "attribute", "rank", "short")
    name = rng.choice(sorted(GGUF))
    size, elements, halves, _ = GGUF[name]
    rows, each = 1 + few(m, 4), few(m, 3) + m.chance(0.9) if elements > 1 else few(m, 20)
    raw = np.array([rng.randrange(256) for _ in range(rows * each * size)], np.uint8).reshape(rows * each, size)
    for at in halves:
        if m.chance(0.9):  # else any bits: NaN, infinities
            raw[:, at:at + 2] = np.array([rng.uniform(-1, 1) for _ in range(len(raw))], "<f2").view(np.uint8).reshape(-1, 2)
    shape = [rows, each * size]
    if wrong == "rank":
        shape = [rows * each * size] if op == "gguf.get_rows" else []
        raw = raw if shape else np.zeros(1, np.uint8)
    data = Tensor.of("u8", raw.ravel().tolist(), shape)
    if wrong == "short" and elements > 1:
        data = m.elements("u8", [rows, each * size + rng.randrange(1, size)])
    if wrong == "dtype":
        data = m.elements(rng.choice(["i8", "f16", "u16"]), shape)
    attributes = {"type": rng.choice(NOT_DECODED) if wrong == "attribute" else name}
    if op == "gguf.dequantize":
        return Case(op, attributes, data, None)
    indices = rows_at(m, few(m, 8), rows, "outside" if wrong == "index" else "")
    if m.chance(0.2):
        indices = Tensor(indices.dtype, indices.array.reshape(1, -1))
    return Case(op, attributes, data, indices)


def scales_of(m, dtype, shape, wrong):
    if wrong == "scales":
        if m.chance(0.5):
            dtype = m.rng.choice(["f64", "i8"])
        else:
            shape = shape[:-1] + [shape[-1] + 2] if shape else [3, 3, 3, 3, 3]
    if dtype in LIMITS or dtype == "f64":
        return m.elements(dtype, shape)
    return Tensor.of(dtype, floats(m, dtype, math.prod(shape), m.chance(0.6)), shape)


def blocks_of_microsoft(m, op):
    rng, wrong = m.rng, trouble(m, "scales", "dtype", "attribute", "zeros", "axis")
    dtype = rng.choice(["i4", "u4", "u8", "u8", "u8"] + sorted(SMALL))
    bits = rng.choice([8, 4, 2]) if dtype == "u8" else 4
    block = rng.choice([16, 16, 16, 32, 128] + ([0] if dtype in SMALL else []))
    r = rng.choice([1, 2, 2, 2, 3])
    along_codes = rng.randrange(r)
    axis = 0 if dtype == "u8" else rng.randrange(r)
    if dtype == "u8" and bits < 8 and along_codes == 0:
        r, along_codes = max(r, 2), 1
    each = 8 // bits if dtype == "u8" else 1
    shape = [1 + few(m, 5) for _ in range(r)]
    shape[along_codes] = rng.choice([1, 7, 16, 17, 32, 40, 48])
    codes = list(shape)
    shape[-1] = -(-shape[-1] // each)
    codes[-1] = shape[-1] * each
    of_scales = list(codes)
    of_scales[along_codes] = -(-codes[along_codes] // block) if block else 1
    if dtype in SMALL and m.chance(0.3):
        of_scales = [n if k == along_codes else 1 for k, n in enumerate(of_scales)]
    attributes = {"quantize_axis": along_codes - (r if m.chance(0.2) else 0), "block_size": block}
    if axis or m.chance(0.5):
        attributes["gather_axis"] = axis - (r if m.chance(0.2) else 0)
    if dtype == "u8" and bits != 4 or m.chance(0.3):
        attributes["bits"] = bits
    if wrong == "attribute":
        attributes.update(rng.choice([{"bits": 3}, {"block_size": 24}, {"block_size": 8}, {"block_size": -16}, {"axis": 1}]))
    elif wrong == "axis":
        attributes[rng.choice(["quantize_axis", "gather_axis"])] = rng.choice([r, -r - 1])
    data = m.elements(dtype if wrong != "dtype" else rng.choice(["i8", "f16", "u16", "bool"]), shape)
    extra = [scales_of(m, rng.choice(["f32", "f32", "f16", "bf16"]), of_scales, wrong)]
    if dtype not in SMALL and m.chance(0.4) or wrong == "zeros":
        of_zeros = of_scales[:-1] + [-(-of_scales[-1] // each) + (wrong == "zeros")]
        extra.append(m.elements(data.dtype, of_zeros))
    indices = rows_at(m, few(m, 8), shape[axis], rng.choice(["", "", "negative", "outside"]))
    return Case(op, attributes, data, indices, extra)


def pattern_of_openvino(m, op):
    rng, wrong = m.rng, trouble(m, "scales", "dtype", "attribute", "reshape", "axis")
    dtype = rng.choice(["u8", "i8", "u4", "i4", "nf4", "f8e4m3fn", "f8e5m2"])
    rows, columns = 1 + few(m, 6), rng.choice([2, 4, 8, 16, 7])
    group = rng.choice([2, 4]) if m.chance(0.5) and columns % 4 == 0 else 0
    shape = [rows, columns // group, group] if group else [rows, columns]
    of_scale = shape[:-1] + [1] if m.chance(0.8) else [1] * len(shape) if m.chance(0.5) else []
    attributes = {"axis": rng.choice([0, 0, 0, 1, -1])}
    if m.chance(0.7):
        attributes["output"] = rng.choice(["f32", "f32", "f16", "bf16"])
    if group:
        attributes["reshape"] = rng.choice([[rows, columns], [rows, -1], [-1, columns]])
    if wrong == "attribute":
        attributes["output"] = "i32"
    elif wrong == "reshape":
        attributes["reshape"] = rng.choice([[rows * columns + 1], [-1, -1], [rows, -2]])
    elif wrong == "axis":
        attributes["axis"] = rng.choice([3, -4])
    dims = [d if d >= 0 else rows * columns // math.prod(n for n in attributes["reshape"] if n > 0) for d in attributes.get("reshape", shape)]
    extra = [scales_of(m, rng.choice(["f32", "f32", "f16"] + (["bf16"] if dtype != "nf4" else [])), of_scale, wrong)]
    if dtype != "nf4" and m.chance(0.5):
        extra.append(m.elements(dtype, rng.choice([of_scale, [1] * len(of_scale), []])))
    data = m.elements(dtype if wrong != "dtype" else rng.choice(["i16", "f32", "string"]), shape)
    s = dims[attributes["axis"]] if -len(dims) <= attributes["axis"] < len(dims) else 1
    return Case(op, attributes, data, rows_at(m, few(m, 8), max(1, s), rng.choice(["", "", "negative", "outside"])), extra)


def rows_of_tflite(m, op):
    rng, wrong = m.rng, trouble(m, "scales", "dtype", "rank", "ids")
    shape = [1 + few(m, 6)] + [1 + few(m, 4) for _ in range(rng.choice([1, 1, 2]))]
    if wrong == "rank":
        shape = shape[:1]
    data = m.elements(rng.choice(["i16", "u8", "f32", "string"]) if wrong == "dtype" else rng.choice(["i8", "i8", "i4", "i2"]), shape)
    scale = scales_of(m, "f32", rng.choice([shape[:1] + [1] * (len(shape) - 1), [1] * len(shape), []]), wrong)
    ids = rows_at(m, few(m, 8), shape[0], rng.choice(["", "", "negative", "outside"]))
    if wrong == "ids":
        ids = Tensor(ids.dtype, ids.array.reshape(ids.shape + (1,)))
    return Case(op, {}, data, ids, [scale])


for _op in INPUTS:
    MAKERS[_op] = (bags_of_torch if _op.startswith("torch") and _op.endswith("bag") else rows_of_torch if _op.startswith("torch")
                   else rows_of_gguf if _op.startswith("gguf") else blocks_of_microsoft if _op.startswith("com.")
                   else pattern_of_openvino if _op.endswith("compressed-gather") else rows_of_tflite if _op.startswith("tflite")
                   else bags_of_openvino if _op.startswith("openvino") else bags_of_tensorflow)


def smallest(op, dtype, index):
    """A valid case of the operator with these types, as small as it goes, where there is one."""
    one = lambda dtype, values, shape: Tensor.of(dtype, values, shape)
    at = one(index, [0], [1])
    if op.startswith("gguf"):
        return Case(op, {"type": "F16"}, one(dtype, [0, 0], [1, 2]), None if op in UNINDEXED else at)
    if op.startswith("torch.quantized"):
        data = one(dtype, [1] + [0] * 8, [1, 9])
        return Case(op, {"bits": 8}, data, None if op in UNINDEXED else at, [one(index, [0], [1])] if op.endswith("bag") else [])
    if op.startswith("com."):
        return Case(op, {"bits": 8} if dtype == "u8" else {}, one(dtype, [1], [1, 1]), at, [one("f32", [0x3f800000], [1, 1])])
    if op in ("openvino.compressed-gather", "tflite.hybrid-embedding-lookup"):
        return Case(op, {}, one(dtype, [1], [1, 1]), at, [one("f32", [0x3f800000], [1, 1])])
    data = one(dtype, ["a"] if dtype == "string" else [1], [1, 1])
    if "Packed" in op:
        return Case(op, {}, data, one(index, [0], [1, 1]))
    if op.startswith("tensorflow.") and op.endswith("lookup_sparse"):
        return Case(op, {"combiner": "sum"}, data, at, [one("i64", [0, 0], [1, 2]), one("i64", [1, 1], [2])])
    more = [one("i32" if op.startswith("tensorflow") else index, [0], [1])]
    if "Segments" in op:
        more.append(one("i64", [1], []))
    return Case(op, {"mode": "sum"} if op.startswith("torch") else {}, data, at, more)
