"""Records what ONNX Runtime makes of small graphs, for TestRecorded.

    go build -o values ./internal/shapes/testdata/values
    python record.py ./values graphs.jsonl.gz

onnx 1.23, onnxruntime 1.31.1. A line is one graph: its bytes in hex; for some feeds the dtype and
dims of each value of the main graph; and how much garner knew when this was recorded. The graphs
are nodes of each operator, whose inputs have named, open, fixed or no dims and whose lists are
constants or inputs; sub-graphs; and random graphs of graphs.py. It stops at a false inference.
"""
import gzip, json, os, subprocess, sys, tempfile
import numpy as np, onnx, onnxruntime as ort
from onnx import helper as h, numpy_helper as nh, parser
from graphs import Graph, NAMES as BASE, session

NAMES = {**BASE, 'int8': 'i8', 'uint16': 'u16', 'int16': 'i16', 'uint32': 'u32', 'uint64': 'u64', 'float16': 'f16', 'object': 'string'}
NUMPY = {v: k for k, v in NAMES.items()}
TYPES = {v: h.np_dtype_to_tensor_dtype(np.dtype(k)) for k, v in NAMES.items()}
SIZES = [dict(n=2, m=3, b=1), dict(n=4, m=1, b=2), dict(n=1, m=5, b=3), dict(n=6, m=2, b=1)]
EMPTY = [dict(n=0, m=3, b=2)]


class K:
    """A list that a node takes: a constant, or an input that always has these elements."""
    def __init__(self, a, dtype='i64'): self.a = np.array(a, NUMPY[dtype])


class F:
    """A list that only a run knows: a function of the sizes."""
    def __init__(self, do): self.do = do


class D:
    """A tensor: "f32:n,3" has dims of names and numbers."""
    def __init__(self, text):
        self.dtype, _, dims = text.partition(':')
        self.dims = [int(d) if d.isdigit() else d for d in dims.split(',') if d]

    def make(self, rng, env):
        shape = [env.get(d, d) for d in self.dims]
        if self.dtype in ('f32', 'f64', 'f16'): return rng.standard_normal(shape).astype(NUMPY[self.dtype])
        return np.asarray(rng.integers(0, 2, shape)).astype(NUMPY[self.dtype])


def arg(a): return D(a) if isinstance(a, str) and a else a


# How the inputs of a node are given: the dims of tensors (of the first, or of the others, only), and the lists.
VARIANTS = [('named', 'const'), ('open', 'const'), ('none', 'const'), ('fixed', 'const'), ('named', 'input'), ('named', 'bare'), ('none', 'input'), ('none', 'bare'), ('named', 'row'), ('first', 'const'), ('others', 'const')]


class Case:
    def __init__(self, op, args, outs=1, opset=18, domain='', empty=True, **attrs):
        self.op, self.args, self.outs, self.opset, self.domain, self.empty, self.attrs = op, [arg(a) for a in args], outs, opset, domain, empty, attrs

    def variant(self, k):
        dims, lists = VARIANTS[k]
        inputs, inits, names, makers = [], [], [], []
        for i, a in enumerate(self.args):
            name = f'x{k}_{i}'
            if not isinstance(a, (D, K, F)):
                names.append('')
                continue
            names.append(name)
            fixed = dims == 'fixed'
            if isinstance(a, (K, F)) and (isinstance(a, F) and fixed or isinstance(a, K) and lists == 'const'):
                inits.append(nh.from_array(a.a if isinstance(a, K) else np.array(a.do(SIZES[0]), 'int64'), name))
                continue
            if isinstance(a, D):
                how = {'first': 'none' if i else 'named', 'others': 'named' if i else 'none'}.get(dims, dims)
                shape = {'named': [d for d in a.dims], 'open': [None] * len(a.dims), 'none': None, 'fixed': [SIZES[0].get(d, d) for d in a.dims]}[how]
                inputs.append(h.make_tensor_value_info(name, TYPES[a.dtype], shape))
                makers.append((name, lambda rng, env, a=a, fixed=fixed: a.make(rng, SIZES[0] if fixed else env)))
            else:
                value = (lambda rng, env, a=a: a.a) if isinstance(a, K) else lambda rng, env, a=a: np.array(a.do(env), 'int64')
                like = value(None, SIZES[0])
                inputs.append(h.make_tensor_value_info(name, h.np_dtype_to_tensor_dtype(like.dtype), {'bare': None, 'row': [None] * like.ndim}.get(lists, list(like.shape))))
                makers.append((name, value))
        outs = [f'y{k}_{j}' for j in range(self.outs)]
        return h.make_node(self.op, names, outs, domain=self.domain, **self.attrs), inputs, inits, makers, outs

    def build(self, parts):
        g = h.make_graph([p[0] for p in parts], 'g', [i for p in parts for i in p[1]], [onnx.ValueInfoProto(name=o) for p in parts for o in p[4]], [i for p in parts for i in p[2]])
        opsets = [h.make_opsetid('', self.opset)] + ([h.make_opsetid(self.domain, 1)] if self.domain else [])
        return h.make_model(g, opset_imports=opsets, ir_version=10)

    def runs(self, parts):
        m = self.build(parts)
        s = session(m)
        found, why = [], None
        for env in SIZES + (EMPTY if self.empty else []):
            rng = np.random.default_rng(7)
            feeds = {name: make(rng, env) for p in parts for name, make in p[3]}
            try:
                found.append(described(s, feeds))
            except Exception as e:
                why = e
        if len(found) < 2:
            raise why or ValueError('few runs')
        return m, found

    def record(self):
        good, seen, why = [], set(), ''
        for k in range(len(VARIANTS)):
            p = self.variant(k)
            key = (VARIANTS[k][0], p[0].SerializeToString().replace(b'x%d_' % k, b'').replace(b'y%d_' % k, b''), str(p[1]).replace(f'x{k}_', ''), len(p[2]))
            if key in seen: continue
            seen.add(key)
            try:
                self.runs([p])
                good.append(p)
            except Exception as e:
                why = str(e).split('\n')[0][:170]
        if not good:
            print('no run', self.op, self.opset, why)
            return None
        return self.runs(good)


