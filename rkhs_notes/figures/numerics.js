// What the figures compute. No browser is needed here: the tests run this file in node.

const dot = (a, b) => a.reduce((sum, ai, i) => sum + ai * b[i], 0);
const square = a => dot(a, a);
const times = (A, b) => A.map(row => dot(row, b));
const mean = a => a.reduce((sum, ai) => sum + ai, 0) / a.length;

// the Gaussian kernel of all pairs of rows: exp(−‖x − z‖² / (2 bandwidth²))
const gram = (X, Z, bandwidth) => X.map(x => Z.map(z =>
  Math.exp(-x.reduce((r2, xi, i) => r2 + (xi - z[i]) ** 2, 0) / (2 * bandwidth ** 2))));

// L with A = L Lᵀ; null where a pivot is so small that half of the digits would be lost
function cholesky(A) {
  const L = A.map(() => []);
  for (let j = 0; j < A.length; j++) {
    const pivot = A[j][j] - square(L[j]);
    if (pivot < 1e-8 * A[j][j]) return null;
    for (let i = j; i < A.length; i++)
      L[i][j] = (A[i][j] - dot(L[j].slice(0, j), L[i])) / Math.sqrt(pivot);
  }
  return L;
}

// L⁻¹ b, and (L Lᵀ)⁻¹ b
const halfSolve = (L, b) => L.reduce((x, row, i) => [...x, (b[i] - dot(x, row)) / row[i]], []);
function solve(L, b) {
  const x = halfSolve(L, b);
  for (let i = b.length - 1; i >= 0; i--) {
    x[i] /= L[i][i];
    for (let j = 0; j < i; j++) x[j] -= L[i][j] * x[i];
  }
  return x;
}

const column = (points, j) => points.map(p => p[j]);
const line = ts => ts.map(t => [t]);

// the function of least norm through the points: K alpha = y   (3.10)
function interpolant({points, bandwidth}, ts) {
  const X = line(column(points, 0)), y = column(points, 1);
  const L = cholesky(gram(X, X, bandwidth));
  if (!L) return null;
  const alpha = solve(L, y);
  return {norm: Math.sqrt(dot(y, alpha)), f: times(gram(line(ts), X, bandwidth), alpha)};
}

// posterior mean and standard deviation, and the evidence   (5.11), (5.12)
function posterior({points, bandwidth, noise}, ts) {
  const X = line(column(points, 0)), y = column(points, 1), K = gram(X, X, bandwidth);
  const L = cholesky(K.map((row, i) => row.map((k, j) => i === j ? k + noise : k)));
  if (!L) return null;
  const alpha = solve(L, y), kx = gram(line(ts), X, bandwidth);
  const logDet = 2 * L.reduce((sum, row, i) => sum + Math.log(row[i]), 0);
  return {
    mean: times(kx, alpha),
    sd: kx.map(k => Math.sqrt(Math.max(0, 1 - square(halfSolve(L, k))))),
    evidence: -(dot(y, alpha) + logDet + y.length * Math.log(2 * Math.PI)) / 2,
  };
}

// the soft-margin machine: pair steps on b = αy; the partner is the point with which a step gains most   (7.3)
function machine({points, labels, bandwidth, C}, places) {
  const K = gram(points, points, bandwidth), b = labels.map(() => 0), g = [...labels];   // g = y − K b
  const most = labels.map(y => y > 0 ? C : 0), rooms = i => [most[i] - b[i], b[i] - most[i] + C];
  let rise = 0, fall = 0;
  for (let step = 0; step < 1e5; step++) {
    const all = b.map((_, i) => i), up = all.filter(i => rooms(i)[0] > 0), low = all.filter(i => rooms(i)[1] > 0);
    const i = up.reduce((best, i) => g[i] > g[best] ? i : best);
    [rise, fall] = [g[i], Math.min(...low.map(j => g[j]))];
    if (rise - fall < 1e-9) break;
    const bend = j => Math.max(K[i][i] + K[j][j] - 2 * K[i][j], 1e-12);
    const gain = j => Math.max(0, g[i] - g[j]) ** 2 / bend(j);
    const j = low.reduce((best, j) => gain(j) > gain(best) ? j : best);
    const t = Math.min((g[i] - g[j]) / bend(j), rooms(i)[0], rooms(j)[1]);
    b[i] = t === rooms(i)[0] ? most[i] : b[i] + t;
    b[j] = t === rooms(j)[1] ? most[j] - C : b[j] - t;
    g.forEach((_, l) => { g[l] -= t * (K[i][l] - K[j][l]); });
  }
  const free = g.filter((_, i) => rooms(i)[0] > 0 && rooms(i)[1] > 0);
  const offset = free.length ? mean(free) : (rise + fall) / 2;
  return {
    alpha: b.map(Math.abs), offset, violation: rise - fall, margin: 1 / Math.sqrt(dot(b, times(K, b))),
    decision: times(gram(places, points, bandwidth), b).map(f => f + offset),
  };
}

// two mean embeddings, their difference and its squared norm   (11.2), (11.6)
function witness({points, labels, bandwidth}, ts) {
  const [X, Y] = [1, -1].map(side => line(column(points.filter((_, i) => labels[i] === side), 0)));
  const [p, q] = [X, Y].map(Z => gram(line(ts), Z, bandwidth).map(mean));
  const average = (X, Y) => mean(gram(X, Y, bandwidth).map(mean));
  return {p, q, f: p.map((pi, i) => pi - q[i]),
          squared: Math.max(0, average(X, X) + average(Y, Y) - 2 * average(X, Y))};
}
