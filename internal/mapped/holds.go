package mapped

// Holds are what a call in progress keeps, each from Add until Release.
type Holds []Held

// A Held is a garner.Keeper with the memory, or the files, that Check looks at.
type Held interface {
	Hold() error
	Check() error
	Release()
}

// Add holds one more.
func (h *Holds) Add(k Held) error {
	if err := k.Hold(); err != nil {
		return err
	}
	*h = append(*h, k)
	return nil
}

// Check is the error of the first that is no longer what it was.
func (h *Holds) Check() error {
	for _, k := range *h {
		if err := k.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Release ends all of them.
func (h *Holds) Release() {
	for _, k := range *h {
		k.Release()
	}
}
