/* Sphinx's search, ranked for readers of the notes: names of statements and words of the house (index), then
   chapters, front matter, engines and the API; answers and measurements come last. A name in code leads to the
   API when one has typed it whole. */
var Scorer = {
  objNameMatch: 60, objPartialMatch: 2, objPrio: { 0: 0, 1: 0, 2: -2 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, title, end, descr, score, file, kind]) => {
    if (kind === "object") return typed(title) ? score : Math.min(score, 4);
    if (/^(answers_|benchmarks)/.test(page)) return score - 30;
    if (/^(api\/|genindex)/.test(page)) return score - 10;
    return score + (/^\d\d/.test(page) ? 10 : 0);
  },
};

// "ridge_path" and "StreamingRidge" are names in code; "Mercer" and "witness" are words too
function typed(name) {
  return /[a-z0-9]_|[a-z][A-Z]/.test(name.split(".").pop());
}
