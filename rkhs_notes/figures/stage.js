// A figure with points to drag: by mouse or finger, or by Tab and the arrow keys (with Shift ten times as far).

const WIDTH = 640, EDGE = {left: 34, right: 8, top: 8, bottom: 22};
const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
const brief = v => String(+v.toPrecision(3)).replace("-", "−");
const clamp = (v, low, high) => Math.min(high, Math.max(low, v));
const span = (low, high, n) => Array.from({length: n}, (_, i) => low + (high - low) * i / (n - 1));

// from data to the 640 × height units of the svg, and back
function scales([x0, x1, y0, y1], height) {
  const w = WIDTH - EDGE.left - EDGE.right, h = height - EDGE.top - EDGE.bottom;
  return {
    at: ([x, y]) => [EDGE.left + (x - x0) / (x1 - x0) * w, EDGE.top + (y1 - y) / (y1 - y0) * h]
      .map(v => v.toFixed(1)).join(" "),
    back: ([u, v]) => [x0 + (u - EDGE.left) / w * (x1 - x0), y1 - (v - EDGE.top) / h * (y1 - y0)],
  };
}

// about five round numbers
function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough);
  return span(Math.ceil(low / step), Math.floor(high / step), Math.floor(high / step) - Math.ceil(low / step) + 1)
    .map(i => +(i * step).toPrecision(6));
}

const path = (places, how) => `<path d="M${places.join("L")}" class="${how}"/>`;

function axes([x0, x1, y0, y1], at, flat) {
  const label = (t, [u, v], how) => `<text x="${u}" y="${v}" class="${how}">${brief(t)}</text>`;
  const below = t => { const [u, v] = at([t, y0]).split(" ").map(Number); return label(t, [u, v + 15], "below"); };
  const beside = t => { const [u, v] = at([x0, t]).split(" ").map(Number); return label(t, [u - 5, v + 4], "beside"); };
  return path([at([x0, y1]), at([x0, y0]), at([x1, y0])], "axis") + ticks(x0, x1).map(below).join("")
    + (flat ? "" : ticks(y0, y1).map(beside).join(""));
}

// marching squares: the cells' parts where values ≥ level, and the border between
function region(xs, ys, values, level, at) {
  let inside = "", border = "";
  const corner = (i, j) => ({place: [xs[i], ys[j]], v: values[j * xs.length + i] - level});
  for (let j = 0; j + 1 < ys.length; j++)
    for (let i = 0; i + 1 < xs.length; i++) {
      const corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
      const polygon = [], crossings = [];
      corners.forEach((p, c) => {
        const q = corners[(c + 1) % 4], t = p.v / (p.v - q.v);
        if (p.v >= 0) polygon.push(at(p.place));
        if ((p.v >= 0) === (q.v >= 0)) return;
        crossings.push(at(p.place.map((x, axis) => x + t * (q.place[axis] - x))));
        polygon.push(crossings[crossings.length - 1]);
      });
      if (polygon.length) inside += `M${polygon.join("L")}Z`;
      for (let c = 0; c < crossings.length; c += 2) border += `M${crossings[c]}L${crossings[c + 1]}`;
    }
  return {inside, border};
}

// Makes the figure `box` live. spec: kind, window, height, points, labels, flat, sliders {name: value}
function play(box, spec) {
  const find = selector => box.querySelector(selector), [x0, x1, y0, y1] = spec.window;
  const svg = find("svg"), handles = [...box.querySelectorAll("[data-point]")], bars = [...box.querySelectorAll("input")];
  const {at, back} = scales(spec.window, spec.height), figure = FIGURES[spec.kind];
  let points, sliders, found;

  function draw() {
    const state = {points, labels: spec.labels, ...sliders};
    found = figure.compute(state, spec.window);
    find("[data-curves]").innerHTML = figure.draw(found, state, at);
    find("[role=status]").textContent = figure.say(found, state);
    handles.forEach((handle, i) => {
      handle.setAttribute("transform", `translate(${at(points[i])})`);
      handle.setAttribute("aria-valuenow", points[i][0].toPrecision(3));
      const [x, y] = points[i].map(brief), more = found && figure.of ? `, ${figure.of(found, i)}` : "";
      handle.setAttribute("aria-valuetext", (spec.flat ? `x = ${x}` : `x = ${x}, y = ${y}`) + more);
      if (found && found.alpha) handle.style.setProperty("--alpha", found.alpha[i] / sliders.C);
    });
    bars.forEach(bar => {
      const text = brief(sliders[bar.name]);
      bar.setAttribute("aria-valuetext", text);
      bar.nextElementSibling.textContent = text;
    });
  }
  function move(i, [x, y]) {
    points[i] = [clamp(x, x0, x1), spec.flat ? points[i][1] : clamp(y, y0, y1)];
    draw();
  }
  function start() {
    points = spec.points.map(p => [...p]);
    sliders = {...spec.sliders};
    bars.forEach(bar => { bar.value = 0; });
    draw();
  }

  handles.forEach((handle, i) => {
    handle.onpointerdown = e => { handle.setPointerCapture(e.pointerId); handle.focus(); e.preventDefault(); };
    handle.onpointermove = e => {
      if (!handle.hasPointerCapture(e.pointerId)) return;
      const {x, y} = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
      move(i, back([x, y]));
    };
    handle.onkeydown = e => {
      if (!ARROWS[e.key]) return;
      const [right, up] = ARROWS[e.key], step = e.shiftKey ? 0.1 : 0.01;
      move(i, [points[i][0] + right * step * (x1 - x0), points[i][1] + up * step * (y1 - y0)]);
      e.preventDefault();
    };
  });
  bars.forEach(bar => {                                  // from an eighth to eight times what it was
    bar.oninput = () => { sliders[bar.name] = spec.sliders[bar.name] * 8 ** bar.value; draw(); };
  });
  find("button").onclick = start;
  box.onkeydown = e => e.stopPropagation();              // in a notebook, arrow keys are shortcuts
  box.values = () => ({points: points.map(p => [...p]), labels: spec.labels, ...sliders, ...found});
  box.dataset.ready = "1";
  find("[data-axes]").innerHTML = axes(spec.window, at, spec.flat);
  start();
}
