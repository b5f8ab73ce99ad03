# Finds the headers and libraries of OpenImageIO. Defines the target OpenImageIO::OpenImageIO and OpenImageIO_VERSION.
#
# The CMake package file of Debian 12 cannot be used: it requires OpenCV's headers and Imath's Python library, on which the
# Debian package does not depend.
find_path(OpenImageIO_INCLUDE_DIR OpenImageIO/imageio.h)
find_library(OpenImageIO_LIBRARY OpenImageIO)
find_library(OpenImageIO_UTIL_LIBRARY OpenImageIO_Util)
mark_as_advanced(OpenImageIO_INCLUDE_DIR OpenImageIO_LIBRARY OpenImageIO_UTIL_LIBRARY)

if(EXISTS ${OpenImageIO_INCLUDE_DIR}/OpenImageIO/oiioversion.h)
    file(STRINGS ${OpenImageIO_INCLUDE_DIR}/OpenImageIO/oiioversion.h lines REGEX "#define OIIO_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" OpenImageIO_VERSION "${lines}")
    string(REPLACE ";" "." OpenImageIO_VERSION "${OpenImageIO_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenImageIO
    REQUIRED_VARS OpenImageIO_LIBRARY OpenImageIO_UTIL_LIBRARY OpenImageIO_INCLUDE_DIR
    VERSION_VAR OpenImageIO_VERSION)

if(OpenImageIO_FOUND AND NOT TARGET OpenImageIO::OpenImageIO)
    add_library(OpenImageIO::OpenImageIO UNKNOWN IMPORTED)
    set_target_properties(OpenImageIO::OpenImageIO PROPERTIES
        IMPORTED_LOCATION ${OpenImageIO_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${OpenImageIO_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES ${OpenImageIO_UTIL_LIBRARY})
endif()
