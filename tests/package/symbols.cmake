# check_symbol(LIBRARY SYMBOL): what a shared library may show is in phy:: and no detail, but for those that the inline
# functions of public headers call. Types of phy::detail in the arguments of what is public are no symbols of their own.
set(thrown "typeinfo for |typeinfo name for |vtable for |VTT for |[a-z -]*thunk to ")
string(JOIN "|" called_inline
  "(row_tuning|start_built_in|allocate_device|allocate_pinned)\\(" "(copy|fill)_async\\(" "(PinnedMemory|Stream|Event|Graph)Deleter::operator\\(\\)\\(")
set(called_by_templates "share_items|built_in_block_root|ThreadPool::(~?ThreadPool|begin_sharing|share)")
set(used_by_phy_files "mcs_indices|elementary::(decibels|exp|log|power_ratio|turn)|pairs_of_symbol|FourierTransform::(FourierTransform|operator\\(\\))|Examination::(Examination|add|samples|pilots|symbols)")
# Function templates with instances in the library: their names begin with what they return.
set(templates "(void|unsigned long) phy::(gpu::)?average_matvec(_workspace_bytes)?<")

function(check_symbol library symbol)
  if(symbol MATCHES "^phy::gpu::detail::(${called_inline})" OR symbol MATCHES "^phy::detail::(${called_by_templates}|${used_by_phy_files})\\("
      OR symbol MATCHES "^${templates}")
    return()
  endif()
  if(NOT symbol MATCHES "^(${thrown})?phy::" OR symbol MATCHES "^(${thrown})?phy::((gpu::)?detail|hdf5|[A-Za-z0-9:_]*Impl)::")
    message(SEND_ERROR "${library} shows ${symbol}")
  endif()
endfunction()

function(check_count library symbols)
  list(LENGTH symbols count)
  if(count LESS 10)
    message(SEND_ERROR "${library} shows ${count} symbols only")
  endif()
  message(STATUS "${library} shows ${count} symbols")
endfunction()
