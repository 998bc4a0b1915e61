"""Holds what garner infers against ONNX Runtime on random graphs: every value of every graph that
runs lies in what garner infers of it, with the dims of the inputs open or known.

    go build -o values ./internal/shapes/testdata/values
    python graphs.py ./values GRAPHS [SEED]

onnx 1.23, onnxruntime 1.31.1. A graph grows by one node at a time; a node that ONNX Runtime
refuses is left out. Shapes are computed of shapes in half of the nodes that take one.
"""
import json, os, subprocess, sys, tempfile
import numpy as np, onnx, onnxruntime as ort
from onnx import helper as h, TensorProto as T, numpy_helper as nh

ort.set_default_logger_severity(4)
NAMES = {'float32': 'f32', 'int64': 'i64', 'bool': 'bool', 'uint8': 'u8', 'int32': 'i32', 'float64': 'f64'}
TYPES = {'float32': T.FLOAT, 'int64': T.INT64, 'bool': T.BOOL, 'uint8': T.UINT8, 'int32': T.INT32, 'float64': T.DOUBLE}
UNARY = 'Relu Neg Abs Sigmoid Exp Softmax LogSoftmax Identity Dropout LayerNormalization GlobalAveragePool Flatten Trilu Erf NonZero Shape Size'.split()
BINARY = 'Add Sub Mul Max Min Equal Less Greater LessOrEqual MatMul Div Where Concat'.split()
OTHER = 'Transpose Squeeze Unsqueeze Slice Reshape Expand Tile Pad Reduce ArgMax TopK Split Gather GatherElements CumSum OneHot Cast Range ConstantOfShape Conv MaxPool AveragePool ConvTranspose Gemm Einsum Resize ScatterElements Compress LSTM If Loop DepthToSpace SpaceToDepth EyeLike Flatten ShapeOf Unique'.split()


