// The waveform as it is used: what is said of the cursors, a table of the same steps, and what buttons, keys and pointers do.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.traces?.length) return;
  const $ = (id) => document.getElementById(id);
  const ROWS = 24; // rows of the table at once
  const MOST = 4; // rows of flags, at most
  const ROLE = { inputs: "input", state: "state", outputs: "output" };
  const canvas = $("wave-canvas"), scroll = $("wave-scroll");
  const wave = waveformData(data), view = waveformView(wave), { draw, placed } = waveformDrawing(wave, view);
  const { variables, traces, shown, difference, mayDiffer, counted, time } = wave;
  const { lay, foldAt, stepAt, total, room, least, x, clamp, choose, measure } = view;

  const listed = (names) => `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;
  const tell = () => {
    const at = (step) => `step ${step}${time(step)}`;
    const parts = [`A: ${at(view.cursor)}`];
    if (view.second !== null) {
      parts.push(`B: ${at(view.second)}`, `difference: ${counted(Math.abs(view.second - view.cursor))}${time(Math.abs(view.second - view.cursor))}`);
      const others = variables.map((_, v) => v).filter((v) => shown(view.trace, v, view.cursor) !== shown(view.trace, v, view.second));
      parts.push(`changed: ${listed(others.map((v) => `${variables[v].short} ${shown(view.trace, v, view.cursor)} → ${shown(view.trace, v, view.second)}`)) || "nothing"}`);
    }
    const goals = view.trace.names(view.cursor);
    if (goals.length) parts.push(`goals from here: ${listed(goals)}`);
    if (view.trace.unknown.length) parts.push(`deadlines of ${listed(view.trace.unknown)} are not known for this run`);
    if (view.trace.wrong.length) parts.push(`≠ not as expected at ${counted(view.trace.wrong.length)}, first at step ${view.trace.wrong[0]}`);
    $("wave-told").textContent = parts.join(" · ");
  };
  const make = (name, text, properties = {}) => {
    const element = Object.assign(document.createElement(name), properties);
    element.textContent = text;
    return element;
  };
  const firstDifference = (among, from, end) => { // the first step from..end-1 at which one of the variables differs, else end
    const may = among.filter((at) => mayDiffer(view.trace, view.beside, at));
    for (let step = from; may.length && step < end; step++) if (may.some((at) => difference(view.trace, view.beside, at, step))) return step;
    return end;
  };
  const table = () => {
    if (!$("wave-steps").open) return;
    let from = Math.max(0, Math.min(view.cursor - 4, view.trace.length + 1 - ROWS));
    const waits = foldAt(from);
    if (waits) from = waits[0];
    const changing = $("wave-changing").checked;
    const chosen = view.lanes.filter((at) => !changing || view.trace.columns[at].changes.length || view.beside?.columns[at].changes.length || view.trace.columns[at].expected.size);
    const head = document.createElement("tr");
    head.append(make("th", "step", { scope: "col" }), make("th", "goals", { scope: "col", className: "text" }), ...chosen.map((at) => {
      const title = make("th", `${variables[at].short} `, { scope: "col", className: "text" });
      title.append(document.createElement("br"), make("small", ROLE[variables[at].role]));
      return title;
    }));
    $("wave-table").tHead.replaceChildren(head);
    const rows = [];
    for (let step = from, end = 0; step <= view.trace.length && rows.length < ROWS; step = end) {
      const fold = foldAt(step);
      end = !fold ? step + 1 : step < view.cursor && view.cursor < fold[1] ? view.cursor : step === view.cursor ? step + 1 : fold[1];
      const row = document.createElement("tr");
      if (step === view.cursor) { row.className = "marked"; row.setAttribute("aria-current", "step"); }
      const span = end > step + 1 ? `${step}..${end - 1}` : String(step);
      const names = view.trace.names(step);
      row.append(make("th", step === view.cursor ? `${span} ◀` : span, { scope: "row" }), make("td", names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more` : names.join(", "), { className: "text here" }));
      for (const at of chosen) {
        const ended = variables[at].role === "inputs" && step === view.trace.length;
        const [begun, over] = [shown(view.trace, at, step), shown(view.trace, at, end - 1)];
        const cell = make("td", ended ? "(end)" : begun === over ? begun : `${begun}..${over}`, { className: "text" });
        if (step > 0 && shown(view.trace, at, step) !== shown(view.trace, at, step - 1) && !ended) cell.classList.add("new");
        const first = firstDifference([at], step, end);
        if (first < end) { cell.classList.add("other"); cell.append(make("span", ` ≠ (${difference(view.trace, view.beside, at, first)}${first > step ? ` at step ${first}` : ""})`, { className: "expected" })); }
        row.append(cell);
      }
      rows.push(row);
    }
    $("wave-table").tBodies[0].replaceChildren(...rows);
  };
  const flagTable = () => { // each flag by its number, which stands at it where there is no room for its name
    const { marks, names } = view.trace;
    $("wave-flags").hidden = !marks.length;
    $("wave-flags").firstElementChild.textContent = `The flags of this run by their numbers: ${marks.length}`;
    $("wave-flag-table").tBodies[0].replaceChildren(...marks.map((step, at) => {
      const row = document.createElement("tr"), place = make("td", "");
      const link = make("a", `${step}${time(step)}`, { href: `#step=${step}` });
      link.addEventListener("click", (event) => { event.preventDefault(); move(step); scroll.scrollIntoView({ block: "nearest" }); });
      place.append(link);
      row.append(make("th", String(at + 1), { scope: "row" }), place, make("td", names(step).join(", "), { className: "text words" }));
      return row;
    }));
  };
  const titleAt = (left, top) => { // what is not written out at a place of the picture, or is cut off
    if (left < view.left) {
      const order = Math.floor((top - view.head + scroll.scrollTop) / view.LANE), bars = view.trace.deadlines;
      return top < view.head ? "" : order < bars.length ? `${bars[order][0]} ${bars[order][1]}` : variables[view.lanes[order - bars.length]]?.name ?? "";
    }
    if (top < view.TOP || top >= view.head) return "";
    const row = Math.min(view.rows - 1, Math.floor((top - view.TOP) / view.ROW));
    const near = view.flags.filter((each) => Math.abs(left - each.x - 4) <= 8).sort((a, b) => Math.abs(left - a.x - 4) - Math.abs(left - b.x - 4));
    const flag = view.flags.find((each) => each.row === row && each.begin <= left && left <= each.end) ?? near[0];
    return flag ? `${flag.number}: step ${flag.step}${time(flag.step)}: ${view.trace.names(flag.step).join(", ")}` : "";
  };
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; clamp(); draw(); });
  };
  const move = (step, other = false) => {
    const to = Math.min(view.trace.length, Math.max(0, step));
    if (other) view.second = to; else view.cursor = to;
    if (view.place[to] < view.begin || view.place[to] > view.begin + room() / view.unit - 1) view.begin = view.place[to] - room() / view.unit / 2;
    if (!other) history.replaceState(null, "", `#step=${view.cursor}`);
    tell();
    table();
    redraw();
  };
  const zoom = (factor, about = x(view.cursor)) => {
    const position = view.begin + (about - view.left) / view.unit;
    view.unit = view.widened(view.unit * factor);
    view.begin = position - (about - view.left) / view.unit;
    redraw();
  };
  const all = () => { view.begin = 0; view.unit = least(); redraw(); };
  const fewRows = () => { // of flags, as few as all names need
    view.rows = 1;
    while (view.rows < MOST && placed(0, view.trace.length).some((flag) => !/\D/.test(flag.text))) view.rows++;
  };
  const besides = (number) => {
    view.beside = number < 0 ? null : wave.trace(number);
    $("wave-beside").value = number < 0 ? "" : String(number);
  };
  const select = (number, step = 0) => {
    view.trace = wave.trace(number);
    $("wave-trace").value = String(number);
    if (view.trace.kind === "judged") besides(traces.findIndex((each) => each.name === view.trace.beside));
    measure();
    lay();
    flagTable();
    view.second = null;
    view.begin = 0;
    view.unit = view.widened(Math.max(room() / total(), 14));
    fewRows();
    measure();
    move(step);
  };
  const again = () => { choose(); measure(); lay(); tell(); table(); redraw(); };
  const nextChange = (sign) => {
    const has = (step) => view.lanes.some((at) => !Object.is(view.trace.columns[at].values[step], view.trace.columns[at].values[step - 1]));
    for (let step = view.cursor + sign; step > 0 && step <= view.trace.length; step += sign) if (has(step)) return step;
    return sign > 0 ? view.trace.length : 0;
  };
  const nextDifference = () => {
    const [later, size] = [firstDifference(view.lanes, view.cursor + 1, view.trace.length + 1), view.trace.length + 1];
    if (later < size) return later;
    const earlier = firstDifference(view.lanes, 0, size);
    return earlier < size ? earlier : view.cursor;
  };
  const nextGoal = () => view.trace.marks.find((step) => step > view.cursor) ?? view.trace.marks[0] ?? view.cursor;
  const find = () => {
    const text = $("wave-find").value.trim();
    if (!text) return;
    const step = /^(?:step\s*)?(\d+)$/i.exec(text);
    if (step) { move(Number(step[1])); return; }
    const [name, wanted] = text.split("=").map((part) => part.trim());
    const low = name.toLowerCase();
    for (let count = 1; count <= view.trace.length + 1; count++) {
      const step = (view.cursor + count) % (view.trace.length + 1);
      if (wanted === undefined && view.trace.names(step).some((goal) => goal.toLowerCase().includes(low))) { move(step); return; }
      if (wanted !== undefined && variables.some((variable, at) => [variable.name, variable.short].some((own) => own.toLowerCase() === low) && shown(view.trace, at, step).toLowerCase() === wanted.toLowerCase())) { move(step); return; }
    }
    $("wave-told").textContent = `nothing was found for “${text}”`;
  };

  // --- listeners --------------------------------------------------------------------------------------------------------------------
  $("wave").hidden = false;
  traces.forEach((each, number) => $("wave-trace").append(new Option(each.name, String(number))));
  $("wave-beside").append(new Option("nothing", ""), ...traces.map((each, number) => new Option(each.name, String(number))));
  $("wave-trace").addEventListener("change", () => select(Number($("wave-trace").value)));
  $("wave-beside").addEventListener("change", () => { besides($("wave-beside").value === "" ? -1 : Number($("wave-beside").value)); again(); });
  $("wave-lanes").addEventListener("input", again);
  $("wave-fold").addEventListener("change", () => { const step = view.cursor; lay(); move(step); });
  $("wave-in").addEventListener("click", () => zoom(1.5));
  $("wave-out").addEventListener("click", () => zoom(1 / 1.5));
  $("wave-all").addEventListener("click", all);
  $("wave-next").addEventListener("click", find);
  $("wave-find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  $("wave-pan").addEventListener("input", () => { view.begin = (Number($("wave-pan").value) / 1000) * (total() - room() / view.unit); redraw(); });
  $("wave-changing").addEventListener("change", table);
  $("wave-steps").addEventListener("toggle", table);
  $("wave-earlier").addEventListener("click", () => move(view.cursor - ROWS));
  $("wave-later").addEventListener("click", () => move(view.cursor + ROWS));
  scroll.addEventListener("scroll", redraw);
  scroll.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = event.shiftKey ? view.second ?? view.cursor : view.cursor;
    const keys = {
      ArrowRight: () => move(from + 1, event.shiftKey), ArrowLeft: () => move(from - 1, event.shiftKey),
      Home: () => move(0, event.shiftKey), End: () => move(view.trace.length, event.shiftKey),
      "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: all,
      n: () => move(nextChange(1)), p: () => move(nextChange(-1)), g: () => move(nextGoal()), d: () => move(nextDifference()),
    };
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) { event.preventDefault(); action(); }
  });
  scroll.addEventListener("wheel", (event) => {
    if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX); }
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); view.begin += (event.deltaX || event.deltaY) / view.unit; redraw(); }
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { from: event.offsetX, begin: view.begin, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) { canvas.title = titleAt(event.offsetX, event.offsetY); return; }
    if (Math.abs(event.offsetX - drag.from) > 4) drag.moved = true;
    if (drag.moved) { view.begin = drag.begin - (event.offsetX - drag.from) / view.unit; redraw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && event.offsetX >= view.left) move(stepAt(view.begin + (event.offsetX - view.left) / view.unit), event.shiftKey);
    drag = null;
    scroll.focus({ preventScroll: true });
  });
  for (const link of document.querySelectorAll("a[data-trace]")) {
    link.addEventListener("click", (event) => {
      const number = traces.findIndex((each) => each.name === link.dataset.trace);
      if (number < 0) return;
      event.preventDefault();
      select(number, Number(link.hash.slice(6)));
      $("waveform").scrollIntoView();
    });
  }
  const permalink = () => {
    const found = /^#step=(\d+)$/.exec(location.hash);
    if (found) { move(Number(found[1])); $("waveform").scrollIntoView(); }
  };
  addEventListener("hashchange", permalink);
  addEventListener("resize", again);
  addEventListener("beforeprint", () => { view.begin = 0; view.unit = least(); fewRows(); measure(true); clamp(); draw(); });
  addEventListener("afterprint", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  choose();
  measure();
  const hash = location.hash;
  select(0);
  if (/^#step=\d+$/.test(hash)) { history.replaceState(null, "", hash); permalink(); } else history.replaceState(null, "", location.pathname + location.search + (hash || ""));
  window.chaincoverWave = { draw: () => { clamp(); draw(); }, shown: (at, step) => shown(view.trace, at, step), state: () => ({ cursor: view.cursor, second: view.second, unit: view.unit, begin: view.begin, trace: view.trace.name, flags: view.flags }), titleAt };
})();
