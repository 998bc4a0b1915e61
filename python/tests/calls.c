/* Calls the library as a program in C does: a gather, an index that is refused, a table, a job. python/test links it for
 * each processor. */
#include <garner.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLDS(x) ((x) ? (void)0 : fail(__LINE__, #x))

static void fail(int line, const char *what) {
	fprintf(stderr, "calls.c:%d: not so: %s\n", line, what);
	exit(1);
}

/* succeeds ends the program with the text of an error. */
static void succeeds(int line, int64_t number) {
	if (number != 0) {
		static garner_error e;
		fprintf(stderr, "calls.c:%d: %s\n", line, garner_error_read(number, &e) == 0 ? e.text : "no such error");
		exit(1);
	}
}

static int64_t run(garner_prepared *prepared, void *data, void *ids, void *out) {
	return garner_run(prepared->handle, data, ids, NULL, out, NULL, NULL, 0);
}

int main(void) {
	float data[6] = {1, 2, 3, 4, 5, 6}, out[6] = {9, 9, 9, 9, 9, 9};
	const float want[6] = {5, 6, 0, 0, 1, 2};
	int64_t ids[3] = {-1, 7, 0}, shape[2] = {3, 2}, count[1] = {3};
	DLTensor tensors[2], *operands[2];
	static garner_prepared zeros, strict;
	static garner_error e;
	char gather8[] = "{\"name\": \"openvino.Gather-8\", \"values\": {\"axis\": 0}}";
	char gather13[] = "{\"name\": \"onnx.Gather-13\"}";

	HOLDS(garner_abi() == GARNER_ABI);

	memset(tensors, 0, sizeof tensors);
	tensors[0].data = data, tensors[0].ndim = 2, tensors[0].shape = shape;
	tensors[0].dtype.code = 2, tensors[0].dtype.bits = 32, tensors[0].dtype.lanes = 1;
	tensors[1].data = ids, tensors[1].ndim = 1, tensors[1].shape = count;
	tensors[1].dtype.code = 0, tensors[1].dtype.bits = 64, tensors[1].dtype.lanes = 1;
	tensors[0].device.device_type = tensors[1].device.device_type = 1;
	operands[0] = &tensors[0], operands[1] = &tensors[1];

	succeeds(__LINE__, garner_prepare(gather8, (int64_t)strlen(gather8), operands, 2, 0, &zeros));
	HOLDS(zeros.rank == 2 && zeros.shape[0] == 3 && zeros.shape[1] == 2 && zeros.dtype.bits == 32);
	succeeds(__LINE__, run(&zeros, data, ids, out));
	HOLDS(memcmp(out, want, sizeof want) == 0);
	garner_release(zeros.handle);

	succeeds(__LINE__, garner_prepare(gather13, (int64_t)strlen(gather13), operands, 2, 0, &strict));
	HOLDS(garner_error_read(run(&strict, data, ids, out), &e) == 0);
	HOLDS(e.error_class == GARNER_INDEX && e.rank == 1 && e.position[0] == 1 && e.value == 7 && e.axis == 0 && e.dim == 3);
	printf("%s\n", e.text);
	garner_free(e.text);
	garner_free(e.path);
	garner_release(strict.handle);

	FILE *f = fopen("calls.raw", "wb");
	HOLDS(f != NULL && fwrite(data, sizeof data, 1, f) == 1 && fclose(f) == 0);
	char request[] = "{\"file\": \"calls.raw\", \"dtype\": \"f32\", \"shape\": [-1, 2]}", *text = NULL;
	int64_t table = 0, rows[2] = {2, 0};
	succeeds(__LINE__, garner_open(request, (int64_t)strlen(request), 0, &table, &text));
	printf("%s\n", text);
	garner_free(text);
	float two[4], of[4] = {5, 6, 1, 2};
	succeeds(__LINE__, garner_lookup_now(table, rows, 2, -64, two, sizeof two, 0));
	HOLDS(memcmp(two, of, sizeof of) == 0);

	HOLDS(garner_rows(table, 2, -2, 2, two, sizeof two, GARNER_BRIEF) == 0 && memcmp(two, of, sizeof of) == 0);

	int64_t job = garner_job(), failed = -1;
	memset(two, 0, sizeof two);
	succeeds(__LINE__, garner_lookup(table, rows, 2, &tensors[1].dtype, two, sizeof two, 0, job));
	while (!garner_job_wait(job, 1000, &failed, NULL)) {
	}
	garner_release(job);
	HOLDS(failed == 0 && memcmp(two, of, sizeof of) == 0);

	rows[1] = 3;
	HOLDS(garner_error_read(garner_lookup_now(table, rows, 2, -64, two, sizeof two, 0), &e) == 0 && e.error_class == GARNER_INDEX);
	garner_free(e.text);
	garner_free(e.path);
	garner_release(table);
	remove("calls.raw");
	return 0;
}
