# texton_add_reference_tests(SUITE [NAME name] [DEVICE device] [FILTER regex] [PROGRAM texton] [ALLOW_OUTSIDE] [COMMANDS]
#     [TARGETS target...] [RESOURCE_LOCK name...])
#
# Adds a test that runs `texton verify SUITE`, which compares images with approved references. The test is named
# texton.NAME; NAME defaults to the file name of the suite. DEVICE and FILTER are passed to --device and --filter; the default
# device is the best one. With ALLOW_OUTSIDE, the suite may name files outside of its folder. With COMMANDS, the commands of the
# suite are run; they find the programs of TARGETS by name. `ctest -j` runs tests with the same RESOURCE_LOCK one after the
# other, for example all tests of a GPU. The page texton-reports/NAME/index.html in the build folder shows the cases that did
# not pass, and texton-reports/NAME.xml is for CI systems.
function(texton_add_reference_tests suite)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ALLOW_OUTSIDE;COMMANDS" "NAME;DEVICE;FILTER;PROGRAM" "TARGETS;RESOURCE_LOCK")
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
    if(arg_ALLOW_OUTSIDE)
        list(APPEND options --allow-outside)
    endif()
    if(arg_COMMANDS)
        list(APPEND options --commands)
    endif()
    set(reports ${CMAKE_CURRENT_BINARY_DIR}/texton-reports)
    file(MAKE_DIRECTORY ${reports})
    add_test(NAME texton.${arg_NAME} COMMAND ${arg_PROGRAM} verify ${suite} ${options}
        --report ${reports}/${arg_NAME} --junit ${reports}/${arg_NAME}.xml)
    list(TRANSFORM arg_TARGETS REPLACE "(.+)" "PATH=path_list_prepend:$<TARGET_FILE_DIR:\\1>" OUTPUT_VARIABLE folders)
    set_tests_properties(texton.${arg_NAME} PROPERTIES TIMEOUT 300 RESOURCE_LOCK "${arg_RESOURCE_LOCK}"
        ENVIRONMENT_MODIFICATION "${folders}")
endfunction()

# texton_add_image_tests(TARGET [NAME name] [REFERENCES folder] [ARGUMENTS argument...] [RESOURCE_LOCK name...])
#
# Adds a test that runs a program whose images are compared by texton/expect_image.h or texton/check_image.h. The test is named
# texton.NAME; NAME defaults to the target. REFERENCES is the folder of the references, relative to the source folder; by default,
# it is the folder `references` beside each source of the program. RESOURCE_LOCK is that of texton_add_reference_tests(). The page
# texton-reports/NAME/index.html in the build folder lists the checks that failed.
function(texton_add_image_tests target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;REFERENCES" "ARGUMENTS;RESOURCE_LOCK")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "texton_add_image_tests: unknown arguments '${arg_UNPARSED_ARGUMENTS}'.")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "texton_add_image_tests: there is no target ${target}. Call it after add_executable().")
    endif()
    if(NOT arg_NAME)
        set(arg_NAME ${target})
    endif()
    set(environment TEXTON_REPORT=${CMAKE_CURRENT_BINARY_DIR}/texton-reports/${arg_NAME})
    if(arg_REFERENCES)
        cmake_path(ABSOLUTE_PATH arg_REFERENCES BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        list(APPEND environment TEXTON_REFERENCES=${arg_REFERENCES})
    endif()
    add_test(NAME texton.${arg_NAME} COMMAND ${target} ${arg_ARGUMENTS})
    set_tests_properties(texton.${arg_NAME} PROPERTIES TIMEOUT 300 ENVIRONMENT "${environment}"
        RESOURCE_LOCK "${arg_RESOURCE_LOCK}")
endfunction()
