// SPDX-License-Identifier: Apache-2.0
// Made by `make fpga-regs` from fpga/rdl/fabric.rdl; do not edit.
//! The fabric's registers: addresses within it, positions and widths of fields.

/// the manager page, fabric_regs
pub const FABRIC_MANAGER: usize = 0x0;
/// windows of the VMs, fabric_window
pub const FABRIC_WINDOWS: usize = 0x1000;
/// from one window to the next
pub const FABRIC_WINDOW_STRIDE: usize = 0x20;
/// from one VM's windows to the next one's
pub const FABRIC_VM_WINDOWS_STRIDE: usize = 0x80;
/// context buffers
pub const FABRIC_CONTEXTS: usize = 0x40000;
/// from one IF's to the next one's; IF = 16 * VM + device
pub const FABRIC_CONTEXT_STRIDE: usize = 0x400;
/// IF pages, fabric_if
pub const FABRIC_IFS: usize = 0x100000;
/// from one IF's page to the next one's; IF = 16 * VM + device
pub const FABRIC_IF_STRIDE: usize = 0x1000;
/// all of it
pub const FABRIC_SPAN: usize = 0x200000;
/// Identification
pub const FABRIC_REGS_ID: usize = 0x0;
pub const FABRIC_REGS_ID_MAGIC_LSB: usize = 0x0;
pub const FABRIC_REGS_ID_MAGIC_WIDTH: usize = 0x20;
pub const FABRIC_REGS_ID_VERSION_LSB: usize = 0x20;
pub const FABRIC_REGS_ID_VERSION_WIDTH: usize = 0x8;
/// Parameters of this fabric
pub const FABRIC_REGS_PARAMS: usize = 0x8;
pub const FABRIC_REGS_PARAMS_VMS_LSB: usize = 0x0;
pub const FABRIC_REGS_PARAMS_VMS_WIDTH: usize = 0x8;
pub const FABRIC_REGS_PARAMS_DEVS_LSB: usize = 0x8;
pub const FABRIC_REGS_PARAMS_DEVS_WIDTH: usize = 0x8;
pub const FABRIC_REGS_PARAMS_PRRS_LSB: usize = 0x10;
pub const FABRIC_REGS_PARAMS_PRRS_WIDTH: usize = 0x8;
pub const FABRIC_REGS_PARAMS_SORTER_DEPTH_LSB: usize = 0x18;
pub const FABRIC_REGS_PARAMS_SORTER_DEPTH_WIDTH: usize = 0x10;
pub const FABRIC_REGS_PARAMS_LIST_DEPTH_LSB: usize = 0x28;
pub const FABRIC_REGS_PARAMS_LIST_DEPTH_WIDTH: usize = 0x10;
pub const FABRIC_REGS_PARAMS_WINDOWS_LSB: usize = 0x38;
pub const FABRIC_REGS_PARAMS_WINDOWS_WIDTH: usize = 0x8;
/// Interrupts to the manager
pub const FABRIC_REGS_IRQ_STATUS: usize = 0x10;
pub const FABRIC_REGS_IRQ_STATUS_NEW_SOLUTION_LSB: usize = 0x0;
pub const FABRIC_REGS_IRQ_STATUS_NEW_SOLUTION_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_RECONFIG_OVER_LSB: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_RECONFIG_OVER_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_PRR_STOPPED_LSB: usize = 0x2;
pub const FABRIC_REGS_IRQ_STATUS_PRR_STOPPED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_DMA_VIOLATION_LSB: usize = 0x3;
pub const FABRIC_REGS_IRQ_STATUS_DMA_VIOLATION_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_TASK_FAULT_LSB: usize = 0x4;
pub const FABRIC_REGS_IRQ_STATUS_TASK_FAULT_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_HOLD_EXPIRED_LSB: usize = 0x5;
pub const FABRIC_REGS_IRQ_STATUS_HOLD_EXPIRED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_IRQ_STATUS_LIST_OVERFLOW_LSB: usize = 0x6;
pub const FABRIC_REGS_IRQ_STATUS_LIST_OVERFLOW_WIDTH: usize = 0x1;
/// Which of them raise the manager's line
pub const FABRIC_REGS_IRQ_ENABLE: usize = 0x18;
pub const FABRIC_REGS_IRQ_ENABLE_ENABLE_LSB: usize = 0x0;
pub const FABRIC_REGS_IRQ_ENABLE_ENABLE_WIDTH: usize = 0x7;
/// Request for a region
pub const FABRIC_REGS_REQUEST: usize = 0x20;
pub const FABRIC_REGS_REQUEST_VM_LSB: usize = 0x0;
pub const FABRIC_REGS_REQUEST_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_REQUEST_DEV_LSB: usize = 0x4;
pub const FABRIC_REGS_REQUEST_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_REQUEST_PRIO_LSB: usize = 0x8;
pub const FABRIC_REGS_REQUEST_PRIO_WIDTH: usize = 0x4;
/// Answer to the last request
pub const FABRIC_REGS_SOLUTION: usize = 0x28;
pub const FABRIC_REGS_SOLUTION_METHOD_LSB: usize = 0x0;
pub const FABRIC_REGS_SOLUTION_METHOD_WIDTH: usize = 0x2;
pub const FABRIC_REGS_SOLUTION_RECONFIG_LSB: usize = 0x2;
pub const FABRIC_REGS_SOLUTION_RECONFIG_WIDTH: usize = 0x1;
pub const FABRIC_REGS_SOLUTION_LISTED_LSB: usize = 0x3;
pub const FABRIC_REGS_SOLUTION_LISTED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_SOLUTION_PRR_LSB: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_PRR_WIDTH: usize = 0x3;
pub const FABRIC_REGS_SOLUTION_EVICTED_LSB: usize = 0x7;
pub const FABRIC_REGS_SOLUTION_EVICTED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_SOLUTION_VM_LSB: usize = 0x8;
pub const FABRIC_REGS_SOLUTION_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_DEV_LSB: usize = 0xc;
pub const FABRIC_REGS_SOLUTION_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_PRIO_LSB: usize = 0x10;
pub const FABRIC_REGS_SOLUTION_PRIO_WIDTH: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_EVICTED_VM_LSB: usize = 0x14;
pub const FABRIC_REGS_SOLUTION_EVICTED_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_EVICTED_DEV_LSB: usize = 0x18;
pub const FABRIC_REGS_SOLUTION_EVICTED_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_SOLUTION_VALID_LSB: usize = 0x1f;
pub const FABRIC_REGS_SOLUTION_VALID_WIDTH: usize = 0x1;
/// First solution from the search list
pub const FABRIC_REGS_NEW_SOLUTION: usize = 0x30;
pub const FABRIC_REGS_NEW_SOLUTION_METHOD_LSB: usize = 0x0;
pub const FABRIC_REGS_NEW_SOLUTION_METHOD_WIDTH: usize = 0x2;
pub const FABRIC_REGS_NEW_SOLUTION_RECONFIG_LSB: usize = 0x2;
pub const FABRIC_REGS_NEW_SOLUTION_RECONFIG_WIDTH: usize = 0x1;
pub const FABRIC_REGS_NEW_SOLUTION_LISTED_LSB: usize = 0x3;
pub const FABRIC_REGS_NEW_SOLUTION_LISTED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_NEW_SOLUTION_PRR_LSB: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_PRR_WIDTH: usize = 0x3;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_LSB: usize = 0x7;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_NEW_SOLUTION_VM_LSB: usize = 0x8;
pub const FABRIC_REGS_NEW_SOLUTION_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_DEV_LSB: usize = 0xc;
pub const FABRIC_REGS_NEW_SOLUTION_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_PRIO_LSB: usize = 0x10;
pub const FABRIC_REGS_NEW_SOLUTION_PRIO_WIDTH: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_VM_LSB: usize = 0x14;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_DEV_LSB: usize = 0x18;
pub const FABRIC_REGS_NEW_SOLUTION_EVICTED_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_NEW_SOLUTION_VALID_LSB: usize = 0x1f;
pub const FABRIC_REGS_NEW_SOLUTION_VALID_WIDTH: usize = 0x1;
/// Take the first solution from the search list away
pub const FABRIC_REGS_NEW_SOLUTION_POP: usize = 0x38;
pub const FABRIC_REGS_NEW_SOLUTION_POP_POP_LSB: usize = 0x0;
pub const FABRIC_REGS_NEW_SOLUTION_POP_POP_WIDTH: usize = 0x1;
/// A client does not want its region, or to wait, any longer
pub const FABRIC_REGS_CANCEL: usize = 0x40;
pub const FABRIC_REGS_CANCEL_VM_LSB: usize = 0x0;
pub const FABRIC_REGS_CANCEL_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_CANCEL_DEV_LSB: usize = 0x4;
pub const FABRIC_REGS_CANCEL_DEV_WIDTH: usize = 0x4;
/// Cycles that Hold waits for its client
pub const FABRIC_REGS_HOLD_TIME: usize = 0x48;
pub const FABRIC_REGS_HOLD_TIME_CYCLES_LSB: usize = 0x0;
pub const FABRIC_REGS_HOLD_TIME_CYCLES_WIDTH: usize = 0x20;
/// Cycles a task may take to stop, to save, to restore
pub const FABRIC_REGS_STOP_TIME: usize = 0x50;
pub const FABRIC_REGS_STOP_TIME_CYCLES_LSB: usize = 0x0;
pub const FABRIC_REGS_STOP_TIME_CYCLES_WIDTH: usize = 0x20;
/// Bitstream, host-physical address, 8-byte aligned
pub const FABRIC_REGS_ICAP_ADDR: usize = 0x58;
pub const FABRIC_REGS_ICAP_ADDR_ADDR_LSB: usize = 0x0;
pub const FABRIC_REGS_ICAP_ADDR_ADDR_WIDTH: usize = 0x40;
/// Bitstream, length in bytes
pub const FABRIC_REGS_ICAP_LENGTH: usize = 0x60;
pub const FABRIC_REGS_ICAP_LENGTH_LENGTH_LSB: usize = 0x0;
pub const FABRIC_REGS_ICAP_LENGTH_LENGTH_WIDTH: usize = 0x20;
/// Configure a region
pub const FABRIC_REGS_ICAP_START: usize = 0x68;
pub const FABRIC_REGS_ICAP_START_PRR_LSB: usize = 0x0;
pub const FABRIC_REGS_ICAP_START_PRR_WIDTH: usize = 0x3;
pub const FABRIC_REGS_ICAP_START_VERIFY_LSB: usize = 0x8;
pub const FABRIC_REGS_ICAP_START_VERIFY_WIDTH: usize = 0x1;
/// What the configuration port does, or did last
pub const FABRIC_REGS_ICAP_STATUS: usize = 0x70;
pub const FABRIC_REGS_ICAP_STATUS_BUSY_LSB: usize = 0x0;
pub const FABRIC_REGS_ICAP_STATUS_BUSY_WIDTH: usize = 0x1;
pub const FABRIC_REGS_ICAP_STATUS_PRR_LSB: usize = 0x4;
pub const FABRIC_REGS_ICAP_STATUS_PRR_WIDTH: usize = 0x3;
pub const FABRIC_REGS_ICAP_STATUS_ERROR_LSB: usize = 0x8;
pub const FABRIC_REGS_ICAP_STATUS_ERROR_WIDTH: usize = 0x4;
pub const FABRIC_REGS_ICAP_STATUS_TASK_ID_LSB: usize = 0x10;
pub const FABRIC_REGS_ICAP_STATUS_TASK_ID_WIDTH: usize = 0x8;
/// Cycles from the first to the last word of the last configuration
pub const FABRIC_REGS_ICAP_COUNTS: usize = 0x78;
pub const FABRIC_REGS_ICAP_COUNTS_CYCLES_LSB: usize = 0x0;
pub const FABRIC_REGS_ICAP_COUNTS_CYCLES_WIDTH: usize = 0x20;
pub const FABRIC_REGS_ICAP_COUNTS_WORDS_LSB: usize = 0x20;
pub const FABRIC_REGS_ICAP_COUNTS_WORDS_WIDTH: usize = 0x20;
/// The last violation: where
pub const FABRIC_REGS_FAULT_ADDR: usize = 0x80;
pub const FABRIC_REGS_FAULT_ADDR_ADDR_LSB: usize = 0x0;
pub const FABRIC_REGS_FAULT_ADDR_ADDR_WIDTH: usize = 0x40;
/// The last fault: whose
pub const FABRIC_REGS_FAULT_INFO: usize = 0x88;
pub const FABRIC_REGS_FAULT_INFO_VM_LSB: usize = 0x0;
pub const FABRIC_REGS_FAULT_INFO_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_FAULT_INFO_DEV_LSB: usize = 0x4;
pub const FABRIC_REGS_FAULT_INFO_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_FAULT_INFO_PRR_LSB: usize = 0x8;
pub const FABRIC_REGS_FAULT_INFO_PRR_WIDTH: usize = 0x3;
pub const FABRIC_REGS_FAULT_INFO_WRITE_LSB: usize = 0xb;
pub const FABRIC_REGS_FAULT_INFO_WRITE_WIDTH: usize = 0x1;
pub const FABRIC_REGS_FAULT_INFO_WHY_LSB: usize = 0xc;
pub const FABRIC_REGS_FAULT_INFO_WHY_WIDTH: usize = 0x3;
/// Clients in the search list
pub const FABRIC_REGS_LIST: usize = 0x90;
pub const FABRIC_REGS_LIST_WAITING_LSB: usize = 0x0;
pub const FABRIC_REGS_LIST_WAITING_WIDTH: usize = 0x9;
/// Sorter: key of the next command
pub const FABRIC_REGS_SORT_KEY: usize = 0xa0;
pub const FABRIC_REGS_SORT_KEY_KEY_LSB: usize = 0x0;
pub const FABRIC_REGS_SORT_KEY_KEY_WIDTH: usize = 0x40;
/// Sorter: command
pub const FABRIC_REGS_SORT_COMMAND: usize = 0xa8;
pub const FABRIC_REGS_SORT_COMMAND_OP_LSB: usize = 0x0;
pub const FABRIC_REGS_SORT_COMMAND_OP_WIDTH: usize = 0x2;
pub const FABRIC_REGS_SORT_COMMAND_VALUE_LSB: usize = 0x10;
pub const FABRIC_REGS_SORT_COMMAND_VALUE_WIDTH: usize = 0x10;
/// Sorter: outcome of the last command, and how full it is
pub const FABRIC_REGS_SORT_STATUS: usize = 0xb0;
pub const FABRIC_REGS_SORT_STATUS_STATUS_LSB: usize = 0x0;
pub const FABRIC_REGS_SORT_STATUS_STATUS_WIDTH: usize = 0x2;
pub const FABRIC_REGS_SORT_STATUS_BUSY_LSB: usize = 0x2;
pub const FABRIC_REGS_SORT_STATUS_BUSY_WIDTH: usize = 0x1;
pub const FABRIC_REGS_SORT_STATUS_COUNT_LSB: usize = 0x10;
pub const FABRIC_REGS_SORT_STATUS_COUNT_WIDTH: usize = 0x9;
/// Sorter: least key, all ones when empty
pub const FABRIC_REGS_SORT_HEAD_KEY: usize = 0xb8;
pub const FABRIC_REGS_SORT_HEAD_KEY_KEY_LSB: usize = 0x0;
pub const FABRIC_REGS_SORT_HEAD_KEY_KEY_WIDTH: usize = 0x40;
/// Sorter: value of the least key
pub const FABRIC_REGS_SORT_HEAD: usize = 0xc0;
pub const FABRIC_REGS_SORT_HEAD_VALUE_LSB: usize = 0x0;
pub const FABRIC_REGS_SORT_HEAD_VALUE_WIDTH: usize = 0x10;
pub const FABRIC_REGS_SORT_HEAD_VALID_LSB: usize = 0x10;
pub const FABRIC_REGS_SORT_HEAD_VALID_WIDTH: usize = 0x1;
/// Region
pub const FABRIC_REGS_PRR_STATUS: usize = 0x100;
/// from one to the next
pub const FABRIC_REGS_PRR_STATUS_STRIDE: usize = 0x8;
pub const FABRIC_REGS_PRR_STATUS_STATE_LSB: usize = 0x0;
pub const FABRIC_REGS_PRR_STATUS_STATE_WIDTH: usize = 0x3;
pub const FABRIC_REGS_PRR_STATUS_COUPLED_LSB: usize = 0x3;
pub const FABRIC_REGS_PRR_STATUS_COUPLED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_PRR_STATUS_SIZE_LSB: usize = 0x4;
pub const FABRIC_REGS_PRR_STATUS_SIZE_WIDTH: usize = 0x2;
pub const FABRIC_REGS_PRR_STATUS_CONNECTED_LSB: usize = 0x6;
pub const FABRIC_REGS_PRR_STATUS_CONNECTED_WIDTH: usize = 0x1;
pub const FABRIC_REGS_PRR_STATUS_CLIENT_LSB: usize = 0x7;
pub const FABRIC_REGS_PRR_STATUS_CLIENT_WIDTH: usize = 0x1;
pub const FABRIC_REGS_PRR_STATUS_VM_LSB: usize = 0x8;
pub const FABRIC_REGS_PRR_STATUS_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_PRR_STATUS_DEV_LSB: usize = 0xc;
pub const FABRIC_REGS_PRR_STATUS_DEV_WIDTH: usize = 0x4;
pub const FABRIC_REGS_PRR_STATUS_PRIO_LSB: usize = 0x10;
pub const FABRIC_REGS_PRR_STATUS_PRIO_WIDTH: usize = 0x4;
pub const FABRIC_REGS_PRR_STATUS_TASK_ID_LSB: usize = 0x18;
pub const FABRIC_REGS_PRR_STATUS_TASK_ID_WIDTH: usize = 0x8;
pub const FABRIC_REGS_PRR_STATUS_TARGET_LSB: usize = 0x20;
pub const FABRIC_REGS_PRR_STATUS_TARGET_WIDTH: usize = 0x8;
pub const FABRIC_REGS_PRR_STATUS_RECONFIG_TIME_LSB: usize = 0x28;
pub const FABRIC_REGS_PRR_STATUS_RECONFIG_TIME_WIDTH: usize = 0x18;
/// Connect an IF
pub const FABRIC_REGS_PRR_CONNECT: usize = 0x140;
/// from one to the next
pub const FABRIC_REGS_PRR_CONNECT_STRIDE: usize = 0x8;
pub const FABRIC_REGS_PRR_CONNECT_CONNECT_LSB: usize = 0x0;
pub const FABRIC_REGS_PRR_CONNECT_CONNECT_WIDTH: usize = 0x1;
pub const FABRIC_REGS_PRR_CONNECT_VM_LSB: usize = 0x4;
pub const FABRIC_REGS_PRR_CONNECT_VM_WIDTH: usize = 0x4;
pub const FABRIC_REGS_PRR_CONNECT_DEV_LSB: usize = 0x8;
pub const FABRIC_REGS_PRR_CONNECT_DEV_WIDTH: usize = 0x4;
/// Stop the region's job, save it, and give the region to nobody
pub const FABRIC_REGS_PRR_STOP: usize = 0x180;
/// from one to the next
pub const FABRIC_REGS_PRR_STOP_STRIDE: usize = 0x8;
pub const FABRIC_REGS_PRR_STOP_STOP_LSB: usize = 0x0;
pub const FABRIC_REGS_PRR_STOP_STOP_WIDTH: usize = 0x1;
/// Device: which task it is, and the smallest region that can hold it
pub const FABRIC_REGS_DEVICE: usize = 0x200;
/// from one to the next
pub const FABRIC_REGS_DEVICE_STRIDE: usize = 0x8;
pub const FABRIC_REGS_DEVICE_TASK_ID_LSB: usize = 0x0;
pub const FABRIC_REGS_DEVICE_TASK_ID_WIDTH: usize = 0x8;
pub const FABRIC_REGS_DEVICE_SIZE_LSB: usize = 0x8;
pub const FABRIC_REGS_DEVICE_SIZE_WIDTH: usize = 0x2;
/// Guest-physical base, whole pages; bit 0 readable, bit 1 writable
pub const FABRIC_WINDOW_GUEST: usize = 0x0;
pub const FABRIC_WINDOW_GUEST_RIGHTS_LSB: usize = 0x0;
pub const FABRIC_WINDOW_GUEST_RIGHTS_WIDTH: usize = 0x2;
pub const FABRIC_WINDOW_GUEST_BASE_LSB: usize = 0xc;
pub const FABRIC_WINDOW_GUEST_BASE_WIDTH: usize = 0x1d;
/// Size, whole pages; 0 closes the window
pub const FABRIC_WINDOW_SIZE: usize = 0x8;
pub const FABRIC_WINDOW_SIZE_SIZE_LSB: usize = 0xc;
pub const FABRIC_WINDOW_SIZE_SIZE_WIDTH: usize = 0x1d;
/// Host-physical base, whole pages
pub const FABRIC_WINDOW_HOST: usize = 0x10;
pub const FABRIC_WINDOW_HOST_BASE_LSB: usize = 0xc;
pub const FABRIC_WINDOW_HOST_BASE_WIDTH: usize = 0x1d;
/// State
pub const FABRIC_IF_STAT: usize = 0x0;
pub const FABRIC_IF_STAT_CONNECTED_LSB: usize = 0x0;
pub const FABRIC_IF_STAT_CONNECTED_WIDTH: usize = 0x1;
pub const FABRIC_IF_STAT_BUSY_LSB: usize = 0x1;
pub const FABRIC_IF_STAT_BUSY_WIDTH: usize = 0x1;
pub const FABRIC_IF_STAT_OVER_LSB: usize = 0x2;
pub const FABRIC_IF_STAT_OVER_WIDTH: usize = 0x1;
pub const FABRIC_IF_STAT_PENDING_LSB: usize = 0x3;
pub const FABRIC_IF_STAT_PENDING_WIDTH: usize = 0x1;
pub const FABRIC_IF_STAT_SAVED_LSB: usize = 0x4;
pub const FABRIC_IF_STAT_SAVED_WIDTH: usize = 0x1;
pub const FABRIC_IF_STAT_FAULT_LSB: usize = 0x8;
pub const FABRIC_IF_STAT_FAULT_WIDTH: usize = 0x3;
pub const FABRIC_IF_STAT_PRR_LSB: usize = 0xc;
pub const FABRIC_IF_STAT_PRR_WIDTH: usize = 0x3;
/// Begin a job: write 1
pub const FABRIC_IF_START: usize = 0x4;
pub const FABRIC_IF_START_START_LSB: usize = 0x0;
pub const FABRIC_IF_START_START_WIDTH: usize = 0x1;
/// The job is over; write 1 to clear it and the fault
pub const FABRIC_IF_OVER: usize = 0x8;
pub const FABRIC_IF_OVER_OVER_LSB: usize = 0x0;
pub const FABRIC_IF_OVER_OVER_WIDTH: usize = 0x1;
/// Command for the task
pub const FABRIC_IF_CMD: usize = 0xc;
pub const FABRIC_IF_CMD_CMD_LSB: usize = 0x0;
pub const FABRIC_IF_CMD_CMD_WIDTH: usize = 0x20;
/// Input: guest-physical address, 8-byte aligned
pub const FABRIC_IF_DATA_ADDR: usize = 0x10;
pub const FABRIC_IF_DATA_ADDR_ADDR_LSB: usize = 0x0;
pub const FABRIC_IF_DATA_ADDR_ADDR_WIDTH: usize = 0x40;
/// Input: bytes
pub const FABRIC_IF_DATA_SIZE: usize = 0x18;
pub const FABRIC_IF_DATA_SIZE_SIZE_LSB: usize = 0x0;
pub const FABRIC_IF_DATA_SIZE_SIZE_WIDTH: usize = 0x20;
/// Interrupt: bit 0 when a job is over, bit 1 when it failed
pub const FABRIC_IF_INT_CTRL: usize = 0x1c;
pub const FABRIC_IF_INT_CTRL_OVER_LSB: usize = 0x0;
pub const FABRIC_IF_INT_CTRL_OVER_WIDTH: usize = 0x1;
pub const FABRIC_IF_INT_CTRL_FAULT_LSB: usize = 0x1;
pub const FABRIC_IF_INT_CTRL_FAULT_WIDTH: usize = 0x1;
/// Output: guest-physical address, 8-byte aligned
pub const FABRIC_IF_RESULT: usize = 0x20;
pub const FABRIC_IF_RESULT_ADDR_LSB: usize = 0x0;
pub const FABRIC_IF_RESULT_ADDR_WIDTH: usize = 0x40;
/// Bytes of output of the last job
pub const FABRIC_IF_DONE_SIZE: usize = 0x28;
pub const FABRIC_IF_DONE_SIZE_SIZE_LSB: usize = 0x0;
pub const FABRIC_IF_DONE_SIZE_SIZE_WIDTH: usize = 0x20;
/// The task's own result of the last job
pub const FABRIC_IF_DONE_CODE: usize = 0x2c;
pub const FABRIC_IF_DONE_CODE_CODE_LSB: usize = 0x0;
pub const FABRIC_IF_DONE_CODE_CODE_WIDTH: usize = 0x20;
/// Custom port
pub const FABRIC_IF_CUSTOM: usize = 0x40;
/// from one to the next
pub const FABRIC_IF_CUSTOM_STRIDE: usize = 0x4;
pub const FABRIC_IF_CUSTOM_VALUE_LSB: usize = 0x0;
pub const FABRIC_IF_CUSTOM_VALUE_WIDTH: usize = 0x20;
