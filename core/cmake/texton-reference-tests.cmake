# texton_add_reference_tests(SUITE [NAME name] [DEVICE device] [FILTER regex] [PROGRAM texton])
#
# Adds a test that runs `texton verify SUITE`, which compares the results of kernels with approved references. The test is named
# texton.NAME; NAME defaults to the file name of the suite. DEVICE and FILTER are passed to --device and --filter; the default
# device is the best one. The page texton-reports/NAME/index.html in the build folder shows the cases that did not pass, and
# texton-reports/NAME.xml is for CI systems.
function(texton_add_reference_tests suite)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;DEVICE;FILTER;PROGRAM" "")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "texton_add_reference_tests: unknown arguments '${arg_UNPARSED_ARGUMENTS}'.")
    endif()
    cmake_path(ABSOLUTE_PATH suite BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS ${suite})
        message(FATAL_ERROR "texton_add_reference_tests: the suite ${suite} does not exist.")
    endif()
    if(NOT arg_NAME)
        cmake_path(GET suite STEM arg_NAME)
    endif()
    if(NOT arg_PROGRAM)
        find_program(TEXTON_PROGRAM texton HINTS ${texton_PROGRAM_DIR})
        if(NOT TEXTON_PROGRAM)
            message(FATAL_ERROR "texton_add_reference_tests: the program texton was found neither with the installed "
                                "package nor on PATH. Build Texton with TEXTON_VIEWER=ON, or pass PROGRAM.")
        endif()
        set(arg_PROGRAM ${TEXTON_PROGRAM})
    endif()
    set(options "")
    foreach(option DEVICE FILTER)
        if(arg_${option})
            string(TOLOWER ${option} word)
            list(APPEND options --${word} ${arg_${option}})
        endif()
    endforeach()
    set(reports ${CMAKE_CURRENT_BINARY_DIR}/texton-reports)
    file(MAKE_DIRECTORY ${reports})
    add_test(NAME texton.${arg_NAME} COMMAND ${arg_PROGRAM} verify ${suite} ${options}
        --report ${reports}/${arg_NAME} --junit ${reports}/${arg_NAME}.xml)
    set_tests_properties(texton.${arg_NAME} PROPERTIES TIMEOUT 300)
endfunction()
