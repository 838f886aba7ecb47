/* Search shows development notes and decisions last: each page of theirs comes after every other one. */
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Scorer === "undefined") return; // this page has no search
  Scorer.score = ([page, , , , score]) => (/^(development|adr)\//.test(page) ? score - 1000 : score);
});
