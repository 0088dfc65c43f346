// SPDX-License-Identifier: Apache-2.0
#include "npb/ep/problem.hpp"

int main(int argc, char** argv) { return tare::npb::run_program(tare::npb::ep::kernel, argc, argv); }
