//go:build !unix && !windows

package terminal

import "os"

func width(*os.File) (int, bool) { return 0, false }

func isTerminal(*os.File) bool { return false }
