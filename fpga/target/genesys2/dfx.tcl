# SPDX-License-Identifier: Apache-2.0
# Builds the Genesys2's bitstreams with Vivado: `vivado -mode batch -source fpga/target/genesys2/dfx.tcl -tclargs FOLDER`.
# FOLDER/design.tcl, which `make genesys2` writes, sets
#   part, top, gateware      the device, the top module, and the folder of LiteX's files
#   include_dirs, defines    of all sources
#   static_sources           of the static design, in which the regions are black boxes
#   task_sources             of a region's content, region_partition
#   tasks                    a dictionary: task, its number
#   regions                  one dictionary for each region: cell, ranges, needs (what its largest task takes)
#   configurations           one list of tasks, one for each region, for each implementation of the whole design
# Results: genesys2.bit, and partial/<task number>-<region>.bin for each task in each region that can hold it.

set folder [file normalize [lindex $argv 0]]
source [file join $folder design.tcl]
set work [file join $folder vivado]

proc read_sources {files} {
    foreach file $files {
        if {[file extension $file] eq ".v"} {
            read_verilog $file
        } else {
            read_verilog -sv $file
        }
    }
}

# A region's content, once for each task.
proc synthesize_task {task number} {
    global part work task_sources include_dirs defines
    create_project -in_memory -part $part
    read_sources $task_sources
    synth_design -mode out_of_context -top region_partition -part $part -generic Task=$number \
        -include_dirs $include_dirs -verilog_define $defines
    write_checkpoint -force [file join $work task_$task.dcp]
    close_project
}

proc synthesize_static {} {
    global part top work gateware static_sources include_dirs defines
    # The contents of memories are in files beside the top module, which names them without a folder.
    cd $gateware
    create_project -in_memory -part $part
    read_sources $static_sources
    read_xdc $top.xdc
    synth_design -top $top -part $part -include_dirs $include_dirs -verilog_define $defines
    write_checkpoint -force [file join $work static_synth.dcp]
    close_project
}

# What a pblock has by the device's own data; regions.py has only estimated it.
proc check_sites {name needs} {
    set sites [get_sites -of_objects [get_pblocks $name]]
    foreach {what pattern each} {luts SLICE* 4 bram36 RAMB36* 1 dsp DSP48* 1} {
        set found [expr {$each * [llength [lsearch -all -inline $sites $pattern]]}]
        if {$found < [dict get $needs $what]} {
            error "$name has $found $what, its largest task needs [dict get $needs $what] (regions.toml)"
        }
    }
}

proc make_pblock {number region} {
    set name region_$number
    set cell [dict get $region cell]
    create_pblock $name
    add_cells_to_pblock [get_pblocks $name] [get_cells $cell]
    foreach range [dict get $region ranges] {
        resize_pblock [get_pblocks $name] -add $range
    }
    # The device resets the region's registers after a configuration, and the region's edges follow its columns.
    set_property RESET_AFTER_RECONFIG true [get_pblocks $name]
    set_property SNAPPING_MODE ON [get_pblocks $name]
    set_property HD.RECONFIGURABLE true [get_cells $cell]
    check_sites $name [dict get $region needs]
}

proc implement {index tasks} {
    global work regions
    foreach task $tasks region $regions {
        read_checkpoint -cell [dict get $region cell] [file join $work task_$task.dcp]
    }
    opt_design
    place_design
    route_design
    set slack [get_property SLACK [get_timing_paths -max_paths 1 -nworst 1 -setup]]
    if {$slack < 0} {
        error "configuration $index ($tasks) misses its timing by [expr {-$slack}] ns"
    }
    write_checkpoint -force [file join $work configuration_$index.dcp]
}

# The first configuration places and routes the static design; the others keep it.
proc implement_all {} {
    global work regions configurations
    open_checkpoint [file join $work static_synth.dcp]
    set number 0
    foreach region $regions {
        make_pblock $number $region
        incr number
    }
    implement 0 [lindex $configurations 0]
    foreach region $regions {
        update_design -cell [dict get $region cell] -black_box
    }
    lock_design -level routing
    write_checkpoint -force [file join $work static_routed.dcp]
    close_project
    for {set index 1} {$index < [llength $configurations]} {incr index} {
        open_checkpoint [file join $work static_routed.dcp]
        implement $index [lindex $configurations $index]
        close_project
    }
}

# All configurations must have the same static design, or a partial bitstream would damage it.
proc verify_all {} {
    global work configurations
    set others {}
    for {set index 1} {$index < [llength $configurations]} {incr index} {
        lappend others [file join $work configuration_$index.dcp]
    }
    if {[llength $others] > 0} {
        pr_verify -initial [file join $work configuration_0.dcp] -additional $others
    }
}

# Partial bitstreams: uncompressed, with checksums, as words of 32 bits (.bin) for tools/bit2simb.py.
proc write_bitstreams {} {
    global folder work tasks regions configurations
    file mkdir [file join $folder partial]
    set written {}
    set index 0
    foreach configuration $configurations {
        open_checkpoint [file join $work configuration_$index.dcp]
        set_property BITSTREAM.GENERAL.COMPRESS FALSE [current_design]
        set_property BITSTREAM.GENERAL.CRC ENABLE [current_design]
        if {$index == 0} {
            write_bitstream -force -no_partial_bitfile [file join $folder genesys2.bit]
        }
        set number 0
        foreach task $configuration region $regions {
            set name [dict get $tasks $task]-$number
            if {$name ni $written} {
                write_bitstream -force -bin_file -cell [dict get $region cell] [file join $folder partial $name.bit]
                lappend written $name
            }
            incr number
        }
        close_project
        incr index
    }
}

file mkdir $work
dict for {task number} $tasks {
    synthesize_task $task $number
}
synthesize_static
implement_all
verify_all
write_bitstreams
puts "dfx: [llength $configurations] configurations, bitstreams in $folder"
