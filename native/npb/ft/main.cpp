// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/problem.hpp"

int main(int argc, char** argv) { return tare::npb::run_program(tare::npb::ft::kernel, argc, argv); }
