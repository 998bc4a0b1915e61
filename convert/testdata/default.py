"""Makes default.onnx and default_ir3.onnx: a Gather whose indices are an initializer among the
inputs. ONNX Runtime 1.31.1 takes w as an input that may be left out in the first, and as a
constant that no caller gives in the second; OpenVINO 2026.4.1 as a constant in both.

    pip install onnx onnxruntime
    python default.py
"""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as H

for name, ir in (("default", 8), ("default_ir3", 3)):
    w = H.make_tensor("w", T.INT64, [2], [0, 2])
    graph = H.make_graph(
        [H.make_node("Gather", ["x", "w"], ["y"])],
        "g",
        [H.make_tensor_value_info("x", T.FLOAT, [3, 2]), H.make_tensor_value_info("w", T.INT64, [2])],
        [H.make_tensor_value_info("y", T.FLOAT, [2, 2])],
        [w],
    )
    onnx.save(H.make_model(graph, opset_imports=[H.make_opsetid("", 8)], ir_version=ir), f"{name}.onnx")
    session = ort.InferenceSession(f"{name}.onnx")
    assert [i.name for i in session.get_overridable_initializers()] == (["w"] if ir > 3 else [])
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert session.run(None, {"x": x})[0].tolist() == [[0, 1], [4, 5]]
    if ir > 3:
        assert session.run(None, {"x": x, "w": np.array([1, 1])})[0].tolist() == [[2, 3], [2, 3]]
