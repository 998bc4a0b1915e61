//go:build purego || !amd64

package kernel

var forms = []string{"Generic"}

func rowsForm(int) (move, ahead, stream rowsFunc) {
	return nil, nil, nil
}

func elementsForm(int, int) (move, ahead func(dst, src, values *byte, n, dim, fromEnd, later int) int) {
	return nil, nil
}
