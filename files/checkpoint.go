package files

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	indexSuffix = ".index" // of the index of a checkpoint of TensorFlow, behind its prefix

	// stateName is the name of the file of a folder of checkpoints that says which one is
	// the newest, and mostState the most bytes of it that are read. It is the text of a
	// CheckpointState.
	stateName = "checkpoint"
	mostState = 1 << 20
	stateKey  = "model_checkpoint_path:"
)

// checkpointOf finds the index of a checkpoint of TensorFlow as tf.train.load_checkpoint
// does: path is its prefix, model.ckpt-100 for model.ckpt-100.index, or a folder of
// checkpoints, of which it is the newest by the file checkpoint in it. ok is false where
// there is none, and where a file has the name of the prefix.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/train/load_checkpoint
func checkpointOf(path string) (index string, ok bool) {
	info, err := os.Stat(path)
	switch {
	case path == "" || err == nil && !info.IsDir():
		return "", false
	case err == nil:
		prefix, ok := newest(path)
		if !ok {
			return "", false
		}
		path = prefix
	}
	index = path + indexSuffix
	info, err = os.Stat(index)
	return index, err == nil && info.Mode().IsRegular()
}

// newest is the prefix of the newest checkpoint of a folder, as the file checkpoint says it. A
// prefix outside the folder is none: whoever gives the folder does not choose other files.
func newest(folder string) (prefix string, ok bool) {
	path := filepath.Join(folder, stateName)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostState))
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if name, has := strings.CutPrefix(strings.TrimSpace(line), stateKey); has {
			name, err := strconv.Unquote(strings.TrimSpace(name))
			if err != nil || !filepath.IsLocal(name) {
				return "", false
			}
			return filepath.Join(folder, name), true
		}
	}
	return "", false
}
