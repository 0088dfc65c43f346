// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/problem.hpp"

int main(int argc, char** argv) { return tare::npb::run_program(tare::npb::cg::kernel, argc, argv); }