def described(s, feeds):
    made = s.run(None, feeds)
    found = {k: [NAMES[str(v.dtype)], *v.shape] for k, v in feeds.items()}
    found.update({o.name: [NAMES[str(y.dtype)], *y.shape] for o, y in zip(s.get_outputs(), made) if isinstance(y, np.ndarray)})
    return found


C = Case
def cases():
    for op in 'Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Hardmax LeakyRelu Log LogSoftmax Mish Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Tan Tanh ThresholdedRelu'.split():
        yield C(op, ['f32:n,3,m'])
    yield C('Gelu', ['f32:n,3'], opset=20)
    for op in 'Gelu FastGelu QuickGelu'.split(): yield C(op, ['f32:n,3,4'], domain='com.microsoft')
    yield C('BiasGelu', ['f32:n,3,4', 'f32:4'], domain='com.microsoft')
    yield C('SkipLayerNormalization', ['f32:b,n,4', 'f32:b,n,4', 'f32:4'], domain='com.microsoft', empty=False)
    yield C('SkipLayerNormalization', ['f32:b,n,4', 'f32:b,n,4', 'f32:4', 'f32:4'], 4, domain='com.microsoft', empty=False)
    yield C('SkipSimplifiedLayerNormalization', ['f32:b,n,4', 'f32:b,n,4', 'f32:4'], domain='com.microsoft', empty=False)
    yield C('FusedConv', ['f32:b,3,n,8', 'f32:2,3,1,3'], domain='com.microsoft', empty=False, activation='Relu')
    for a in 0, 1:
        yield C('FusedMatMul', [['f32:b,n,4', 'f32:b,4,n'][a], 'f32:4,5'], domain='com.microsoft', empty=False, transA=a)
        yield C('FusedMatMul', ['f32:b,n,4', ['f32:b,4,5', 'f32:b,5,4'][a]], domain='com.microsoft', empty=False, transB=a)
    yield C('DynamicQuantizeMatMul', ['f32:n,4', 'u8:4,5', 'f32:', 'u8:'], domain='com.microsoft', empty=False)
    yield C('MatMulIntegerToFloat', ['u8:n,4', 'u8:4,5', 'f32:', 'f32:'], domain='com.microsoft', empty=False)
    yield C('MatMulNBits', ['f32:b,n,32', 'u8:5,1,16', 'f32:5'], domain='com.microsoft', empty=False, K=32, N=5, bits=4, block_size=32)
    yield C('QuantizeLinear', ['f32:n,m', K(.5, 'f32'), K(3, 'u8')], domain='com.microsoft')
    yield C('DequantizeLinear', ['u8:n,m', K(.5, 'f32'), K(3, 'u8')], domain='com.microsoft')
    yield C('Inverse', ['f32:b,2,2'], domain='com.microsoft', empty=False)
    yield C('RotaryEmbedding', ['f32:b,n,8', K([0]), 'f32:9,4', 'f32:9,4'], domain='com.microsoft', empty=False)
    yield C('RotaryEmbedding', ['f32:b,2,n,8', 'f32:b,n,4', 'f32:b,n,4'], opset=23, empty=False)
    yield C('Trilu', ['f32:b,n,m'], domain='com.microsoft')
    yield C('SimplifiedLayerNormalization', ['f32:b,n,4', 'f32:4'], empty=False)
    yield C('Swish', ['f32:n,m'], opset=24); yield C('GroupNormalization', ['f32:b,4,n', 'f32:4', 'f32:4'], opset=21, num_groups=2, empty=False); yield C('MeanVarianceNormalization', ['f32:b,3,n,m'], empty=False)
    yield C('Scatter', ['f32:n,3', K([[0, 0]]), 'f32:1,2'], opset=10, empty=False); yield C('TensorScatter', ['f32:b,2,9,4', 'f32:b,2,n,4'], opset=24, empty=False); yield C('CumProd', ['f32:n,3', K(0)], opset=26)

    for a, b in ('n,3,m', '3,m'), ('n,1', 'm'), ('n,3', 'n,3'), ('', 'n,m'), ('b,n,m', '1,m'), ('1,n', 'n'), ('n,m', '1'), ('n', 'n'):
        for op in 'Add Sub Mul Div Pow Max Min Mean Sum'.split(): yield C(op, ['f32:' + a, 'f32:' + b])
        yield C('Where', ['bool:' + a, 'f32:' + b, 'f32:' + b])
        for op in 'Equal Less Greater LessOrEqual GreaterOrEqual'.split(): yield C(op, ['i64:' + a, 'i64:' + b])
    for op in 'And', 'Or', 'Xor': yield C(op, ['bool:n,3', 'bool:3'])
    for op in 'BitwiseAnd', 'BitwiseOr', 'BitwiseXor', 'Mod': yield C(op, ['i32:n,3', K([2, 3, 1], 'i32')])
    yield C('BitShift', ['u8:n,3', 'u8:3'], direction='LEFT')
    yield C('Sum', ['f32:n,1', 'f32:3', 'f32:n,3']); yield C('Max', ['f32:n,m']); yield C('PRelu', ['f32:n,3', 'f32:3'])
    yield C('Pow', ['f32:n', 'i64:n']); yield C('Not', ['bool:n,m']); yield C('Neg', ['i64:n,m']); yield C('Abs', ['i64:n']); yield C('IsNaN', ['f32:n,m']); yield C('IsInf', ['f32:n,m'])
    yield C('Cast', ['f32:n,m'], to=7); yield C('CastLike', ['f32:n,m', 'i32:']); yield C('BitwiseNot', ['i64:n,m'])
    yield C('Clip', ['f32:n,m', K(0, 'f32'), K(1, 'f32')])
    for e in (None, 1), (-2, None), (1, -1), (2, 1), (-9, 9): yield C('Shape', ['f32:n,3,m'], **{k: v for k, v in zip(('start', 'end'), e) if v is not None})
    yield C('Size', ['f32:n,3,m']); yield C('Size', ['f32:2,3'])

    for s in [0, -1], [-1, 3], [0, 3, -1], [-1], [0, 0, 1, -1], [1, -1, 3, 1], [0, 0, 0]: yield C('Reshape', ['f32:n,3,m', K(s)])
    yield C('Reshape', ['f32:n,3,m', F(lambda e: [e['m'], -1])]); yield C('Reshape', ['f32:n,3,m', F(lambda e: [e['n'] * 3, e['m']])]); yield C('Reshape', ['f32:2,6', K([4, -1])]); yield C('Reshape', ['f32:n,4', K([2, -1])])
    yield C('Reshape', ['f32:2,6', F(lambda e: [3, 4])]); yield C('Reshape', ['f32:n,m', F(lambda e: [e['n'], e['m']])], allowzero=1)
    yield C('Reshape', ['f32:1', K([], 'i64')]); yield C('Reshape', ['f32:n,4', K([-1, 0])])
    for a in 0, 1, 2, 3, -1: yield C('Flatten', ['f32:n,3,m'], axis=a)
    for a in [0], [1, 3], [-1], [0, -1]: yield C('Unsqueeze', ['f32:n,m', K(a)]); yield C('Unsqueeze', ['f32:n,m'], opset=11, axes=a)
    for a in [0], [1, -1], [-1]: yield C('Squeeze', ['f32:1,1,n,1', K(a)]); yield C('Squeeze', ['f32:1,1,n,1'], opset=11, axes=a)
    yield C('Squeeze', ['f32:1,n,1']); yield C('Squeeze', ['f32:b,m,3']); yield C('Squeeze', ['f32:1,n'], opset=11)
    yield C('Transpose', ['f32:n,3,m']); yield C('Transpose', ['f32:n,3,m'], perm=[1, 2, 0]); yield C('Transpose', ['f32:n'], perm=[0])
    for a in 0, 1, -1: yield C('Concat', ['f32:n,n', 'f32:n,n', 'f32:n,n'], axis=a)
    yield C('Concat', ['f32:n,3', 'f32:m,3'], axis=0); yield C('Concat', ['f32:n,m'], axis=0); yield C('Concat', ['f32:2,m', 'f32:3,m'], axis=-2)
    yield C('Split', ['f32:n,6', K([1, 2, 3])], 3, axis=1); yield C('Split', ['f32:n,6', K([4, 2])], 2, opset=13, axis=-1); yield C('Split', ['f32:n,6'], 3, opset=13, axis=1); yield C('Split', ['f32:n,6'], 2, opset=11, axis=1, split=[2, 4])
    yield C('Split', ['f32:n,5'], 2, axis=1, num_outputs=2); yield C('Split', ['f32:n,5'], 1, axis=0, num_outputs=1, empty=False); yield C('Split', ['f32:n,6', F(lambda e: [e['m'], 6 - e['m']])], 2, axis=1); yield C('Split', ['f32:4,m'], 2, opset=11, axis=0)
    for s, e, x, t in ([0], [2**62], [0], [1]), ([1], [-1], [1], [1]), ([-1], [-2**62], [0], [-1]), ([0], [2], [0], [1]), ([-2], [2**62], [-1], [1]), ([0], [2**62], [0], [2]), ([1, 0], [9, 2], [1, 0], [2, 1]), ([5], [1], [1], [-2]), ([2], [-1], [0], [1]), ([3], [0], [0], [-1]):
        yield C('Slice', ['f32:n,7', K(s), K(e), K(x), K(t)])
        yield C('Slice', ['f32:n,7', K(s), K(e), K(x)])
    yield C('Slice', ['f32:n,7', K([0, 1]), K([1, 3])]); yield C('Slice', ['f32:n,7'], opset=9, starts=[0, 1], ends=[1, -1]); yield C('Slice', ['f32:n,7'], opset=9, starts=[1], ends=[4], axes=[1])
    yield C('Slice', ['f32:n,7', K([1]), F(lambda e: [e['m']]), K([1])]); yield C('Slice', ['f32:n,7', F(lambda e: [e['m']]), K([2**62]), K([1])]); yield C('Slice', ['f32:n,7', K([0]), F(lambda e: [e['m']]), K([1])])
    for s in [1], [2, 1, 1]: yield C('Expand', ['f32:n,1', K(s)])
    yield C('Expand', ['f32:n,1', F(lambda e: [e['n'], e['m']])])
    yield C('Tile', ['f32:n,3', K([2, 1])]); yield C('Tile', ['f32:n,3', K([1, 1])]); yield C('Tile', ['f32:n,3', F(lambda e: [e['m'], 2])]); yield C('Tile', ['f32:', K([], 'i64')])
    for p in [0, 1, 0, 2], [0, 0, 0, 0], [1, 0, 0, -1]: yield C('Pad', ['f32:n,4', K(p)]); yield C('Pad', ['f32:n,4'], opset=2, pads=p)
    yield C('Pad', ['f32:n,4', K([1, 2]), None, K([-1])]); yield C('Pad', ['f32:n,4', F(lambda e: [e['m'], 0, 1, 1])]); yield C('Pad', ['f32:n,4', K([0, 1]), None, F(lambda e: [e['n'] % 2])])
    yield C('ConstantOfShape', [K([2, 3])]); yield C('ConstantOfShape', [K([], 'i64')]); yield C('ConstantOfShape', [F(lambda e: [e['n'], 3])], value=nh.from_array(np.array([1], np.int32)))
    yield C('Range', [K(0), F(lambda e: e['n']), K(1)]); yield C('Range', [K(7), K(0), K(-2)]); yield C('Range', [K(1), K(9), K(3)]); yield C('Range', [F(lambda e: e['n']), K(9), K(2)]); yield C('Range', [K(9), F(lambda e: e['n']), K(-2)]); yield C('Range', [K(0, 'f32'), K(3, 'f32'), K(.5, 'f32')]); yield C('Range', [K(0), K(5), F(lambda e: e['m'])])
    yield C('EyeLike', ['f32:n,m']); yield C('EyeLike', ['f32:n,m'], dtype=7)
    yield C('DepthToSpace', ['f32:b,8,n,m'], blocksize=2, empty=False); yield C('SpaceToDepth', ['f32:b,m,4,6'], blocksize=2, empty=False)

    for op in 'ArgMax', 'ArgMin':
        for a in 0, -1: yield C(op, ['f32:n,3,m'], axis=a, empty=False); yield C(op, ['f32:n,3,m'], axis=a, keepdims=0, empty=False)
    for op in 'ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare'.split():
        for keep in 0, 1:
            old = [] if op == 'ReduceSum' else [C(op, ['f32:n,3,m'], opset=11, axes=[0, -1], keepdims=keep, empty=False)]
            yield from old
            yield C(op, ['f32:n,3,m', K([1])], keepdims=keep, empty=False)
    for keep in 0, 1:
        yield C('ReduceSum', ['f32:n,3,m', K([0, -1])], keepdims=keep, empty=False); yield C('ReduceSum', ['f32:n,3,m'], keepdims=keep, empty=False); yield C('ReduceSum', ['f32:n,3,m'], opset=11, axes=[1], keepdims=keep, empty=False)
        yield C('ReduceSum', ['f32:n,3,m'], keepdims=keep, noop_with_empty_axes=1, empty=False); yield C('ReduceSum', ['f32:n,3,m', K([], 'i64')], keepdims=keep, empty=False); yield C('ReduceSum', ['f32:n,3,m', K([], 'i64')], keepdims=keep, noop_with_empty_axes=1, empty=False); yield C('ReduceMax', ['f32:n,3,m'], opset=11, keepdims=keep, empty=False)
    for a in 0, -1: yield C('TopK', ['f32:6,9', K([2])], 2, axis=a, empty=False); yield C('TopK', ['f32:n,9'], 2, opset=9, axis=1, k=4, empty=False)
    yield C('TopK', ['f32:n,9', F(lambda e: [e['m']])], 2, empty=False); yield C('TopK', ['f32:n,9', K([3])], 2, opset=10, empty=False)
    yield C('NonZero', ['f32:n,3']); yield C('NonZero', ['f32:2,3,4']); yield C('NonZero', ['i64:'])
    for a in 0, -1, 1: yield C('OneHot', ['i64:n,m', K(4), K([0, 1], 'f32')], axis=a)
    yield C('OneHot', ['i64:n', F(lambda e: [e['m']]), K([0, 1], 'i64')])
    yield C('Compress', ['f32:n,3', K([1, 0, 1], 'bool')], axis=1); yield C('Compress', ['f32:n,3', 'bool:n'], axis=0); yield C('Compress', ['f32:n,3', K([1, 0], 'bool')])
    yield C('Unique', ['i64:n,3'], 4, empty=False); yield C('Unique', ['i64:n,3'], 4, axis=1, empty=False)
    yield C('CumSum', ['f32:n,3', K(0)]); yield C('NonMaxSuppression', ['f32:1,n,4', 'f32:1,2,n', K([3])], empty=False)
    for a, b in ('n,3', '3,m'), ('b,n,3', '3,m'), ('3', '3,m'), ('n,3', '3'), ('3', '3'), ('b,2,n,3', '2,3,m'), ('b,n,m', 'b,m,4'): yield C('MatMul', ['f32:' + a, 'f32:' + b], empty=False)
    yield C('MatMulInteger', ['u8:n,3', 'u8:3,m'], empty=False); yield C('QLinearMatMul', ['u8:n,3', K(.5, 'f32'), K(1, 'u8'), 'u8:3,m', K(.5, 'f32'), K(1, 'u8'), K(.5, 'f32'), K(1, 'u8')], empty=False)
    for a in range(4): yield C('Gemm', [['f32:n,3', 'f32:3,n'][a & 1], ['f32:3,m', 'f32:m,3'][a >> 1], 'f32:m'], transA=a & 1, transB=a >> 1, empty=False)
    for eq, args in ('ij,jk->ik', ['n,3', '3,m']), ('bij , bjk -> bik', ['b,n,3', 'b,3,m']), ('ij->ji', ['n,m']), ('ij,kj', ['n,3', 'm,3']), ('ii->i', ['n,n']), ('ij->', ['n,m']), ('...ij,...jk->...ik', ['b,n,3', 'b,3,m']), ('i,j->ij', ['n', 'm']): yield C('Einsum', ['f32:' + a for a in args], equation=eq, empty=False)
    for kw in {}, dict(strides=[2, 1], pads=[1, 0, 1, 2]), dict(dilations=[1, 2]), dict(auto_pad='SAME_UPPER', strides=[2, 3]), dict(auto_pad='SAME_LOWER'), dict(auto_pad='VALID', strides=[1, 2]), dict(pads=[1, 1, 1, 1], kernel_shape=[3, 3]):
        yield C('Conv', ['f32:b,3,9,n', 'f32:4,3,3,3'] if kw.get('pads') or 'SAME' in kw.get('auto_pad', '') else ['f32:b,3,9,8', 'f32:4,3,3,3'], empty=False, **kw)
        yield C('ConvTranspose', ['f32:b,3,9,n', 'f32:3,4,3,3'], empty=False, **kw)
        pool = dict(kw, kernel_shape=[3, 3])
        for op in 'MaxPool', 'AveragePool', 'LpPool':
            if op == 'MaxPool' or 'dilations' not in kw: yield C(op, ['f32:b,m,9,8'], 2 if op == 'MaxPool' and 'dilations' not in kw else 1, empty=False, **pool)
        if 'auto_pad' not in kw: yield C('MaxPool', ['f32:b,m,9,8'], empty=False, ceil_mode=1, **pool)
    yield C('Conv', ['f32:b,4,n', 'f32:6,2,1'], group=2, empty=False); yield C('Conv', ['f32:b,2,n', 'f32:m,2,1'], empty=False); yield C('Conv', ['f32:b,2,7,n,m', 'f32:3,2,3,1,1'], empty=False)
    yield C('ConvTranspose', ['f32:b,4,n', 'f32:4,2,3'], group=2, strides=[3], output_padding=[1], empty=False); yield C('ConvTranspose', ['f32:b,4,3', 'f32:4,2,3'], output_shape=[6], strides=[2], empty=False); yield C('ConvTranspose', ['f32:b,4,1', 'f32:4,2,3'], empty=False)
    yield C('ConvInteger', ['u8:b,2,9', 'u8:3,2,3'], empty=False); yield C('QLinearConv', ['u8:b,2,9', K(.5, 'f32'), K(1, 'u8'), 'u8:3,2,3', K(.5, 'f32'), K(1, 'u8'), K(.5, 'f32'), K(1, 'u8')], empty=False)
    for op in 'GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool': yield C(op, ['f32:b,3,n,m'], empty=False)
    for s in [1, 1, 2, 3], [1, 1, .5, 1.5], [1, 1, 1.3, .7]:
        yield C('Resize', ['f32:b,2,4,6', None, K(s, 'f32')], empty=False); yield C('Resize', ['f32:b,2,4,6', K(s, 'f32')], opset=10, empty=False)
        if min(s) >= 1: yield C('Upsample', ['f32:b,2,4,6', K(s, 'f32')], opset=9, empty=False); yield C('Upsample', ['f32:b,2,4,6'], opset=7, empty=False, scales=[float(x) for x in s])
    yield C('Resize', ['f32:b,2,n,m', None, None, F(lambda e: [e['b'], 2, 5, 7])], empty=False); yield C('Resize', ['f32:b,2,n,m', None, None, K([5, 7])], axes=[2, 3], empty=False); yield C('Resize', ['f32:b,2,n,m', None, K([2, 2], 'f32')], axes=[2, 3], empty=False)
    yield C('Resize', ['f32:b,2,4,6', None, None, K([5, 5])], axes=[2, 3], keep_aspect_ratio_policy='not_larger', empty=False)
    for op, k, outs in ('LSTM', 8, 3), ('GRU', 6, 2), ('RNN', 2, 2):
        for way, d in ('forward', 1), ('bidirectional', 2), ('reverse', 1):
            yield C(op, ['f32:n,b,3', f'f32:{d},{k},3', f'f32:{d},{k},2'], outs, hidden_size=2, direction=way, empty=False)
    for a in -1, 1, 0: yield C('LayerNormalization', ['f32:n,3,4', 'f32:' + {-1: '4', 1: '3,4', 0: 'n,3,4'}[a]], 3, axis=a, empty=False)
    yield C('RMSNormalization', ['f32:n,3,4', 'f32:4'], opset=23, empty=False); yield C('BatchNormalization', ['f32:b,3,n', *['f32:3'] * 4], empty=False); yield C('InstanceNormalization', ['f32:b,3,n', 'f32:3', 'f32:3'], empty=False); yield C('LRN', ['f32:b,3,n,m'], size=3, empty=False); yield C('LpNormalization', ['f32:n,m'], empty=False)
    yield C('Dropout', ['f32:n,m'], 2); yield C('Dropout', ['f32:n,m'], opset=9); yield C('Dropout', ['f32:n,m', K(.5, 'f32')], 2, opset=13)
    for op, x in ('QuantizeLinear', 'f32:n,m'), ('DequantizeLinear', 'u8:n,m'): yield C(op, [x, K(.5, 'f32'), K(3, 'u8')])
    yield C('QuantizeLinear', ['f32:n,m', K(.5, 'f32')]); yield C('QuantizeLinear', ['f32:n,m', K(.5, 'f32')], opset=21, output_dtype=3)
    yield C('DynamicQuantizeLinear', ['f32:n,m'], 3, empty=False)
    for op in 'RandomNormal', 'RandomUniform': yield C(op, [], shape=[2, 3]); yield C(op + 'Like', ['f32:n,m']); yield C(op + 'Like', ['i64:n,m'], dtype=11)
    yield C('Bernoulli', ['f32:n,m'], dtype=9, empty=False); yield C('Multinomial', ['f32:n,m'], sample_size=4, empty=False); yield C('Multinomial', ['f32:n,m'], dtype=7, empty=False)
    yield C('ReverseSequence', ['f32:4,b', F(lambda e: [1] * e['b'])], empty=False); yield C('Trilu', ['f32:b,n,m'])
    yield C('ScatterElements', ['f32:n,3', K([[0, 0]]), 'f32:1,2'], empty=False); yield C('ScatterND', ['f32:n,3', K([[0]]), 'f32:1,3'], empty=False)
    for a in 0, 1, -1:
        for ix in K(0), K([0, 1]), 'i64:m,2', K([[-1]]): yield C('Gather', ['f32:2,3,n' if a != -1 else 'f32:n,2,2', ix], axis=a)
    yield C('GatherElements', ['f32:n,3', K([[0, 0, 0]])], axis=1, empty=False); yield C('GatherElements', ['f32:2,m', 'i64:n,m'], axis=0)
    for ix in 'i64:m,1', 'i64:m,2', 'i64:b,m,2': yield C('GatherND', ['f32:2,3,n', ix])
    yield C('GatherND', ['f32:b,2,n', 'i64:b,1'], batch_dims=1); yield C('GatherND', ['f32:2,3', 'i64:b,m,2'])


