'use strict';

// The page: the matrix of failures and stages, and behind each cell its run. The
// location's hash selects the view: the matrix, #check-then-delete/3/step-7, or
// #check-then-delete/3..4/step-7 for two stages side by side.

const data = unfolded(JSON.parse(document.getElementById('data').textContent));
const main = document.querySelector('main');
const note = document.getElementById('note');
const signs = {x: '✗', o: '✓', n: '◐', i: '~', '-': '–'};
const wordOf = (outcome) => ({x: say('broken'), o: say('safe'), n: say('noticed'), i: say('unavoidable'), '-': say('not applicable'),
  u: say('not tested')})[outcome] || say('not played');
const indexOf = (id) => data.stages.findIndex((s) => s.id === id);
const stageOf = (id) => data.stages[indexOf(id)];
const cellAt = (failure, id) => failure.cells[indexOf(id)];
// beside returns the stage that many places after this one, if it has a run.
const beside = (failure, id, by) => { const s = data.stages[indexOf(id) + by]; return s && cellAt(failure, s.id).run ? s.id : undefined; };
const failureOf = (id) => data.failures.find((f) => f.id === id);
let stepper = null; // of the failure on the page
let shown = null; // {failure, stages}
let lastCell = null; // the cell that was opened last, for the way back to it

// unfolded replaces the numbers in the runs by their texts, which the page has once.
function unfolded(folded) {
  const whole = (number) => number && folded.texts[number];
  for (const step of folded.failures.flatMap((f) => f.cells).flatMap((c) => (c.run ? c.run.steps : []))) {
    for (const field of ['kind', 'text', 'says', 'redis']) step[field] = whole(step[field]);
    for (const field of ['does', 'lines']) step[field] = step[field]?.map(whole);
  }
  return folded;
}

// viewOf parses a hash. It returns null for an unknown one.
function viewOf(hash) {
  const [id, stages, step] = hash.slice(1).split('/');
  const failure = failureOf(id);
  const ids = (stages || '').split('..');
  const isRun = (s) => Boolean(failure) && cellAt(failure, s)?.run;
  if (!failure || ids.length > 2 || !ids.every(isRun)) return null;
  if (step !== undefined && !/^step-\d+$/.test(step)) return null;
  return {failure, stages: ids, step: step ? Number(step.slice(5)) : 1};
}

const hashOf = (failure, stages, step) => `#${failure.id}/${stages.join('..')}` + (step ? `/step-${step}` : '');

// placeAsked returns the hash for a message, cut if it is long.
const placeAsked = () => (location.hash.length > 60 ? location.hash.slice(0, 60) + '…' : location.hash);

function route() {
  const hash = location.hash;
  note.textContent = '';
  if (/^#(write|exercise)\//.test(hash)) { // links of older versions
    note.textContent = say('Locks are no longer written in the page: in lockkata’s folder, “go run . kata start” begins one in your editor.');
    return showMatrix();
  }
  if (isPage(hash) && !engine.isThere) {
    note.textContent = say('This copy of the page can only replay. To play, break and search the locks, run “go run . serve” in lockkata’s folder.');
    return showMatrix();
  }
  if (isPage(hash)) return pages[hash.slice(1).split('/')[0]](hash.slice(1).split('/'));
  const view = hash.length > 1 ? viewOf(hash) : null;
  if (!view) {
    if (hash.length > 1) note.textContent = say('There is nothing at {hash}. Choose a cell.', {hash: placeAsked()});
    return showMatrix();
  }
  if (shown && shown.failure === view.failure && String(shown.stages) === String(view.stages)) stepper.go(view.step - 1);
  else showFailure(view);
}

function leave() {
  if (stepper) stepper.pause();
  stepper = shown = game = null;
}

function showMatrix() {
  leave();
  document.body.classList.remove('showing');
  document.title = say(data.title);
  const signed = (outcome, text) => el('li', {}, el('span', {class: 'cell cell-' + outcome}, signs[outcome]), ' ', text);
  main.replaceChildren(el('div', {class: 'matrix-view'}, el('h1', {}, say(data.title)),
    el('p', {class: 'intro'}, say('Six stages, each a complete lock. Each cell is a run of the stage’s real code on an embedded Redis. Choose one to step through it.')),
    locksToTry(),
    el('ul', {class: 'key-signs'}, signed('x', wordOf('x')), signed('o', say('safe in this run')),
      signed('n', say('noticed: the lock was lost, but its owner was told before it did harm')),
      signed('i', say('unavoidable: no lock that expires can prevent this')), signed('-', wordOf('-'))),
    el('div', {class: 'box', role: 'region', 'aria-label': say('failures and stages')}, matrix()),
    el('div', {class: 'foot'}, el('p', {}, say(data.total)),
      el('p', {}, say('"safe" means that this one scripted run did not break the lock. It is no proof.')))));
  const cells = [...main.querySelectorAll('a.cell')];
  const back = cells.find((cell) => cell.getAttribute('href') === lastCell);
  (back || cells[0]).tabIndex = 0;
  if (back) back.focus();
}

