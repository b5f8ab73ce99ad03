# -DCMAKE_PROJECT_INCLUDE=FILE: the C++ compiler checks sources and generates no code. An option of the project's sources alone:
# CMAKE_CXX_FLAGS would also reach CMake's own trials, which link.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsyntax-only>)
