"""Holds what garner infers of the values of ONNX models against onnx.shape_inference and against
runs of ONNX Runtime with every value as an output.

    go build -o values ./internal/shapes/testdata/values
    python compare.py ./values [--runs N] MODEL...

onnx 1.23, onnxruntime 1.31.1. Feeds are random: open dims of inputs are drawn, by name where
they have one. A model that a random feed does not run is tried with others.
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np, onnx, onnxruntime as ort
from onnx import shape_inference, TensorProto

NAMES = {1: 'f32', 2: 'u8', 3: 'i8', 4: 'u16', 5: 'i16', 6: 'i32', 7: 'i64', 8: 'string', 9: 'bool', 10: 'f16', 11: 'f64', 12: 'u32', 13: 'u64', 16: 'bf16'}
NUMPY = {'float32': 'f32', 'uint8': 'u8', 'int8': 'i8', 'uint16': 'u16', 'int16': 'i16', 'int32': 'i32', 'int64': 'i64', 'object': 'string', 'bool': 'bool', 'float16': 'f16', 'float64': 'f64', 'uint32': 'u32', 'uint64': 'u64'}


def values_of(tool, paths):
    out = subprocess.run([tool, *paths], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def lies(v, dtype, shape):
    """Why an array is none that v says; '' where it is one."""
    if v['dtype'] and dtype and v['dtype'] != dtype:
        return f"dtype {dtype}, not {v['dtype']}"
    if len(shape) < v['rank'][0] or v['rank'][1] >= 0 and len(shape) > v['rank'][1]:
        return f"rank {len(shape)}, not {v['rank']}"
    for d, (low, high) in zip(shape, v['dims'] or []):
        if d < low or 0 <= high < d:
            return f"shape {list(shape)}, not {v['dims']}"
    return ''


def inferred(m):
    """dtype and dims (None: open) by name, as onnx.shape_inference infers."""
    try:
        m = shape_inference.infer_shapes(m, check_type=True, strict_mode=True, data_prop=True)
    except Exception as e:
        print('  strict inference fails:', str(e).strip().split('\n')[-1][:150])
        m = shape_inference.infer_shapes(m, data_prop=True)
    found = {}
    for v in [*m.graph.value_info, *m.graph.output]:
        t = v.type.tensor_type
        if not v.type.HasField('tensor_type'):
            continue
        dims = None
        if t.HasField('shape'):
            dims = [d.dim_value if d.HasField('dim_value') else None for d in t.shape.dim]
        found[v.name] = NAMES.get(t.elem_type, ''), dims
    return found


def feed(session, rng, sizes):
    named, made = {}, {}
    for i in session.get_inputs():
        shape = []
        for d in i.shape:
            if isinstance(d, int):
                shape.append(d)
            else:
                shape.append(named.setdefault(d, int(rng.choice(sizes))) if d else int(rng.choice(sizes)))
        kind = i.type[7:-1]
        if kind in ('float', 'double', 'float16'):
            x = rng.standard_normal(shape).astype({'float': np.float32, 'double': np.float64, 'float16': np.float16}[kind])
        elif kind == 'bool':
            x = rng.integers(0, 2, shape).astype(bool)
        elif kind == 'string':
            x = np.array(['a'] * int(np.prod(shape)), dtype=object).reshape(shape)
        else:
            top = 16000 if 'sr' == i.name else 3
            x = np.full(shape, 16000) if i.name == 'sr' else rng.integers(0, top, shape)
            x = x.astype(kind)
        made[i.name] = x
    return made


def session_of(m, path):
    """A session of the model with every value of its main graph as an output."""
    m = onnx.ModelProto.FromString(m.SerializeToString())
    have = {o.name for o in m.graph.output}
    for n in m.graph.node:
        for o in n.output:
            if o and o not in have:
                have.add(o)
                m.graph.output.append(onnx.ValueInfoProto(name=o))
    o = ort.SessionOptions()
    o.log_severity_level = 4
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    with tempfile.NamedTemporaryFile(suffix='.onnx', dir=os.path.dirname(path)) as f:
        f.write(m.SerializeToString())
        f.flush()
        return ort.InferenceSession(f.name, o, providers=['CPUExecutionProvider'])


def main():
    p = argparse.ArgumentParser()
    p.add_argument('values')
    p.add_argument('--runs', type=int, default=6)
    p.add_argument('--show', type=int, default=8)
    p.add_argument('models', nargs='+')
    a = p.parse_args()
    wrong = 0
    total = dict(near=0, known=0, onnx=0)
    for path, said in zip(a.models, values_of(a.values, a.models)):
        print(os.path.basename(path))
        if 'error' in said:
            print('  garner:', said['error'])
            continue
        by = {v['name']: v for v in said['values'] if not v['inner']}
        m = onnx.load(path)
        theirs = inferred(m)
        more = less = differ = 0
        for name, (dtype, dims) in theirs.items():
            v = by.get(name)
            if v is None:
                continue
            if dtype and v['dtype'] and dtype != v['dtype'] or dims is not None and v['dims'] is not None and len(dims) != len(v['dims']):
                differ += 1
                print('  differs:', v['op'], name, dtype, dims, 'garner', v['dtype'], v['dims'])
                continue
            if dims is None:
                more += v['dims'] is not None
                continue
            if v['dims'] is None:
                less += 1
                if less <= a.show: print('  less rank:', v['op'], name, dtype, dims, 'garner', v['rank'])
                continue
            for d, (low, high) in zip(dims, v['dims']):
                if d is not None and not (low <= d and (high < 0 or d <= high)):
                    differ += 1
                    if differ <= a.show:
                        print('  differs:', v['op'], name, dims, 'garner', v['dims'])
                elif d is not None and low != high:
                    less += 1
                    if less <= a.show:
                        print('  less:', v['op'], name, dims, 'garner', v['dims'])
                elif d is None and low == high:
                    more += 1
        print(f'  beside onnx.shape_inference: {differ} differ, {more} only garner knows, {less} only it knows')
        ran = 0
        try:
            session = session_of(m, path)
        except Exception as e:
            print('  no session:', str(e)[:200])
            continue
        rng = np.random.default_rng(7)
        bad = {}
        tries = 0
        while ran < a.runs and tries < 12 * a.runs:
            tries += 1
            sizes = [[1, 2, 3, 5], [32, 48, 64, 96], [256, 512], [0, 1, 2], [10, 20], [7, 13, 17], [1], [100]][tries % 8]
            x = feed(session, rng, sizes)
            try:
                made = session.run(None, x)
            except Exception as e:
                last = str(e)
                continue
            ran += 1
            for o, y in zip(session.get_outputs(), made):
                v = by.get(o.name)
                if v is None or not isinstance(y, np.ndarray):
                    continue
                why = lies(v, NUMPY.get(str(y.dtype), ''), y.shape)
                if why:
                    bad[o.name] = f"{v['op']} {o.name}: {why}"
        for text in list(bad.values())[:a.show]:
            print('  FALSE', text)
        wrong += len(bad)
        print(f'  {ran} runs in ONNX Runtime, {len(session.get_outputs())} values each, {len(bad)} false' + ('' if ran else ': ' + last[:200]))
    print(wrong, 'false in all')
    sys.exit(wrong > 0)


main()
