# SPDX-License-Identifier: Apache-2.0
"""The properties of VMs and of boards for RT apps."""

from tessera.image import layout
from tessera.image.nodes import Prop
from tessera.image.prop_types import Number, Numbers, Words

LONGEST_RT_US = 0x7FFFFFFF  # longest period and budget of an RT app

VM_PROPS = (
    Prop(
        "rt-apps",
        Number(0, layout.MAX_RT_APPS),
        "RT apps that the VM may run at a time. With any, the VM is an RT-VM and its guest the real-time manager.",
        default=0,
        field="rt_apps",
        component="rt",
    ),
    Prop(
        "rt-launchers",
        Words("VM names"),
        "Other VMs that may launch the RT-VM's apps.",
        default=(),
        default_words="none",
    ),
    Prop(
        "rt-harts",
        Numbers("numbers", 0, layout.MAX_HARTS - 1),
        "Harts that the RT-VM's apps may be pinned to. Hart 0 handles the console and the interrupts of devices.",
        default_words="all harts of the system",
    ),
    Prop(
        "rt-share-max",
        Number(1, 100),
        "Percentage of each of these harts that the RT-VM's apps may use, by budgets and periods.",
        default_words="what `be-reserve-us` leaves",
    ),
    Prop(
        "rt-budget-max-us",
        Number(1, LONGEST_RT_US),
        "The longest budget of the RT-VM's apps in microseconds.",
        default_words="what `be-reserve-us` leaves",
    ),
    Prop(
        "rt-period-max-us",
        Number(1, LONGEST_RT_US),
        "The longest period of the RT-VM's apps in microseconds.",
        default=LONGEST_RT_US,
        field="rt_period_max_us",
    ),
)

BOARD_PROPS = (
    Prop(
        "rt-release-ns",
        Number(0, 10**6),
        "Longest time in nanoseconds that a release of an RT app takes from the app that it interrupts, both "
        "context switches included.",
        default_words="none; a board with RT apps needs it",
    ),
    Prop(
        "rt-switch-ns",
        Number(0, 10**6),
        "Longest time in nanoseconds that a job is charged for the context switches to and from its app.",
        default_words="none; a board with RT apps needs it",
    ),
    Prop(
        "rt-blocked-ns",
        Numbers("numbers", 0, 10**7),
        "Longest non-preemptible section of a hart in nanoseconds, waits for locks included: on one hart, on 2, "
        "on up to 4, on up to 8.",
        default_words="none; a board with RT apps needs it",
    ),
    Prop(
        "rt-blocked-functions-ns",
        Numbers("numbers", 0, 10**7),
        "The same in a system with PCI functions: under the locks of their queues data is copied.",
        default_words="that of `rt-blocked-ns`; a board with RT apps and several harts needs it",
    ),
    Prop(
        "rt-lock-ns",
        Number(0, 10**6),
        "Longest time in nanoseconds for which a hart holds the scheduler's lock, calls of the firmware included.",
        default=0,
    ),
    Prop(
        "rt-notify-ns",
        Number(0, 10**6),
        "Additional time in nanoseconds of a release on several harts, without waits for locks and rt-ipi-ns.",
        default=0,
    ),
    Prop(
        "rt-ipi-ns",
        Number(0, 10**6),
        "Time in nanoseconds that the firmware takes from a hart for an interrupt from another hart.",
        default=0,
    ),
    Prop(
        "rt-firmware-ns",
        Number(0, 10**7),
        "Longest time in nanoseconds for which one instruction of a guest keeps the firmware busy (a line of "
        "OpenSBI 1.6 at 115200 baud: 8000000). Admission counts it for each hart instead of rt-blocked-ns if the "
        "sum is longer.",
        default=0,
    ),
)
