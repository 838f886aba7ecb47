"use strict";
// Tables that can be sorted and filtered. No text of a result is ever read as HTML, and nothing is fetched.
(() => {
  const $ = (id) => document.getElementById(id);
  const collator = new Intl.Collator("en", { numeric: true });

  // --- sorting: a button in each heading of a table of the class `sorted` ---------------------------------------------------------
  const content = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort ?? cell.textContent.trim();
  };
  for (const table of document.querySelectorAll("table.sorted")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const order = { none: "ascending", ascending: "descending", descending: "none" }[heading.getAttribute("aria-sort") ?? "none"];
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        if (order !== "none") heading.setAttribute("aria-sort", order);
        const rows = [...original];
        if (order !== "none") {
          const sign = order === "ascending" ? 1 : -1;
          rows.sort((a, b) => {
            const [x, y] = [content(a, column), content(b, column)];
            if (x === "" || y === "") return (x === "") - (y === ""); // what is not known comes last
            return sign * collator.compare(x, y);
          });
        }
        body.append(...rows);
      });
    });
  }

  // --- filters of the tables of goals: a closed one opens where something in it is looked for, and hides where nothing is -----------
  const tables = [...document.querySelectorAll("table.goals")];
  if (tables.length) {
    const rows = tables.flatMap((table) => [...table.tBodies[0].rows]).map((row) => ({ row, text: row.textContent.toLowerCase() }));
    const selects = ["verdict", "ruling", "criterion"].map((key) => [key, $(`goal-${key}`)]).filter(([, select]) => select);
    const filter = () => {
      const words = $("goal-text").value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { row, text } of rows) {
        const fits = words.every((word) => text.includes(word)) && selects.every(([key, select]) => !select.value || row.dataset[key] === select.value);
        row.hidden = !fits;
        shown += fits;
      }
      const looking = words.length > 0 || selects.some(([, select]) => select.value);
      for (const table of tables) {
        const group = table.closest("details"), found = [...table.tBodies[0].rows].some((row) => !row.hidden);
        if (group && looking) group.open = found;
        if (group) group.hidden = looking && !found;
      }
      $("goal-told").textContent = `${shown} of ${rows.length} goals`;
    };
    $("goal-text").addEventListener("input", filter);
    for (const [, select] of selects) select.addEventListener("change", filter);
    filter();
  }

  // --- on paper everything is open ------------------------------------------------------------------------------------------------
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });

  // --- on a narrow screen each cell of such a table names its column -------------------------------------------------------------------
  for (const table of document.querySelectorAll("table.stacked")) {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, column) => { cell.dataset.label = names[column]; });
  }
})();
