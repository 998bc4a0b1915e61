"""Prints for which element types ONNX Runtime has each operator that is written, and where OpenVINO's CPU
plugin answers as NumPy does; the tables in onnxtarget.go and irtarget.go are made from that by hand.

    pip install numpy onnx onnxruntime openvino ml_dtypes
    python element_types.py
"""

import numpy as np, onnx, onnxruntime as ort, json
from onnx import helper as H, TensorProto as T
ort.set_default_logger_severity(4)
NAMES = {T.BOOL:"bool",T.INT8:"i8",T.INT16:"i16",T.INT32:"i32",T.INT64:"i64",T.UINT8:"u8",T.UINT16:"u16",T.UINT32:"u32",T.UINT64:"u64",T.FLOAT16:"f16",T.BFLOAT16:"bf16",T.FLOAT:"f32",T.DOUBLE:"f64",T.STRING:"string",T.INT4:"i4",T.UINT4:"u4",T.FLOAT8E4M3FN:"f8e4m3fn",T.FLOAT8E5M2:"f8e5m2",T.COMPLEX64:"c64"}
I=T.INT64
def vi(n,t,s): return H.make_tensor_value_info(n,t,s)
def c(n,v): return onnx.numpy_helper.from_array(np.array(v,np.int64),n)
def model(op,t,opset):
    ins=[vi("x",t,[3,4])]; inits=[]; outt=t; names_in=["x"]; attrs={}
    if op=="Gather": ins.append(vi("i",I,[2])); names_in.append("i")
    elif op=="GatherND": ins.append(vi("i",I,[2,1])); names_in.append("i")
    elif op=="GatherElements": ins.append(vi("i",I,[2,4])); names_in.append("i")
    elif op=="Reshape": inits=[c("s",[4,3])]; names_in.append("s")
    elif op=="Squeeze": ins=[vi("x",t,[3,1])]; inits=[c("s",[1])]; names_in.append("s")
    elif op=="Unsqueeze": inits=[c("s",[1])]; names_in.append("s")
    elif op=="Slice": inits=[c("a",[0]),c("b",[2])]; names_in+=["a","b"]
    elif op=="Shape": outt=I
    elif op=="Expand": inits=[c("s",[2,3,4])]; names_in.append("s")
    elif op=="Tile": inits=[c("s",[2,3])]; names_in.append("s")
    elif op=="Range": ins=[vi(n,t,[]) for n in "abc"]; names_in=list("abc")
    elif op in("ReduceProd","ReduceSum","ReduceMin","ReduceMax"): inits=[c("s",[0])]; names_in.append("s")
    elif op=="Where": ins=[vi("c",T.BOOL,[3,4]),vi("x",t,[3,4]),vi("y",t,[3,4])]; names_in=["c","x","y"]
    elif op in("Add","Sub","Mul","Div","Mod","FMod","Min","Max","And","Or","Xor","BitwiseAnd","BitwiseOr","BitwiseXor"):
        ins=[vi("x",t,[3,4]),vi("y",t,[3,4])]; names_in=["x","y"]
        if op=="FMod": op="Mod"; attrs={"fmod":1}
    elif op in("Equal","Less","LessOrEqual","Greater","GreaterOrEqual"): ins=[vi("x",t,[3,4]),vi("y",t,[3,4])]; names_in=["x","y"]; outt=T.BOOL
    elif op=="Transpose": pass
    elif op=="Concat": ins.append(vi("y",t,[3,4])); names_in.append("y"); attrs={"axis":0}
    elif op=="CumSum": inits=[onnx.numpy_helper.from_array(np.array(0,np.int64),"s")]; names_in.append("s")
    elif op in("Not","Neg","Identity","Abs","BitwiseNot"): pass
    elif op.startswith("Cast"):
        to=int(op[4:]); op="Cast"; attrs={"to":to}; outt=to
    g=H.make_graph([H.make_node(op,names_in,["o"],**attrs)],"g",ins,[H.make_tensor_value_info("o",outt,None)],inits)
    return H.make_model(g,opset_imports=[H.make_opsetid("",opset)],ir_version=10 if opset>19 else 8 if opset<19 else 9)
def ok(op,t,opset):
    try:
        ort.InferenceSession(model(op,t,opset).SerializeToString(),providers=["CPUExecutionProvider"]); return True
    except Exception as e: return False
ops="Gather GatherND GatherElements Reshape Squeeze Unsqueeze Transpose Concat Slice Shape Expand Tile Range ReduceProd ReduceSum ReduceMin Where Add Sub Mul Div Mod FMod Min Max Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not Neg Identity Abs BitwiseAnd BitwiseOr BitwiseXor BitwiseNot CumSum".split()
for opset in (18,21):
  for op in ops:
    print(opset,op,*[NAMES[t] for t in NAMES if ok(op,t,opset)])
  for t in NAMES:
    print(opset,"Cast>"+NAMES[t],*[NAMES[f] for f in NAMES if ok("Cast%d"%t,f,opset)])


