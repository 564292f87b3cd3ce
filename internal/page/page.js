'use strict';

// The page: the first screen, and the runs. The location's hash selects the view: the first screen,
// #check-then-delete/3/step-7, or #check-then-delete/3..4/step-7 for two stages side by side.

const data = unfolded(JSON.parse(document.getElementById('data').textContent));
const main = document.querySelector('main');
const note = document.getElementById('note');
const signs = {x: '✗', o: '✓', n: '◐', i: '~', '-': '–'};
const wordOf = (outcome) => ({x: say('broken'), o: say('safe'), n: say('noticed'), i: say('not by this lock'), '-': say('not applicable'),
  u: say('not tested')})[outcome] || say('not played');
const meaningOf = (outcome) => ({n: say('noticed: the lock was lost; its owner is told by the first renewal that Redis answers, within a third and a sixth of the lease, or when it ends. Until then two may be inside'),
  i: say('not by this lock: no stage prevents it; its row says who can')})[outcome];
const indexOf = (id) => data.stages.findIndex((s) => s.id === id);
const stageOf = (id) => data.stages[indexOf(id)] || data.others.find((lock) => lock.id === id);
// otherOf returns the lock of that id in data.others, if it has a run of the failure there.
const otherOf = (failure, id) => data.others.find((lock) => lock.id === id && lock.runs[failure.id]);
const cellAt = (failure, id) => otherOf(failure, id)?.runs[failure.id] || failure.cells[indexOf(id)] || {};
// rowOf returns the locks with a run of the failure that the reader chooses from, in order: the stages, or the neighbours of another lock.
const rowOf = (failure, ids) => (ids.map((id) => otherOf(failure, id)).find(Boolean)?.row || data.stages.map((s) => s.id)).filter((id) => cellAt(failure, id).run);
// beside returns the id that many places further in the row, or undefined.
const beside = (failure, id, by, row = rowOf(failure, [id])) => row[row.indexOf(id) + by];
const failureOf = (id) => [...data.failures, ...data.further].find((f) => f.id === id);
let stepper = null; // of the failure on the page
let shown = null; // {failure, stages}
const firstStory = '#delete-foreign/2';

// unfolded replaces the numbers in the runs by their steps and texts, which the page has once.
function unfolded(folded) {
  const whole = (number) => number && folded.texts[number];
  for (const step of folded.steps || []) {
    for (const field of ['kind', 'text', 'says', 'redis']) step[field] = whole(step[field]);
    for (const field of ['does', 'lines']) step[field] = step[field]?.map(whole);
  }
  folded.others ??= [];
  folded.further ??= [];
  const cells = [...folded.failures.flatMap((f) => f.cells), ...folded.others.flatMap((lock) => Object.values(lock.runs))];
  const answers = (folded.lesson || []).flatMap((c) => c.parts).flatMap((p) => p.answers);
  for (const {run} of [...cells, ...answers]) if (run) run.steps = (run.folded || []).map((number) => folded.steps[number]);
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
  return {failure, stages: ids, step: step && Number(step.slice(5))};
}

const hashOf = (failure, stages, step) => `#${failure.id}/${stages.join('..')}` + (step ? `/step-${step}` : '');

// placeAsked returns the hash for a message, cut if it is long.
const placeAsked = () => (location.hash.length > 60 ? location.hash.slice(0, 60) + '…' : location.hash);

// report shows a message in the bar below the header, with buttons. Without a text it hides the bar.
function report(text, ...actions) {
  note.replaceChildren(...(text ? [el('p', {}, text), ...actions,
    el('button', {type: 'button', 'aria-label': say('close the message'), onclick: () => report()}, '✕')] : []));
}

const again = () => el('button', {type: 'button', class: 'again', onclick: route}, say('Try again'));

