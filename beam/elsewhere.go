package beam

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/internal/wire"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// Beam places the stages of a pipeline where it likes. Shards that one node alone has
// are read there all the same: each worker of such a job serves the rows of its node's
// shards to the others, by HTTP, and writes its address into OUT/_garner/workers.

// AddressVariable is the environment variable that names the host, or the address, at which
// a worker serves rows of its node's shards: the only one that it listens on. Without it, it listens on all.
const AddressVariable = "GARNER_ADDRESS"

// newToken returns a secret of a task: who does not have it gets no row.
func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// A server serves rows of the shards that this process reads.
type server struct {
	addresses []string

	mu    sync.Mutex
	tasks map[string]*opened // by their tokens
}

// serving is the server of this process, which begins with the first task that needs it, and
// ends with the process.
var serving = sync.OnceValues(func() (*server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv(AddressVariable), "0"))
	if err != nil {
		return nil, fmt.Errorf("garner-beam: this worker cannot serve rows of its shards: %w; see %s", err, AddressVariable)
	}
	s := &server{tasks: make(map[string]*opened), addresses: addresses(listener.Addr())}
	go (&http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}).Serve(listener)
	return s, nil
})

// addresses are those at which others may reach a listener.
func addresses(at net.Addr) []string {
	_, port, _ := net.SplitHostPort(at.String())
	if host := os.Getenv(AddressVariable); host != "" {
		return []string{net.JoinHostPort(host, port)}
	}
	var all []string
	every, _ := net.InterfaceAddrs()
	for _, a := range every {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			all = append(all, net.JoinHostPort(ip.IP.String(), port))
		}
	}
	return append(all, net.JoinHostPort("127.0.0.1", port))
}

// A post is where a worker serves rows, as it tells the others.
type post struct {
	Node      string
	Addresses []string
}

func postsFolder(out string) string { return filepath.Join(workFolder(out), "workers") }

// serve lets others read the shards of this node.
func (o *opened) serve() error {
	s, err := serving()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.tasks[o.Token] = o
	s.mu.Unlock()
	b, err := json.Marshal(post{shards.Node(), s.addresses})
	if err != nil {
		return err
	}
	name := sha256.Sum256([]byte(shards.Node()))
	return note(o.Out, filepath.Join(postsFolder(o.Out), fmt.Sprintf("%x-%d", name[:8], os.Getpid())), b)
}

// stop ends what serve began.
func (o *opened) stop() {
	if s, err := serving(); err == nil {
		s.mu.Lock()
		delete(s.tasks, o.Token)
		s.mu.Unlock()
	}
}

// Headers of a request for rows, and of the answer. Who asks and who answers prove that
// they have the secret of the task, which does not travel.
const (
	proofHeader = "Garner-Proof"
	nodeHeader  = "Garner-Node"
	shardHeader = "Garner-Shard"
)

// proof proves that somebody who has the secret of a task says this.
func proof(token string, says ...[]byte) string {
	h := hmac.New(sha256.New, []byte(token))
	for _, b := range says {
		fmt.Fprintf(h, "%d\n", len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// asks is what the proof of a request is of.
func asks(node, shard string, rows []byte) [][]byte {
	return [][]byte{[]byte("ask"), []byte(node), []byte(shard), rows}
}

// ServeHTTP answers a request for rows of a shard of this node: their bytes.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, format string, args ...any) {
		http.Error(w, fmt.Sprintf(format, args...), status)
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16*askBytes))
	if err != nil {
		refuse(http.StatusBadRequest, "%v", err)
		return
	}
	asked := r.Header.Get(proofHeader)
	var o *opened
	s.mu.Lock()
	for token, task := range s.tasks {
		want := proof(token, asks(r.Header.Get(nodeHeader), r.Header.Get(shardHeader), b)...)
		if hmac.Equal([]byte(want), []byte(asked)) {
			o = task
		}
	}
	s.mu.Unlock()
	if o == nil || r.Method != http.MethodPost || r.URL.Path != "/rows" || r.Header.Get(nodeHeader) != shards.Node() {
		refuse(http.StatusNotFound, "no such rows here")
		return
	}
	shard, err := strconv.Atoi(r.Header.Get(shardHeader))
	if err != nil || shard < 0 || shard >= len(o.Opened.Spread.Manifest.Shards) || !o.Opened.Spread.Manifest.Shards[shard].Local() {
		refuse(http.StatusBadRequest, "shard %q is not of node %s", r.Header.Get(shardHeader), shards.Node())
		return
	}
	size, _ := o.Opened.Spread.Manifest.ShardSpec(shard).Bytes()
	rows, rest, err := wire.ParseRows(b, 0, size)
	if err != nil || len(rest) > 0 || rows.Size > 0 && len(rows.At) > max(1, askBytes/rows.Size) {
		refuse(http.StatusBadRequest, "rows that are not asked so: %v", err)
		return
	}
	dst := make([]byte, len(rows.At)*rows.Size)
	if err := o.Opened.Spread.FetchShard(r.Context(), shard, source.Rows{At: rows.At, Size: rows.Size, Dst: dst}); err != nil {
		refuse(http.StatusInternalServerError, "%v", err)
		return
	}
	w.Header().Set(proofHeader, proof(o.Token, []byte("answer"), []byte(asked), dst))
	w.Header().Set("Content-Length", strconv.Itoa(len(dst)))
	w.Write(dst)
}

