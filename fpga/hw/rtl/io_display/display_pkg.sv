// SPDX-License-Identifier: Apache-2.0
// Definitions that the blocks of the shared display use: the mode of the screen, rectangles,
// framebuffers, counters.
package display_pkg;
  import fabric_pkg::*;

  // A position or a length on the screen, in pixels or lines.
  typedef logic [15:0] coord_t;

  // The phases of a line and of a frame, in the order in which they are sent. A length of 0 counts
  // as 65536.
  typedef enum logic [1:0] {
    AxSync   = 2'd0,
    AxBack   = 2'd1,
    AxActive = 2'd2,
    AxFront  = 2'd3
  } phase_e;

  // Lengths of the phases: in pixels of a line, in lines of a frame. Their sum is the whole line or
  // frame, blanking included.
  typedef struct packed {
    // the visible part
    coord_t active;
    // front porch, between the visible part and the sync pulse
    coord_t front;
    // sync pulse, during which hsync or vsync is high
    coord_t sync;
    // back porch, between the sync pulse and the visible part
    coord_t back;
  } axis_t;

  typedef struct packed {
    axis_t h;
    axis_t v;
  } mode_t;

  // The part of the screen that shows a VM's framebuffer. Width 0: none.
  typedef struct packed {
    // The first pixel and line, and their numbers, from the first active pixel of the frame on.
    coord_t x;
    coord_t y;
    coord_t width;
    coord_t height;
    // 0: the VM has no part of the screen.
    logic   enabled;
  } rect_t;

  // A framebuffer: 32 bits a pixel, x8r8g8b8, little-endian. The low 3 bits of base and stride are
  // 0.
  typedef struct packed {
    addr_t       base;    // guest-physical address of the first pixel
    logic [15:0] stride;  // bytes from a line to the next one
    // 0: the rectangle is black.
    logic        on;
  } framebuffer_t;

  // Which registers of a framebuffer a write sets.
  typedef struct packed {
    logic base;
    logic stride;
    logic on;  // and the VM's counters to 0
  } fb_select_t;

  // Lines that are not complete on the screen, since the framebuffer was turned on. The counters
  // saturate.
  typedef struct packed {
    logic [7:0] faults;     // because of memory outside the windows, or a bus error
    logic [7:0] underruns;  // because the memory was too slow
    logic       fault;      // faults is not 0
  } fb_status_t;

  typedef struct packed {
    logic [7:0] red;
    logic [7:0] green;
    logic [7:0] blue;
  } pixel_t;

endpackage
