// Go turns a page fault in a mapped file that was cut short into an error by its handlers of
// SIGBUS and SIGSEGV. Where another has replaced them, as Python's faulthandler does, these
// come in front: a fault at an instruction of this library is Go's, any other the other's.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum { FIRST, SECOND, SIGNALS };
static const int numbers[SIGNALS] = {SIGBUS, SIGSEGV};
static struct sigaction go[SIGNALS], other[SIGNALS];
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

static void on_fault(int number, siginfo_t *info, void *context) {
	ucontext_t *u = context;
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t pc = (uintptr_t)u->uc_mcontext.pc;
#endif
	int i = number == SIGBUS ? FIRST : SECOND;
	for (int k = 0; k < texts; k++)
		if (pc >= text[k][0] && pc < text[k][1]) {
			go[i].sa_sigaction(number, info, context);
			return;
		}
	if (other[i].sa_flags & SA_SIGINFO) {
		other[i].sa_sigaction(number, info, context);
	} else if (other[i].sa_handler == SIG_DFL || other[i].sa_handler == SIG_IGN) {
		struct sigaction plain = {0};
		plain.sa_handler = SIG_DFL;
		sigaction(number, &plain, NULL); // the instruction faults again, and ends the process
	} else {
		other[i].sa_handler(number);
	}
}

__attribute__((visibility("hidden"))) int garner_signals_begin(void) {
	for (int i = 0; i < SIGNALS; i++)
		if (sigaction(numbers[i], NULL, &go[i]) != 0)
			return -1;
	dl_iterate_phdr(segments, (void *)(uintptr_t)on_fault);
	return texts > 0 ? 0 : -1;
}

// garner_signals_keep puts on_fault in front of handlers that are neither Go's nor it.
__attribute__((visibility("hidden"))) int garner_signals_keep(void) {
	for (int i = 0; i < SIGNALS; i++) {
		struct sigaction now, mine;
		if (sigaction(numbers[i], NULL, &now) != 0)
			return -1;
		if (now.sa_sigaction == on_fault || now.sa_sigaction == go[i].sa_sigaction)
			continue;
		other[i] = now;
		mine = go[i];
		mine.sa_sigaction = on_fault;
		mine.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & SA_NODEFER);
		if (sigaction(numbers[i], &mine, NULL) != 0)
			return -1;
	}
	return 0;
}

__attribute__((visibility("hidden"))) uintptr_t garner_signals_kept(void) { return (uintptr_t)on_fault; }
#endif