// locksToTry links to the locks that can be played and edited, and explains how to write a lock.
const locksToTry = () => el('div', {},
  engine.isThere ? el('nav', {class: 'choose', 'aria-label': say('locks')}, ...linksTo('play', say('play')), ...linksTo('break', say('break'))) : null,
  el('p', {class: 'commands'}, el('span', {}, ...engine.isThere ? tell('To write a lock yourself, run {kata} in lockkata’s folder.', {kata: el('code', {}, 'go run . kata start')})
    : tell('To play, break and search the stages, run {serve} in lockkata’s folder. To write a lock yourself, run {kata} there.',
      {serve: el('code', {}, 'go run . serve'), kata: el('code', {}, 'go run . kata start')}))));

const linksTo = (kind, word) => [el('span', {class: 'what'}, word), ...data.locks.map(({id, name, title}) =>
  el('a', {href: `#${kind}/${id}`, title: say(title), 'aria-label': say('{kind} {lock}', {kind: word, lock: say(name)})}, id))];

function matrix() {
  const table = el('table', {class: 'matrix', role: 'table'}, el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, say('failure')),
    ...data.stages.map((s) => el('th', {scope: 'col', title: say(s.title)}, el('b', {}, s.id), el('span', {}, say(s.title)))))));
  for (const family of new Set(data.failures.map((f) => f.family))) {
    const rows = data.failures.filter((f) => f.family === family).map((failure) => el('tr', {role: 'row'},
      el('th', {scope: 'row', role: 'rowheader'}, el('b', {}, failure.id), el('span', {}, say(failure.title))),
      ...failure.cells.map((cell, i) => el('td', {role: 'cell'}, cellOf(failure, cell, data.stages[i])))));
    const head = el('th', {colspan: data.stages.length + 1, scope: 'rowgroup', role: 'rowheader'}, say(family));
    table.append(el('tbody', {role: 'rowgroup'}, el('tr', {class: 'family', role: 'row'}, head), ...rows));
  }
  table.addEventListener('keydown', moveInMatrix);
  return table;
}

function cellOf(failure, cell, stage) {
  const label = say('{failure} on {stage}: {outcome}', {failure: failure.id, stage: say(stage.name), outcome: wordOf(cell.outcome)});
  if (!cell.run) return el('span', {class: 'cell cell--', 'data-stage': stage.id, title: label, role: 'img', 'aria-label': label}, signs['-']);
  return el('a', {class: 'cell cell-' + cell.outcome, href: hashOf(failure, [stage.id]), title: label, 'aria-label': label, 'data-stage': stage.id, tabindex: '-1'}, signs[cell.outcome]);
}

