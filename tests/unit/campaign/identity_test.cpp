#include "scenario.hpp"

#include <tessera/campaign/step_encoding.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tessera;
using namespace tessera::scenario;

namespace {

const std::string study = R"([campaign]
name = "study"
repeats = 2
seed = 5
[matrix]
model = ["tiny", "big"]
precision = ["fp32", "int8"]
accelerator = ["a100"]
[models]
tiny = { hub = "org/tiny", revision = "abc" }
big = { hub = "org/big", revision = "def" }
[precisions]
fp32 = { bits = 32, label = "Full" }
int8 = { bits = 8, label = "Small" }
[accelerators]
a100 = { executor = "cuda", devices = 2 }
[workload]
command = ["run", "--model", "${model}", "--bits=${precision.bits}"]
env = { MODE = "fast" }
stdin = "go\n"
[resources]
devices = "${accelerator.devices}"
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::set<std::string> step_keys(const std::string& text) {
    const Plan planned = plan(text);
    std::set<std::string> keys;
    for (StepIndex step = 0; step < planned.step_count(); ++step)
        keys.insert(planned.step_key(step).hex());
    return keys;
}

std::set<std::string> cell_ids(const std::string& text) {
    const Plan planned = plan(text);
    std::set<std::string> ids;
    for (CellIndex cell = 0; cell < planned.cell_count(); ++cell)
        ids.insert(planned.cell_id(cell).hex());
    return ids;
}

bool shares_nothing(const std::set<std::string>& a, const std::set<std::string>& b) {
    return std::none_of(a.begin(), a.end(), [&](const std::string& key) { return b.count(key) > 0; });
}

StepKey echo_key(const std::string& matrix, const std::string& argument, const std::string& more = "") {
    return first_key(campaign(matrix, argument, more));
}

} // namespace

// These values are promises to the results that people have on disk. A change of them orphans every stored
// result: it needs a new version tag in step_encoding, never a new number here.
TEST_CASE("golden keys") {
    CHECK(derived_seed(0, 0) == 1129214083);
    CHECK(derived_seed(5, 1) == 1061708657);
    const std::string hello =
        "[campaign]\nname = \"hello\"\nrepeats = 2\n[matrix]\nx = [1, 2, 3]\ny = [\"a\", \"b\"]\n"
        "[workload]\ncommand = [\"sh\", \"-c\", \"echo ${y}; echo '{\\\"metric\\\": \\\"product\\\", "
        "\\\"value\\\": ${x}}' >> \\\"$TESSERA_METRICS\\\"\"]\n";
    const Plan planned = plan(hello);
    CHECK(planned.cell_count() == 12);
    CHECK(planned.step_count() == 12);
    CHECK(planned.step_key(0).hex() == "a693b7d7b3b66b4488ca5018fc3d785a");
    CHECK(planned.cell_id(0).hex() == "aa0ea06232de9dab6ef7666bd964cc56");
    CHECK(planned.step_key(11).hex() == "d9f59d09d5e8c082ed9727e1c7ffc4f2");
    CHECK(planned.cell_id(11).hex() == "989549af15c8bd73464f49add9925d62");
    CHECK(first_key(study).hex() == "acab72ef34ede33b42da50f0b8930bd0");
    CHECK(first_cell(study).hex() == "81c8a4d153d37f0cc43654985b1dc7db");
}

TEST_CASE("the canonical form of a step is as documented") {
    std::string form;
    step_encoding::append_field(form, "command",
                                Value(Value::Array{Value("echo"), Value(1), Value(1.0), Value("1")}));
    CHECK(form == std::string("command\0echo\0\2i1;\0\2f3ff0000000000000;\0"
                              "1\0\3",
                              41));
    std::string marks;
    step_encoding::append_text(marks, std::string_view("a\0b\1c\2d\3", 8));
    CHECK(marks == "a\1"
                   "0b\1"
                   "1c\1"
                   "2d\1"
                   "3");
}

TEST_CASE("what does not change a meaning renames nothing") {
    const auto same = [](const std::string& changed) {
        CHECK(step_keys(changed) == step_keys(study));
        CHECK(cell_ids(changed) == cell_ids(study));
    };
    same("# a comment\n\n" + study + "\n# another\n");
    same(with(study, "repeats = 2", "repeats    =   2 # twice\ndescription = \"what it is for\""));
    same(with(study, "name = \"study\"", "name = \"renamed\""));
    same(with(study, "[\"fp32\", \"int8\"]", "[\"int8\", \"fp32\"]"));
    same(with(with(study, "model = [\"tiny\", \"big\"]\n", ""), "accelerator = [\"a100\"]\n",
              "accelerator = [\"a100\"]\nmodel = [\"tiny\", \"big\"]\n"));
    same(with(study, "label = \"Full\"", "label = \"Full precision\", more = [1, 2]"));
    same(with(study, "hub = \"org/tiny\", ", ""));
    same(with(study, "executor = \"cuda\", ", "site = \"perlmutter\", node_type = \"a100-40g\", "));
}

