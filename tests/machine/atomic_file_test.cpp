#include "phy/machine/atomic_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "phy/core/error.hpp"
#include "support/faults.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;
using phy::AtomicFile;
using phy::test::Faults;
using Names = std::vector<std::string>;

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void put_text(const fs::path& file, const std::string& text) {
    std::ofstream(file) << text;
}

class AtomicFileTest : public testing::Test {
protected:
    static void write(const fs::path& file, const std::string& text, const AtomicFile::Config& config = {}) {
        AtomicFile out(file, config);
        out.append(text);
        out.commit();
    }

    /// What the error says that making the file gives; it must name the file.
    static std::string rejection(const fs::path& file, const AtomicFile::Config& config = {}) {
        try {
            const AtomicFile out(file, config);
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "the file was made";
        return "";
    }

    phy_test::TemporaryDirectory directory_;
    const fs::path file_ = directory_ / "out";
};

TEST_F(AtomicFileTest, AppearsWhenItIsComplete) {
    AtomicFile out(file_, {});
    EXPECT_EQ(out.name(), file_.string());
    out.append("half");
    EXPECT_EQ(directory_.names(), Names{out.path().filename().string()});
    out.append(" and half");
    EXPECT_EQ(text_of(out.path()), "half and half");
    out.commit();
    EXPECT_EQ(directory_.names(), Names{"out"});
    EXPECT_EQ(text_of(file_), "half and half");
    EXPECT_THROW(out.commit(), phy::ArgumentError);
}

TEST_F(AtomicFileTest, ThatWasMovedFromSaysSo) {
    AtomicFile from(file_, {});
    AtomicFile to = std::move(from);
    const auto says = [](const auto& call) {
        try {
            call();
            ADD_FAILURE() << "no error";
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find("moved from"), std::string::npos) << error.what();
        }
    };
    // NOLINTBEGIN(bugprone-use-after-move): what that does is the matter.
    says([&] { static_cast<void>(from.name()); });
    says([&] { static_cast<void>(from.path()); });
    says([&] { from.append("text"); });
    says([&] { from.append(""); });
    says([&] { from.commit(); });
    // NOLINTEND(bugprone-use-after-move)
    to.append("text");
    to.commit();
    EXPECT_EQ(text_of(file_), "text");
}

