// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/ssor.hpp"

#include "npb/flow/exact.hpp"

namespace tare::npb::lu {

namespace {

std::vector<Strip> strips_of(const Layout& layout, Simd simd, int threads) {
    std::vector<Strip> found;
    for (const Mesh& mesh : layout.strips(threads)) {
        found.emplace_back(mesh, residual::functions(simd));
    }
    return found;
}

}  // namespace

Ssor::Ssor(const Part& part, double time_step, Simd simd, int threads)
    : part_{part},
      layout_{part.x.count, part.y.count},
      sweep_{sweep::functions(simd)},
      time_step_{time_step},
      factors_{SweepFactors::of(part.spacing(), time_step)},
      field_{part, layout_},
      forcing_{layout_, part.z.count},
      change_{layout_, part.z.count},
      passed_{layout_, 1},
      strips_{strips_of(layout_, simd, threads)},
      exchange_{part, layout_},
      upwards_{.chain = {static_cast<int>(strips_.size()), Way::growing},
               .relay = {part, layout_, Way::growing}},
      downwards_{.chain = {static_cast<int>(strips_.size()), Way::falling},
                 .relay = {part, layout_, Way::falling}},
      times_{{"residual", "lower", "upper", "exchange", "wait"}},
      team_{static_cast<int>(strips_.size())} {}

void Ssor::set_field(Point (*value)(double x, double y, double z)) {
    field_.set(value, team_);
    team_.run([&](int thread) {
        for (int z = 0; z < part_.z.count; ++z) {
            exchange_.reflect(field_, z, strip(thread).mesh());
        }
    });
    exchange_.exchange(field_, team_);
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
    upwards_.restart();
    downwards_.restart();
    team_.run([&](int thread) {
        go_up(thread);
        go_down(thread);
    });
    upwards_.relay.finish();
    downwards_.relay.finish();
}

void Ssor::exchange() {
    times_.time(Work::exchange, [&] { exchange_.exchange(field_, team_); });
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
    const ResidualFactors factors = ResidualFactors::of(part_.spacing(), scale);
    team_.run([&](int thread) {
        strip(thread).begin(field_);
        for (int z = 0; z < part_.z.count; ++z) {
            time(thread, Work::residual,
                 [&] { strip(thread).residual(field_, z, factors, forcing_, result); });
        }
    });
}

void Ssor::go_up(int thread) {
    const ResidualFactors factors = ResidualFactors::of(part_.spacing(), time_step_);
    Strip& own = strip(thread);
    own.clear(passed_.plane(0));
    own.begin(field_);
    for (int z = 0; z < part_.z.count; ++z) {
        time(thread, Work::residual, [&] { own.residual(field_, z, factors, forcing_, change_); });
        wait_for(upwards_, thread, z);
        time(thread, Work::lower, [&] {
            sweep_.lower(own.mesh(), factors_, field_.plane(z), change_.plane(z).data(),
                         passed_.plane(0).data(),
                         own.waves(upwards_.chain.received(thread, z), upwards_.chain.to_hand_on(thread, z)),
                         upwards_.relay.outflow(z));
        });
        tell(upwards_, thread, z);
    }
}

void Ssor::go_down(int thread) {
    Strip& own = strip(thread);
    own.clear(passed_.plane(0));
    for (int turn = 0; turn < part_.z.count; ++turn) {
        const int z = part_.z.count - 1 - turn;
        wait_for(downwards_, thread, turn);
        time(thread, Work::upper, [&] {
            sweep_.upper(
                own.mesh(), factors_, field_.plane(z), change_.plane(z).data(), passed_.plane(0).data(),
                own.waves(downwards_.chain.received(thread, turn), downwards_.chain.to_hand_on(thread, turn)),
                downwards_.relay.outflow(turn));
            exchange_.reflect(field_, z, own.mesh());
        });
        tell(downwards_, thread, turn);
    }
}

void Ssor::wait_for(Course& course, int thread, int turn) {
    time(thread, Work::wait, [&] {
        if (is_alone()) {
            course.relay.wait_for(turn);
        } else {
            wait_until([&] { return course.chain.is_free(thread, turn) && course.relay.has(turn); },
                       [&] {
                           if (thread == 0) {
                               look(course);
                           }
                       });
        }
        course.relay.add(turn, strip(thread).mesh(), passed_.plane(0));
    });
}

void Ssor::tell(Course& course, int thread, int turn) {
    course.chain.has_done(thread, turn);
    if (is_alone()) {
        course.relay.send(course.chain.complete());
    } else if (thread == 0) {
        look(course);
    }
}

void Ssor::look(Course& course) {
    upwards_.look();
    if (&course == &downwards_) {
        downwards_.look();
    }
}

void Ssor::Course::restart() {
    chain.restart();
    relay.restart();
}

}  // namespace tare::npb::lu
