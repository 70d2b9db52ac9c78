// SPDX-License-Identifier: Apache-2.0
// Every rank has a vector and ends with the sum of all of them.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const int count = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
  std::vector<double> mine(static_cast<std::size_t>(count));
  std::vector<double> sum(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = rank + static_cast<double>(i % 7);

  const double began = MPI_Wtime();
  MPI_Allreduce(mine.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - began;

  const double ranks = size * (size - 1) / 2.0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] == ranks + size * static_cast<double>(i % 7)) continue;
    std::fprintf(stderr, "rank %d: sum %zu is wrong\n", rank, i);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::printf("rank %d of %d: %d sums are right\n", rank, size, count);
  if (rank == 0) {
    if (std::FILE* file = std::fopen("outputs/result.json", "w")) {
      std::fprintf(file, "{\"processes\": %d, \"numbers\": %d, \"seconds\": %.6f}\n", size, count,
                   seconds);
      std::fclose(file);
    }
  }
  MPI_Finalize();
}
