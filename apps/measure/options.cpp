#include "measure/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "capture/options.hpp"

namespace phy::apps {
namespace {

SymbolReference parse_reference(const std::string& text) {
    if (text == "decisions") return SymbolReference::decisions;
    if (text == "sent") return SymbolReference::sent;
    throw ArgumentError(fmt::format("--reference {}: expected 'decisions' or 'sent'", text));
}

void set_rows(MeasureOptions& how, const std::string& text) {
    if (text == "row") {
        how.by = MeasureBy::row;
    } else if (text == "slot") {
        how.by = MeasureBy::slot;
    } else {
        const std::optional<std::uint64_t> row = parse_number<std::uint64_t>(text);
        if (!row || *row == 0)
            throw ArgumentError(
                fmt::format("--by {}: expected 'row', 'slot' or a whole number of symbols from 1 on", text));
        how.by = MeasureBy::symbols;
        how.row = *row;
    }
}

void add_measure_options(MeasureAppOptions& options, po::options_description& list) {
    MeasureOptions& how = options.how;
    const auto by = [&how](const std::string& text) { set_rows(how, text); };
    const auto parse_descramble = [](const std::string& text) {
        return parse_scrambling("--descramble", text);
    };
    const auto read = [&options](const std::string& file) {
        options.link = file;
        return read_link(file);
    };
    list.add_options()  //
        ("link", parsed(how.link, read, "FILE"),
         "JSON file with the link; a grid or samples are received with it, and their equalised symbols are "
         "measured; default: the attribute of the capture")  //
        ("gain", parsed(how.gain, parse_gain, "X|auto"),
         "amplitude of the constellation, by which symbols are divided before decisions; default auto: "
         "measured")  //
        ("reference", parsed(how.reference, parse_reference, "REFERENCE"),
         "reference of the EVM: decisions (default; the nearest points) or sent (the dataset bits)")  //
        ("descramble", parsed(how.scrambling, parse_descramble, "n_RNTI,n_ID[,q]"),
         "with --reference sent: identity of the scrambling, which makes the one codeword of the capture "
         "from the dataset bits (TS 38.211 clauses 6.3.1.1, 7.3.1.1; q is 0 or 1, default 0)")  //
        ("by", po::value<std::string>()->value_name("row|slot|N")->notifier(by),
         "measure parts too: row (the dataset's last dimension), slot (14 rows) or N symbols; rows that are "
         "not a multiple of 1024 symbols must fit into memory, several at a time");
}

}  // namespace

void add_measure_app_options(MeasureAppOptions& options, po::options_description& list) {
    add_capture_options(options.how.capture, list);
    add_range_options(options.how.range, options.survey, list);
    add_measure_options(options, list);
    add_machine_options(options.machine, list);
}

}  // namespace phy::apps
