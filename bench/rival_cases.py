"""Random cases of gather operators, and the answers of the operators' specifications.

The definitions of this file are slow and share no code with garner: they copy
one element or one slice at a time between arrays of Python objects. Each
definition follows the page of its operator; docs/rules.md numbers the rules.

An element is an integer, a string, or, for floats and complex numbers, the
integer of its bits: a gather moves bits.
"""
import json
import math

import numpy as np

# ---------------------------------------------------------------- tensors

# The width of an element in bits, and for integers the least and the greatest value.
BITS = {"bool": 8, "nf4": 4, "f4e2m1": 4, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8e4m3fn": 8, "f8e5m2": 8,
        "f8e4m3fnuz": 8, "f8e5m2fnuz": 8, "f8e8m0": 8, "complex64": 64, "complex128": 128, "string": 0}
LIMITS = {}
for _bits in (1, 2, 4, 8, 16, 32, 64):
    LIMITS["u%d" % _bits] = (0, 2 ** _bits - 1)
    if _bits > 1:
        LIMITS["i%d" % _bits] = (-2 ** (_bits - 1), 2 ** (_bits - 1) - 1)
    for _name in ("u%d" % _bits, "i%d" % _bits):
        if _name in LIMITS:
            BITS[_name] = _bits

# The bits of NaN, of the floats that have one. A complex NaN is NaN + 0i.
NAN = {"f16": 0x7e00, "bf16": 0x7fc0, "f32": 0x7fc00000, "f64": 0x7ff8 << 48, "f8e4m3fn": 0x7f, "f8e5m2": 0x7e,
       "f8e4m3fnuz": 0x80, "f8e5m2fnuz": 0x80, "f8e8m0": 0xff, "complex64": 0x7fc00000, "complex128": 0x7ff8 << 48}

# The number of an element's bits.
PLAIN = {name: lambda code, bits=np.dtype(bits), form=np.dtype(form): float(np.array(code, bits).view(form))
         for name, bits, form in (("f16", "u2", "f2"), ("f32", "u4", "f4"), ("f64", "u8", "f8"))}
PLAIN["bf16"] = lambda code: PLAIN["f32"](code << 16)


def written(v):
    """A float as the lines of a corpus write it."""
    if math.isfinite(v):
        return "-0" if v == 0 and math.copysign(1, v) < 0 else v
    return "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"


WITHOUT_ZERO = ("nf4", "f8e8m0")  # types that have no code for 0


