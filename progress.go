package garner

// Progress has a run tell how far it is: of the total elements of its result,
// how many stand by now, give or take what other cores have in hand. f is called
// after every piece of work, some 20 to 60 µs each, by the goroutine that called
// Run and by no other, with done never falling; last, where the run succeeds,
// with done equal to total. It should do no more than keep the numbers. A run
// allocates nothing for it.
func Progress(f func(done, total int64)) PrepareOption {
	return func(p *Prepared) { p.progress = f }
}

// report tells of the units that are taken. Those of the phase that only looks
// at indices stand for no element.
func (p *Prepared) report(units int64) {
	if p.phase == resolveAll || units >= p.limit {
		return // the end is told when every core is there
	}
	total, _ := p.plan.Out.Len()
	p.progress(int64(float64(total)/float64(p.limit)*float64(units)), int64(total))
}

func (p *Prepared) reportAll() {
	total, _ := p.plan.Out.Len()
	p.progress(int64(total), int64(total))
}
