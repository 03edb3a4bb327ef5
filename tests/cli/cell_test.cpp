#include "program.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <set>

using namespace tessera::test;
using nlohmann::json;

namespace {

std::string toml_string(const std::string& text) {
    return json(text).dump();
}

std::size_t inodes(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("values reach a cell as they were written") {
    const std::vector<std::string> values = {
        "",       " ", "it's",    "\"double\"",         "$HOME $(id) `id`",     "two\nlines\n", "-n",
        "--help", "*", "a\\b\\n", "semi;colon & | > x", "\xC3\xA9\xE2\x82\xAC", "%s%n"};
    const TemporaryFolder folder;
    std::string list;
    for (const std::string& value : values)
        list += (list.empty() ? "" : ", ") + toml_string(value);
    folder.write("c.toml",
                 "[campaign]\nname = \"c\"\n[matrix]\nv = [" + list +
                     "]\n[workload]\n"
                     "command = [\"sh\", \"-c\", 'printf \"%s|\" \"$@\" \"$FROM_ENV\"; cat', \"sh\", "
                     "\"${v}\", \"<${v}>\"]\nstdin = \"${v}.\"\nenv = { FROM_ENV = \"${v}\" }\n");
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "1"}), 0);
    const json rows = query(folder.path(), "c", {"--columns", "v,cell"});
    REQUIRE(rows.size() == values.size());
    for (const json& row : rows) {
        const std::string value = row["v"];
        CAPTURE(value);
        const Outcome logs = run_tessera(folder.path(), {"logs", "c", row["cell"]});
        require_code(logs, 0);
        CHECK(logs.out == fmt::format("{0}|<{0}>|{0}|{0}.", value));
    }
}

TEST_CASE("numbers and booleans are written as in the file") {
    const TemporaryFolder folder;
    folder.write("c.toml", shell_campaign("c", "[1, 1.5, true, \"1\", -0.25]", "printf %s \"$1\""));
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0"}), 0);
    std::vector<std::string> texts;
    for (const json& row : query(folder.path(), "c", {"--columns", "cell"}))
        texts.push_back(run_tessera(folder.path(), {"logs", "c", row["cell"]}).out);
    CHECK(texts == std::vector<std::string>{"1", "1.5", "true", "1", "-0.25"});
}

TEST_CASE("what a cell sees of Tessera") {
    const TemporaryFolder folder;
    folder.write("c.toml", R"toml([campaign]
name = "c"
repeats = 2
seed = 7

[matrix]
model = ["tiny"]
x = [3]

[models]
tiny = { width = 64, revision = "r1" }

[env]
MINE = "yes"

[workload]
command = ["sh", "-c", '''
env | grep -e '^TESSERA_' -e '^MINE=' -e '^OMP_NUM_THREADS=' -e '^PMI' -e '^OMPI' -e '^PMIX' > "$TESSERA_CAMPAIGN_FOLDER/env-$TESSERA_REPEAT"
cat "$TESSERA_AXES" > "$TESSERA_CAMPAIGN_FOLDER/axes"
pwd > "$TESSERA_CAMPAIGN_FOLDER/pwd-$TESSERA_REPEAT"
test ! -t 0; cat; ls /proc/self/fd | wc -l
''', "${x} ${model} ${repeat} ${seed}"]

[resources]
cores = 1
)toml");
    for (const std::string workers : {"0", "2"}) {
        CAPTURE(workers);
        require_code(
            run_tessera(folder.path(), {"run", "c.toml", "--workers", workers, "--dir", "D" + workers}), 0);
        const json row = query(folder.path(), "D" + workers,
                               {"--where", "repeat = 1", "--columns", "cell,step,attempt"})[0];
        json seen;
        for (const std::string& line : folder.lines("env-1"))
            seen[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
        CAPTURE(seen.dump());
        CHECK(seen["TESSERA_CELL"] == row["cell"]);
        CHECK(seen["TESSERA_STEP"] == "workload");
        CHECK(seen["TESSERA_STEP_KEY"] == row["step"]);
        CHECK(seen["TESSERA_ATTEMPT"] == row["attempt"]);
        CHECK(seen["TESSERA_REPEAT"] == "1");
        CHECK(seen["TESSERA_CORES"] == "1");
        CHECK(seen["TESSERA_DEVICES"] == "");
        CHECK(seen["TESSERA_CAMPAIGN_FOLDER"] == folder.path());
        CHECK(seen["MINE"] == "yes");
        CHECK(seen["OMP_NUM_THREADS"] == "1");
        for (const char* name : {"TESSERA_SEED", "TESSERA_METRICS", "TESSERA_ARTIFACT", "TESSERA_AXES"})
            CHECK(!seen.value(name, "").empty());
        for (const auto& [name, value] : seen.items())
            CHECK((name.rfind("TESSERA_", 0) == 0 || name == "MINE" || name == "OMP_NUM_THREADS"));
        const json axes = json::parse(folder.read("axes"));
        CHECK(axes["x"] == 3);
        CHECK(axes["model.width"] == 64);
        CHECK(folder.read("pwd-1").find("/D" + workers + "/attempts/" + row["attempt"].get<std::string>()) !=
              std::string::npos);
    }
}

TEST_CASE("repeats have seeds of their own, and the same in another campaign directory") {
    const TemporaryFolder folder;
    folder.write("c.toml",
                 "[campaign]\nname = \"c\"\nrepeats = 2\nseed = 7\n[matrix]\nx = [1, 2]\n[workload]\n"
                 "command = [\"sh\", \"-c\", 'echo \"{\\\"metric\\\": \\\"s\\\", \\\"value\\\": "
                 "$TESSERA_SEED}\" >> \"$TESSERA_METRICS\"', \"sh\", \"${x}\"]\n");
    const auto seeds = [&](const std::string& dir) {
        require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "0", "--dir", dir}), 0);
        return query(folder.path(), dir, {"--columns", "x,repeat,s"});
    };
    const json first = seeds("D");
    CHECK(first == seeds("E"));
    CHECK(first[0]["s"] == first[2]["s"]);
    CHECK(first[0]["s"] != first[1]["s"]);
}

