#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mpi.h>

namespace phy::apps {

/// Lines that results depend on: the command, the version and the program, and the files as they are now.
std::string origin_of(const std::string& command, std::span<const std::filesystem::path> files);

/// A folder that holds what is done of a run: for each part a file of sums, and if it has rows a file of
/// rows, which is written before. It is the journal of a run: what is there need not be made again.
class PartsFolder {
public:
    /// has_rows: a part without a file of rows is not complete.
    PartsFolder(std::string folder, bool has_rows) : folder_(std::move(folder)), has_rows_(has_rows) {}

    /// Makes the folder if there is none, and locks it for this process until the object is destroyed.
    /// origin: what the parts depend on, on its first line the command. A folder of another origin that has
    /// no complete part is taken over. Throws FileError if it has parts of another origin, if another process
    /// has locked it, or if it is not a parts folder.
    void open(const std::string& origin);

    /// For other processes: writes and reads parts of that origin.
    void use(const std::string& origin);

    [[nodiscard]] std::string rows_file(std::uint64_t number) const { return file(number, ".h5"); }
    [[nodiscard]] std::string survey_file() const { return (folder_ / "survey.json").string(); }

    /// Numbers of the parts that are complete.
    [[nodiscard]] std::vector<std::uint64_t> complete_parts() const;

    /// Any bytes.
    void write_sums(std::uint64_t number, std::string_view sums, bool durable) const;

    /// Throws FileError if the part has none, or not as they were written.
    [[nodiscard]] std::string read_sums(std::uint64_t number) const;

    /// Removes what open() and the writing of parts have made. Returns what hindered it, such as other files.
    [[nodiscard]] std::error_code remove() const;

private:
    /// Holds a lock while it is open.
    class Lock {
    public:
        Lock() = default;
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

        /// Throws FileError if another process holds it for some seconds more. Does nothing on file systems
        /// without locks.
        void take(const std::filesystem::path& file);

    private:
        /// False if another process holds it, or the file was removed.
        bool try_to_take(const std::filesystem::path& file);

        int descriptor_ = -1;
    };

    [[nodiscard]] std::string trailer_of(std::string_view sums) const;
    [[nodiscard]] bool is_complete(std::uint64_t number) const;
    [[nodiscard]] std::string file(std::uint64_t number, std::string_view ending) const;

    std::filesystem::path folder_;
    bool has_rows_;
    std::uint64_t origin_ = 0;  ///< digest
    Lock lock_;
};

/// Rank 0 opens the folder, and the others use it. origin is called on rank 0. Collective; throws as
/// mpi::from_first_rank() does.
void open_on_all_ranks(MPI_Comm comm, PartsFolder& folder, const std::function<std::string()>& origin);

}  // namespace phy::apps
