package literal

import "github.com/garner-go/garner"

// Printed is the largest number of Lists of a result that the command prints unless it is
// asked for more.
const Printed = 1000

// Lists is how many elements, or empty lists, the text of a tensor of a shape has: a shape
// without elements can have any number of lists. most+1 stands for all larger numbers.
func Lists(shape garner.Shape, most int) int {
	n := 1
	for _, d := range shape {
		switch {
		case d == 0:
			return n
		case d > most/n:
			return most + 1
		}
		n *= d
	}
	return n
}
