package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/garner-go/garner/internal/names"
)

const (
	indexSuffix = ".index" // of the index of a checkpoint of TensorFlow, behind its prefix
	metaSuffix  = ".meta"  // of the graph that TensorFlow 1 saves beside it

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
		prefix, fault := newest(path)
		return prefix + indexSuffix, prefix != "" && fault == ""
	}
	index = path + indexSuffix
	return index, isRegular(index)
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// newest is the prefix of the newest checkpoint of a folder, as the file checkpoint says it. A
// prefix outside the folder is none: whoever gives the folder does not choose other files. fault is
// what is wrong with the file, for a message; both are "" where there is none.
func newest(folder string) (prefix, fault string) {
	path := filepath.Join(folder, stateName)
	if !isRegular(path) {
		return "", ""
	}
	file, err := os.Open(path)
	if err != nil {
		return "", "its file " + stateName + " cannot be read"
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostState))
	if err != nil {
		return "", "its file " + stateName + " cannot be read"
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		value, has := strings.CutPrefix(strings.TrimSpace(line), stateKey)
		if !has {
			continue
		}
		name, err := strconv.Unquote(strings.TrimSpace(value))
		if err == nil && filepath.IsAbs(name) && sameFolder(filepath.Dir(name), folder) {
			name = filepath.Base(name) // as Saver.save of TensorFlow 1 writes it of an absolute path
		}
		switch {
		case err != nil:
			return "", fmt.Sprintf("line %d of its file %s is no %s \"PREFIX\"", number, stateName, stateKey)
		case !filepath.IsLocal(name):
			return "", fmt.Sprintf("its file %s names the checkpoint %s, outside the folder", stateName, names.Quote(name))
		case !isRegular(filepath.Join(folder, name) + indexSuffix):
			return "", fmt.Sprintf("its file %s names the checkpoint %s, of which there is no %s", stateName, names.Quote(name), indexSuffix)
		default:
			return filepath.Join(folder, name), ""
		}
	}
	return "", fmt.Sprintf("its file %s has no line %s \"PREFIX\"", stateName, stateKey)
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// stateFault is what is wrong with the file checkpoint of a folder, behind a colon; "" where there
// is none.
func stateFault(folder string) string {
	if _, fault := newest(folder); fault != "" {
		return ": " + fault
	}
	return ""
}

// checkpointModel is the file that is the model of a checkpoint: the graph beside its index, or
// the index where there is none.
func checkpointModel(index string) string {
	meta := strings.TrimSuffix(index, indexSuffix) + metaSuffix
	if isRegular(meta) {
		return meta
	}
	return index
}
