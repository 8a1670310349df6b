// The function table, in plain C, that a shared object for an MPI library provides to the core.
#ifndef RUNHOOKS_CLUSTER_MPI_CALLS_H
#define RUNHOOKS_CLUSTER_MPI_CALLS_H

#include <stdint.h>

/* Increase it when the table changes; objects with another version are rejected. */
#define RUNHOOKS_MPI_CALLS_VERSION 2

/* Element types for sums and maxima. */
enum runhooks_mpi_type {
  RUNHOOKS_MPI_FLOAT,
  RUNHOOKS_MPI_DOUBLE,
  RUNHOOKS_MPI_INT32,
  RUNHOOKS_MPI_INT64
};

struct runhooks_mpi_calls {
  int version;
  /* "Open MPI v4.1.4, ..." */
  void (*library)(char* text, int size);
  /* Starts MPI unless it is running. Returns 0 if MPI does not support several threads. */
  int (*start)(int* rank, int* size, int* local_rank, int* local_size);
  /* Sums or maxima over all processes, in place. */
  void (*add)(void* values, int64_t n, int type);
  void (*largest)(int64_t* values, int64_t n);
  /* Sends bytes of process `root` to all. */
  void (*broadcast)(void* bytes, int64_t n, int root);
  /* Concatenates `n` bytes of each process, in order of rank. */
  void (*gather)(const void* own, int64_t n, void* all);
  /* Lets MPI make progress on pending messages while the process waits for shared memory. */
  void (*progress)(void);
  void (*abort)(int code);
  /* Waits for all processes and ends MPI, unless other code started it. */
  void (*finish)(void);
};

/* The only symbol of the object: const struct runhooks_mpi_calls* runhooks_mpi_calls(void). */
#define RUNHOOKS_MPI_SYMBOL "runhooks_mpi_calls"

#endif
