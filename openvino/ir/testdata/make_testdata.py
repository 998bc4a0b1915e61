"""Makes the models in this folder with OpenVINO itself.

    python make_testdata.py          (openvino 2026.4.1 and numpy)

Every model is saved by ov.save_model as it stands. recorded.json says of each
what its inputs were and what OpenVINO's CPU answered.
"""

import json
import pathlib

import numpy as np
import openvino as ov
from openvino import opset1, opset5, opset6, opset7, opset8, opset13

here = pathlib.Path(__file__).resolve().parent
core = ov.Core()


def parameter(shape, dtype, name):
    p = opset1.parameter(ov.PartialShape(shape), dtype=dtype, name=name)
    p.output(0).set_names({name})
    return p


def result(node, name):
    r = opset1.result(node)
    r.output(0).set_names({name})
    r.set_friendly_name("result_" + name)
    return r


def table(*shape):
    return (np.arange(np.prod(shape), dtype=np.float32) / 4 - 3).reshape(shape)


def embedding():
    """A table, token ids of any batch and length, as an exported network has them."""
    ids = parameter([-1, -1], np.int64, "input_ids")
    g = opset8.gather(opset1.constant(table(10, 4), name="embed.weight"), ids, opset1.constant(np.array(0, np.int64)))
    g.set_friendly_name("embed")
    return ov.Model([result(g, "hidden")], [ids], "embedding"), {"input_ids": np.array([[0, 9, 3], [2, 2, -1]], np.int64)}


def embedding_i4():
    """The same with a table of 4-bit integers, which lie two in a byte."""
    ids = parameter([-1], np.int32, "ids")
    w = ov.op.Constant(ov.Type.i4, ov.Shape([3, 5]), [(i % 16) - 8 for i in range(15)])
    w.set_friendly_name("packed")
    g = opset8.gather(w, ids, opset1.constant(np.array([0], np.int32)))
    c = opset1.convert(g, "f32")
    return ov.Model([result(c, "rows")], [ids], "embedding_i4"), {"ids": np.array([2, 0], np.int32)}


def bounded():
    """Dims that are known, ranges, and not known."""
    data = parameter([ov.Dimension(1, 8), 3, -1], np.float16, "data")
    at = parameter([ov.Dimension(2, -1), 2], np.int32, "at")
    g = opset8.gather_nd(data, at, 0)
    g.set_friendly_name("nd8")
    return ov.Model([result(g, "out")], [data, at], "bounded"), {
        "data": table(2, 3, 2).astype(np.float16), "at": np.array([[0, 2], [1, 1]], np.int32)}


def every_version():
    """Each gather that OpenVINO has, side by side."""
    data = parameter([2, 3, 4], np.float32, "data")
    one = opset1.constant(np.array(1, np.int64), name="axis")
    plain = opset1.constant(np.array([2, 0], np.int64), name="plain")
    batched = opset1.constant(np.array([[2, 0], [1, 1]], np.int64), name="batched")
    tuples = opset1.constant(np.array([[[3], [0], [1]], [[2], [2], [0]]], np.int64), name="tuples")
    along = opset1.constant(np.array([[[0, 1, 2, 0]], [[2, 2, 0, 1]]], np.int32), name="along")
    nodes = {
        "gather1": opset1.gather(data, plain, one),
        "gather7": opset7.gather(data, batched, one, 1),
        "gather8": opset8.gather(data, opset1.constant(np.array([-1, 7], np.int64), name="outside"), one),
        "nd5": opset5.gather_nd(data, tuples, 2),
        "nd8": opset8.gather_nd(data, tuples, 2),
        "elements6": opset6.gather_elements(data, along, 1),
    }
    for name, node in nodes.items():
        node.set_friendly_name(name)
    return ov.Model([result(node, "out_" + name) for name, node in nodes.items()], [data], "every_version"), {"data": table(2, 3, 4)}


def strings():
    """A table of strings, which the .bin packs in a form of its own."""
    ids = parameter([2], np.int64, "ids")
    w = ov.op.Constant(ov.Tensor(np.array([["one", ""], ["drei", "\u00fc\u6f22"]])))
    w.set_friendly_name("words")
    g = opset8.gather(w, ids, opset1.constant(np.array(0, np.int64)))
    g.set_friendly_name("pick")
    return ov.Model([result(g, "out")], [ids], "strings"), {"ids": np.array([1, 0], np.int64)}


def branches():
    """An If with a gather in each branch."""
    cond = parameter([], bool, "cond")
    data = parameter([4, 2], np.float32, "data")

    def branch(name, at):
        x = opset1.parameter([4, 2], np.float32, name=name + "_x")
        g = opset8.gather(x, opset1.constant(np.array(at, np.int64)), opset1.constant(np.array(0, np.int64)))
        g.set_friendly_name(name)
        return ov.Model([opset1.result(g)], [x], name), x

    yes, x = branch("first_rows", [0, 1])
    no, y = branch("last_rows", [3, 2])
    node = opset8.if_op(cond.output(0))
    node.set_then_body(yes)
    node.set_else_body(no)
    node.set_input(data.output(0), x, y)
    out = node.set_output(yes.get_results()[0], no.get_results()[0])
    node.set_friendly_name("choose")
    return ov.Model([result(out, "out")], [cond, data], "branches"), {"cond": np.array(True), "data": table(4, 2)}


