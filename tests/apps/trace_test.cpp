#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/stat.h>

#include "support/app_test.hpp"

namespace phy::test {
namespace {

class Trace : public AppTest {
protected:
    const std::string capture_ =
        generate("c.h5", {"--modulation", "256qam", "--symbols", "50000", "--quiet", "--no-bits"});
    const Arguments command_ = {demod_app, capture_, "-o", path("out.h5")};

    [[nodiscard]] std::string text_of(const std::string& file) const {
        std::ifstream stream(path(file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    void expect_no_trace_at(const std::string& file, int status, const std::vector<std::string>& words,
                            const Arguments& more = {}) const {
        Arguments command = command_;
        command.insert(command.end(), {"--trace", file});
        command.insert(command.end(), more.begin(), more.end());
        expect_failure(command, status, words);
    }
};

TEST_F(Trace, HasEveryStepOfEveryChunk) {
    demod({capture_, "-o", path("out.h5"), "--trace", path("t.json"), "--chunk", "7000"});
    EXPECT_EQ(files(), (std::set<std::string>{"c.h5", "out.h5", "t.json"}));
    const JsonValue trace = parse_json(text_of("t.json"));
    std::map<std::string, double> symbols;
    for (const JsonValue& event : trace["traceEvents"].array()) {
        if (event["ph"].string() == "X") symbols[event["name"].string()] += event["args"]["items"].number();
    }
    EXPECT_EQ(symbols, (std::map<std::string, double>{{"read", 50000}, {"demap", 50000}, {"write", 50000}}));
}

TEST_F(Trace, NeverDestroysAnotherFile) {
    const std::string before = text_of("c.h5");
    std::filesystem::create_symlink("c.h5", path("link.h5"));
    expect_no_trace_at(path("c.h5"), 2, {"c.h5", "overwrite the capture"}, {"--force"});
    expect_no_trace_at(path("link.h5"), 2, {"link.h5", "overwrite the capture"}, {"--force"});
    expect_no_trace_at(path("out.h5"), 2, {"out.h5", "overwrite the output"}, {"--force"});
    EXPECT_EQ(text_of("c.h5"), before);
    std::ofstream(path("t.json")) << "precious";
    expect_no_trace_at(path("t.json"), 1, {"t.json", "--force"});
    EXPECT_EQ(text_of("t.json"), "precious");
    demod({capture_, "--trace", path("t.json"), "--force"});
    EXPECT_TRUE(parse_json(text_of("t.json")).has("traceEvents"));
}

TEST_F(Trace, ThatCannotBeWrittenIsSaidBeforeTheWork) {
    expect_no_trace_at(path("nowhere/t.json"), 1, {"nowhere/t.json", "no such directory"});
    std::filesystem::create_directory(path("folder"));
    expect_no_trace_at(path("folder"), 1, {"folder", "is a directory"}, {"--force"});
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    expect_no_trace_at(path("fifo"), 1, {"fifo", "not a regular file"}, {"--force"});
}

TEST_F(Trace, GoesWhereALinkPoints) {
    std::filesystem::create_symlink("real.json", path("link.json"));
    demod({capture_, "--trace", path("link.json")});
    EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
    EXPECT_TRUE(parse_json(text_of("real.json")).has("traceEvents"));
}

}  // namespace
}  // namespace phy::test
