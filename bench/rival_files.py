"""Random hostile files for rival.py, and the command garner held against them under limits.

    rival_files.py --garner GARNER --files N --seed S [--only NAME] [--first I] [--keep DIR]

Half of the files are written here to be hostile: truncated, nested, overlapping,
with huge counts, control characters, chains that double. The other half are
files of the tree with a few bytes changed. A finding is

- a limit that is exceeded: 1 s of processor, and for `model` and `lint` of a file
  below 1 MB 100 MB of memory; the other commands run within RLIMIT_AS;
- a crash: a signal, or the text of a panic;
- a control character, a bidi control or invalid UTF-8 on standard output or error.

Every file follows from the seed and its number, so `--first I --files 1` makes one
again. --keep keeps the files of findings. Each finding is a line of JSON, and the
last line counts.

This program imports no numpy: the memory of the parent counts as the child's until
the child's exec, and the parent must stay small.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

SECONDS = 1.0            # of processor
MEMORY = 100 << 20       # bytes resident
SMALL = 1_000_000        # bytes: the limits of model and lint hold below
ADDRESSES = 4 << 30      # bytes: a Go program reserves more than 1 GiB before it begins
LONGEST = 60             # seconds of the clock, after which a command is killed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# ---------------------------------------------------------------- texts

ODD = ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u009b31m", "a\x00b", "a\rb", "a\x08b", "\x7f", "\u202eevil", "\u2066x\u2069", "\u2028line", "\ufeff",
       "\x85next", "\x9d0;t\x9c", "tab\tend", "new\nline", "\ud7ff\ue000", "\U000e0041", "' \" \\ `", "#", "../../x", "%s%n", "\u0301" * 20]
HUGE = [0, 1, 2, 127, 128, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1]


class Maker:
    """Makes hostile files. Every choice comes from rng."""

    def __init__(self, rng):
        self.rng = rng

    def name(self):
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice(ODD)
        return rng.choice(["a", "b", "weight", "x" * rng.choice([1, 100, 5000]), "é", ""])

    def huge(self):
        return self.rng.choice(HUGE)

    def count(self, most):
        """A number up to most, of any size."""
        return self.rng.randrange(2 ** self.rng.randrange(1, max(most.bit_length(), 1) + 1)) % (most + 1)

    # ------------------------------------------------------------ arrays

    def npy(self):
        rng = self.rng
        header = rng.choice([
            "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (
                rng.choice(["<f4", "|u1", ">i8", "<U5", "|S7", "|O", "<M8[ns]", "<f16", "|V3", "<f4" + self.name(), self.name(), "<U%d" % self.huge(), "|V%d" % self.huge()]),
                rng.choice(["False", "True", "None", "0"]),
                rng.choice(["(3,)", "()", "(%d,)" % self.huge(), "(%d, %d)" % (self.huge(), self.huge()), "(0, %d, %d)" % (self.huge(), self.huge()),
                            "(-1,)", "(" + "1, " * rng.choice([5, 64, 3000]) + ")", "(1e9,)", "((((((1,),),),),),)", "(" * 3000])),
            "{'descr': [('a', '<f4'), ('%s', '<i8', (%d,))], 'fortran_order': False, 'shape': (2,), }" % (self.name(), self.huge()),
            "{" + "'descr': '<f4', " * self.count(3000) + "}", "[" * 5000, self.name(), "{'descr': " + "[" * 2000])
        text = header.encode("utf-8", "surrogatepass")
        length = len(text) if rng.random() < 0.8 else self.huge()
        version = rng.choice([1, 1, 2, 3, 9])
        size = struct.pack("<H", length & 0xffff) if version == 1 else struct.pack("<I", length & 0xffffffff)
        return ".npy", b"\x93NUMPY" + bytes([version, 0]) + size + text + bytes(self.count(300))

    def npz(self):
        """A zip whose members may overlap, lie about their sizes or share one header."""
        rng = self.rng
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
        _, hostile = self.npy()
        array = rng.choice([hostile, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(12)])
        body, directory, members = b"", b"", rng.choice([1, 2, 5, self.count(8000)])
        overlap = rng.random() < 0.4
        squeezed = rng.random() < 0.3
        if squeezed:
            compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
            content = array + (bytes(rng.choice([0, 1000, 50_000_000])) if rng.random() < 0.3 else b"")
            stored = compressor.compress(content) + compressor.flush()
        else:
            content = stored = array
        flags, method, crc = 0x800, 8 if squeezed else 0, zlib.crc32(content)
        first = None
        for i in range(members):
            name = ((self.name() if rng.random() < 0.2 else "a%d" % i) + rng.choice([".npy", ".npy", ""])).encode("utf-8", "surrogatepass")[:2000]
            sizes = [len(stored), len(content)] if rng.random() < 0.9 else [self.huge() & 0xffffffff, self.huge() & 0xffffffff]
            at = len(body)
            if overlap and first is not None:
                at = first
            else:
                body += struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, flags, method, 0, 0, crc, sizes[0], sizes[1], len(name), 0) + name + stored
                first = at
            if rng.random() < 0.02:
                at = self.huge() & 0xffffffff
            directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, flags, method, 0, 0, crc, sizes[0], sizes[1], len(name), 0, 0, 0, 0, 0, at) + name
            if len(body) > 800_000:
                break
        n = members & 0xffff if rng.random() < 0.9 else 0xffff
        return ".npz", body + directory + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, n, n, len(directory), len(body), 0)

    def safetensors(self):
        rng = self.rng
        entries = []
        if rng.random() < 0.4:
            entries.append([rng.choice(["__metadata__", self.name()]), {self.name(): self.name() for _ in range(self.count(2000))}])
        n = rng.choice([1, 2, 3, self.count(5000)])
        for i in range(n):
            begin = rng.choice([0, 4 * i, 8, self.huge()])
            entries.append([self.name() if rng.random() < 0.3 else "t%d" % i, {
                "dtype": rng.choice(["F32", "F32", "I64", "BF16", "F4", "F6_E2M3", self.name()]),
                "shape": rng.choice([[1], [], [0], [self.huge()], [self.huge(), self.huge()], [1] * rng.choice([3, 70, 2000]), [-1], None, "x"]),
                "data_offsets": rng.choice([[begin, begin + 4], [begin, begin], [begin + 4, begin], [begin], [0, self.huge()], None])}])
        text = "{" + ",".join("%s:%s" % (json.dumps(k, ensure_ascii=rng.random() < 0.5), json.dumps(v)) for k, v in entries) + "}"
        text = rng.choice([text, text, text, "[" * 100_000, '{"a":' * 30_000, '{"a":{"dtype":' + "[" * 50_000, text[:-1]])
        raw = text.encode("utf-8", "surrogatepass")
        return ".safetensors", struct.pack("<Q", len(raw) if rng.random() < 0.85 else self.huge()) + raw + bytes(self.count(100))

    def index(self):
        rng = self.rng
        files = [self.name() for _ in range(3)] + ["a.safetensors", "/dev/zero", ".", "../" * 50 + "etc/passwd"]
        weights = {self.name() if rng.random() < 0.5 else "t%d" % i: rng.choice(files) for i in range(rng.choice([1, 3, self.count(5000)]))}
        text = json.dumps({"metadata": {"total_size": self.huge()}, "weight_map": weights}, ensure_ascii=rng.random() < 0.5)
        return ".safetensors.index.json", rng.choice([text, text, "[" * 100_000, text[:self.count(len(text))]]).encode("utf-8", "surrogatepass")

    def gguf(self):
        rng = self.rng
        text = lambda s: struct.pack("<Q", len(s) if rng.random() < 0.95 else self.huge()) + s
        word = lambda: text(self.name().encode("utf-8", "surrogatepass"))

        def value(depth=0):
            kind = rng.choice([0, 4, 5, 6, 7, 8, 8, 9, 9, 10, 12, 13, 77])
            if kind == 9:
                inner = rng.choice([4, 8, 9, 0])
                n = rng.choice([0, 1, 3, self.count(20_000), self.huge()])
                if inner == 9 and depth < 500:
                    return struct.pack("<IIQ", 9, 9, 1) + value(depth + 1)[4:]
                if inner == 8:
                    return struct.pack("<IIQ", 9, 8, n) + word() * min(n, 3000)
                return struct.pack("<IIQ", 9, inner, n) + bytes(min(n, 20_000) * 4)
            return struct.pack("<I", kind) + (word() if kind == 8 else bytes({0: 1, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 12: 8}.get(kind, 8)))
        keys = [text(b"general.alignment") + struct.pack("<II", 4, rng.choice([0, 1, 3, 32, 2 ** 31, 2 ** 32 - 1]))] if rng.random() < 0.3 else []
        keys += [word() + value() for _ in range(rng.choice([0, 1, 3, self.count(3000)]))]
        tensors = []
        for i in range(rng.choice([0, 1, 2, self.count(5000)])):
            dims = [rng.choice([1, 32, 256, self.huge()]) for _ in range(rng.choice([1, 2, 4, 5, 0]))]
            tensors.append((word() if rng.random() < 0.3 else text(b"t%d" % i)) + struct.pack("<I", len(dims) if rng.random() < 0.95 else self.huge() & 0xffffffff)
                           + b"".join(struct.pack("<Q", d) for d in dims) + struct.pack("<IQ", rng.choice([0, 1, 8, 2, 30, 99, 2 ** 32 - 1]), rng.choice([0, 32, 64, self.huge()])))
        counts = [len(tensors), len(keys)] if rng.random() < 0.8 else [self.huge(), self.huge()]
        return ".gguf", b"GGUF" + struct.pack("<IQQ", rng.choice([3, 3, 2, 1, 99]), *counts) + b"".join(keys)[:900_000] + b"".join(tensors) + bytes(self.count(4000))

    # ------------------------------------------------------------ ONNX

    def onnx(self):
        """A model that doubles, nests, repeats or names hostile things."""
        rng = self.rng
        n = rng.choice([3, 20, 60, self.count(3000), self.count(12_000)])
        at = rng.choice(["chain", "diamond", "functions", "nested", "many", "initialisers", "names", "imports", "loops", "consumers", "sequences", "cycle", "shapes"])
        table = lambda name: field(5, varint_field(1, 2) + varint_field(1, 2) + varint_field(2, 1) + field(8, name) + field(9, bytes(16)))
        value = lambda name, dims=(2,): field(1, name) + field(2, field(1, varint_field(1, 7) + field(2, b"".join(field(1, varint_field(1, d)) for d in dims))))
        gather = lambda data, indices, out: onnx_node(b"Gather", [data, indices], [out])
        functions, opsets = b"", field(8, varint_field(2, 17))
        if at == "chain":
            nodes = b"".join(onnx_node(rng.choice([b"Identity", b"Cast", b"Reshape", b"Unsqueeze"]), [b"v%d" % i], [b"v%d" % (i + 1)]) for i in range(n))
            nodes += b"".join(gather(b"w", b"v%d" % rng.choice([n, self.count(n)]), b"o%d" % i) for i in range(rng.choice([1, n])))
            graph = nodes + table(b"w") + field(11, value(b"v0")) + field(12, value(b"o0"))
        elif at == "diamond":
            op = rng.choice([b"Add", b"Mul", b"Concat", b"Where", b"Max"])
            nodes = b"".join(onnx_node(op, [b"v%d" % i] * rng.choice([2, 2, 3]), [b"v%d" % (i + 1)]) for i in range(n))
            graph = nodes + gather(b"w", b"v%d" % n, b"o0") + table(b"w") + field(11, value(b"v0")) + field(12, value(b"o0"))
        elif at == "functions":
            # Each function calls the one before twice or more.
            depth, calls = min(n, rng.choice([7, 30, 300])), rng.choice([1, 2, 6])
            opsets += field(8, field(1, b"f") + varint_field(2, 1))
            for i in range(depth):
                if i:
                    body = b"".join(field(7, onnx_body(b"f%d" % (i - 1), [b"x", b"i"], [b"y%d" % j if j else b"y"], b"f")) for j in range(calls))
                else:
                    body = field(7, onnx_body(b"Gather", [b"x", b"i"], [b"y"]))
                functions += field(25, field(1, b"f%d" % i) + field(4, b"x") + field(4, b"i") + field(5, b"y") + body + field(9, varint_field(2, 17))
                                   + field(9, field(1, b"f") + varint_field(2, 1)) + field(10, b"f"))
            graph = onnx_node(b"f%d" % (depth - 1), [b"w", b"v0"], [b"o0"], b"f") + table(b"w") + field(11, value(b"v0")) + field(12, value(b"o0"))
        elif at == "nested":
            graph = gather(b"w", b"v0", b"o0")
            for i in range(min(n, rng.choice([10, 200, 2000]))):
                branch = graph + field(2, b"g") + field(12, value(b"o%d" % i))
                attributes = [onnx_graph(b"then_branch", branch)] + ([onnx_graph(b"else_branch", branch)] if rng.random() < 0.1 and len(branch) < 100_000 else [])
                graph = onnx_node(rng.choice([b"If", b"Loop", b"Scan"]), [b"c"], [b"o%d" % (i + 1)], attributes=attributes)
                if len(graph) > 600_000:
                    break
            graph += table(b"w") + field(11, value(b"v0"))
        elif at == "many":
            graph = b"".join(gather(b"w", b"v0", b"o%d" % i) for i in range(n)) + table(b"w") + field(11, value(b"v0"))
        elif at == "initialisers":
            graph = b"".join(field(5, field(8, rng.choice([b"", b"w%d" % i]))) for i in range(rng.choice([n, 100_000]))) + gather(b"w", b"v0", b"o0") + table(b"w")
        elif at == "imports":
            opsets += b"".join(field(8, field(1, b"d%d" % i) + varint_field(2, 1)) for i in range(n))
            functions = b"".join(field(25, field(1, b"g%d" % i) + b"".join(field(9, field(1, b"d%d" % j)) for j in range(20))) for i in range(min(n, 300)))
            graph = gather(b"w", b"v0", b"o0") + table(b"w") + field(11, value(b"v0"))
        elif at == "loops":
            body = gather(b"w", b"v0", b"b") + field(11, value(b"p")) + field(12, value(b"b"))
            graph = b"".join(onnx_node(rng.choice([b"Loop", b"Scan"]), [b"m", b"c", b"v0"], [b"o%d" % i], attributes=[onnx_graph(b"body", body)]) for i in range(min(n, 3000)))
            graph += table(b"w") + field(11, value(b"v0"))
        elif at == "consumers":
            # Every node reads many values, and every value has many readers.
            wide = [b"v%d" % i for i in range(min(200, n + 1))]
            graph = b"".join(onnx_node(b"Concat", wide, [b"x%d" % i]) for i in range(min(n, 700))) + gather(b"w", b"x0", b"o0") + table(b"w")
        elif at == "sequences":
            nodes = onnx_node(b"SequenceConstruct", [b"v0"], [b"s0"])
            for i in range(n):
                nodes += onnx_node(b"SequenceConstruct", [b"s%d" % i] * rng.choice([1, 2, 6]), [b"s%d" % (i + 1)])
            graph = nodes + onnx_node(b"SequenceAt", [b"s%d" % n, b"v0"], [b"e"]) + gather(b"w", b"e", b"o0") + table(b"w") + field(11, value(b"v0"))
        elif at == "cycle":
            graph = b"".join(onnx_node(b"Add", [b"v%d" % ((i + 1) % (n + 1)), b"v%d" % i], [b"v%d" % i]) for i in range(n)) + gather(b"v0", b"v1", b"v0") + table(b"w")
        elif at == "shapes":
            dims = [self.huge() & 2 ** 63 - 1 for _ in range(rng.choice([1, 3, 64, 3000]))]
            graph = gather(b"w", b"v0", b"o0") + table(b"w") + field(11, value(b"v0", dims)) + field(11, value(b"d", dims)) + gather(b"d", b"v0", b"o1")
            graph += field(5, b"".join(varint_field(1, d) for d in dims) + varint_field(2, 1) + field(8, b"huge") + field(9, b""))
        else:
            names = [self.name().encode("utf-8", "surrogatepass") for _ in range(6)]
            outside = field(5, varint_field(1, 4) + varint_field(2, 1) + field(8, names[0]) + varint_field(14, 1)
                            + field(13, field(1, b"location") + field(2, names[5])) + field(13, field(1, names[1]) + field(2, names[4])))
            graph = field(2, names[0]) + field(10, names[1]) + onnx_node(b"Gather", [names[0], names[1]], [names[2]], name=names[3]) + onnx_node(names[4], [names[2]], [names[5]], names[0])
            graph += outside + field(11, value(names[1])) + field(12, value(names[2]))
            graph += onnx_node(b"Gather", [names[0], names[1]], [b"z"], attributes=[field(1, names[2]) + varint_field(3, 1) + varint_field(20, 2)])
            functions = field(2, names[0]) + field(3, names[1]) + field(6, names[2]) + field(14, field(1, names[3]) + field(2, names[4]))
        return ".onnx", (varint_field(1, 8) + functions + field(7, graph) + opsets)[:SMALL - 1]

    # ------------------------------------------------------------ IR

    def ir(self):
        rng = self.rng
        n = rng.choice([2, 20, self.count(2000), self.count(4000)])
        quote = lambda s: s.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\x1b", rng.choice(["\x1b", "&#27;"]))
        name = lambda: quote(self.name())
        port = lambda i, dims="<dim>2</dim>": '<port id="%d" precision="I64">%s</port>' % (i, dims)

        def layer(i, kind, ins, data="", dims="<dim>2</dim>", more=""):
            return '<layer id="%s" name="%s" type="%s" version="%s">%s<input>%s</input>%s<output>%s</output></layer>' % (
                i, name() if rng.random() < 0.2 else "l%s" % i, kind, rng.choice(["opset1", "opset8", "opset8", "opset15", name()]) if rng.random() < 0.2 else "opset8", data,
                "".join(port(j, dims) for j in range(ins)), more, port(ins, dims))
        start = '<layer id="0" name="p" type="Parameter" version="opset1"><data shape="%s" element_type="%s"/><output>%s</output></layer>' % (
            rng.choice(["2", "?", "2..5", "%d" % self.huge(), "1," * 3000 + "1", name()]), rng.choice(["i64", "f32", name()]), port(0))
        at = rng.choice(["chain", "diamond", "deep", "bodies", "dims", "names", "entities", "attributes", "constants"])
        edges, layers = "", start
        edge = lambda a, b, to: '<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>' % (a, 0 if a == 0 else ports[a], b, to)
        ports = {0: 0}
        if at in ("chain", "diamond"):
            ins = 1 if at == "chain" else 2
            for i in range(1, n + 1):
                ports[i] = ins
                layers += layer(i, "Convert" if at == "chain" else rng.choice(["Add", "Concat"]), ins)
                edges += "".join(edge(i - 1, i, j) for j in range(ins))
            ports[n + 1] = 3
            layers += layer(n + 1, "Gather", 3, '<data batch_dims="0"/>')
            edges += "".join(edge(n, n + 1, j) for j in range(3))
        elif at == "deep":
            layers += "<x>" * self.count(40_000) + ("</x>" * 10 if rng.random() < 0.5 else "")
        elif at == "bodies":
            body = "<layers>%s</layers><edges/>" % start
            for i in range(min(n, rng.choice([5, 100, 1000]))):
                body = '<layers><layer id="1" name="t" type="%s" version="opset5"><port_map><input external_port_id="0" internal_layer_id="0"/></port_map><body>%s</body>%s</layer></layers><edges/>' % (
                    rng.choice(["TensorIterator", "Loop", "If"]), body, "<back_edges/>" if rng.random() < 0.5 else "")
            return ".xml", ('<?xml version="1.0"?><net name="n" version="11">%s</net>' % body).encode("utf-8", "surrogatepass")[:SMALL - 1]
        elif at == "dims":
            dims = "".join("<dim>%d</dim>" % self.huge() for _ in range(rng.choice([1, 3, 5000])))
            layers += layer(1, "Gather", 3, '<data batch_dims="%d"/>' % self.huge(), dims)
            edges += "".join(edge(0, 1, j) for j in range(3))
        elif at == "entities":
            text = '<!DOCTYPE net [<!ENTITY a "%s">%s]>' % ("x" * 50, "".join('<!ENTITY b%d "%s">' % (i, ("&b%d;" % (i - 1) if i else "&a;") * 10) for i in range(12)))
            return ".xml", ('<?xml version="1.0"?>%s<net name="&b11;" version="11"><layers>%s</layers><edges/></net>' % (text, start)).encode("utf-8", "surrogatepass")
        elif at == "attributes":
            layers += layer(1, "Gather", 3, "<data %s/>" % " ".join('a%d="%s"' % (i, name()) for i in range(min(n, 3000))))
            layers += layer(2, "Gather", 3, '<data batch_dims="%s" %s="1"/>' % (name(), rng.choice(["x", "\u0301", "a\u202e", "b"])))
        elif at == "constants":
            for i in range(1, n):
                layers += '<layer id="%d" name="c" type="Const" version="opset1"><data element_type="%s" shape="%s" offset="%d" size="%d"/><output>%s</output></layer>' % (
                    i, rng.choice(["f32", "i64", "string", "u1"]), rng.choice(["2", "%d" % self.huge(), "0, %d" % self.huge()]), self.huge(), self.huge(), port(0))
        else:
            for i in range(1, min(n, 50)):
                layers += '<layer id="%s" name="%s" type="%s" version="%s"><data %s="%s"/><output>%s</output></layer>' % (
                    rng.choice([str(i), name()]), name(), rng.choice(["Gather", "GatherND", "Const", name()]), rng.choice(["opset8", name()]),
                    rng.choice(["axis", "batch_dims", "shape"]), name(), '<port id="0" precision="%s"><dim>%s</dim></port>' % (name(), name()))
            edges += '<edge from-layer="%s" from-port="0" to-layer="1" to-port="%s"/>' % (name(), name())
        text = '<?xml version="1.0"?><net name="%s" version="%s"><layers>%s</layers><edges>%s</edges></net>' % (name(), rng.choice(["11", "10", "7", name()]), layers, edges)
        return ".xml", text.encode("utf-8", "surrogatepass")[:SMALL - 1]

    # ------------------------------------------------------------ changed files

    def changed(self, seeds):
        """A file of the tree with up to eight changes: its suffix and its bytes."""
        rng = self.rng
        suffix, raw = rng.choice(seeds)
        raw = bytearray(raw)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
            if not raw:
                break
            i = rng.randrange(len(raw))
            way = rng.randrange(9)
            if way == 0:
                del raw[i:]
            elif way == 1:
                raw[i] ^= 1 << rng.randrange(8)
            elif way == 2:
                raw[i:i + rng.choice([1, 2, 4, 8])] = (self.huge() & 2 ** 64 - 1).to_bytes(8, "little")[:rng.choice([1, 2, 4, 8])]
            elif way == 3:
                raw[i:i + 10] = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"[:rng.randrange(1, 10)]
            elif way == 4:
                del raw[i:i + 1 + self.count(200)]
            elif way == 5:
                j = min(len(raw), i + 1 + self.count(500))
                raw[i:i] = raw[i:j] * rng.choice([1, 2, max(1, 300_000 // (j - i))])
            elif way == 6:  # within a text, if there is one
                found = list(re.finditer(rb"[ -~]{3,}", raw[i:i + 2000])) or [None]
                at = i + found[0].start() + 1 if found[0] else i
                odd = rng.choice(ODD).encode("utf-8", "surrogatepass")
                raw[at:at + (len(odd) if rng.random() < 0.5 else 0)] = odd
            elif way == 7:
                found = list(re.finditer(rb"[0-9]+", raw[i:i + 2000]))
                if found:
                    m = rng.choice(found)
                    raw[i + m.start():i + m.end()] = str(self.huge()).encode()
            else:
                j = rng.randrange(len(raw))
                raw[i:i + 50], raw[j:j + 50] = raw[j:j + 50], raw[i:i + 50]
        return suffix, bytes(raw[:SMALL - 1])

    def file(self, seeds):
        """A hostile file: how it was made, its suffix and its bytes."""
        if seeds and self.rng.random() < 0.5:
            suffix, raw = self.changed(seeds)
            return "changed", suffix, raw
        make = self.rng.choice([self.npy, self.npz, self.safetensors, self.index, self.gguf, self.onnx, self.onnx, self.onnx, self.ir, self.ir])
        suffix, raw = make()
        if self.rng.random() < 0.1 and raw:
            raw = raw[:self.rng.randrange(len(raw))]
        return make.__name__, suffix, raw


def varint(n):
    n &= 2 ** 64 - 1
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, raw):
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint_field(number, n):
    return varint(number << 3) + varint(n)


def onnx_body(op, ins, outs, domain=b"", attributes=(), name=b""):
    body = b"".join(field(1, x) for x in ins) + b"".join(field(2, x) for x in outs) + field(3, name) + field(4, op)
    return body + b"".join(field(5, a) for a in attributes) + field(7, domain)


def onnx_node(*args, **more):
    return field(1, onnx_body(*args, **more))


def onnx_graph(name, graph):
    return field(1, name) + field(6, graph) + varint_field(20, 5)


def seeds_of(root):
    """The small files of the tree's testdata, in the order of their names."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        if "testdata" not in folder.split(os.sep):
            continue
        for name in sorted(names):
            suffix = ".safetensors.index.json" if name.endswith(".safetensors.index.json") else os.path.splitext(name)[1]
            path = os.path.join(folder, name)
            if suffix in COMMANDS and os.path.getsize(path) < 200_000:
                with open(path, "rb") as f:
                    found.append((suffix, f.read()))
    return found


