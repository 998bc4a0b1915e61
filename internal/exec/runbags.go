package exec

import (
	"context"

	"github.com/garner-go/garner/internal/kernel"
)

// RunBags reduces the rows of p. ends and weights are those that its Bag names, else
// empty. The caller has checked that no loop leaves its memory. An index, an end or an
// empty bag that is refused makes the run Refused.
func (u *Runner) RunBags(ctx context.Context, p *Bags, data, indices, ends, weights, out *Memory) Outcome {
	if ctx.Err() != nil {
		return Stopped
	}
	u.program, u.ctx, u.src, u.at, u.dst = &p.Program, ctx, *data, *indices, *out
	u.bags, u.ends, u.weights = p, *ends, *weights
	u.at.Volatile = indices.Volatile || ends.Volatile || weights.Volatile
	u.stop.Store(false)
	u.refused.Store(false)
	u.outside.Store(false)
	u.fault.Store(false)
	u.reserveBags()
	if p.bag.Ends != Even {
		u.phases(checkEnds, (p.endCount()+endsOfUnit-1)/endsOfUnit)
	}
	if !u.stop.Load() {
		u.phases(reduceBags, p.units+1)
	}
	u.src, u.at, u.dst, u.ends, u.weights, u.ctx, u.bags = Memory{}, Memory{}, Memory{}, Memory{}, Memory{}, nil, nil
	how := u.ended()
	if how == Done {
		u.reportAll(&p.Program)
	}
	return how
}

// reserveBags makes the scratch that the program still lacks.
func (u *Runner) reserveBags() {
	p := u.bags
	u.enlist(p.cores)
	for i := range u.workers[:p.cores] {
		w := &u.workers[i]
		if len(w.rows) < p.piece || len(w.values) < p.piece {
			w.rows, w.values = make([]int64, p.piece), make([]int64, p.piece)
		}
		if len(w.ends) < max(p.group+1, loadedEnds) {
			w.ends = make([]int64, max(p.group+1, loadedEnds))
		}
		if need := p.chunk * p.bag.Number.Wide(); p.strip(u.dst.Buf) && len(w.strip) < need {
			w.strip = kernel.Bytes(make([]int64, need/8+1))
		}
		if p.nest.Decoder != nil && p.sum == nil {
			if need := p.room * p.chunk * p.resolver.elem; len(w.decoded) < need {
				w.decoded = kernel.Bytes(make([]int64, need/8+1))
			}
			if len(w.places) < p.room {
				w.places = make([]int64, p.room)
			}
		}
		if need := 8 * p.piece; p.bag.Weighted && len(w.weights) < need {
			w.weights = kernel.Bytes(make([]int64, p.piece))
		}
	}
}
