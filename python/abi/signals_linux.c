// Go turns a page fault in a mapped file that was cut short into an error by its handlers of
// SIGBUS and SIGSEGV. Where another has replaced them, as Python's faulthandler does, these
// come in front: a fault at an instruction of this library is Go's, any other the other's.
//
// Each handler that is found gets a slot, and the slot a function of its own. So one that keeps
// what was there before it, and puts that back, as faulthandler does, puts back the slot below
// its own: a fault goes down from each to the one before it, and never round.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum { FIRST, SECOND, SIGNALS };
static const int numbers[SIGNALS] = {SIGBUS, SIGSEGV};
enum { SLOTS = 256 }; // none is used again: a handler that is no longer installed may hand on to it
static struct sigaction go[SIGNALS], other[SIGNALS][SLOTS];
static int used[SIGNALS];
static uintptr_t text[16][2]; // the executable segments of this library
static int texts;

static int segments(struct dl_phdr_info *info, size_t size, void *of) {
	uintptr_t here = (uintptr_t)of;
	int found = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && here >= from && here < from + p->p_memsz)
			found = 1;
	}
	for (int i = 0; found && i < info->dlpi_phnum && texts < 16; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			text[texts][0] = info->dlpi_addr + p->p_vaddr;
			text[texts++][1] = info->dlpi_addr + p->p_vaddr + p->p_memsz;
		}
	}
	return found;
}

static void plainly(int number) {
	struct sigaction plain = {0};
	plain.sa_handler = SIG_DFL;
	sigaction(number, &plain, NULL);
}

static void on_fault(int slot, int number, siginfo_t *info, void *context) {
	ucontext_t *u = context;
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t pc = (uintptr_t)u->uc_mcontext.pc;
#endif
	int i = number == SIGBUS ? FIRST : SECOND, sent = info->si_code <= 0;
	for (int k = 0; k < texts && !sent; k++)
		if (pc >= text[k][0] && pc < text[k][1]) {
			go[i].sa_sigaction(number, info, context);
			return;
		}
	const struct sigaction *to = &other[i][slot];
	if (!(to->sa_flags & SA_SIGINFO) && to->sa_handler == SIG_IGN && sent)
		return;
	if (!(to->sa_flags & SA_SIGINFO) && (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN)) {
		plainly(number); // the instruction faults again, and ends the process
		if (sent)
			raise(number); // once this returns
		return;
	}
	if (to->sa_flags & SA_RESETHAND)
		plainly(number);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(number, info, context);
	else
		to->sa_handler(number);
}

#define SLOT(n) \
	static void slot##n(int number, siginfo_t *info, void *context) { on_fault(0x##n, number, info, context); }
#define EACH(of, n) \
	of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) of(n##8) of(n##9) of(n##a) of(n##b) of(n##c) of(n##d) of(n##e) of(n##f)
#define ALL(of) \
	EACH(of, 0) EACH(of, 1) EACH(of, 2) EACH(of, 3) EACH(of, 4) EACH(of, 5) EACH(of, 6) EACH(of, 7) \
	EACH(of, 8) EACH(of, 9) EACH(of, a) EACH(of, b) EACH(of, c) EACH(of, d) EACH(of, e) EACH(of, f)
#define NAME(n) slot##n,
ALL(SLOT)
static void (*const slots[SLOTS])(int, siginfo_t *, void *) = {ALL(NAME)};

// before_go runs before Go's runtime begins, which hands on what it finds as it sees fit: it does not ask again what a
// handler did, and takes a signal that was sent for one of its own.
__attribute__((constructor(101))) static void before_go(void) {
	for (int i = 0; i < SIGNALS; i++)
		used[i] = sigaction(numbers[i], NULL, &other[i][0]) == 0;
}

static int put(int i, int slot) {
	struct sigaction mine = go[i];
	mine.sa_sigaction = slots[slot];
	mine.sa_flags = SA_SIGINFO | SA_ONSTACK | (other[i][slot].sa_flags & SA_NODEFER);
	return sigaction(numbers[i], &mine, NULL);
}

__attribute__((visibility("hidden"))) int garner_signals_begin(void) {
	dl_iterate_phdr(segments, (void *)(uintptr_t)slot00);
	if (texts == 0)
		return -1;
	for (int i = 0; i < SIGNALS; i++)
		if (sigaction(numbers[i], NULL, &go[i]) != 0 || (used[i] && put(i, 0) != 0))
			return -1;
	return 0;
}

static int is_slot(const struct sigaction *a) {
	for (int k = 0; k < SLOTS; k++)
		if (a->sa_sigaction == slots[k])
			return 1;
	return 0;
}

// garner_signals_keep puts slots in front of handlers that are neither Go's nor slots. It is -1
// where a signal has had more handlers than there are slots.
__attribute__((visibility("hidden"))) int garner_signals_keep(void) {
	for (int i = 0; i < SIGNALS; i++) {
		struct sigaction now;
		if (sigaction(numbers[i], NULL, &now) != 0)
			return -1;
		if (now.sa_sigaction == go[i].sa_sigaction || is_slot(&now))
			continue;
		int k = 0;
		while (k < used[i] && (other[i][k].sa_sigaction != now.sa_sigaction || other[i][k].sa_flags != now.sa_flags))
			k++;
		if (k == SLOTS)
			return -1;
		if (k == used[i]) {
			other[i][k] = now;
			used[i]++;
		}
		if (put(i, k) != 0)
			return -1;
	}
	return 0;
}

// garner_signals_slot returns the function of a slot; 0 where there is none.
__attribute__((visibility("hidden"))) uintptr_t garner_signals_slot(int k) { return k < SLOTS ? (uintptr_t)slots[k] : 0; }
#endif
