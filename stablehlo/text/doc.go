// Package text reads StableHLO in MLIR's text: .mlir files, as JAX, PyTorch/XLA and
// stablehlo-translate print them.
//
//	m, err := text.Open("model.mlir")
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Outputs[0])
//	}
//
// The model's graph is that of @main, or of the first public function where there is no
// main. Functions that it calls are part of it at each call; the names of what is in
// them begin with the function's: "_take/13". The other functions that nothing refers to
// are in the graph too, and the names of their inputs and results begin so as well. An
// operator's regions, and functions that it refers to other than by a call, are
// sub-graphs of the node.
//
// The reader takes MLIR's generic syntax of every operator, and the pretty syntax of
// StableHLO's, whose attributes get the names that the generic syntax has. Constants are
// decoded from the mapped text when they are asked for. Locations are skipped, but for
// the name of an argument, which is an alias.
//
// A file of MLIR's bytecode is refused. A model is untrusted: nesting, calls and what
// the calls multiply are limited, and an error says the line.
//
// Spec: https://openxla.org/stablehlo/spec and https://mlir.llvm.org/docs/LangRef
package text
