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
        "Real-time apps that the VM may run at a time. With any, the VM is an RT-VM and its guest the real-time "
        "manager.",
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
        "context switches included. The interrupted app's budget is extended by this time; admission adds the "
        "time to every job.",
        default_words="none; a board with RT apps needs it",
    ),
    Prop(
        "rt-switch-ns",
        Number(0, 10**6),
        "Longest time in nanoseconds that a job of an RT app is charged for the context switches to and from its "
        "app; the job's budget is extended by it. Admission adds it to every job.",
        default_words="none; a board with RT apps needs it",
    ),
    Prop(
        "rt-blocked-ns",
        Numbers("numbers", 0, 10**7),
        "Longest non-preemptible section of a hart in nanoseconds, waits for the hypervisor's locks included: on "
        "one hart, on 2, on up to 4, on up to 8. Admission adds it once for each app.",
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
        "Longest time in nanoseconds for which a hart holds the scheduler's lock, including calls of the "
        "firmware. A release takes the lock twice and a switch once, and each acquisition may wait that long for "
        "each of the other harts.",
        default=0,
    ),
    Prop(
        "rt-notify-ns",
        Number(0, 10**6),
        "Additional time in nanoseconds of a release on a system of several harts, apart from waits for locks and "
        "rt-ipi-ns: the release finds another hart for the VCPU that it interrupts.",
        default=0,
    ),
    Prop(
        "rt-ipi-ns",
        Number(0, 10**6),
        "Time in nanoseconds that the firmware takes from a hart to handle an interrupt from another hart. With "
        "several harts, one may occur during each release and each switch.",
        default=0,
    ),
    Prop(
        "rt-firmware-ns",
        Number(0, 10**7),
        "Longest time in nanoseconds for which one instruction of a guest can keep the firmware busy. Firmware "
        "that does not delegate illegal instructions handles them before the hypervisor; OpenSBI 1.6 prints a "
        "line for some of them, 8000000 at 115200 baud. The firmware prints one line at a time, so admission adds "
        "the time once for each hart, and uses the sum instead of rt-blocked-ns if it is longer.",
        default=0,
    ),
)
