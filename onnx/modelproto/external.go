package modelproto

import (
	"errors"
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// external makes a constant whose elements are in another file.
func (r *reader) external(t *onnxpb.TensorProto, name string, dtype garner.DType, shape garner.Shape) (*model.Constant, error) {
	if dtype == garner.String {
		return nil, errors.New("its strings are said to be in another file, where only numbers can be; write them in string_data")
	}
	size, ok := garner.SpecOf(dtype, shape...).Bytes()
	if !ok {
		return nil, fmt.Errorf("its shape %s takes more bytes than garner can count", shape)
	}
	var location string
	var offset int64
	length := size
	for _, entry := range t.ExternalData {
		var err error
		switch value := entry.GetValue(); entry.GetKey() {
		case "location":
			location = value
		case "offset":
			offset, err = parseBytes("offset", value)
		case "length":
			length, err = parseBytes("length", value)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case location == "":
		return nil, errors.New("its elements are in another file that is not named; set location in external_data")
	case length != size:
		return nil, fmt.Errorf("it has %d bytes in %.200q by its own account; %s%s takes %d", length, location, dtype, shape, size)
	case r.alone:
		c := r.unreadable(name, garner.SpecOf(dtype, shape...), "its elements are in another file, %.200q, which is not at hand", location)
		r.absent[c] = true
		return c, nil
	case r.folder == nil:
		return nil, fmt.Errorf("its elements are in another file, %.200q, which is not read here; open the model by its path", location)
	}
	file, err := r.folder.Find(location)
	if err != nil {
		return nil, err
	}
	if have := file.State.Size; offset > have || size > have-offset {
		return nil, fmt.Errorf("its elements are %d bytes from %d on of %s, which has %d bytes: the file is cut short or another one; get it again", size, offset, file.Path, have)
	}
	c := model.NewConstant(name, garner.SpecOf(dtype, shape...), func() (garner.Tensor, error) {
		made, err := file.Tensor(int(offset), int(size), func(b []byte) (garner.Tensor, error) { return model.View(dtype, b, shape...) })
		return made, r.atTensor(name, err)
	})
	c.File, c.Offset, c.Size, c.State = file.Path, offset, size, file.State
	return c, nil
}
