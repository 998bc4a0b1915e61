"""Records what runtimes answer where the conversion follows them and not their pages: recorded.json.

    python record.py litert      in an environment with tensorflow-cpu; also makes gather_nd.tflite
    python record.py openvino    in one with openvino
"""

import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(HERE, "recorded.json")


def litert():
    """GATHER_ND of f32[3,4] = 0 … 11 by one tuple, from -3 to 13 each: the element, or null where it is refused."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    f = tf.function(lambda x, i: tf.gather_nd(x, i), input_signature=[tf.TensorSpec([3, 4], tf.float32), tf.TensorSpec([1, 2], tf.int32)])
    path = os.path.join(HERE, "gather_nd.tflite")
    with open(path, "wb") as out:
        out.write(tf.lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function()]).convert())
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    answers = []
    for a in range(-3, 14):
        for b in range(-3, 14):
            i = tf.lite.Interpreter(path)
            i.allocate_tensors()
            for d in i.get_input_details():
                i.set_tensor(d["index"], x if d["dtype"] == np.float32 else np.array([[a, b]], np.int32))
            try:
                i.invoke()
                answers.append([a, b, float(i.get_tensor(i.get_output_details()[0]["index"])[0])])
            except (RuntimeError, ValueError):
                answers.append([a, b, None])
    return {"runtime": "LiteRT of TensorFlow " + tf.__version__, "answers": answers}


def openvino():
    """What the guards and the table of OpenVINO's operators rest on."""
    import openvino as ov
    from openvino import opset1, opset6, opset7, opset8

    core = ov.Core()

    def run(make, *values):
        inputs = [opset1.parameter([-1] * v.ndim, v.dtype) for v in values]
        c = core.compile_model(ov.Model([make(*inputs)], inputs), "CPU")
        try:
            return list(c(list(values)).values())[0].tolist()
        except RuntimeError:
            return None

    def wrong(threads, wait):
        """Whether [1, 2, 3] + [1, 2] is an error, after a run that is none. infer of 1 thread loses it, and may crash."""
        a, b = opset1.parameter([-1], np.int64), opset1.parameter([-1], np.int64)
        r = core.compile_model(ov.Model([opset1.add(a, b)], [a, b]), "CPU", {"INFERENCE_NUM_THREADS": threads}).create_infer_request()
        r.infer([i64(1, 2), i64(1, 2)])
        try:
            if wait:
                r.start_async([i64(1, 2, 3), i64(1, 2)])
                r.wait()
            else:
                r.infer([i64(1, 2, 3), i64(1, 2)])
            return "none"
        except RuntimeError:
            return "error"

    i64 = lambda *v: np.array(v, np.int64)
    zero = opset1.constant(i64(0))
    return {"runtime": "OpenVINO " + ov.__version__.split("-")[0],
            "GatherElements of [0] by 0, 1": [run(lambda i: opset6.gather_elements(zero, i, 0), i64(v)) for v in (0, 1)],
            "Add of lengths 3 and 2: start_async of 1 thread, infer and start_async of 2": [wrong(t, w) for t, w in ((1, True), (2, False), (2, True))],
            "Gather-7 of [5, 6] by -1, 2": [run(lambda i: opset7.gather(opset1.constant(i64(5, 6)), i, opset1.constant(np.int64(0))), i64(v)) for v in (-1, 2)],
            "Divide, m_pythondiv, of -7 by 2": run(lambda a, b: opset1.divide(a, b), i64(-7), i64(2)),
            "Divide of 50331651 by 3": run(lambda a, b: opset1.divide(a, b), i64(50331651), i64(3)),
            "Add of u8 250 and 50": run(lambda a, b: opset1.add(a, b), np.array([250], np.uint8), np.array([50], np.uint8)),
            "Convert to u8 of i64 300": run(lambda a: opset1.convert(a, "u8"), i64(300)),
            "Gather-8 of [5, 6] by 2^32+1": run(lambda i: opset8.gather(opset1.constant(i64(5, 6)), i, opset1.constant(np.int64(0))), i64(2**32 + 1))}


have = json.load(open(PATH)) if os.path.exists(PATH) else {}
have[sys.argv[1]] = globals()[sys.argv[1]]()
with open(PATH, "w") as out:
    json.dump(have, out, separators=(",", ":"), sort_keys=True)
    out.write("\n")
