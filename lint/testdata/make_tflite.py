"""Makes the TFLite models of this folder, and records in litert.json what LiteRT
answers to their cases, by the names of the cases, and what TensorFlow does with
operands of unknown rank. record.py puts the answers of OpenVINO beside them.

    pip install tensorflow
    python make_tflite.py
"""

import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

CASES = {
    "lint-tflite-negative": ("gather", [0, 4, -1]),
    "lint-tflite-past-end": ("gather", [0, 5, 1000]),
    "lint-tflite-clamped": ("gather", [0, 4, 3]),
    "lint-tflite-tuples-negative": ("gather_nd", [0, 4, -1]),
    "lint-tflite-tuples-past-end": ("gather_nd", [0, 5, 1000]),
    "lint-tflite-tuples-clamped": ("gather_nd", [0, 4, 3]),
}


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    data, answers = np.arange(1, 11, dtype=np.float32).reshape(5, 2), {}
    for name, call, shape in (("gather", tf.gather, [3]), ("gather_nd", tf.gather_nd, [3, 1])):
        f = tf.function(lambda data, indices, call=call: call(data, indices))
        specs = [tf.TensorSpec([5, 2], tf.float32, "data"), tf.TensorSpec(shape, tf.int32, "indices")]
        with open(name + ".tflite", "wb") as to:
            to.write(tf.lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function(*specs)]).convert())
    for case, (name, indices) in CASES.items():
        lite = tf.lite.Interpreter(model_path=name + ".tflite")
        lite.allocate_tensors()
        for i in lite.get_input_details():
            lite.set_tensor(i["index"], data if i["dtype"] == np.float32 else np.array(indices, np.int32).reshape(i["shape"]))
        run = {"runtime": f"tf.lite {tf.__version__} CPU", "mode": "", "shapes": "static dims"}
        try:
            lite.invoke()
            y = lite.get_tensor(lite.get_output_details()[0]["index"])
            run["output"] = {"dtype": str(y.dtype), "shape": list(y.shape), "values": y.flatten().tolist()}
        except RuntimeError as e:
            run["error"] = " ".join(str(e).split())[-160:]
        answers[case] = {"model": name + ".tflite", "indices": indices, "run": run}
    for name, shapes in (("data", (None, [None, 1])), ("indices", ([None, None], None)), ("neither", ([None, None], [None, None]))):
        specs = [tf.TensorSpec(s, d) for s, d in zip(shapes, (tf.float32, tf.int64))]
        run = {"runtime": f"tensorflow {tf.__version__} CPU", "mode": "tf.function, unknown shapes", "shapes": "dynamic dims"}
        try:
            y = tf.function(lambda d, i: tf.gather_nd(d, i, batch_dims=1), input_signature=specs)(tf.constant([[1.0, 2], [3, 4]]), tf.constant([[1], [0]], tf.int64)).numpy()
            run["output"] = {"dtype": str(y.dtype), "shape": list(y.shape), "values": y.flatten().tolist()}
        except ValueError as e:
            run["error"] = " ".join(str(e).split())[-60:]
        answers["lint-unknown-rank-of-" + name] = {"run": run}
    with open("litert.json", "w") as to:
        json.dump(answers, to, indent=1, default=int)
        to.write("\n")


if __name__ == "__main__":
    main()
