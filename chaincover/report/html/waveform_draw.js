// The picture of the waveform on its canvas: ruler, goals as flags, deadlines as bars, a lane for each variable, two cursors.
const waveformDrawing = (wave, view) => {
  const { variables, shown, difference, mayDiffer, counted } = wave;
  const { pen, FONT, FLAG, LANE, TOP, stepAt, foldAt, room, x } = view;
  const scroll = document.getElementById("wave-scroll");

  const fitted = (text, most) => {
    const room_ = Math.floor(most / view.letter);
    return text.length <= room_ ? text : room_ > 2 ? `${text.slice(0, room_ - 1)}…` : "";
  };
  const draw = () => {
    const first = stepAt(view.begin), last = Math.min(view.trace.length, stepAt(view.begin + room() / view.unit) + 1);
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, 0, view.width, view.height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    const offset = scroll.scrollTop;
    view.trace.deadlines.forEach((deadline, order) => bar(deadline, TOP + FLAG + order * LANE - offset, last));
    view.lanes.forEach((at, order) => {
      const top = TOP + FLAG + (view.trace.deadlines.length + order) * LANE - offset;
      if (top > view.height || top + LANE < TOP + FLAG) return;
      lane(at, top, first, last);
    });
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, 0, view.width, TOP + FLAG);
    ruler(first, last);
    flags(first, last);
    cursors();
  };
  const ruler = (first, last) => {
    pen.fillStyle = view.colours.raised;
    pen.fillRect(0, 0, view.width, TOP);
    let every = 1;
    while (every * view.unit < 60) every = String(every)[0] === "2" ? every * 2.5 : every * 2;
    pen.strokeStyle = view.colours.grid;
    let free = view.left;
    for (let step = first; step <= last; step++) {
      const inside = foldAt(step);
      if (inside) {
        const [from, end] = inside;
        const [a, b] = [Math.max(view.left, x(from)), x(end)];
        pen.fillStyle = view.colours.grid;
        pen.fillRect(a, 0, b - a, TOP);
        const text = fitted(`⋯ ${end - from} steps`, b - a - 4);
        if (text) { pen.fillStyle = view.colours.ink; pen.textAlign = "center"; pen.fillText(text, (a + b) / 2, TOP / 2); }
        free = b + 6;
        step = end - 1;
        continue;
      }
      if (step % every !== 0 || x(step) < free) continue;
      pen.fillStyle = view.colours.faint;
      pen.textAlign = "left";
      pen.fillText(String(step), x(step) + 2, TOP / 2);
      free = x(step) + 14 + 7 * String(step).length;
      pen.beginPath(); pen.moveTo(x(step) + 0.5, TOP - 5); pen.lineTo(x(step) + 0.5, TOP); pen.stroke();
    }
    pen.textAlign = "left";
    pen.fillStyle = view.colours.raised;
    pen.fillRect(0, 0, view.left, TOP);
    pen.fillStyle = view.colours.faint;
    pen.fillText("step", 6, TOP / 2);
  };
  const flags = (first, last) => {
    pen.fillStyle = view.colours.faint;
    pen.textAlign = "left";
    pen.fillText("goals", 6, TOP + FLAG / 2);
    let free = view.left;
    for (const step of view.trace.marks) {
      if (step < first || step > last) continue;
      const at = x(step);
      if (at < view.left) continue;
      const bad = view.trace.failed.has(step);
      pen.fillStyle = bad ? view.colours.bad : view.colours.good;
      pen.beginPath(); pen.moveTo(at, TOP + 4); pen.lineTo(at + 9, TOP + 9); pen.lineTo(at, TOP + 14); pen.fill();
      pen.fillRect(at, TOP + 4, 1.5, FLAG - 6);
      if (at + 12 < free) continue;
      const next = view.trace.marks.find((other) => other > step && other <= last);
      const most = (next === undefined ? view.width : x(next)) - at - 14;
      const text = fitted(view.trace.names(step).join(" "), most);
      pen.fillStyle = bad ? view.colours.bad : view.colours.ink;
      pen.fillText(text, at + 12, TOP + 10);
      free = at + 12 + text.length * view.letter;
    }
  };
  const lane = (at, top, first, last) => {
    const variable = variables[at];
    pen.save();
    pen.beginPath(); pen.rect(view.left, Math.max(top, TOP + FLAG), view.width - view.left, LANE); pen.clip();
    for (const [from, end] of view.folded) {
      if (end <= first || from > last) continue;
      pen.fillStyle = view.colours.raised;
      pen.fillRect(x(from), top, x(end) - x(from), LANE);
    }
    pen.strokeStyle = view.colours.grid;
    pen.beginPath(); pen.moveTo(view.left, top + LANE - 0.5); pen.lineTo(view.width, top + LANE - 0.5); pen.stroke();
    if (view.beside) plot(view.beside, at, top, first, Math.min(last, view.beside.length), true);
    plot(view.trace, at, top, first, last, false);
    differences(at, top, first, last);
    pen.restore();
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, top, view.left, LANE);
    pen.fillStyle = view.colours.ink;
    pen.textAlign = "left";
    const value = shown(view.trace, at, view.cursor);
    const tail = fitted(value, view.left * 0.4);
    pen.fillText(fitted(variable.short, view.left - 16 - tail.length * view.letter), 6, top + LANE / 2);
    pen.fillStyle = view.colours.accent;
    pen.textAlign = "right";
    pen.fillText(tail, view.left - 5, top + LANE / 2);
    pen.textAlign = "left";
  };
  const bar = ([goal, asked, from, check, end], top, last) => { // a deadline: what was used of it, and what was left
    if (top > view.height || top + LANE < TOP + FLAG) return;
    pen.save();
    pen.beginPath(); pen.rect(view.left, Math.max(top, TOP + FLAG), view.width - view.left, LANE); pen.clip();
    const behind = (step) => Math.min(view.width + 20, x(Math.min(step, view.trace.length + 1)) + Math.max(0, step - view.trace.length - 1) * view.unit);
    const failed = [...view.trace.failed.values()].some((names) => names.includes(goal));
    pen.fillStyle = failed ? view.colours.bad : view.colours.open;
    pen.fillRect(x(from), top + 9, Math.max(2, behind(check) - x(from)), LANE - 18);
    pen.strokeStyle = view.colours.open;
    pen.setLineDash([3, 3]);
    pen.strokeRect(behind(check), top + 9.5, Math.max(0, behind(end) - behind(check)), LANE - 19);
    pen.setLineDash([]);
    const used = check - from, allowed = end - from;
    const text = failed ? `✗ missed after ${counted(used)}` : `${used} of ${counted(allowed)}, ${allowed - used} left`;
    pen.fillStyle = view.colours.ground;
    const place_ = Math.max(view.left, x(from)) + 4;
    if (fitted(text, behind(check) - place_ - 4) === text) pen.fillText(text, place_, top + LANE / 2);
    else {
      const after = behind(end) + text.length * view.letter < view.width ? behind(end) : behind(check);
      pen.fillStyle = view.colours.ink;
      pen.fillText(fitted(text, view.width - after - 6), after + 4, top + LANE / 2);
    }
    pen.restore();
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, top, view.left, LANE);
    pen.fillStyle = view.colours.ink;
    pen.fillText(fitted(`${goal} ${asked}`, view.left - 10), 6, top + LANE / 2);
  };
  const dense = (column, top, first, last, y, colour, faint) => { // from the least to the greatest value of each pixel
    const ratio = pen.getTransform().a, wide = Math.round(room() * ratio), high = Math.round(LANE * ratio);
    const image = pen.getImageData(Math.round(view.left * ratio), Math.round(top * ratio), wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const number = parseInt(colour.slice(1), 16);
    const ink = ((faint ? 110 : 255) << 24) | ((number & 255) << 16) | (number & 0xff00) | (number >> 16); // bytes: red, green, blue, alpha
    const { values, kind } = column, scale = view.unit * ratio, base = -view.begin * scale;
    const row = (value) => Math.round((kind === "mode" ? LANE - 6 : y(value) - top) * ratio);
    let step = first;
    while (step <= last) {
      const pixel = Math.floor(base + view.place[step] * scale);
      let low = Infinity, most = -Infinity;
      do {
        const value = values[step];
        if (value < low) low = value;
        if (value > most) most = value;
        step++;
      } while (step <= last && view.place[step] * scale + base < pixel + 1);
      if (low > most || pixel < 0 || pixel >= wide) continue;
      const from = kind === "mode" ? (low === most ? row(low) : 6) : row(most), to = row(low);
      for (let at = from * wide + pixel; at <= to * wide + pixel; at += wide) pixels[at] = ink;
    }
    pen.putImageData(image, Math.round(view.left * ratio), Math.round(top * ratio));
  };
  const plot = (own, at, top, first, last, faint) => {
    const column = own.columns[at];
    const { values } = column;
    pen.setLineDash(faint ? [3, 3] : []);
    pen.lineWidth = faint ? 1 : 1.5;
    pen.strokeStyle = faint ? view.colours.faint : { inputs: view.colours.accent, state: view.colours.ink, outputs: view.colours.good }[variables[at].role];
    const both = [view.trace, view.beside].filter(Boolean).map((each) => each.columns[at]); // one scale, so that they can be compared
    const flag = both.every((each) => each.kind === "flag");
    const low = flag ? 0 : Math.min(...both.map((each) => each.low)), high = flag ? 1 : Math.max(...both.map((each) => each.high));
    const y = (value) => top + LANE - 6 - ((value - low) / (high > low ? high - low : 1)) * (LANE - 12);
    if (view.unit < 0.75 && last - first > 2 * room()) { // several steps a pixel
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
        const from = Math.max(a, view.left);
        const text = fitted(shown(own, at, step), b - from - 8);
        if (text && (column.kind === "mode" || text.length === String(value).length)) {
          pen.fillStyle = view.colours.ink;
          pen.textAlign = "left";
          pen.fillText(text, from + 5, column.kind === "mode" ? top + LANE / 2 : y(value) > top + LANE / 2 ? y(value) - 7 : y(value) + 8);
        }
      }
      step = end;
    }
    pen.stroke();
    pen.setLineDash([]);
  };
  const differences = (at, top, first, last) => { // a line below, and a sign, which does not need its colour
    if (!mayDiffer(view.trace, view.beside, at)) return;
    pen.fillStyle = view.colours.bad;
    let free = view.left;
    for (let step = first; step <= last; step++) {
      if (!difference(view.trace, view.beside, at, step)) continue;
      pen.fillRect(x(step), top + LANE - 4, Math.max(1, x(step + 1) - x(step)), 3);
      if (x(step) < free) continue;
      pen.textAlign = "left";
      pen.fillText("≠", x(step) + 1, top + LANE - 9);
      free = x(step) + 3 * view.letter;
    }
  };
  const cursors = () => {
    for (const [step, name, colour] of [[view.second, "B", view.colours.open], [view.cursor, "A", view.colours.accent]]) {
      if (step === null || step > view.trace.length) continue;
      const at = x(step);
      if (at < view.left - 1 || at > view.width) continue;
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(at + 0.5, TOP); pen.lineTo(at + 0.5, view.height); pen.stroke();
      pen.fillStyle = colour;
      pen.fillRect(at - 7, 3, 15, 17);
      pen.fillStyle = view.colours.ground;
      pen.textAlign = "center";
      pen.fillText(name, at + 0.5, TOP / 2);
      pen.textAlign = "left";
    }
  };
  return draw;
};
