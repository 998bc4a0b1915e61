//go:build purego || !amd64

package kernel

var forms = []string{"Generic"}

func rowsForm(int) (move, ahead rowsFunc) { return nil, nil }

func streamForm(int, int, bool) rowsFunc { return nil }

func elementsForm(int, int) (move, ahead elementsFunc) { return nil, nil }

func slicesForm(int) (move, ahead slicesFunc) { return nil, nil }

func tuplesForm(int, int) tuplesFunc { return nil }

func columnsForm(int, int, int, int) (move, stream columnsFunc) { return nil, nil }

func flatForm(int, int) (move, ahead, stream columnsFunc) { return nil, nil, nil }

func widenForm(Width) widenFunc { return nil }

func settleForm(Outside) settleFunc { return nil }

func convertForm(Conversion) convertFunc { return nil }

func decodeForm(Stored) decodeFunc { return nil }

func affineForm(int) affineFunc { return nil }

func scaleForm(int, bool, bool) scaleFunc { return nil }

func quotientForm(bool, bool) quotientFunc { return nil }

func affineSumForm(int, bool) (f bagsFunc, wide int) { return nil, 0 }

func bagsForm(n Number, weighted, greater, fused bool) (f bagsFunc, wide int) { return nil, 0 }

// Prefetch does nothing: the generic form has no prefetch instruction.
func Prefetch[T any]([]T) {}

// LastCache returns 0: the size of the last-level cache is not known.
func LastCache() int { return 0 }
