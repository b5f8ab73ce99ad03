# For -DCMAKE_PROJECT_INCLUDE=FILE: the C++ compiler checks the sources and generates no code. The option applies to the project's
# sources only. CMAKE_CXX_FLAGS would also apply to CMake's own test programs, which must link.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsyntax-only>)
