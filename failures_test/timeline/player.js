'use strict';

// The player draws runs, step by step. It knows nothing of where runs come from:
// it gets one as data, with the files of the lock, and shows the step it is told.

// el makes an element: el('p', {class: 'says'}, 'text', child, …).
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key.startsWith('--')) made.style.setProperty(key, value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// statesOf gives every step all that it left out because it was as before, and the
// place in the code that was run last.
function statesOf(run) {
  let now = {inside: '', state: '', does: [], lines: [], keys: [], orders: []};
  let last = null;
  return run.steps.map((step) => {
    now = {...now};
    for (const field of Object.keys(now)) {
      if (step[field] !== undefined) now[field] = step[field];
    }
    last = places(now.lines[step.lane]).at(-1) || now.lines.flatMap(places)[0] || last;
    return {...step, ...now, last};
  });
}

// tone is the class of a verdict: r bad, o fair, g good.
const toneClass = (tone) => 'tone-' + tone;

// span writes milliseconds as a person would.
function span(ms) {
  if (ms >= 120000) {
    const minutes = Math.round(ms / 60000);
    return minutes < 120 ? minutes + ' min' : Math.round(ms / 360000) / 10 + ' h';
  }
  return ms >= 1000 ? Math.round(ms / 100) / 10 + 's' : Math.round(ms) + 'ms';
}

const leftOf = (key, ms) => Math.max(0, key.until - ms);

// fraction is how much of its lease a key has left, from 0 to 1.
const fraction = (key, ms, lease) => (key.until < 0 ? 1 : Math.min(1, leftOf(key, ms) / lease));

const isTwo = (letter) => letter === 'x' || letter === 'e';

// What is coloured in Go, and how.
const goToken = /(\/\/.*$)|("(?:[^"\\]|\\.)*"|`[^`]*`?|'(?:[^'\\]|\\.)+')|\b(break|case|chan|const|continue|default|defer|else|for|func|go|if|import|interface|map|nil|package|range|return|select|struct|switch|type|var|true|false)\b/g;