class Graph:
    def __init__(self, rng):
        self.rng, self.nodes, self.inits, self.n = rng, [], [], 0
        self.values, self.inputs, self.feeds = {}, [], {}
        for i in range(rng.integers(1, 4)):
            rank = int(rng.integers(0, 5))
            shape = [int(rng.choice([0, 1, 1, 2, 3, 4, 5, 6], p=[.03, .17, .1, .2, .2, .1, .1, .1])) for _ in range(rank)]
            dt = str(rng.choice(['float32', 'float32', 'float32', 'int64']))
            x = (rng.integers(-3, 4, shape) if dt == 'int64' else rng.standard_normal(shape)).astype(dt)
            name = f'in{i}'
            dims = [None if rng.random() < .5 else d for d in shape]
            self.inputs.append(h.make_tensor_value_info(name, TYPES[dt], dims))
            self.feeds[name] = np.asarray(x); self.values[name] = np.asarray(x)

    def name(self):
        self.n += 1
        return f'v{self.n}'

    def const(self, a, dtype='int64'):
        name = self.name()
        a = np.array(a, dtype=dtype)
        self.pending.append(('init', nh.from_array(a, name), name, a))
        return name

    def pick(self, ok=lambda a: True):
        found = [k for k, v in self.values.items() if ok(v)]
        return found[self.rng.integers(len(found))] if found else None

    def vector(self, like):
        """A list of integers: a constant, or computed where it can be."""
        r = self.rng
        shaped = self.pick(lambda a: a.dtype == np.int64 and a.ndim == 1 and len(a) == len(like)) if r.random() < .5 else None
        if shaped:
            return shaped
        parts = []
        for d in like:
            src = self.pick(lambda a: d in a.shape) if r.random() < .6 else None
            if src:
                s, g = self.name(), self.name()
                at = list(self.values[src].shape).index(d)
                self.pending.append(('node', h.make_node('Shape', [src], [s])))
                self.pending.append(('node', h.make_node('Gather', [s, self.const([at])], [g])))
                if r.random() < .3:
                    g2 = self.name()
                    op = str(r.choice(['Mul', 'Add', 'Div', 'Sub', 'Max', 'Min']))
                    c = {'Mul': 1, 'Add': 0, 'Div': 1, 'Sub': 0, 'Max': d, 'Min': d}[op]
                    self.pending.append(('node', h.make_node(op, [g, self.const([c])], [g2])))
                    g = g2
                parts.append(g)
            else:
                parts.append(self.const([d]))
        if not parts:
            return self.const(np.zeros(0))
        out = self.name()
        self.pending.append(('node', h.make_node('Concat', parts, [out], axis=0)))
        return out

    def make(self):
        r, node = self.rng, lambda op, ins, outs=1, **a: self.pending.append(('node', h.make_node(op, ins, [self.name() for _ in range(outs)], **a)))
        kind = r.integers(4)
        any_ = lambda: self.pick()
        f = lambda: self.pick(lambda a: a.dtype == np.float32)
        x = f() if r.random() < .7 else any_()
        if x is None:
            x = any_()
        a = self.values[x]
        axis = int(r.integers(-a.ndim, a.ndim)) if a.ndim else 0
        flag = int(r.integers(2))
        if kind == 0:
            op = str(r.choice(UNARY))
            kw = {'LayerNormalization': {}, 'Softmax': {'axis': axis}, 'LogSoftmax': {'axis': axis}, 'Flatten': {'axis': axis}}.get(op, {})
            if op == 'LayerNormalization':
                return node(op, [x, self.const(np.ones(a.shape[axis:] if a.ndim else []), 'float32')], int(r.integers(1, 4)), axis=axis)
            return node(op, [x], **kw)
        if kind == 1:
            op = str(r.choice(BINARY))
            y = self.pick(lambda b: b.dtype == a.dtype)
            if op == 'Where':
                c = self.pick(lambda b: b.dtype == bool)
                return node(op, [c, x, y]) if c else None
            if op == 'Concat':
                return node(op, [x, y] + ([x] if flag else []), axis=axis)
            return node(op, [x, y])
        op = str(r.choice(OTHER))
        i = lambda *l: self.const(list(l))
        if op in ('Reduce', 'ArgMax') and not a.size:
            return # of an empty tensor, ONNX Runtime gives the shape of the input, against the definition
        if op == 'Transpose':
            p = [int(k) for k in r.permutation(a.ndim)]
            return node(op, [x], **({'perm': p} if flag and p else {}))
        if op == 'Squeeze':
            ones = [k for k, d in enumerate(a.shape) if d == 1]
            return node(op, [x] + ([self.vector(ones[:1])] if flag and ones else []))
        if op == 'Unsqueeze':
            return node(op, [x, i(*[int(k) for k in set(r.integers(0, a.ndim + 1, r.integers(1, 3)))])])
        if op == 'Slice':
            s, e, st = (int(k) for k in r.integers(-4, 7, 3))
            e = int(r.choice([e, 2**62, -2**62]))
            ins = [x, self.vector([s]) if flag else i(s), i(e), i(axis)] + ([i(st or 1)] if r.random() < .5 else [])
            return node(op, ins)
        if op == 'Reshape':
            size = a.size
            target, rest = [], size
            while rest > 1 and len(target) < 3:
                d = int(r.choice([k for k in range(1, rest + 1) if rest % k == 0])); target.append(d); rest //= d
            target.append(rest)
            if size == 0: target = list(a.shape)
            m = self.vector(target)
            if r.random() < .6:
                k = int(r.integers(len(target)))
                target = [self.const([-1]) if j == k else (self.const([0]) if r.random() < .2 else self.vector([t])) for j, t in enumerate(target)]
                m = self.name()
                self.pending.append(('node', h.make_node('Concat', target, [m], axis=0)))
            return node(op, [x, m], **({'allowzero': 1} if r.random() < .1 else {}))
        if op == 'Expand':
            t = [d if d != 1 else int(r.integers(1, 4)) for d in a.shape]
            return node(op, [x, self.vector(([2] if flag else []) + t)])
        if op == 'Tile':
            return node(op, [x, self.vector([int(k) for k in r.integers(0, 3, a.ndim)])])
        if op == 'Pad':
            return node(op, [x, self.vector([int(k) for k in r.integers(-1, 3, 2 * a.ndim)])]) if flag else node(op, [x, self.vector([int(k) for k in r.integers(0, 3, 2)]), '', i(axis)])
        if op == 'Reduce':
            o = str(r.choice(['ReduceSum', 'ReduceMax', 'ReduceMean', 'ReduceProd']))
            ins = [x] if r.random() < .3 else [x, i(axis) if r.random() < .7 else i(*range(a.ndim))] if r.random() < .8 else [x, self.const([])]
            return node(o, ins, keepdims=flag, **({'noop_with_empty_axes': 1} if r.random() < .2 else {}))
        if op == 'ArgMax': return node(op, [x], axis=axis, keepdims=flag)
        if op == 'TopK': return node(op, [x, self.vector([int(r.integers(0, 3))])], 2, axis=axis)
        if op == 'Split':
            parts = int(r.integers(2, 4))
            if flag: return node(op, [x], parts, axis=axis, num_outputs=parts) # another number aborts ONNX Runtime
            d = a.shape[axis] if a.ndim else 1
            k = int(r.integers(0, d + 1))
            return node(op, [x, self.vector([k, d - k])], 2, axis=axis)
        if op == 'Gather':
            ix = self.pick(lambda b: b.dtype == np.int64)
            return node(op, [x, ix if ix and flag else i(0)], axis=axis)
        if op == 'GatherElements':
            ix = self.pick(lambda b: b.dtype == np.int64 and b.ndim == a.ndim)
            return node(op, [x, ix], axis=axis) if ix else None
        if op == 'CumSum': return node(op, [x, i(axis)] )
        if op == 'OneHot':
            return node(op, [x, self.vector([int(r.integers(1, 5))]), self.const([0, 1], 'float32')], axis=int(r.integers(-a.ndim - 1, a.ndim + 1)))
        if op == 'Cast': return node(op, [x], to=int(r.choice([T.FLOAT, T.INT64, T.BOOL, T.UINT8])))
        if op == 'Range':
            s = self.pick(lambda b: b.dtype == np.int64 and b.ndim == 0)
            zero, one = self.const(0), self.const(int(r.choice([1, 2, -1])))
            return node(op, [zero, s, one]) if s else None
        if op == 'ConstantOfShape':
            return node(op, [self.vector([int(k) for k in r.integers(0, 4, r.integers(0, 4))])], **({'value': nh.from_array(np.array([3], np.int64))} if flag else {}))
        if op in ('Conv', 'ConvTranspose'):
            x = self.pick(lambda b: b.dtype == np.float32 and b.ndim >= 3 and b.size) # of no channel, ONNX Runtime divides by 0
            if not x: return None
            n = self.values[x].ndim - 2; c = self.values[x].shape[1]; k = int(r.integers(1, 4))
            w = self.const(np.zeros(([2, c] if op == 'Conv' else [c, 2]) + [k] * n), 'float32')
            kw = dict(strides=[int(r.integers(1, 3))] * n, dilations=[int(r.integers(1, 3))] * n)
            if flag: kw['pads'] = [int(p) for p in r.integers(0, 3, 2 * n)]
            elif r.random() < .4: kw['auto_pad'] = str(r.choice(['SAME_UPPER', 'SAME_LOWER', 'VALID'])); kw['dilations'] = [1] * n
            return node(op, [x, w], **kw)
        if op in ('MaxPool', 'AveragePool'):
            x = self.pick(lambda b: b.dtype == np.float32 and b.ndim >= 3 and b.size) # of no channel, ONNX Runtime divides by 0
            if not x: return None
            n = self.values[x].ndim - 2; k = int(r.integers(1, 4))
            kw = dict(kernel_shape=[k] * n, strides=[int(r.integers(1, 4))] * n, ceil_mode=int(r.integers(2)))
            if flag: kw['pads'] = [int(p) for p in r.integers(0, max(k, 1), 2 * n)]
            elif r.random() < .3: kw['auto_pad'] = 'SAME_UPPER'
            return node(op, [x], 2 if op == 'MaxPool' and r.random() < .3 else 1, **kw)
        if op == 'Gemm':
            y = f()
            return node(op, [x, y], transA=flag, transB=int(r.integers(2))) if y else None
        if op == 'Einsum':
            eq = str(r.choice(['ij,jk->ik', 'ij,ij->i', 'bij,bjk->bik', 'ij->ji', 'ij,kj', 'i,j->ij', 'ii->i', 'ijk->']))
            y = f()
            return node(op, [x, y] if ',' in eq else [x], equation=eq) if y else None
        if op == 'Resize':
            if flag: return node(op, [x, '', self.const(r.choice([1, 2, .5, 1.5, .3], a.ndim), 'float32')])
            return node(op, [x, '', '', self.vector([max(1, d) for d in a.shape])])
        if op == 'ScatterElements':
            ix = self.pick(lambda b: b.dtype == np.int64 and b.ndim == a.ndim); u = self.pick(lambda b: b.dtype == a.dtype and b.ndim == a.ndim)
            return node(op, [x, ix, u], axis=axis) if ix and u else None
        if op == 'Compress':
            c = self.pick(lambda b: b.dtype == bool and b.ndim == 1)
            return node(op, [x, c], **({'axis': axis} if flag else {})) if c else None
        if op == 'LSTM':
            x = self.pick(lambda b: b.dtype == np.float32 and b.ndim == 3 and b.size)
            if not x: return None
            k = self.values[x].shape[2]; d = 1 + flag
            w, rr = self.const(np.zeros([d, 8, k]), 'float32'), self.const(np.zeros([d, 8, 2]), 'float32')
            return node(op, [x, w, rr], 3, hidden_size=2, direction='bidirectional' if flag else 'forward')
        if op == 'If':
            c = self.pick(lambda b: b.dtype == bool and b.size == 1)
            y = self.pick(lambda b: b.dtype == a.dtype)
            if not c: return None
            g = lambda v, o: h.make_graph([h.make_node(str(r.choice(['Identity', 'Neg', 'Abs'])), [v], [o])], o, [], [h.make_tensor_value_info(o, TYPES[str(a.dtype)], None)])
            return node(op, [c], then_branch=g(x, self.name()), else_branch=g(y, self.name()))
        if op == 'Loop':
            names = [self.name() for _ in range(8)]
            it, c, s, c2, s2, sc, one, t = names
            step = [h.make_node('Concat', [s, s], [s2], axis=axis), h.make_node('Identity', [s], [s2]), h.make_node('Add', [s, s], [s2]), h.make_node('Unsqueeze', [s, 'axis0'], [s2]), h.make_node('Transpose', [s], [s2])][r.integers(5)]
            self.pending.append(('init', nh.from_array(np.array([0]), 'axis0'), 'axis0', np.array([0]))) if 'axis0' not in self.values else None
            ty = TYPES[str(a.dtype)]
            body = h.make_graph([h.make_node('Identity', [c], [c2]), step, h.make_node('Identity', [s2 if flag else s], [sc])], 'body',
                [h.make_tensor_value_info(it, T.INT64, []), h.make_tensor_value_info(c, T.BOOL, []), h.make_tensor_value_info(s, ty, None)],
                [h.make_tensor_value_info(c2, T.BOOL, []), h.make_tensor_value_info(s2, ty, None), h.make_tensor_value_info(sc, ty, None)])
            return node(op, [self.const(int(r.integers(0, 3))), '' if r.random() < .5 else self.const(True, 'bool'), x], 2, body=body)
        if op in ('DepthToSpace', 'SpaceToDepth'): return node(op, [x], blocksize=2)
        if op == 'EyeLike': return node(op, [x])
        if op == 'Flatten': return node(op, [x], axis=axis)
        if op == 'ShapeOf': return node('Shape', [x], start=int(r.integers(-2, 3)), end=int(r.integers(-2, 5)))
        if op == 'Unique' and a.size: return node(op, [x], int(r.integers(1, 5)), **({'axis': axis} if flag else {}))

    def grow(self):
        self.pending = []
        before = self.n
        self.make()
        if not self.pending:
            return
        nodes = [p[1] for p in self.pending if p[0] == 'node']
        inits = [p[1] for p in self.pending if p[0] == 'init']
        used = {i for n in nodes for i in n.input} | set(self.values)
        outs = [o for n in nodes for o in n.output]
        # run only the new nodes, on what is computed so far
        ins = [k for k in self.values if any(k in n.input or any(k in m.input for a in n.attribute if a.HasField('g') for m in a.g.node) for n in nodes)]
        old = [h.make_tensor_value_info(k, TYPES[str(self.values[k].dtype)], list(self.values[k].shape)) for k in ins]
        g = h.make_graph(nodes, 'g', old, [onnx.ValueInfoProto(name=o) for o in outs], inits)
        m = h.make_model(g, opset_imports=[h.make_opsetid('', 18)], ir_version=9)
        try:
            made = session(m).run(None, {k: self.values[k] for k in ins})
        except Exception:
            return
        if any(y.size > 4000 or str(y.dtype) not in TYPES for y in made):
            return
        self.nodes += nodes
        self.inits += inits
        for p in self.pending:
            if p[0] == 'init':
                self.values[p[2]] = p[3]
        for o, y in zip(outs, made):
            self.values[o] = y

    def model(self):
        made = [o for n in self.nodes for o in n.output]
        g = h.make_graph(self.nodes, 'g', self.inputs, [onnx.ValueInfoProto(name=o) for o in made], self.inits)
        return h.make_model(g, opset_imports=[h.make_opsetid('', 18)], ir_version=9), made


