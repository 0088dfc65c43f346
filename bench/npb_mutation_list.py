# SPDX-License-Identifier: Apache-2.0
"""Faults for ``bench.npb_mutations`` to plant in the NAS kernels: each replaces a text that its file has exactly once.

To mend one whose text has changed, give the new text; a fault that changes no result is no fault. Faults in `common`
and `flow`, which several kernels share, are planted in one of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault in one kernel."""

    kernel: str
    file: str
    """Below ``native/npb``."""
    text: str
    faulty: str
    why: str
    """What is wrong then."""
    arguments: tuple[str, ...] = ()
    """What the kernel must be asked for to run through it."""


_REFERENCE = ("--messages", "reference")

MUTATIONS = (
    Mutation("ep", "ep/pairs.cpp", "seed = 271828183", "seed = 271828181", "another seed"),
    Mutation("ep", "common/random.hpp", "= 1220703125;", "= 1220703117;", "another multiplier of the generator"),
    Mutation("ep", "ep/pairs.cpp", "square <= 1.0", "square <= 0.999999", "the disc a little too small"),
    Mutation("ep", "ep/pairs.cpp", "static_cast<int>(larger)", "static_cast<int>(larger + 1e-6)", "annuli shifted by 1e-6"),
    Mutation("ep", "ep/pairs.cpp", "<< batch_exponent) / lanes", "<< batch_exponent) / lanes - 1", "one step of a batch fewer"),
    Mutation("ep", "ep/pairs.cpp", "tally.y += sum_y", "tally.y += sum_x", "x summed twice, y never"),
    Mutation("ep", "ep/problem.cpp", "&tally.y, 1,", "&tally.y, 0,", "one sum is not reduced"),
    Mutation("is", "is/keys.cpp", "seed = 314159265", "seed = 314159269", "another seed"),
    Mutation("is", "is/keys.cpp", "draws_per_key = 4", "draws_per_key = 3", "three uniforms in a key"),
    Mutation("is", "is/keys.cpp", "set(share, iteration, step", "set(share, iteration + 1, step", "the next key changed instead"),
    Mutation("is", "is/keys.cpp", "sizes.values() - step", "sizes.values() - step - 1", "the large key one less"),
    Mutation("is", "is/problem.cpp", "published_iterations = 10", "published_iterations = 9", "an iteration fewer"),
    Mutation("is", "is/counting.cpp", "large[value] = below;", "large[value] = below + count;", "the rank of the last equal key"),
    Mutation("is", "is/counting.cpp", "if (++small[value] == 0)", "if (++small[value] == 80)", "a count that wraps too early"),
    Mutation("is", "is/exchange.cpp", "{totals_}.first(first)", "{totals_}.first(first / 2)", "keys of lower ranks not counted"),
    Mutation("is", "is/exchange.cpp", "start(rank + 1) - start(rank)", "start(rank + 1) - start(rank) - 1", "one key is not sent"),
    Mutation("is", "is/ranking.cpp", "std::fill_n(tally.small, part.values", "std::fill_n(tally.small, part.values - 9", "counts of nine values not cleared"),
    Mutation("is", "is/whole_exchange.cpp", "{totals_}.first(first)", "{totals_}.first(first / 2)", "keys of lower ranks not counted", _REFERENCE),
    Mutation("is", "is/whole_exchange.cpp", "start(rank + 1) - start(rank)", "start(rank + 1) - start(rank) - 1", "one key is not sent", _REFERENCE),
    Mutation("cg", "cg/vectors.cpp", "seed = 314159265", "seed = 314159269", "another seed"),
    Mutation("cg", "cg/vectors.cpp", "own_value = 0.5", "own_value = 0.49", "another value on the diagonal"),
    Mutation("cg", "cg/vectors.cpp", "if (place < order_)", "if (place + 1 < order_)", "the last row is never drawn"),
    Mutation("cg", "cg/vectors.cpp", "static_cast<void>(random_.next());", "", "the first number is not thrown away"),
    Mutation("cg", "cg/matrix.cpp", "condition = 0.1;", "condition = 0.11;", "another condition"),
    Mutation("cg", "cg/solve.cpp", "inner_steps = 25", "inner_steps = 24", "an inner step fewer"),
    Mutation("cg", "cg/solve.cpp", "inner_steps = 25", "inner_steps = 26", "an inner step more"),
    Mutation("cg", "cg/solve.cpp", "square / before", "before / square", "the wrong beta"),
    Mutation("cg", "cg/classes.hpp", "1400, 7, 15, 10,", "1400, 7, 14, 10,", "an outer step fewer"),
    Mutation("cg", "cg/classes.hpp", "1400, 7, 15, 10,", "1400, 7, 15, 10.5,", "another shift"),
    Mutation("cg", "cg/classes.hpp", "1400, 7, 15, 10,", "1400, 8, 15, 10,", "another number of nonzeros"),
    Mutation("mg", "mg/charges.cpp", "seed = 314159265", "seed = 314159269", "another seed"),
    Mutation("mg", "mg/charges.cpp", "charges_of_a_sign = 10", "charges_of_a_sign = 9", "nine charges of a sign"),
    Mutation("mg", "mg/charges.cpp", "shift = 1;", "shift = 0;", "charges off the coarser grids by one"),
    Mutation("mg", "mg/classes.hpp", ".corner = -1.0 / 12", ".corner = -1.0 / 13", "another Laplacian"),
    Mutation("mg", "mg/classes.hpp", "-1.0 / 64", "-1.0 / 63", "another smoother"),
    Mutation("mg", "mg/classes.hpp", "32, 4, smoother_a", "32, 3, smoother_a", "a V-cycle fewer"),
    Mutation("mg", "mg/transfer.cpp", "+ quarter * corners", "+ half * corners", "another restriction"),
    Mutation("mg", "mg/transfer.cpp", "half * (here + right_of", "quarter * (here + right_of", "another prolongation"),
    Mutation("mg", "mg/multigrid.cpp", "coarsest_edge = 2;", "coarsest_edge = 4;", "the coarsest grid left out"),
    Mutation("ft", "ft/problem.cpp", "seed = 314159265", "seed = 314159269", "another seed"),
    Mutation("ft", "ft/evolution.cpp", "diffusivity = 1e-6", "diffusivity = 1.000001e-6", "another diffusivity"),
    Mutation("ft", "ft/evolution.cpp", "number - edge;", "number - edge + 1;", "negative waves off by one"),
    Mutation("ft", "ft/evolution.cpp", "number < edge / 2", "number < edge / 2 - 1", "one wave folded too early"),
    Mutation("ft", "ft/checksum.cpp", "summands = 1024", "summands = 1023", "a summand fewer"),
    Mutation("ft", "ft/checksum.cpp", "3 * number", "2 * number", "other points in y"),
    Mutation("ft", "ft/checksum.cpp", "5 * number", "4 * number", "other points in z"),
    Mutation("ft", "ft/checksum.cpp", "1.0 / edges.points()", "1.0 / (edges.points() + 1)", "another scale"),
    Mutation("ft", "ft/problem.cpp", "problem.edges, iteration}", "problem.edges, iteration - 1}", "evolution a step late"),
    Mutation("lu", "lu/scheme.hpp", "over_relaxation = 1.2;", "over_relaxation = 1.21;", "another relaxation"),
    Mutation("lu", "lu/scheme.hpp", "3 * 6 * fourth", "3 * 5 * fourth", "another fourth difference"),
    Mutation("lu", "lu/scheme.hpp", "twice * flow::viscosity * 3 *", "twice * flow::viscosity * 2 *", "less conduction on the diagonal"),
    Mutation("lu", "lu/scheme.hpp", "1 / (omega * (2 - omega))", "1 / omega", "another update"),
    Mutation("lu", "lu/jacobians.hpp", "extra = flow::normal_viscosity - 1", "extra = flow::normal_viscosity", "more viscosity along an axis"),
    Mutation("lu", "lu/classes.hpp", "{12, 50, 0.5}", "{12, 49, 0.5}", "a step fewer"),
    Mutation("lu", "lu/norms.cpp", "{1, last - 1}", "{1, last}", "the surface a layer too wide"),
    Mutation("lu", "lu/norms.cpp", "{2, last}", "{1, last}", "the surface a layer too high"),
    Mutation("lu", "flow/exact.cpp", "{0.5, 0.4, 0.3}", "{0.5, 0.4, 0.30001}", "another exact solution"),
    Mutation("bt", "bt/lines.cpp", "time_step * steps / 2", "time_step * steps / 3", "less convection in the Jacobian"),
    Mutation("bt", "bt/lines.cpp", "time_step * dissipation * steps * steps", "time_step * dissipation * steps", "less dissipation in the Jacobian"),
    Mutation("bt", "bt/lines.cpp", "flow::dissipation_z", "flow::dissipation_y", "the dissipation of another axis"),
    Mutation("bt", "bt/jacobians.hpp", "(2.0 - compression)", "(2.0 + compression)", "a wrong sign in a Jacobian"),
    Mutation("bt", "bt/elimination.hpp", "[row] += 1.0;", "[row] += 1.00001;", "the identity a little too large"),
    Mutation("bt", "bt/classes.hpp", "{12, 60, 0.010}", "{12, 59, 0.010}", "a step fewer"),
    Mutation("bt", "flow/physics.hpp", "conduction = 1.96", "conduction = 1.95", "another conduction"),
    Mutation("bt", "flow/physics.hpp", "fourth_dissipation = 0.25", "fourth_dissipation = 0.24", "another dissipation"),
    Mutation("bt", "flow/forcing.cpp", "scale = -1;", "scale = 1;", "the forcing's sign"),
    Mutation("bt", "flow/border.cpp", "view.at(0, y - ghost_layers)", "view.at(0, y - ghost_layers - 1)", "a border of the wrong rows"),
    Mutation("sp", "sp/matrices.cpp", "time_step * steps / 2", "time_step * steps / 3", "less convection in the matrices"),
    Mutation("sp", "sp/matrices.cpp", "diffusive * flow::dissipation_z", "diffusive * flow::dissipation_y", "the dissipation of another axis"),
    Mutation("sp", "sp/matrices.cpp", "flow::viscosity * flow::conduction", "flow::viscosity", "less conduction in the matrices"),
    Mutation("sp", "sp/eigenvectors.hpp", "half_root = 0.70710678", "half_root = 0.70710679", "the root of a half to seven digits"),
    Mutation("sp", "sp/elimination.hpp", "(1.0 + weight[2])", "(1.0 - weight[2])", "a wrong sign on the diagonal"),
    Mutation("sp", "sp/elimination.hpp", "Number(lower - before.sound)", "Number(lower + before.sound)", "sound that travels the wrong way"),
    Mutation("sp", "sp/classes.hpp", "{12, 100, 0.015}", "{12, 99, 0.015}", "a step fewer"),
    Mutation("sp", "flow/physics.hpp", "{{0, 0, 5, -4,", "{{0, 0, 6, -4,", "the fourth difference at the boundary"),
    Mutation("sp", "flow/physics.hpp", "place == edge - 3", "place == edge - 4", "the boundary's form at the wrong place"),
    Mutation("sp", "flow/right_hand_side.cpp", "-= 2.0 * diffusion", "-= 1.99 * diffusion", "another second difference"),
)  # fmt: skip
