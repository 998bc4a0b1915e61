"""The peers of quantised.py, each in a process of its own:

    quantised_peers.py PEER THREADS

reads one JSON object a line and answers it with one: {"load": CASE, "result": FILE} opens the tables of a case and writes
what the peer gives as float32 without a header; {"time": SECONDS} times it. An answer with "error" says why not.
"""
import ctypes
import gc
import json
import os
import statistics
import sys
import time

import numpy as np

GGUF = {"Q4_K": (256, 144, 12), "Q6_K": (256, 210, 14), "Q8_0": (32, 34, 8), "MXFP4": (32, 17, 39)}  # elements, bytes, ggml's number
BAGS = 512  # in each table


def parts(case):
    """What lies in the file of a case: of FBGEMM's rows codes, scales and biases; of int4 codes and scales."""
    raw, columns = np.fromfile(case["path"], np.uint8), case["columns"]
    kind = case["kind"].removeprefix("bags:")
    if kind == "f32":
        return raw.view(np.float32).reshape(-1, columns)
    if kind.startswith("rows"):
        bits = int(kind[4:])
        codes, form = columns * bits // 8, np.float32 if bits == 8 else np.float16
        raw = raw.reshape(-1, codes + 2 * np.dtype(form).itemsize)
        tail = np.ascontiguousarray(raw[:, codes:]).view(form)
        return raw, np.ascontiguousarray(raw[:, :codes]), tail[:, 0].astype(np.float32), tail[:, 1].astype(np.float32)
    each = columns // int(kind.split(":")[1])
    rows = len(raw) // (columns // 2 + 4 * each)
    cut = rows * columns // 2
    return raw[:cut].reshape(rows, columns // 2), raw[cut:].view(np.float32).reshape(rows, each)


def gguf_py(case, ids, threads):
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize
    elements, width, _ = GGUF[case["kind"]]
    table = np.fromfile(case["path"], np.uint8).reshape(-1, case["columns"] // elements * width)
    kind = GGMLQuantizationType[case["kind"]]
    return lambda: dequantize(table[ids], kind)


class Plan(ctypes.Structure):
    """ggml_cplan of ggml 0.20."""
    _fields_ = [("work_size", ctypes.c_size_t), ("work_data", ctypes.c_void_p), ("n_threads", ctypes.c_int), ("threadpool", ctypes.c_void_p),
                ("abort", ctypes.c_void_p), ("abort_data", ctypes.c_void_p), ("use_ref", ctypes.c_bool)]


class Room(ctypes.Structure):
    """ggml_init_params."""
    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


def ggml(case, ids, threads):
    """ggml_get_rows of ggml, the library of llama.cpp, computed as a graph of one node."""
    import libggml
    folder = os.path.join(os.path.dirname(libggml.__file__), "lib64")
    base, cpu = (ctypes.CDLL(os.path.join(folder, name), ctypes.RTLD_GLOBAL) for name in ("libggml-base.so", "libggml-cpu.so"))
    cpu.ggml_cpu_init()
    pointer = ctypes.c_void_p
    call = lambda lib, name, result, *args: (setattr(getattr(lib, name), "restype", result), getattr(lib, name)(*args))[1]
    elements, width, number = GGUF[case["kind"]]
    raw = np.fromfile(case["path"], np.uint8)
    rows = len(raw) // (case["columns"] // elements * width)
    room = call(base, "ggml_init", pointer, Room(len(raw) + 5 * len(ids) * case["columns"] + (64 << 20), None, False))
    try:
        table = call(base, "ggml_new_tensor_2d", pointer, pointer(room), number, ctypes.c_int64(case["columns"]), ctypes.c_int64(rows))
        at = call(base, "ggml_new_tensor_1d", pointer, pointer(room), 26, ctypes.c_int64(len(ids)))
        out = call(base, "ggml_get_rows", pointer, pointer(room), pointer(table), pointer(at))
        data = lambda t: call(base, "ggml_get_data", pointer, pointer(t))
        narrow = ids.astype(np.int32)
        ctypes.memmove(data(table), raw.ctypes.data, raw.nbytes)
        ctypes.memmove(data(at), narrow.ctypes.data, narrow.nbytes)
        graph = call(base, "ggml_new_graph", pointer, pointer(room))
        base.ggml_build_forward_expand(pointer(graph), pointer(out))
        plan = call(cpu, "ggml_graph_plan", Plan, pointer(graph), threads, pointer(None))
        work = np.empty(max(1, plan.work_size), np.uint8)
        plan.work_data = work.ctypes.data
    except BaseException:
        base.ggml_free(pointer(room))
        raise

    def look():
        if cpu.ggml_graph_compute(pointer(graph), ctypes.byref(plan)):
            raise RuntimeError("ggml_graph_compute failed")
    look.result = lambda: (look(), np.ctypeslib.as_array(ctypes.cast(data(out), ctypes.POINTER(ctypes.c_float)), (len(ids), case["columns"])))[1]
    look.close = lambda: (base.ggml_free(pointer(room)), work)
    return look


def torch_rows(case, ids, threads):
    import torch
    torch.set_num_threads(threads)
    raw, codes, scale, bias = parts(case)
    bits = int(case["kind"][4:])
    scale, zero, codes = torch.from_numpy(scale), torch.from_numpy(-bias / scale), torch.from_numpy(codes)
    if bits == 8:
        q = torch._make_per_channel_quantized_tensor(codes, scale, zero, 0)
    else:
        # There is no such constructor for codes of 4 bits: the numbers that round to them.
        numbers = torch.stack([codes & 15, codes >> 4], 2).reshape(len(codes), -1).float()
        q = torch.quantize_per_channel((numbers - zero[:, None]) * scale[:, None], scale, zero, 0, torch.quint4x2)
    packed = torch.ops.quantized.embedding_bag_prepack(q)
    look = torch.ops.quantized.embedding_byte if bits == 8 else torch.ops.quantized.embedding_4bit
    ids = torch.from_numpy(ids)
    return lambda: look(packed, ids).numpy()


def torch_bags(case, ids, threads):
    """One call for each table, as nn.EmbeddingBag in a loop."""
    import torch
    torch.set_num_threads(threads)
    kind = case["kind"].removeprefix("bags:")
    tables = parts(case) if kind == "f32" else parts(case)[0]
    tables = [torch.from_numpy(t) for t in np.split(tables, case["tables"])]
    ids = [torch.from_numpy(i) for i in np.split(ids, case["tables"])]
    offsets = torch.arange(0, BAGS * case["length"], case["length"])
    if kind == "f32":
        add = lambda t, i: torch.nn.functional.embedding_bag(i, t, offsets, mode="sum")
    else:
        op = getattr(torch.ops.quantized, "embedding_bag_%s_rowwise_offsets" % {"rows8": "byte", "rows4": "4bit"}[kind])
        add = lambda t, i: op(t, i, offsets)
    def look():
        return [add(t, i) for t, i in zip(tables, ids)]
    look.result = lambda: torch.cat(look()).numpy()
    return look


def torch_of(case, ids, threads):
    return (torch_bags if case["kind"].startswith("bags:") else torch_rows)(case, ids, threads)


def fbgemm(case, ids, threads):
    """Table-batched bags, all tables in one call; of rows alone, one table without pooling."""
    import torch
    import fbgemm_gpu  # registers its operators
    from fbgemm_gpu.split_embedding_configs import SparseType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
    from fbgemm_gpu.split_table_batched_embeddings_ops_inference import IntNBitTableBatchedEmbeddingBagsCodegen
    torch.set_num_threads(threads)
    bags = case["kind"].startswith("bags:")
    kind = case["kind"].removeprefix("bags:")
    tables, length = (case["tables"], case["length"]) if bags else (1, 1)
    form = {"f32": SparseType.FP32, "rows8": SparseType.INT8, "rows4": SparseType.INT4}[kind]
    whole = parts(case)
    rows = len(whole if kind == "f32" else whole[0]) // tables
    op = IntNBitTableBatchedEmbeddingBagsCodegen(
        [(str(t), rows, case["columns"], form, EmbeddingLocation.HOST) for t in range(tables)], device="cpu", output_dtype=SparseType.FP32,
        pooling_mode=PoolingMode.SUM if bags else PoolingMode.NONE)
    op.initialize_weights()
    for t, (weights, scales) in enumerate(op.split_embedding_weights()):
        here = slice(t * rows, (t + 1) * rows)
        if kind == "f32":
            weights.copy_(torch.from_numpy(whole[here].view(np.uint8)))
            continue
        _, codes, scale, bias = whole
        weights.copy_(torch.from_numpy(codes[here]))
        scales.copy_(torch.from_numpy(np.stack([scale[here], bias[here]], 1).astype(np.float16).view(np.uint8)))
    at = torch.from_numpy(ids.astype(np.int32))
    offsets = torch.arange(0, len(ids) + 1, length, dtype=torch.int32)

    def look():
        return op(at, offsets)

    def result():  # a row has a bag of each table; the file has the tables one after the other
        out = look().numpy()
        return np.concatenate(np.split(out, tables, 1)) if bags else out
    look.result = result
    return look


def onnxruntime_of(case, ids, threads):
    import onnxruntime
    from onnx import TensorProto, helper
    codes, scales = parts(case)
    node = helper.make_node("GatherBlockQuantized", ["data", "indices", "scales"], ["out"], domain="com.microsoft",
                            block_size=int(case["kind"].split(":")[1]), bits=4, quantize_axis=1)
    graph = helper.make_graph([node], "g", [
        helper.make_tensor_value_info("data", TensorProto.UINT8, codes.shape),
        helper.make_tensor_value_info("indices", TensorProto.INT64, ids.shape),
        helper.make_tensor_value_info("scales", TensorProto.FLOAT, scales.shape),
    ], [helper.make_tensor_value_info("out", TensorProto.FLOAT, [len(ids), case["columns"]])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"])
    bound = session.io_binding()
    for name, v in (("data", codes), ("indices", ids), ("scales", scales)):
        bound.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(v))
    bound.bind_output("out")

    def look():
        session.run_with_iobinding(bound)
    look.result = lambda: (look(), bound.get_outputs()[0].numpy())[1]
    return look


def openvino_of(case, ids, threads):
    """The pattern to which OpenVINO compresses a table: u4 codes in groups, a zero point of 8, f32 scales."""
    import openvino as ov
    from openvino import opset1, opset8
    codes, scales = parts(case)
    rows, groups = scales.shape
    columns, block = case["columns"], case["columns"] // groups
    packed = ov.Tensor(ov.Type.u4, ov.Shape([rows, groups, block]))
    packed.data.reshape(-1).view(np.uint8)[:] = codes.reshape(-1)
    zero = ov.Tensor(ov.Type.u4, ov.Shape([1, 1, 1]))
    zero.data.reshape(-1).view(np.uint8)[:] = 8
    v = opset1.convert(ov.op.Constant(packed), "f32")
    v = opset1.subtract(v, opset1.convert(ov.op.Constant(zero), "f32"))
    v = opset1.multiply(v, ov.op.Constant(np.ascontiguousarray(scales.reshape(rows, groups, 1))))
    v = opset1.reshape(v, ov.op.Constant(np.array([rows, columns], np.int64)), False)
    p = opset1.parameter(ov.PartialShape(list(ids.shape)), ov.Type.i64)
    model = ov.Model([opset8.gather(v, p, ov.op.Constant(np.array(0, np.int64)))], [p], "m")
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    request = ov.Core().compile_model(model, "CPU", config).create_infer_request()
    request.set_input_tensor(0, ov.Tensor(ids))

    def look():
        request.infer()
    look.result = lambda: (look(), request.get_output_tensor(0).data)[1]
    return look


PEERS = {"gguf-py": gguf_py, "ggml": ggml, "torch": torch_of, "fbgemm": fbgemm, "onnxruntime": onnxruntime_of, "openvino": openvino_of}


def answer(state, question, peer, threads):
    if "load" in question:
        if "call" in state:
            getattr(state.pop("call"), "close", lambda: None)()
            gc.collect()
        case = question["load"]
        state["call"] = call = PEERS[peer](case, np.load(case["ids"]), threads)
        np.ascontiguousarray(getattr(call, "result", call)(), np.float32).tofile(question["result"])
        return {}
    call, spent, end = state["call"], [], time.perf_counter() + question["time"]
    while time.perf_counter() < end or len(spent) < 3:
        begin = time.perf_counter_ns()
        call()
        spent.append(time.perf_counter_ns() - begin)
    return {"median_ns": statistics.median(spent), "min_ns": min(spent)}


def main():
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a library's words are no answers
    state = {}
    for line in sys.stdin:
        try:
            a = answer(state, json.loads(line), sys.argv[1], int(sys.argv[2]))
        except Exception as e:  # a peer may raise anything
            a = {"error": "%s: %s" % (type(e).__name__, str(e).splitlines()[0] if str(e) else "")}
        out.write(json.dumps(a) + "\n")


if __name__ == "__main__":
    main()
