#include "support/page.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/test_files.hpp"

namespace phy::test {
namespace {

std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells(1);
    // Between the first and the last bar.
    for (std::size_t i = 1; i + 1 < row.size(); ++i) {
        if (row[i] == '|') {
            cells.emplace_back();
        } else if (row[i] != '\\' || row[i + 1] != '|') {
            cells.back() += row[i];
        } else {
            cells.back() += row[++i];
        }
    }
    for (std::string& cell : cells) {
        cell.erase(0, cell.find_first_not_of(' '));
        cell.resize(cell.find_last_not_of(' ') + 1);
    }
    return cells;
}

}  // namespace

std::string read_page(const std::string& name) {
    std::ifstream file(docs_file(name));
    if (!file) throw std::runtime_error("there is no docs/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string section_of(const std::string& page, const std::string& heading) {
    std::istringstream lines(page);
    std::string section;
    bool found = false;
    bool fenced = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) fenced = !fenced;
        const std::size_t level = fenced ? 0 : std::min(line.find_first_not_of('#'), line.size());
        if (found && level > 0 && level <= heading.find(' ')) return section;
        if (found) section += line + "\n";
        found = found || line == heading;
    }
    if (!found) throw std::runtime_error("no page has the heading " + heading);
    return section;
}

std::vector<PageTable> tables_of(const std::string& text) {
    std::istringstream lines(text);
    std::vector<PageTable> tables;
    bool in_table = false;
    for (std::string line; std::getline(lines, line);) {
        const bool was_in_table = std::exchange(in_table, line.starts_with('|'));
        if (!in_table || line.starts_with("| ---")) continue;
        if (was_in_table) {
            tables.back().rows.push_back(cells_of(line));
        } else {
            tables.push_back({cells_of(line), {}});
        }
    }
    return tables;
}

std::vector<std::string> code_of(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t end = 0, first = 0; (first = text.find('`', end)) != std::string::npos; ++end) {
        end = text.find('`', first + 1);
        if (end == std::string::npos) break;
        all.push_back(text.substr(first + 1, end - first - 1));
    }
    return all;
}

}  // namespace phy::test
