#include "support/faults.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

bool meets(const char* fault) {
    const char* const faults = std::getenv(phy::test::faults_variable);
    return faults != nullptr &&
           (" " + std::string(faults) + " ").find(" " + std::string(fault) + " ") != std::string::npos;
}

int fails_with(int error) {
    errno = error;
    return -1;
}

void log(const std::string& line) {
    const char* const name = std::getenv(phy::test::fault_log_variable);
    if (name == nullptr) return;
    const int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const std::string text = line + "\n";
    if (write(file, text.data(), text.size()) < 0) std::perror(name);
    close(file);
}

/// The function that a definition of this file hides.
template <typename Function>
Function* hidden(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    if (meets("renameat2")) return fails_with(EINVAL);
    log("rename");
    return hidden<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from,
                                                                                  to_folder, to, flags);
}

int rename(const char* from, const char* to) noexcept {
    log("rename");
    return hidden<int(const char*, const char*)>("rename")(from, to);
}

int link(const char* from, const char* to) noexcept {
    if (meets("link")) return fails_with(EPERM);
    log("rename");
    return hidden<int(const char*, const char*)>("link")(from, to);
}

int fsync(int file) {
    struct stat status {};
    fstat(file, &status);
    log(S_ISDIR(status.st_mode) ? "synchronize folder" : "synchronize file");
    return meets("fsync") ? fails_with(EIO) : hidden<int(int)>("fsync")(file);
}

int fstatvfs(int file, struct statvfs* status) noexcept {
    const int result = hidden<int(int, struct statvfs*)>("fstatvfs")(file, status);
    if (meets("blocks")) status->f_blocks = status->f_bfree = status->f_bavail = 0;
    return result;
}

ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
    constexpr std::size_t more_than_metadata = 16384;
    while (count > more_than_metadata && meets("long_reads_hang"))
        pause();
    return hidden<ssize_t(int, void*, size_t, off_t)>("pread")(file, bytes, count, offset);
}

}  // extern "C"

namespace phy::test {

Faults::Faults(const std::string& faults) {
    setenv(faults_variable, faults.c_str(), 1);
}

Faults::~Faults() {
    unsetenv(faults_variable);
}

}  // namespace phy::test
