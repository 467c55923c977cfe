// mpi_tasks TASKS [all]: shares tasks, of which number 3 or all fail, and prints what share_tasks() returns.

#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "phy/mpi/ranks.hpp"

namespace {

int print_tasks(std::uint64_t tasks, bool all_fail) {
    std::set<std::uint64_t> own;
    const auto failed =
        phy::mpi::share_tasks(MPI_COMM_WORLD, tasks, [&](std::uint64_t task, phy::mpi::TaskCounter& counter) {
            counter.answer();
            if (task == 3 || all_fail) throw std::runtime_error("task " + std::to_string(task) + " fails");
            own.insert(task);
        });
    const std::vector<std::string> done = phy::mpi::gather(MPI_COMM_WORLD, std::to_string(own.size()));
    if (phy::mpi::place_in(MPI_COMM_WORLD).rank != 0) return 0;
    std::uint64_t count = failed.size();
    for (const std::string& of_rank : done)
        count += std::stoull(of_rank);
    for (const phy::mpi::FailedTask& task : failed)
        std::printf("%llu: %s\n", static_cast<unsigned long long>(task.task),
                    task.error.empty() ? "none began it" : task.error.c_str());
    std::printf("done or failed: %llu of %llu\n", static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(tasks));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const phy::mpi::Session session(argc, argv);
    const int status = print_tasks(std::stoull(argv[1]), argc > 2);
    try {
        phy::mpi::from_first_rank(MPI_COMM_WORLD,
                                  []() -> std::string { throw std::runtime_error("first rank fails"); });
    } catch (const std::exception& error) {
        std::printf("others heard: %s\n", error.what());
    }
    return status;
}
