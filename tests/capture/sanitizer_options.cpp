// What the sanitizers, where they are compiled in, must know about the HDF5 library.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the sanitizers' own.

/// HDF5 asks for as much memory as a damaged file tells, and copes when there is none.
extern "C" const char* __asan_default_options() {
    return "allocator_may_return_null=1";
}

/// HDF5 loses memory over damaged files and over chunks that cannot be written.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
