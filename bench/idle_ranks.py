#!/usr/bin/env python3
"""How much CPU idle ranks use: starts RANKS ranks that only exchange heartbeats and sums their CPU time over SECONDS.

    bench/idle_ranks.py BUILD_DIR [--mpi openmpi] [--ranks 64] [--seconds 30] [--json]

Prints the machine's load before and the share of one core that all ranks used together. The build must have the tests
(mpi-check-MPI)."""

import argparse
import json
import os
import subprocess
import sys
import time

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def process_tree(root):
    """Ids of `root` and of all that descend from it."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry))
    tree, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        tree.append(pid)
        waiting += children.get(pid, [])
    return tree


def ranks_cpu_s(root, program):
    """CPU seconds so far of the ranks under the launcher `root`, and their number."""
    total, count = 0.0, 0
    for pid in process_tree(root):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) != program:
                continue
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICKS_PER_S
        count += 1
    return total, count


def launcher(mpi, ranks):
    command = [f"mpirun.{mpi}"]
    if mpi == "openmpi":
        command += ["--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
    return command + ["-n", str(ranks)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    program = f"mpi-check-{options.mpi}"
    load = os.getloadavg()[0]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = launcher(options.mpi, options.ranks)
    # Some seconds more than are measured: the ranks must still be idle at the second look.
    command += [os.path.join(options.build, "bin", program), "idle", str(int(options.seconds) + 10)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as job:
        if job.stdout.readline().strip() != "idle":
            sys.exit(f"{' '.join(command)} did not start")
        time.sleep(2)  # let what the start left behind settle
        begin = time.monotonic()
        before, count = ranks_cpu_s(job.pid, program)
        time.sleep(options.seconds)
        after, _ = ranks_cpu_s(job.pid, program)
        took_s = time.monotonic() - begin
        job.communicate()
    result = {
        "mpi": options.mpi,
        "ranks": count,
        "seconds": round(took_s, 1),
        "cpu_s": round(after - before, 2),
        "core_percent": round(100 * (after - before) / took_s, 1),
        "load_before": round(load, 2),
    }
    if options.json:
        print(json.dumps(result))
    else:
        print("  ".join(f"{key} {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
