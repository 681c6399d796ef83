"""Tables with changed numbers instead of suppressed cells: rounding, cell keys, adjustment, intervals; their audit."""
