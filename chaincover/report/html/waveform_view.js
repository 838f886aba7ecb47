// What of the waveform is seen: the run, its lanes, how wide a step is and where it begins (a stretch of waiting that is folded is FOLD
// steps wide), the cursors, and the colours of the page.
const waveformView = (wave) => {
  const FOLD = 6; // steps
  const WIDEST = 48; // pixels of a step, at most
  const $ = (id) => document.getElementById(id);
  const canvas = $("wave-canvas"), scroll = $("wave-scroll");
  const view = {
    ROW: 15, LANE: 30, TOP: 24, // heights in pixels: of a row of flags, of a variable's lane, of the ruler
    flags: [], rows: 1, head: 0, // rows of flags; the height of all that stands above the lanes
    FONT: "12px ui-monospace, monospace", pen: canvas.getContext("2d", { willReadFrequently: true }), letter: 7, colours: {},
    trace: wave.trace(0), beside: null, lanes: [], place: new Float64Array(0), folded: [],
    left: 150, width: 0, height: 0, begin: 0, unit: 10, cursor: 0, second: null,
  };
  view.lay = () => { // positions of the steps; what is folded
    const { trace } = view;
    view.place = new Float64Array(trace.length + 2);
    view.folded = $("wave-fold").checked ? trace.folds.filter(([first, end]) => end - first > FOLD) : [];
    let next = 0, at = 0;
    for (let step = 0; step <= trace.length; step++) {
      while (next < view.folded.length && view.folded[next][1] <= step) next++;
      const fold = view.folded[next];
      view.place[step] = at;
      at += fold && fold[0] <= step ? FOLD / (fold[1] - fold[0]) : 1;
    }
    view.place[trace.length + 1] = at;
  };
  view.foldAt = (step) => view.folded.find(([first, end]) => first <= step && step < end);
  view.stepAt = (position) => {
    let low = 0, high = view.trace.length + 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (view.place[middle] <= position) low = middle; else high = middle;
    }
    return low;
  };
  view.total = () => view.place[view.trace.length + 1];
  view.room = () => Math.max(40, view.width - view.left);
  view.least = () => Math.min(WIDEST, view.room() / view.total());
  view.widened = (unit) => Math.min(WIDEST, Math.max(view.least(), unit));
  view.x = (step) => view.left + (view.place[step] - view.begin) * view.unit;
  view.clamp = () => {
    view.unit = view.widened(view.unit);
    const rest = view.total() - view.room() / view.unit;
    view.begin = Math.min(Math.max(0, rest), Math.max(0, view.begin));
    $("wave-pan").value = rest > 0 ? String(Math.round((1000 * view.begin) / rest)) : "0";
    $("wave-pan").disabled = rest <= 0;
  };
  view.choose = () => {
    const words = $("wave-lanes").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const named = (at) => words.some((word) => wave.variables[at].name.toLowerCase().includes(word));
    view.lanes = wave.variables.map((_, at) => at).filter((at) => !words.length || named(at));
  };
  view.measure = (whole = false) => { // whole: all lanes at once, as for print
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "faint", "grid", "ground", "raised", "accent", "good", "bad", "open", "marked"]) view.colours[name] = style.getPropertyValue(`--${name}`).trim();
    view.width = scroll.clientWidth;
    view.head = view.TOP + view.rows * view.ROW + 7;
    const wanted = view.head + (view.trace.deadlines.length + view.lanes.length) * view.LANE + 4;
    scroll.style.height = `${whole ? wanted + 2 : Math.min(wanted + 2, Math.max(220, innerHeight * 0.7))}px`;
    view.height = scroll.clientHeight;
    $("wave-space").style.height = `${wanted}px`;
    $("wave-space").style.marginBottom = `${-view.height}px`;
    view.left = view.width < 500 ? 96 : 170;
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
    view.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    view.pen.font = view.FONT;
    view.letter = view.pen.measureText("m").width;
  };
  return view;
};