# ---------------------------------------------------------------- the command under limits

ARRAYS = [["info"], ["info", "--json"]]
MODELS = [["model"], ["lint", "--fail-on", "never"], ["model", "--json"], ["lint", "--format", "sarif"]]
COMMANDS = {".npy": ARRAYS + [["gather"]], ".npz": ARRAYS, ".safetensors": ARRAYS, ".safetensors.index.json": ARRAYS, ".gguf": ARRAYS,
            ".onnx": MODELS, ".xml": MODELS}

PANIC = re.compile(rb"panic:|goroutine \d+ \[|fatal error:|runtime error|SIGSEGV|SIGBUS|nil pointer|index out of range \[|slice bounds")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def run(command, folder):
    """Runs a command under limits: status, output, seconds of processor, bytes of memory, whether it was killed."""
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"), "w+b") as err:
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limits, cwd=folder)
        killed = []
        timer = threading.Timer(LONGEST, lambda: (killed.append(True), os.kill(p.pid, 9)))
        timer.start()
        _, status, used = os.wait4(p.pid, 0)
        timer.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return p.returncode, out.read(1 << 22), err.read(1 << 22), used.ru_utime + used.ru_stime, used.ru_maxrss << 10, bool(killed)


def complaints(verb, size, status, out, err, seconds, memory, killed):
    """What is wrong with a run, as pairs of a kind and a text."""
    found = []
    if killed:
        found.append(("clock", "it ran longer than %d s" % LONGEST))
    elif status not in (0, 1, 2):
        found.append(("crash", "exit status %d" % status))
    for name, text in (("standard output", out), ("standard error", err)):
        m = PANIC.search(text)
        if m:
            found.append(("panic", "%s: %r" % (name, text[max(0, m.start() - 20):m.start() + 200])))
        try:
            m = CONTROL.search(text.decode("utf-8"))
            if m:
                found.append(("control character", "%s: %r" % (name, m.string[max(0, m.start() - 60):m.start() + 40])))
        except UnicodeDecodeError as e:
            found.append(("invalid UTF-8", "%s: %r" % (name, text[max(0, e.start - 60):e.start + 40])))
    if size < SMALL and seconds > SECONDS:
        found.append(("processor", "%.1f s for %d bytes" % (seconds, size)))
    if size < SMALL and verb in ("model", "lint") and memory > MEMORY:
        found.append(("memory", "%d MB for %d bytes" % (memory >> 20, size)))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--garner", required=True)
    p.add_argument("--files", type=int, default=1000)
    p.add_argument("--first", type=int, default=0, help="the number of the first file")
    p.add_argument("--seed", default="1")
    p.add_argument("--only", default="", help="only files of this suffix, such as .onnx")
    p.add_argument("--keep", metavar="DIR", help="keep the files of findings")
    a = p.parse_args()
    garner = os.path.abspath(a.garner)
    seeds = seeds_of(ROOT)
    runs, counts, found = 0, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(a.first, a.first + a.files):
            made, suffix, raw = Maker(random.Random("%s:file:%d" % (a.seed, number))).file(seeds)
            if a.only and suffix != a.only:
                continue
            counts[suffix] = counts.get(suffix, 0) + 1
            name = "hostile" + suffix
            with open(os.path.join(folder, name), "wb") as f:
                f.write(raw)
            for command in COMMANDS[suffix]:
                line = [command[0], name] + (["[0]"] if command[0] == "gather" else []) + command[1:]
                runs += 1
                for kind, text in complaints(command[0], len(raw), *run([garner] + line, folder)):
                    found += 1
                    kept = ""
                    if a.keep:
                        os.makedirs(a.keep, exist_ok=True)
                        kept = os.path.join(a.keep, "%s-%d%s" % (a.seed, number, suffix))
                        shutil.copyfile(os.path.join(folder, name), kept)
                    print(json.dumps({"file": number, "made": made, "suffix": suffix, "bytes": len(raw), "command": " ".join(line), "kind": kind, "text": text, "kept": kept}), flush=True)
    print(json.dumps({"files": counts, "runs": runs, "findings": found}))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