def integers():
    """Graphs of the elements of shapes: (name, text of the graph)."""
    after = 'v = Constant <value_ints = [-1]> () c = Cast <to = 7> (y) w = Reshape (c, v) z = ConstantOfShape (w)'
    two = 'k = Constant <value_ints = [%s]> () y = %s (s, k) '
    def text(body, x='float[n,3,m] x'): return f'g ({x}) => (float[] z) {{ s = Shape (x) {body} {after} }}'
    for op in 'Add Mul Max Min Mod Div Equal Less Greater LessOrEqual GreaterOrEqual'.split():
        for k in '1', '2, 2, 1', '3', '4, 1, 1': yield text(two % (k, op))
    for k in '0', '1, 2, 1': yield text(two % (k, 'Sub'))
    for op in 'Sub', 'Mod', 'Div': yield text(f'k = Constant <value_ints = [20]> () y = {op} (k, s)')
    for op in 'And', 'Or', 'Xor': yield text(f'k = Constant <value_ints = [3]> () a = Equal (s, k) b = Less (s, k) y = {op} (a, b)')
    yield text('a = Neg (s) b = Abs (a) y = Identity (b)'); yield text('k = Constant <value_ints = [3]> () a = Greater (s, k) y = Not (a)'); yield text('a = Cast <to = 9> (s) y = Cast <to = 6> (a)'); yield text('a = Cast <to = 2> (s) y = Identity (a)'); yield text('a = Cast <to = 1> (s) y = Cast <to = 7> (a)')
    yield text('k = Constant <value_ints = [2]> () a = Less (s, k) y = Where (a, k, s)'); yield text('k = Constant <value_ints = [1, 2, 3]> () t = Constant <value_ints = [3]> () a = Equal (s, t) y = Where (a, s, k)')
    yield text('k = Constant <value_ints = [1]> () a = Sub (s, k) y = Abs (a)'); yield text('k = Constant <value_ints = [5]> () a = Sub (k, s) b = Neg (a) y = Abs (b)')
    for k in range(3): # of the extents of x, one that the new shape takes away, and a list that is cut short
        yield f'g (float[n,m,3] x) => (float[] y) {{ s = Shape (x) i = Constant <value_ints = [{k}]> () a = Gather (s, i) k = Constant <value_ints = [-1]> () t = Concat <axis = 0> (a, k) y = Reshape <allowzero = 1> (x, t) u = Concat <axis = 0> (k, a) z = Reshape (x, u) o = Constant <value_ints = [1]> () e = Max (a, o) v = Concat <axis = 0> (e, k) w = Reshape (x, v) }}'
        yield f'g (float[n,m] x, float[12] w, float[n,12] q) => (float[] y) {{ o = Constant <value_ints = [0]> () e = Constant <value_ints = [{k + 1}]> () c = Slice (x, o, e, o) s = Shape (c) a = Gather (s, o) k = Constant <value_ints = [-1]> () t = Concat <axis = 0> (k, a) y = Reshape (w, t) p = Max (a, l) l = Constant <value_ints = [1]> () z = Reshape (q, t) }}'.replace('p = Max (a, l) l = Constant <value_ints = [1]> ()', 'l = Constant <value_ints = [1]> () p = Max (a, l)')
    yield 'g (float[n,m] x) => (float[] y) { s = Shape (x) k = Constant <value_ints = [-1, 1]> () i = Constant <value_ints = [1]> () a = Gather (s, i) t = Concat <axis = 0> (a, k) y = Reshape <allowzero = 1> (x, t) }'
    for op in 'ReduceSum', 'ReduceProd', 'ReduceMax', 'ReduceMin': yield text(f'y = {op} <keepdims = 0> (s)'); yield text(f'k = Constant <value_ints = [0]> () y = {op} (s, k)', 'float[2,3] x')
    yield text('y = Size (x)'); yield text('y = Size (x)', 'float[2,3] x'); yield text('y = Transpose (s)')
    for a in '0', '-1', '2, 0': yield text(f'k = Constant <value_ints = [{a}]> () y = Gather (s, k)')
    yield text('k = Constant <value_int = 1> () y = Gather (s, k)'); yield text('k = Constant <value_ints = [1]> () j = Constant <value_ints = [0]> () a = Gather (s, k) y = Squeeze (a, j)'); yield text('k = Constant <value_int = 2> () j = Constant <value_ints = [0]> () a = Gather (s, k) y = Unsqueeze (a, j)')
    for st, en, step in (0, 2, 1), (-1, 9, 1), (-1, -9, -1), (0, 9, 2), (1, -1, 1), (2, 0, -1), (5, 9, 1), (1, 0, 1):
        yield text(f'i = Constant <value_ints = [{st}]> () j = Constant <value_ints = [{en}]> () o = Constant <value_ints = [0]> () k = Constant <value_ints = [{step}]> () y = Slice (s, i, j, o, k)')
    yield text('k = Constant <value_ints = [1, 2]> () a, b = Split <axis = 0> (s, k) y = Concat <axis = 0> (b, a)'); yield text('a, b = Split <axis = 0, num_outputs = 2> (s) y = Identity (b)', 'float[n,3,m,2] x'); yield text('k = Constant <value_ints = [2]> () y = Tile (s, k)', 'float[n,2] x'); yield text('k = Constant <value_ints = [1]> () y = Tile (s, k)'); yield text('k = Constant <value_ints = [2]> () y = Expand (s, k)', 'float[n] x'); yield text('k = Constant <value_ints = [2]> () y = Tile (s, k)', 'float[n] x')
    yield text('o = Constant <value_int = 0> () k = Constant <value_int = 2> () n = Size (x) j = Constant <value_int = 1> () y = Range (j, n, k)', 'float[2,3] x'); yield text('o = Constant <value_int = 0> () k = Constant <value_int = 1> () j = Gather (s, o) y = Range (o, j, k)'); yield text('o = Constant <value_ints = [2]> () y = ConstantOfShape <value = int64[1] {4}> (o)')
    yield 'g (float[n,3,m] x) => (float[] y) { s = Shape (x) i = Constant <value_ints = [0]> () j = Constant <value_ints = [1]> () a = Slice (s, i, j, i) k = Constant <value_ints = [-1]> () t = Concat <axis = 0> (a, k) y = Reshape (x, t) b = Expand (y, t2) t2 = Concat <axis = 0> (a, j) }'.replace('b = Expand (y, t2) t2 = Concat <axis = 0> (a, j)', 't2 = Concat <axis = 0> (j, a, j) b = Expand (x, t3)').replace('b = Expand (x, t3)', 'b = ConstantOfShape (t2)')
    yield 'g (float[n,4,m] x) => (float[] y) { s = Shape (x) i = Constant <value_ints = [2]> () a = Gather (s, i) k = Constant <value_ints = [-1, 2, 2]> () t = Concat <axis = 0> (k, a) y = Reshape (x, t) o = Constant <value_ints = [0]> () z = Slice (y, o, a, i) w = Tile (x, s) r = Pad (x, p) p = Concat <axis = 0> (o, o, o, o, o, a) }'.replace('r = Pad (x, p) p = Concat <axis = 0> (o, o, o, o, o, a)', 'p = Concat <axis = 0> (o, o, o, o, o, a) r = Pad (x, p)')
    yield 'g (float[n,4] x, int64[k] i) => (float[] y) { s = Shape (i) a, b = TopK <axis = 0> (x, s) c = Shape (x) y = ConstantOfShape (c) o = Constant <value_ints = [0]> () d = Gather (c, o) e = OneHot (i, d, v) v = Constant <value_ints = [0, 1]> () }'.replace('e = OneHot (i, d, v) v = Constant <value_ints = [0, 1]> ()', 'v = Constant <value_ints = [0, 1]> () e = OneHot (i, d, v)')