// stay shows a place that cannot be shown: its title, and ways on. The bar has the reason.
function stay(title, text, ...actions) {
  leave();
  if (text) report(text, ...actions);
  document.title = title;
  const heading = el('h1', {tabindex: '-1'}, title);
  main.replaceChildren(el('div', {class: 'loading'}, heading,
    el('p', {class: 'ways'}, watchFirst(), el('a', {href: '#'}, say('To the first screen')))));
  heading.focus();
}

const watchFirst = () => el('a', {class: 'primary', href: firstStory}, say('Watch a lock break (1 minute)'));

function route() {
  const hash = location.hash;
  report();
  if (isLesson(hash)) return showLesson(hash);
  if (isPage(hash) && !engine.isThere) {
    return stay(say('Play and break the locks'),
      say('This copy of the page can only replay. To play, break and search the locks, run “go run . serve” in lockkata’s folder.'));
  }
  if (isPage(hash)) return pages[hash.slice(1).split('/')[0]](hash.slice(1).split('/'));
  const view = hash.length > 1 ? viewOf(hash) : null;
  if (!view) {
    if (hash.length > 1) return showMissing(...hash.slice(1).split('/'));
    return showHome();
  }
  if (shown && shown.failure === view.failure && String(shown.stages) === String(view.stages)) stepper.go(view.step ? view.step - 1 : stepper.position);
  else showFailure(view);
}

// showMissing says how to see a run that the page does not have. If the engine knows the lock, it plays the run.
function showMissing(id, lock) {
  const isRun = data.part ? /^[a-z-]+\/[\w.]+$/.test(`${id}/${lock || ''}`) && !(failureOf(id) && stageOf(lock)) : failureOf(id) && data.others.some((other) => other.id === lock && !other.asked);
  if (isRun && engine.isThere && lockOf(lock)) return location.replace(`#break/${lock}/-/${id}`);
  if (!isRun) return stay(say('Page not found'), say('There is nothing at {hash}.', {hash: placeAsked()}));
  stay(failureOf(id) ? say(failureOf(id).title) : id, say('This page does not have this run. In a terminal: {command}', {command: commandOf(id, lock.split('..')[0])}));
}

function leave() {
  if (stepper) stepper.pause();
  stepper = shown = game = lesson = null;
}

function showFailure({failure, stages, step}) {
  lastPlace = {href: hashOf(failure, [stages[0]]), inMatrix: Boolean(document.activeElement.closest('.matrix') || shown && lastPlace?.inMatrix)};
  const was = shown?.failure === failure ? {...shown, stepper} : null;
  leave();
  shown = {failure, stages};
  document.title = say('{stages}: {title}',
    {stages: both(stages.map((s) => say(stageOf(s).name))), title: say(failure.title)});
  const players = stages.map((n, i) => playerOf(failure, n, stages[1 - i], i === stages.length - 1));
  stepper = new Stepper(players, players.length === 1 ? alone(players[0]) : sideBySide(...players));
  stepper.story = storyOf(say(failure.story), gap(),
    failure.fixed ? el('span', {}, say('Fixed by: {what}', {what: say(failure.fixed)}), gap()) : null,
    ...tell('More, in lockkata’s folder: {where}', {where: el('code', {}, `docs/${language === 'zh' ? 'zh-CN/' : ''}failures.md#${failure.id}`)}));
  const heading = el('h1', {tabindex: '-1'}, say(failure.title));
  main.replaceChildren(el('div', {class: 'failure-view'},
    el('div', {class: 'title'}, heading, el('code', {class: 'told'}, failure.id),
      stages.length === 1 ? el('span', {class: 'on-wall'}, titled(stageOf(stages[0]))) : null),
    el('div', {class: 'about'}, stepper.story, folded(say('{stages}; another, or two to compare', {stages: both(stages.map((s) => say(stageOf(s).name)))}), chooser(failure, stages))),
    el('div', {class: 'players ' + (stages.length === 1 ? 'one' : 'two')}, ...stages.map((n, i) => el('div', {class: 'half'},
      stages.length > 1 ? el('h2', {}, say(stageOf(n).name), ' ', el('small', {}, say(stageOf(n).title))) : null, players[i].element))),
    stepper.element, commandsOf(failure, stages)));
  const fix = fixOf(failure, stages);
  stepper.element.append(...[fix, canTake() ? takeOver() : null].filter(Boolean));
  stepper.moved = (position) => {
    const hash = hashOf(failure, stages, position + 1);
    if (location.hash !== hash) history.replaceState(null, '', hash);
    if (fix) fix.hidden = !stepper.isAtEnd;
  };
  stepper.go(step ? step - 1 : was ? momentOf(was) : 0);
  heading.focus({preventScroll: true});
  if (stepper.position === 0) scrollTo(0, 0);
}

