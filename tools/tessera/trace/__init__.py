# SPDX-License-Identifier: Apache-2.0
"""Traces of a run.

take      runs a system in QEMU and reads the trace memory over QMP
ring      decodes the trace memory, as core/include/trace.h and trace_layout.h define it
clock     converts the trace's time stamps and instruction counts into nanoseconds
calls     names hypercalls and SBI calls, with the numbers of the hypervisor's headers
model     derives the timeline from the events: slices, exits, jobs
names     names VMs, VCPUs and devices of the traced system
perfetto  writes the timeline as a Perfetto trace
plot      draws the timeline as a picture
"""
