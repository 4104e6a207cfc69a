/* What the search finds first. makeSearch(SECTIONS) returns search(query) -> sections, best first. A query is a few
   things, each one word or a phrase that has other names; a section scores what MiniSearch's BM25+ gives it for each
   of them, in its title above the words it defines, its page's title and its text; courses stand before engines. */
var makeSearch = (() => {
  const BOOST = { title: 5, names: 6, page: 2, text: 1 };
  const NAMED = 2; // times, where a section carries the very name
  const OTHER = 0.7; // where a thing is found under another name
  const NEAR = 0.3; // a thing that only another section of the page has
  const TOGETHER = 0.5; // more, where words stand together as they do in the query
  const WHOLE = 1.2, AGAIN = 0.75, POOL = 0.15; // the head of a page; its next section; the page's other sections
  const ROOM = { course: 1.5, deeper: 1.2, apps: 1.1, front: 0.5, engines: 0.6, base: 0.8, api: 0.4, answers: 0.4,
    benchmarks: 0.6 };
  const PASSING = /^(Exercises|On one screen|Break it)$/; // a section that is not where a thing is explained
  const STOP = new Set(`a about am an and any are as at be been but by can could did do does for from get give given
    has have how i if in into is it its just like make many me much must my need of on or our please shall
    should show so some tell than that the their them then there these they this those to too two up us use used
    using want was we were what when where which who whom why will with work works would you your vs versus rn
    rkhs_notes python explain explained`.split(/\s+/));

  // what people say | what the notes say. The words of the house and their other names come with SECTIONS.
  const SAID = `
    choose lambda, choose lam, choose penalty, choose regularisation parameter | leave one out, choosing lambda
    choose bandwidth, choose gamma, choose length scale, choose lengthscale, choose kernel width | how wide, median distance
    closure, combine kernels, sum product, sum product kernels | the algebra, algebra
    preimage, pre image, inverse_transform, inverse transform | the way back, pre image
    choose, select, pick, tune, tuning, find best, optimal, set | choosing, best
    lambda, lam, alpha, regularisation strength, regularisation parameter | penalty, smooth, leave-one-out
    hyperparameter, hyperparameters | choosing, bandwidth, leave-one-out, evidence
    cross validation, cv, grid search | leave-one-out, path
    error bar, uncertainty, confidence interval, confidence band, prediction interval, credible band, credible interval | posterior
    rbf, squared exponential, radial basis function | gaussian kernel
    gamma, length scale, lengthscale, kernel width, sigma | bandwidth
    svm, svc, support vector machine, support vector classifier | support vector machine, keep few points
    svr, support vector regression | measurements, tube
    gp, gpr, gaussian process regression | gaussian process, random functions
    krr, kernel ridge | ridge
    rff, random fourier features | random features, fourier features
    loo, loocv | leave-one-out
    pca | principal components, kernel pca
    cca | kernel cca
    ica | unmixing, independent components
    psd, positive definite, valid kernel, kernel valid | positive semidefinite
    classify, classification, classifier, classes | classes, machine
    two sample, two samples, compare two samples, a/b test | two samples
    drift, dataset shift, distribution shift, covariate shift | drift, two samples
    large n, large data, big data, memory, out of memory, scalable, huge data | scale, no gram matrix fits
    gpu | scale, arrays
    online, streaming, incremental, partial fit | streams
    outlier, outliers, anomaly, novelty, one class svm | one class
    denoise, denoising, remove noise | noise, way back, denoising
    missing data, missing values, inpainting | missing
    probability calibration, calibrated probabilities, predict_proba | probabilities
    dimension reduction, dimensionality reduction | principal components, kernel pca
    overfitting, overfit | interpolation, overfitting
    independence test, dependence test | dependence, independence
    normality test | is normal, stein
    goodness of fit | stein, sample against a formula
    p value, significance | is it chance, level, null distribution
    text, strings, sequence, documents | texts, words
    install, installation, setup, pip | install, commands
    homework, assignment, grading | grade, classroom
    sklearn, scikit learn | estimators, scikit-learn
    equivalent, counterpart | for people who come from
    multiclass | many classes
    heteroscedastic | noise depends on the input
    neural network, deep learning | network, layers
    gradient descent, sgd | stochastic gradients, sgd
    convergence rate, learning rate | rates, step
    wasserstein, kl divergence | mmd
    eigenvalue, eigenvalues, spectrum | spectrum, eigenfunctions
    sample size, samples given accuracy, enough data, data needed | more data, learning curve
    speed, speed comparison, faster, benchmark, benchmarks, performance comparison | races, times
    image, photo | photograph, picture
    dataset, datasets, data set, data sets, example data | datasets, data sets
    sample weight, sample weights, weighted samples, weighted data | weights
    update model, new data, refit | stream
    feature selection, variable importance, ard | which columns matter
    intercept, bias term, constant term | not be penalised, constant
    quantile regression, pinball | quantile
    multi output, multioutput, multitask, vector valued | targets, targets at once
    step size, stepsize | long step, step
    which features, important features, feature importance | which columns
    save, pickle, joblib, persist, serialize | keep a fit
    glossary, terminology, vocabulary | words of the house
    symbols | notation
    syllabus, curriculum, lecture plan, course plan, semester | meetings, lecturer, desk
    too many points, does not fit | scale, no gram matrix fits
    torch, pytorch, jax, cupy, tensor, tensors | arrays of other libraries, pytorch
    distance correlation | distance covariance`.trim().split("\n").map((line) =>
    line.split("|").map((side) => side.split(",")));

  const SIGNS = { "|": "‖", langle: "⟨", rangle: "⟩", to: "→", in: "∈", le: "≤", ge: "≥", cdot: "·", infty: "∞", ell: "ℓ",
    varphi: "φ", varepsilon: "ε", lambda: "λ", sigma: "σ", alpha: "α", mu: "μ", nu: "ν", gamma: "γ", pi: "π",
    mathcal: "", mathbb: "", dots: "…", sum: "Σ", sqrt: "√", times: "×", psi: "ψ", phi: "φ" };
  const GREEK = { α: "alpha", γ: "gamma", ε: "epsilon", λ: "lambda", μ: "mu", ν: "nu", σ: "sigma", φ: "phi", ψ: "psi" };

  function typed(text) { // $\|f\|$ is ‖f‖; a formula that cannot be typed is three dots
    return text.replace(/\$([^$]*)\$/g, (_, tex) => {
      const simple = tex.replace(/\\([a-z]+|\|) ?/gi, (sign, name) => SIGNS[name] ?? sign);
      return /[\\{}^]/.test(simple) || simple.length > 40 ? "…" : simple;
    });
  }

  function plain(text) { // Nyström is nystrom, λ is lambda
    return text.replace(/[α-ω]/g, (letter) => GREEK[letter] ?? letter)
      .normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[’']s\b/g, "");
  }

  function pieces(text) { // words, 5.1 and names in code
    return plain(text).match(/\d+[a-z]?\.\d+[a-z]?|[a-z\d_]+/gi) ?? [];
  }

  const cache = new Map();
  function stem(word) {
    if (!cache.has(word)) cache.set(word, shortened(word.toLowerCase()));
    return cache.get(word);
  }

  function shortened(word) { // kernels, centred, regularization: as far as English is regular
    if (/[_\d]/.test(word) || word.length < 4) return word.replace(/^0+(?=\d)/, "");
    let start = word.replace(/iz(e[ds]?|ing|ations?|ers?)$/, "is$1").replace(/centring/, "centering").replace(/centre/, "center");
    start = start.replace(/ies$/, "y").replace(/(ss|us|is)$|s$/, "$1");
    if (start.length > 5) start = start.replace(/(?:e?d|ing)$/, "").replace(/([bdgmnpt])\1$/, "$1");
    return start.length > 4 ? start.replace(/e$/, "") : start;
  }

  function parts(name) { // KernelRidge and kernel_ridge are two words as well
    const words = name.split(/_|(?<=[a-z])(?=[A-Z])/);
    return words.length > 1 ? [name, ...words] : [name];
  }

  const bracketed = (title) => (title.match(/\((.+)\)$/)?.[1] ?? "").split(/[;,] /);
  const isStop = (word) => STOP.has(word.toLowerCase()) || /^\D$/.test(word);
  const stems = (text) => pieces(text).filter((word) => !isStop(word)).map(stem);
  const isCode = (word) => /[a-z0-9]_[a-z]|[a-z][A-Z]/.test(word);

  // [[stems of what is said], [[stems of what is meant], ...], is it code of another library?], the longest first
  function synonyms(sections) {
    const found = [];
    for (const [said, meant] of SAID) for (const name of said) found.push([stems(name), meant.map(stems)]);
    for (const { names, kind } of sections)
      for (const entry of names.split(" | ")) {
        const [word, ...others] = entry.split(/[;,] /);
        found.push([stems(word), []]);
        for (const name of others)
          if (/^[^`(]{3,40}$/.test(name)) found.push([stems(name), [stems(word)], kind === "api"]);
      }
    return found.filter(([said]) => said.length).sort((a, b) => b[0].length - a[0].length);
  }

  function things(query, known) { // [[alternative, ...], ...]: an alternative is words that stand together
    const words = stems(query), code = new Set(pieces(query).filter(isCode).map(stem)), found = [];
    for (let i = 0; i < words.length;) {
      const same = known.filter(([said,, theirs]) =>
        said.every((word, j) => words[i + j] === word) && (!theirs || code.has(words[i])));
      const length = same[0]?.[0].length ?? 1;
      const others = same.filter(([said]) => said.length === length).flatMap(([, meant]) => meant);
      found.push([words.slice(i, i + length), ...others]);
      i += length;
    }
    return found;
  }

  // [[text, is it one of the words?], ...]: the line of a text that holds most of them
  function line(text, words, length = 170) {
    const marked = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map((found) => {
      const own = stem(plain(found[0]));
      return [found.index, found[0], words.some((word) => own === word || (word.length > 3 && own.startsWith(word)))];
    });
    const hits = marked.filter(([,, is]) => is).map(([at]) => at);
    const count = (start) => new Set(marked.filter(([at,, is]) => is && at >= start && at < start + length - 20)
      .map(([, word]) => stem(plain(word)))).size;
    const best = Math.max(0, ...hits.map(count)), first = hits.find((at) => count(at) === best) ?? 0;
    const start = first < length / 2 ? 0 : marked.find(([at]) => at >= first - 40)[0];
    const end = text.length <= start + length ? text.length : text.lastIndexOf(" ", start + length);
    const pieces = [[start ? "… " : "", false]];
    let last = start;
    for (const [at, word, is] of marked) {
      if (!is || at < start || at + word.length > end) continue;
      pieces.push([text.slice(last, at), false], [word, true]);
      last = at + word.length;
    }
    return [...pieces, [text.slice(last, end) + (end < text.length ? " …" : ""), false]];
  }

  function makeSearch(pages) { // {page: [kind, [[end, title, text, names], ...]]}
    const sections = Object.entries(pages).flatMap(([page, [kind, lines]]) => lines.map(([end, title, text, names]) =>
      ({ page, kind: kind.split("/")[0], end, title: typed(title), text: typed(text), names, of: typed(lines[0][1]) })));
    const index = new MiniSearch({
      fields: Object.keys(BOOST), idField: "id",
      tokenize: (text, field) => field === "title" ? pieces(text).flatMap(parts) : pieces(text),
      processTerm: (word) => isStop(word) ? null : stem(word),
    });
    index.addAll(sections.map(({ of, ...section }, id) => ({ ...section, id, page: section.end && of })));
    const known = synonyms(sections), called = new Map(); // the sections that carry a name: "hsic", "mercer"
    sections.forEach(({ kind, title, names }, id) => {
      if (kind === "api") return;
      for (const name of [title.replace(/^\w+ · /, ""), ...bracketed(title), ...names.split(/[;,|] /)]) {
        const key = stems(name).join(" ");
        called.set(key, [...called.get(key) ?? [], id]);
      }
    });

    function scores(words) { // {section: score} of words, all of which must be there
      const options = { boost: BOOST, combineWith: "AND", prefix: (word) => word.length > 3,
        fuzzy: (word) => word.length > 5 ? 0.15 : false, processTerm: (word) => word, tokenize: (text) => text.split(" ") };
      const found = new Map(index.search(words.join(" "), options).map(({ id, score }) => [id, score / Math.sqrt(words.length)]));
      for (const id of called.get(words.join(" ")) ?? []) found.set(id, NAMED * (found.get(id) ?? 10));
      return found;
    }

    function sums(wanted) { // {section: score}: for each thing wanted its best name; what misses some counts less
      const total = new Map(), there = {}; // the things that a page has somewhere
      wanted.forEach((alternatives, thing) => {
        const best = new Map();
        alternatives.forEach((words, i) => {
          for (const [id, score] of scores(words)) best.set(id, Math.max(best.get(id) ?? 0, i ? OTHER * score : score));
        });
        for (const [id, score] of best) {
          total.set(id, [...total.get(id) ?? [], score]);
          (there[sections[id].page] ??= new Set()).add(thing);
        }
      });
      return new Map([...total].map(([id, found]) => {
        const share = found.length + NEAR * (there[sections[id].page].size - found.length);
        return [id, found.reduce((a, b) => a + b) * (share / wanted.length) ** 2];
      }));
    }

    return function search(query) {
      const wanted = things(query, known), found = sums(wanted), words = wanted.flat(2), pages = {};
      const code = things(pieces(query).filter(isCode).join(" "), known).flat(2);
      for (const [id, score] of found) (pages[sections[id].page] ??= []).push(score);
      for (const page in pages) // what the best sections of a page have together
        pages[page] = pages[page].sort((a, b) => b - a).slice(0, 4).reduce((a, b) => a + b);
      const hits = [...found].map(([id, own]) => {
        const section = sections[id], { page, kind, end, title } = section;
        let score = (own + POOL * pages[page]) * (ROOM[kind] ?? 1);
        if (!end) score *= WHOLE;
        if (end && PASSING.test(title) && !words.includes(stem(title))) score *= 0.6;
        if (kind === "api" && code.includes(stem(title))) score *= 10;
        return { ...section, words, score, place: `${page}.html${end && `#${end}`}` };
      }).sort((a, b) => b.score - a.score);
      const typed = stems(query), pairs = typed.slice(1).map((word, i) => ` ${typed[i]} ${word} `);
      for (const hit of hits.slice(0, 80)) { // words that stand together in the query and in the section
        const said = ` ${stems(`${hit.title} ${hit.names} ${hit.text}`).join(" ")} `;
        for (const pair of pairs) if (said.includes(pair)) hit.score *= 1 + TOGETHER / pairs.length;
      }
      hits.sort((a, b) => b.score - a.score);
      const seen = {};
      for (const hit of hits) { // a page's second and third section make room for other pages
        seen[hit.page] = (seen[hit.page] ?? 0) + 1;
        hit.score *= AGAIN ** (seen[hit.page] - 1);
      }
      return hits.sort((a, b) => b.score - a.score);
    };
  }
  return Object.assign(makeSearch, { line });
})();
