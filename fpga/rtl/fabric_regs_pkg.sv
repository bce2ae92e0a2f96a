// SPDX-License-Identifier: Apache-2.0
// Made by `make fpga-regs` from fpga/rdl/fabric.rdl; do not edit.
//  https://github.com/SystemRDL/PeakRDL-regblock

package fabric_regs_pkg;

    localparam FABRIC_REGS_DATA_WIDTH = 64;
    localparam FABRIC_REGS_MIN_ADDR_WIDTH = 10;
    localparam FABRIC_REGS_SIZE = 'h280;

    typedef struct {
        logic [31:0] next;
    } ro_f_desc_7ad0ecff_w32__in_t;

    typedef struct {
        logic [7:0] next;
    } ro_f_w8__in_t;

    typedef struct {
        ro_f_desc_7ad0ecff_w32__in_t magic;
        ro_f_w8__in_t version;
    } fabric_regs__ID__in_t;

    typedef struct {
        logic [15:0] next;
    } ro_f_w16__in_t;

    typedef struct {
        ro_f_w8__in_t vms;
        ro_f_w8__in_t devs;
        ro_f_w8__in_t prrs;
        ro_f_w16__in_t sorter_depth;
        ro_f_w16__in_t list_depth;
        ro_f_w8__in_t windows;
    } fabric_regs__PARAMS__in_t;

    typedef struct {
        logic next;
    } fabric_regs__IRQ_STATUS__new_solution__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__reconfig_over__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__prr_stopped__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__dma_violation__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__task_fault__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__hold_expired__in_t;

    typedef struct {
        logic hwset;
    } fabric_regs__IRQ_STATUS__list_overflow__in_t;

    typedef struct {
        fabric_regs__IRQ_STATUS__new_solution__in_t new_solution;
        fabric_regs__IRQ_STATUS__reconfig_over__in_t reconfig_over;
        fabric_regs__IRQ_STATUS__prr_stopped__in_t prr_stopped;
        fabric_regs__IRQ_STATUS__dma_violation__in_t dma_violation;
        fabric_regs__IRQ_STATUS__task_fault__in_t task_fault;
        fabric_regs__IRQ_STATUS__hold_expired__in_t hold_expired;
        fabric_regs__IRQ_STATUS__list_overflow__in_t list_overflow;
    } fabric_regs__IRQ_STATUS__in_t;

    typedef struct {
        logic [1:0] next;
    } ro_f_desc_324e0dad_w2__in_t;

    typedef struct {
        logic next;
    } ro_f_desc_5c27198a__in_t;

    typedef struct {
        logic next;
    } ro_f_desc_3e7e1ea4__in_t;

    typedef struct {
        logic [2:0] next;
    } ro_f_w3__in_t;

    typedef struct {
        logic next;
    } ro_f__in_t;

    typedef struct {
        logic [3:0] next;
    } ro_f_w4__in_t;

    typedef struct {
        ro_f_desc_324e0dad_w2__in_t method;
        ro_f_desc_5c27198a__in_t reconfig;
        ro_f_desc_3e7e1ea4__in_t listed;
        ro_f_w3__in_t prr;
        ro_f__in_t evicted;
        ro_f_w4__in_t vm;
        ro_f_w4__in_t dev;
        ro_f_w4__in_t prio;
        ro_f_w4__in_t evicted_vm;
        ro_f_w4__in_t evicted_dev;
        ro_f__in_t valid;
    } fabric_regs__SOLUTION__in_t;

    typedef struct {
        logic [1:0] next;
    } ro_f_w2__in_t;

    typedef struct {
        ro_f_w2__in_t method;
        ro_f__in_t reconfig;
        ro_f__in_t listed;
        ro_f_w3__in_t prr;
        ro_f__in_t evicted;
        ro_f_w4__in_t vm;
        ro_f_w4__in_t dev;
        ro_f_w4__in_t prio;
        ro_f_w4__in_t evicted_vm;
        ro_f_w4__in_t evicted_dev;
        ro_f__in_t valid;
    } fabric_regs__NEW_SOLUTION__in_t;

    typedef struct {
        logic [3:0] next;
    } ro_f_desc_d23be7f3_w4__in_t;

    typedef struct {
        ro_f__in_t busy;
        ro_f_w3__in_t prr;
        ro_f_desc_d23be7f3_w4__in_t error;
        ro_f_w8__in_t task_id;
    } fabric_regs__ICAP_STATUS__in_t;

    typedef struct {
        logic [31:0] next;
    } ro_f_w32__in_t;

    typedef struct {
        ro_f_w32__in_t cycles;
        ro_f_w32__in_t words;
    } fabric_regs__ICAP_COUNTS__in_t;

    typedef struct {
        logic [63:0] next;
    } ro_f_w64__in_t;

    typedef struct {
        ro_f_w64__in_t addr;
    } fabric_regs__FAULT_ADDR__in_t;

    typedef struct {
        ro_f_w4__in_t vm;
        ro_f_w4__in_t dev;
        ro_f_w3__in_t prr;
        ro_f__in_t write;
        ro_f_w3__in_t why;
    } fabric_regs__FAULT_INFO__in_t;

    typedef struct {
        logic [8:0] next;
    } ro_f_w9__in_t;

    typedef struct {
        ro_f_w9__in_t waiting;
    } fabric_regs__LIST__in_t;

    typedef struct {
        logic [1:0] next;
    } ro_f_desc_e9df76f5_w2__in_t;

    typedef struct {
        ro_f_desc_e9df76f5_w2__in_t status;
        ro_f__in_t busy;
        ro_f_w9__in_t count;
    } fabric_regs__SORT_STATUS__in_t;

    typedef struct {
        ro_f_w64__in_t key;
    } fabric_regs__SORT_HEAD_KEY__in_t;

    typedef struct {
        ro_f_w16__in_t value;
        ro_f__in_t valid;
    } fabric_regs__SORT_HEAD__in_t;

    typedef struct {
        logic [2:0] next;
    } ro_f_desc_1bd8d1cb_w3__in_t;

    typedef struct {
        logic [23:0] next;
    } ro_f_desc_34c7f516_w24__in_t;

    typedef struct {
        ro_f_desc_1bd8d1cb_w3__in_t state;
        ro_f__in_t coupled;
        ro_f_w2__in_t size;
        ro_f__in_t connected;
        ro_f__in_t client;
        ro_f_w4__in_t vm;
        ro_f_w4__in_t dev;
        ro_f_w4__in_t prio;
        ro_f_w8__in_t task_id;
        ro_f_w8__in_t target;
        ro_f_desc_34c7f516_w24__in_t reconfig_time;
    } fabric_regs__PRR_STATUS__in_t;

    typedef struct {
        fabric_regs__ID__in_t ID;
        fabric_regs__PARAMS__in_t PARAMS;
        fabric_regs__IRQ_STATUS__in_t IRQ_STATUS;
        fabric_regs__SOLUTION__in_t SOLUTION;
        fabric_regs__NEW_SOLUTION__in_t NEW_SOLUTION;
        fabric_regs__ICAP_STATUS__in_t ICAP_STATUS;
        fabric_regs__ICAP_COUNTS__in_t ICAP_COUNTS;
        fabric_regs__FAULT_ADDR__in_t FAULT_ADDR;
        fabric_regs__FAULT_INFO__in_t FAULT_INFO;
        fabric_regs__LIST__in_t LIST;
        fabric_regs__SORT_STATUS__in_t SORT_STATUS;
        fabric_regs__SORT_HEAD_KEY__in_t SORT_HEAD_KEY;
        fabric_regs__SORT_HEAD__in_t SORT_HEAD;
        fabric_regs__PRR_STATUS__in_t PRR_STATUS[8];
    } fabric_regs__in_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__reconfig_over__out_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__prr_stopped__out_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__dma_violation__out_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__task_fault__out_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__hold_expired__out_t;

    typedef struct {
        logic value;
    } fabric_regs__IRQ_STATUS__list_overflow__out_t;

    typedef struct {
        fabric_regs__IRQ_STATUS__reconfig_over__out_t reconfig_over;
        fabric_regs__IRQ_STATUS__prr_stopped__out_t prr_stopped;
        fabric_regs__IRQ_STATUS__dma_violation__out_t dma_violation;
        fabric_regs__IRQ_STATUS__task_fault__out_t task_fault;
        fabric_regs__IRQ_STATUS__hold_expired__out_t hold_expired;
        fabric_regs__IRQ_STATUS__list_overflow__out_t list_overflow;
    } fabric_regs__IRQ_STATUS__out_t;

    typedef struct {
        logic [6:0] value;
    } rw_f_w7__out_t;

    typedef struct {
        rw_f_w7__out_t enable;
    } fabric_regs__IRQ_ENABLE__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__REQUEST__vm__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__REQUEST__dev__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__REQUEST__prio__out_t;

    typedef struct {
        fabric_regs__REQUEST__vm__out_t vm;
        fabric_regs__REQUEST__dev__out_t dev;
        fabric_regs__REQUEST__prio__out_t prio;
    } fabric_regs__REQUEST__out_t;

    typedef struct {
        logic value;
        logic swmod;
    } fabric_regs__NEW_SOLUTION_POP__pop__out_t;

    typedef struct {
        fabric_regs__NEW_SOLUTION_POP__pop__out_t pop;
    } fabric_regs__NEW_SOLUTION_POP__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__CANCEL__vm__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__CANCEL__dev__out_t;

    typedef struct {
        fabric_regs__CANCEL__vm__out_t vm;
        fabric_regs__CANCEL__dev__out_t dev;
    } fabric_regs__CANCEL__out_t;

    typedef struct {
        logic [31:0] value;
    } fabric_regs__HOLD_TIME__cycles__out_t;

    typedef struct {
        fabric_regs__HOLD_TIME__cycles__out_t cycles;
    } fabric_regs__HOLD_TIME__out_t;

    typedef struct {
        logic [31:0] value;
    } fabric_regs__STOP_TIME__cycles__out_t;

    typedef struct {
        fabric_regs__STOP_TIME__cycles__out_t cycles;
    } fabric_regs__STOP_TIME__out_t;

    typedef struct {
        logic [63:0] value;
    } rw_f_w64__out_t;

    typedef struct {
        rw_f_w64__out_t addr;
    } fabric_regs__ICAP_ADDR__out_t;

    typedef struct {
        logic [31:0] value;
    } rw_f_w32__out_t;

    typedef struct {
        rw_f_w32__out_t length;
    } fabric_regs__ICAP_LENGTH__out_t;

    typedef struct {
        logic [2:0] value;
        logic swmod;
    } fabric_regs__ICAP_START__prr__out_t;

    typedef struct {
        logic value;
        logic swmod;
    } fabric_regs__ICAP_START__verify__out_t;

    typedef struct {
        fabric_regs__ICAP_START__prr__out_t prr;
        fabric_regs__ICAP_START__verify__out_t verify;
    } fabric_regs__ICAP_START__out_t;

    typedef struct {
        rw_f_w64__out_t key;
    } fabric_regs__SORT_KEY__out_t;

    typedef struct {
        logic [1:0] value;
        logic swmod;
    } fabric_regs__SORT_COMMAND__op__out_t;

    typedef struct {
        logic [15:0] value;
        logic swmod;
    } fabric_regs__SORT_COMMAND__value__out_t;

    typedef struct {
        fabric_regs__SORT_COMMAND__op__out_t op;
        fabric_regs__SORT_COMMAND__value__out_t value;
    } fabric_regs__SORT_COMMAND__out_t;

    typedef struct {
        logic value;
        logic swmod;
    } fabric_regs__PRR_CONNECT__connect__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__PRR_CONNECT__vm__out_t;

    typedef struct {
        logic [3:0] value;
        logic swmod;
    } fabric_regs__PRR_CONNECT__dev__out_t;

    typedef struct {
        fabric_regs__PRR_CONNECT__connect__out_t connect;
        fabric_regs__PRR_CONNECT__vm__out_t vm;
        fabric_regs__PRR_CONNECT__dev__out_t dev;
    } fabric_regs__PRR_CONNECT__out_t;

    typedef struct {
        logic value;
        logic swmod;
    } fabric_regs__PRR_STOP__stop__out_t;

    typedef struct {
        fabric_regs__PRR_STOP__stop__out_t stop;
    } fabric_regs__PRR_STOP__out_t;

    typedef struct {
        logic [7:0] value;
    } rw_f_w8__out_t;

    typedef struct {
        logic [1:0] value;
    } rw_f_w2__out_t;

    typedef struct {
        rw_f_w8__out_t task_id;
        rw_f_w2__out_t size;
    } fabric_regs__DEVICE__out_t;

    typedef struct {
        fabric_regs__IRQ_STATUS__out_t IRQ_STATUS;
        fabric_regs__IRQ_ENABLE__out_t IRQ_ENABLE;
        fabric_regs__REQUEST__out_t REQUEST;
        fabric_regs__NEW_SOLUTION_POP__out_t NEW_SOLUTION_POP;
        fabric_regs__CANCEL__out_t CANCEL;
        fabric_regs__HOLD_TIME__out_t HOLD_TIME;
        fabric_regs__STOP_TIME__out_t STOP_TIME;
        fabric_regs__ICAP_ADDR__out_t ICAP_ADDR;
        fabric_regs__ICAP_LENGTH__out_t ICAP_LENGTH;
        fabric_regs__ICAP_START__out_t ICAP_START;
        fabric_regs__SORT_KEY__out_t SORT_KEY;
        fabric_regs__SORT_COMMAND__out_t SORT_COMMAND;
        fabric_regs__PRR_CONNECT__out_t PRR_CONNECT[8];
        fabric_regs__PRR_STOP__out_t PRR_STOP[8];
        fabric_regs__DEVICE__out_t DEVICE[16];
    } fabric_regs__out_t;
endpackage
