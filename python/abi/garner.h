/* garner.h: the C interface of the gather engine.
 *
 * Calls return 0, or the number of an error that garner_error_read tells, once. Handles are positive integers,
 * 0 is none. An error that is not read is forgotten once 4096 later ones were told.
 * Every function may be called from any thread, and none keeps memory of the caller beyond the call, or,
 * of a call with a job, beyond the garner_job_wait that says it is done.
 *
 * A path in JSON may be any bytes: one that is no UTF-8 is a surrogate on its own, \udc80 ... \udcff.
 *
 * A process that forks must not use the library in the child: load another copy of it there.
 */
#ifndef GARNER_H
#define GARNER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this interface. garner_abi returns that of the library; they must be equal. */
#define GARNER_ABI 1

/* Tensors are laid out as DLPack 1.1 has them. */
#ifndef DLPACK_DLPACK_H_
typedef struct {
	int32_t device_type; /* 1: memory of the CPU, the only one that is taken */
	int32_t device_id;
} DLDevice;

typedef struct {
	uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 f8e4m3fn, 11 f8e4m3fnuz, 12 f8e5m2, 13 f8e5m2fnuz, 14 f8e8m0fnu, 17 f4e2m1fn */
	uint8_t bits;
	uint16_t lanes; /* 1 */
} DLDataType;

typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLDataType dtype;
	int64_t *shape;
	int64_t *strides; /* in elements; NULL: row-major */
	uint64_t byte_offset;
} DLTensor;
#endif

#define GARNER_MAX_RANK 64

/* The classes of errors. */
enum {
	GARNER_OTHER = 1,      /* none of those below */
	GARNER_DTYPE = 2,      /* an element type that the operator does not take */
	GARNER_ATTRIBUTE = 3,  /* an unknown operator, attribute or value of one */
	GARNER_SHAPE = 4,      /* ranks, axes and extents; kind says which */
	GARNER_INDEX = 5,      /* an index outside its axis: position, value, axis, dim */
	GARNER_OVERLAP = 6,    /* the output shares memory with an operand */
	GARNER_FAULT = 7,      /* memory vanished: its file was cut short */
	GARNER_CHANGED = 8,    /* a file changed since it was opened */
	GARNER_SYSTEM = 9,     /* the system refused; error_number is errno, or 0 */
	GARNER_CLOSED = 10,    /* what was asked of is closed, or its handle was released */
	GARNER_CANCELLED = 11, /* garner_job_cancel was called, or a look ended the run */
	GARNER_KEPT = 12,      /* what an earlier run left cannot be continued */
	GARNER_INTERNAL = 13,  /* a mistake in garner; the text has the stack */
	GARNER_ARGUMENT = 14,  /* a handle that is none, a null pointer, text that is no JSON */
	GARNER_FORMAT = 15     /* a file that is damaged, of no known format, or has no such array */
};

typedef struct {
	int32_t error_class;
	int32_t error_number;
	int32_t rank; /* of position */
	int32_t value_unsigned;
	int64_t position[GARNER_MAX_RANK]; /* of the index in the indices */
	uint64_t value;                    /* of the index, in two's complement */
	int64_t axis;                      /* that it addresses; -1: data is flattened; -2: the bags of the result */
	int64_t dim;                       /* length of that axis, in elements */
	char kind[24];                     /* of a shape error: rank, axis-out-of-range, batch-dims, shape-mismatch */
	char *text;                        /* free it with garner_free */
	char *path;                        /* of the file, or NULL; free it with garner_free */
} garner_error;

typedef struct {
	int64_t handle;
	int32_t rank;
	DLDataType dtype;
	int64_t shape[GARNER_MAX_RANK];
	int32_t serves; /* extents of the indices that a run may change: 0 none, 1 all but the last, 2 all */
} garner_prepared;

extern int32_t garner_abi(void);

/* garner_free frees text that the library returned. */
extern void garner_free(char *text);

/* garner_error_read tells an error and forgets it. It returns 0, or -1 for a number that is no error. */
extern int32_t garner_error_read(int64_t number, garner_error *to);

/* garner_prepare lowers an operator for operands: data, indices and the further ones, NULL for one that is not given.
 * op is JSON: {"name": "onnx.Gather-13", "values": {"axis": 0}, "negative": "", "outside": "", "fill": ""}. The result
 * has a handle, for garner_run and garner_release, and the type and the shape of the output. Only operands on which the
 * shape depends, such as offsets, need their memory. threads is the most cores of a run; 0: all, of runs that take about
 * a millisecond and longer. */
extern int64_t garner_prepare(char *op, int64_t length, DLTensor **operands, int32_t count, int32_t threads, garner_prepared *to);

/* garner_shape writes the extents of the output for indices of these extents, as many as at garner_prepare: shape has room for
 * as many as garner_prepare told. */
extern int64_t garner_shape(int64_t prepared, int64_t *extents, int64_t *shape);

