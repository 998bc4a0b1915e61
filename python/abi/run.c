#include "_cgo_export.h"
#include <pthread.h>
#ifndef _WIN32
#include <unistd.h>

static pid_t loader; // the process that loaded the library: Go's runtime does not work in a fork of it
__attribute__((constructor)) static void loaded(void) { loader = getpid(); }
static int forked(void) { return getpid() != loader; }
#else
static int forked(void) { return 0; }
#endif

// A look is called on the thread of the call alone: it is asked for here, where that takes 2 ns.
int64_t garner_run(int64_t prepared, void *data, void *indices, int64_t *layout, void *out, void **further, garner_look look, int32_t flags) {
	return runPrepared(prepared, data, indices, layout, out, further, look, flags, (uint64_t)pthread_self());
}

void garner_forget(void *handle) {
	if (!forked())
		garner_release((int64_t)(intptr_t)handle);
}