def bodies():
    """Graphs with sub-graphs."""
    for a, b in ('Relu (x)', 'Neg (x)'), ('Concat <axis = 0> (x, x)', 'Relu (x)'), ('Transpose (x)', 'Relu (x)'), ('ReduceMax <keepdims = 0> (x)', 'Relu (x)'), ('Exp (w)', 'Relu (w)'), ('Concat <axis = 1> (x, w)', 'Concat <axis = 1> (w, x)'):
        yield f'g (float[n,3] x, float[n,3] w, bool c) => (float[] y) {{ y = If (c) <then_branch = a () => (float[] p) {{ p = {a} }}, else_branch = b () => (float[] q) {{ q = {b} }}> z = Neg (y) }}'
    yield 'g (float[n,3] x, bool c) => (float[] y) { s = Shape (x) k = If (c) <then_branch = a () => (int64[] p) { p = Identity (s) }, else_branch = b () => (int64[] q) { q = Neg (s) }> t = Abs (k) y = ConstantOfShape (t) }'
    for step in 'Relu (s)', 'Concat <axis = 0> (s, x)', 'Concat <axis = 1> (s, s)', 'Unsqueeze (s, o)', 'Transpose (s)', 'Slice (s, o, e, o)', 'Reshape (s, f)':
        for turns in 'k = Constant <value_int = 2> ()', 'k = Identity (j)', 'k = Constant <value_int = 0> ()':
            for scanned in 's', 's2', 'w':
                c = {'s': 'c0', 's2': 'c0', 'w': ''}[scanned]
                yield f'g (float[n,3] x, float[m] w, int64 j, bool c0) => (float[] y) {{ {turns} o = Constant <value_ints = [0]> () e = Constant <value_ints = [2]> () f = Constant <value_ints = [3, -1]> () y, z = Loop (k, {c}, x) <body = l (int64 i, bool c, float[] s) => (bool c2, float[] s2, float[] r) {{ c2 = Identity (c) s2 = {step} r = Identity ({scanned}) }}> v = Neg (y) u = Abs (z) }}'
    yield 'g (float[n,3] x, int64 j) => (float[] y) { a = Shape (x) y = Loop (j, , a) <body = l (int64 i, bool c, int64[] s) => (bool c2, int64[] s2) { c2 = Identity (c) o = Constant <value_ints = [1]> () s2 = Add (s, o) }> z = ConstantOfShape (y) }'
    yield 'g (float[n,3] x, int64 j) => (float[] y) { a = Shape (x) y = Loop (j, , x) <body = l (int64 i, bool c, float[] s) => (bool c2, float[] s2) { c2 = Identity (c) s2 = Loop (i, , s) <body = l2 (int64 i2, bool d, float[] t) => (bool d2, float[] t2) { d2 = Identity (d) t2 = Concat <axis = 0> (t, t) }> }> }'
    for attrs in '', ', scan_input_axes = [1]', ', scan_output_axes = [1]', ', scan_output_axes = [-1]', ', scan_input_directions = [1]':
        for step, out in ('Add (s, e)', 's2'), ('Relu (s)', 'e'):
            yield f'g (float[n,n] x, float[n] w, float[m] q) => (float[] y) {{ y, z = Scan <num_scan_inputs = 1{attrs}> (w, x) <body = l (float[] s, float[] e) => (float[] s2, float[] r) {{ s2 = {step} r = Identity ({out}) }}> v = Neg (y) u = Abs (z) }}'.replace('> (w, x) <body', ', body').replace('}> v', '}> (w, x) v')
    yield 'g (float[n,3] x, float[n,2] w) => (float[] y) { y, z = Scan <num_scan_inputs = 2, body = l (float[] s, float[] e) => (float[] r, float[] t) { r = Concat <axis = 0> (s, e) t = NonZero1 (e) }> (x, w) }'.replace('NonZero1', 'Exp')
    yield 'g (float[n,3] x, float[n,2] w) => (float[] y) { y, z = Scan <num_scan_inputs = 2, body = l (float[] s, float[] e) => (float[] r, int64[] t) { r = Concat <axis = 0> (s, e) t = NonZero (e) }> (x, w) }'


