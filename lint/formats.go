package lint

import "slices"

// A format is a kind of model files.
type format struct {
	readers []Runtime // that read it without conversion
	words   Runtime   // whose page has its operators: their names, attributes, and the order of their inputs
	written bool      // by garner
}

// formats says of each format of models who reads it, whose operators its nodes are, and whether garner writes it. What
// depends on a format asks this table.
var formats = map[string]format{
	"ONNX":        {[]Runtime{OpenVINO, ONNXRuntime}, ONNXRuntime, true},
	"OpenVINO IR": {[]Runtime{OpenVINO}, OpenVINO, true},
	"TFLite":      {[]Runtime{LiteRT, OpenVINO}, LiteRT, false},
	"TensorFlow":  {[]Runtime{TensorFlow, OpenVINO}, TensorFlow, false},
	"StableHLO":   {[]Runtime{XLA}, XLA, false},
}

// readBy reports whether a runtime reads the model's format without conversion.
func (l *linter) readBy(r Runtime) bool { return slices.Contains(formats[l.format].readers, r) }

// wordsOf reports whether the nodes of the model are operators of a runtime.
func (l *linter) wordsOf(r Runtime) bool { return formats[l.format].words == r }

// readingOf gives the runtime whose operators a model has that OpenVINO reads in a mode of evidence.
var readingOf = map[string]Runtime{fromONNX: ONNXRuntime, fromTFLite: LiteRT, fromTF: TensorFlow}