TEST_CASE("resources and upkeep rename nothing") {
    for (const char* more :
         {"cores = 8\n", "memory = \"64G\"\n", "timeout = \"3h\"\n", "[retry]\ncrash = 5\nbackoff = \"1s\"\n",
          "[files]\nattempts = \"all\"\n", "[telemetry]\ndetail = \"raw\"\n"}) {
        CAPTURE(more);
        CHECK(step_keys(study + more) == step_keys(study));
        CHECK(cell_ids(study + more) == cell_ids(study));
    }
    CHECK(step_keys(with(study, "stdin =", "keep = [\"*.json\"]\nstdin =")) == step_keys(study));
}

TEST_CASE("a changed meaning renames every step") {
    const auto different = [](const std::string& changed) {
        CHECK(shares_nothing(step_keys(changed), step_keys(study)));
    };
    different(with(study, "\"--model\"", "\"-m\""));
    different(with(study, "MODE = \"fast\"", "MODE = \"slow\""));
    different(with(study, "MODE = \"fast\"", "MODE = \"fast\", MORE = \"\""));
    different(with(study, "stdin = \"go\\n\"", "stdin = \"go\""));
    different(with(study, "stdin = \"go\\n\"\n", ""));
    different(with(study, "devices = 2", "devices = 4"));
    different(with(with(study, "[\"a100\"]", "[\"h100\"]"), "a100 =", "h100 ="));
    different(with(study, "seed = 5", "seed = 6"));
    different(with(study, "executor = \"cuda\"", "executor = \"null\""));
    different(study + "[env]\nA = \"1\"\n");
}

TEST_CASE("a model's revision renames the cells of that model only, used or not") {
    const auto before = cell_ids(study);
    const auto after = cell_ids(with(study, "revision = \"abc\"", "revision = \"abd\""));
    std::vector<std::string> kept;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(kept));
    CHECK(kept.size() == 4);
}

TEST_CASE("1, 1.0 and \"1\" differ") {
    const std::set<StepKey> keys = {echo_key("x = [1]", "\"${x}\""), echo_key("x = [1.0]", "\"${x}\""),
                                    echo_key("x = [\"1\"]", "\"${x}\""), echo_key("x = [true]", "\"${x}\""),
                                    echo_key("x = [\"true\"]", "\"${x}\"")};
    CHECK(keys.size() == 5);
    CHECK(plan(campaign("x = [1, \"1\"]", "\"-n${x}\"")).step_count() == 2);
}

TEST_CASE("where a string came from does not matter") {
    const StepKey literal = echo_key("x = [1]", "\"--a=b\"");
    CHECK(echo_key("y = [\"b\"]", "\"--a=${y}\"") == literal);
    CHECK(echo_key("y = [\"--a=b\"]", "\"${y}\"") == literal);
    CHECK(echo_key("y = [\"k\"]", "\"${y.args}\"", "[define.y]\nk = { args = [\"--a=b\"] }") == literal);
    CHECK(echo_key("y = [\"b\"]", "\"--a=\", \"${y}\"") != literal);
}

TEST_CASE("texts cannot run into each other") {
    CHECK(echo_key("x = [1]", "\"a\", \"b\"") != echo_key("x = [1]", "\"ab\""));
    CHECK(echo_key("x = [1]", "\"ab\", \"\"") != echo_key("x = [1]", "\"ab\""));
    CHECK(echo_key("x = [1]", "\"\\u0002i1;\"") != echo_key("x = [1]", "\"${x}\""));
    CHECK(echo_key("x = [1]", "\"a\"", "env = { B = \"c\" }") !=
          echo_key("x = [1]", "\"a\"", "env = { Bc = \"\" }"));
}

TEST_CASE("more repeats only add cells") {
    const auto two = cell_ids(study);
    const auto three = cell_ids(with(study, "repeats = 2", "repeats = 3"));
    CHECK(three.size() == 12);
    CHECK(std::includes(three.begin(), three.end(), two.begin(), two.end()));
}

