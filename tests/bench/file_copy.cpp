// The least that demod_app could do on a 256QAM capture in cf32: pread its bytes and pwrite as many, in one
// plain loop over a buffer that the caches hold. Usage: file_copy IN OUT

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

namespace {

int fail(const char* what) {
    std::perror(what);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return fail("file_copy: expected IN OUT");
    constexpr std::size_t slab = 1 << 20;
    std::vector<char> buffer(slab);

    const int in = open(argv[1], O_RDONLY);
    if (in < 0) return fail(argv[1]);
    const int out = open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (out < 0) return fail(argv[2]);
    for (off_t offset = 0;;) {
        const ssize_t count = pread(in, buffer.data(), slab, offset);
        if (count < 0) return fail(argv[1]);
        if (count == 0) break;
        if (pwrite(out, buffer.data(), static_cast<std::size_t>(count), offset) != count)
            return fail(argv[2]);
        offset += count;
    }
    return close(out) == 0 && close(in) == 0 ? 0 : fail(argv[2]);
}
