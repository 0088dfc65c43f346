// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/problem.hpp"

int main(int argc, char** argv) { return tare::npb::run_program(tare::npb::lu::kernel, argc, argv); }
