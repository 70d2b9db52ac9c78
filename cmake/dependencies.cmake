# Everything comes from Debian packages; tools/install-deps names them.

find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(PkgConfig REQUIRED)
pkg_check_modules(fyaml REQUIRED IMPORTED_TARGET libfyaml)
if(BERTH_TESTS)
  find_package(GTest REQUIRED)
endif()

# Asio and Beast are compiled once, in src/io/asio.cc, instead of in every file that uses them.
add_library(berth_dependencies INTERFACE)
target_link_libraries(berth_dependencies INTERFACE Boost::headers Boost::json Threads::Threads)
target_compile_definitions(
  berth_dependencies
  INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
            BOOST_ASIO_DISABLE_BOOST_COROUTINE)
