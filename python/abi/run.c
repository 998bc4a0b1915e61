#include "_cgo_export.h"
#include <pthread.h>
#include <stdlib.h>
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

// What is below is called by finalizers, also in a fork, where C alone still works.

void garner_forget(void *handle) {
	int64_t *at = handle;
	if (at == NULL)
		return;
	if (*at != 0 && !forked())
		garner_release(*at);
	*at = 0;
}

void garner_forget_text(char **text) {
	free(*text);
	*text = NULL;
}

void garner_forget_error(garner_error *e) {
	garner_forget_text(&e->text);
	garner_forget_text(&e->path);
}
