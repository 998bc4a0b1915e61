package kernel

import "slices"

// The forms of the kernels, from the plainest on: each includes those before.
const (
	formGeneric = iota
	formAMD64
	formAVX2
	formAVX512
	formVBMI // AVX-512 that permutes bytes
)

var formNames = [...]string{"Generic", "AMD64", "AVX2", "AVX512", "AVX512VBMI"}

// form is the one that runs: the best that there is.
var form = slices.Index(formNames[:], forms[len(forms)-1])

// Forms lists the forms that this machine has, from the plainest to the best.
func Forms() []string { return slices.Clone(forms) }

// Form is the form that runs.
func Form() string { return formNames[form] }

// Use makes a form run and returns what puts the one back that ran before. It
// is for tests and measurements: nothing else may run meanwhile.
func Use(name string) (restore func()) {
	before := form
	if form = slices.Index(formNames[:], name); form < 0 || !slices.Contains(forms, name) {
		form = before
		panic("kernel: no form " + name)
	}
	return func() { form = before }
}
