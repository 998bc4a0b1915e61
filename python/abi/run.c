#include "_cgo_export.h"
#include <pthread.h>

// A look is called on the thread of the call alone: it is asked for here, where that takes 2 ns.
int64_t garner_run(int64_t prepared, void *data, void *indices, int64_t *layout, void *out, void **further, garner_look look, int32_t flags) {
	return runPrepared(prepared, data, indices, layout, out, further, look, flags, (uint64_t)pthread_self());
}
