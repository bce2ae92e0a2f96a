# SPDX-License-Identifier: Apache-2.0
"""The benchmark (tools/bench.py).

metrics   the metrics, their goals and the figures of other hypervisors, from
          tools/bench-metrics.tsv
collect   the measurements on RISC-V in QEMU; mips those on the M5150 in iasim
machine   runs one machine deterministically until its guests have finished
count     counts executed instructions, by a QEMU plugin; sections measures non-preemptible sections,
          by another
worst     the worst case of each path between two states, from the counts of sections
native    the same work without a hypervisor; size the sizes of sections and the lines of code
parse     parses what the benchmark guests print; adpcm and rt parse the output of their guests
report    writes results.jsonl and the tables
plot      the overview picture; plot_* the other pictures
"""
