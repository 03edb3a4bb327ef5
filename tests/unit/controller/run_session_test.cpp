#include "campaigns.hpp"

#include <tessera/base/error.hpp>
#include <tessera/base/fd.hpp>
#include <tessera/controller/run_session.hpp>
#include <tessera/journal/spool.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>

using namespace tessera;

namespace {

bool never_wait(Duration) {
    return false;
}

/// A plan whose campaign file exists, since a session keeps a copy of it.
struct Campaign4 {
    Campaign4() {
        write_file_atomically(
            folder.path + "/t.toml",
            "[campaign]\nname = \"t\"\n[matrix]\ni = [1, 2, 3, 4]\n[workload]\nexecutor = \"null\"\n"
            "command = [\"x\", \"${i}\"]\n");
        plan.emplace(Plan::load(folder.path + "/t.toml"));
    }

    std::string dir() const { return folder.path + "/D"; }

    OutcomeRecord success(StepIndex step, const std::string& part, const ClaimRef& claim) const {
        OutcomeRecord outcome;
        outcome.attempt = {part, plan->step_key(step), 1};
        outcome.claim = claim;
        return outcome;
    }

    TemporaryFolder folder;
    std::optional<Plan> plan;
    SystemClock clock;
};

} // namespace

TEST_CASE("a closed session leaves its verdict and a results.h5, and the next one goes on from it") {
    const Campaign4 c;
    std::string part;
    {
        RunSession session(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait);
        part = session.part().id();
        CHECK(session.selection().steps.size() == 4);
        session.part().journal().append(c.success(2, part, session.part().claim()));
        CHECK(session.part().close(3, "enough").empty());
    }
    const CampaignDirectory directory = CampaignDirectory::open(c.dir());
    CHECK(directory.verdict(part) == Verdict{3, "enough"});
    CHECK_NOTHROW(read_file(directory.results_path()));
    RunSession next(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait);
    CHECK(next.part().claim().epoch == 2);
    CHECK(next.selection().steps[2].entry.succeeded);
    CHECK_FALSE(next.selection().steps[1].entry.succeeded);
}

TEST_CASE("a live campaign is not run a second time, and the refused run leaves nothing") {
    const Campaign4 c;
    RunSession session(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait);
    CHECK_THROWS_WITH_AS(RunSession(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait),
                         doctest::Contains("is being run by pid"), UserError);
    CHECK(session.directory().parts().size() == 1);
}

TEST_CASE("what workers spooled before their controller died is taken, what was only dispatched is lost") {
    const Campaign4 c;
    std::string part;
    ClaimRef claim;
    {
        RunSession session(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait);
        part = session.part().id();
        claim = session.part().claim();
        DispatchedRecord dispatched{
            0, claim, 1, {{c.plan->step_key(0), 1, 1, {}}, {c.plan->step_key(1), 1, 1, {}}}};
        session.part().journal().append(dispatched);
        session.part().journal().sync();
        Spool spool(session.directory().part_folder(part), part, 0);
        spool.append(c.success(0, part, claim));
        spool.close();
    }
    // The owner of the part still lives, for it is this process: only the claim of a closed or dead part is
    // taken over.
    CHECK_THROWS_AS(RunSession(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait), UserError);
    // A process that has started anew under the same number is another one.
    const std::string owner_path = CampaignDirectory::open(c.dir()).part_folder(part) + "/owner";
    std::string owner = read_file(owner_path);
    OwnerInfo info = parse_owner(owner, owner_path);
    info.pid_start += 1;
    const UniqueFd file = open_file(owner_path, O_WRONLY | O_TRUNC);
    write_all(file.get(), to_text(info), owner_path);

    RunSession next(*c.plan, c.dir(), {}, {"t.toml"}, c.clock, never_wait);
    CHECK(next.selection().steps[0].entry.succeeded);
    CHECK_FALSE(next.selection().steps[1].entry.succeeded);
    // It went down with its run, which is no strike against it.
    CHECK(next.selection().steps[1].entry.failures.at(FailureClass::lost) == 0);
    CHECK(next.selection().steps[1].next_attempt == 2);
    CHECK(next.notices().size() == 2);
}
