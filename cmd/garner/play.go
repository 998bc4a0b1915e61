package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/cobra"
)

const playHelp = `play shows a page in the browser: type data and indices, and see which answer each
operator of every framework gives, what its runtime really answered where that is
recorded, the picture of a gather, and the call as code. A model or an array that is
dropped on the page is described: a model's gathers with what lint finds, a file's
tensors.

play prints the address of the page, opens the browser there, and answers until it is
interrupted by Ctrl-C. It listens on this machine alone, answers no other page, reads
no file but those that are dropped on the page, and asks no other machine for anything.

The address of the page has the call in it. Its port is always the same, so a bookmark,
or the link of someone who uses play too, opens the call again while play runs. Where
that port is in use, play takes a free one and says so.

--listen is ADDRESS:PORT of this machine, such as 127.0.0.1:8080 or [::1]:8080; port 0
is a free one. A port that is named here and in use is an error.

Exit status: 1 the address is in use or cannot be listened on; 2 the command was wrong;
130 interrupted, which ends it.`

// usual is where play listens: a port of its own below those that systems give to
// connections, so that the addresses of calls stay true.
const usual = "127.0.0.1:4276" // GARN on a telephone's keys

// playFlags are the flags of play.
type playFlags struct {
	listen    string
	given     bool // whether the user said where to listen
	noBrowser bool
}

func (p *program) playCommand() *cobra.Command {
	f := &playFlags{}
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Show in the browser which answer each framework gives to a gather",
		Long:  playHelp,
		Example: `  garner play
  garner play --listen 127.0.0.1:8080 --no-browser`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.Usage(cmd, "play takes no operands; type data and indices into the page, and drop files on it")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed("listen")
			return p.play(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", usual, "listen on `ADDRESS:PORT` of this machine")
	cmdline.Complete(cmd, "listen")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "open no browser")
	return cmd
}

// loopback returns an address of --listen that only this machine reaches.
func loopback(text string) (netip.AddrPort, error) {
	refused := func(why string) (netip.AddrPort, error) {
		return netip.AddrPort{}, cmdline.Wrong("--listen %s: %s; write it as 127.0.0.1:8080, or with port 0 for a free one", text, why)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return refused("it is no ADDRESS:PORT")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return refused("its port is no number up to 65535")
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return refused("its address is no number; names of machines are not looked up")
	case !address.IsLoopback() || address.Zone() != "":
		return refused("other machines can reach it, and the page is for this one alone")
	}
	return netip.AddrPortFrom(address, uint16(n)), nil
}

// listenOn listens on an address. If it cannot, and may take another port, it says so on
// messages and takes a free one.
func listenOn(ctx context.Context, address netip.AddrPort, other bool, messages io.Writer) (net.Listener, error) {
	listen := func(address netip.AddrPort) (net.Listener, error) {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address.String())
		if err != nil {
			return nil, garner.Errorf(err, "cannot listen on %s: %v; name another port, or 0 for a free one", address, cmdline.Reason(err))
		}
		return l, nil
	}
	l, err := listen(address)
	if err == nil || !other {
		return l, err
	}
	free, freeErr := listen(netip.AddrPortFrom(address.Addr(), 0))
	if freeErr != nil {
		return nil, err
	}
	fmt.Fprintf(messages, "garner: cannot listen on %s, the usual address: %v; the page has a free port, and links to it hold until it ends\n", address, cmdline.Reason(err))
	return free, nil
}

// play serves the page until the context ends.
func (p *program) play(ctx context.Context, f *playFlags) error {
	address, err := loopback(f.listen)
	if err != nil {
		return err
	}
	listener, err := listenOn(ctx, address, !f.given, p.Stderr)
	if err != nil {
		return err
	}
	defer listener.Close()
	server := newServer(ctx, listener.Addr().String())
	url := "http://" + listener.Addr().String() + "/"
	to := p.printer()
	to.printf("garner play: %s (Ctrl-C ends it)\n", url)
	if err := to.flush(); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	browsed := make(chan error, 1)
	if !f.noBrowser {
		go func() { browsed <- browse(ctx, url) }()
	}
	for {
		select {
		case err := <-browsed:
			if err != nil {
				fmt.Fprintf(p.Stderr, "garner: no browser was opened: %v; open the address yourself, and say --no-browser\n", err)
			}
		case err := <-served:
			return garner.Errorf(err, "the page is served no more: %v; run garner play again", err)
		case <-ctx.Done():
			server.Close()
			return cmdline.Interrupted("garner: interrupted; the page is served no more")
		}
	}
}

// newServer returns the server of the page that listens on an address of this machine.
func newServer(ctx context.Context, address string) *http.Server {
	return &http.Server{
		Handler:           newPage(address),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       fileTime,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // of clients that hang up
		BaseContext:       func(net.Listener) context.Context { return ctx },

		DisableGeneralOptionsHandler: true, // OPTIONS * is refused as the rest is
	}
}

// opener is the command that opens an address in the browser of the user; nil where
// there is none.
func opener(url string) ([]string, error) {
	switch runtime.GOOS {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}, nil
	case "darwin":
		return []string{"open", url}, nil
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
		return nil, errors.New("there is no display")
	}
	return []string{"xdg-open", url}, nil
}

// browse opens an address in a browser, and returns when the command that does so has
// ended, which may be when the browser ends. The command outlives the context.
func browse(ctx context.Context, url string) error {
	words, err := opener(url)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return errors.New("there is no " + words[0])
	}
	cmd := exec.Command(path, words[1:]...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return errors.New(words[0] + " failed: " + err.Error())
		}
		return nil
	case <-ctx.Done():
		return nil
	}
}
