"""Writes values.json: what element values are, by numpy and ml_dtypes.

    pip install numpy ml_dtypes==0.6.0
    python make_values.py

decode   dtype -> [[code, value]]: the value of a code as Python prints the
         float64 that holds it exactly ("nan", "inf", "-inf")
encode   dtype -> [[decimal, code]]: the code nearest to a decimal, above all
         where rounding to float64 first would go astray; code null: any NaN
text     dtype -> [[code, text]]: the shortest decimal that reads back as code,
         for values that are not integral
integers dtype -> [[code, value]]

The codes of "encode" are found with fractions over all values of the dtype,
because ml_dtypes rounds to float32 first. Wherever a decimal is a float32, the
script holds them against ml_dtypes.
"""

import json
import math
import random
import statistics
from decimal import Decimal, getcontext
from fractions import Fraction

import ml_dtypes
import numpy as np

getcontext().prec = 400
random.seed(20240521)

FLOATS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
}
INTEGERS = {
    "i2": (2, ml_dtypes.int2), "u2": (2, ml_dtypes.uint2),
    "i4": (4, ml_dtypes.int4), "u4": (4, ml_dtypes.uint4),
    "i8": (8, np.int8), "u8": (8, np.uint8),
}

# The sixteen values of 4-bit NormalFloat as bitsandbytes and OpenVINO hold them.
NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]


def check_nf4():
    """Holds the table against the quantiles that define it (QLoRA, appendix E)."""
    ppf = statistics.NormalDist().inv_cdf
    top = 0.9677083
    up = [ppf(top + (0.5 - top) * i / 8) for i in range(8)]
    down = [-ppf(top + (0.5 - top) * i / 7) for i in range(7)]
    values = sorted(up + [0.0] + down)
    for got, want in zip(NF4, values):
        assert abs(got - want / max(up)) < 1e-5, (got, want / max(up))
        assert float(np.float32(got)) == got


def width(name):
    return {"f16": 16, "bf16": 16, "f4e2m1": 4}.get(name, 8)


