#include "support/test_files.hpp"

#include <cstdlib>

namespace phy::test {

std::string path_of(const char* variable, const std::string& built) {
    const char* const installed = std::getenv(variable);
    return installed != nullptr ? installed : built;
}

std::string data_file(const std::string& name) {
    return path_of("PHY_DATA_DIRECTORY", PHY_SOURCE_DIRECTORY "/data") + "/" + name;
}

std::string docs_file(const std::string& name) {
    return path_of("PHY_DOCS_DIRECTORY", PHY_SOURCE_DIRECTORY "/docs") + "/" + name;
}

}  // namespace phy::test
