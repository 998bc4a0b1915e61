"""Makes branch.tflite and branch.xml: a gather in each branch of a condition that is an input. It prints what
LiteRT and OpenVINO answer, which TestGivenBranch has.

    python make_branch.py litert|openvino
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
X, I = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0])


def litert():
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([], tf.bool, "c"), tf.TensorSpec([3, 2], tf.float32, "x"), tf.TensorSpec([2], tf.int32, "i")])
    def f(c, x, i):
        return {"y": tf.cond(c, lambda: tf.gather(x, i), lambda: tf.gather(x, i[::-1]) + 1)}

    made = tf.lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function()]).convert()
    with open(os.path.join(HERE, "branch.tflite"), "wb") as to:
        to.write(made)
    lite = tf.lite.Interpreter(model_content=made)
    for c in (True, False):
        lite.allocate_tensors()
        for of in lite.get_input_details():
            lite.set_tensor(of["index"], {"c": np.array(c), "x": X, "i": I.astype(np.int32)}[of["name"]])
        lite.invoke()
        print(c, lite.get_tensor(lite.get_output_details()[0]["index"]).tolist())


def openvino():
    import openvino as ov
    from openvino import opset8 as o

    def body(doubled):
        x, i = o.parameter([3, 2], np.float32), o.parameter([2], np.int64)
        y = o.gather(x, i, o.constant(0))
        result = o.result(o.multiply(y, o.constant(np.float32(2))) if doubled else y)
        return ov.Model([result], [x, i]), x, i, result

    c, x, i = o.parameter([], np.bool_, name="c"), o.parameter([3, 2], np.float32, name="x"), o.parameter([2], np.int64, name="i")
    yes, x1, i1, y1 = body(False)
    no, x2, i2, y2 = body(True)
    n = o.if_op(c)
    n.set_then_body(yes)
    n.set_else_body(no)
    n.set_input(x.output(0), x1, x2)
    n.set_input(i.output(0), i1, i2)
    made = ov.Model([o.result(n.set_output(y1, y2))], [c, x, i], "branch")
    ov.save_model(made, os.path.join(HERE, "branch.xml"), compress_to_fp16=False)
    compiled = ov.Core().compile_model(made, "CPU")
    for c in (True, False):
        print(c, compiled([np.array(c), X, I])[0].tolist())


{"litert": litert, "openvino": openvino}[sys.argv[1]]()
