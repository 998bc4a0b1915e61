"""Reduces TensorFlow's messages to what package graphdef reads.

    python reduce.py IN OUT

IN is the FileDescriptorSet that protoc makes of TensorFlow's .proto files. OUT is a
FileDescriptorSet of one file, tensorflow.proto, with the messages and the fields that KEEP
lists, under their own names and numbers. A field that is left out is unknown to the reader,
which skips it.
"""
import sys

from google.protobuf import descriptor_pb2 as pb

KEEP = {
    "SavedModel": "meta_graphs",
    "MetaGraphDef": "meta_info_def graph_def saver_def signature_def object_graph_def",
    "MetaGraphDef.MetaInfoDef": "stripped_op_list tags tensorflow_version",
    "OpList": "op",
    "OpDef": "name input_arg output_arg",
    "OpDef.ArgDef": "name type type_attr number_attr type_list_attr",
    "SaverDef": "restore_op_name",
    "SignatureDef": "inputs outputs",
    "TensorInfo": "name dtype tensor_shape",
    "GraphDef": "node library versions",
    "VersionDef": "producer min_consumer",
    "FunctionDefLibrary": "function",
    "FunctionDef": "signature node_def ret arg_attr",
    "FunctionDef.ArgAttrs": "attr",
    "NodeDef": "name op input attr",
    "AttrValue": "s i f b type shape tensor list func placeholder",
    "AttrValue.ListValue": "s i f b type shape func",
    "NameAttrList": "name",
    "TensorProto": "dtype tensor_shape tensor_content half_val float_val double_val int_val string_val "
    "scomplex_val int64_val bool_val dcomplex_val uint32_val uint64_val float8_val",
    "TensorShapeProto": "dim unknown_rank",
    "TensorShapeProto.Dim": "size name",
    "SavedObjectGraph": "nodes concrete_functions",
    "SavedObject": "children function variable bare_concrete_function constant",
    "SavedFunction": "concrete_functions",
    "SavedBareConcreteFunction": "concrete_function_name",
    "SavedConstant": "operation",
    "SavedVariable": "dtype shape name",
    "SavedConcreteFunction": "bound_inputs",
    "TrackableObjectGraph": "nodes",
    "TrackableObjectGraph.TrackableObject": "children attributes",
    "TrackableObjectGraph.TrackableObject.ObjectReference": "node_id local_name",
    "TrackableObjectGraph.TrackableObject.SerializedTensor": "name full_name checkpoint_key",
    "BundleHeaderProto": "num_shards endianness version",
    "BundleEntryProto": "dtype shape shard_id offset size crc32c slices",
    "TensorSliceProto": "extent",
    "TensorSliceProto.Extent": "start length",
}
ENUMS = {"DataType", "BundleHeaderProto.Endianness"}


def rename(field):
    """Renames the package of a field's type."""
    if field.type_name:
        field.type_name = field.type_name.replace(".tensorflow.", ".garner.tensorflow.")


def reduce(message, name):
    """Keeps what KEEP says of a message and of the messages in it; None where it says nothing."""
    if name not in KEEP:
        return None
    kept = pb.DescriptorProto(name=message.name)
    wanted = KEEP[name].split()
    fields = {f.name: f for f in message.field}
    oneofs = []
    entries = set()
    for f in message.field:
        if f.name not in wanted:
            continue
        made = kept.field.add()
        made.CopyFrom(f)
        made.options.Clear()  # packed and deprecated: neither changes what is read
        made.ClearField("json_name")
        rename(made)
        entries.add(f.type_name.split(".")[-1])
        if f.HasField("oneof_index"):
            oneof = message.oneof_decl[f.oneof_index].name
            if oneof not in oneofs:
                oneofs.append(oneof)
            made.oneof_index = oneofs.index(oneof)
    for word in wanted:
        assert word in fields, (name, word)
    for oneof in oneofs:
        kept.oneof_decl.add(name=oneof)
    for inner in message.nested_type:
        if inner.options.map_entry:
            if inner.name in entries:
                entry = kept.nested_type.add()
                entry.CopyFrom(inner)
                for f in entry.field:
                    rename(f)
        elif (made := reduce(inner, name + "." + inner.name)) is not None:
            kept.nested_type.append(made)
    for enum in message.enum_type:
        if name + "." + enum.name in ENUMS:
            kept.enum_type.append(enum)
    return kept


def main():
    with open(sys.argv[1], "rb") as f:
        whole = pb.FileDescriptorSet.FromString(f.read())
    # The package has another name, as a program may have only one of a name, and whoever
    # imports garner may have TensorFlow's messages too. Nothing of it is on the wire.
    made = pb.FileDescriptorProto(name="tensorflow.proto", package="garner.tensorflow", syntax="proto3")
    found = set()
    for file in whole.file:
        if file.package != "tensorflow":
            continue
        for enum in file.enum_type:
            if enum.name in ENUMS:
                made.enum_type.append(enum)
        for message in file.message_type:
            kept = reduce(message, message.name)
            if kept is not None:
                made.message_type.append(kept)
                found.add(message.name)
    missing = {name for name in KEEP if "." not in name} - found
    assert not missing, missing
    with open(sys.argv[2], "wb") as f:
        f.write(pb.FileDescriptorSet(file=[made]).SerializeToString())


main()
