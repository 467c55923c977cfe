#pragma once

#include <string>

/// Files that tests need: in the source or build tree, or where the script that runs installed tests says.
namespace phy::test {

/// built: the path without the environment variable.
std::string path_of(const char* variable, const std::string& built);

/// A file of data/; variable PHY_DATA_DIRECTORY.
std::string data_file(const std::string& name);

/// A page of docs/; variable PHY_DOCS_DIRECTORY.
std::string docs_file(const std::string& name);

}  // namespace phy::test
