package ring

import (
	"errors"
	"testing"
)

func TestNewFails(t *testing.T) {
	if r, err := New(-1); !errors.Is(err, ErrNone) {
		t.Error(r, err)
	}
}
