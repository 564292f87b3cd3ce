'use strict';

// The player draws runs, step by step. It gets a run as data, with the files of the lock, and
// shows the step that it is told to.

// Texts are in English here. For other languages the page has a dictionary.
let dictionary = new Map();

// say returns a text in the page's language, with values for the names in braces.
const say = (text, parts) => tell(text, parts).join('');

// tell returns the same as a list, whose parts may be elements.
const tell = (text, parts = {}) => (dictionary.get(text) ?? text).split(/\{(\w+)\}/)
  .map((piece, i) => (i % 2 === 0 ? piece : Object.hasOwn(parts, piece) ? parts[piece] : `{${piece}}`));

// gap is the space between two sentences.
const gap = () => say('{one} {more}', {one: '', more: ''});

// listed joins texts: "one, two, three".
const listed = (all) => (all.length === 0 ? '' : all.reduce((one, more) => say('{one}, {more}', {one, more})));

const both = (all) => (all.length === 0 ? '' : all.reduce((one, more) => say('{one} and {more}', {one, more})));

// findingClass returns the class of a finding: one without ✗ is taken as given by the story.
const findingClass = (name, text) => (text.startsWith('✗') ? name : `${name} given`.trim());

// el creates an element: el('p', {class: 'says'}, 'text', child, …).
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