# OpenVINO.

import numpy as np, openvino as ov
from openvino import opset8 as o, opset13 as o13, opset3 as o3, opset1 as o1, opset4 as o4
import ml_dtypes
core=ov.Core()
D={"bool":np.bool_,"i8":np.int8,"i16":np.int16,"i32":np.int32,"i64":np.int64,"u8":np.uint8,"u16":np.uint16,"u32":np.uint32,"u64":np.uint64,"f16":np.float16,"bf16":ml_dtypes.bfloat16,"f32":np.float32,"f64":np.float64}
T={"bf16":ov.Type.bf16}
rng=np.random.default_rng(1)
def vals(dt,n,big=True):
    if dt==np.bool_: return rng.integers(0,2,n).astype(bool)
    if np.issubdtype(dt,np.integer):
        ii=np.iinfo(dt); lo,hi=(max(ii.min,-2**31),min(ii.max,2**31-1))
        a=rng.integers(lo,hi,n,endpoint=True) if big else rng.integers(max(lo,-20),min(hi,20),n)
        return a.astype(dt)
    return (rng.standard_normal(n)*8).astype(dt)
def par(name,dt,shape): return o.parameter(shape,T.get(name,dt))
def run(f,shapes_vals):
    ps=[par(n,v.dtype.type,list(v.shape)) for n,v in shapes_vals]
    r=f(*ps)
    m=ov.Model([r],ps); c=core.compile_model(m,"CPU",{"INFERENCE_PRECISION_HINT":"f32"})
    feeds=[ov.Tensor(np.ascontiguousarray(v)) if v.dtype!=ml_dtypes.bfloat16 else ov.Tensor(v.view(np.uint16).copy(),list(v.shape),ov.Type.bf16) for _,v in shapes_vals]
    rq=c.create_infer_request(); rq.infer(feeds); t=rq.get_output_tensor(0)
    a=t.data.copy()
    return a
def check(op,name,f,ref,args):
    try: got=run(f,args)
    except Exception as e: return "X"
    want=ref(*[v for _,v in args])
    want=np.asarray(want)
    if name=="bf16" and want.dtype==ml_dtypes.bfloat16:
        got=got.view(np.uint16) if got.dtype!=ml_dtypes.bfloat16 else got.view(np.uint16); want=want.view(np.uint16)
    if got.shape!=want.shape or got.dtype!=want.dtype: return "t:%s%s"%(got.dtype,got.shape)
    return "ok" if got.tobytes()==want.tobytes() else "≠"