def session(m):
    o = ort.SessionOptions()
    o.log_severity_level = 4
    o.intra_op_num_threads = 1
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(m.SerializeToString(), o, providers=['CPUExecutionProvider'])


def main():
    tool, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    ran = wrong = values = known = dims = 0
    ops = {}
    with tempfile.TemporaryDirectory() as d:
        batch = []
        for k in range(count):
            rng = np.random.default_rng(seed * 1000003 + k)
            g = Graph(rng)
            for _ in range(rng.integers(3, 9)):
                g.grow()
            if not g.nodes:
                continue
            m, made = g.model()
            path = os.path.join(d, f'{k}.onnx')
            try:
                got = session(m).run(None, g.feeds)
            except Exception as e:
                continue
            with open(path, 'wb') as f:
                f.write(m.SerializeToString())
            ran += 1
            batch.append((path, made, got, g))
            if len(batch) == 200 or k == count - 1:
                w, v, kn, di = check(tool, batch, ops)
                wrong += w; values += v; known += kn; dims += di
                for b in batch:
                    os.unlink(b[0])
                batch = []
        if batch:
            w, v, kn, di = check(tool, batch, ops)
            wrong += w; values += v; known += kn; dims += di
    print(f'{ran} graphs ran, {values} values, {wrong} false; {known} of {dims} dims known')
    print(sorted(ops.items()))
    sys.exit(wrong > 0)