// momentOf returns the position in the stepper that corresponds to the one in the run before: of the same event, or
// between the same two. A run that was not on the page yet does not begin with its end.
function momentOf(was) {
  const common = was.stages.find((s) => shown.stages.includes(s));
  const [from, to] = common ? [was.stages.indexOf(common), shown.stages.indexOf(common)] : [0, 0];
  const at = was.stepper.together[was.stepper.position][from];
  const [, step] = sideBySide(was.stepper.players[from], stepper.players[to]).find(([i]) => i === at);
  const isNew = shown.stages.some((s) => !was.stages.includes(s));
  return Math.min(stepper.together.findIndex((steps) => steps[to] === step), stepper.together.length - (isNew ? 2 : 1));
}

// storyOf returns what happens and why, folded. As soon as it is open, and at the last step, the page shows its .told.
const storyOf = (...parts) => el('details', {class: 'story secondary'}, el('summary', {}, say('Tell me what happens')), el('p', {}, ...parts));

// folded returns a line that opens a list of links; a wide window shows the list.
const folded = (line, links) => el('details', {class: 'folded', open: isWide.matches}, el('summary', {}, line), links);
const isWide = matchMedia('(min-width: 60rem)');
isWide.addEventListener('change', () => main.querySelectorAll('.folded').forEach((fold) => { fold.open = isWide.matches; }));

// fixOf returns a link to the stage that fixes the failure, next to this one, if that is the next stage.
function fixOf(failure, [id, other]) {
  const next = !other && cellAt(failure, id).outcome === 'x' && beside(failure, id, 1);
  if (!next || 'xi'.includes(cellAt(failure, next).outcome)) return null;
  return el('a', {class: 'primary', href: hashOf(failure, [id, next], 1)}, say('See how {stage} fixes it', {stage: say(stageOf(next).name)}));
}

// titled returns a lock's name with its title.
const titled = ({name, title}) => listed([say(name), say(title)]);

// takeOver returns a link from the current step into a game.
const takeOver = () => el('button', {type: 'button', class: 'take', title: say('decide yourself what comes next ({key})', {key: 'o'}),
  onclick: take}, say('Take over from here'));

// canTake returns whether the engine can go on from the run on the page.
const canTake = () => engine.isThere && shown?.stages.length === 1 && data.failures.includes(shown.failure) && lockOf(shown.stages[0]);

function take() {
  if (!canTake()) return;
  engine.wanted = true;
  location.hash = `#take/${shown.failure.id}/${shown.stages[0]}/step-${stepper.position + 1}`;
}

// playerOf returns the run of a stage. Next to another stage, its code marks the lines that the other does not have.
function playerOf(failure, id, other, isLast) {
  const cell = cellAt(failure, id);
  const {name, files, diff, lesson} = stageOf(id);
  const diffs = diff && isLast ? [{name: `diff ${id}`, text: diff, lesson}] : [];
  const linesOf = (stage) => stage.files.flatMap(({text}) => text.split('\n').map(withoutStage));
  return new Player(cell.run, {text: cell.verdict, tone: cell.tone, line: cell.line}, {files, diffs, old: other && new Set(linesOf(stageOf(other)))}, say(name));
}