def trunc_div(x,y): 
    return (np.abs(x.astype(object))//np.abs(y.astype(object))*np.where((x<0)!=(y<0),-1,1)).astype(x.dtype) if np.issubdtype(x.dtype,np.integer) else x/y
def row(op,f,ref,mk):
    out=[]
    for n,dt in D.items():
        with np.errstate(all="ignore"):
            try: a=mk(n,dt)
            except Exception: continue
            try: r=check(op,n,f,ref,a)
            except Exception as e: r="E"+type(e).__name__
        if r!="X": out.append(n+("" if r=="ok" else ":"+r))
    print(op,*out,flush=True)
one=lambda n,dt:[(n,vals(dt,12).reshape(3,4))]
two=lambda n,dt:[(n,vals(dt,12).reshape(3,4)),(n,vals(dt,12).reshape(3,4))]
def nz(n,dt):
    a=two(n,dt); a[1][1][a[1][1]==0]=1; return a
def small(n,dt):
    a=[(n,vals(dt,12,False).reshape(3,4)),(n,vals(dt,12,False).reshape(3,4))]; a[1][1][a[1][1]==0]=1; return a
K=lambda v:o.constant(np.array(v,np.int64))
row("Gather",lambda x:o.gather(x,K([2,0]),K(0)),lambda x:x[[2,0]],one)
row("GatherND",lambda x:o.gather_nd(x,K([[2],[0]]),0),lambda x:x[[2,0]],one)
import openvino.opset6 as o6
row("GatherElements",lambda x:o6.gather_elements(x,K([[2,0,1,1]]),0),lambda x:np.take_along_axis(x,np.array([[2,0,1,1]]),0),one)
row("Reshape",lambda x:o.reshape(x,K([4,3]),False),lambda x:x.reshape(4,3),one)
row("Squeeze",lambda x:o.squeeze(o.unsqueeze(x,K([1])),K([1])),lambda x:x,one)
row("Transpose",lambda x:o.transpose(x,K([1,0])),lambda x:x.T.copy(),one)
row("Concat",lambda x,y:o.concat([x,y],0),lambda x,y:np.concatenate([x,y]),two)
row("Slice",lambda x:o.slice(x,K([1]),K([3]),K([1])),lambda x:x[1:3],one)
row("ShapeOf",lambda x:o3.shape_of(x,"i64"),lambda x:np.array(x.shape,np.int64),one)
row("Broadcast",lambda x:o3.broadcast(x,K([2,3,4]),broadcast_spec="BIDIRECTIONAL"),lambda x:np.broadcast_to(x,(2,3,4)).copy(),one)
row("Tile",lambda x:o.tile(x,K([2,3])),lambda x:np.tile(x,(2,3)),one)
row("Range",lambda a,b,c:o4.range(a,b,c,[k for k,v in D.items() if v==a.get_element_type().to_dtype().type][0] if a.get_element_type()!=ov.Type.bf16 else "bf16"),lambda a,b,c:np.arange(a,b,c,dtype=a.dtype),lambda n,dt:[(n,np.array(v,dt)) for v in (2,11,3)])
row("ReduceProd",lambda x:o.reduce_prod(x,K([0]),False),lambda x:np.prod(x,0,dtype=x.dtype),lambda n,dt:[(n,vals(dt,12,False).reshape(3,4))])
row("ReduceSum",lambda x:o.reduce_sum(x,K([0]),False),lambda x:np.sum(x,0,dtype=x.dtype),lambda n,dt:[(n,vals(dt,12,False).reshape(3,4))])
row("ReduceSum big",lambda x:o.reduce_sum(x,K([0]),False),lambda x:np.sum(x,0,dtype=x.dtype),one)
row("ReduceLogicalAnd",lambda x:o.reduce_logical_and(x,K([0]),False),lambda x:np.all(x,0),one)
row("Select",lambda c,x,y:o.select(c,x,y),lambda c,x,y:np.where(c,x,y),lambda n,dt:[("bool",vals(np.bool_,12).reshape(3,4))]+two(n,dt))
for nm,f,ref,mk in [("Add",o.add,np.add,two),("Subtract",o.subtract,np.subtract,two),("Multiply",o.multiply,np.multiply,two),
  ("Divide trunc",lambda x,y:o.divide(x,y),None,None),("Minimum",o.minimum,np.minimum,two),("Maximum",o.maximum,np.maximum,two),
  ("FloorMod",o.floor_mod,np.mod,nz),("FloorMod small",o.floor_mod,np.mod,small),("Mod",o.mod,np.fmod,nz),("Mod small",o.mod,np.fmod,small),
  ("Equal",o.equal,np.equal,two),("NotEqual",o.not_equal,np.not_equal,two),("Less",o.less,np.less,two),("LessEqual",o.less_equal,np.less_equal,two),("Greater",o.greater,np.greater,two),("GreaterEqual",o.greater_equal,np.greater_equal,two),
  ("And",o.logical_and,np.logical_and,two),("Or",o.logical_or,np.logical_or,two),("Xor",o.logical_xor,np.logical_xor,two),
  ("BitwiseAnd",o13.bitwise_and,np.bitwise_and,two),("BitwiseOr",o13.bitwise_or,np.bitwise_or,two),("BitwiseXor",o13.bitwise_xor,np.bitwise_xor,two)]:
    if mk: row(nm,f,ref,mk)
def div(python):
    def f(x,y):
        n=o1.divide(x,y); 
        n.set_attribute("m_pythondiv",python) if False else None
        return n
    return f
row("Divide python",lambda x,y:o1.divide(x,y),lambda x,y:(x//y) if np.issubdtype(x.dtype,np.integer) else x/y,nz)
row("Divide python small",lambda x,y:o1.divide(x,y),lambda x,y:(x//y) if np.issubdtype(x.dtype,np.integer) else x/y,small)
row("Not",o.logical_not,np.logical_not,one); row("BitwiseNot",o13.bitwise_not,np.bitwise_not,one)
row("Negative",o.negative,np.negative,one); row("Abs",o.abs,np.abs,one)
for to,dt in D.items():
    row("Convert>"+to,lambda x:o.convert(x,to),lambda x:x.astype(dt),lambda n,d:[(n,vals(d,12,True).reshape(3,4))])
    row("Convert small>"+to,lambda x:o.convert(x,to),lambda x:x.astype(dt),lambda n,d:[(n,np.abs(vals(d,12,False).astype(np.float32)).astype(d).reshape(3,4) if d!=np.bool_ else vals(d,12).reshape(3,4))])
