#include "_cgo_export.h"
#include <pthread.h>

// A look is called on the thread of the call alone: it is asked for here, where that takes 2 ns.
int64_t garner_run(int64_t prepared, void *data, void *indices, void *out, void **further, garner_look look, int32_t mapped) {
	return runPrepared(prepared, data, indices, out, further, look, mapped, (uint64_t)pthread_self());
}