def parsed(text):
    # the parser takes attributes before the inputs
    import re
    text = re.sub(r'If \(c\) <(.*?)>( z| t)', r'If <\1> (c)\2', text, flags=re.S) if ' If (c) <' in text else text
    if 'Loop (' in text:
        for call in reversed(list(re.finditer(r'Loop (\([^)]*\)) <', text))):
            depth, at = 1, call.end()
            while depth:
                depth += {'{': 10**6, '}': -10**6, '<': 1, '>': -1}.get(text[at], 0) if text[at - 1:at + 1] != '=>' else 0
                at += 1
            text = text[:call.start()] + 'Loop <' + text[call.end():at] + ' ' + call.group(1) + text[at:]
    g = parser.parse_graph(text)
    def loosen(g, outer):
        for v in [*g.output, *([] if outer else g.input)]:
            if outer or v.type.tensor_type.elem_type not in (9,) and v.name not in ('i', 'i2'): v.type.tensor_type.ClearField('shape')
        for n in g.node:
            for a in n.attribute:
                if a.HasField('g'): loosen(a.g, False)
    loosen(g, True)
    outs = [o for n in g.node for o in n.output]
    del g.output[:]
    g.output.extend(onnx.ValueInfoProto(name=o) for o in outs)
    m = h.make_model(g, opset_imports=[h.make_opsetid('', 18)], ir_version=9)
    s = session(m)
    found, why = [], None
    for k, env in enumerate(SIZES):
        feeds = {}
        rng = np.random.default_rng(k)
        for i in g.input:
            t = i.type.tensor_type
            shape = [d.dim_value if d.HasField('dim_value') else env.get(d.dim_param, 1) for d in t.shape.dim]
            if t.elem_type == 7: feeds[i.name] = np.full(shape, k % 3)
            elif t.elem_type == 9: feeds[i.name] = np.full(shape, k % 2 == 0)
            else: feeds[i.name] = rng.standard_normal(shape).astype('float32')
        try: found.append(described(s, feeds))
        except Exception as e: why = e
    if not found: raise why
    return m, found


