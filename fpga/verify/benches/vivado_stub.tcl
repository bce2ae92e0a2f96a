# SPDX-License-Identifier: Apache-2.0
# Stands in for Vivado: runs a script and records each of the vendor's commands that it uses in a file, one a line.
# A command that is not listed here is an error, as in Vivado. Usage: tclsh vivado_stub.tcl SCRIPT RECORD SITES SLACK FOLDER
# SITES: sites of each pblock, "type number ..."; SLACK: of every configuration.
lassign $argv script record_file sites slack
set argv [lrange $argv 4 end]
set record [open $record_file w]

foreach command {
    add_cells_to_pblock close_project create_pblock create_project lock_design open_checkpoint opt_design place_design
    pr_verify read_checkpoint read_verilog read_xdc resize_pblock route_design set_property synth_design update_design
    write_bitstream write_checkpoint
} {
    proc $command args [format {
        global record
        puts $record [list %s {*}$args]
        return ""
    } $command]
}
foreach command {get_cells get_pblocks} {
    proc $command name {return $name}
}
proc current_design {} {return design}
proc get_timing_paths args {return path}
proc get_property {name object} {
    global slack
    return $slack
}
proc get_sites {option pblock} {
    global sites
    set found {}
    foreach {type number} $sites {
        for {set i 0} {$i < $number} {incr i} {
            lappend found ${type}_X0Y$i
        }
    }
    return $found
}

source $script
close $record
