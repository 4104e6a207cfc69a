/* node queries.js SITE < JSON list of queries: for each, the three places that the site's search lists first.
   It runs what a browser runs, on the built site. */
const fs = require("fs"), path = require("path"), vm = require("vm");
const context = vm.createContext({});
context.window = context;
for (const name of ["minisearch", "ranking", "sections"])
  vm.runInContext(fs.readFileSync(path.join(process.argv[2], "_static", `${name}.js`), "utf8"), context);
const search = context.makeSearch(context.SECTIONS);
const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((query) => search(query).slice(0, 3).map(({ place }) => place));
console.log(JSON.stringify(answers));
