// The waveform: a canvas with a lane for each variable and one for the goals, two cursors, and a table of the same steps.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.traces?.length) return;
  const $ = (id) => document.getElementById(id);
  const FLAG = 24, LANE = 30, TOP = 24; // heights in pixels: of the lane of goals, of a variable's lane, of the ruler
  const FOLD = 6; // how many steps wide a stretch of waiting is that is drawn as one mark
  const ROWS = 24; // rows of the table at once
  const FONT = "12px ui-monospace, monospace";
  const ROLE = { inputs: "input", state: "state", outputs: "output" };

  // --- the data: columns as arrays of numbers (NaN: not known), texts as places in a list of words ----------------------------------
  const decode = (trace) => {
    const size = trace.length + 1;
    const columns = trace.columns.map((column, at) => {
      const values = new Float64Array(size);
      const texts = new Map();
      const word = (value) => {
        if (value === null) return NaN;
        if (Array.isArray(value)) {
          const key = -1e15 - value[0]; // a text: a number that no variable of the program takes
          texts.set(key, trace.words[value[0]]);
          return key;
        }
        return value;
      };
      if (column.all) column.all.forEach((value, step) => { values[step] = word(value); });
      else {
        let step = 0;
        column.values.forEach((value, run) => {
          values.fill(word(value), step, step + column.runs[run]);
          step += column.runs[run];
        });
      }
      const variable = data.variables[at];
      const seen = new Set();
      let low = Infinity, high = -Infinity;
      for (const value of values) {
        if (Number.isNaN(value)) continue;
        if (seen.size < 3) seen.add(value);
        if (!texts.has(value)) { low = Math.min(low, value); high = Math.max(high, value); }
      }
      const named = texts.size > 0 || Object.keys(variable.labels).length > 0;
      const changes = [];
      for (let step = 1; step < size; step++) if (!Object.is(values[step], values[step - 1])) changes.push(step);
      const kind = named ? "mode" : low >= 0 && high <= 1 && [...seen].every(Number.isInteger) ? "flag" : "number";
      return { values, texts, kind, low, high, changes };
    });
    const goals = new Map(), failed = new Map();
    for (const [step, goal] of trace.goals) goals.set(step, [...(goals.get(step) ?? []), goal]);
    for (const [step, goal] of trace.failed) failed.set(step, [...(failed.get(step) ?? []), goal]);
    return { ...trace, columns, goals, failed, marks: [...new Set([...goals.keys(), ...failed.keys()])].sort((a, b) => a - b) };
  };
  const decoded = new Map();
  const traceOf = (number) => {
    if (!decoded.has(number)) decoded.set(number, decode(data.traces[number]));
    return decoded.get(number);
  };
  const shown = (trace, at, step) => {
    const { values, texts } = trace.columns[at];
    const value = values[step];
    if (step > trace.length || value === undefined || Number.isNaN(value)) return "-";
    const text = texts.get(value) ?? String(value);
    return data.variables[at].labels[text] ?? text;
  };
  const counted = (steps) => `${steps} step${steps === 1 ? "" : "s"}`;
  const time = (steps) => (data.period ? ` (${Number((steps * data.period).toPrecision(9))} s)` : "");

  // --- where each step stands: a stretch of waiting that is folded is FOLD steps wide -----------------------------------------------
  let trace = traceOf(0), beside = null, place = new Float64Array(0);
  const lay = () => { // positions of the steps; what is folded
    place = new Float64Array(trace.length + 2);
    const folds = $("wave-fold").checked ? trace.folds.filter(([first, end]) => end - first > FOLD) : [];
    let next = 0, at = 0;
    for (let step = 0; step <= trace.length; step++) {
      while (next < folds.length && folds[next][1] <= step) next++;
      const fold = folds[next];
      place[step] = at;
      at += fold && fold[0] <= step ? FOLD / (fold[1] - fold[0]) : 1;
    }
    place[trace.length + 1] = at;
    trace.folded = folds;
  };
  const stepAt = (position) => {
    let low = 0, high = trace.length + 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (place[middle] <= position) low = middle; else high = middle;
    }
    return low;
  };

  // --- the view ------------------------------------------------------------------------------------------------------------------
  const canvas = $("wave-canvas"), scroll = $("wave-scroll"), pen = canvas.getContext("2d", { willReadFrequently: true });
  let letter = 7, lanes = [], left = 150, width = 0, height = 0, begin = 0, unit = 10, cursor = 0, second = null, colours = {};
  const total = () => place[trace.length + 1];
  const room = () => Math.max(40, width - left);
  const least = () => Math.min(48, room() / total());
  const clamp = () => {
    unit = Math.min(48, Math.max(least(), unit));
    begin = Math.min(Math.max(0, total() - room() / unit), Math.max(0, begin));
    const rest = total() - room() / unit;
    $("wave-pan").value = rest > 0 ? String(Math.round((1000 * begin) / rest)) : "0";
    $("wave-pan").disabled = rest <= 0;
  };
  const x = (step) => left + (place[step] - begin) * unit;
  const choose = () => {
    const words = $("wave-lanes").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    lanes = data.variables.map((_, at) => at).filter((at) => !words.length || words.some((word) => data.variables[at].name.toLowerCase().includes(word)));
  };
  const measure = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "faint", "grid", "ground", "raised", "accent", "good", "bad", "open", "marked"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
    width = scroll.clientWidth;
    const wanted = TOP + FLAG + (trace.deadlines.length + lanes.length) * LANE + 4;
    scroll.style.height = `${Math.min(wanted + 2, Math.max(220, innerHeight * 0.7))}px`;
    height = scroll.clientHeight;
    $("wave-space").style.height = `${wanted}px`;
    $("wave-space").style.marginBottom = `${-height}px`;
    left = width < 500 ? 96 : 170;
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = FONT;
    letter = pen.measureText("m").width;
  };

  const fitted = (text, most) => {
    const room_ = Math.floor(most / letter);
    return text.length <= room_ ? text : room_ > 2 ? `${text.slice(0, room_ - 1)}…` : "";
  };
  const flagOf = (from, to) => { // the goals and failures at the steps from..to
    const found = [];
    for (const step of trace.marks) if (step >= from && step <= to) found.push(step);
    return found;
  };

  const draw = () => {
    const first = stepAt(begin), last = Math.min(trace.length, stepAt(begin + room() / unit) + 1);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    const offset = scroll.scrollTop;
    trace.deadlines.forEach((deadline, order) => bar(deadline, TOP + FLAG + order * LANE - offset, last));
    lanes.forEach((at, order) => {
      const top = TOP + FLAG + (trace.deadlines.length + order) * LANE - offset;
      if (top > height || top + LANE < TOP + FLAG) return;
      lane(at, top, first, last);
    });
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, width, TOP + FLAG);
    ruler(first, last);
    flags(first, last);
    cursors();
  };
  const ruler = (first, last) => {
    pen.fillStyle = colours.raised;
    pen.fillRect(0, 0, width, TOP);
    let every = 1;
    while (every * unit < 60) every = String(every)[0] === "2" ? every * 2.5 : every * 2;
    pen.strokeStyle = colours.grid;
    let free = left;
    for (let step = first; step <= last; step++) {
      const inside = trace.folded.find(([from, end]) => from <= step && step < end);
      if (inside) {
        const [from, end] = inside;
        const [a, b] = [Math.max(left, x(from)), x(end)];
        pen.fillStyle = colours.grid;
        pen.fillRect(a, 0, b - a, TOP);
        const text = fitted(`⋯ ${end - from} steps`, b - a - 4);
        if (text) { pen.fillStyle = colours.ink; pen.textAlign = "center"; pen.fillText(text, (a + b) / 2, TOP / 2); }
        free = b + 6;
        step = end - 1;
        continue;
      }
      if (step % every !== 0 || x(step) < free) continue;
      pen.fillStyle = colours.faint;
      pen.textAlign = "left";
      pen.fillText(String(step), x(step) + 2, TOP / 2);
      free = x(step) + 14 + 7 * String(step).length;
      pen.beginPath(); pen.moveTo(x(step) + 0.5, TOP - 5); pen.lineTo(x(step) + 0.5, TOP); pen.stroke();
    }
    pen.fillStyle = colours.faint;
    pen.textAlign = "left";
    pen.fillStyle = colours.raised;
    pen.fillRect(0, 0, left, TOP);
    pen.fillStyle = colours.faint;
    pen.fillText("step", 6, TOP / 2);
  };
  const flags = (first, last) => {
    pen.fillStyle = colours.faint;
    pen.textAlign = "left";
    pen.fillText("goals", 6, TOP + FLAG / 2);
    let free = left;
    for (const step of flagOf(first, last)) {
      const at = x(step);
      if (at < left) continue;
      const bad = trace.failed.has(step);
      pen.fillStyle = bad ? colours.bad : colours.good;
      pen.beginPath(); pen.moveTo(at, TOP + 4); pen.lineTo(at + 9, TOP + 9); pen.lineTo(at, TOP + 14); pen.fill();
      pen.fillRect(at, TOP + 4, 1.5, FLAG - 6);
      if (at + 12 < free) continue;
      const next = trace.marks.find((other) => other > step && other <= last);
      const most = (next === undefined ? width : x(next)) - at - 14;
      const names = [...(trace.failed.get(step) ?? []).map((name) => `✗ ${name}`), ...(trace.goals.get(step) ?? [])].join(" ");
      const text = fitted(names, most);
      pen.fillStyle = bad ? colours.bad : colours.ink;
      pen.fillText(text, at + 12, TOP + 10);
      free = at + 12 + text.length * letter;
    }
  };
  const lane = (at, top, first, last) => {
    const variable = data.variables[at];
    pen.save();
    pen.beginPath(); pen.rect(left, Math.max(top, TOP + FLAG), width - left, LANE); pen.clip();
    for (const [from, end] of trace.folded) {
      if (end <= first || from > last) continue;
      pen.fillStyle = colours.raised;
      pen.fillRect(x(from), top, x(end) - x(from), LANE);
    }
    pen.strokeStyle = colours.grid;
    pen.beginPath(); pen.moveTo(left, top + LANE - 0.5); pen.lineTo(width, top + LANE - 0.5); pen.stroke();
    if (beside) plot(beside, at, top, first, Math.min(last, beside.length), true);
    plot(trace, at, top, first, last, false);
    if (beside) differences(at, top, first, last);
    pen.restore();
    pen.fillStyle = colours.ground;
    pen.fillRect(0, top, left, LANE);
    pen.fillStyle = colours.ink;
    pen.textAlign = "left";
    const value = shown(trace, at, cursor);
    const tail = fitted(value, left * 0.4);
    pen.fillText(fitted(variable.short, left - 16 - tail.length * letter), 6, top + LANE / 2);
    pen.fillStyle = colours.accent;
    pen.textAlign = "right";
    pen.fillText(tail, left - 5, top + LANE / 2);
    pen.textAlign = "left";
  };
  const bar = ([goal, asked, from, check, end], top, last) => { // a deadline: what was used of it, and what was left
    if (top > height || top + LANE < TOP + FLAG) return;
    pen.save();
    pen.beginPath(); pen.rect(left, Math.max(top, TOP + FLAG), width - left, LANE); pen.clip();
    const behind = (step) => Math.min(width + 20, x(Math.min(step, trace.length + 1)) + Math.max(0, step - trace.length - 1) * unit);
    const failed = [...trace.failed.values()].some((names) => names.includes(goal));
    pen.fillStyle = failed ? colours.bad : colours.open;
    pen.fillRect(x(from), top + 9, Math.max(2, behind(check) - x(from)), LANE - 18);
    pen.strokeStyle = colours.open;
    pen.setLineDash([3, 3]);
    pen.strokeRect(behind(check), top + 9.5, Math.max(0, behind(end) - behind(check)), LANE - 19);
    pen.setLineDash([]);
    const used = check - from, allowed = end - from;
    const text = failed ? `✗ missed after ${counted(used)}` : `${used} of ${counted(allowed)}, ${allowed - used} left`;
    pen.fillStyle = colours.ground;
    const place_ = Math.max(left, x(from)) + 4;
    if (fitted(text, behind(check) - place_ - 4) === text) pen.fillText(text, place_, top + LANE / 2);
    else { pen.fillStyle = colours.ink; pen.fillText(text, Math.max(behind(check) + 4, Math.min(behind(end), width - text.length * letter) - 2), top + LANE / 2); }
    pen.restore();
    pen.fillStyle = colours.ground;
    pen.fillRect(0, top, left, LANE);
    pen.fillStyle = colours.ink;
    pen.fillText(fitted(`${goal} ${asked}`, left - 10), 6, top + LANE / 2);
  };
  const dense = (column, top, first, last, y, colour, faint) => { // from the least to the greatest value of each pixel
    const ratio = pen.getTransform().a, wide = Math.round(room() * ratio), high = Math.round(LANE * ratio);
    const image = pen.getImageData(Math.round(left * ratio), Math.round(top * ratio), wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const number = parseInt(colour.slice(1), 16);
    const ink = ((faint ? 110 : 255) << 24) | ((number & 255) << 16) | (number & 0xff00) | (number >> 16); // bytes: red, green, blue, alpha
    const { values, kind } = column, scale = unit * ratio, base = -begin * scale;
    const row = (value) => Math.round((kind === "mode" ? LANE - 6 : y(value) - top) * ratio);
    let step = first;
    while (step <= last) {
      const pixel = Math.floor(base + place[step] * scale);
      let low = Infinity, most = -Infinity;
      do {
        const value = values[step];
        if (value < low) low = value;
        if (value > most) most = value;
        step++;
      } while (step <= last && place[step] * scale + base < pixel + 1);
      if (low > most || pixel < 0 || pixel >= wide) continue;
      const from = kind === "mode" ? (low === most ? row(low) : 6) : row(most), to = row(low);
      for (let at = from * wide + pixel; at <= to * wide + pixel; at += wide) pixels[at] = ink;
    }
    pen.putImageData(image, Math.round(left * ratio), Math.round(top * ratio));
  };
  const plot = (own, at, top, first, last, faint) => {
    const column = own.columns[at];
    const { values } = column;
    pen.setLineDash(faint ? [3, 3] : []);
    pen.lineWidth = faint ? 1 : 1.5;
    pen.strokeStyle = faint ? colours.faint : { inputs: colours.accent, state: colours.ink, outputs: colours.good }[data.variables[at].role];
    const span = column.high > column.low ? column.high - column.low : 1;
    const high = column.kind === "flag" ? 1 : span, low = column.kind === "flag" ? 0 : column.low;
    const y = (value) => top + LANE - 6 - ((value - low) / high) * (LANE - 12);
    if (unit < 0.75 && last - first > 2 * room()) { // several steps a pixel
      dense(column, top, first, last, y, pen.strokeStyle, faint);
      pen.setLineDash([]);
      return;
    }
    pen.beginPath();
    let step = first;
    let drawing = false;
    while (step <= last) {
      const value = values[step];
      let end = step + 1;
      while (end <= last && Object.is(values[end], value)) end++;
      const [a, b] = [x(step), x(end)];
      if (Number.isNaN(value)) { drawing = false; step = end; continue; }
      if (column.kind === "mode") {
        const cut = Math.min(4, (b - a) / 3);
        pen.moveTo(a + cut, top + 5); pen.lineTo(b - cut, top + 5); pen.lineTo(b, top + LANE / 2); pen.lineTo(b - cut, top + LANE - 5);
        pen.lineTo(a + cut, top + LANE - 5); pen.lineTo(a, top + LANE / 2); pen.lineTo(a + cut, top + 5);
      } else {
        if (drawing) pen.lineTo(a, y(value)); else pen.moveTo(a, y(value));
        pen.lineTo(b, y(value));
        drawing = true;
      }
      if (!faint && column.kind !== "flag") {
        const from = Math.max(a, left);
        const text = fitted(shown(own, at, step), b - from - 8);
        if (text && (column.kind === "mode" || text.length === String(value).length)) {
          pen.fillStyle = colours.ink;
          pen.textAlign = "left";
          pen.fillText(text, from + 5, column.kind === "mode" ? top + LANE / 2 : y(value) > top + LANE / 2 ? y(value) - 7 : y(value) + 8);
        }
      }
      step = end;
    }
    pen.stroke();
    pen.setLineDash([]);
  };
  const differs = (at, step) => {
    const [a, b] = [trace.columns[at].values[step], beside.columns[at].values[step]];
    return step <= beside.length && !Number.isNaN(a) && b !== undefined && !Number.isNaN(b) && shown(trace, at, step) !== shown(beside, at, step);
  };
  const differences = (at, top, first, last) => {
    pen.fillStyle = colours.bad;
    for (let step = first; step <= last; step++) if (differs(at, step)) pen.fillRect(x(step), top + LANE - 4, Math.max(1, x(step + 1) - x(step)), 3);
  };
  const cursors = () => {
    for (const [step, name, colour] of [[second, "B", colours.open], [cursor, "A", colours.accent]]) {
      if (step === null || step > trace.length) continue;
      const at = x(step);
      if (at < left - 1 || at > width) continue;
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(at + 0.5, TOP); pen.lineTo(at + 0.5, height); pen.stroke();
      pen.fillStyle = colour;
      pen.fillRect(at - 7, 3, 15, 17);
      pen.fillStyle = colours.ground;
      pen.textAlign = "center";
      pen.fillText(name, at + 0.5, TOP / 2);
      pen.textAlign = "left";
    }
  };

  // --- what is said of the cursors, and the table of the same steps --------------------------------------------------------------------
  const tell = () => {
    const at = (step) => `step ${step}${time(step)}`;
    const parts = [`A: ${at(cursor)}`];
    if (second !== null) {
      parts.push(`B: ${at(second)}`, `difference: ${counted(Math.abs(second - cursor))}${time(Math.abs(second - cursor))}`);
      const others = data.variables.map((_, v) => v).filter((v) => shown(trace, v, cursor) !== shown(trace, v, second));
      parts.push(`changed: ${others.slice(0, 8).map((v) => `${data.variables[v].short} ${shown(trace, v, cursor)} → ${shown(trace, v, second)}`).join(", ") || "nothing"}${others.length > 8 ? ` and ${others.length - 8} more` : ""}`);
    }
    const goals = [...(trace.goals.get(cursor) ?? []), ...(trace.failed.get(cursor) ?? []).map((name) => `✗ ${name}`)];
    if (goals.length) parts.push(`goals from here: ${goals.join(", ")}`);
    $("wave-told").textContent = parts.join(" · ");
  };
  const make = (name, text, properties = {}) => {
    const element = Object.assign(document.createElement(name), properties);
    element.textContent = text;
    return element;
  };
  const table = () => {
    if (!$("wave-steps").open) return;
    let from = Math.max(0, Math.min(cursor - 4, trace.length + 1 - ROWS));
    const waits = trace.folded.find(([first, behind]) => first <= from && from < behind);
    if (waits) from = waits[0];
    const changing = $("wave-changing").checked;
    const chosen = lanes.filter((at) => !changing || trace.columns[at].changes.length || (beside && beside.columns[at].changes.length));
    const head = document.createElement("tr");
    head.append(make("th", "step", { scope: "col" }), ...chosen.map((at) => make("th", `${data.variables[at].short} (${ROLE[data.variables[at].role]})`, { scope: "col", className: "text" })), make("th", "goals", { scope: "col", className: "text" }));
    $("wave-table").tHead.replaceChildren(head);
    const rows = [];
    for (let step = from, end = 0; step <= trace.length && rows.length < ROWS; step = end) {
      const fold = trace.folded.find(([first, behind]) => first <= step && step < behind);
      end = !fold ? step + 1 : step < cursor && cursor < fold[1] ? cursor : step === cursor ? step + 1 : fold[1];
      const row = document.createElement("tr");
      if (step === cursor) { row.className = "marked"; row.setAttribute("aria-current", "step"); }
      const span = end > step + 1 ? `${step}..${end - 1}` : String(step);
      row.append(make("th", step === cursor ? `${span} ◀` : span, { scope: "row" }));
      for (const at of chosen) {
        const ended = data.variables[at].role === "inputs" && step === trace.length;
        const [begun, over] = [shown(trace, at, step), shown(trace, at, end - 1)];
        const cell = make("td", ended ? "(end)" : begun === over ? begun : `${begun}..${over}`, { className: "text" });
        if (step > 0 && shown(trace, at, step) !== shown(trace, at, step - 1) && !ended) cell.classList.add("new");
        if (beside && differs(at, step)) { cell.classList.add("other"); cell.append(` (beside: ${shown(beside, at, step)})`); }
        row.append(cell);
      }
      row.append(make("td", [...(trace.failed.get(step) ?? []).map((name) => `✗ ${name}`), ...(trace.goals.get(step) ?? [])].join(" "), { className: "text" }));
      rows.push(row);
    }
    $("wave-table").tBodies[0].replaceChildren(...rows);
  };
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; clamp(); draw(); });
  };
  const move = (step, other = false) => {
    const to = Math.min(trace.length, Math.max(0, step));
    if (other) second = to; else cursor = to;
    if (place[to] < begin || place[to] > begin + room() / unit - 1) begin = place[to] - room() / unit / 2;
    if (!other) history.replaceState(null, "", `#step=${cursor}`);
    tell();
    table();
    redraw();
  };
  const zoom = (factor, about = x(cursor)) => {
    const position = begin + (about - left) / unit;
    unit = Math.min(48, Math.max(least(), unit * factor));
    begin = position - (about - left) / unit;
    redraw();
  };
  const all = () => { begin = 0; unit = least(); redraw(); };
  const select = (number, step = 0) => {
    trace = traceOf(number);
    $("wave-trace").value = String(number);
    measure();
    lay();
    second = null;
    begin = 0;
    unit = Math.max(room() / total(), 14);
    move(step);
  };
  const again = () => { choose(); measure(); lay(); tell(); table(); redraw(); };
  const nextChange = (sign) => {
    const has = (step) => lanes.some((at) => !Object.is(trace.columns[at].values[step], trace.columns[at].values[step - 1]));
    for (let step = cursor + sign; step > 0 && step <= trace.length; step += sign) if (has(step)) return step;
    return sign > 0 ? trace.length : 0;
  };
  const nextGoal = () => trace.marks.find((step) => step > cursor) ?? trace.marks[0] ?? cursor;
  const find = () => {
    const text = $("wave-find").value.trim();
    if (!text) return;
    if (/^\d+$/.test(text)) { move(Number(text)); return; }
    const [name, wanted] = text.split("=").map((part) => part.trim());
    const low = name.toLowerCase();
    for (let count = 1; count <= trace.length + 1; count++) {
      const step = (cursor + count) % (trace.length + 1);
      const names = [...(trace.goals.get(step) ?? []), ...(trace.failed.get(step) ?? [])];
      if (wanted === undefined && names.some((goal) => goal.toLowerCase().includes(low))) { move(step); return; }
      if (wanted !== undefined && data.variables.some((variable, at) => [variable.name, variable.short].some((own) => own.toLowerCase() === low) && shown(trace, at, step).toLowerCase() === wanted.toLowerCase())) { move(step); return; }
    }
    $("wave-told").textContent = `nothing was found for “${text}”`;
  };

  // --- listeners --------------------------------------------------------------------------------------------------------------------
  $("wave").hidden = false;
  data.traces.forEach((each, number) => $("wave-trace").append(new Option(each.name, String(number))));
  $("wave-beside").append(new Option("nothing", ""), ...data.traces.map((each, number) => new Option(each.name, String(number))));
  $("wave-trace").addEventListener("change", () => select(Number($("wave-trace").value)));
  $("wave-beside").addEventListener("change", () => { beside = $("wave-beside").value === "" ? null : traceOf(Number($("wave-beside").value)); again(); });
  $("wave-lanes").addEventListener("input", again);
  $("wave-fold").addEventListener("change", () => { const step = cursor; lay(); move(step); });
  $("wave-in").addEventListener("click", () => zoom(1.5));
  $("wave-out").addEventListener("click", () => zoom(1 / 1.5));
  $("wave-all").addEventListener("click", all);
  $("wave-next").addEventListener("click", find);
  $("wave-find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  $("wave-pan").addEventListener("input", () => { begin = (Number($("wave-pan").value) / 1000) * (total() - room() / unit); redraw(); });
  $("wave-changing").addEventListener("change", table);
  $("wave-steps").addEventListener("toggle", table);
  $("wave-earlier").addEventListener("click", () => move(cursor - ROWS));
  $("wave-later").addEventListener("click", () => move(cursor + ROWS));
  scroll.addEventListener("scroll", redraw);
  scroll.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = event.shiftKey ? second ?? cursor : cursor;
    const keys = {
      ArrowRight: () => move(from + 1, event.shiftKey), ArrowLeft: () => move(from - 1, event.shiftKey),
      Home: () => move(0, event.shiftKey), End: () => move(trace.length, event.shiftKey),
      "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: all,
      n: () => move(nextChange(1)), p: () => move(nextChange(-1)), g: () => move(nextGoal()),
    };
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) { event.preventDefault(); action(); }
  });
  scroll.addEventListener("wheel", (event) => {
    if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX); }
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); begin += (event.deltaX || event.deltaY) / unit; redraw(); }
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { from: event.offsetX, begin, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (Math.abs(event.offsetX - drag.from) > 4) drag.moved = true;
    if (drag.moved) { begin = drag.begin - (event.offsetX - drag.from) / unit; redraw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && event.offsetX >= left) move(stepAt(begin + (event.offsetX - left) / unit), event.shiftKey);
    drag = null;
    scroll.focus({ preventScroll: true });
  });
  for (const link of document.querySelectorAll("a[data-trace]")) {
    link.addEventListener("click", (event) => {
      const number = data.traces.findIndex((each) => each.name === link.dataset.trace);
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
  addEventListener("beforeprint", () => { all(); clamp(); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  choose();
  measure();
  const hash = location.hash;
  select(0);
  if (/^#step=\d+$/.test(hash)) { history.replaceState(null, "", hash); permalink(); } else history.replaceState(null, "", location.pathname + location.search + (hash || ""));
  window.chaincoverWave = { draw: () => { clamp(); draw(); }, shown: (at, step) => shown(trace, at, step), state: () => ({ cursor, second, unit, begin, trace: trace.name }) };
})();
