package kernel

import "slices"

// The forms of the kernels, by instruction set; each includes the ones before it.
const (
	formGeneric = iota
	formAMD64
	formAVX2
	formAVX512
	formVBMI // AVX-512 with VBMI, which permutes bytes
)

var formNames = [...]string{"Generic", "AMD64", "AVX2", "AVX512", "AVX512VBMI"}

// form is the form that runs: the last of forms, unless a test selects another.
var form = slices.Index(formNames[:], forms[len(forms)-1])

// Forms lists the forms that this machine can run; the last is the default.
func Forms() []string { return slices.Clone(forms) }

// Form returns the name of the form that runs.
func Form() string { return formNames[form] }

// Use selects a form by its name and returns a function that restores the
// previous one. It panics if this machine cannot run the form. It is for tests and
// benchmarks: the selection is global and not synchronized, so no other goroutine
// may run a kernel before the restore.
func Use(name string) (restore func()) {
	before := form
	if form = slices.Index(formNames[:], name); form < 0 || !slices.Contains(forms, name) {
		form = before
		panic("kernel: no form " + name)
	}
	return func() { form = before }
}
