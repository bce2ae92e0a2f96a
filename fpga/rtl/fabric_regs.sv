// SPDX-License-Identifier: Apache-2.0
// Made by `make fpga-regs` from fpga/rdl/fabric.rdl; do not edit.
//  https://github.com/SystemRDL/PeakRDL-regblock

module fabric_regs (
        input wire clk,
        input wire arst_n,

        input wire s_cpuif_req,
        input wire s_cpuif_req_is_wr,
        input wire [9:0] s_cpuif_addr,
        input wire [63:0] s_cpuif_wr_data,
        input wire [63:0] s_cpuif_wr_biten,
        output wire s_cpuif_req_stall_wr,
        output wire s_cpuif_req_stall_rd,
        output wire s_cpuif_rd_ack,
        output wire s_cpuif_rd_err,
        output wire [63:0] s_cpuif_rd_data,
        output wire s_cpuif_wr_ack,
        output wire s_cpuif_wr_err,

        input fabric_regs_pkg::fabric_regs__in_t hwif_in,
        output fabric_regs_pkg::fabric_regs__out_t hwif_out
    );

    //--------------------------------------------------------------------------
    // CPU Bus interface logic
    //--------------------------------------------------------------------------
    logic cpuif_req;
    logic cpuif_req_is_wr;
    logic [9:0] cpuif_addr;
    logic [63:0] cpuif_wr_data;
    logic [63:0] cpuif_wr_biten;
    logic cpuif_req_stall_wr;
    logic cpuif_req_stall_rd;

    logic cpuif_rd_ack;
    logic cpuif_rd_err;
    logic [63:0] cpuif_rd_data;

    logic cpuif_wr_ack;
    logic cpuif_wr_err;

    assign cpuif_req = s_cpuif_req;
    assign cpuif_req_is_wr = s_cpuif_req_is_wr;
    assign cpuif_addr = s_cpuif_addr;
    assign cpuif_wr_data = s_cpuif_wr_data;
    assign cpuif_wr_biten = s_cpuif_wr_biten;
    assign s_cpuif_req_stall_wr = cpuif_req_stall_wr;
    assign s_cpuif_req_stall_rd = cpuif_req_stall_rd;
    assign s_cpuif_rd_ack = cpuif_rd_ack;
    assign s_cpuif_rd_err = cpuif_rd_err;
    assign s_cpuif_rd_data = cpuif_rd_data;
    assign s_cpuif_wr_ack = cpuif_wr_ack;
    assign s_cpuif_wr_err = cpuif_wr_err;

    logic cpuif_req_masked;

    // Read & write latencies are balanced. Stalls not required
    assign cpuif_req_stall_rd = '0;
    assign cpuif_req_stall_wr = '0;
    assign cpuif_req_masked = cpuif_req
                            & !(!cpuif_req_is_wr & cpuif_req_stall_rd)
                            & !(cpuif_req_is_wr & cpuif_req_stall_wr);

    //--------------------------------------------------------------------------
    // Address Decode
    //--------------------------------------------------------------------------
    typedef struct {
        logic ID;
        logic PARAMS;
        logic IRQ_STATUS;
        logic IRQ_ENABLE;
        logic REQUEST;
        logic SOLUTION;
        logic NEW_SOLUTION;
        logic NEW_SOLUTION_POP;
        logic CANCEL;
        logic HOLD_TIME;
        logic STOP_TIME;
        logic ICAP_ADDR;
        logic ICAP_LENGTH;
        logic ICAP_START;
        logic ICAP_STATUS;
        logic ICAP_COUNTS;
        logic FAULT_ADDR;
        logic FAULT_INFO;
        logic LIST;
        logic SORT_KEY;
        logic SORT_COMMAND;
        logic SORT_STATUS;
        logic SORT_HEAD_KEY;
        logic SORT_HEAD;
        logic PRR_STATUS[8];
        logic PRR_CONNECT[8];
        logic PRR_STOP[8];
        logic DEVICE[16];
    } decoded_reg_strb_t;
    decoded_reg_strb_t decoded_reg_strb;
    logic decoded_err;
    logic [9:0] decoded_addr;
    logic decoded_req;
    logic decoded_req_is_wr;
    logic [63:0] decoded_wr_data;
    logic [63:0] decoded_wr_biten;

    always_comb begin
        automatic logic is_valid_addr;
        automatic logic is_valid_rw;
        is_valid_addr = '0;
        is_valid_rw = '1; // No valid RW check
        decoded_reg_strb.ID = cpuif_req_masked & (cpuif_addr == 10'h0) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h0);
        decoded_reg_strb.PARAMS = cpuif_req_masked & (cpuif_addr == 10'h8) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h8);
        decoded_reg_strb.IRQ_STATUS = cpuif_req_masked & (cpuif_addr == 10'h10);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h10);
        decoded_reg_strb.IRQ_ENABLE = cpuif_req_masked & (cpuif_addr == 10'h18);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h18);
        decoded_reg_strb.REQUEST = cpuif_req_masked & (cpuif_addr == 10'h20) & cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h20);
        decoded_reg_strb.SOLUTION = cpuif_req_masked & (cpuif_addr == 10'h28) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h28);
        decoded_reg_strb.NEW_SOLUTION = cpuif_req_masked & (cpuif_addr == 10'h30) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h30);
        decoded_reg_strb.NEW_SOLUTION_POP = cpuif_req_masked & (cpuif_addr == 10'h38) & cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h38);
        decoded_reg_strb.CANCEL = cpuif_req_masked & (cpuif_addr == 10'h40) & cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h40);
        decoded_reg_strb.HOLD_TIME = cpuif_req_masked & (cpuif_addr == 10'h48);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h48);
        decoded_reg_strb.STOP_TIME = cpuif_req_masked & (cpuif_addr == 10'h50);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h50);
        decoded_reg_strb.ICAP_ADDR = cpuif_req_masked & (cpuif_addr == 10'h58);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h58);
        decoded_reg_strb.ICAP_LENGTH = cpuif_req_masked & (cpuif_addr == 10'h60);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h60);
        decoded_reg_strb.ICAP_START = cpuif_req_masked & (cpuif_addr == 10'h68) & cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h68);
        decoded_reg_strb.ICAP_STATUS = cpuif_req_masked & (cpuif_addr == 10'h70) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h70);
        decoded_reg_strb.ICAP_COUNTS = cpuif_req_masked & (cpuif_addr == 10'h78) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h78);
        decoded_reg_strb.FAULT_ADDR = cpuif_req_masked & (cpuif_addr == 10'h80) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h80);
        decoded_reg_strb.FAULT_INFO = cpuif_req_masked & (cpuif_addr == 10'h88) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h88);
        decoded_reg_strb.LIST = cpuif_req_masked & (cpuif_addr == 10'h90) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h90);
        decoded_reg_strb.SORT_KEY = cpuif_req_masked & (cpuif_addr == 10'ha0);
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'ha0);
        decoded_reg_strb.SORT_COMMAND = cpuif_req_masked & (cpuif_addr == 10'ha8) & cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'ha8);
        decoded_reg_strb.SORT_STATUS = cpuif_req_masked & (cpuif_addr == 10'hb0) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'hb0);
        decoded_reg_strb.SORT_HEAD_KEY = cpuif_req_masked & (cpuif_addr == 10'hb8) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'hb8);
        decoded_reg_strb.SORT_HEAD = cpuif_req_masked & (cpuif_addr == 10'hc0) & !cpuif_req_is_wr;
        is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'hc0);
        for(int i0=0; i0<8; i0++) begin
            decoded_reg_strb.PRR_STATUS[i0] = cpuif_req_masked & (cpuif_addr == 10'h100 + (10)'(i0) * 10'h8) & !cpuif_req_is_wr;
            is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h100 + (10)'(i0) * 10'h8);
        end
        for(int i0=0; i0<8; i0++) begin
            decoded_reg_strb.PRR_CONNECT[i0] = cpuif_req_masked & (cpuif_addr == 10'h140 + (10)'(i0) * 10'h8) & cpuif_req_is_wr;
            is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h140 + (10)'(i0) * 10'h8);
        end
        for(int i0=0; i0<8; i0++) begin
            decoded_reg_strb.PRR_STOP[i0] = cpuif_req_masked & (cpuif_addr == 10'h180 + (10)'(i0) * 10'h8) & cpuif_req_is_wr;
            is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h180 + (10)'(i0) * 10'h8);
        end
        for(int i0=0; i0<16; i0++) begin
            decoded_reg_strb.DEVICE[i0] = cpuif_req_masked & (cpuif_addr == 10'h200 + (10)'(i0) * 10'h8);
            is_valid_addr |= cpuif_req_masked & (cpuif_addr == 10'h200 + (10)'(i0) * 10'h8);
        end
        decoded_err = ~is_valid_addr & decoded_req;
    end

    // Pass down signals to next stage
    assign decoded_addr = cpuif_addr;
    assign decoded_req = cpuif_req_masked;
    assign decoded_req_is_wr = cpuif_req_is_wr;
    assign decoded_wr_data = cpuif_wr_data;
    assign decoded_wr_biten = cpuif_wr_biten;

    //--------------------------------------------------------------------------
    // Field logic
    //--------------------------------------------------------------------------
    typedef struct {
        struct {
            struct {
                logic next;
                logic load_next;
            } reconfig_over;
            struct {
                logic next;
                logic load_next;
            } prr_stopped;
            struct {
                logic next;
                logic load_next;
            } dma_violation;
            struct {
                logic next;
                logic load_next;
            } task_fault;
            struct {
                logic next;
                logic load_next;
            } hold_expired;
            struct {
                logic next;
                logic load_next;
            } list_overflow;
        } IRQ_STATUS;
        struct {
            struct {
                logic [6:0] next;
                logic load_next;
            } enable;
        } IRQ_ENABLE;
        struct {
            struct {
                logic [3:0] next;
                logic load_next;
            } vm;
            struct {
                logic [3:0] next;
                logic load_next;
            } dev;
            struct {
                logic [3:0] next;
                logic load_next;
            } prio;
        } REQUEST;
        struct {
            struct {
                logic next;
                logic load_next;
            } pop;
        } NEW_SOLUTION_POP;
        struct {
            struct {
                logic [3:0] next;
                logic load_next;
            } vm;
            struct {
                logic [3:0] next;
                logic load_next;
            } dev;
        } CANCEL;
        struct {
            struct {
                logic [31:0] next;
                logic load_next;
            } cycles;
        } HOLD_TIME;
        struct {
            struct {
                logic [31:0] next;
                logic load_next;
            } cycles;
        } STOP_TIME;
        struct {
            struct {
                logic [63:0] next;
                logic load_next;
            } addr;
        } ICAP_ADDR;
        struct {
            struct {
                logic [31:0] next;
                logic load_next;
            } length;
        } ICAP_LENGTH;
        struct {
            struct {
                logic [2:0] next;
                logic load_next;
            } prr;
            struct {
                logic next;
                logic load_next;
            } verify;
        } ICAP_START;
        struct {
            struct {
                logic [63:0] next;
                logic load_next;
            } key;
        } SORT_KEY;
        struct {
            struct {
                logic [1:0] next;
                logic load_next;
            } op;
            struct {
                logic [15:0] next;
                logic load_next;
            } value;
        } SORT_COMMAND;
        struct {
            struct {
                logic next;
                logic load_next;
            } connect;
            struct {
                logic [3:0] next;
                logic load_next;
            } vm;
            struct {
                logic [3:0] next;
                logic load_next;
            } dev;
        } PRR_CONNECT[8];
        struct {
            struct {
                logic next;
                logic load_next;
            } stop;
        } PRR_STOP[8];
        struct {
            struct {
                logic [7:0] next;
                logic load_next;
            } task_id;
            struct {
                logic [1:0] next;
                logic load_next;
            } size;
        } DEVICE[16];
    } field_combo_t;
    field_combo_t field_combo;

    typedef struct {
        struct {
            struct {
                logic value;
            } reconfig_over;
            struct {
                logic value;
            } prr_stopped;
            struct {
                logic value;
            } dma_violation;
            struct {
                logic value;
            } task_fault;
            struct {
                logic value;
            } hold_expired;
            struct {
                logic value;
            } list_overflow;
        } IRQ_STATUS;
        struct {
            struct {
                logic [6:0] value;
            } enable;
        } IRQ_ENABLE;
        struct {
            struct {
                logic [3:0] value;
            } vm;
            struct {
                logic [3:0] value;
            } dev;
            struct {
                logic [3:0] value;
            } prio;
        } REQUEST;
        struct {
            struct {
                logic value;
            } pop;
        } NEW_SOLUTION_POP;
        struct {
            struct {
                logic [3:0] value;
            } vm;
            struct {
                logic [3:0] value;
            } dev;
        } CANCEL;
        struct {
            struct {
                logic [31:0] value;
            } cycles;
        } HOLD_TIME;
        struct {
            struct {
                logic [31:0] value;
            } cycles;
        } STOP_TIME;
        struct {
            struct {
                logic [63:0] value;
            } addr;
        } ICAP_ADDR;
        struct {
            struct {
                logic [31:0] value;
            } length;
        } ICAP_LENGTH;
        struct {
            struct {
                logic [2:0] value;
            } prr;
            struct {
                logic value;
            } verify;
        } ICAP_START;
        struct {
            struct {
                logic [63:0] value;
            } key;
        } SORT_KEY;
        struct {
            struct {
                logic [1:0] value;
            } op;
            struct {
                logic [15:0] value;
            } value;
        } SORT_COMMAND;
        struct {
            struct {
                logic value;
            } connect;
            struct {
                logic [3:0] value;
            } vm;
            struct {
                logic [3:0] value;
            } dev;
        } PRR_CONNECT[8];
        struct {
            struct {
                logic value;
            } stop;
        } PRR_STOP[8];
        struct {
            struct {
                logic [7:0] value;
            } task_id;
            struct {
                logic [1:0] value;
            } size;
        } DEVICE[16];
    } field_storage_t;
    field_storage_t field_storage;

    // Field: fabric_regs.IRQ_STATUS.reconfig_over
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.reconfig_over.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.reconfig_over.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.reconfig_over.value & ~(decoded_wr_data[1:1] & decoded_wr_biten[1:1]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.reconfig_over.next = next_c;
        field_combo.IRQ_STATUS.reconfig_over.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.reconfig_over.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.reconfig_over.load_next) begin
                field_storage.IRQ_STATUS.reconfig_over.value <= field_combo.IRQ_STATUS.reconfig_over.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.reconfig_over.value = field_storage.IRQ_STATUS.reconfig_over.value;
    // Field: fabric_regs.IRQ_STATUS.prr_stopped
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.prr_stopped.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.prr_stopped.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.prr_stopped.value & ~(decoded_wr_data[2:2] & decoded_wr_biten[2:2]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.prr_stopped.next = next_c;
        field_combo.IRQ_STATUS.prr_stopped.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.prr_stopped.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.prr_stopped.load_next) begin
                field_storage.IRQ_STATUS.prr_stopped.value <= field_combo.IRQ_STATUS.prr_stopped.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.prr_stopped.value = field_storage.IRQ_STATUS.prr_stopped.value;
    // Field: fabric_regs.IRQ_STATUS.dma_violation
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.dma_violation.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.dma_violation.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.dma_violation.value & ~(decoded_wr_data[3:3] & decoded_wr_biten[3:3]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.dma_violation.next = next_c;
        field_combo.IRQ_STATUS.dma_violation.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.dma_violation.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.dma_violation.load_next) begin
                field_storage.IRQ_STATUS.dma_violation.value <= field_combo.IRQ_STATUS.dma_violation.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.dma_violation.value = field_storage.IRQ_STATUS.dma_violation.value;
    // Field: fabric_regs.IRQ_STATUS.task_fault
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.task_fault.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.task_fault.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.task_fault.value & ~(decoded_wr_data[4:4] & decoded_wr_biten[4:4]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.task_fault.next = next_c;
        field_combo.IRQ_STATUS.task_fault.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.task_fault.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.task_fault.load_next) begin
                field_storage.IRQ_STATUS.task_fault.value <= field_combo.IRQ_STATUS.task_fault.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.task_fault.value = field_storage.IRQ_STATUS.task_fault.value;
    // Field: fabric_regs.IRQ_STATUS.hold_expired
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.hold_expired.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.hold_expired.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.hold_expired.value & ~(decoded_wr_data[5:5] & decoded_wr_biten[5:5]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.hold_expired.next = next_c;
        field_combo.IRQ_STATUS.hold_expired.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.hold_expired.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.hold_expired.load_next) begin
                field_storage.IRQ_STATUS.hold_expired.value <= field_combo.IRQ_STATUS.hold_expired.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.hold_expired.value = field_storage.IRQ_STATUS.hold_expired.value;
    // Field: fabric_regs.IRQ_STATUS.list_overflow
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_STATUS.list_overflow.value;
        load_next_c = '0;
        if(hwif_in.IRQ_STATUS.list_overflow.hwset) begin // HW Set
            next_c = '1;
            load_next_c = '1;
        end else if(decoded_reg_strb.IRQ_STATUS && decoded_req_is_wr) begin // SW write 1 clear
            next_c = field_storage.IRQ_STATUS.list_overflow.value & ~(decoded_wr_data[6:6] & decoded_wr_biten[6:6]);
            load_next_c = '1;
        end
        field_combo.IRQ_STATUS.list_overflow.next = next_c;
        field_combo.IRQ_STATUS.list_overflow.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_STATUS.list_overflow.value <= 1'h0;
        end else begin
            if(field_combo.IRQ_STATUS.list_overflow.load_next) begin
                field_storage.IRQ_STATUS.list_overflow.value <= field_combo.IRQ_STATUS.list_overflow.next;
            end
        end
    end
    assign hwif_out.IRQ_STATUS.list_overflow.value = field_storage.IRQ_STATUS.list_overflow.value;
    // Field: fabric_regs.IRQ_ENABLE.enable
    always_comb begin
        automatic logic [6:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.IRQ_ENABLE.enable.value;
        load_next_c = '0;
        if(decoded_reg_strb.IRQ_ENABLE && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.IRQ_ENABLE.enable.value & ~decoded_wr_biten[6:0]) | (decoded_wr_data[6:0] & decoded_wr_biten[6:0]);
            load_next_c = '1;
        end
        field_combo.IRQ_ENABLE.enable.next = next_c;
        field_combo.IRQ_ENABLE.enable.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.IRQ_ENABLE.enable.value <= 7'h0;
        end else begin
            if(field_combo.IRQ_ENABLE.enable.load_next) begin
                field_storage.IRQ_ENABLE.enable.value <= field_combo.IRQ_ENABLE.enable.next;
            end
        end
    end
    assign hwif_out.IRQ_ENABLE.enable.value = field_storage.IRQ_ENABLE.enable.value;
    // Field: fabric_regs.REQUEST.vm
    always_comb begin
        automatic logic [3:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.REQUEST.vm.value;
        load_next_c = '0;
        if(decoded_reg_strb.REQUEST && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.REQUEST.vm.value & ~decoded_wr_biten[3:0]) | (decoded_wr_data[3:0] & decoded_wr_biten[3:0]);
            load_next_c = '1;
        end
        field_combo.REQUEST.vm.next = next_c;
        field_combo.REQUEST.vm.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.REQUEST.vm.value <= 4'h0;
        end else begin
            if(field_combo.REQUEST.vm.load_next) begin
                field_storage.REQUEST.vm.value <= field_combo.REQUEST.vm.next;
            end
        end
    end
    assign hwif_out.REQUEST.vm.value = field_storage.REQUEST.vm.value;
    assign hwif_out.REQUEST.vm.swmod = decoded_reg_strb.REQUEST && decoded_req_is_wr && |(decoded_wr_biten[3:0]);
    // Field: fabric_regs.REQUEST.dev
    always_comb begin
        automatic logic [3:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.REQUEST.dev.value;
        load_next_c = '0;
        if(decoded_reg_strb.REQUEST && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.REQUEST.dev.value & ~decoded_wr_biten[7:4]) | (decoded_wr_data[7:4] & decoded_wr_biten[7:4]);
            load_next_c = '1;
        end
        field_combo.REQUEST.dev.next = next_c;
        field_combo.REQUEST.dev.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.REQUEST.dev.value <= 4'h0;
        end else begin
            if(field_combo.REQUEST.dev.load_next) begin
                field_storage.REQUEST.dev.value <= field_combo.REQUEST.dev.next;
            end
        end
    end
    assign hwif_out.REQUEST.dev.value = field_storage.REQUEST.dev.value;
    assign hwif_out.REQUEST.dev.swmod = decoded_reg_strb.REQUEST && decoded_req_is_wr && |(decoded_wr_biten[7:4]);
    // Field: fabric_regs.REQUEST.prio
    always_comb begin
        automatic logic [3:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.REQUEST.prio.value;
        load_next_c = '0;
        if(decoded_reg_strb.REQUEST && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.REQUEST.prio.value & ~decoded_wr_biten[11:8]) | (decoded_wr_data[11:8] & decoded_wr_biten[11:8]);
            load_next_c = '1;
        end
        field_combo.REQUEST.prio.next = next_c;
        field_combo.REQUEST.prio.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.REQUEST.prio.value <= 4'h0;
        end else begin
            if(field_combo.REQUEST.prio.load_next) begin
                field_storage.REQUEST.prio.value <= field_combo.REQUEST.prio.next;
            end
        end
    end
    assign hwif_out.REQUEST.prio.value = field_storage.REQUEST.prio.value;
    assign hwif_out.REQUEST.prio.swmod = decoded_reg_strb.REQUEST && decoded_req_is_wr && |(decoded_wr_biten[11:8]);
    // Field: fabric_regs.NEW_SOLUTION_POP.pop
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.NEW_SOLUTION_POP.pop.value;
        load_next_c = '0;
        if(decoded_reg_strb.NEW_SOLUTION_POP && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.NEW_SOLUTION_POP.pop.value & ~decoded_wr_biten[0:0]) | (decoded_wr_data[0:0] & decoded_wr_biten[0:0]);
            load_next_c = '1;
        end
        field_combo.NEW_SOLUTION_POP.pop.next = next_c;
        field_combo.NEW_SOLUTION_POP.pop.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.NEW_SOLUTION_POP.pop.value <= 1'h0;
        end else begin
            if(field_combo.NEW_SOLUTION_POP.pop.load_next) begin
                field_storage.NEW_SOLUTION_POP.pop.value <= field_combo.NEW_SOLUTION_POP.pop.next;
            end
        end
    end
    assign hwif_out.NEW_SOLUTION_POP.pop.value = field_storage.NEW_SOLUTION_POP.pop.value;
    assign hwif_out.NEW_SOLUTION_POP.pop.swmod = decoded_reg_strb.NEW_SOLUTION_POP && decoded_req_is_wr && |(decoded_wr_biten[0:0]);
    // Field: fabric_regs.CANCEL.vm
    always_comb begin
        automatic logic [3:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.CANCEL.vm.value;
        load_next_c = '0;
        if(decoded_reg_strb.CANCEL && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.CANCEL.vm.value & ~decoded_wr_biten[3:0]) | (decoded_wr_data[3:0] & decoded_wr_biten[3:0]);
            load_next_c = '1;
        end
        field_combo.CANCEL.vm.next = next_c;
        field_combo.CANCEL.vm.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.CANCEL.vm.value <= 4'h0;
        end else begin
            if(field_combo.CANCEL.vm.load_next) begin
                field_storage.CANCEL.vm.value <= field_combo.CANCEL.vm.next;
            end
        end
    end
    assign hwif_out.CANCEL.vm.value = field_storage.CANCEL.vm.value;
    assign hwif_out.CANCEL.vm.swmod = decoded_reg_strb.CANCEL && decoded_req_is_wr && |(decoded_wr_biten[3:0]);
    // Field: fabric_regs.CANCEL.dev
    always_comb begin
        automatic logic [3:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.CANCEL.dev.value;
        load_next_c = '0;
        if(decoded_reg_strb.CANCEL && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.CANCEL.dev.value & ~decoded_wr_biten[7:4]) | (decoded_wr_data[7:4] & decoded_wr_biten[7:4]);
            load_next_c = '1;
        end
        field_combo.CANCEL.dev.next = next_c;
        field_combo.CANCEL.dev.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.CANCEL.dev.value <= 4'h0;
        end else begin
            if(field_combo.CANCEL.dev.load_next) begin
                field_storage.CANCEL.dev.value <= field_combo.CANCEL.dev.next;
            end
        end
    end
    assign hwif_out.CANCEL.dev.value = field_storage.CANCEL.dev.value;
    assign hwif_out.CANCEL.dev.swmod = decoded_reg_strb.CANCEL && decoded_req_is_wr && |(decoded_wr_biten[7:4]);
    // Field: fabric_regs.HOLD_TIME.cycles
    always_comb begin
        automatic logic [31:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.HOLD_TIME.cycles.value;
        load_next_c = '0;
        if(decoded_reg_strb.HOLD_TIME && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.HOLD_TIME.cycles.value & ~decoded_wr_biten[31:0]) | (decoded_wr_data[31:0] & decoded_wr_biten[31:0]);
            load_next_c = '1;
        end
        field_combo.HOLD_TIME.cycles.next = next_c;
        field_combo.HOLD_TIME.cycles.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.HOLD_TIME.cycles.value <= 32'hffffffff;
        end else begin
            if(field_combo.HOLD_TIME.cycles.load_next) begin
                field_storage.HOLD_TIME.cycles.value <= field_combo.HOLD_TIME.cycles.next;
            end
        end
    end
    assign hwif_out.HOLD_TIME.cycles.value = field_storage.HOLD_TIME.cycles.value;
    // Field: fabric_regs.STOP_TIME.cycles
    always_comb begin
        automatic logic [31:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.STOP_TIME.cycles.value;
        load_next_c = '0;
        if(decoded_reg_strb.STOP_TIME && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.STOP_TIME.cycles.value & ~decoded_wr_biten[31:0]) | (decoded_wr_data[31:0] & decoded_wr_biten[31:0]);
            load_next_c = '1;
        end
        field_combo.STOP_TIME.cycles.next = next_c;
        field_combo.STOP_TIME.cycles.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.STOP_TIME.cycles.value <= 32'h10000;
        end else begin
            if(field_combo.STOP_TIME.cycles.load_next) begin
                field_storage.STOP_TIME.cycles.value <= field_combo.STOP_TIME.cycles.next;
            end
        end
    end
    assign hwif_out.STOP_TIME.cycles.value = field_storage.STOP_TIME.cycles.value;
    // Field: fabric_regs.ICAP_ADDR.addr
    always_comb begin
        automatic logic [63:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.ICAP_ADDR.addr.value;
        load_next_c = '0;
        if(decoded_reg_strb.ICAP_ADDR && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.ICAP_ADDR.addr.value & ~decoded_wr_biten[63:0]) | (decoded_wr_data[63:0] & decoded_wr_biten[63:0]);
            load_next_c = '1;
        end
        field_combo.ICAP_ADDR.addr.next = next_c;
        field_combo.ICAP_ADDR.addr.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.ICAP_ADDR.addr.value <= 64'h0;
        end else begin
            if(field_combo.ICAP_ADDR.addr.load_next) begin
                field_storage.ICAP_ADDR.addr.value <= field_combo.ICAP_ADDR.addr.next;
            end
        end
    end
    assign hwif_out.ICAP_ADDR.addr.value = field_storage.ICAP_ADDR.addr.value;
    // Field: fabric_regs.ICAP_LENGTH.length
    always_comb begin
        automatic logic [31:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.ICAP_LENGTH.length.value;
        load_next_c = '0;
        if(decoded_reg_strb.ICAP_LENGTH && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.ICAP_LENGTH.length.value & ~decoded_wr_biten[31:0]) | (decoded_wr_data[31:0] & decoded_wr_biten[31:0]);
            load_next_c = '1;
        end
        field_combo.ICAP_LENGTH.length.next = next_c;
        field_combo.ICAP_LENGTH.length.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.ICAP_LENGTH.length.value <= 32'h0;
        end else begin
            if(field_combo.ICAP_LENGTH.length.load_next) begin
                field_storage.ICAP_LENGTH.length.value <= field_combo.ICAP_LENGTH.length.next;
            end
        end
    end
    assign hwif_out.ICAP_LENGTH.length.value = field_storage.ICAP_LENGTH.length.value;
    // Field: fabric_regs.ICAP_START.prr
    always_comb begin
        automatic logic [2:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.ICAP_START.prr.value;
        load_next_c = '0;
        if(decoded_reg_strb.ICAP_START && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.ICAP_START.prr.value & ~decoded_wr_biten[2:0]) | (decoded_wr_data[2:0] & decoded_wr_biten[2:0]);
            load_next_c = '1;
        end
        field_combo.ICAP_START.prr.next = next_c;
        field_combo.ICAP_START.prr.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.ICAP_START.prr.value <= 3'h0;
        end else begin
            if(field_combo.ICAP_START.prr.load_next) begin
                field_storage.ICAP_START.prr.value <= field_combo.ICAP_START.prr.next;
            end
        end
    end
    assign hwif_out.ICAP_START.prr.value = field_storage.ICAP_START.prr.value;
    assign hwif_out.ICAP_START.prr.swmod = decoded_reg_strb.ICAP_START && decoded_req_is_wr && |(decoded_wr_biten[2:0]);
    // Field: fabric_regs.ICAP_START.verify
    always_comb begin
        automatic logic [0:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.ICAP_START.verify.value;
        load_next_c = '0;
        if(decoded_reg_strb.ICAP_START && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.ICAP_START.verify.value & ~decoded_wr_biten[8:8]) | (decoded_wr_data[8:8] & decoded_wr_biten[8:8]);
            load_next_c = '1;
        end
        field_combo.ICAP_START.verify.next = next_c;
        field_combo.ICAP_START.verify.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.ICAP_START.verify.value <= 1'h0;
        end else begin
            if(field_combo.ICAP_START.verify.load_next) begin
                field_storage.ICAP_START.verify.value <= field_combo.ICAP_START.verify.next;
            end
        end
    end
    assign hwif_out.ICAP_START.verify.value = field_storage.ICAP_START.verify.value;
    assign hwif_out.ICAP_START.verify.swmod = decoded_reg_strb.ICAP_START && decoded_req_is_wr && |(decoded_wr_biten[8:8]);
    // Field: fabric_regs.SORT_KEY.key
    always_comb begin
        automatic logic [63:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.SORT_KEY.key.value;
        load_next_c = '0;
        if(decoded_reg_strb.SORT_KEY && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.SORT_KEY.key.value & ~decoded_wr_biten[63:0]) | (decoded_wr_data[63:0] & decoded_wr_biten[63:0]);
            load_next_c = '1;
        end
        field_combo.SORT_KEY.key.next = next_c;
        field_combo.SORT_KEY.key.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.SORT_KEY.key.value <= 64'h0;
        end else begin
            if(field_combo.SORT_KEY.key.load_next) begin
                field_storage.SORT_KEY.key.value <= field_combo.SORT_KEY.key.next;
            end
        end
    end
    assign hwif_out.SORT_KEY.key.value = field_storage.SORT_KEY.key.value;
    // Field: fabric_regs.SORT_COMMAND.op
    always_comb begin
        automatic logic [1:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.SORT_COMMAND.op.value;
        load_next_c = '0;
        if(decoded_reg_strb.SORT_COMMAND && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.SORT_COMMAND.op.value & ~decoded_wr_biten[1:0]) | (decoded_wr_data[1:0] & decoded_wr_biten[1:0]);
            load_next_c = '1;
        end
        field_combo.SORT_COMMAND.op.next = next_c;
        field_combo.SORT_COMMAND.op.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.SORT_COMMAND.op.value <= 2'h0;
        end else begin
            if(field_combo.SORT_COMMAND.op.load_next) begin
                field_storage.SORT_COMMAND.op.value <= field_combo.SORT_COMMAND.op.next;
            end
        end
    end
    assign hwif_out.SORT_COMMAND.op.value = field_storage.SORT_COMMAND.op.value;
    assign hwif_out.SORT_COMMAND.op.swmod = decoded_reg_strb.SORT_COMMAND && decoded_req_is_wr && |(decoded_wr_biten[1:0]);
    // Field: fabric_regs.SORT_COMMAND.value
    always_comb begin
        automatic logic [15:0] next_c;
        automatic logic load_next_c;
        next_c = field_storage.SORT_COMMAND.value.value;
        load_next_c = '0;
        if(decoded_reg_strb.SORT_COMMAND && decoded_req_is_wr) begin // SW write
            next_c = (field_storage.SORT_COMMAND.value.value & ~decoded_wr_biten[31:16]) | (decoded_wr_data[31:16] & decoded_wr_biten[31:16]);
            load_next_c = '1;
        end
        field_combo.SORT_COMMAND.value.next = next_c;
        field_combo.SORT_COMMAND.value.load_next = load_next_c;
    end
    always_ff @(posedge clk or negedge arst_n) begin
        if(~arst_n) begin
            field_storage.SORT_COMMAND.value.value <= 16'h0;
        end else begin
            if(field_combo.SORT_COMMAND.value.load_next) begin
                field_storage.SORT_COMMAND.value.value <= field_combo.SORT_COMMAND.value.next;
            end
        end
    end
    assign hwif_out.SORT_COMMAND.value.value = field_storage.SORT_COMMAND.value.value;
    assign hwif_out.SORT_COMMAND.value.swmod = decoded_reg_strb.SORT_COMMAND && decoded_req_is_wr && |(decoded_wr_biten[31:16]);
    for(genvar i0=0; i0<8; i0++) begin
        // Field: fabric_regs.PRR_CONNECT[].connect
        always_comb begin
            automatic logic [0:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.PRR_CONNECT[i0].connect.value;
            load_next_c = '0;
            if(decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.PRR_CONNECT[i0].connect.value & ~decoded_wr_biten[0:0]) | (decoded_wr_data[0:0] & decoded_wr_biten[0:0]);
                load_next_c = '1;
            end
            field_combo.PRR_CONNECT[i0].connect.next = next_c;
            field_combo.PRR_CONNECT[i0].connect.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.PRR_CONNECT[i0].connect.value <= 1'h0;
            end else begin
                if(field_combo.PRR_CONNECT[i0].connect.load_next) begin
                    field_storage.PRR_CONNECT[i0].connect.value <= field_combo.PRR_CONNECT[i0].connect.next;
                end
            end
        end
        assign hwif_out.PRR_CONNECT[i0].connect.value = field_storage.PRR_CONNECT[i0].connect.value;
        assign hwif_out.PRR_CONNECT[i0].connect.swmod = decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr && |(decoded_wr_biten[0:0]);
        // Field: fabric_regs.PRR_CONNECT[].vm
        always_comb begin
            automatic logic [3:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.PRR_CONNECT[i0].vm.value;
            load_next_c = '0;
            if(decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.PRR_CONNECT[i0].vm.value & ~decoded_wr_biten[7:4]) | (decoded_wr_data[7:4] & decoded_wr_biten[7:4]);
                load_next_c = '1;
            end
            field_combo.PRR_CONNECT[i0].vm.next = next_c;
            field_combo.PRR_CONNECT[i0].vm.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.PRR_CONNECT[i0].vm.value <= 4'h0;
            end else begin
                if(field_combo.PRR_CONNECT[i0].vm.load_next) begin
                    field_storage.PRR_CONNECT[i0].vm.value <= field_combo.PRR_CONNECT[i0].vm.next;
                end
            end
        end
        assign hwif_out.PRR_CONNECT[i0].vm.value = field_storage.PRR_CONNECT[i0].vm.value;
        assign hwif_out.PRR_CONNECT[i0].vm.swmod = decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr && |(decoded_wr_biten[7:4]);
        // Field: fabric_regs.PRR_CONNECT[].dev
        always_comb begin
            automatic logic [3:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.PRR_CONNECT[i0].dev.value;
            load_next_c = '0;
            if(decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.PRR_CONNECT[i0].dev.value & ~decoded_wr_biten[11:8]) | (decoded_wr_data[11:8] & decoded_wr_biten[11:8]);
                load_next_c = '1;
            end
            field_combo.PRR_CONNECT[i0].dev.next = next_c;
            field_combo.PRR_CONNECT[i0].dev.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.PRR_CONNECT[i0].dev.value <= 4'h0;
            end else begin
                if(field_combo.PRR_CONNECT[i0].dev.load_next) begin
                    field_storage.PRR_CONNECT[i0].dev.value <= field_combo.PRR_CONNECT[i0].dev.next;
                end
            end
        end
        assign hwif_out.PRR_CONNECT[i0].dev.value = field_storage.PRR_CONNECT[i0].dev.value;
        assign hwif_out.PRR_CONNECT[i0].dev.swmod = decoded_reg_strb.PRR_CONNECT[i0] && decoded_req_is_wr && |(decoded_wr_biten[11:8]);
    end
    for(genvar i0=0; i0<8; i0++) begin
        // Field: fabric_regs.PRR_STOP[].stop
        always_comb begin
            automatic logic [0:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.PRR_STOP[i0].stop.value;
            load_next_c = '0;
            if(decoded_reg_strb.PRR_STOP[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.PRR_STOP[i0].stop.value & ~decoded_wr_biten[0:0]) | (decoded_wr_data[0:0] & decoded_wr_biten[0:0]);
                load_next_c = '1;
            end
            field_combo.PRR_STOP[i0].stop.next = next_c;
            field_combo.PRR_STOP[i0].stop.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.PRR_STOP[i0].stop.value <= 1'h0;
            end else begin
                if(field_combo.PRR_STOP[i0].stop.load_next) begin
                    field_storage.PRR_STOP[i0].stop.value <= field_combo.PRR_STOP[i0].stop.next;
                end
            end
        end
        assign hwif_out.PRR_STOP[i0].stop.value = field_storage.PRR_STOP[i0].stop.value;
        assign hwif_out.PRR_STOP[i0].stop.swmod = decoded_reg_strb.PRR_STOP[i0] && decoded_req_is_wr && |(decoded_wr_biten[0:0]);
    end
    for(genvar i0=0; i0<16; i0++) begin
        // Field: fabric_regs.DEVICE[].task_id
        always_comb begin
            automatic logic [7:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.DEVICE[i0].task_id.value;
            load_next_c = '0;
            if(decoded_reg_strb.DEVICE[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.DEVICE[i0].task_id.value & ~decoded_wr_biten[7:0]) | (decoded_wr_data[7:0] & decoded_wr_biten[7:0]);
                load_next_c = '1;
            end
            field_combo.DEVICE[i0].task_id.next = next_c;
            field_combo.DEVICE[i0].task_id.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.DEVICE[i0].task_id.value <= 8'h0;
            end else begin
                if(field_combo.DEVICE[i0].task_id.load_next) begin
                    field_storage.DEVICE[i0].task_id.value <= field_combo.DEVICE[i0].task_id.next;
                end
            end
        end
        assign hwif_out.DEVICE[i0].task_id.value = field_storage.DEVICE[i0].task_id.value;
        // Field: fabric_regs.DEVICE[].size
        always_comb begin
            automatic logic [1:0] next_c;
            automatic logic load_next_c;
            next_c = field_storage.DEVICE[i0].size.value;
            load_next_c = '0;
            if(decoded_reg_strb.DEVICE[i0] && decoded_req_is_wr) begin // SW write
                next_c = (field_storage.DEVICE[i0].size.value & ~decoded_wr_biten[9:8]) | (decoded_wr_data[9:8] & decoded_wr_biten[9:8]);
                load_next_c = '1;
            end
            field_combo.DEVICE[i0].size.next = next_c;
            field_combo.DEVICE[i0].size.load_next = load_next_c;
        end
        always_ff @(posedge clk or negedge arst_n) begin
            if(~arst_n) begin
                field_storage.DEVICE[i0].size.value <= 2'h0;
            end else begin
                if(field_combo.DEVICE[i0].size.load_next) begin
                    field_storage.DEVICE[i0].size.value <= field_combo.DEVICE[i0].size.next;
                end
            end
        end
        assign hwif_out.DEVICE[i0].size.value = field_storage.DEVICE[i0].size.value;
    end

    //--------------------------------------------------------------------------
    // Write response
    //--------------------------------------------------------------------------
    assign cpuif_wr_ack = decoded_req & decoded_req_is_wr;
    // Writes are always granted with no error response
    assign cpuif_wr_err = decoded_err;

    //--------------------------------------------------------------------------
    // Readback
    //--------------------------------------------------------------------------

    logic [9:0] rd_mux_addr;
    assign rd_mux_addr = decoded_addr;

    logic readback_err;
    logic readback_done;
    logic [63:0] readback_data;
    always_comb begin
        automatic logic [63:0] readback_data_var;
        readback_data_var = '0;
        if(rd_mux_addr == 10'h0) begin
            readback_data_var[31:0] = hwif_in.ID.magic.next;
            readback_data_var[39:32] = hwif_in.ID.version.next;
        end
        if(rd_mux_addr == 10'h8) begin
            readback_data_var[7:0] = hwif_in.PARAMS.vms.next;
            readback_data_var[15:8] = hwif_in.PARAMS.devs.next;
            readback_data_var[23:16] = hwif_in.PARAMS.prrs.next;
            readback_data_var[39:24] = hwif_in.PARAMS.sorter_depth.next;
            readback_data_var[55:40] = hwif_in.PARAMS.list_depth.next;
            readback_data_var[63:56] = hwif_in.PARAMS.windows.next;
        end
        if(rd_mux_addr == 10'h10) begin
            readback_data_var[0] = hwif_in.IRQ_STATUS.new_solution.next;
            readback_data_var[1] = field_storage.IRQ_STATUS.reconfig_over.value;
            readback_data_var[2] = field_storage.IRQ_STATUS.prr_stopped.value;
            readback_data_var[3] = field_storage.IRQ_STATUS.dma_violation.value;
            readback_data_var[4] = field_storage.IRQ_STATUS.task_fault.value;
            readback_data_var[5] = field_storage.IRQ_STATUS.hold_expired.value;
            readback_data_var[6] = field_storage.IRQ_STATUS.list_overflow.value;
        end
        if(rd_mux_addr == 10'h18) begin
            readback_data_var[6:0] = field_storage.IRQ_ENABLE.enable.value;
        end
        if(rd_mux_addr == 10'h28) begin
            readback_data_var[1:0] = hwif_in.SOLUTION.method.next;
            readback_data_var[2] = hwif_in.SOLUTION.reconfig.next;
            readback_data_var[3] = hwif_in.SOLUTION.listed.next;
            readback_data_var[6:4] = hwif_in.SOLUTION.prr.next;
            readback_data_var[7] = hwif_in.SOLUTION.evicted.next;
            readback_data_var[11:8] = hwif_in.SOLUTION.vm.next;
            readback_data_var[15:12] = hwif_in.SOLUTION.dev.next;
            readback_data_var[19:16] = hwif_in.SOLUTION.prio.next;
            readback_data_var[23:20] = hwif_in.SOLUTION.evicted_vm.next;
            readback_data_var[27:24] = hwif_in.SOLUTION.evicted_dev.next;
            readback_data_var[31] = hwif_in.SOLUTION.valid.next;
        end
        if(rd_mux_addr == 10'h30) begin
            readback_data_var[1:0] = hwif_in.NEW_SOLUTION.method.next;
            readback_data_var[2] = hwif_in.NEW_SOLUTION.reconfig.next;
            readback_data_var[3] = hwif_in.NEW_SOLUTION.listed.next;
            readback_data_var[6:4] = hwif_in.NEW_SOLUTION.prr.next;
            readback_data_var[7] = hwif_in.NEW_SOLUTION.evicted.next;
            readback_data_var[11:8] = hwif_in.NEW_SOLUTION.vm.next;
            readback_data_var[15:12] = hwif_in.NEW_SOLUTION.dev.next;
            readback_data_var[19:16] = hwif_in.NEW_SOLUTION.prio.next;
            readback_data_var[23:20] = hwif_in.NEW_SOLUTION.evicted_vm.next;
            readback_data_var[27:24] = hwif_in.NEW_SOLUTION.evicted_dev.next;
            readback_data_var[31] = hwif_in.NEW_SOLUTION.valid.next;
        end
        if(rd_mux_addr == 10'h48) begin
            readback_data_var[31:0] = field_storage.HOLD_TIME.cycles.value;
        end
        if(rd_mux_addr == 10'h50) begin
            readback_data_var[31:0] = field_storage.STOP_TIME.cycles.value;
        end
        if(rd_mux_addr == 10'h58) begin
            readback_data_var[63:0] = field_storage.ICAP_ADDR.addr.value;
        end
        if(rd_mux_addr == 10'h60) begin
            readback_data_var[31:0] = field_storage.ICAP_LENGTH.length.value;
        end
        if(rd_mux_addr == 10'h70) begin
            readback_data_var[0] = hwif_in.ICAP_STATUS.busy.next;
            readback_data_var[6:4] = hwif_in.ICAP_STATUS.prr.next;
            readback_data_var[11:8] = hwif_in.ICAP_STATUS.error.next;
            readback_data_var[23:16] = hwif_in.ICAP_STATUS.task_id.next;
        end
        if(rd_mux_addr == 10'h78) begin
            readback_data_var[31:0] = hwif_in.ICAP_COUNTS.cycles.next;
            readback_data_var[63:32] = hwif_in.ICAP_COUNTS.words.next;
        end
        if(rd_mux_addr == 10'h80) begin
            readback_data_var[63:0] = hwif_in.FAULT_ADDR.addr.next;
        end
        if(rd_mux_addr == 10'h88) begin
            readback_data_var[3:0] = hwif_in.FAULT_INFO.vm.next;
            readback_data_var[7:4] = hwif_in.FAULT_INFO.dev.next;
            readback_data_var[10:8] = hwif_in.FAULT_INFO.prr.next;
            readback_data_var[11] = hwif_in.FAULT_INFO.write.next;
            readback_data_var[14:12] = hwif_in.FAULT_INFO.why.next;
        end
        if(rd_mux_addr == 10'h90) begin
            readback_data_var[8:0] = hwif_in.LIST.waiting.next;
        end
        if(rd_mux_addr == 10'ha0) begin
            readback_data_var[63:0] = field_storage.SORT_KEY.key.value;
        end
        if(rd_mux_addr == 10'hb0) begin
            readback_data_var[1:0] = hwif_in.SORT_STATUS.status.next;
            readback_data_var[2] = hwif_in.SORT_STATUS.busy.next;
            readback_data_var[24:16] = hwif_in.SORT_STATUS.count.next;
        end
        if(rd_mux_addr == 10'hb8) begin
            readback_data_var[63:0] = hwif_in.SORT_HEAD_KEY.key.next;
        end
        if(rd_mux_addr == 10'hc0) begin
            readback_data_var[15:0] = hwif_in.SORT_HEAD.value.next;
            readback_data_var[16] = hwif_in.SORT_HEAD.valid.next;
        end
        for(int i0=0; i0<8; i0++) begin
            if(rd_mux_addr == 10'h100 + (10)'(i0) * 10'h8) begin
                readback_data_var[2:0] = hwif_in.PRR_STATUS[i0].state.next;
                readback_data_var[3] = hwif_in.PRR_STATUS[i0].coupled.next;
                readback_data_var[5:4] = hwif_in.PRR_STATUS[i0].size.next;
                readback_data_var[6] = hwif_in.PRR_STATUS[i0].connected.next;
                readback_data_var[7] = hwif_in.PRR_STATUS[i0].client.next;
                readback_data_var[11:8] = hwif_in.PRR_STATUS[i0].vm.next;
                readback_data_var[15:12] = hwif_in.PRR_STATUS[i0].dev.next;
                readback_data_var[19:16] = hwif_in.PRR_STATUS[i0].prio.next;
                readback_data_var[31:24] = hwif_in.PRR_STATUS[i0].task_id.next;
                readback_data_var[39:32] = hwif_in.PRR_STATUS[i0].target.next;
                readback_data_var[63:40] = hwif_in.PRR_STATUS[i0].reconfig_time.next;
            end
        end
        for(int i0=0; i0<16; i0++) begin
            if(rd_mux_addr == 10'h200 + (10)'(i0) * 10'h8) begin
                readback_data_var[7:0] = field_storage.DEVICE[i0].task_id.value;
                readback_data_var[9:8] = field_storage.DEVICE[i0].size.value;
            end
        end
        readback_data = readback_data_var;
        readback_done = decoded_req & ~decoded_req_is_wr;
        readback_err = decoded_err;
    end

    assign cpuif_rd_ack = readback_done;
    assign cpuif_rd_data = readback_data;
    assign cpuif_rd_err = readback_err;
endmodule
