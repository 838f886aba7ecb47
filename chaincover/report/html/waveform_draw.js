// The picture of the waveform on its canvas: ruler, goals as flags, deadlines as bars, a lane for each variable, two cursors.
const waveformDrawing = (wave, view) => {
  const { variables, shown, difference, mayDiffer } = wave;
  const { pen, FONT, ROW, LANE, TOP, stepAt, foldAt, room, x } = view;
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
    view.trace.deadlines.forEach((deadline, order) => bar(deadline, view.head + order * LANE - offset, last));
    view.lanes.forEach((at, order) => {
      const top = view.head + (view.trace.deadlines.length + order) * LANE - offset;
      if (top > view.height || top + LANE < view.head) return;
      lane(at, top, first, last);
    });
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, 0, view.width, view.head);
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
  // Where the flags between two steps stand, each with its text: the names of goals as long as nothing overlaps, else the number of the flag.
  // No pole of a flag goes through a text, and in the last row, where flags without a text stand, texts end before the next flag.
  const placed = (first, last) => {
    const { marks, names, rank } = view.trace, bottom = view.rows - 1;
    const seen = marks.map((step, at) => ({ step, number: at + 1, x: x(step), bad: view.trace.failed.has(step), row: bottom, text: "", begin: 0, end: 0 }))
      .filter((flag) => flag.step >= first && flag.step <= last && flag.x >= view.left - 1 && flag.x <= view.width);
    seen.forEach((flag, at) => Object.assign(flag, { before: seen[at - 1]?.x ?? 0, next: seen[at + 1]?.x ?? view.width }));
    const apart = []; // closer ones have no room for anything
    for (const flag of seen) if (!apart.length || flag.bad || flag.x - apart.at(-1).x >= 3) apart.push(flag);
    const texts = apart.map(({ step }) => {
      const all = names(step), short = all.length > 1 ? `${all[0]} +${all.length - 1}` : all[0];
      return all.join(" ").length <= 30 ? [...new Set([all.join(" "), short])] : [short];
    });
    const rows = [...Array(bottom).keys()];
    const laid = (sign, upper) => { // what failed is named first, then what somebody wrote; from the left or from the right
      const set = [];
      const put = (flag, text) => {
        const wide = 12 + text.length * view.letter, turned = flag.x + wide > view.width; // at the end of the picture to the left of its pole
        const own = { ...flag, text, begin: turned ? flag.x - wide : flag.x, end: turned ? flag.x : flag.x + wide };
        const alone = turned ? own.begin > flag.before + 10 : own.end <= flag.next;
        const apartOf = (pole, other) => pole.x < other.begin - 2 || pole.x > other.end + 2;
        const clear = (row) => set.every((other) => {
          if (other.row === row) return own.end < other.begin || other.end < own.begin;
          return other.row < row ? apartOf(other, own) : apartOf(own, other);
        });
        const row = [bottom, ...upper].find((each) => (each !== bottom || alone) && own.begin > view.left - 4 && clear(each));
        if (row !== undefined) set.push({ ...own, row });
        return row !== undefined;
      };
      const order = apart.map((flag, at) => at).sort((a, b) => rank(apart[a].step) - rank(apart[b].step) || sign * (a - b));
      const left = order.filter((at) => !texts[at].some((text) => put(apart[at], text)));
      const named = set.length;
      for (const at of left) put(apart[at], String(apart[at].number));
      return { set, named };
    };
    const [one, other] = [laid(1, rows), laid(-1, [...rows].reverse())];
    const best = new Map((other.named > one.named ? other : one).set.map((flag) => [flag.step, flag]));
    return seen.map((flag) => best.get(flag.step) ?? flag);
  };
  const flags = (first, last) => {
    pen.fillStyle = view.colours.faint;
    pen.textAlign = "left";
    pen.fillText("goals", 6, TOP + 10);
    view.flags = placed(first, last);
    for (const { x: at, row, text, bad, begin } of view.flags) {
      const top = TOP + 3 + row * ROW, turned = text && begin < at;
      pen.fillStyle = bad ? view.colours.bad : view.colours.good;
      pen.beginPath(); pen.moveTo(at, top); pen.lineTo(turned ? at - 9 : at + 9, top + 5); pen.lineTo(at, top + 10); pen.fill();
      pen.fillRect(at, top, 1.5, view.head - top - 1);
      pen.fillStyle = bad ? view.colours.bad : /^\d+$/.test(text) ? view.colours.faint : view.colours.ink;
      pen.fillText(text, turned ? begin : at + 12, top + 6);
    }
  };
  const lane = (at, top, first, last) => {
    const variable = variables[at];
    pen.save();
    pen.beginPath(); pen.rect(view.left, Math.max(top, view.head), view.width - view.left, LANE); pen.clip();
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
  const bar = ([goal, asked, from, check, end, held, told], top, last) => { // a deadline: what was used of it, and what was left
    if (top > view.height || top + LANE < view.head) return;
    pen.save();
    pen.beginPath(); pen.rect(view.left, Math.max(top, view.head), view.width - view.left, LANE); pen.clip();
    const behind = (step) => Math.min(view.width + 20, x(Math.min(step, view.trace.length + 1)) + Math.max(0, step - view.trace.length - 1) * view.unit);
    pen.fillStyle = held === false ? view.colours.bad : view.colours.open;
    pen.fillRect(x(from), top + 7, Math.max(2, behind(check) - x(from)), LANE - 14);
    pen.strokeStyle = view.colours.open;
    pen.setLineDash([3, 3]);
    pen.strokeRect(behind(check), top + 7.5, Math.max(0, behind(end) - behind(check)), LANE - 15);
    pen.setLineDash([]);
    const within = Math.max(view.left, x(from)) + 4, wide = told.length * view.letter + 8;
    const places = [[within, behind(check) - within, view.colours.ground], [behind(end) + 4, view.width - behind(end), view.colours.ink]];
    places.push([x(from) - wide + 4, x(from) - view.left, view.colours.ink]); // within it, behind it, before it; else where there is most room
    const place = places.find((each) => each[1] >= wide) ?? places.slice(0, 2).sort((a, b) => b[1] - a[1])[0];
    pen.fillStyle = place[2];
    pen.fillText(fitted(told, Math.min(wide, place[1]) - 4), place[0], top + LANE / 2);
    pen.restore();
    pen.fillStyle = view.colours.ground;
    pen.fillRect(0, top, view.left, LANE);
    pen.fillStyle = view.colours.ink;
    const name = `${goal} ${asked}`, most = view.left - 10;
    pen.fillText(fitted(name, most) === name ? name : fitted(goal, most), 6, top + LANE / 2);
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
  return { draw, placed };
};