// moveInMatrix moves the focus to the next cell with a run.
function moveInMatrix(event) {
  const at = event.target.closest('a.cell');
  const rows = [...event.currentTarget.querySelectorAll('tr:not(.family)')].slice(1);
  if (!at) return;
  const y = rows.indexOf(at.closest('tr'));
  const x = at.closest('td').cellIndex;
  const cell = (row, column) => row?.cells[column]?.querySelector('a.cell');
  const columns = (from, by) => { for (let c = from; c > 0 && c <= data.stages.length; c += by) if (cell(rows[y], c)) return cell(rows[y], c); };
  const down = (by) => { for (let r = y + by; r >= 0 && r < rows.length; r += by) if (cell(rows[r], x)) return cell(rows[r], x); };
  const goal = {
    ArrowRight: () => columns(x + 1, 1), ArrowLeft: () => columns(x - 1, -1), ArrowDown: () => down(1), ArrowUp: () => down(-1),
    Home: () => columns(1, 1), End: () => columns(data.stages.length, -1),
  }[event.key];
  if (!goal) return;
  event.preventDefault();
  const next = goal();
  if (!next) return;
  at.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function showFailure({failure, stages, step}) {
  leave();
  shown = {failure, stages};
  lastCell = hashOf(failure, [stages[0]]);
  document.body.classList.add('showing');
  document.title = say('{failure}, {stages}: {title}',
    {failure: failure.id, stages: both(stages.map((s) => say(stageOf(s).name))), title: say(failure.title)});
  const players = stages.map((n) => playerOf(failure, n));
  stepper = new Stepper(players, players.length === 1 ? alone(players[0]) : sideBySide(...players));
  const heading = el('h1', {tabindex: '-1'}, say(failure.title));
  main.replaceChildren(el('div', {class: 'failure-view'},
    el('div', {class: 'title'}, heading, el('code', {}, failure.id),
      stages.length === 1 ? el('span', {class: 'on-wall'}, titled(stageOf(stages[0]))) : null),
    el('p', {class: 'story secondary'}, say(failure.story), gap(),
      failure.fixed ? el('span', {}, say('Fixed by: {what}', {what: say(failure.fixed)})) : null),
    chooser(failure, stages),
    el('div', {class: 'players ' + (stages.length === 1 ? 'one' : 'two')}, ...stages.map((n, i) => el('div', {class: 'half'},
      stages.length > 1 ? el('h2', {}, say(stageOf(n).name), ' ', el('small', {}, say(stageOf(n).title))) : null, players[i].element))),
    stepper.element, commandsOf(failure, stages)));
  if (engine.isThere && stages.length === 1) stepper.element.append(takeOver());
  stepper.moved = (position) => {
    const hash = hashOf(failure, stages, position + 1);
    if (location.hash !== hash) history.replaceState(null, '', hash);
  };
  stepper.go(step - 1);
  heading.focus({preventScroll: true});
  scrollTo(0, 0);
}

// titled returns a lock's name with its title.
const titled = ({name, title}) => listed([say(name), say(title)]);

// takeOver returns a link from the current step into a game.
const takeOver = () => el('button', {type: 'button', class: 'take', title: say('decide yourself what comes next ({key})', {key: 'o'}),
  onclick: take}, say('Take over from here'));

function take() {
  if (!engine.isThere || !shown || shown.stages.length > 1) return;
  engine.wanted = true;
  location.hash = `#take/${shown.failure.id}/${shown.stages[0]}/step-${stepper.position + 1}`;
}

function playerOf(failure, id) {
  const cell = cellAt(failure, id);
  const {name, files, diff, lesson} = stageOf(id);
  const diffs = diff ? [{name: `diff ${id}`, text: diff, lesson}] : [];
  return new Player(cell.run, {text: cell.verdict, tone: cell.tone}, {files, diffs}, say(name));
}

// chooser links to the other stages of a failure, and to neighbours side by side.
function chooser(failure, stages) {
  const runs = data.stages.map((s) => s.id).filter((s) => cellAt(failure, s).run);
  const link = (numbers, ...label) => el('a', {href: hashOf(failure, numbers), 'aria-current': String(numbers) === String(stages) && 'page'}, ...label);
  const pairs = runs.filter((s) => beside(failure, s, 1)).map((s) => [s, beside(failure, s, 1)]).map((pair) => link(pair, pair.join(' → ')));
  return el('nav', {class: 'choose', 'aria-label': say('stages')}, el('span', {class: 'what'}, say('stage')),
    ...runs.map((s) => link([s], s, el('span', {class: toneClass(cellAt(failure, s).tone), title: wordOf(cellAt(failure, s).outcome)},
      signs[cellAt(failure, s).outcome]))),
    stages.length === 1 ? el('span', {class: 'stage-title'}, say(stageOf(stages[0]).title)) : null,
    pairs.length > 0 ? el('span', {class: 'what'}, say('before and after')) : null, ...pairs);
}

// commandsOf returns the commands that show the same in a terminal.
function commandsOf(failure, stages) {
  const lines = stages.map((n) => `go run . show ${failure.id} --stage ${n}`);
  const last = stages.at(-1);
  if (stageOf(last).diff) lines.push(`go run . diff ${last}`);
  const shown = (line) => el('span', {}, el('code', {}, line), ' ', copyButton(line));
  const search = cellAt(failure, stages[0]).search;
  return el('p', {class: 'commands secondary'}, el('span', {}, say('The same in a terminal:')), ...lines.map(shown),
    search ? el('span', {title: say('the shortest schedule that breaks the same rule')},
      ...tell('Search for the shortest schedule: {command}', {command: shown(search)})) : null);
}

// neighbour returns the target of the key b: from one stage to it and the next, and back.
function neighbour() {
  const {failure, stages} = shown;
  const s = stages[0];
  if (stages.length === 2) return [s];
  const next = beside(failure, s, 1), previous = beside(failure, s, -1);
  if (next) return [s, next];
  return previous ? [previous, s] : null;
}

function otherStage(by) {
  const {failure, stages} = shown;
  const moved = stages.map((s) => beside(failure, s, by));
  return moved.every(Boolean) ? moved : null;
}

function openDiff() {
  const code = stepper.players.at(-1).code;
  const name = [...code.sheets.keys()].find((key) => key.startsWith('diff '));
  if (!name) return;
  if (code.current === name) { code.chosen = undefined; code.show(stepper.players.at(-1).states[stepper.players.at(-1).at]); }
  else { code.chosen = name; code.open(name); }
}

const keys = {
  p: toggleProjector,
  t: toggleTheme,
  '?': showKeys,
  Escape: () => { if (shown || isPage(location.hash)) location.hash = ''; },
  o: take,
  b: () => { const goal = shown && neighbour(); if (goal) location.hash = hashOf(shown.failure, goal); },
  n: () => { const goal = shown && otherStage(1); if (goal) location.hash = hashOf(shown.failure, goal); },
  v: () => { const goal = shown && otherStage(-1); if (goal) location.hash = hashOf(shown.failure, goal); },
  d: () => { if (shown) openDiff(); },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (stepper && stepper.key(event) || game && keyOfGame(event)) return event.preventDefault();
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
addEventListener('hashchange', route);
startTheme();
speak(languageAsked());
route();
