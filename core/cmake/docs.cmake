# The target docs writes the reference of all public headers with an example for each, and the guides with their programs, as HTML to
# docs/ in the build tree.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    return()
endif()
set(docs ${PROJECT_BINARY_DIR}/docs)
set(guides README.md kernels/tutorial/README.md core/README.md arrays/README.md kernels/README.md viewer/README.md tests/README.md tests/regress/README.md
    tests/captures/README.md assets/README.md tests/gpu/RECORD.md)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/examples/*.cpp ${PROJECT_SOURCE_DIR}/tests/examples/*.cu)
list(TRANSFORM guides PREPEND ${PROJECT_SOURCE_DIR}/)
list(JOIN guides " " guides_text)
file(WRITE ${PROJECT_BINARY_DIR}/Doxyfile "\
@INCLUDE = tests/support/Doxyfile
PROJECT_NUMBER = ${PROJECT_VERSION}
PROJECT_BRIEF = \"${PROJECT_DESCRIPTION}\"
INPUT += ${docs}/programs/examples.dox ${guides_text}
EXAMPLE_PATH = ${docs}/programs
IMAGE_PATH = ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/assets ${PROJECT_SOURCE_DIR}/assets/kernels ${PROJECT_SOURCE_DIR}/arrays ${PROJECT_SOURCE_DIR}/kernels
USE_MDFILE_AS_MAINPAGE = ${PROJECT_SOURCE_DIR}/README.md
FULL_PATH_NAMES = YES
STRIP_FROM_PATH = ${PROJECT_SOURCE_DIR}
STRIP_FROM_INC_PATH = core arrays/files arrays kernels viewer/verify viewer/batch
FILTER_PATTERNS = \"*.md=awk -v root=${PROJECT_SOURCE_DIR}/ -f core/cmake/docs_guides.awk\"
GENERATE_XML = NO
HAVE_DOT = NO
GENERATE_HTML = YES
HTML_EXTRA_STYLESHEET = core/cmake/docs.css
JAVADOC_AUTOBRIEF = YES
HTML_OUTPUT = .
GENERATE_TREEVIEW = YES
SEARCHENGINE = YES
SERVER_BASED_SEARCH = NO
HTML_TIMESTAMP = NO
VERBATIM_HEADERS = YES
SOURCE_BROWSER = NO
OUTPUT_DIRECTORY = ${docs}
")
add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${docs}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${docs}/programs
    COMMAND awk -v out=${docs}/programs -v root=${PROJECT_SOURCE_DIR}/ -f core/cmake/docs_examples.awk ${examples} ${guides}
    COMMAND ${DOXYGEN_EXECUTABLE} ${PROJECT_BINARY_DIR}/Doxyfile
    COMMAND ${CMAKE_COMMAND} -E echo "Reference: ${docs}/index.html"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
