/* The latency of a bare MPI_Allreduce in place, for cluster.R: bytes and microseconds, a line each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank;
  long n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (n = 2; n <= 1 << 20; n *= 8) {
    const int rounds = n < 10000 ? 5000 : 200;
    float* values = calloc((size_t)n, sizeof *values);
    double start;
    int i;
    for (i = 0; i < rounds / 10; ++i) {
      MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    start = MPI_Wtime();
    for (i = 0; i < rounds; ++i) {
      MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%ld %.3f\n", 4 * n, (MPI_Wtime() - start) / rounds * 1e6);
    free(values);
  }
  MPI_Finalize();
  return 0;
}
