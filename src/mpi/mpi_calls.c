/* Implements the function table of cluster/mpi_calls.h. `configure` builds a shared object from this
   file for each MPI library that it finds, and mpi_strategy() loads one of them. MPI's error handler
   ends all processes. */
#include <mpi.h>
#include <stddef.h>

#include "cluster/mpi_calls.h"

/* MPI's counts are of type int. */
static const int64_t kMaxBytes = 1 << 30;
static int started_mpi = 0;

static MPI_Datatype type_of(int type) {
  switch (type) {
    case RUNHOOKS_MPI_FLOAT:
      return MPI_FLOAT;
    case RUNHOOKS_MPI_DOUBLE:
      return MPI_DOUBLE;
    case RUNHOOKS_MPI_INT32:
      return MPI_INT32_T;
    default:
      return MPI_INT64_T;
  }
}

static int64_t size_of(int type) {
  return type == RUNHOOKS_MPI_FLOAT || type == RUNHOOKS_MPI_INT32 ? 4 : 8;
}

static void library(char* text, int size) {
  char full[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, i = 0;
  MPI_Get_library_version(full, &length);
  for (; i < length && i < size - 1 && full[i] != '\n'; ++i) text[i] = full[i] == '\t' ? ' ' : full[i];
  text[i] = 0;
}

static int start(int* rank, int* size, int* local_rank, int* local_size) {
  int is_initialized = 0, threads = MPI_THREAD_SINGLE;
  MPI_Comm node;
  MPI_Initialized(&is_initialized);
  if (is_initialized) {
    MPI_Query_thread(&threads);
  } else {
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &threads);
    started_mpi = 1;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, local_rank);
  MPI_Comm_size(node, local_size);
  MPI_Comm_free(&node);
  return threads >= MPI_THREAD_SERIALIZED;
}

static void reduce(char* values, int64_t n, int type, MPI_Op op) {
  int64_t done = 0;
  while (done < n) {
    const int64_t count = n - done < kMaxBytes ? n - done : kMaxBytes;
    MPI_Allreduce(MPI_IN_PLACE, values + done * size_of(type), (int)count, type_of(type), op,
                  MPI_COMM_WORLD);
    done += count;
  }
}

static void add(void* values, int64_t n, int type) { reduce((char*)values, n, type, MPI_SUM); }

static void largest(int64_t* values, int64_t n) {
  reduce((char*)values, n, RUNHOOKS_MPI_INT64, MPI_MAX);
}

static void broadcast(void* bytes, int64_t n, int root) {
  int64_t done = 0;
  while (done < n) {
    const int64_t count = n - done < kMaxBytes ? n - done : kMaxBytes;
    MPI_Bcast((char*)bytes + done, (int)count, MPI_BYTE, root, MPI_COMM_WORLD);
    done += count;
  }
}

static void gather(const void* own, int64_t n, void* all) {
  int size = 0, rank = 0, i;
  int64_t k;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (n * size < kMaxBytes) {
    MPI_Allgather((void*)own, (int)n, MPI_BYTE, all, (int)n, MPI_BYTE, MPI_COMM_WORLD);
    return;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (k = 0; k < n; ++k) ((char*)all)[rank * n + k] = ((const char*)own)[k];
  for (i = 0; i < size; ++i) broadcast((char*)all + i * n, n, i);
}

static void progress(void) {
  int has_message = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_message, MPI_STATUS_IGNORE);
}

static void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static void finish(void) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (started_mpi && !is_finalized) MPI_Finalize();
}

static const struct runhooks_mpi_calls kCalls = {
    RUNHOOKS_MPI_CALLS_VERSION, library, start, add, largest, broadcast, gather, progress,
    abort_all, finish};

const struct runhooks_mpi_calls* runhooks_mpi_calls(void) { return &kCalls; }
