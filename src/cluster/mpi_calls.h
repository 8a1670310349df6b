// What a shared object of MPI gives the core: a table of functions, in plain C.
#ifndef RUNHOOKS_CLUSTER_MPI_CALLS_H
#define RUNHOOKS_CLUSTER_MPI_CALLS_H

#include <stdint.h>

/* Another number where the table has changed: an object of another build is refused. */
#define RUNHOOKS_MPI_CALLS_VERSION 2

/* What is added or compared. */
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
  /* Begins, unless somebody has; 0 where the threads of this process could not call by turns. */
  int (*start)(int* rank, int* size, int* local_rank, int* local_size);
  /* In place, over all processes. */
  void (*add)(void* values, int64_t n, int type);
  void (*largest)(int64_t* values, int64_t n);
  /* Of one process to all. */
  void (*broadcast)(void* bytes, int64_t n, int root);
  /* As many bytes of each, one behind the other. */
  void (*gather)(const void* own, int64_t n, void* all);
  /* Goes on with what has begun; called by who waits elsewhere. */
  void (*progress)(void);
  void (*abort)(int code);
  /* Waits for all others, unless who had begun is to end it. */
  void (*finish)(void);
};

/* The one symbol of such an object: const struct runhooks_mpi_calls* runhooks_mpi_calls(void). */
#define RUNHOOKS_MPI_SYMBOL "runhooks_mpi_calls"

#endif