function goLine(line) {
  const parts = [];
  let from = 0;
  for (const found of line.matchAll(goToken)) {
    if (found.index > from) parts.push(line.slice(from, found.index));
    const kind = found[1] ? 'comment' : found[2] ? 'string' : 'word';
    parts.push(el('span', {class: 'go-' + kind}, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(line.slice(from));
  return parts;
}

// Code shows the files of a lock, and what the stage changed, one at a time. The
// lines that clients run are marked with their names. Files that the run does not
// visit are in a list of their own.
class Code {
  constructor(files, diffs, run) {
    this.lanes = run.lanes;
    this.sheets = new Map();
    this.tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': 'files'});
    this.others = el('select', {'aria-label': 'other files', onchange: () => this.choose(this.others.value)}, el('option', {value: ''}, 'other files'));
    this.body = el('div', {class: 'sheet', tabindex: '0', role: 'region', 'aria-label': 'the code of the lock'});
    this.element = el('div', {class: 'code'}, this.tabs, this.body);
    const visited = run.steps.flatMap((step) => (step.lines || []).flatMap((text) => places(text).map((place) => place.file)));
    const isVisited = (file) => files.length <= 3 || visited.includes(file.name);
    for (const file of files) this.add(file.name, () => this.sheet(file), isVisited(file));
    for (const diff of diffs) this.add(diff.name, () => diffSheet(diff), true);
    if (this.others.length > 1) this.tabs.append(this.others);
    this.open((files.find(isVisited) || files[0]).name);
  }

  add(name, make, isTab) {
    const tab = isTab && el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => this.choose(name)}, name);
    this.sheets.set(name, {tab, make});
    if (isTab) this.tabs.append(tab);
    else this.others.append(el('option', {}, name));
  }

  // choose opens what the reader wants to see.
  choose(name) {
    this.chosen = name;
    this.open(name);
  }

  sheet(file) {
    const lines = file.text.replace(/\n$/, '').split('\n');
    return el('ol', {class: 'lines'}, ...lines.map((line) => el('li', {}, el('span', {class: 'who'}), el('code', {}, ...goLine(line)))));
  }

  // open shows a file, made when it is first wanted.
  open(name) {
    const sheet = this.sheets.get(name);
    if (this.current === name || !sheet) return;
    this.press(this.current, 'false');
    this.press(name, 'true');
    this.others.value = sheet.tab ? '' : name;
    sheet.element ??= sheet.make();
    this.body.replaceChildren(sheet.element);
    this.body.scrollTop = 0;
    this.current = name;
    if (this.marked) this.mark(...this.marked);
  }

  press(name, pressed) {
    const tab = this.sheets.get(name)?.tab;
    if (tab) tab.setAttribute('aria-pressed', pressed);
  }

  // show marks the lines of all lanes, and brings the acting one's into view.
  show(state) {
    this.marked = [state.lines, state.inside];
    this.goal = state.last;
    if (this.goal && !this.stays()) this.open(this.goal.file);
    this.mark(...this.marked);
    this.follow();
  }

  // follow brings the line that was run last into view.
  follow() {
    if (this.goal && this.goal.file === this.current) this.scrollTo(this.goal.line);
  }

  // stays tells whether the reader chose something that is no file of the run.
  stays() { return this.chosen !== undefined && this.chosen.startsWith('diff '); }

  mark(lines, inside) {
    for (const old of this.body.querySelectorAll('li.runs')) {
      old.className = '';
      old.firstChild.replaceChildren();
    }
    if (this.current.startsWith('diff ')) return;
    lines.forEach((text, lane) => {
      for (const place of places(text)) {
        const line = place.file === this.current && this.body.querySelector('.lines').children[place.line - 1];
        if (!line) continue;
        line.classList.add('runs', 'own-' + (lane % 4));
        if (isTwo(inside[lane])) line.classList.add('two');
        line.firstChild.append(el('span', {class: 'badge own-' + (lane % 4), title: place.background ? 'in the background' : null},
          this.lanes[lane] + (place.background ? '°' : '')));
      }
    });
  }

  // scrollTo brings a line to two fifths of the height, with a whole line at the top.
  scrollTo(number) {
    const lines = this.body.querySelector('.lines').children;
    const line = lines[number - 1];
    if (!line || line.offsetHeight === 0) return;
    const above = Math.floor(this.body.clientHeight * 0.4 / line.offsetHeight);
    this.body.scrollTop = lines[Math.max(0, number - 1 - above)].offsetTop;
  }
}

// places are the lines that a lane runs: "mutex.go:64 ~watchdog.go:84".
const places = (text) => (text || '').split(' ').filter(Boolean).map(parsePlace);

function parsePlace(text) {
  const background = text.startsWith('~');
  const [file, line] = (background ? text.slice(1) : text).split(':');
  return {file, line: Number(line), background};
}

const placeName = (place) => (place ? `${place.file}:${place.line}` : '');

function diffSheet(diff) {
  const style = (line) => {
    if (/^(---|\+\+\+) /.test(line)) return 'diff-file';
    if (line.startsWith('@@')) return 'diff-at';
    if (line.startsWith('+')) return 'diff-new';
    return line.startsWith('-') ? 'diff-old' : '';
  };
  return el('div', {class: 'diff'}, el('p', {class: 'lesson'}, diff.lesson),
    el('pre', {}, ...diff.text.replace(/\n$/, '').split('\n').map((line) => el('span', {class: style(line)}, line + '\n'))));
}

// Player shows one run.
class Player {
  // verdict is {text, tone}; code is {files, diffs}, or null for none.
  constructor(run, verdict, code, name) {
    this.run = run;
    this.states = statesOf(run);
    this.verdict = verdict;
    this.at = -1;
    this.build(code, name);
  }

  get length() { return this.states.length; }

  build(code, name) {
    const {run} = this;
    this.says = el('p', {class: 'says', 'aria-live': 'polite'});
    this.full = el('p', {class: 'full'});
    this.found = el('ul', {class: 'findings'});
    this.clients = el('ul', {class: 'clients' + (run.lanes.length > 3 ? ' many' : ''), 'aria-label': 'clients', '--n': run.lanes.length}, ...run.lanes.map((lane, i) => el('li', {class: 'client own-' + (i % 4)})));
    this.keys = el('div', {class: 'keys'});
    this.end = el('p', {class: 'verdict ' + toneClass(this.verdict.tone), hidden: true}, this.verdict.text);
    const now = el('div', {class: 'now'}, this.says, this.full, this.found, this.end, this.clients, this.keys);
    this.steps = el('ol', {class: 'steps'}, ...this.states.map((state, i) => this.row(state, i)));
    const heads = el('div', {class: 'heads', 'aria-hidden': 'true'}, el('span', {class: 'at'}, 'time'),
      ...run.lanes.map((lane, i) => el('span', {class: 'head own-' + (i % 4)}, 'client ' + lane)),
      el('span', {class: 'head redis'}, run.key ? 'Redis: K' : 'Redis'), run.ledger ? el('span', {class: 'head'}, 'ledger') : null);
    this.scroll = el('div', {class: 'timeline', role: 'region', 'aria-label': 'timeline', tabindex: '0',
      '--lanes': run.lanes.length, '--ledger': run.ledger ? 1 : 0}, heads, this.steps,
      run.key ? el('p', {class: 'legend'}, el('span', {}, 'K = ' + run.key), el('span', {}, 'A1 = A’s first hold')) : null);
    this.scroll.classList.toggle('with-ledger', Boolean(run.ledger));
    this.code = code && code.files.length > 0 ? new Code(code.files, code.diffs || [], run) : null;
    // Another width or type size moves what is to be seen.
    new ResizeObserver(() => this.look()).observe(this.scroll);
    this.element = el('section', {class: 'player', 'aria-label': name}, now, this.scroll, this.code ? this.code.element : null);
  }

  // look brings what is current into view.
  look() {
    if (this.at < 0 || !this.element.isConnected) return;
    this.follow();
    if (this.code) this.code.follow();
  }

  // row is a step in the timeline.
  row(state, i) {
    const {run} = this;
    const key = state.keys.find((k) => k.name === 'K') || state.keys[0];
    const source = (state.kind === 'executed' || state.kind === 'refused') && placeName(places(state.lines[state.lane]).at(-1));
    const said = el('span', {class: 'said', '--lane': state.lane}, state.text, source ? el('span', {class: 'source'}, source) : null);
    if (state.lane < 0) said.classList.add('all');
    const cells = run.lanes.map((_, lane) => el('span', {
      class: `lane own-${lane % 4} in-${state.inside[lane]} is-${state.state[lane]}`, '--lane': lane, 'aria-hidden': 'true',
    }));
    const redis = el('span', {class: 'key' + (key ? ' own-' + (Math.max(0, key.lane) % 4) : ' none')},
      el('span', {class: 'bar', '--left': key ? 0.15 + 0.85 * fraction(key, state.ms, run.lease) : 0}),
      state.redis ? el('span', {class: 'held'}, state.redis) : null);
    return el('li', {class: 'step kind-' + state.kind, onclick: () => this.chosen && this.chosen(i)},
      el('span', {class: 'at'}, i > 0 && this.states[i - 1].at === state.at ? '' : state.at),
      ...cells, said, redis, run.ledger ? el('span', {class: 'orders'}, state.ledger || '') : null,
      ...(state.found || []).map((text, n) => el('span', {class: 'finding', '--row': n}, '✗ ' + text)));
  }

  // show shows a step, from 0, and hides what comes after it.
  show(i) {
    const state = this.states[i];
    const isEnd = i === this.length - 1;
    if (this.at === i) return;
    this.at = i;
    [...this.steps.children].forEach((row, n) => {
      row.classList.toggle('future', n > i);
      row.classList.toggle('current', n === i);
      if (n === i) row.setAttribute('aria-current', 'step');
      else row.removeAttribute('aria-current');
    });
    this.says.textContent = state.says;
    this.full.textContent = state.full || '';
    const told = (state.found || []).filter((text) => !isEnd || !this.verdict.text.includes(text));
    this.found.replaceChildren(...told.map((text) => el('li', {}, '✗ ' + text)));
    this.end.hidden = !isEnd;
    this.showClients(state);
    this.showKeys(state);
    if (this.code) this.code.show(state);
    this.follow();
  }

  // follow brings the current step into view, within the timeline's own box only,
  // with a whole row at the top.
  follow() {
    const box = this.scroll;
    const row = this.steps.children[this.at];
    if (box.scrollHeight <= box.clientHeight) return;
    const head = box.firstChild.offsetHeight;
    const isHidden = row.offsetTop - head < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight;
    if (!isHidden) return;
    const room = Math.max(0, box.clientHeight - row.offsetHeight - head);
    const top = [...this.steps.children].find((other) => row.offsetTop - other.offsetTop <= room * 0.85);
    box.scrollTop = top.offsetTop - head;
  }

  showClients(state) {
    const {run} = this;
    const words = {s: 'stands still', d: 'dead', n: 'no network'};
    run.lanes.forEach((lane, i) => {
      const letter = state.inside[i];
      const others = run.lanes.filter((_, n) => n !== i && isTwo(state.inside[n]));
      const does = [state.state[i] !== 'd' && words[state.state[i]], isTwo(letter) && 'together with ' + others.join(' and '), state.does[i]];
      const card = this.clients.children[i];
      card.className = `client own-${i % 4} in-${letter} is-${state.state[i]}`;
      card.replaceChildren(el('span', {class: 'badge own-' + (i % 4)}, lane),
        el('strong', {}, letter !== '-' ? 'inside' : state.state[i] === 'd' ? 'dead' : 'outside'),
        el('span', {class: 'does'}, does.filter(Boolean).join(', ')),
        el('span', {class: 'place'}, places(state.lines[i]).map((p) => placeName(p) + (p.background ? ' in the background' : '')).join(', ')));
    });
  }

  showKeys(state) {
    const rows = state.keys.map((key) => {
      const left = key.until < 0 ? 'no lease: it stays for ever' : span(leftOf(key, state.ms)) + ' left';
      return el('div', {class: 'row own-' + (Math.max(0, key.lane) % 4)},
        el('span', {class: 'name'}, key.name === 'K' ? this.run.key : key.name),
        el('span', {class: 'value'}, el('span', {class: 'badge own-' + (Math.max(0, key.lane) % 4)}, key.owner || '?'),
          key.value === key.owner ? '' : key.value),
        el('span', {class: 'lease'}, el('span', {class: 'fill', '--left': fraction(key, state.ms, this.run.lease)}), el('span', {class: 'left'}, left)));
    });
    if (rows.length === 0) rows.push(el('div', {class: 'row empty'}, el('span', {class: 'name'}, this.run.key || 'no key'), el('span', {class: 'value'}, 'no key')));
    const ledger = this.run.ledger && [el('h3', {}, 'Ledger'), el('p', {class: 'ledger'}, state.orders.join(', ') || 'empty')];
    this.keys.replaceChildren(el('h3', {}, 'Redis'), el('div', {class: 'rows'}, ...rows), ...(ledger || []));
  }
}

// Stepper steps one or more players together. together lists the steps of each
// player at every position.
class Stepper {
  constructor(players, together) {
    this.players = players;
    this.together = together;
    this.position = 0;
    this.playing = null;
    players.forEach((player, n) => {
      player.chosen = (i) => this.go(this.together.findIndex((steps) => steps[n] === i));
    });
    this.build();
  }

  build() {
    const button = (text, label, key, act) => el('button', {type: 'button', title: `${label} (${key})`, 'aria-label': label, onclick: act}, text);
    this.playButton = button('▶ Play', 'play or pause', 'space', () => this.play());
    this.slider = el('input', {type: 'range', min: '1', max: String(this.together.length), value: '1', 'aria-label': 'step',
      oninput: () => this.go(Number(this.slider.value) - 1)});
    this.count = el('span', {class: 'count'});
    this.element = el('div', {class: 'controls', role: 'group', 'aria-label': 'steps'},
      button('|◀', 'first step', 'Home', () => this.go(0)), button('◀ Back', 'one step back', '←', () => this.go(this.position - 1)),
      button('Next ▶', 'next step', '→', () => this.go(this.position + 1)), button('▶|', 'last step', 'End', () => this.go(this.together.length - 1)),
      this.playButton, this.slider, this.count);
  }

  get isAtEnd() { return this.position === this.together.length - 1; }

  // go shows a position, or the nearest one there is.
  go(position) {
    this.position = Math.max(0, Math.min(this.together.length - 1, position));
    this.together[this.position].forEach((step, n) => this.players[n].show(step));
    this.slider.value = String(this.position + 1);
    this.count.textContent = `step ${this.position + 1} of ${this.together.length}`;
    if (this.isAtEnd) this.pause();
    if (this.moved) this.moved(this.position);
  }

  play() {
    if (this.playing) return this.pause();
    if (this.isAtEnd) this.go(0);
    this.playing = setInterval(() => this.go(this.position + 1), 1600);
    this.playButton.textContent = '⏸ Pause';
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.playButton.textContent = '▶ Play';
  }

  // key does what a key asks for, and tells whether it did.
  key(event) {
    const onControl = event.target.closest('button, a, input, select, summary');
    const goals = {ArrowRight: this.position + 1, ArrowLeft: this.position - 1, Home: 0, End: this.together.length - 1};
    if (event.key in goals && !event.target.closest('input, select')) {
      this.pause();
      this.go(goals[event.key]);
      return true;
    }
    if (event.key === ' ' && !(onControl && onControl !== this.slider)) {
      this.play();
      return true;
    }
    return false;
  }
}

// alone is the positions of one player.
const alone = (player) => player.states.map((_, i) => [i]);

// side by side: what is alike in both runs comes at one position; between two such
// places both go on together, and the one with less to do waits.
function sideBySide(before, after) {
  const told = ['called', 'slept', 'stored', 'server', 'delayed']; // whose texts must be alike, too
  const alike = (a, b) => a.lane === b.lane && a.kind === b.kind && (!told.includes(a.kind) || a.text === b.text);
  const [m, n] = [before.length, after.length];
  const best = Array.from({length: m + 1}, () => new Uint16Array(n + 1));
  for (let i = m - 1; i >= 0; i--) {
    for (let j = n - 1; j >= 0; j--) {
      best[i][j] = alike(before.states[i], after.states[j]) ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const positions = [];
  let [i, j] = [0, 0];
  const meet = (nextI, nextJ) => {
    for (; i < nextI || j < nextJ;) {
      if (i < nextI) i++;
      if (j < nextJ) j++;
      positions.push([Math.max(0, i - 1), Math.max(0, j - 1)]);
    }
  };
  for (let [x, y] = [0, 0]; x < m && y < n;) {
    if (alike(before.states[x], after.states[y])) {
      meet(x, y);
      i = ++x;
      j = ++y;
      positions.push([i - 1, j - 1]);
    } else if (best[x + 1][y] >= best[x][y + 1]) x++;
    else y++;
  }
  meet(m, n);
  return positions;
}

// keep remembers a choice where the browser allows it.
const keep = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* a page from disk may have no storage */ } },
};

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  keep.set('theme', root.dataset.theme);
}

function startTheme() {
  const kept = keep.get('theme');
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
}

const toggleProjector = () => document.documentElement.classList.toggle('projector');
