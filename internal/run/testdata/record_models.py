"""Records what TensorFlow and LiteRT answer to models of one operator: models.jsonl.gz, one model a
line, with its file, its inputs and its result.

    pip install tensorflow==2.21.0
    python record_models.py
"""

import base64
import gzip
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as frozen

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(3)


def bits(x):
    x = np.ascontiguousarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "hex": x.tobytes().hex()}


def data(dtype, shape):
    return rng.integers(0, 256, tuple(shape) + (np.dtype(dtype).itemsize,), dtype=np.uint8).view(dtype).reshape(shape)


def pads():
    for turn in range(48):
        dtype = [np.float32, np.int32, np.int64, np.uint8, np.int8][turn % 5]
        shape = rng.integers(2, 5, 1 + turn % 4)
        x = data(dtype, shape)
        if turn % 3 == 0:
            p = rng.integers(0, 4, (len(shape), 2)).astype(np.int32 if turn % 2 else np.int64)
            yield x, (lambda p: lambda x: tf.raw_ops.Pad(input=x, paddings=p))(p)
        elif turn % 3 == 1:
            p, v = rng.integers(0, 4, (len(shape), 2)).astype(np.int32), data(dtype, ())
            yield x, (lambda p, v: lambda x: tf.raw_ops.PadV2(input=x, paddings=p, constant_values=v))(p, v)
        else:
            mode = ["REFLECT", "SYMMETRIC"][turn // 3 % 2]
            p = np.stack([rng.integers(0, d + turn // 3 % 2, 2) for d in shape]).astype(np.int32)
            yield x, (lambda p, mode: lambda x: tf.raw_ops.MirrorPad(input=x, paddings=p, mode=mode))(p, mode)


def chosen(op, c, result, yes, no):
    return lambda x: op(cond=c, input=[x], Tout=[tf.float32] * 2, then_branch=yes, else_branch=no, output_shapes=[[2, 2], [3, 2]])[result]


def choices():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for op in (tf.raw_ops.If, tf.raw_ops.StatelessIf):
        for turn in range(4):
            c = [np.array(True), np.array(False), np.array(3), np.array(0)][turn]
            yes = tf.function(lambda x: (tf.gather(x, [2, 0]), x + 1)).get_concrete_function(tf.TensorSpec([3, 2], tf.float32))
            no = tf.function(lambda x: (tf.gather(x, [1, 1]), x * 2)).get_concrete_function(tf.TensorSpec([3, 2], tf.float32))
            yield x, chosen(op, c, turn % 2, yes, no)


def main():
    with gzip.GzipFile(os.path.join(HERE, "models.jsonl.gz"), "wb", mtime=0) as to:
        for kind, cases in (("pads", pads()), ("choices", choices())):
            for x, f in cases:
                run = tf.function(f, input_signature=[tf.TensorSpec(x.shape, x.dtype, "x")])
                made = run.get_concrete_function()
                want = run(x).numpy()
                graph = made.graph.as_graph_def() if kind == "choices" else frozen(made).graph.as_graph_def()
                line = {"runtime": f"tensorflow {tf.__version__} CPU", "file": "m.pb", "model": base64.b64encode(graph.SerializeToString()).decode()}
                to.write((json.dumps(line | {"kind": kind, "input": bits(x), "want": bits(want)}) + "\n").encode())
                if kind == "choices" or x.itemsize == 1:  # the converter has no PAD of such a type, and may end the process
                    continue
                model = tf.lite.TFLiteConverter.from_concrete_functions([made]).convert()
                lite = tf.lite.Interpreter(model_content=model)
                lite.allocate_tensors()
                lite.set_tensor(lite.get_input_details()[0]["index"], x)
                try:
                    lite.invoke()
                except (RuntimeError, ValueError):  # such as of paddings of i64
                    continue
                want = lite.get_tensor(lite.get_output_details()[0]["index"])
                line = {"runtime": f"tf.lite {tf.__version__} CPU", "file": "m.tflite", "model": base64.b64encode(model).decode()}
                to.write((json.dumps(line | {"kind": kind, "input": bits(x), "want": bits(want)}) + "\n").encode())


if __name__ == "__main__":
    main()
