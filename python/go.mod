module github.com/garner-go/garner/python

go 1.26.0

require github.com/garner-go/garner v0.0.0

require (
	github.com/golang/snappy v1.0.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/garner-go/garner => ../
