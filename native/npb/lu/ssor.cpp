// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/ssor.hpp"

#include <algorithm>

#include "npb/flow/exact.hpp"

namespace tare::npb::lu {

namespace {

constexpr int derived_planes = 3;

std::vector<Pencil> pencils_of(const Layout& layout, Simd simd, int threads) {
    std::vector<Pencil> pencils;
    for (const Mesh& mesh : layout.pencils(threads)) {
        pencils.emplace_back(mesh, residual::functions(simd));
    }
    return pencils;
}

}  // namespace

Pencil::Pencil(const Mesh& mesh, const residual::Functions& functions)
    : mesh_{mesh}, functions_{functions}, derived_{derived_planes * plane_numbers()}, own_waves_{2} {}

void Pencil::begin(const Field& field) {
    derive(field, -1);
    derive(field, 0);
}

void Pencil::residual(const Field& field, int z, const ResidualFactors& factors, GroupField& forcing,
                      GroupField& result) {
    derive(field, z + 1);
    const residual::Planes planes{.field = {field.plane(z - 2), field.plane(z - 1), field.plane(z),
                                            field.plane(z + 1), field.plane(z + 2)},
                                  .derived = {derived(z - 1), derived(z), derived(z + 1)}};
    functions_.residual(mesh_, factors, planes, forcing.plane(z).data(), result.plane(z).data());
}

void Pencil::clear(std::span<double> passed) const {
    const std::span diagonals{mesh_.diagonals, static_cast<std::size_t>(mesh_.count)};
    const auto begin_of = [&](int diagonal) {
        return diagonal == mesh_.count
                   ? passed.end()
                   : passed.begin() + diagonals[static_cast<std::size_t>(diagonal)].group_offset;
    };
    std::fill(begin_of(mesh_.first), begin_of(mesh_.end), 0.0);
}

double* Pencil::derived(int z) {
    const int slot = (z + derived_planes) % derived_planes;
    return &derived_.span()[static_cast<std::size_t>(slot) * plane_numbers()];
}

Ssor::Ssor(const Block& block, double time_step, Simd simd, int threads)
    : block_{block},
      layout_{block.x.count, block.y.count},
      sweep_{sweep::functions(simd)},
      time_step_{time_step},
      factors_{SweepFactors::of(block.spacing(), time_step)},
      field_{block, layout_},
      forcing_{layout_, block.z.count},
      change_{layout_, block.z.count},
      passed_{layout_, 1},
      pencils_{pencils_of(layout_, simd, threads)},
      halo_{block, layout_},
      up_{.threads = {static_cast<int>(pencils_.size()), Direction::up},
          .ranks = {block, layout_, Direction::up}},
      down_{.threads = {static_cast<int>(pencils_.size()), Direction::down},
            .ranks = {block, layout_, Direction::down}},
      times_{{"residual", "lower", "upper", "exchange", "wait"}},
      team_{static_cast<int>(pencils_.size())} {}

void Ssor::set_field(Point (*value)(double x, double y, double z)) {
    field_.set(value, team_);
    team_.run([&](int thread) {
        for (int z = 0; z < block_.z.count; ++z) {
            halo_.reflect(field_, z, pencil(thread).mesh());
        }
    });
    halo_.exchange(field_, team_);
}

void Ssor::set_forcing() {
    set_field(flow::exact);
    all_residuals(1, forcing_);
}

GroupField& Ssor::residual() {
    all_residuals(1, change_);
    return change_;
}

void Ssor::sweep() {
    up_.restart();
    down_.restart();
    team_.run([&](int thread) {
        go_up(thread);
        go_down(thread);
    });
    up_.ranks.finish();
    down_.ranks.finish();
}

void Ssor::exchange() {
    times_.time(Work::exchange, [&] { halo_.exchange(field_, team_); });
}

template <typename Function>
void Ssor::time(int thread, Work work, const Function& function) {
    if (thread == 0) {
        times_.time(work, function);
    } else {
        function();
    }
}

void Ssor::all_residuals(double scale, GroupField& result) {
    const ResidualFactors factors = ResidualFactors::of(block_.spacing(), scale);
    team_.run([&](int thread) {
        pencil(thread).begin(field_);
        for (int z = 0; z < block_.z.count; ++z) {
            time(thread, Work::residual,
                 [&] { pencil(thread).residual(field_, z, factors, forcing_, result); });
        }
    });
}

void Ssor::go_up(int thread) {
    const ResidualFactors factors = ResidualFactors::of(block_.spacing(), time_step_);
    Pencil& own = pencil(thread);
    own.clear(passed_.plane(0));
    own.begin(field_);
    for (int z = 0; z < block_.z.count; ++z) {
        time(thread, Work::residual, [&] { own.residual(field_, z, factors, forcing_, change_); });
        wait_for(up_, thread, z);
        time(thread, Work::lower, [&] {
            sweep_.lower(own.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                         passed_.plane(0).data(), waves(up_, thread, z), up_.ranks.outflow(z));
        });
        pass_on(up_, thread, z);
    }
}

void Ssor::go_down(int thread) {
    Pencil& own = pencil(thread);
    own.clear(passed_.plane(0));
    for (int stage = 0; stage < block_.z.count; ++stage) {
        const int z = block_.z.count - 1 - stage;
        wait_for(down_, thread, stage);
        time(thread, Work::upper, [&] {
            sweep_.upper(own.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                         passed_.plane(0).data(), waves(down_, thread, stage), down_.ranks.outflow(stage));
            halo_.reflect(field_, z, own.mesh());
        });
        pass_on(down_, thread, stage);
    }
}

sweep::Waves Ssor::waves(Wavefront& wavefront, int thread, int stage) {
    return pencil(thread).waves(wavefront.threads.received(thread, stage),
                                wavefront.threads.to_send(thread, stage));
}

void Ssor::wait_for(Wavefront& wavefront, int thread, int stage) {
    time(thread, Work::wait, [&] {
        if (is_alone()) {
            wavefront.ranks.wait_for(stage);
        } else {
            wait_until([&] { return wavefront.threads.is_free(thread, stage) && wavefront.ranks.has(stage); },
                       [&] {
                           if (thread == 0) {
                               progress(wavefront);
                           }
                       });
        }
        wavefront.ranks.add(stage, pencil(thread).mesh(), passed_.plane(0));
    });
}

void Ssor::pass_on(Wavefront& wavefront, int thread, int stage) {
    wavefront.threads.has_done(thread, stage);
    if (is_alone()) {
        wavefront.ranks.send(wavefront.threads.complete());
    } else if (thread == 0) {
        progress(wavefront);
    }
}

void Ssor::progress(Wavefront& wavefront) {
    up_.progress();
    if (&wavefront == &down_) {
        down_.progress();
    }
}

}  // namespace tare::npb::lu
