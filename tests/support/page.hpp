#pragma once

#include <string>
#include <vector>

/// What tests look up in the pages of docs/, which are Markdown.
namespace phy::test {

/// A page of docs/. Throws std::runtime_error if it is missing.
std::string read_page(const std::string& name);

/// What follows a heading, such as "## JSON", up to the next one of its level or of a higher one. Throws
/// std::runtime_error without it.
std::string section_of(const std::string& page, const std::string& heading);

/// The cells of a table's first row, and of the others.
struct PageTable {
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
};

std::vector<PageTable> tables_of(const std::string& text);

/// All texts between backticks.
std::vector<std::string> code_of(const std::string& text);

}  // namespace phy::test