def drawn(seed):
    """A random graph, with feeds of other dims where they run."""
    rng = np.random.default_rng(seed)
    g = Graph(rng)
    names = {}
    for i in g.inputs:
        for d, size in zip(i.type.tensor_type.shape.dim, g.feeds[i.name].shape):
            if not d.HasField('dim_value') and size and rng.random() < .7: d.dim_param = names.setdefault(size, f'd{size}')
    for _ in range(rng.integers(4, 10)): g.grow()
    if not g.nodes: return None
    m, _ = g.model()
    s = session(m)
    found = [described(s, g.feeds)]
    # The open dims change; a pool or convolution of no extent would divide by 0.
    for _ in range(3):
        env, feeds = {}, {}
        for i in g.inputs:
            a = g.feeds[i.name]
            shape = [d.dim_value if d.HasField('dim_value') else env.setdefault(d.dim_param, int(rng.integers(1, 7))) if d.dim_param else int(rng.integers(1, 7)) for d in i.type.tensor_type.shape.dim]
            feeds[i.name] = (rng.integers(-3, 4, shape) if a.dtype == np.int64 else rng.standard_normal(shape)).astype(a.dtype)
        try: found.append(described(s, feeds))
        except Exception: pass
    # The file says of some results what held in each run.
    for o in m.graph.output:
        dtypes, shapes = zip(*[(r[o.name][0], r[o.name][1:]) for r in found])
        if rng.random() < .15 and len({len(s) for s in shapes}) == 1:
            o.CopyFrom(h.make_tensor_value_info(o.name, TYPES[dtypes[0]], [d[0] if len(set(d)) == 1 else None for d in zip(*shapes)]))
    return m, found