class Tensor:
    """A dtype and an array of elements, which are Python objects."""

    def __init__(self, dtype, array):
        self.dtype, self.array = dtype, array

    @staticmethod
    def of(dtype, values, shape):
        array = np.empty(len(values), object)
        for i, v in enumerate(values):
            array[i] = v
        return Tensor(dtype, array.reshape(shape))

    @staticmethod
    def of_bytes(dtype, raw, shape):
        bits, n = BITS[dtype], math.prod(shape)
        if bits < 8:
            codes = [raw[i * bits // 8] >> i * bits % 8 & (1 << bits) - 1 for i in range(n)]
        else:
            codes = [int.from_bytes(raw[i * bits // 8:(i + 1) * bits // 8], "little") for i in range(n)]
        if dtype in LIMITS and LIMITS[dtype][0] < 0:
            codes = [c - (1 << bits) if c >> bits - 1 else c for c in codes]
        return Tensor.of(dtype, codes, shape)

    @property
    def shape(self):
        return self.array.shape

    def bytes(self):
        """The elements in row-major order: little-endian; packed types densely, low bits first."""
        bits = BITS[self.dtype]
        codes = [int(v) & (1 << bits) - 1 for v in self.array.ravel()]
        if bits >= 8:
            return b"".join(c.to_bytes(bits // 8, "little") for c in codes)
        raw = bytearray(-(-len(codes) * bits // 8))
        for i, c in enumerate(codes):
            raw[i * bits // 8] |= c << i * bits % 8
        return bytes(raw)

    def line(self, any_nan=False):
        """The tensor as a line of a corpus has it; any_nan leaves open which NaN an element is."""
        t = {"dtype": self.dtype, "shape": list(self.shape)}
        if self.dtype in LIMITS or self.dtype == "string":
            t["values"] = self.array.ravel().tolist()
        elif self.dtype == "bool":
            t["values"] = [bool(v) for v in self.array.ravel()]
        elif any_nan and self.dtype in PLAIN:
            t["values"] = [written(PLAIN[self.dtype](v)) for v in self.array.ravel()]
        else:
            t["hex"] = self.bytes().hex()
        return t

    @staticmethod
    def of_line(t):
        if "hex" in t:
            return Tensor.of_bytes(t["dtype"], bytes.fromhex(t["hex"]), t["shape"])
        values = [int(v) for v in t["values"]] if t["dtype"] == "bool" else t["values"]
        return Tensor.of(t["dtype"], values, t["shape"])

    def same(self, other):
        return self.dtype == other.dtype and self.shape == other.shape and self.array.ravel().tolist() == other.array.ravel().tolist()

    def same_but_nan(self, other):
        """Whether the tensors differ at most in the bits of NaNs."""
        if self.dtype != other.dtype or self.shape != other.shape:
            return False
        return all(a == b or is_nan(self.dtype, a) and is_nan(self.dtype, b)
                   for a, b in zip(self.array.ravel().tolist(), other.array.ravel().tolist()))


def is_nan(dtype, code):
    """Whether the bits are a NaN; of a complex number, whether one of its parts is."""
    if dtype.startswith("complex"):
        half = BITS[dtype] // 2
        part = "f%d" % half
        return is_nan(part, code & (1 << half) - 1) or is_nan(part, code >> half)
    if dtype in ("f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0"):
        return code == NAN[dtype]
    if dtype == "f8e4m3fn":
        return code & 0x7f == 0x7f
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52, "f8e5m2": 2}.get(dtype)
    if mantissa is None:
        return False
    exponent = (1 << BITS[dtype] - 1) - (1 << mantissa)
    return code & exponent == exponent and code & (1 << mantissa) - 1 != 0


class Case:
    """One question: an operator, its attributes, data, indices and further inputs. indices may be None."""

    def __init__(self, op, attributes, data, indices, extra=(), policy=None):
        self.op, self.attributes, self.data, self.indices = op, attributes, data, indices
        self.extra, self.policy = list(extra), policy

    def line(self, name, answer=None):
        """The case as a line of a corpus; answer is a Tensor or a Refused."""
        d = {"name": name, "op": self.op}
        if self.attributes:
            d["attributes"] = self.attributes
        if self.policy:
            d["policy"] = self.policy
        d["inputs"] = [t.line() for t in [self.data, self.indices] + self.extra if t is not None]
        if isinstance(answer, Refused):
            d["error"] = answer.kind
        elif answer is not None:
            d["outputs"] = [answer.line(any_nan=self.op in MAKERS)]
        return d

    def accepts(self, want, got):
        """Whether a result is the answer. What computes may give any NaN for a NaN."""
        return want.same_but_nan(got) if self.op in MAKERS else want.same(got)

    @staticmethod
    def of_line(d):
        ts = [Tensor.of_line(t) for t in d["inputs"]]
        return Case(d["op"], d.get("attributes", {}), ts[0], ts[1] if len(ts) > 1 else None, ts[2:], d.get("policy"))

    def text(self, name="case", answer=None):
        return json.dumps(self.line(name, answer), ensure_ascii=False)


# ---------------------------------------------------------------- definitions

class Refused(Exception):
    """A specification refuses a case. kind is the class of the error in a corpus."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


def need(ok, kind):
    if not ok:
        raise Refused(kind)


OUTSIDE = object()  # a row that no position stands for


def reader(negative, outside):
    """A function of an index and the length of its axis that gives the position, or OUTSIDE."""
    def at(v, s):
        if negative == "from-end" and -s <= v < 0:
            v += s
        if 0 <= v < s:
            return v
        if outside == "fill":
            return OUTSIDE
        need(outside != "error" and s > 0, "index-out-of-range")
        return v % s if outside == "wrap" else 0 if v < 0 else s - 1
    return at


def blank(shape):
    return np.empty(shape, object)


def along(d, ix, axis, b, at):
    """out[p, o, i, :] = d[p, o, ix[p, i], :], for b batch dims p and the dims o between them and the axis."""
    out = blank(d.shape[:axis] + ix.shape[b:] + d.shape[axis + 1:])
    for p in np.ndindex(ix.shape):
        v = at(ix[p], d.shape[axis])
        for o in np.ndindex(d.shape[b:axis]):
            here = p[:b] + o
            out[here + p[b:]] = OUTSIDE if v is OUTSIDE else d[here + (v,)]
    return out


def tuples(d, ix, b, at):
    """out[p, i, :] = d[p, ix[p, i, 0], …, ix[p, i, k-1], :]."""
    k, lead = ix.shape[-1], ix.shape[:-1]
    out = blank(lead + d.shape[b + k:])
    for p in np.ndindex(lead):
        t = [at(ix[p + (j,)], d.shape[b + j]) for j in range(k)]
        out[p] = OUTSIDE if any(v is OUTSIDE for v in t) else d[p[:b] + tuple(t)]
    return out


def elements(d, ix, axis, at):
    """out[p] = d[p with ix[p] on the axis]."""
    out = blank(ix.shape)
    for p in np.ndindex(ix.shape):
        v = at(ix[p], d.shape[axis])
        out[p] = OUTSIDE if v is OUTSIDE else d[p[:axis] + (v,) + p[axis + 1:]]
    return out


def windows(d, ix, a, last, sizes, lenient, at):
    """StableHLO's gather, as its page writes it. at gives the start of a window."""
    offset, collapsed = a.get("offset_dims") or [], a.get("collapsed_slice_dims") or []
    batching, moving = a.get("operand_batching_dims") or [], a.get("start_indices_batching_dims") or []
    to = a.get("start_index_map") or []
    r, q = d.ndim, ix.ndim
    need(0 <= last <= q, "axis-out-of-range")
    tupled = ix if last < q else ix.reshape(ix.shape + (1,))
    k = tupled.shape[last]
    starts = tupled.shape[:last] + tupled.shape[last + 1:]
    rank = len(starts) + len(offset)
    for dims, end in ((offset, rank), (collapsed, r), (batching, r), (moving, q), (to, r)):
        need(all(0 <= x < end for x in dims), "axis-out-of-range")
        need(len(set(dims)) == len(dims), "shape-mismatch")
    for dims in (offset, collapsed, batching):
        need(dims == sorted(dims), "shape-mismatch")
    need(not set(batching) & (set(collapsed) | set(to)) and last not in moving, "shape-mismatch")
    need(len(batching) == len(moving) and len(offset) + len(collapsed) + len(batching) == r, "shape-mismatch")
    need(len(to) == k and len(sizes) == r, "shape-mismatch")
    need(all(d.shape[x] == ix.shape[y] for x, y in zip(batching, moving)), "shape-mismatch")
    none = lenient and 0 in starts
    need(all(0 <= s and (s <= d.shape[x] or none) for x, s in enumerate(sizes)), "shape-mismatch")
    need(all(sizes[x] <= 1 for x in collapsed + batching), "shape-mismatch")
    if lenient:
        need(all(sizes[x] == 1 for x in collapsed), "shape-mismatch")
    walked = [x for x in range(r) if x not in collapsed and x not in batching]
    from_starts = iter(starts)
    from_window = iter([sizes[x] for x in walked])
    shape = [next(from_window) if j in offset else next(from_starts) for j in range(rank)]
    # Every start is looked at, also where the window has no element.
    begins = {}
    for p in np.ndindex(starts):
        t = tupled[p[:last] + (slice(None),) + p[last:]]
        begins[p] = [at(t[j], d.shape[x] - max(sizes[x], 1 if x in collapsed else 0) + 1) for j, x in enumerate(to)]
    if 0 not in shape:
        need(all(d.shape[x] for x in collapsed if x not in to), "shape-mismatch")
    out = blank(shape)
    for p in np.ndindex(*shape):
        batch = tuple(p[j] for j in range(rank) if j not in offset)
        source = [0] * r
        if any(v is OUTSIDE for v in begins[batch]):
            out[p] = OUTSIDE
            continue
        for x, v in zip(to, begins[batch]):
            source[x] = v
        for x, y in zip(batching, moving):
            source[x] = batch[y - (1 if y > last else 0)]
        for x, j in zip(walked, sorted(offset)):
            source[x] += p[j]
        out[p] = d[tuple(source)]
    return out


def axis_of(axis, rank):
    need(-rank <= axis < rank, "axis-out-of-range")
    return axis % rank


def prefix(d, ix, b):
    need(d.shape[:b] == ix.shape[:b], "batch-dims")


def gather(d, ix, axis, b, at, negative_batch=True):
    """Gather with an axis and batch dims, of which a negative number counts from the rank of the indices."""
    need(d.ndim >= 1, "rank")
    axis = axis_of(axis, d.ndim)
    need((-ix.ndim if negative_batch else 0) <= b <= ix.ndim, "batch-dims")
    b += ix.ndim if b < 0 else 0
    need(b <= axis, "batch-dims")
    prefix(d, ix, b)
    return along(d, ix, axis, b, at)


def look_up(d, ix, at):
    """Rows of a table that has two dims or more, by a vector of ids."""
    need(d.ndim >= 2 and ix.ndim == 1, "rank")
    return along(d, ix, 0, 0, at)


def gather_nd(d, ix, b, at):
    need(d.ndim >= 1 and ix.ndim >= 1, "rank")
    need(0 <= b < min(d.ndim, ix.ndim), "batch-dims")
    prefix(d, ix, b)
    need(ix.shape[-1] <= d.ndim - b, "rank")
    return tuples(d, ix, b, at)


def gather_elements(d, ix, axis, at, smaller):
    """One element an index; off the axis the dims are equal, or smaller in the indices."""
    need(d.ndim >= 1 and ix.ndim == d.ndim, "rank")
    axis = axis_of(axis, d.ndim)
    need(all(j == axis or (n <= m if smaller else n == m) for j, (m, n) in enumerate(zip(d.shape, ix.shape))), "shape-mismatch")
    return elements(d, ix, axis, at)


def broadcast_elements(d, ix, axis, at):
    """One element an index; off the axis the dims broadcast."""
    need(d.ndim >= 1 and ix.ndim == d.ndim, "rank")
    axis = axis_of(axis, d.ndim)
    common = []
    for m, n in zip(d.shape, ix.shape):
        need(m == n or m == 1 or n == 1 or len(common) == axis, "shape-mismatch")
        common.append(n if m == 1 else m)
    for v in ix.ravel():  # also those that a result without elements does not reach
        at(v, d.shape[axis])
    wide = lambda x: np.broadcast_to(x, common[:axis] + [x.shape[axis]] + common[axis + 1:])
    return elements(wide(d), wide(ix), axis, at)


def vector(x):
    return x.reshape(-1)


class Call:
    """What a definition sees: arrays, attributes by name, further inputs, the policy."""

    def __init__(self, case, known):
        self.case, self.d, self.ix = case, case.data.array, case.indices and case.indices.array
        need(case.indices is None or case.indices.dtype in LIMITS, "dtype")
        self.late = []
        for name in case.attributes:
            if name not in known:
                self.late.append("attribute")
        self.fill = 0 if BITS[case.data.dtype] else ""

    def get(self, name, default=None):
        """An attribute; one that is null counts as none."""
        v = self.case.attributes.get(name)
        return default if v is None else v

    def said(self, name):
        """Whether the attribute is written, as null too."""
        return name in self.case.attributes

    def word(self, name, words):
        """An attribute whose value is one of some words; the first is the default."""
        v = self.get(name, "")
        if v != "" and v not in words:
            self.late.append("attribute")
        return v or words[0]

    def check(self):
        """Attributes are checked behind dtypes and before shapes."""
        for kind in self.late:
            raise Refused(kind)

    def input(self, scalar=False):
        """The axis, as the third input."""
        t = self.case.extra[0]
        if t.dtype not in LIMITS:
            self.late.insert(0, "dtype")
            self.check()
        self.check()
        need(t.array.ndim == 0 or not scalar and t.array.ndim == 1 and t.array.size == 1, "rank")
        return int(t.array.ravel()[0])

    def reader(self, negative, outside):
        p = self.case.policy or {}
        negative, outside = p.get("negative", negative), p.get("outside", outside)
        at = reader(negative, "fill" if outside == "zero" else outside)

        def checked(v, s):
            v = at(v, s)
            need(v is not OUTSIDE or self.fill is not None, "index-out-of-range")  # the type lacks the fill
            return v
        return checked

    def zeros(self):
        """The fill of a policy of zeros, which some types do not have."""
        self.fill = None if self.case.data.dtype in WITHOUT_ZERO else self.fill

    def jax_fill(self):
        dtype, given = self.case.data.dtype, self.case.attributes.get("fill_value")
        if given is not None:
            self.fill = code_of(dtype, given)
            if self.fill is None:
                self.late.append("attribute")
        elif dtype in ("nf4", "f4e2m1"):
            self.fill = None
        elif dtype == "bool":
            self.fill = 1
        elif dtype == "string":
            self.fill = ""
        elif dtype in LIMITS:
            self.fill = LIMITS[dtype][0] or LIMITS[dtype][1]
        else:
            self.fill = NAN[dtype]

    def filled(self, out):
        """The answer: the fill in the place of rows that are outside."""
        flat = out.ravel()
        for i, v in enumerate(flat):
            if v is OUTSIDE:
                flat[i] = self.fill
        return Tensor(self.case.data.dtype, flat.reshape(out.shape))


def code_of(dtype, value):
    """The code of a number in a dtype; None where the dtype lacks it."""
    if dtype in LIMITS:
        return value if isinstance(value, int) and LIMITS[dtype][0] <= value <= LIMITS[dtype][1] else None
    kinds = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
    if dtype in kinds:
        return int.from_bytes(kinds[dtype](value).tobytes(), "little")
    if dtype == "bf16":  # the values of the generator have few bits
        return int.from_bytes(np.float32(value).tobytes(), "little") >> 16
    raise ValueError(dtype)


DEFINITIONS = {}


def define(*names, knows=()):
    def add(f):
        for name in names:
            DEFINITIONS[name] = (f, knows)
        return f
    return add


def fixed(name, knows, negative, outside, f):
    """Defines an operator whose policy no attribute changes: f(call, at) gives the result."""
    def definition(c):
        if outside == "zero" or (c.case.policy or {}).get("outside") == "zero":
            c.zeros()
        return f(c, c.reader(negative, outside))
    DEFINITIONS[name] = (definition, knows)


def checked(f):
    def g(c, at):
        c.check()
        return f(c, at)
    return g


AXIS_BATCH = ("axis", "batch_dims")
for _op, _kind, _negative, _outside in (
        ("garner.Gather", "own", "reject", "error"), ("openvino.Gather-7", "input", "reject", "error"),
        ("openvino.Gather-8", "input", "from-end", "zero"), ("openvino.Gather-1", "input-only", "reject", "error"),
        ("onnx.Gather-1", "axis", "from-end", "error"), ("onnx.Gather-11", "axis", "from-end", "error"),
        ("onnx.Gather-13", "axis", "from-end", "error"), ("webnn.gather", "axis", "from-end", "clamp"),
        ("tensorflow.Gather", "first", "reject", "error"), ("tensorflow.GatherV2", "input-scalar", "reject", "error"),
        ("tflite.GATHER", "both", "reject", "error"), ("tflite.EMBEDDING_LOOKUP", "rows", "reject", "error")):
    fixed(_op, {"own": AXIS_BATCH, "input": ("batch_dims",), "input-only": (), "axis": ("axis",), "first": ("validate_indices",),
                           "input-scalar": ("batch_dims",), "both": AXIS_BATCH, "rows": ()}[_kind], _negative, _outside, {
        "own": checked(lambda c, at: gather(c.d, c.ix, c.get("axis", 0), c.get("batch_dims", 0), at, False)),
        "both": checked(lambda c, at: gather(c.d, c.ix, c.get("axis", 0), c.get("batch_dims", 0), at)),
        "rows": checked(lambda c, at: look_up(c.d, c.ix, at)),
        "axis": checked(lambda c, at: gather(c.d, c.ix, c.get("axis", 0), 0, at)),
        "first": checked(lambda c, at: gather(c.d, c.ix, 0, 0, at)),
        "input": lambda c, at: gather(c.d, c.ix, c.input(), c.get("batch_dims", 0), at),
        "input-only": lambda c, at: gather(c.d, c.ix, c.input(), 0, at),
        "input-scalar": lambda c, at: gather(c.d, c.ix, c.input(True), c.get("batch_dims", 0), at)}[_kind])

for _op, _batch, _negative, _outside in (
        ("garner.GatherND", True, "reject", "error"), ("openvino.GatherND-8", True, "reject", "error"),
        ("onnx.GatherND-11", False, "from-end", "error"), ("onnx.GatherND-12", True, "from-end", "error"),
        ("onnx.GatherND-13", True, "from-end", "error"), ("com.microsoft.GatherND-1", True, "from-end", "error"),
        ("webnn.gatherND", False, "from-end", "clamp"), ("tflite.GATHER_ND", False, "reject", "error")):
    fixed(_op, ("batch_dims",) if _batch else (), _negative, _outside,
                     checked(lambda c, at: gather_nd(c.d, c.ix, c.get("batch_dims", 0), at)))

for _op, _negative, _outside, _smaller in (
        ("garner.GatherElements", "reject", "error", False), ("openvino.GatherElements-6", "reject", "error", False),
        ("onnx.GatherElements-11", "from-end", "error", True), ("onnx.GatherElements-13", "from-end", "error", True),
        ("webnn.gatherElements", "from-end", "clamp", False)):
    fixed(_op, ("axis",), _negative, _outside,
                     checked(lambda c, at, smaller=_smaller: gather_elements(c.d, c.ix, c.get("axis", 0), at, smaller)))


@define("openvino.GatherND-5", knows=("batch_dims",))
def gather_nd_5(c):
    c.zeros()
    c.check()
    b = c.get("batch_dims", 0)
    out = gather_nd(c.d, c.ix, b, c.reader("reject", "error"))
    return out.reshape((math.prod(out.shape[:b]),) + out.shape[b:]) if b > 1 else out


@define("tensorflow.GatherNd", knows=("bad_indices_policy",))
@define("tensorflow.gather_nd", knows=("batch_dims", "bad_indices_policy"))
def tensorflow_gather_nd(c):
    outside = "zero" if c.word("bad_indices_policy", ("DEFAULT", "ERROR", "IGNORE")) == "IGNORE" else "error"
    c.check()
    c.zeros()
    return gather_nd(c.d, c.ix, c.get("batch_dims", 0), c.reader("reject", outside))


@define("tensorflow.gather", knows=AXIS_BATCH)
def tensorflow_gather(c):
    c.zeros()
    c.check()
    b = c.get("batch_dims", 0)
    return gather(c.d, c.ix, c.get("axis", b), b, c.reader("reject", "error"))


@define("tensorflow.batch_gather")
def batch_gather(c):
    c.zeros()
    c.check()
    need(c.d.ndim >= 1 and c.ix.ndim >= 1, "rank")
    b = c.ix.ndim - 1
    return gather(c.d, c.ix, axis_of(b, c.d.ndim), b, c.reader("reject", "error"))


NUMPY_MODES = {"raise": ("from-end", "error"), "wrap": ("reject", "wrap"), "clip": ("reject", "clamp")}


@define("numpy.take", knows=("axis", "mode"))
def numpy_take(c):
    c.zeros()
    at = c.reader(*NUMPY_MODES.get(c.word("mode", ("raise", "wrap", "clip")), ("reject", "error")))
    c.check()
    d = c.d if c.d.ndim else vector(c.d)
    axis = c.get("axis")
    if axis is None:
        d, axis = vector(d), 0
    return gather(d, c.ix, axis, 0, at)


def flat_elements(c, at):
    """Both operands flat, the indices a vector."""
    need(c.ix.ndim == 1, "rank")
    return along(vector(c.d), c.ix, 0, 0, at)


@define("numpy.take_along_axis", knows=("axis",))
def numpy_take_along_axis(c):
    c.zeros()
    c.check()
    at = c.reader("from-end", "error")
    if c.said("axis") and c.get("axis") is None:
        return flat_elements(c, at)
    return broadcast_elements(c.d, c.ix, c.get("axis", -1), at)


@define("torch.gather", knows=("dim", "sparse_grad"))
def torch_gather(c):
    c.zeros()
    c.check()
    at = c.reader("reject", "error")
    d, ix = (x if x.ndim else vector(x) for x in (c.d, c.ix))
    dim = axis_of(c.get("dim", 0), d.ndim)
    if not ix.size:
        return blank(c.ix.shape)
    return gather_elements(d, ix, dim, at, True).reshape(c.ix.shape)


@define("torch.index_select", knows=("dim",))
def torch_index_select(c):
    c.zeros()
    c.check()
    need(c.ix.ndim <= 1, "rank")
    ix, d = vector(c.ix), c.d if c.d.ndim else vector(c.d)
    dim = axis_of(c.get("dim", 0), d.ndim)
    need(c.d.ndim or ix.size == 1, "shape-mismatch")
    out = along(d, ix, dim, 0, c.reader("reject", "error"))
    return out if c.d.ndim else out.reshape(())


@define("torch.embedding", knows=("padding_idx",))
def torch_embedding(c):
    c.zeros()
    c.check()
    need(c.d.ndim == 2, "rank")
    return along(c.d, c.ix, 0, 0, c.reader("reject", "error"))


@define("torch.take")
def torch_take(c):
    c.zeros()
    c.check()
    return along(vector(c.d), c.ix, 0, 0, c.reader("from-end", "error"))


@define("torch.take_along_dim", knows=("dim",))
def torch_take_along_dim(c):
    c.zeros()
    c.check()
    if c.get("dim") is None:
        return along(vector(c.d), vector(c.ix), 0, 0, c.reader("reject", "error"))
    return broadcast_elements(c.d, c.ix, c.get("dim"), c.reader("from-end", "error"))


WINDOW = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map",
          "index_vector_dim", "slice_sizes", "indices_are_sorted")


@define("stablehlo.gather", knows=WINDOW)
@define("stablehlo.dynamic_gather", knows=WINDOW)
def stablehlo_gather(c):
    c.zeros()
    if c.case.extra and c.case.extra[0].dtype not in LIMITS:
        raise Refused("dtype")
    c.check()
    if c.case.extra:
        need(c.case.extra[0].array.ndim == 1, "rank")
        sizes = c.case.extra[0].array.tolist()
    else:
        sizes = c.get("slice_sizes", [])
    return windows(c.d, c.ix, c.case.attributes, c.get("index_vector_dim", 0), sizes, False, c.reader("reject", "clamp"))


JAX_MODES = {"jax.lax.gather": ("fill", "clip", "promise_in_bounds"), "jax.numpy.take": ("fill", "clip", "wrap"), "jax.numpy.take_along_axis": ("fill", "clip", "promise_in_bounds")}


@define("jax.lax.gather", knows=WINDOW + ("mode", "fill_value", "unique_indices"))
def jax_lax_gather(c):
    mode = c.word("mode", JAX_MODES["jax.lax.gather"])
    if mode == "fill":
        c.jax_fill()
    else:
        c.zeros()
    c.check()
    need(c.ix.ndim >= 1, "rank")
    last = c.get("index_vector_dim", c.ix.ndim - 1)
    need(last == c.ix.ndim - 1, "shape-mismatch")
    return windows(c.d, c.ix, c.case.attributes, last, c.get("slice_sizes", []), True,
                   c.reader("reject", "fill" if mode == "fill" else "clamp"))


@define("jax.numpy.take", knows=("axis", "mode", "fill_value", "unique_indices", "indices_are_sorted"))
def jax_numpy_take(c):
    mode = c.word("mode", JAX_MODES["jax.numpy.take"])
    if mode == "fill":
        c.jax_fill()
    else:
        c.zeros()
    c.check()
    d, axis = c.d, c.get("axis")
    if axis is None:
        d, axis = vector(d), 0
    need(d.ndim >= 1, "rank")
    axis = axis_of(axis, d.ndim)
    at = c.reader(*{"fill": ("from-end", "fill"), "wrap": ("from-end", "wrap")}.get(mode, ("reject", "clamp")))
    need(d.shape[axis] > 0 or not c.ix.size, "index-out-of-range")
    return gather(d, c.ix, axis, 0, at)


@define("jax.numpy.take_along_axis", knows=("axis", "mode", "fill_value", "wrap_negative_indices"))
def jax_numpy_take_along_axis(c):
    mode = c.word("mode", JAX_MODES["jax.numpy.take_along_axis"])
    if mode == "fill":
        c.jax_fill()
    else:
        c.zeros()
    c.check()
    wraps = c.get("wrap_negative_indices", mode != "promise_in_bounds")
    at = c.reader("from-end" if wraps else "reject", "fill" if mode == "fill" else "clamp")
    if c.said("axis") and c.get("axis") is None:
        return flat_elements(c, at)
    return broadcast_elements(c.d, c.ix, c.get("axis", -1), at)


MOST_DIMS = 64  # R.4


def answer(case):
    """The answer of the case's specification: a Tensor, or the Refused that it raises."""
    f, known = DEFINITIONS[case.op]
    try:
        c = Call(case, known)
        with np.errstate(all="ignore"):
            out = f(c)
        if not isinstance(out, Tensor):  # rows of data, or OUTSIDE
            out = c.filled(out)
        need(out.array.ndim <= MOST_DIMS, "rank")
        return out
    except Refused as refused:
        return refused


# ---------------------------------------------------------------- random cases

FAR = (2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 63 - 1, -2 ** 63, 2 ** 64 - 1, 127, 128, -128, 255, 256, 32768, 65535)
INDEX_TYPES = ["i64"] * 8 + ["i32"] * 6 + sorted(LIMITS)
NO_INDEX_TYPES = ["bool", "f32", "f64", "string", "complex64", "bf16", "f8e8m0", "nf4"]
DATA_TYPES = ["f32"] * 4 + ["i64"] * 2 + ["i32"] * 2 + sorted(BITS)

BATCHED = {"garner.Gather", "garner.GatherND", "openvino.Gather-7", "openvino.Gather-8", "openvino.GatherND-5", "openvino.GatherND-8",
           "onnx.GatherND-12", "onnx.GatherND-13", "com.microsoft.GatherND-1", "tensorflow.gather_nd", "tensorflow.GatherV2",
           "tensorflow.gather", "tflite.GATHER"}
NEGATIVE_BATCH = {"openvino.Gather-7", "openvino.Gather-8", "tensorflow.GatherV2", "tensorflow.gather", "tflite.GATHER"}
AXIS_INPUT = {"openvino.Gather-1", "openvino.Gather-7", "openvino.Gather-8", "tensorflow.GatherV2"}
SMALLER = {"onnx.GatherElements-11", "onnx.GatherElements-13", "torch.gather"}
BROADCAST = {"numpy.take_along_axis", "torch.take_along_dim", "jax.numpy.take_along_axis"}
TUPLES = {op for op in DEFINITIONS if "ND" in op or "Nd" in op or "gather_nd" in op}
ELEMENTS = {op for op in DEFINITIONS if "lements" in op} | BROADCAST | {"torch.gather"}
WINDOWS = {"stablehlo.gather", "stablehlo.dynamic_gather", "jax.lax.gather"}


def dialect(op):
    return op.rsplit(".", 1)[0] if op.startswith("com.microsoft") else op.split(".", 1)[0]


MAKERS = {}  # what makes the cases of operators that compute: rival_computed.py


class Maker:
    """Makes random cases. Every choice comes from the random.Random that is given."""

    def __init__(self, rng):
        self.rng = rng

    def chance(self, p):
        return self.rng.random() < p

    def dims(self, rank, most=300):
        sizes = [1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 17, 33]
        if self.chance(0.01):
            most, sizes = 6000, sizes + [64, 100, 300, 1000]
        while True:
            shape = [self.rng.choice(sizes) for _ in range(rank)]
            if rank and self.chance(0.06):
                shape[self.rng.randrange(rank)] = 0
            if math.prod(max(1, s) for s in shape) <= most:
                return shape
            if rank > 4:
                sizes = [1, 1, 1, 2, 2, 3]

    def rank(self, least=0):
        if self.chance(0.01):
            return self.rng.choice([8, 9, 10, 12, 17, 31, 32])
        return max(least, self.rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6]))

    def elements(self, dtype, shape):
        n = math.prod(shape)
        if dtype == "string":
            words = ["", "a", "bc", "é", "\u4e2d", "\x00", "long " * 9, "\x1b[31m"]
            return Tensor.of(dtype, [self.rng.choice(words) + str(i) if self.chance(0.8) else self.rng.choice(words) for i in range(n)], shape)
        if dtype == "bool":
            return Tensor.of(dtype, [self.rng.randrange(2) for _ in range(n)], shape)
        bits = BITS[dtype]
        values = [self.rng.getrandbits(bits) for _ in range(n)]
        if dtype in NAN and self.chance(0.7):  # otherwise NaNs with payloads, denormals, -0
            values = [self.plain_float(dtype, i) for i in range(n)]
        if dtype in LIMITS and LIMITS[dtype][0] < 0:
            values = [v + LIMITS[dtype][0] for v in values]
        return Tensor.of(dtype, values, shape)

    def plain_float(self, dtype, i):
        """The bits of a number without a NaN that differs from its neighbours where the type has so many."""
        if dtype.startswith("complex"):
            half = BITS[dtype] // 2
            part = "f%d" % half
            return code_of(part, i + 1) | code_of(part, -i) << half
        if dtype in ("f16", "f32", "f64"):
            return code_of(dtype, (i % 2000 + 1) / 2)
        if dtype == "bf16":
            return code_of(dtype, i % 200 + 1)
        return 1 + i % 0x70

    def indices(self, shape, limits, style):
        """Indices; component j of the last dim addresses an axis of length limits[j % len(limits)]. A value that the
        dtype lacks becomes the nearest that it has."""
        rng, n = self.rng, math.prod(shape)
        dtype = rng.choice(INDEX_TYPES if not self.chance(0.02) else NO_INDEX_TYPES)
        if dtype not in LIMITS:
            return self.elements(dtype, shape)
        low, high = LIMITS[dtype]
        out = []
        for i in range(n):
            s = limits[i % len(limits)] if limits else 1
            out.append(rng.randrange(-s, s) if style == "negative" and s else rng.randrange(s) if s > 0 else 0)
        if n and style == "outside":
            for _ in range(rng.choice([1, 1, 2, n])):
                i = rng.randrange(n)
                s = limits[i % len(limits)] if limits else 1
                out[i] = rng.choice([s, s, s + 1, -1, -1, -s, -s - 1, -s - 1, rng.randrange(-3 * s - 1, 3 * s + 2), rng.choice(FAR)])
        return Tensor.of(dtype, [min(high, max(low, v)) for v in out], shape)

    def case(self, op):
        rng = self.rng
        if op in MAKERS:
            return MAKERS[op](self, op)
        style = rng.choices(["inside", "negative", "outside"], [50, 20, 30])[0]
        wrong = self.chance(0.14)  # one more thing that may be refused
        if op in WINDOWS:
            case = self.windows(op, style, wrong)
        elif op in TUPLES:
            case = self.tuples(op, style, wrong)
        elif op in ELEMENTS:
            case = self.element_wise(op, style, wrong)
        else:
            case = self.along(op, style, wrong)
        self.words(case, wrong)
        if op not in WINDOWS and not dialect(op) == "jax" and self.chance(0.05):
            case.policy = {}
            if self.chance(0.6):
                case.policy["negative"] = rng.choice(["reject", "from-end"])
            if self.chance(0.7) or not case.policy:
                case.policy["outside"] = rng.choice(["error", "zero", "clamp", "wrap"])
            if case.policy.get("outside") == "zero" and case.data.dtype in WITHOUT_ZERO:
                case.policy["outside"] = "clamp"
        return case

    def data(self, shape):
        return self.elements(self.rng.choice(DATA_TYPES), shape)

    def number(self, true, low, high, wrong):
        """An attribute: its value, or where the case is to be wrong a number near the ends of its range."""
        if wrong and self.chance(0.5):
            return self.rng.choice([low - 1, low, high, high + 1, high + 2, -1, self.rng.choice([2 ** 31, -2 ** 31, 2 ** 62, -2 ** 63])])
        return true

    def along(self, op, style, wrong):
        rng = self.rng
        name = "dim" if dialect(op) == "torch" else "axis"
        r = self.rank(0 if wrong or op.startswith(("numpy", "torch")) else 1)
        shape = self.dims(r)
        if op == "torch.embedding" and not wrong:
            shape = self.dims(2)
            r = 2
        if op == "tflite.EMBEDDING_LOOKUP" and not wrong:
            r = max(2, r)
            shape = self.dims(r)
        axis = rng.randrange(r) if r else 0
        batch = 0
        if op in BATCHED and self.chance(0.6):
            batch = rng.randrange(0, min(3, axis) + 1)
        attributes, extra, flat = {}, [], False
        if op in ("tensorflow.Gather", "torch.embedding", "tflite.EMBEDDING_LOOKUP"):
            axis = 0
        if op == "tensorflow.batch_gather":
            batch = axis = rng.randrange(r) if r else 0
        if op == "torch.take":
            flat = True
        if op in ("numpy.take", "jax.numpy.take") and self.chance(0.25):
            flat = True
            if self.chance(0.3):
                attributes["axis"] = None
        middle = self.dims(rng.choice([0, 1, 1, 2, 3]), 60)
        if op in ("torch.index_select", "tflite.EMBEDDING_LOOKUP"):
            middle = self.dims(rng.choice([0, 1, 1, 1, 1, 2 if wrong else 1]), 60)
        elif op == "tensorflow.batch_gather":
            middle = self.dims(1, 60)
        shape_of_indices = shape[:batch] + middle
        if wrong and batch and self.chance(0.4):
            shape_of_indices[rng.randrange(batch)] += 1
        q = len(shape_of_indices)
        limit = math.prod(shape) if flat else shape[axis] if r else 1
        said = self.number(axis - r if self.chance(0.25) else axis, -r, r - 1, wrong)
        if op in AXIS_INPUT:
            form = rng.choice([[], [], [1]] if not wrong else [[], [1], [2], [0]])
            if op == "tensorflow.GatherV2" and not wrong:
                form = []
            dtype = rng.choice(["i64", "i64", "i32"] + (sorted(LIMITS) if self.chance(0.3) else []))
            if wrong and self.chance(0.1):
                dtype = rng.choice(["f32", "bool"])
            low, high = LIMITS.get(dtype, (0, 1))
            value = min(high, max(low, said if low < 0 or said >= 0 else axis))
            if not low <= axis <= high:  # the type cannot say this axis
                dtype, value = "i64", said
            if dtype == "f32":
                value = code_of("f32", value)
            extra.append(Tensor.of(dtype, [value] * math.prod(form), form))
        elif op in ("tensorflow.Gather", "tensorflow.batch_gather", "torch.embedding", "torch.take", "tflite.EMBEDDING_LOOKUP"):
            pass
        elif flat:
            pass
        elif op == "tensorflow.gather":
            if axis != batch or self.chance(0.5):
                attributes["axis"] = said
        elif dialect(op) == "torch" or said or self.chance(0.5):
            attributes[name] = said
        if op in BATCHED and (batch or wrong or self.chance(0.1)):
            said = batch
            if op in NEGATIVE_BATCH and batch and q > batch and self.chance(0.3):
                said = batch - q
                if op == "tensorflow.gather":
                    attributes.setdefault("axis", axis)
            attributes["batch_dims"] = self.number(said, -q, min(q, axis), wrong)
        indices = self.indices(shape_of_indices, [limit], style)
        return Case(op, attributes, self.data(shape), indices, extra)

    def tuples(self, op, style, wrong):
        rng = self.rng
        r = self.rank(0 if wrong else 1)
        shape = self.dims(r)
        b = rng.randrange(0, min(3, r - 1) + 1) if op in BATCHED and r > 1 and self.chance(0.6) else 0
        k = rng.randrange(0 if self.chance(0.1) else min(1, r - b), r - b + 1) if r else rng.randrange(2)
        middle = self.dims(rng.choice([0, 1, 1, 2]), 60)
        limits = shape[b:b + k]
        of_indices = shape[:b] + middle + [k]
        attributes = {}
        if wrong and self.chance(0.5):
            if b and self.chance(0.5):
                of_indices[rng.randrange(b)] += 1
            elif self.chance(0.5):
                of_indices[-1] = r - b + 1
            else:
                of_indices = of_indices[:-1]
        if op in BATCHED and (b or wrong) or wrong and self.chance(0.1):
            attributes["batch_dims"] = self.number(b, 0, max(0, min(r, len(of_indices)) - 1), wrong)
        return Case(op, attributes, self.data(shape), self.indices(of_indices, limits, style))

    def element_wise(self, op, style, wrong):
        rng = self.rng
        torch = dialect(op) == "torch"
        name = "dim" if torch else "axis"
        r = self.rank(0 if wrong or op == "torch.gather" else 1)
        shape = self.dims(r)
        axis = rng.randrange(r) if r else 0
        if op in BROADCAST and self.chance(0.15):  # flat
            attributes = {name: None} if not torch or self.chance(0.5) else {}
            n = self.dims(rng.choice([1, 1, 1, 2, 0]) if torch or wrong else 1, 40)
            return Case(op, attributes, self.data(shape), self.indices(n, [math.prod(shape)], style))
        of_indices = list(shape)
        if r:
            of_indices[axis] = self.dims(1, 40)[0]
        if not torch and op in BROADCAST and self.chance(0.15):
            axis_said = None
        else:
            axis_said = self.number(axis - r if self.chance(0.25) else axis, -r, r - 1, wrong)
        for j in range(r):
            if j == axis:
                continue
            if op in SMALLER and self.chance(0.3):
                of_indices[j] = rng.randrange(0 if self.chance(0.1) else min(1, shape[j]), shape[j] + 1)
            if op in BROADCAST and self.chance(0.2):
                (of_indices if self.chance(0.5) else shape)[j] = 1
            if wrong and self.chance(0.2):
                of_indices[j] += rng.choice([1, 2])
        if wrong and self.chance(0.2):
            of_indices = of_indices + [1] if self.chance(0.5) else of_indices[:-1]
        if op == "torch.gather" and self.chance(0.03):  # no element: any rank and extents
            of_indices = rng.choice([[0], [2, 0], [0, 7], [5, 0, 4], [0, 0]])
        attributes = {}
        if axis_said is None:
            if axis != r - 1:  # a missing axis is the last
                shape, of_indices = shape[:axis] + shape[axis + 1:] + shape[axis:axis + 1], of_indices[:axis] + of_indices[axis + 1:] + of_indices[axis:axis + 1]
        elif op in BROADCAST or torch or axis_said or self.chance(0.5):
            attributes[name] = axis_said
        limit = shape[-1] if axis_said is None and r else shape[axis] if r else 1
        return Case(op, attributes, self.data(shape), self.indices(of_indices, [limit], style))

    def windows(self, op, style, wrong):
        rng = self.rng
        r = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]) if self.chance(0.2) else rng.choice([1, 2, 2, 3, 3, 4])
        shape = self.dims(r)
        order = rng.sample(range(r), r)
        nb = rng.choice([0, 0, 0, 1, 1, 2]) if r > 1 else 0
        batching, rest = order[:nb], order[nb:]
        collapsed = sorted(x for x in rest if self.chance(0.4) and shape[x])
        to = [x for x in rest if self.chance(0.6)]
        rng.shuffle(to)
        if op == "jax.lax.gather" or not wrong and to:
            to = to or rest[:1]
        sizes = [1 if x in collapsed or x in batching else rng.randint(0 if self.chance(0.05) else min(1, shape[x]), shape[x]) for x in range(r)]
        for x in batching:
            sizes[x] = min(1, shape[x])
        starts = self.dims(rng.choice([0, 1, 1, 2]), 20)
        for x in batching:
            starts.insert(rng.randrange(len(starts) + 1), shape[x])
        # Which dims of the starts move with the operand's: equal extents, each once.
        moving, free = [], list(range(len(starts)))
        for x in batching:
            y = next(j for j in free if starts[j] == shape[x])
            moving.append(y)
            free.remove(y)
        pairs = sorted(zip(batching, moving))
        batching, moving = [x for x, _ in pairs], [y for _, y in pairs]
        last = len(starts)
        of_indices = starts + [len(to)]
        if op != "jax.lax.gather":
            if self.chance(0.3):
                last = rng.randrange(len(starts) + 1)
                of_indices = starts[:last] + [len(to)] + starts[last:]
                moving = [y + (y >= last) for y in moving]
            elif len(to) == 1 and self.chance(0.3):
                of_indices = starts
        window = [x for x in range(r) if x not in collapsed and x not in batching]
        rank = len(starts) + len(window)
        offset = sorted(rng.sample(range(rank), len(window)))
        a = {"offset_dims": offset, "collapsed_slice_dims": collapsed, "operand_batching_dims": batching,
             "start_indices_batching_dims": moving, "start_index_map": to}
        if op != "jax.lax.gather":
            a["index_vector_dim"] = last
        extra = []
        if wrong:
            key = rng.choice(sorted(a))
            if isinstance(a[key], list):
                a[key] = a[key] + [rng.choice([0, 1, r, -1])] if self.chance(0.5) or not a[key] else a[key][1:]
            elif self.chance(0.7):
                a[key] += rng.choice([1, -1, 2])
            if self.chance(0.3) and r:
                sizes[rng.randrange(r)] += rng.choice([1, -1, 5])
        if op == "stablehlo.dynamic_gather":
            extra.append(Tensor.of(rng.choice(["i64", "i32"]), sizes, [len(sizes)]))
        else:
            a["slice_sizes"] = sizes
        if math.prod(starts) * math.prod(sizes) > 2000:
            return self.windows(op, style, wrong)
        limits = [max(1, shape[x] - sizes[x] + 1) for x in to]
        indices = self.indices(of_indices, limits if last == len(starts) else [max(limits, default=1)], style)
        return Case(op, {k: v for k, v in a.items() if v != [] or self.chance(0.3)}, self.data(shape), indices, extra)

    def words(self, case, wrong):
        """The attributes that are words, and fill values."""
        rng, op, a = self.rng, case.op, case.attributes
        if op in ("tensorflow.GatherNd", "tensorflow.gather_nd") and self.chance(0.5):
            a["bad_indices_policy"] = rng.choice(["", "DEFAULT", "ERROR", "IGNORE", "IGNORE"])
        elif op == "numpy.take" and self.chance(0.7):
            a["mode"] = rng.choice(["raise", "wrap", "clip"])
        elif dialect(op) == "jax":
            if self.chance(0.8):
                a["mode"] = rng.choice(["promise_in_bounds", "wrap"] if wrong and self.chance(0.1) else JAX_MODES[op])
            if op == "jax.numpy.take_along_axis" and self.chance(0.25):
                a["wrap_negative_indices"] = rng.choice([True, False])
            if a.get("mode", "fill") == "fill" and self.chance(0.3):
                self.fill_value(case)
        elif op == "torch.embedding" and self.chance(0.1) and case.data.shape[:1] > (0,):
            a["padding_idx"] = 0
        if wrong and self.chance(0.15):
            a[rng.choice(["mode", "axes", "bad_indices_policy"])] = rng.choice(["CLAMP", "nearest"])

    def fill_value(self, case):
        dtype = case.data.dtype
        if dtype in LIMITS:
            low, high = LIMITS[dtype]
            case.attributes["fill_value"] = self.rng.choice([low, high, 0, 1, high // 2])
        elif dtype in ("f16", "bf16", "f32", "f64"):
            case.attributes["fill_value"] = self.rng.choice([0, 1, -2, 0.5, 1.5, 3])
