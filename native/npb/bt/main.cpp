// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/problem.hpp"

int main(int argc, char** argv) { return tare::npb::run_program(tare::npb::bt::kernel, argc, argv); }
