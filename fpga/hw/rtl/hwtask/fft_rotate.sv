// SPDX-License-Identifier: Apache-2.0
// The twiddle factors after a radix-2^2 pair of butterflies on blocks of Size samples: W_Size^(n *
// (k1 + 2 * k2)), where the two butterflies computed k1 and k2 from the upper bits of the position
// and n is the rest of the position. A lane has every second position: sample `index` of lane Lane
// is at position 2 * index + Lane. The latency is three steps.
module fft_rotate
  import fft_pkg::*;
#(
  /// Samples of a block, a power of two of at least 8; which positions, 0 even or 1 odd; bits of
  /// index_i.
  parameter int unsigned Size       = 8,
  parameter int unsigned Lane       = 0,
  parameter int unsigned IndexWidth = 8
) (
  input  logic                  clk_i,
  /// All registers advance in this cycle; no reset, because fft_core knows which samples are real.
  input  logic                  step_i,
  /// Index of the input sample in its lane; only the position in the block counts.
  input  logic [IndexWidth-1:0] index_i,
  input  sample_t               sample_i,
  output sample_t               sample_o,
  /// The sample that leaves with the next step was saturated.
  output logic                  over_o
);

  localparam int unsigned Entries = Size / 2;
  localparam int unsigned AddressWidth = $clog2(Entries);

  if (Size == 8 && Lane == 0) begin : gen_none
    // n is 0: no rotation, only the same latency.
    sample_t [2:0] line_q;
    always_ff @(posedge clk_i) if (step_i) line_q <= {line_q[1:0], sample_i};
    assign sample_o = line_q[2];
    assign over_o   = 1'b0;
    logic unused;
    assign unused = ^index_i;
  end else begin : gen_turn
    logic [35:0] rom[Entries];

    // The exponent times 1024 / Size is the angle in 1024ths of a circle; e^(-jx) is cos(x) + j
    // cos(x + a quarter).
    initial begin
      for (int unsigned i = 0; i < Entries; i++) begin
        int unsigned k, n, angle;
        k      = (i >= Entries / 2 ? 1 : 0) + (i % (Entries / 2) >= Entries / 4 ? 2 : 0);
        n      = 2 * (i % (Entries / 4)) + Lane;
        angle  = n * k * (1024 / Size);
        rom[i] = {cosine(10'(angle + 256)), cosine(10'(angle))};
      end
    end

    logic [35:0] factor_q;
    sample_t sample_q, out_q;
    logic signed [17:0] cos, sin;
    // Products of the real and imaginary part with cosine and sine.
    logic signed [33:0] rc_q, is_q, rs_q, ic_q;
    limited_t re, im;

    assign cos = factor_q[17:0];
    assign sin = factor_q[35:18];

    always_ff @(posedge clk_i) begin
      if (step_i) begin
        factor_q <= rom[index_i[AddressWidth-1:0]];
        sample_q <= sample_i;
        rc_q     <= 34'(sample_q.re) * 34'(cos);
        is_q     <= 34'(sample_q.im) * 34'(sin);
        rs_q     <= 34'(sample_q.re) * 34'(sin);
        ic_q     <= 34'(sample_q.im) * 34'(cos);
        out_q    <= '{re: re.value, im: im.value};
      end
    end

    assign re       = limit((36'(rc_q) - 36'(is_q) + 36'sd32768) >>> 16);
    assign im       = limit((36'(rs_q) + 36'(ic_q) + 36'sd32768) >>> 16);
    assign sample_o = out_q;
    assign over_o   = re.over || im.over;

    if (IndexWidth > AddressWidth) begin : gen_rest
      logic unused;
      assign unused = ^index_i[IndexWidth-1:AddressWidth];
    end
  end

endmodule