TEST_CASE("an axis added with a default renames nothing") {
    const auto before = cell_ids(study);
    const std::string wider = with(study, "[models]", "[matrix.defaults]\nextra = \"\"\n[models]");
    const auto after = cell_ids(with(with(wider, "precision = [", "extra = [\"\", \"-x\"]\nprecision = ["),
                                     "\"${model}\"", "\"${model}${extra}\""));
    CHECK(after.size() == 16);
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

TEST_CASE("an axis of one value is part of the cell, not of a step that does not use it") {
    CHECK(echo_key("x = [1]\nz = [7]", "\"${x}\"") == echo_key("x = [1]", "\"${x}\""));
    CHECK(first_cell(campaign("x = [1]\nz = [7]", "\"${x}\"")) !=
          first_cell(campaign("x = [1]", "\"${x}\"")));
}

TEST_CASE("defaults written out rename nothing") {
    const std::string plain = campaign("x = [1]", "\"${x}\"");
    CHECK(
        first_cell(campaign("x = [1]", "\"${x}\"",
                            "executor = \"cpu\"\n[resources]\ndevices = 0\ncores = 1\n[retry]\ncrash = 1")) ==
        first_cell(plain));
    CHECK(first_key(with(study, "devices = \"${accelerator.devices}\"", "devices = 1")) ==
          first_key(with(study, "devices = \"${accelerator.devices}\"", "")));
}

TEST_CASE("a path means what lies there, not where it lies") {
    const Folder folder;
    const std::string text =
        "[campaign]\nname='c'\n[matrix]\nmodel=['m']\n[models]\nm = { path = 'here/model' }\n"
        "[workload]\ncommand=['run','${model.path}/config.json']\n";
    const auto key = [&](const std::string& content) {
        const Plan planned = Plan::make(parse_campaign(content, folder / "c.toml"));
        return planned.step_key(0);
    };
    folder.write("here/model/config.json", "{}");
    folder.write("here/model/deep/weights", "123");
    const StepKey first = key(text);
    std::filesystem::rename(folder / "here", folder / "there");
    CHECK(key(with(text, "here", "there")) == first);
    CHECK(key(with(text, "here/model", "there/model/")) == first);
    CHECK(key(with(text, "here", (folder / "there"))) == first);
    CHECK(key(with(with(text, "here", "there"), "'${model.path}/config.json'", "'x'")) != first);
    folder.write("there/model/deep/weights", "1234");
    CHECK(key(with(text, "here", "there")) != first);

    const StepKey revised = key(with(text, "'here/model'", "'nowhere', revision = 'r1'"));
    CHECK(key(with(text, "'here/model'", "'there/model', revision = 'r1'")) == revised);
    CHECK(key(with(text, "'here/model'", "'there/model', revision = 'r2'")) != revised);
    CHECK_THROWS_AS(key(text), CampaignError);
}

TEST_CASE("a model's content counts though no text uses its path") {
    const Folder folder;
    const std::string text = "[campaign]\nname='c'\n[matrix]\nmodel=['m']\n[models]\nm = { path = 'w' "
                             "}\n[workload]\ncommand=['run']\n";
    folder.write("w", "1");
    const StepKey one = Plan::make(parse_campaign(text, folder / "c.toml")).step_key(0);
    folder.write("w", "22");
    CHECK(Plan::make(parse_campaign(text, folder / "c.toml")).step_key(0) != one);
}

TEST_CASE("the folder of the campaign is hashed by its name") {
    const std::string text = campaign("x = [1]", "\"${paths.campaign}/run.py\"");
    CHECK(Plan::make(parse_campaign(text, "/a/c.toml")).step_key(0) ==
          Plan::make(parse_campaign(text, "/b/c.toml")).step_key(0));
    CHECK(Plan::make(parse_campaign(text, "/a/c.toml")).step_key(0) !=
          echo_key("x = [1]", "\"/study/run.py\""));
}

TEST_CASE("what is listed as machine is no part of a meaning") {
    const auto key = [](const std::string& dir) {
        return first_key(
            "[campaign]\nname='c'\nmachine=['task.dir']\n[matrix]\ntask=['t']\n[tasks]\nt={dir='" + dir +
            "'}\n[workload]\ncommand=['run','${task.dir}']\n");
    };
    CHECK(key("/data/a") == key("/scratch/b"));
}

TEST_CASE("the digest names the meaning of a campaign") {
    CHECK(plan(study).digest() == plan("# comment\n" + study).digest());
    CHECK(plan(study).digest() == plan(study + "cores = 2\n").digest());
    CHECK(plan(study).digest() != plan(with(study, "label = \"Full\"", "label = \"F\"")).digest());
    CHECK(plan(study).digest() != plan(with(study, "MODE", "MODUS")).digest());
    CHECK(plan(study).digest() != plan(with(study, "repeats = 2", "repeats = 1")).digest());
}
