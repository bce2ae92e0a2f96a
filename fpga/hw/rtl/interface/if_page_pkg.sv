// SPDX-License-Identifier: Apache-2.0
// Where the registers of an IF page lie in its words of 64 bits, calculated from fabric_map_pkg.
package if_page_pkg;
  import fabric_map_pkg::*;

  // Words of a page that exist, custom registers (32 bits each), number of a word.
  localparam int unsigned PageWords = 16;
  localparam int unsigned NumCustom = 8;
  typedef logic [3:0] if_word_t;

  /// The word that contains a register.
  function automatic if_word_t if_word(input int unsigned offset);
    return 4'(offset / 8);
  endfunction

  /// The position of a register's bit 0 in its word.
  function automatic int unsigned if_lsb(input int unsigned offset);
    return offset % 8 * 8;
  endfunction

  /// The byte strobes of a 32-bit register in its word.
  function automatic logic [7:0] if_strobes(input int unsigned offset);
    return 8'h0f << (offset % 8);
  endfunction

  /// The bytes of a word that the guest writes to memory; the other registers are flags or results.
  function automatic logic [7:0] if_writable(input if_word_t word);
    logic [7:0] strobes;
    strobes = '0;
    if (word == if_word(IfCmd)) strobes |= if_strobes(IfCmd);
    if (word == if_word(IfDataSize)) strobes |= if_strobes(IfDataSize);
    if (word == if_word(IfDataAddr) || word == if_word(IfResult)) strobes = '1;
    if (word >= if_word(IfCustom) && word < if_word(IfCustom + NumCustom * IfCustomStride))
      strobes = '1;
    return strobes;
  endfunction

endpackage
