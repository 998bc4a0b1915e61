// Package files opens, lists and writes arrays in files of every format that
// garner knows, and is the only package that knows them all.
//
// An operand names an array as users write it:
//
//	data.npy                                   a format with one array
//	model.gguf#token_embd.weight               FILE#NAME, of a format with several
//	model.onnx#embedding.weight                a constant of a model
//	model.safetensors.index.json#embeddings    the index of a model's files
//	model.ckpt-100#embeddings                  a checkpoint of TensorFlow, by its prefix
//	part-*.npy                                 files joined along axis 0, part-2 before part-10
//	rows/ or rows/manifest.json                shards of one array, see package format/shards
//	table.bin                                  elements alone; [Options] say what they are
//	ids.txt                                    integers as text
//	s3://bucket/table.npy                      a URL, once a scheme is registered
//
// [Open] gives the [Array] of an operand, which need not fit in memory, for
// source.Gather and source.NewTable. [Tensor] gives it in memory, [List] what a
// file has, and [OpenModel] a model with its gathers inferred:
//
//	weights, err := files.Open(ctx, "model.gguf#token_embd.weight", files.Options{})
//	...
//	defer weights.Close()
//	table, err := source.NewTable(weights)
//
// [Create] writes a result, whole or not at all; an interrupted one can be
// resumed:
//
//	out, err := files.Create(ctx, "rows.npy", spec, files.CreateOptions{})
//	...
//	defer out.Abort() // does nothing after Commit
//	err = source.Gather(ctx, op, weights, ids, out, source.Options{})
//	...
//	err = out.Commit()
//
// [Register] adds a format and [RegisterScheme] the scheme of a URL.
// [Parse] and [Operand] are for programs that read an operand once, such as a
// command line, and open it later.
package files