TEST_F(AtomicFileTest, IsNotThereWithoutCommit) {
    { AtomicFile(file_, {}).append("half"); }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(AtomicFileTest, TemporaryNamesAreHiddenShortAndDifferent) {
    const AtomicFile one(file_, {});
    const AtomicFile other(file_, {});
    EXPECT_NE(one.path(), other.path());
    for (const AtomicFile* file : {&one, &other}) {
        const std::string name = file->path().filename();
        EXPECT_TRUE(name.starts_with(".phy-") && name.ends_with(".part")) << name;
        EXPECT_EQ(name.size(), 26U);
        EXPECT_EQ(file->path().parent_path(), fs::canonical(directory_.path()));
    }
}

TEST_F(AtomicFileTest, NamesAreAsLongAsTheFileSystemPermits) {
    write(directory_ / std::string(255, 'n'), "text");
    EXPECT_EQ(directory_.names(), Names{std::string(255, 'n')});
    EXPECT_NE(rejection(directory_ / std::string(256, 'n')).find("too long"), std::string::npos);
}

TEST_F(AtomicFileTest, TakesThePlaceOfAnotherOnlyWhenTold) {
    put_text(file_, "precious");
    EXPECT_NE(rejection(file_).find("exists and is not overwritten"), std::string::npos);
    EXPECT_EQ(text_of(file_), "precious");
    write(file_, "new", {.overwrite = true});
    EXPECT_EQ(text_of(file_), "new");
    write(directory_ / "other", "new", {.overwrite = true});
    EXPECT_EQ(directory_.names().size(), 2U);
}

TEST_F(AtomicFileTest, DoesNotReplaceWhatAppearedMeanwhile) {
    for (const std::string faults : {"", "renameat2", "renameat2 link"}) {
        SCOPED_TRACE(faults);
        const Faults injected(faults);
        const fs::path target = directory_ / ("target" + faults);
        write(directory_ / ("free" + faults), "new");
        EXPECT_EQ(text_of(directory_ / ("free" + faults)), "new");
        std::optional<AtomicFile> out(std::in_place, target, AtomicFile::Config{});
        put_text(target, "precious");
        EXPECT_THROW(out->commit(), phy::FileError);
        EXPECT_EQ(text_of(target), "precious");
        out.reset();
    }
    EXPECT_EQ(directory_.names().size(), 6U) << "something was left behind";
}

TEST_F(AtomicFileTest, GoesWhereLinksLead) {
    fs::create_directory(directory_ / "folder");
    fs::create_symlink("folder/second", directory_ / "first");
    fs::create_symlink("../third", directory_ / "folder/second");
    fs::create_symlink(directory_ / "real", directory_ / "third");
    write(directory_ / "first", "new");
    EXPECT_EQ(text_of(directory_ / "real"), "new");
    EXPECT_NE(rejection(directory_ / "first").find("exists"), std::string::npos);
    write(directory_ / "first", "newer", {.overwrite = true});
    EXPECT_EQ(text_of(directory_ / "real"), "newer");
    for (const std::string link : {"first", "folder/second", "third"})
        EXPECT_TRUE(fs::is_symlink(directory_ / link)) << link;
    EXPECT_FALSE(fs::is_symlink(directory_ / "real"));
}

TEST_F(AtomicFileTest, LinksThatLeadNowhereAreRefusedAtOnce) {
    fs::create_symlink("missing/out", directory_ / "dangling");
    fs::create_symlink("turn", directory_ / "round");
    fs::create_symlink("round", directory_ / "turn");
    for (const bool overwrite : {false, true}) {
        EXPECT_NE(rejection(directory_ / "dangling", {.overwrite = overwrite}).find("no such directory"),
                  std::string::npos);
        EXPECT_NE(rejection(directory_ / "round", {.overwrite = overwrite}).find("too many symbolic links"),
                  std::string::npos);
    }
    EXPECT_EQ(directory_.names().size(), 3U);
}

TEST_F(AtomicFileTest, RefusesWhatIsNoFile) {
    put_text(file_, "text");
    ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
    const AtomicFile::Config overwrite = {.overwrite = true};
    EXPECT_NE(rejection(directory_.path(), overwrite).find("is a directory"), std::string::npos);
    EXPECT_NE(rejection(directory_ / "", overwrite).find("is a directory"), std::string::npos);
    EXPECT_NE(rejection(directory_ / "fifo", overwrite).find("not a regular file"), std::string::npos);
    EXPECT_NE(rejection("/dev/null", overwrite).find("not a regular file"), std::string::npos);
    EXPECT_NE(rejection(file_ / "below", overwrite).find("no such directory"), std::string::npos);
}

TEST_F(AtomicFileTest, StandsWhereItWasNamedWhateverTheWorkingDirectory) {
    const fs::path before = fs::current_path();
    fs::create_directory(directory_ / "folder");
    fs::current_path(directory_.path());
    AtomicFile out("out", {});
    fs::current_path(directory_ / "folder");
    out.commit();
    fs::current_path(before);
    EXPECT_TRUE(fs::exists(file_));
    EXPECT_EQ(directory_.names().size(), 2U);
}

TEST_F(AtomicFileTest, UnfinishedOnesCanBeRemovedFromASignalHandler) {
    AtomicFile unfinished(file_, {});
    write(directory_ / "finished", "text");
    phy::remove_unfinished_outputs();
    EXPECT_EQ(directory_.names(), Names{"finished"});
    EXPECT_THROW(unfinished.commit(), phy::FileError);
}

/// The calls that give files a name or make them durable.
class Durable : public AtomicFileTest {
protected:
    Durable() { setenv(phy::test::fault_log_variable, (logs_ / "log").c_str(), 1); }
    ~Durable() override { unsetenv(phy::test::fault_log_variable); }

    std::string calls() const { return text_of(logs_ / "log"); }

private:
    phy_test::TemporaryDirectory logs_;
};

TEST_F(Durable, FileThenNameThenFolder) {
    write(file_, "text", {.durable = true});
    EXPECT_EQ(calls(), "synchronize file\nrename\nsynchronize folder\n");
    write(file_, "text", {.overwrite = true, .durable = true});
    EXPECT_EQ(calls(),
              "synchronize file\nrename\nsynchronize folder\n"
              "synchronize file\nrename\nsynchronize folder\n");
}

TEST_F(Durable, OnlyWhereItIsAskedFor) {
    write(file_, "text");
    EXPECT_EQ(calls(), "rename\n");
}

TEST_F(Durable, GetsNoNameWhereItCannotBe) {
    const Faults faults("fsync");
    EXPECT_THROW(write(file_, "text", {.durable = true}), phy::FileError);
    EXPECT_EQ(directory_.names(), Names());
    EXPECT_EQ(calls(), "synchronize file\n");
}

class IsSameFile : public AtomicFileTest {
protected:
    bool same(const std::string& one, const std::string& other) const {
        EXPECT_EQ(phy::is_same_file(directory_ / one, directory_ / other),
                  phy::is_same_file(directory_ / other, directory_ / one));
        return phy::is_same_file(directory_ / one, directory_ / other);
    }
};

TEST_F(IsSameFile, ByNameLinkAndInode) {
    put_text(directory_ / "there", "text");
    fs::create_hard_link(directory_ / "there", directory_ / "hard");
    fs::create_symlink("there", directory_ / "soft");
    fs::create_symlink("soft", directory_ / "chain");
    for (const std::string name : {"there", "hard", "soft", "chain", "./there"})
        EXPECT_TRUE(same("there", name)) << name;
    put_text(directory_ / "other", "text");
    EXPECT_FALSE(same("there", "other"));
    EXPECT_FALSE(same("there", "missing"));
}

TEST_F(IsSameFile, WhereItIsNotThereYet) {
    fs::create_directory(directory_ / "folder");
    fs::create_directory_symlink("folder", directory_ / "link");
    fs::create_symlink("folder/out", directory_ / "dangling");
    for (const std::string name : {"folder/out", "link/out", "dangling", "folder/../link/out"})
        EXPECT_TRUE(same("folder/out", name)) << name;
    EXPECT_FALSE(same("folder/out", "out"));
    EXPECT_FALSE(same("missing/out", "missing/out")) << "no file can be there";
}

}  // namespace