def loop():
    """A TensorIterator whose body gathers along the rows that it is given."""
    data = parameter([3, 4], np.float32, "data")
    row = opset1.parameter([1, 4], np.float32, name="row")
    g = opset8.gather(row, opset1.constant(np.array([3, 0], np.int64)), opset1.constant(np.array(1, np.int64)))
    g.set_friendly_name("in_body")
    body = ov.Model([opset1.result(g)], [row], "body")
    node = opset1.tensor_iterator()
    node.set_function(body)
    node.set_sliced_input(row, data.output(0), 0, 1, 1, -1, 0)
    out = node.get_concatenated_slices(body.get_results()[0].output(0), 0, 1, 1, -1, 0)
    node.set_friendly_name("rows")
    return ov.Model([result(out, "out")], [data], "loop"), {"data": table(3, 4)}


def bodies():
    """Gathers in a Loop, a TensorIterator and an If, whose indices come from outside."""
    data = parameter([4, 2], np.float32, "data")
    ids, steps, cond = parameter([3], np.int64, "ids"), parameter([3], np.int64, "steps"), parameter([], bool, "cond")
    zero = opset1.constant(np.array(0, np.int64))

    def inside(name, shape, at):
        table = opset1.parameter([4, 2], np.float32, name=name + "_table")
        index = opset1.parameter(shape, np.int64, name=name + "_index")
        g = opset8.gather(table, index if at is None else at(index), zero)
        g.set_friendly_name(name)
        return table, index, g

    turn = opset1.parameter([], np.int64, name="turn")
    table, index, g = inside("in_loop", [3], lambda i: i)
    next_index = opset1.add(index, opset1.multiply(turn, zero))
    body = ov.Model([opset1.result(opset1.constant(np.array(True))), opset1.result(next_index), opset1.result(opset1.unsqueeze(g, zero))], [turn, table, index], "body")
    loop = opset5.loop(opset1.constant(np.array(2, np.int64)), opset1.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([0, 0])
    loop.set_invariant_input(table, data.output(0))
    loop.set_merged_input(index, ids.output(0), body.get_results()[1].output(0))
    last = loop.get_iter_value(body.get_results()[1].output(0), -1)
    rows = loop.get_concatenated_slices(body.get_results()[2].output(0), 0, 1, 1, -1, 0)
    loop.set_friendly_name("loop")
    after = opset8.gather(data, last, zero)
    after.set_friendly_name("after_loop")

    table, index, g = inside("in_iterator", [1], None)
    each = opset1.tensor_iterator()
    body = ov.Model([opset1.result(g)], [table, index], "each")
    each.set_function(body)
    each.set_invariant_input(table, data.output(0))
    each.set_sliced_input(index, steps.output(0), 0, 1, 1, -1, 0)
    parts = each.get_concatenated_slices(body.get_results()[0].output(0), 0, 1, 1, -1, 0)

    a, i, g = inside("in_then", [3], None)
    yes = ov.Model([opset1.result(g)], [a, i], "yes")
    b, j, g = inside("in_else", [3], lambda i: opset1.clamp(i, 0, 3))
    no = ov.Model([opset1.result(g)], [b, j], "no")
    choose = opset8.if_op(cond.output(0))
    choose.set_then_body(yes)
    choose.set_else_body(no)
    choose.set_input(data.output(0), a, b)
    choose.set_input(ids.output(0), i, j)
    chosen = choose.set_output(yes.get_results()[0], no.get_results()[0])
    results = [result(rows, "rows"), result(after, "after"), result(parts, "parts"), result(chosen, "chosen")]
    return ov.Model(results, [data, ids, steps, cond], "bodies"), {"data": (np.arange(8, dtype=np.float32) / 4 - 3).reshape(4, 2), "ids": np.array([3, 0, 1], np.int64), "steps": np.array([0, 1, 3], np.int64), "cond": np.array(True)}


def around():
    """What stands around a gather in exported networks."""
    data = parameter([-1, 6], np.float32, "data")
    at = parameter([-1], np.int32, "at")
    shape = opset13.shape_of(data, "i64")
    zero = opset1.constant(np.array(0, np.int64))
    rows = opset8.gather(shape, zero, zero)
    rows.set_friendly_name("number_of_rows")
    wide = opset1.convert(at, "i64")
    positive = opset1.select(opset1.less(wide, zero), opset1.add(wide, rows), wide)
    g = opset8.gather(data, positive, zero)
    g.set_friendly_name("rows")
    back = opset1.reshape(g, opset1.constant(np.array([0, 2, 3], np.int64)), True)
    turned = opset1.transpose(back, opset1.constant(np.array([2, 0, 1], np.int64)))
    return ov.Model([result(turned, "out")], [data, at], "around"), {"data": table(4, 6), "at": np.array([-1, 2, 0], np.int32)}


def tensor(a):
    a = np.asarray(a)
    name = "string" if a.dtype.kind in "US" else a.dtype.name
    return {"dtype": name, "shape": list(a.shape), "values": a.reshape(-1).tolist()}


recorded = {"openvino": ov.__version__}
for make in (embedding, embedding_i4, bounded, every_version, strings, branches, loop, bodies, around):
    model, inputs = make()
    path = here / (make.__name__ + ".xml")
    ov.save_model(model, path, compress_to_fp16=False)
    compiled = core.compile_model(core.read_model(path), "CPU")
    answer = compiled(inputs)
    outputs = {}
    for out in compiled.outputs:
        a = answer[out]
        outputs[out.any_name] = tensor(a)
    recorded[make.__name__] = {"about": make.__doc__, "inputs": {k: tensor(v) for k, v in inputs.items()}, "outputs": outputs}

(here / "recorded.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=True) + "\n")
