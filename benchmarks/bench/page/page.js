"use strict";
// The table of all rows, and the scatter of two configurations. All data stand in the element `data`; nothing is fetched, and no
// text of a row is ever read as HTML.
(() => {
  const { table, scatter } = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const options = (select, texts) => select.replaceChildren(...texts.map((text, order) => new Option(text, String(order))));

  // --- the table: columns, filters, order, and the page of rows that is shown ----------------------------------------------------
  const columns = table.columns;
  const named = Object.fromEntries(columns.map((column) => [column.name, column]));
  const value = (column, row) => (column.words ? column.words[column.cells[row]] : column.cells[row]);
  const collator = new Intl.Collator("en", { numeric: true });
  for (const column of columns) {
    if (!column.words) continue; // the place of each word in alphabetical order, so that rows are sorted by numbers
    const sorted = column.words.map((_, word) => word);
    const empty = (word) => column.words[word] === "" || column.words[word] === null;
    sorted.sort((a, b) => collator.compare(String(column.words[a] ?? ""), String(column.words[b] ?? "")));
    column.rank = [];
    sorted.forEach((word, place) => { column.rank[word] = empty(word) ? null : place; });
  }
  const rank = (column, row) => (column.rank ? column.rank[column.cells[row]] : column.cells[row]);
  const searched = table.searched.map((name) => named[name]).filter(Boolean);
  const text = new Array(table.rows);
  const textOf = (row) => (text[row] ??= searched.map((column) => value(column, row)).join("\n").toLowerCase().replace(/^|$/g, "\n"));

  const filters = table.filters.map((name) => {
    const column = named[name];
    const select = make("select", { id: `filter-${name}` });
    const order = (column.words ?? []).map((_, word) => word).sort((a, b) => (column.rank[a] ?? -1) - (column.rank[b] ?? -1));
    select.append(new Option("all", ""), ...order.map((word) => new Option(column.words[word] || "(none)", String(word))));
    select.addEventListener("change", () => refilter());
    $("filters").append(make("label", {}, `${column.label} `, select), " ");
    return { column, select };
  });
  let onlyChanged = null;
  if (named.change) {
    onlyChanged = make("input", { type: "checkbox", id: "only-changed" });
    onlyChanged.addEventListener("change", () => refilter());
    $("filters").append(make("label", {}, onlyChanged, " only changed rows"));
  }

  const all = Array.from({ length: table.rows }, (_, row) => row);
  let shown = all;
  let sorted = { column: null, down: false };
  let start = 0;
  const open = new Set();

  const refilter = () => {
    const words = [...$("text").value.toLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map(([, whole, part]) => (whole ? `\n${whole}\n` : part));
    const chosen = filters.filter(({ select }) => select.value !== "").map(({ column, select }) => [column.cells, Number(select.value)]);
    shown = all.filter((row) =>
      chosen.every(([cells, word]) => cells[row] === word) &&
      (!onlyChanged?.checked || value(named.change, row) !== "") &&
      words.every((word) => textOf(row).includes(word)));
    resort();
  };
  const resort = () => {
    const { column, down } = sorted;
    if (column) {
      const sign = down ? -1 : 1;
      shown.sort((a, b) => {
        const [x, y] = [rank(column, a), rank(column, b)];
        if (x === null || y === null) return (x === null) - (y === null) || a - b; // what is not known comes last
        return sign * (x - y) || a - b;
      });
    } else {
      shown.sort((a, b) => a - b);
    }
    start = 0;
    draw();
  };
  const visible = () => columns.filter((column) => column.shown);

  const head = $("list").tHead;
  const body = $("list").tBodies[0];
  const drawHead = () => {
    const cells = visible().map((column) => {
      const button = make("button", { type: "button" }, column.label, " ", make("span", { ariaHidden: "true" }));
      const cell = make("th", { scope: "col", className: column.words ? "text" : "" }, button);
      button.addEventListener("click", () => {
        sorted = sorted.column === column ? (sorted.down ? { column: null, down: false } : { column, down: true }) : { column, down: false };
        markOrder();
        resort();
      });
      cell.column = column;
      return cell;
    });
    head.replaceChildren(make("tr", {}, ...cells, make("th", { scope: "col", className: "text" }, "files")));
    markOrder();
  };
  const markOrder = () => {
    for (const cell of head.rows[0].cells) {
      if (!cell.column) continue;
      const here = cell.column === sorted.column;
      cell.setAttribute("aria-sort", here ? (sorted.down ? "descending" : "ascending") : "none");
      cell.querySelector("span").textContent = here ? (sorted.down ? "▼" : "▲") : "↕";
    }
  };
  const linkTo = (address) => make("a", { href: address }, decodeURIComponent(address.split("/").pop()));
  const links = (row) => table.links[row].filter(Boolean).flatMap((address) => [linkTo(address), " "]);
  const FEW_LINKS = 2; // the log and the chain, or the list of chains; an opened row has all
  const tell = (found) => (found === null ? "" : String(found));

  const draw = () => {
    const size = Number($("size").value);
    const columnsShown = visible();
    const lines = [];
    for (const row of shown.slice(start, start + size)) {
      const line = make("tr", { className: named.change && value(named.change, row) ? "marked" : "" });
      for (const column of columnsShown) {
        const told = tell(value(column, row));
        if (column.name === "model") {
          const button = make("button", { type: "button", title: told }, make("span", { ariaHidden: "true" }, open.has(row) ? "▾ " : "▸ "), told || "(no name)");
          button.setAttribute("aria-expanded", String(open.has(row)));
          button.addEventListener("click", () => toggle(row, line, button));
          line.append(make("th", { scope: "row" }, button));
        } else {
          const bad = column.name === "status" && told !== "finished";
          line.append(make("td", { className: (column.words ? "text" : "") + (bad ? " status" : ""), title: told.length > 30 ? told : "" }, told));
        }
      }
      const [shownLinks, more] = [links(row).slice(0, 2 * FEW_LINKS), table.links[row].filter(Boolean).length - FEW_LINKS];
      line.append(make("td", { className: "text" }, ...shownLinks, more > 0 ? `and ${more} more` : ""));
      lines.push(line);
      if (open.has(row)) lines.push(detail(row));
    }
    body.replaceChildren(...lines);
    const n = (number) => number.toLocaleString("en");
    const many = shown.length === table.rows ? `of ${n(table.rows)}` : `of ${n(shown.length)} that fit (${n(table.rows)} in all)`;
    $("told").textContent = shown.length ? `Rows ${n(start + 1)} to ${n(Math.min(start + size, shown.length))} ${many}` : `No row fits (${n(table.rows)} in all)`;
    $("first").disabled = $("previous").disabled = start === 0;
    $("next").disabled = $("last").disabled = start + size >= shown.length;
  };
  const detail = (row) => {
    const list = make("dl");
    const addresses = links(row);
    if (addresses.length) list.append(make("dt", {}, "files"), make("dd", {}, ...addresses));
    for (const column of columns) {
      const told = tell(value(column, row));
      if (told !== "") list.append(make("dt", {}, column.label), make("dd", {}, told));
    }
    return make("tr", { className: "detail" }, make("td", { colSpan: visible().length + 1 }, list));
  };
  const toggle = (row, line, button) => {
    const opening = !open.has(row);
    if (opening) {
      open.add(row);
      line.after(detail(row));
    } else {
      open.delete(row);
      line.nextSibling.remove();
    }
    button.setAttribute("aria-expanded", String(opening));
    button.firstChild.textContent = opening ? "▾ " : "▸ ";
  };

  $("columns").append(...columns.filter((column) => column.name !== "model").map((column) => {
    const box = make("input", { type: "checkbox", checked: column.shown });
    box.addEventListener("change", () => {
      column.shown = box.checked;
      drawHead();
      draw();
    });
    return make("label", {}, box, ` ${column.label}`);
  }));
  const turn = (to) => {
    const size = Number($("size").value);
    start = Math.max(0, Math.min(to, Math.floor((shown.length - 1) / size) * size));
    draw();
  };
  $("text").addEventListener("input", refilter);
  $("size").addEventListener("change", () => turn(0));
  $("first").addEventListener("click", () => turn(0));
  $("previous").addEventListener("click", () => turn(start - Number($("size").value)));
  $("next").addEventListener("click", () => turn(start + Number($("size").value)));
  $("last").addEventListener("click", () => turn(Infinity));
  $("reset").addEventListener("click", () => {
    $("text").value = "";
    for (const { select } of filters) select.value = "";
    if (onlyChanged) onlyChanged.checked = false;
    sorted = { column: null, down: false };
    markOrder();
    refilter();
  });
  drawHead();
  refilter();

  // --- two configurations: the axes are those of the static picture, the points are drawn here ------------------------------------
  if (scatter.first) {
    const measures = Object.keys(scatter.values);
    const families = [...new Set(scatter.families)];
    options($("across"), scatter.configurations);
    options($("up"), scatter.configurations);
    options($("measure"), measures.map((measure) => scatter.labels[measure]));
    $("pair-family").append(new Option("all", ""), ...families.map((family) => new Option(family || "(none)", family)));
    [$("across").value, $("up").value] = scatter.first.map(String);
    const svg = "http://www.w3.org/2000/svg";

    const drawPairs = () => {
      const measure = measures[Number($("measure").value)];
      for (const each of measures) $(`scatter-${each}`).hidden = each !== measure;
      const picture = $(`scatter-${measure}`);
      const points = picture.querySelector(".points");
      const { left, bottom, right, top, low, high, border } = Object.fromEntries(Object.entries(points.dataset).map(([name, told]) => [name, Number(told)]));
      const at = (found) => (found === 0 ? 1 : border * Math.log(Math.min(Math.max(found, low), high) / low) / Math.log(high / low));
      const [across, up] = ["across", "up"].map((id) => Number($(id).value));
      const [xs, ys] = [scatter.values[measure][across], scatter.values[measure][up]];
      const count = { pairs: 0, across: 0, up: 0, equal: 0, onlyAcross: 0, onlyUp: 0, neither: 0 };
      points.replaceChildren();
      scatter.models.forEach((model, order) => {
        const [x, y] = [xs[order], ys[order]];
        if (x === null || y === null || ($("pair-family").value && scatter.families[order] !== $("pair-family").value)) return;
        count.pairs += 1;
        count[x && y ? (x < y ? "across" : y < x ? "up" : "equal") : x ? "onlyAcross" : y ? "onlyUp" : "neither"] += 1;
        const circle = document.createElementNS(svg, "circle");
        circle.setAttribute("class", x && y ? "point" : "point unsolved");
        circle.setAttribute("cx", (left + at(x) * (right - left)).toFixed(1));
        circle.setAttribute("cy", (bottom - at(y) * (bottom - top)).toFixed(1));
        circle.setAttribute("r", "4");
        const title = document.createElementNS(svg, "title");
        title.textContent = `${model}: ${x || "not solved"}, ${y || "not solved"}`;
        circle.append(title);
        circle.dataset.model = model;
        points.append(circle);
      });
      const [one, other] = [across, up].map((order) => scatter.configurations[order]);
      picture.querySelector(".x-label").textContent = `${one}: ${scatter.labels[measure]}`;
      picture.querySelector(".y-label").textContent = `${other}: ${scatter.labels[measure]}`;
      picture.querySelector("desc").textContent = `A point for each model: ${scatter.labels[measure]} with ${one} (across) and with ${other} (up); on the border if not solved.`;
      const less = measure === "length" ? "shorter" : "faster";
      $("pair-told").textContent = `${count.pairs} models that both ran: ${one} ${less} on ${count.across}, ${other} ${less} on ${count.up}, equal on ${count.equal}; ` +
        `solved by ${one} only: ${count.onlyAcross}, by ${other} only: ${count.onlyUp}, by neither: ${count.neither}.`;
    };
    for (const id of ["across", "up", "measure", "pair-family"]) $(id).addEventListener("change", drawPairs);
    $("pairs").addEventListener("click", (event) => {
      const model = event.target.dataset?.model;
      if (model === undefined) return;
      for (const { select } of filters) select.value = "";
      $("text").value = model.includes('"') ? model : `"${model}"`;
      refilter();
      $("rows").scrollIntoView();
    });
    drawPairs();
  }
})();
