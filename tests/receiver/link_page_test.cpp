// docs/link.md and docs/rrc.md name the keys that parse_link() takes, and no others.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "receiver/link_texts.hpp"
#include "support/page.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::test::code_of;
using phy::test::PageTable;
using phy::test::read_page;
using phy::test::section_of;
using phy::test::tables_of;

/// By object: the last part of its path.
using Keys = std::map<std::string, std::set<std::string>>;

/// The keys of the object at this path, as the error for an unknown one lists them.
std::set<std::string> keys_at(const std::string& path, bool transform_precoding = false) {
    LinkJson link = changed(full_link, "/allocation/transform_precoding", transform_precoding);
    link[LinkJson::json_pointer(path)]["!"] = 0;
    const std::string error = error_of(link);
    const std::string start = "!: unknown key; expected one of ";
    const std::size_t at = error.find(start);
    if (at == std::string::npos) throw std::runtime_error(path + ": " + error);
    std::istringstream words(error.substr(at + start.size()));
    std::set<std::string> keys;
    for (std::string word; words >> word;)
        keys.insert(word.substr(0, word.find(',')));
    return keys;
}

Keys keys_of_links() {
    Keys keys = {{"", keys_at("")},
                 {"carrier", keys_at("/carrier")},
                 {"allocation", keys_at("/allocation")},
                 {"dmrs", keys_at("/allocation/dmrs")},
                 {"ptrs", keys_at("/allocation/ptrs")},
                 {"reserved", keys_at("/allocation/reserved/0")},
                 {"bwp", keys_at("/allocation/bwp")},
                 {"coding", keys_at("/coding")},
                 {"uci", keys_at("/coding/uci")}};
    keys["ptrs"].merge(keys_at("/allocation/ptrs", true));
    return keys;
}

/// The first columns of tables of keys. A prefix says of which object a key is, as in "allocation.riv".
void add_keys(Keys& keys, const std::string& text, const std::string& object) {
    for (const PageTable& table : tables_of(text)) {
        if (table.head.front() != "key") continue;
        for (const std::vector<std::string>& row : table.rows) {
            for (const std::string& code : code_of(row.front())) {
                const std::size_t dot = code.find('.');
                keys[dot == std::string::npos ? object : code.substr(0, dot)].insert(code.substr(dot + 1));
            }
        }
    }
}

TEST(LinkPageTest, HasEveryKeyAndNoOther) {
    const std::string page = read_page("link.md");
    Keys named;
    add_keys(named, section_of(page, "## carrier"), "carrier");
    add_keys(named, section_of(page, "## allocation"), "allocation");
    add_keys(named, section_of(page, "## allocation.dmrs"), "dmrs");
    add_keys(named, section_of(page, "## allocation.ptrs"), "ptrs");
    const std::string coding = section_of(page, "## coding");
    const std::string uci = section_of(page, "### coding.uci");
    add_keys(named, coding.substr(0, coding.find(uci)), "coding");
    add_keys(named, uci, "uci");
    add_keys(named, section_of(page, "## Other words"), "");
    const std::vector<std::string> code = code_of(page);
    for (const auto& [object, keys] : keys_of_links()) {
        // These have no table.
        if (object.empty() || object == "reserved" || object == "bwp") {
            for (const std::string& key : keys)
                EXPECT_TRUE(std::ranges::find(code, key) != code.end()) << object << ": " << key;
        } else {
            EXPECT_EQ(named[object], keys) << object;
        }
    }
}

TEST(LinkPageTest, TheLogHasNoOtherKeys) {
    std::set<std::string> keys;
    for (const auto& [object, of_object] : keys_of_links())
        keys.insert(of_object.begin(), of_object.end());
    Keys named;
    add_keys(named, read_page("rrc.md"), "");
    EXPECT_GT(named[""].size(), 40U);
    for (const auto& [object, of_object] : named)
        for (const std::string& key : of_object)
            EXPECT_TRUE(keys.contains(key) || key.starts_with('"')) << object << " " << key;
}

}  // namespace
