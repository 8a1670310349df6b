/* The gain of MPI_Iallreduce during a millisecond of computing, for cluster.R. Prints bytes, and
   microseconds of both in sequence and of both overlapped (tenth percentile). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 200, kUnits = 400 };
static volatile double result;

static void compute(void) {
  double sum = 0;
  long i;
  for (i = 0; i < kUnits * 1000L; ++i) sum += (double)i * 1e-9 * sum + 1;
  result = sum;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double seconds_of(float* values, int n, int at_once) {
  MPI_Request request;
  double start;
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  if (at_once) {
    MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    compute();
    MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  /* the last: gradients of W3 (784-256-128-10) */
  const int sizes[] = {4096, 57000, 235146};
  int rank;
  size_t k;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    float* values = calloc((size_t)sizes[k], sizeof *values);
    double seconds[2][kRounds];
    int i, at_once;
    for (i = 0; i < kRounds; ++i) {
      for (at_once = 0; at_once < 2; ++at_once) {
        seconds[at_once][i] = seconds_of(values, sizes[k], at_once);
      }
    }
    for (at_once = 0; at_once < 2; ++at_once) {
      qsort(seconds[at_once], kRounds, sizeof(double), compare);
    }
    if (rank == 0) {
      printf("%d %.1f %.1f\n", 4 * sizes[k], seconds[0][kRounds / 10] * 1e6,
             seconds[1][kRounds / 10] * 1e6);
    }
    free(values);
  }
  MPI_Finalize();
  return 0;
}