// askBytes is about the most bytes of rows that are asked for at a time.
const askBytes = 8 << 20

// patience is how long a worker on the node of a shard may take to begin.
const patience = 2 * time.Minute

// An asker asks the nodes of a task for rows of their shards.
type asker struct {
	*task

	mu      sync.Mutex
	answers map[string]string // the address at which each node has answered, until it does not
}

// ask reads rows of a shard on the node that has it.
func (t *asker) ask(ctx context.Context, m *shards.Manifest, shard int, rows source.Rows) error {
	is := m.Shards[shard]
	each := max(1, askBytes/max(rows.Size, 1))
	for i := 0; i < len(rows.At); i += each {
		n := min(each, len(rows.At)-i)
		part := wire.Rows{Size: rows.Size, At: rows.At[i : i+n]}.Append(nil, 0)
		if err := t.askFrom(ctx, is, shard, part, rows.Dst[i*rows.Size:(i+n)*rows.Size]); err != nil {
			return err
		}
	}
	return nil
}

// askFrom asks where its node has answered before, and else each process that runs there, until
// one answers.
func (t *asker) askFrom(ctx context.Context, is shards.Shard, shard int, rows, dst []byte) error {
	t.mu.Lock()
	known := t.answers[is.Node]
	t.mu.Unlock()
	if known != "" && t.askAt(ctx, known, is.Node, shard, rows, dst) == nil {
		return nil
	}
	var last error
	refused := (*refusedRows)(nil)
	for begun := time.Now(); ; {
		entries, err := os.ReadDir(postsFolder(t.Out))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			var p post
			b, err := os.ReadFile(filepath.Join(postsFolder(t.Out), e.Name()))
			if err != nil || json.Unmarshal(b, &p) != nil || p.Node != is.Node {
				continue
			}
			for _, address := range p.Addresses {
				if last = t.askAt(ctx, address, is.Node, shard, rows, dst); last == nil {
					t.mu.Lock()
					defer t.mu.Unlock()
					if t.answers == nil {
						t.answers = make(map[string]string)
					}
					t.answers[is.Node] = address
					return nil
				}
				if errors.As(last, &refused) {
					break
				}
			}
		}
		if refused != nil {
			return fmt.Errorf("garner-beam: shard %s on node %s: %w", names.Quote(is.File), names.Quote(is.Node), refused)
		}
		if time.Since(begun) > t.Patience {
			why := ""
			if last != nil {
				why = fmt.Sprintf(" (%v)", last)
			}
			return garner.Errorf(shards.ErrNode, "shard %s can be read on node %s alone, and no worker there answers%s; start one with GARNER_NODE=%s, or give the job more workers", names.Quote(is.File), names.Quote(is.Node), why, is.Node)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// A refusedRows is what a worker says of rows that it cannot read. To ask again does not help.
type refusedRows struct{ text string }

func (e *refusedRows) Error() string { return e.text }

// peers connects to other workers. It follows no redirection.
var peers = &http.Client{
	Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     30 * time.Second,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (t *task) askAt(ctx context.Context, address, node string, shard int, rows, dst []byte) error {
	ctx, cancel := context.WithTimeout(ctx, t.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/rows", bytes.NewReader(rows))
	if err != nil {
		return err
	}
	asked := proof(t.Token, asks(node, strconv.Itoa(shard), rows)...)
	r.Header.Set(proofHeader, asked)
	r.Header.Set(nodeHeader, node)
	r.Header.Set(shardHeader, strconv.Itoa(shard))
	answer, err := peers.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		if answer.ContentLength != int64(len(dst)) {
			return fmt.Errorf("it answers with %d bytes, and the rows have %d", answer.ContentLength, len(dst))
		}
		if _, err := io.ReadFull(answer.Body, dst); err != nil {
			return err
		}
		if !hmac.Equal([]byte(proof(t.Token, []byte("answer"), []byte(asked), dst)), []byte(answer.Header.Get(proofHeader))) {
			return errors.New("what answers there is no worker of the job")
		}
		return nil
	case http.StatusNotFound: // another process, or one that has not begun the task
		return errors.New("it does not know the job")
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
	return &refusedRows{names.Quote(string(bytes.TrimSpace(text)))}
}
