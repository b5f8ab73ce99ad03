# Debian packages, made by CPack: `cmake --workflow --preset deb`, or `deb-cuda` with the CUDA Toolkit. Each component of the
# installation is a package. The installation prefix must be /usr, because programs and libraries contain the path of texton-reader.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME texton)
set(CPACK_PACKAGE_VENDOR Texton)
set(CPACK_PACKAGE_CONTACT "The Texton developers")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL development)

# texton_package(COMPONENT NAME SECTION SUMMARY TEXT) describes the package of a component.
function(texton_package component name section summary text)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()

set(same_version "(= ${PROJECT_VERSION})")
set(needed libfmt-dev libtbb-dev libhwy-dev)
if(TARGET texton_io)
    list(APPEND CPACK_COMPONENTS_ALL reader)
    list(APPEND needed libopenimageio-dev zlib1g-dev "texton-reader ${same_version}")
    if(texton_with_zstd)
        list(APPEND needed libzstd-dev)
    endif()
    if(texton_with_jpeg)
        list(APPEND needed libjpeg62-turbo-dev)
    endif()
    if(texton_with_libdeflate)
        list(APPEND needed libdeflate-dev)
    endif()
    texton_package(reader texton-reader graphics "program that reads image files for Texton in a process of its own"
        "Damaged image files can make a decoder crash or hang. Programs that use Texton can read files\nin this program instead.")
endif()
if(TEXTON_VIEWER)
    list(APPEND CPACK_COMPONENTS_ALL command)
    list(APPEND needed libssl-dev)
    set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "texton-reader ${same_version}")
    texton_package(command texton graphics "inspects, converts and compares images, and runs sampling kernels"
        "The command texton runs sampling kernels on image files on GPUs and CPUs, compares images with\n\
approved references, and shows how images and devices store texels. It works with and without a GPU.")
endif()
if(TEXTON_GUI)
    list(APPEND CPACK_COMPONENTS_ALL window)
    set(CPACK_DEBIAN_WINDOW_PACKAGE_DEPENDS "texton-reader ${same_version}, libqt6gui6")
    set(CPACK_DEBIAN_WINDOW_PACKAGE_RECOMMENDS texton)
    texton_package(window texton-view graphics "displays images as a GPU samples them"
        "The window shows images with their texels, samplers, mip levels, layers and memory, the texels that a\n\
fetch reads and their weights, and images of running programs.")
endif()

set(libraries "Static libraries and headers for images in CUDA arrays, pitched memory and pools, for textures,\n\
surfaces and sampling kernels, image files, and regression tests of images. The CPU device computes the same\n\
bits as the texture unit of a GPU.")
if(texton_with_cuda)
    texton_package(development libtexton-cuda-dev libdevel "toolkit for images that a GPU samples, with CUDA devices"
        "${libraries}\n\
These libraries support CUDA devices. Programs that use them need the CUDA Toolkit ${CUDAToolkit_VERSION_MAJOR} or later\n\
from NVIDIA to be built, which is not a part of Debian, and start on machines without a GPU as well.")
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONFLICTS libtexton-dev)
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_REPLACES libtexton-dev)
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PROVIDES "libtexton-dev ${same_version}")
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cuda-toolkit-${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR}")
else()
    texton_package(development libtexton-dev libdevel "toolkit for images that a GPU samples, with the CPU device"
        "${libraries}\n\
These libraries were built without CUDA: libtexton-cuda-dev has both kinds of devices.")
endif()
list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
include(CPack)
