#include "capture_gen/captures.hpp"
#include "capture_gen/options.hpp"
#include "common/app.hpp"

int main(int argc, char** argv) {
    using namespace phy::apps;
    CaptureGenOptions options;
    App app;
    app.name = "capture_gen";
    app.summary =
        "Writes a test capture for demod_app: mapped random bits with white Gaussian noise or, with --link,\n"
        "the samples or the resource grid of a whole transmission. The same options give the same samples.";
    app.examples = {{"capture_gen symbols.h5 --modulation 256qam --symbols 1M --snr-db 28",
                     "symbols with noise, and the transmitted bits"},
                    {"capture_gen recording.h5 --from samples --link pusch.json --slots 20",
                     "baseband samples of 20 slots of PUSCH"}};
    app.operand = Operand{"OUT.h5", &options.output};
    add_capture_gen_options(options, app.options);
    app.body = [&options](const CommonOptions& common) {
        if (checked_kind(options) == phy::CaptureKind::symbols) return capture_symbols(options, common);
        capture_link(options, common);
    };
    return run_app(app, argc, argv);
}
