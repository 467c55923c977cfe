// The least that demod_app could do: pread the capture's bytes and pwrite those of the soft bits, in one
// plain loop over a buffer that the caches hold. Usage: file_copy IN OUT [BYTES]; without BYTES as many as IN
// has.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int fail(const char* what) {
    std::perror(what);
    return 1;
}

/// What of `bytes`, spread over the whole input, comes with its first `read` of `all`.
off_t written_with(off_t read, off_t all, off_t bytes) {
    return static_cast<off_t>(static_cast<double>(bytes) * static_cast<double>(read) /
                              static_cast<double>(all));
}

/// Writes from..to of the output, whatever the buffer holds.
bool write_range(int out, const std::vector<char>& buffer, off_t from, off_t to) {
    while (from < to) {
        const auto count = std::min(buffer.size(), static_cast<std::size_t>(to - from));
        if (pwrite(out, buffer.data(), count, from) != static_cast<ssize_t>(count)) return false;
        from += static_cast<off_t>(count);
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return fail("file_copy: expected IN OUT [BYTES]");
    constexpr std::size_t slab = 1 << 20;
    std::vector<char> buffer(slab);

    const int in = open(argv[1], O_RDONLY);
    if (in < 0) return fail(argv[1]);
    const int out = open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (out < 0) return fail(argv[2]);
    const off_t all = lseek(in, 0, SEEK_END);
    const off_t bytes = argc == 4 ? static_cast<off_t>(std::atoll(argv[3])) : all;
    for (off_t offset = 0;;) {
        const ssize_t count = pread(in, buffer.data(), slab, offset);
        if (count < 0) return fail(argv[1]);
        if (count == 0) break;
        const off_t from = written_with(offset, all, bytes);
        offset += count;
        if (!write_range(out, buffer, from, written_with(offset, all, bytes))) return fail(argv[2]);
    }
    return close(out) == 0 && close(in) == 0 ? 0 : fail(argv[2]);
}