def values(name):
    """The float64 value of every code."""
    t = FLOATS[name]
    raw = np.arange(1 << width(name)).astype(np.uint16 if width(name) == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        return [float(v) for v in raw.view(t).astype(np.float64)]


class Format:
    """The positive half of a dtype, as fractions, and one value past its end."""

    def __init__(self, name):
        self.name, self.type = name, FLOATS[name]
        self.values = values(name)
        self.sign = 0 if name == "f8e8m0" else 1 << (width(name) - 1)
        half = self.values[: self.sign or 255]
        self.finite = [Fraction(v) for v in half if math.isfinite(v)]
        self.past = 2 * self.finite[-1] - self.finite[-2]
        if name == "f8e8m0":
            self.past = 2 * self.finite[-1]

    def cast(self, value):
        with np.errstate(all="ignore"):
            raw = np.array([value], np.float32).astype(self.type)
        return int(raw.view(np.uint16 if width(self.name) == 16 else np.uint8)[0])

    def nearest(self, x, negative):
        """The code nearest to the fraction x >= 0; None for NaN."""
        line = self.finite + [self.past]
        low, high = 0, len(line)
        while high - low > 1:
            middle = (low + high) // 2
            if line[middle] <= x:
                low = middle
            else:
                high = middle
        code = low
        if x >= self.past:
            code = len(self.finite)
        elif x >= line[0]:
            below, above = x - line[low], line[low + 1] - x
            up_on_tie = self.name == "f8e8m0" or low % 2 == 1
            if above < below or above == below and up_on_tie:
                code = low + 1
        if code == len(self.finite):
            code = self.cast(-math.inf if negative else math.inf)
            if negative and code & self.sign == 0:
                negative = False
            return None if math.isnan(self.values[code]) else code
        if negative and not (code == 0 and "fnuz" in self.name):
            code |= self.sign
        return code


def is_float32(x):
    try:
        f = float(x)
    except OverflowError:
        return False
    return Fraction(f) == x and abs(f) < 3.5e38 and float(np.float32(f)) == f and (f == 0 or abs(f) > 2.0**-149)


def decimal(x):
    """A fraction of a power of two as an exact decimal."""
    d = Decimal(x.numerator) / Decimal(x.denominator)
    assert Fraction(d) == x
    return d


def encode(name):
    f = Format(name)
    line = f.finite + [f.past]
    pairs = list(range(len(line) - 1))
    if len(pairs) > 300:
        chosen = set(pairs[:6] + pairs[-6:]) | set(random.sample(pairs, 60))
        chosen |= {i for i in pairs if line[i + 1] - line[i] != line[i] - line[i - 1] and random.random() < 0.3}
        pairs = sorted(chosen)
    elif name == "f8e8m0":
        pairs = pairs[:3] + pairs[3:-3:8] + pairs[-3:]
    decimals = []
    for i in pairs:
        middle = decimal((line[i] + line[i + 1]) / 2)
        # Nearer to halfway than a float64 can say.
        nudge = middle.scaleb(-25)
        nudge = Decimal((0, (1,), nudge.adjusted()))
        for d in (middle, middle + nudge, middle - nudge):
            decimals.append(format(d, "e" if abs(d.adjusted()) > 8 else "f"))
    if name != "f8e8m0":
        decimals += ["0", "0.0", "0e99", "1e-400", "." + "0" * 60 + "1"]
    decimals += ["1", "1.", ".5", "3.14159", "2.7182818284590452353602874713526624977572", "1E2",
                 "+1.0e+01", "100000000000000000000000000000000000000000e-41", "1e39", "1e309", "1e9999", "1e-9999", "Infinity", "inf"]
    if name == "f8e8m0":
        decimals += ["1e-45", "1e-400", "5.8774717541114375e-39"]
    out = []
    for text in decimals:
        for signed in (text, "-" + text):
            negative = signed.startswith("-")
            if negative and (text.startswith("+") or name == "f8e8m0"):
                continue
            if name in ("f16", "bf16") and negative and random.random() < 0.6:
                continue
            if text in ("Infinity", "inf"):
                x, as_float = f.past * 2, math.inf
            else:
                # As fractions these would be long; what lies further out does as well.
                x = Fraction(Decimal({"1e9999": "1e350", "1e-9999": "1e-350"}.get(text, text)))
                as_float = float(x) if is_float32(x) else None
            code = f.nearest(x, negative)
            if as_float is not None and not (as_float == 0 and name == "f8e8m0"):
                cast = f.cast(-as_float if negative else as_float)
                same = math.isnan(f.values[cast]) if code is None else cast == code
                assert same, (name, signed, code, cast)
            out.append([signed, code])
    if name != "f4e2m1":
        out.append(["NaN", None])
        out.append(["nan", None])
    return out


def encode_nf4():
    line = [Fraction(v) for v in NF4]
    out = []
    for i in range(15):
        middle = decimal((line[i] + line[i + 1]) / 2)
        nudge = Decimal((0, (1,), middle.adjusted() - 40))
        out.append([format(middle, "f"), i])
        out.append([format(middle - nudge, "f"), i])
        out.append([format(middle + nudge, "f"), i + 1])
        out.append([repr(NF4[i]), i])
    return out + [["1.0", 15], ["7", 15], ["-7", 0], ["1e400", 15], ["-Infinity", 0], ["0", 7], ["-0.0", 7], ["0.7", 14], ["-0.7", 1]]


def codes(name):
    """All codes of a narrow dtype; of a wide one the extremes and a sample."""
    n = 1 << width(name)
    if n <= 256:
        return range(n)
    half = n // 2
    infinity = int(np.array([np.inf], FLOATS[name]).view(np.uint16)[0])
    step = infinity // 31 if name == "f16" else 128
    chosen = set(range(0, 40)) | set(range(infinity - 20, infinity + 3)) | {half - 1}
    for power in range(0, infinity, step):
        chosen |= {max(power - 1, 0), power, power + 1}
    chosen |= set(random.sample(range(infinity), 600))
    chosen |= {c | half for c in random.sample(sorted(chosen), 300)} | {half, half + infinity, n - 1}
    return sorted(chosen)


def shortest(f, code):
    """The shortest decimal nearest to code, by trying all lengths."""
    negative = f.sign != 0 and code & f.sign != 0
    value = abs(decimal(Fraction(f.values[code])))
    for n in range(1, 40):
        unit = Decimal((0, (1,), value.adjusted() - n + 1))
        down = (value // unit) * unit
        fitting = [d for d in (down, down + unit) if f.nearest(Fraction(d), negative) == code]
        if fitting:
            best = min(fitting, key=lambda d: (abs(d - value), int(d / unit) % 2))
            return repr(-float(best) if negative else float(best))
    raise AssertionError(code)


def text(name):
    f = Format(name)
    out = []
    for code in codes(name):
        v = f.values[code]
        if not math.isfinite(v) or v == int(v) and abs(v) < 1e16:
            continue
        want = shortest(f, code)
        if name == "f16":
            printed = str(np.array([code], np.uint16).view(np.float16)[0])
            assert float(printed) == float(want), (code, printed, want)
        out.append([code, want])
    if len(out) > 400:
        out = sorted(random.sample(out, 400))
    return out


def text_wide(dtype, unsigned):
    """numpy's own shortest decimals of float32 and float64."""
    bits = np.dtype(dtype).itemsize * 8
    out = []
    with np.errstate(all="ignore"):
        patterns = [random.getrandbits(bits) for _ in range(120)]
        patterns += [int(np.array([dtype(10) ** dtype(e) * dtype(1.7)]).view(unsigned)[0]) for e in range(-9, 21)]
    for code in patterns:
        v = np.array([code], unsigned).view(dtype)[0]
        if np.isfinite(v) and not (v == np.trunc(v) and abs(v) < 1e16):
            out.append([str(code), repr(float(str(v)))])
    return out


def text_powers():
    """numpy's shortest decimals of the powers of two of f8e8m0, as float32.

    Those halfway between two such decimals are left out: Go takes the upper
    one, numpy the even one.
    """
    out = []
    for code, v in enumerate(values("f8e8m0")):
        if not math.isfinite(v) or v == int(v) and v < 1e16:
            continue
        printed = repr(float(str(np.float32(v))))
        d = Decimal(printed)
        if abs(d - Decimal(v)) * 2 != Decimal((0, (1,), d.as_tuple().exponent)):
            out.append([code, printed])
    return out


def main():
    check_nf4()
    result = {"decode": {}, "encode": {}, "text": {}, "integers": {}}
    for name in FLOATS:
        all_values = values(name)
        result["decode"][name] = [[c, repr(all_values[c])] for c in codes(name)]
        result["encode"][name] = encode(name)
        if name != "f8e8m0":
            result["text"][name] = text(name)
    result["decode"]["nf4"] = [[c, repr(v)] for c, v in enumerate(NF4)]
    result["encode"]["nf4"] = encode_nf4()
    result["text"]["nf4"] = [[c, str(np.float32(v))] for c, v in enumerate(NF4) if v != int(v)]
    result["text"]["f8e8m0"] = text_powers()
    result["text"]["f32"] = text_wide(np.float32, np.uint32)
    result["text"]["f64"] = text_wide(np.float64, np.uint64)
    for name, (bits, t) in INTEGERS.items():
        raw = np.arange(1 << bits).astype(np.uint8).view(t)
        result["integers"][name] = [[c, int(raw[c])] for c in range(1 << bits)]
    with open("values.json", "w") as out:
        out.write("{\n")
        sections = []
        for section, by_type in result.items():
            lines = [f'  "{name}": {json.dumps(rows, separators=(",", ":"))}' for name, rows in by_type.items()]
            sections.append(f'"{section}": {{\n' + ",\n".join(lines) + "\n}")
        out.write(",\n".join(sections) + "\n}\n")


main()
