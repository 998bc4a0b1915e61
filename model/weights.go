package model

import "slices"

// Weights lists the files that hold elements of the model's constants, those of sub-graphs
// too, each once.
func (m *Model) Weights() []string {
	var files []string
	add := func(g *Graph) {
		for _, v := range g.Constants {
			if v.Constant != nil && v.Constant.File != "" && !slices.Contains(files, v.Constant.File) {
				files = append(files, v.Constant.File)
			}
		}
	}
	if m.Graph == nil {
		return nil
	}
	add(m.Graph)
	for n := range m.Nodes() {
		for _, g := range n.Graphs {
			add(g.Graph)
		}
	}
	return files
}