def main():
    tool, path, random = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 150
    ort.set_default_logger_severity(4)
    graphs = []
    for c in cases():
        r = c.record()
        if r: graphs.append(r)
    print(len(graphs), 'graphs of one operator')
    for text in [*integers(), *bodies()]:
        try: graphs.append(parsed(text))
        except Exception as e: print('no run', text, str(e)[:300])
    print(len(graphs), 'with those of elements and sub-graphs')
    for k in range(random):
        try: r = drawn(77000 + k)
        except Exception: r = None
        if r: graphs.append(r)
    print(len(graphs), 'with random ones')
    lines, wrong = [], 0
    with tempfile.TemporaryDirectory() as d:
        paths = [os.path.join(d, f'{i}.onnx') for i in range(len(graphs))]
        for p, (m, _) in zip(paths, graphs):
            with open(p, 'wb') as f: f.write(m.SerializeToString())
        said = [json.loads(line) for line in subprocess.run([tool, *paths], capture_output=True, text=True, check=True).stdout.splitlines()]
    for (m, runs), one in zip(graphs, said):
        if 'error' in one:
            print('FALSE', one['error'], m.graph.node[0].op_type); wrong += 1
            continue
        values = {v['name']: v for v in one['values'] if not v['inner']}
        for run in runs:
            for name, (dtype, *dims) in run.items():
                v = values.get(name)
                if v is None: continue
                if v['dtype'] and v['dtype'] != dtype or len(dims) < v['rank'][0] or 0 <= v['rank'][1] < len(dims) or any(s < low or 0 <= high < s for s, (low, high) in zip(dims, v['dims'] or [])):
                    print('FALSE', v['op'], name, dtype, dims, v, [n for n in m.graph.node if name in n.output]); wrong += 1
        made = [v for v in values.values() if v['op']]
        known = [sum(bool(v['dtype']) for v in made), sum(v['dims'] is not None for v in made), sum(low == high for v in made for low, high in v['dims'] or []), sum(0 <= high < 2**31 - 1 for v in made for low, high in v['dims'] or []), sum(low for v in made for low, high in v['dims'] or []), sum(bool(n) for v in made for n in v['names'] or [])]
        lines.append(json.dumps(dict(model=m.SerializeToString().hex(), runs=runs, known=known), separators=(',', ':')))
    with open(path, 'wb') as f:
        f.write(gzip.compress('\n'.join(lines).encode(), 9, mtime=0))
    print(len(lines), 'graphs,', wrong, 'false,', os.path.getsize(path), 'bytes')
    sys.exit(wrong > 0)


main()