def check(tool, batch, ops):
    out = subprocess.run([tool, *[b[0] for b in batch]], capture_output=True, text=True)
    if out.returncode:
        print(out.stderr[:3000]); sys.exit(2)
    wrong = values = known = dims = 0
    for line, (path, made, got, g) in zip(out.stdout.splitlines(), batch):
        said = json.loads(line)
        if 'error' in said:
            print(path, said['error']); wrong += 1
            continue
        by = {v['name']: v for v in said['values'] if not v['inner']}
        for name, y in zip(made, got):
            v = by[name]
            values += 1
            ops[v['op']] = ops.get(v['op'], 0) + 1
            why = ''
            if v['dtype'] and v['dtype'] != NAMES[str(y.dtype)]:
                why = f"dtype {y.dtype}"
            elif y.ndim < v['rank'][0] or 0 <= v['rank'][1] < y.ndim:
                why = f"rank {y.ndim} not {v['rank']}"
            else:
                for s, (low, high) in zip(y.shape, v['dims'] or []):
                    if s < low or 0 <= high < s:
                        why = f"shape {y.shape} not {v['dims']}"
            if why:
                wrong += 1
                n = next(n for n in g.nodes if name in n.output)
                print('FALSE', os.path.basename(path), v['op'], name, why, 'of', [(i, g.values[i].shape if i in g.values else None, by.get(i, {}).get('dims'), g.values[i].tolist() if i in g.values and g.values[i].dtype == np.int64 and g.values[i].size < 9 else '') for i in n.input], [(a.name, h.get_attribute_value(a)) for a in n.attribute if not a.HasField('g')])
            dims += y.ndim
            known += sum(low == high for low, high in v['dims'] or [])
    return wrong, values, known, dims


if __name__ == "__main__":
    main()