/* A garner_look is called by the thread that called garner_run, each 25 ms; what it returns but 0 ends the run. It may
 * fork. A child that returns from it cannot end the run: it says so on stderr, and exits with 70. */
typedef int32_t (*garner_look)(void);

/* What a run minds. */
enum {
	GARNER_MAPPED = 1, /* an operand may be memory of a mapped file: the run sees to it, by a system call, that a file which is cut short is an error */
	GARNER_WHOLE = 2   /* the indices are looked at first: where one is refused, nothing is written */
};

/* garner_run runs it over memory of the types that it was prepared for; further may be NULL where there are none. out
 * is row-major. layout has, one behind the other, the extents of the indices, their strides in bytes, and the extents of out, which a
 * run compares with those of the result before it writes; NULL: those of garner_prepare. look may be NULL. flags is a sum
 * of the above. */
extern int64_t garner_run(int64_t prepared, void *data, void *indices, int64_t *layout, void *out, void **further, garner_look look, int32_t flags);

/* garner_open opens a table: {"file": "model.gguf#token_embd.weight", "dtype": "", "shape": [], "offset": 0, "raw": false, "to": "", "pread": false}.
 * text is its type, bits, shape, rows, row_bytes and identity as JSON. Strings are read whole: text then has them too, each as base64
 * of its bytes, and table is 0. Of a call with a job the text of
 * garner_job_wait has the handle, as "table", and table may be NULL. "identity" in a request is that of an earlier text: where
 * the file is another one by now, or was written to, the call is a GARNER_CHANGED. It is text to be given back as it is. */
extern int64_t garner_open(char *request, int64_t length, int64_t job, int64_t *table, char **text);

/* garner_lookup copies rows by their numbers, integers of any type, to out, which has exactly their bytes. flags is 0 or
 * GARNER_FROM_END. */
extern int64_t garner_lookup(int64_t table, void *ids, int64_t count, DLDataType *type, void *out, int64_t bytes, int32_t flags, int64_t job);

/* What a lookup on the thread of the caller minds. */
enum {
	GARNER_BRIEF = 1,   /* it returns -1 where it has rows to read, or would take more than some 25 ms: garner_lookup with a job is then due */
	GARNER_FROM_END = 2 /* negative numbers count from the end */
};

/* garner_lookup_now is garner_lookup on the thread of the caller. The numbers have 8, 16, 32 or 64 bits, -8 to -64 where they
 * have a sign. flags is a sum of the above. */
extern int64_t garner_lookup_now(int64_t table, void *ids, int64_t count, int32_t bits, void *out, int64_t bytes, int32_t flags);

/* garner_rows copies the rows first, first + step, first + 2 step ..., as garner_lookup_now does. */
extern int64_t garner_rows(int64_t table, int64_t first, int64_t step, int64_t count, void *out, int64_t bytes, int32_t flags);

/* garner_release closes and forgets what a handle stands for: of garner_prepare, garner_open, garner_job. Calls that
 * have begun end as if it came later, and the last of them closes: no call waits. A job is cancelled, and has ended when this
 * returns: the memory of its operands may be freed then. One that has none, of garner_open or of a question without operands,
 * ends by itself: a file system may keep it for long. */
extern void garner_release(int64_t handle);

/* For finalizers, which may run in a process that was forked since the library was loaded. garner_forget is garner_release of the
 * handle at a place, 0 for none, such as that with which a garner_prepared begins; in such a process it releases nothing.
 * garner_forget_text frees the text at a place, NULL for none, and garner_forget_error the texts of an error. All leave nothing there. */
extern void garner_forget(void *handle);
extern void garner_forget_text(char **text);
extern void garner_forget_error(garner_error *e);

/* garner_call asks a question in JSON and answers in JSON; operands are those that "explain" takes. */
extern int64_t garner_call(char *request, int64_t length, DLTensor **operands, int32_t count, int64_t job, char **text);

/* A job is a call that runs while its caller does something else. garner_job makes one for one call.
 * garner_job_wait waits for at most so many milliseconds: it returns 0 while the call runs, 1 once it is done, with the
 * number of its error or 0; -1 where there is an error, and no place for it. text gets what a garner_call or garner_open answers, and the
 * empty text of other calls; each wait that returns 1 without an error makes one, for garner_free. It may be NULL where nothing wants it, and is not
 * written to where there is an error. A cancelled job is done soon, with an error of class GARNER_CANCELLED, or, where it was done
 * first, as if nothing had been cancelled. garner_job returns 0 where there is none to be had. */
extern int64_t garner_job(void);
extern int32_t garner_job_wait(int64_t job, int32_t milliseconds, int64_t *error, char **text);
extern void garner_job_cancel(int64_t job);

/* garner_job_adopt leaves the table that a job opened to its caller. Until then it is closed with the job. To release it
 * twice does no harm. */
extern int64_t garner_job_adopt(int64_t job);
extern void garner_job_progress(int64_t job, int64_t *done, int64_t *total);

#ifdef __cplusplus
}
#endif
#endif
