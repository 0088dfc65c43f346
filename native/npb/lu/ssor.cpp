// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/ssor.hpp"

#include <algorithm>

#include "npb/flow/exact.hpp"

namespace tare::npb::lu {

namespace {

constexpr int derived_planes = 3;

std::ptrdiff_t plane_numbers(const Layout& layout) { return layout.pitch() * quantities; }

}  // namespace

Ssor::Ssor(const Part& part, double time_step, Simd simd)
    : part_{part},
      layout_{part.x.count, part.y.count},
      residual_{residual::functions(simd)},
      sweep_{sweep::functions(simd)},
      time_step_{time_step},
      factors_{SweepFactors::of(part.spacing(), time_step)},
      field_{part, layout_},
      forcing_{layout_, part.z.count},
      change_{layout_, part.z.count},
      passed_{layout_, 1},
      derived_{static_cast<std::size_t>(derived_planes * plane_numbers(layout_))},
      wave_{1},
      exchange_{part, layout_},
      upwards_{part, layout_, Way::growing},
      downwards_{part, layout_, Way::falling},
      times_{{"residual", "lower", "upper", "exchange", "wait"}} {}

void Ssor::set_field(Point (*value)(double x, double y, double z)) {
    field_.set(value);
    for (int z = 0; z < part_.z.count; ++z) {
        exchange_.reflect(field_, z);
    }
    exchange_.exchange(field_);
}

void Ssor::set_forcing() {
    set_field(flow::exact);
    for_residuals(1, forcing_, [](int) {});
}

GroupField& Ssor::residual() {
    for_residuals(1, change_, [](int) {});
    return change_;
}

void Ssor::step() {
    std::ranges::fill(passed_.plane(0), 0.0);
    for_residuals(time_step_, change_, [&](int z) { lower(z); });
    upwards_.finish();
    std::ranges::fill(passed_.plane(0), 0.0);
    for (int z = part_.z.count - 1; z >= 0; --z) {
        upper(z);
    }
    downwards_.finish();
    times_.time(Work::exchange, [&] { exchange_.exchange(field_); });
}

template <typename Use>
void Ssor::for_residuals(double scale, GroupField& result, const Use& use) {
    const ResidualFactors factors = ResidualFactors::of(part_.spacing(), scale);
    derive(-1);
    derive(0);
    for (int z = 0; z < part_.z.count; ++z) {
        times_.time(Work::residual, [&] {
            derive(z + 1);
            residual_.residual(layout_.mesh(), factors, planes_around(z), forcing_.plane(z).data(),
                               result.plane(z).data());
        });
        use(z);
    }
}

residual::Planes Ssor::planes_around(int z) {
    return {.field = {field_.plane(z - 2), field_.plane(z - 1), field_.plane(z), field_.plane(z + 1),
                      field_.plane(z + 2)},
            .derived = {derived(z - 1), derived(z), derived(z + 1)}};
}

double* Ssor::derived(int z) {
    const int turn = (z + derived_planes) % derived_planes;
    return &derived_.span()[static_cast<std::size_t>(turn * plane_numbers(layout_))];
}

void Ssor::derive(int z) { residual_.derive(layout_.pitch(), field_.plane(z), derived(z)); }

void Ssor::lower(int z) {
    times_.time(Work::wait, [&] { upwards_.receive(passed_.plane(0)); });
    times_.time(Work::lower, [&] {
        sweep_.lower(layout_.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                     passed_.plane(0).data(), *wave_.data(), upwards_.outflow());
    });
    upwards_.send();
}

void Ssor::upper(int z) {
    times_.time(Work::wait, [&] { downwards_.receive(passed_.plane(0)); });
    times_.time(Work::upper, [&] {
        sweep_.upper(layout_.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                     passed_.plane(0).data(), *wave_.data(), downwards_.outflow());
        exchange_.reflect(field_, z);
    });
    downwards_.send();
}

}  // namespace tare::npb::lu
