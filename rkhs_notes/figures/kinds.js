// What each figure computes, draws and says.

const CURVE = 121, GRID = 49;
const curve = (xs, ys, at, how) => path(xs.map((x, i) => at([x, ys[i]])), how);
const along = ([x0, x1]) => span(x0, x1, CURVE);
const singular = K => `Two points are closer than this kernel can tell apart: ${K} is singular up to rounding.`;

const FIGURES = {
  interpolant: {
    compute(state, window) {
      const ts = along(window), found = interpolant(state, ts);
      return found && {ts, ...found};
    },
    draw: (found, state, at) => found ? curve(found.ts, found.f, at, "a") : "",
    say: found => found ? `‖f‖ = ${brief(found.norm)}` : singular("K"),
  },

  posterior: {
    compute(state, window) {
      const ts = along(window), found = posterior(state, ts);
      return found && {ts, ...found};
    },
    draw(found, state, at) {
      if (!found) return "";
      const {ts, mean, sd} = found;
      const edge = side => ts.map((t, i) => at([t, mean[i] + side * 2 * sd[i]]));
      return path([...edge(1), ...edge(-1).reverse()], "band") + curve(ts, mean, at, "a");
    },
    say: found => found ? `log p(y) = ${brief(found.evidence)}; the band is at most ± ${brief(2 * Math.max(...found.sd))} wide`
      : singular("K + noise I"),
  },

  machine: {
    compute(state, [x0, x1, y0, y1]) {
      const xs = span(x0, x1, GRID), ys = span(y0, y1, GRID);
      return {xs, ys, ...machine(state, ys.flatMap(y => xs.map(x => [x, y])))};
    },
    draw({xs, ys, decision}, state, at) {
      const above = level => region(xs, ys, decision, level, at);
      const below = region(xs, ys, decision.map(f => -f), 0, at), none = above(0);
      return `<path d="${none.inside}" class="tint-a"/><path d="${below.inside}" class="tint-b"/>`
        + `<path d="${none.border}" class="ink"/>`
        + [1, -1].map(level => `<path d="${above(level).border}" class="dashed"/>`).join("");
    },
    say({alpha, margin}, {C}) {
      const kept = alpha.filter(a => a > 0).length, atPrice = alpha.filter(a => a === C).length;
      return `margin 1/‖f‖ = ${brief(margin)}; ${kept} of ${alpha.length} points are kept, ${atPrice} at the price C`;
    },
    of: (found, i) => `α = ${brief(found.alpha[i])}`,
  },

  witness: {
    compute(state, window) {
      const ts = along(window);
      return {ts, ...witness(state, ts)};
    },
    draw({ts, p, q, f}, {points, labels, bandwidth}, at) {
      const bump = ([x], i) => {
        const share = labels.filter(side => side === labels[i]).length;
        return curve(ts, gram(line(ts), [[x]], bandwidth).map(([k]) => k / share), at, labels[i] > 0 ? "bump a" : "bump b");
      };
      return points.map(bump).join("") + path([at([ts[0], 0]), at([ts[CURVE - 1], 0])], "axis")
        + curve(ts, p, at, "a") + curve(ts, q, at, "b") + curve(ts, f, at, "ink");
    },
    say: found => `‖μ_P − μ_Q‖² = ${found.squared < 1e-12 ? "0" : brief(found.squared)}`,
  },
};