TEST_CASE("a thousand succeeded cells that leave no files cost few inodes") {
    const TemporaryFolder folder;
    folder.write("c.toml", "[campaign]\nname = \"c\"\nrepeats = 500\n[matrix]\nx = [1, 2]\n"
                           "[workload]\ncommand = [\"echo\", \"${x}\"]\n");
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "2"}), 0);
    CHECK(query(folder.path(), "c", {"--group-by", "status", "--agg", "count"}).size() == 1);
    CHECK(inodes(folder.file("c")) < 50);
}

TEST_CASE("cells of the null executor succeed without a process") {
    const TemporaryFolder folder;
    folder.write("c.toml", "[campaign]\nname = \"c\"\nrepeats = 500\n[matrix]\nx = [1, 2]\n"
                           "[workload]\ncommand = [\"no-such-program\", \"${x}\"]\nexecutor = \"null\"\n");
    require_code(run_tessera(folder.path(), {"run", "c.toml", "--workers", "1"}), 0);
    CHECK(query(folder.path(), "c", {"--where", "status = succeeded"}).size() == 1000);
    CHECK(inodes(folder.file("c")) < 50);
}

TEST_CASE("what a cell leaves behind is kept as the campaign says") {
    const TemporaryFolder folder;
    const auto files = [&](const std::string& dir, int x) {
        const json row =
            query(folder.path(), dir, {"--where", "x = " + std::to_string(x), "--columns", "folder"})[0];
        std::set<std::string> found;
        if (row["folder"].is_null()) return found;
        const std::string path = folder.file(dir + "/" + row["folder"].get<std::string>());
        if (!std::filesystem::exists(path)) return found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
            if (entry.is_regular_file()) found.insert(entry.path().filename().string());
        return found;
    };
    const auto run_with = [&](const std::string& name, const std::string& more) {
        folder.write(name + ".toml",
                     shell_campaign(
                         name, "[1, 2]",
                         "mkdir out; echo r > out/result.txt; echo t > scratch.tmp; test \"$1\" != 2", more));
        require_code(run_tessera(folder.path(), {"run", name + ".toml", "--workers", "0"}), 1);
    };
    using Names = std::set<std::string>;
    run_with("usual", "");
    CHECK(files("usual", 1) == Names{"result.txt", "scratch.tmp"});
    CHECK(files("usual", 2).count("scratch.tmp") == 1);

    run_with("none", "[files]\nattempts = \"none\"");
    CHECK(files("none", 1).empty());
    CHECK(files("none", 2).empty());

    run_with("every", "[files]\nattempts = \"all\"");
    CHECK(files("every", 1).count("tessera.axes.json") == 1);
}
