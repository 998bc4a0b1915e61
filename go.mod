module github.com/garner-go/garner

go 1.26
