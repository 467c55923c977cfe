#include "phy/files/receive/survey.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "phy/core/digest.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

// Keys keep their order.
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> not_finite = {"nan", "inf", "-inf"};

// visit() shows the members of a type to a writer or a reader. Survey is const for a writer.

template <typename T, typename Of>
concept Shown = std::same_as<std::remove_const_t<T>, Of>;

void visit(auto& archive, Shown<SlotPlace> auto& place) {
    archive("late", place.late);
    archive("frequency", place.frequency);
    archive("clock", place.clock);
}

void visit(auto& archive, Shown<Track::Point> auto& point) {
    archive("slot", point.slot);
    archive("place", point.place);
}

void visit(auto& archive, Shown<Track::Stretch> auto& stretch) {
    archive("first", stretch.first);
    archive("end", stretch.end);
    archive("points", stretch.points);
}

void visit(auto& archive, Shown<Impairment> auto& impairment) {
    archive("line", impairment.line);
    archive("image", impairment.image);
    archive("gain", impairment.gain);
}

void visit(auto& archive, Shown<FoundSlot> auto& found) {
    archive("first_sample", found.first_sample);
    archive("correlation", found.correlation);
    archive("frequency", found.frequency);
}

void visit(auto& archive, Shown<Offsets> auto& offsets) {
    archive("timing", offsets.timing);
    archive("frequency", offsets.frequency);
    archive("coherence", offsets.coherence);
    archive("slots", offsets.slots);
    archive("at_prefixes", offsets.at_prefixes);
    archive("deviation", offsets.deviation);
    archive("noise", offsets.noise);
}

void visit(auto& archive, Shown<ClockReport> auto& clock) {
    archive("first", clock.first);
    archive("last", clock.last);
    archive("corrected", clock.corrected);
}

void visit(auto& archive, Shown<MissingSamples> auto& gap) {
    archive("sample", gap.sample);
    archive("missing", gap.missing);
    archive("first_lost", gap.first_lost);
    archive("end_lost", gap.end_lost);
    archive("lost_slots", gap.lost_slots);
}

void visit(auto& archive, Shown<SurveyOrigin> auto& origin) {
    archive("version", origin.version);
    archive("capture", origin.capture);
    archive("link", origin.link);
    archive("settings", origin.settings);
}

void visit(auto& archive, Shown<Survey> auto& survey) {
    archive("skipped", survey.skipped);
    archive("left_out", survey.left_out);
    archive("first_sample", survey.first_sample);
    archive("first_slot", survey.first_slot);
    archive("frequency_shift", survey.frequency_shift);
    archive("is_resampled", survey.is_resampled);
    archive("impairments", survey.impairments);
    archive("stretches", survey.stretches);
    archive("found", survey.found);
    archive("corrected", survey.corrected);
    archive("clock", survey.clock);
    archive("gaps", survey.gaps);
    archive("warnings", survey.warnings);
}

class Writer {
public:
    void operator()(const char* key, const auto& value) { object_[key] = json_of(value); }

    [[nodiscard]] static Json object(const auto& value) {
        Writer writer;
        visit(writer, value);
        return std::move(writer.object_);
    }

private:
    static Json json_of(const std::string& value) { return value; }
    static Json json_of(const std::integral auto& value) { return value; }
    static Json json_of(ClockSource value) { return static_cast<int>(value); }
    static Json json_of(cf32 value) { return {json_of(value.real()), json_of(value.imag())}; }

    static Json json_of(std::floating_point auto value) {
        if (std::isnan(value)) return not_finite[0];
        if (std::isinf(value)) return value > 0 ? not_finite[1] : not_finite[2];
        return value;
    }

    template <typename T>
    static Json json_of(const std::optional<T>& value) {
        return value ? json_of(*value) : Json();
    }

    template <typename T>
    static Json json_of(const std::vector<T>& values) {
        Json array = Json::array();
        for (const T& value : values)
            array.push_back(json_of(value));
        return array;
    }

    template <typename T>
    requires std::is_class_v<T>
    static Json json_of(const T& value) { return object(value); }

    Json object_ = Json::object();
};

/// Throws Json::exception.
class Reader {
public:
    explicit Reader(const Json& object) : object_(object) {}

    template <typename T>
    void operator()(const char* key, T& value) {
        read(object_.at(key), value);
    }

private:
    static void read(const Json& json, std::string& value) { value = json.get<std::string>(); }
    static void read(const Json& json, std::integral auto& value) { json.get_to(value); }

    static void read(const Json& json, ClockSource& value) {
        value = static_cast<ClockSource>(json.get<std::uint8_t>());
    }

    static void read(const Json& json, cf32& value) {
        float re = 0.0F;
        float im = 0.0F;
        read(json.at(0), re);
        read(json.at(1), im);
        value = {re, im};
    }

    template <std::floating_point T>
    static void read(const Json& json, T& value) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        if (json.is_number()) return json.get_to(value), void();
        const auto text = json.get<std::string>();
        value = text == not_finite[1]   ? infinity
                : text == not_finite[2] ? -infinity
                                        : std::numeric_limits<T>::quiet_NaN();
    }

    template <typename T>
    static void read(const Json& json, std::optional<T>& value) {
        value.reset();
        if (!json.is_null()) read(json, value.emplace());
    }

    template <typename T>
    static void read(const Json& json, std::vector<T>& values) {
        values.resize(json.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            read(json.at(i), values[i]);
    }

    template <typename T>
    requires std::is_class_v<T>
    static void read(const Json& json, T& value) {
        Reader reader(json);
        visit(reader, value);
    }

    const Json& object_;
};

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t digest_of(const Json& json) {
    const std::string text = dump(json);
    return phy::digest_of(std::as_bytes(std::span(text)));
}

void require_equal(const char* what, const std::string& own, const std::string& given) {
    if (own != given)
        throw ArgumentError("survey: it was made with " + std::string(what) + ": " + given +
                            "; here: " + own);
}

}  // namespace

std::string to_text(const Survey& survey, const SurveyOrigin& origin) {
    const Json body = {{"origin", Writer::object(origin)}, {"survey", Writer::object(survey)}};
    // What names of files have beside UTF-8 is replaced: before the digest is taken.
    const Json valid = Json::parse(dump(body));
    return dump({{"digest", digest_of(valid)}, {"body", valid}}) + "\n";
}

Survey parse_survey(const std::string& text, const SurveyOrigin& origin) {
    Survey survey;
    SurveyOrigin given;
    try {
        const Json all = Json::parse(text);
        const Json& body = all.at("body");
        if (dump(all) + "\n" != text || all.at("digest").get<std::uint64_t>() != digest_of(body))
            throw ArgumentError("survey: its digest differs: the text was changed");
        Reader read(body);
        read("origin", given);
        require_equal("another version of phy", origin.version, given.version);
        read("survey", survey);
    } catch (const Json::exception&) {
        throw ArgumentError("survey: it is not a survey");
    }
    require_equal("another capture", origin.capture, given.capture);
    require_equal("another link", origin.link, given.link);
    require_equal("other settings", origin.settings, given.settings);
    return survey;
}

}  // namespace phy::detail