// statesOf fills in the fields that a step leaves out because they have not changed, and the place
// in the code that was run last.
function statesOf(run) {
  let now = {at: '', ms: 0, inside: '', state: '', does: [], lines: [], keys: [], orders: []};
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

// tone returns the class of a verdict: r bad, o fair, g good.
const toneClass = (tone) => 'tone-' + tone;

// span formats milliseconds for a reader.
function span(ms) {
  if (ms >= 120000) {
    const minutes = Math.round(ms / 60000);
    return minutes < 120 ? minutes + ' min' : Math.round(ms / 360000) / 10 + ' h';
  }
  return ms >= 1000 ? Math.round(ms / 100) / 10 + 's' : Math.round(ms) + 'ms';
}

const leftOf = (key, ms) => Math.max(0, key.until - ms);

// fraction returns how much of its lease a key has left, from 0 to 1.
const fraction = (key, ms, lease) => (key.until < 0 ? 1 : Math.min(1, leftOf(key, ms) / lease));

const isTwo = (letter) => letter === 'x' || letter === 'e';

// Player shows one run.
class Player {
  // verdict is {text, tone, line}; code is {files, diffs}, or null for none.
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
    this.clients = el('ul', {class: 'clients' + (run.lanes.length > 3 ? ' many' : ''), 'aria-label': say('clients'),
      '--n': run.lanes.length}, ...run.lanes.map((lane, i) => el('li', {class: 'client own-' + (i % 4)})));
    this.keys = el('div', {class: 'keys'});
    this.end = el('p', {class: 'verdict ' + toneClass(this.verdict.tone), hidden: true}, ...this.linked(say(this.verdict.text), code && this.verdict.line));
    const now = el('div', {class: 'now'}, this.says, this.end);
    const state = el('div', {class: 'state'}, this.clients, this.keys);
    this.steps = el('ol', {class: 'steps'}, ...this.states.map((state, i) => this.row(state, i, code)));
    this.picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg'); // over the rows
    this.picture.setAttribute('class', 'picture');
    this.picture.setAttribute('aria-hidden', 'true');
    const heads = el('div', {class: 'heads', 'aria-hidden': 'true'}, el('span', {class: 'at'}, say('time')),
      ...run.lanes.map((lane, i) => el('span', {class: 'head own-' + (i % 4)}, ...tell('client {client}', {client: el('b', {}, lane)}))),
      el('span', {class: 'head redis'}, run.servers ? run.servers.join(' ') : run.key ? 'Redis: K' + (run.other ? ', L' : '') : 'Redis'), run.ledger ? el('span', {class: 'head'}, say('ledger')) : null);
    this.begins = el('p', {class: 'begins', hidden: true}, say('Each step adds a line here. Who is inside the lock is coloured, and red means two. Commands go to Redis on the right.'));
    const unstored = run.steps.map((step) => step.text.match(/\b[A-Z]\?/)).find(Boolean);
    this.scroll = el('div', {class: 'timeline', role: 'group', 'aria-label': say('timeline'), tabindex: '0',
      '--lanes': run.lanes.length, '--bars': run.servers?.length || 1, '--ledger': run.ledger ? 1 : 0}, heads, this.steps, this.begins, this.picture,
      run.key ? el('p', {class: 'legend'}, el('span', {}, 'K = ' + run.key + (run.other ? ', L = ' + run.other : '')), el('span', {}, say('A1 = A’s first hold')),
        unstored ? el('span', {}, say('{value} is in no key of the lock', {value: unstored[0]})) : null,
        el('span', {}, el('i', {class: 'legend-paused'}), say('stands still')), el('span', {}, el('i', {class: 'legend-call'}), say('in a call')), el('span', {}, el('i', {class: 'legend-cut'}), say('no network'))) : null);
    this.scroll.classList.toggle('with-ledger', Boolean(run.ledger));
    this.code = code && code.files.length > 0 ? new Code(code.files, code.diffs || [], run, code.old) : null;
    // A new width or font size moves the current step, and new rows the picture.
    new ResizeObserver(() => this.look()).observe(this.scroll);
    new ResizeObserver(() => this.draw()).observe(this.steps);
    this.element = el('section', {class: 'player', 'aria-label': name},
      el('div', {class: 'watched'}, now, this.scroll, this.code ? this.code.element : null), state);
  }

  // linked returns a text in parts. Its line, if it has one, is a button that shows that line of the code. A text that does
  // not name it gets it at the end.
  linked(text, line) {
    const words = (part) => el('span', {class: 'words'}, part);
    if (!line) return [words(text)];
    const [before, after] = text.includes(line) ? text.split(line) : [text + ' ', ''];
    return [words(before), el('button', {type: 'button', class: 'line-link', onclick: (event) => {
      event.stopPropagation();
      this.code.choose(parsePlace(line).file);
      this.code.show(this.states[this.at], parsePlace(line));
      this.code.element.scrollIntoView({block: 'nearest'});
    }}, line), words(after)];
  }

  // look scrolls to the current step.
  look() {
    if (this.at < 0 || !this.element.isConnected) return;
    this.follow();
    if (this.code) this.code.follow();
  }

  // row creates a step in the timeline.
  row(state, i, hasCode) {
    const {run} = this;
    const source = (state.kind === 'executed' || state.kind === 'refused') && placeName(places(state.lines[state.lane]).at(-1));
    const said = el('span', {class: 'said own-' + (state.lane % 4), '--lane': state.lane, 'data-who': run.lanes[state.lane]}, say(state.text), source ? el('span', {class: 'source'}, source) : null);
    if (state.lane < 0) said.classList.add('all');
    const cells = run.lanes.map((_, lane) => el('span', {
      class: `lane own-${lane % 4} in-${state.inside[lane]} is-${state.state[lane]}`, '--lane': lane, 'aria-hidden': 'true',
    }));
    const held = run.servers ? run.servers.map((server) => state.keys.find((k) => k.name === 'K' && k.server === server))
      : [state.keys.find((k) => k.name === 'K') || state.keys[0]];
    const redis = el('span', {class: 'key'},
      el('span', {class: 'bars'}, ...held.map((key) => el('span', {class: 'bar ' + (key ? 'own-' + (Math.max(0, key.lane) % 4) : 'none'),
        '--left': key ? 0.15 + 0.85 * fraction(key, state.ms, run.lease) : 0}))),
      state.redis ? el('span', {class: 'held'}, say(state.redis)) : null);
    const [isDone, isEnd] = [['done'], ['sent', 'done', 'read', 'lost']].map((ends) => (run.moves || []).some((m) => ends.some((end) => m[end] === i + 1)));
    return el('li', {class: 'step kind-' + state.kind + (isEnd ? ' with-line' : '') + (isDone ? ' executes' : ''), onclick: () => this.chosen && this.chosen(i)},
      el('span', {class: 'at'}, i > 0 && this.states[i - 1].at === state.at ? '' : state.at),
      ...cells, said, redis, run.ledger ? el('span', {class: 'orders', 'data-label': say('ledger')}, say(state.ledger || '')) : null,
      ...(state.found || []).map((text, n) => this.finding(text, n, hasCode && state.sent[n])));
  }

  // finding returns a finding of a step. Once the verdict has its words, only the name of its rule and its line are left.
  finding(text, n, line) {
    const isToldAtEnd = text.startsWith('✗ ') && this.verdict.text.includes(text.slice(2));
    const [rule, ...words] = say(text).split(/(?=[:：])/);
    return el('span', {class: findingClass('finding', text) + (isToldAtEnd ? ' told-at-end' : ''), '--row': n}, rule, ...this.linked(words.join(''), line));
  }

  // show shows a step, counted from 0, and hides those after it. Before the end it shows no verdict and no finding.
  show(i, isEnd) {
    const state = this.states[i];
    this.element.classList.toggle('ended', isEnd);
    this.begins.hidden = i > 0;
    this.end.hidden = !isEnd || !this.verdict.text;
    if (this.at === i && this.isEnd === isEnd) return;
    this.at = i;
    this.isEnd = isEnd;
    [...this.steps.children].forEach((row, n) => {
      row.classList.toggle('future', n > i);
      row.classList.toggle('current', n === i);
      if (n === i) row.setAttribute('aria-current', 'step');
      else row.removeAttribute('aria-current');
    });
    this.says.textContent = say(state.says);
    this.showClients(state);
    this.showKeys(state);
    if (this.code) this.code.show(state, isEnd && this.verdict.line && parsePlace(this.verdict.line), isEnd);
    this.draw();
    this.follow();
  }

  // follow scrolls to the current step, inside the timeline's box only, with a whole row at the top.
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
    const words = {s: say('stands still'), n: say('no network')};
    run.lanes.forEach((lane, i) => {
      const letter = state.inside[i];
      const others = run.lanes.filter((_, n) => n !== i && isTwo(state.inside[n]));
      const does = [words[state.state[i]], isTwo(letter) && say('together with {clients}', {clients: both(others)}),
        say(state.does[i] || '')];
      const card = this.clients.children[i];
      card.className = `client own-${i % 4} in-${letter} is-${state.state[i]}`;
      card.replaceChildren(el('span', {class: 'badge own-' + (i % 4)}, lane),
        el('strong', {}, letter !== '-' ? say('inside') : state.state[i] === 'd' ? say('dead') : say('outside')),
        el('span', {class: 'does'}, listed(does.filter(Boolean))),
        el('span', {class: 'place'}, listed(places(state.lines[i]).map((p) => (p.background
          ? say('{command} in the background', {command: placeName(p)}) : placeName(p))))));
    });
  }

  showKeys(state) {
    const rows = state.keys.map((key) => {
      const left = key.until < 0 ? say('no lease: it stays forever') : say('{time} left', {time: span(leftOf(key, state.ms))});
      return el('div', {class: 'row own-' + (Math.max(0, key.lane) % 4)},
        el('span', {class: 'name'}, key.server ? key.server + ' ' : '', {K: this.run.key, L: this.run.other}[key.name] || key.name),
        el('span', {class: 'value'}, el('span', {class: 'badge own-' + (Math.max(0, key.lane) % 4)}, key.owner || '?'),
          key.value === key.owner ? '' : key.value),
        el('span', {class: 'lease'}, el('span', {class: 'fill', '--left': fraction(key, state.ms, this.run.lease)}), el('span', {class: 'left'}, left)));
    });
    if (rows.length === 0) rows.push(el('div', {class: 'row empty'}, el('span', {class: 'name'}, this.run.key),
      el('span', {class: 'value'}, say('no key'))));
    const ledger = this.run.ledger && [el('strong', {}, say('ledger')),
      el('p', {class: 'ledger'}, listed(state.orders.map((order) => say(order))) || say('empty'))];
    this.keys.replaceChildren(el('strong', {}, 'Redis'), el('div', {class: 'rows'}, ...rows), ...(ledger || []));
  }
}