// chooser links to the other stages of a failure, and to neighbours side by side.
function chooser(failure, stages) {
  const runs = rowOf(failure, stages);
  const others = data.others.filter((lock) => lock.runs[failure.id] && !runs.includes(lock.id));
  const link = (numbers, ...label) => el('a', {href: hashOf(failure, numbers), 'aria-current': String(numbers) === String(stages) && 'page'}, ...label);
  const meaning = meaningOf(cellAt(failure, stages[0]).outcome);
  const pairs = runs.slice(1).map((s, i) => [runs[i], s]).map((pair) => link(pair, pair.join(' → ')));
  return el('nav', {class: 'choose', 'aria-label': say('stages')}, el('span', {class: 'what'}, say('stage')),
    ...runs.map((s) => link([s], s, el('span', {class: 'told ' + toneClass(cellAt(failure, s).tone), title: wordOf(cellAt(failure, s).outcome)},
      signs[cellAt(failure, s).outcome]))),
    stages.length === 1 ? el('span', {class: 'stage-title'}, say(stageOf(stages[0]).title)) : null,
    stages.length === 1 && meaning ? el('span', {class: 'told meaning'}, meaning) : null,
    pairs.length > 0 ? el('span', {class: 'what'}, say('before and after')) : null, ...pairs,
    others.length > 0 ? el('span', {class: 'what'}, say('more locks')) : null, ...others.map(({id}) => link([id], id)));
}

const commandOf = (failure, lock) => `go run . show ${failure} --stage ${stageOf(lock)?.asked || lock}`;

// commandsOf returns the commands that show the same in a terminal.
function commandsOf(failure, stages) {
  const lines = stages.map((n) => commandOf(failure.id, n));
  const last = stages.at(-1);
  if (stageOf(last).diff) lines.push(`go run . diff ${last}`);
  const shown = (line) => el('span', {}, el('code', {}, line), ' ', copyButton(line));
  const search = cellAt(failure, stages[0]).search;
  return el('details', {class: 'secondary in-terminal'}, el('summary', {}, say('The same in a terminal')),
    el('p', {class: 'commands'}, ...lines.map(shown), search ? el('span', {class: 'told', title: say('the shortest schedule that breaks the same rule')},
      ...tell('Search for the shortest schedule: {command}', {command: shown(search)})) : null));
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
  const row = rowOf(failure, stages);
  const moved = stages.map((s) => beside(failure, s, by, row));
  return moved.every(Boolean) ? moved : null;
}

// project enters or leaves the mode for a wall, which stays through a reload.
function project(isOn) {
  document.documentElement.classList.toggle('projector', isOn);
  document.getElementById('tool-projector').setAttribute('aria-pressed', String(isOn));
  keep.set('projector', isOn ? 'on' : '');
}

const toggleProjector = () => project(!document.documentElement.classList.contains('projector'));

function openDiff() {
  const code = stepper.players.at(-1).code;
  const name = [...code.sheets.keys()].find((key) => key.startsWith('diff '));
  if (!name) return;
  if (code.current === name) { code.chosen = undefined; if (code.goal) code.open(code.goal.file); code.follow(); }
  else { code.chosen = name; code.open(name); }
}

const keys = {
  p: toggleProjector,
  t: toggleTheme,
  '?': showKeys,
  Escape: () => {
    if (document.documentElement.classList.contains('projector')) project(false);
    else if (shown || isPage(location.hash) || lesson) location.hash = '';
  },
  o: take,
  b: () => { const goal = shown && neighbour(); if (goal) location.hash = hashOf(shown.failure, goal); },
  n: () => { const goal = shown && otherStage(1); if (goal) location.hash = hashOf(shown.failure, goal); },
  v: () => { const goal = shown && otherStage(-1); if (goal) location.hash = hashOf(shown.failure, goal); },
  d: () => { if (shown) openDiff(); },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.matches('[type=search]')) return;
  if (stepper && stepper.key(event) || game && keyOfGame(event) || lesson && keyOfLesson(event)) return event.preventDefault();
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
