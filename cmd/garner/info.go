package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
)

// infoFlags are the flags of info.
type infoFlags struct {
	array     cmdline.ArrayFlags
	signature string
	json      bool
}

// options are how the arrays are read.
func (f *infoFlags) options() files.Options {
	o := f.array.Options()
	o.Signature = f.signature
	return o
}

func (p *program) infoCommand() *cobra.Command {
	f := &infoFlags{}
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "List the arrays of a file: names, types, shapes and sizes",
		Long: `FILE is a .npy, .npz, .safetensors, .gguf, .raw, .bin, .txt or .csv file, or a pattern
such as 'part-*.npy' of several; FILE#NAME is one of its arrays. A file of another
extension, or of none, is known by its first bytes; - is npy or text on standard input.
info reads only headers, and text and standard input whole. It lists all files of a
sharded model: MODEL.safetensors.index.json, or any file such as
MODEL-00001-of-00003.gguf. Of a .onnx, .xml, .tflite or .mlir model, or a
TensorFlow one (a folder with saved_model.pb, .pb, .meta, or a checkpoint by its prefix, its
.index or its folder), it lists the constants; of a folder of shards, or its
manifest.json, the array that they make, and it opens no shard.

DTYPE is the type that a gather reads, "-" if it refuses; KIND is the file's name of
the type, such as Q8_0, which is read as f32. BYTES is the size of the elements in the
file; of a compressed member of .npz it is that of the member, with its header. The
scale and the zero point of a quantised constant of LiteRT stand behind it. Of a
partitioned variable of TensorFlow 1 it lists the table, joined, and the slices that a
graph reads, whose bytes are the table's; what a checkpoint lacks is "missing".

Exit status: 0 done; 1 FILE could not be read, or is corrupt; 2 the command was wrong.`,
		Example: `  garner info model.gguf
  garner info model.safetensors.index.json --json
  garner info table.bin --dtype f16 --shape '?,256' --offset 64
  garner info 'shards/part-*.npy'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.Usage(cmd, "info takes one FILE; %d were given; put a pattern of several in quotes", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return cmdline.CompleteOperand(cmd, nil, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.info(cmd.Context(), f, args[0]) },
	}
	f.array.Add(cmd, "")
	addSignature(cmd, &f.signature)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// A listing is the JSON output of info.
type listing struct {
	File   string        `json:"file"`
	Format string        `json:"format"`
	Arrays []listedArray `json:"arrays"`
	Bytes  int64         `json:"bytes"`            // of all arrays of known size, in their files; those of a slice are of its whole
	Joined string        `json:"joined,omitempty"` // spec of the files of a pattern, joined
}

type listedArray struct {
	Name      string `json:"name,omitempty"`
	DType     string `json:"dtype,omitempty"` // absent where it is not read
	Kind      string `json:"kind,omitempty"`  // as the format names it
	Shape     []int  `json:"shape"`           // null where it is not known
	Bytes     int64  `json:"bytes"`           // -1 where the kind is not known
	File      string `json:"file"`
	Quantised string `json:"quantised,omitempty"` // for which reals the elements stand
	Whole     string `json:"whole,omitempty"`     // the array that it is a slice of
	Note      string `json:"note,omitempty"`
}

// info lists the arrays of a file, or of the files that a pattern matches.
func (p *program) info(ctx context.Context, f *infoFlags, text string) error {
	from, arrays, err := p.listed(ctx, f, text)
	if err != nil {
		return err
	}
	o, name := f.options(), from.Name
	if name != "" {
		arrays = slices.DeleteFunc(arrays, func(a files.Info) bool { return a.Name != name })
		if len(arrays) == 0 {
			// Another name of an array, or an error that lists the names that there are.
			if arrays, err = files.List(ctx, text, o); err != nil {
				return err
			}
		}
	}
	l := listing{File: from.Path, Format: from.Format.Name, Arrays: []listedArray{}}
	unknown := 0
	for _, a := range arrays {
		e := listedArray{Name: a.Name, Kind: a.Kind, Shape: a.Shape, Bytes: a.Bytes, File: a.Path, Quantised: a.Quantised, Whole: a.Whole, Note: cmdline.OptionFlags.Replace(a.Note)}
		if a.DType != garner.Invalid {
			e.DType = a.DType.String()
		}
		l.Arrays = append(l.Arrays, e)
		if a.Bytes < 0 {
			unknown++
		}
		if a.Whole == "" {
			l.Bytes += max(a.Bytes, 0)
		}
	}
	if from.IsPattern() && (name != "" || !from.Format.Named) {
		joined, err := from.Open(ctx, o)
		if err != nil {
			return err
		}
		l.Joined = joined.Spec().String()
		if err := joined.Close(); err != nil {
			return err
		}
	}
	if f.json {
		return p.printJSON(l)
	}
	to := p.printer()
	table := tabwriter.NewWriter(to.buf, 0, 0, 2, ' ', 0)
	several := false
	for _, a := range l.Arrays {
		several = several || a.File != l.Arrays[0].File
	}
	row := func(file, note string, cells ...string) {
		if several {
			cells = append(cells, file)
		}
		if note != "" {
			cells = append(cells, terminal.Printable(note))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	row("FILE", "", "NAME", "DTYPE", "KIND", "SHAPE", "BYTES")
	for _, a := range l.Arrays {
		shape, size := garner.Shape(a.Shape).String(), strconv.FormatInt(a.Bytes, 10)
		if a.Shape == nil {
			shape = "-"
		}
		if a.Bytes < 0 {
			size = "-"
		}
		note := a.Quantised
		if note != "" && a.Note != "" {
			note += "; "
		}
		row(printable(a.File), note+a.Note, orDash(printable(a.Name)), orDash(a.DType), orDash(printable(a.Kind)), shape, size)
	}
	if err := table.Flush(); err != nil {
		return cmdline.NotPrinted(err)
	}
	plural := "s"
	if len(l.Arrays) == 1 {
		plural = ""
	}
	switch n := len(l.Arrays); {
	case unknown == 0:
		to.printf("%d array%s of %d bytes", n, plural, l.Bytes)
	case unknown == n:
		to.printf("%d array%s of unknown size", n, plural)
	default:
		to.printf("%d arrays, %d of unknown size and the others of %d bytes", n, unknown, l.Bytes)
	}
	if l.Joined != "" {
		to.printf(", together %s", l.Joined)
	}
	to.printf("\n")
	return to.flush()
}

// listed lists the arrays of FILE. That of standard input is read whole, as text is.
func (p *program) listed(ctx context.Context, f *infoFlags, text string) (files.Operand, []files.Info, error) {
	const role = "FILE"
	o, most := f.options(), cmdline.MemoryBound()
	if text == "-" {
		in, t, err := p.Open(ctx, role, cmdline.ParseOperand(text), o, most)
		if err != nil {
			return files.Operand{}, nil, err
		}
		in.Close()
		a := files.Info{DType: t.DType(), Shape: t.Shape(), Bytes: -1, Path: text, Note: "read whole"}
		return files.Operand{Path: text, Format: files.Format{Name: "stream"}}, []files.Info{a}, nil
	}
	from, err := files.Parse(text)
	switch {
	case errors.Is(err, files.ErrUnknown) && !errors.Is(err, files.ErrForeign):
		if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
			return from, nil, cmdline.NoFile(role, text)
		}
		return from, nil, cmdline.Wrong("%q is no file that garner reads: %s, or - for standard input", text, files.Readable())
	case err != nil:
		return from, nil, cmdline.About(role+" ", err)
	}
	o.Memory = max(most.Bytes, 1)
	arrays, err := from.List(ctx, o)
	if err != nil {
		return from, nil, cmdline.NotOpened(role, from, cmdline.TooLarge(err, most))
	}
	return from, arrays, nil
}

// printable quotes a text that would disturb a terminal or a table.
func printable(text string) string {
	if terminal.Printable(text) != text {
		return strconv.Quote(text)
	}
	return text
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
