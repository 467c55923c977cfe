#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_signal.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/files/receive/survey.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// A capture whose occasions can be received, once it was surveyed.
class PreparedCapture {
public:
    /// Opens it. Throws as receive_file() does.
    PreparedCapture(const std::filesystem::path& capture, const ReceiveOptions& options);

    PreparedCapture(const PreparedCapture&) = delete;
    PreparedCapture& operator=(const PreparedCapture&) = delete;

    /// Its link, as given.
    [[nodiscard]] const Link& link() const { return link_; }
    [[nodiscard]] const CaptureDescription& description() const { return reader_.description(); }

    /// What a survey of it is made from; before survey().
    [[nodiscard]] SurveyOrigin origin();

    /// Sets what the result says of the whole capture: by ReceiveOptions::survey, else by measuring. False:
    /// stopped.
    bool survey(Reception& result);

    // After survey():
    [[nodiscard]] std::string survey_text(const Reception& result, const SurveyOrigin& origin) const;
    [[nodiscard]] const Host& host() const { return *host_; }
    [[nodiscard]] CaptureReader& reader() { return reader_; }
    [[nodiscard]] const ReceiverConfig& config() const { return config_; }
    [[nodiscard]] CaptureSlots& slots() { return *slots_; }

    /// The row of transmitted codewords of the first occasion.
    [[nodiscard]] std::uint64_t first_codeword() const { return first_codeword_; }

private:
    void open_signal(Reception& result, const std::optional<Survey>& known);
    void align(Reception& result);
    void reopen(Reception& result);
    void apply(const Survey& known, Reception& result);
    bool measure(Reception& result);
    void complete(Reception& result);

    ReceiveOptions options_;  ///< with the samples to skip
    CaptureReader reader_;
    Link link_;
    std::optional<Host> host_;
    ReceiverConfig config_;
    std::optional<CaptureSignal> signal_;
    std::optional<CaptureSlots> slots_;
    std::uint64_t first_codeword_ = 0;
};

}  // namespace phy::detail
