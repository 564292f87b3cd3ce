// The first screen: where to begin, the matrix of failures and stages beside a run, and what can be played and broken.

let lastPlace = null; // {href, inMatrix}: the link that was opened last, for the way back to it
const stories = ''; // the matrix's first group, in place of a family: the failures that tell the story of the stages
const openFamilies = new Set(); // the families whose rows the matrix shows
let wanted = ''; // the words by which the rows are filtered

function showHome() {
  leave();
  document.title = say(data.title);
  if (openFamilies.size === 0) openFamilies.add(stories);
  const back = lastPlace?.inMatrix && failureOf(lastPlace.href.slice(1).split('/')[0]);
  if (back && !back.lesson) openFamilies.add(back.family);
  const signed = (outcome, text) => el('li', {}, el('span', {class: 'cell cell-' + outcome}, signs[outcome]), ' ', text);
  main.replaceChildren(el('div', {class: 'home'},
    el('button', {type: 'button', class: 'skip', onclick: () => main.querySelector('.cell[tabindex="0"]')?.focus()}, say('To the table of failures')), el('h1', {}, say(data.title)),
    el('p', {class: 'intro'}, say('Six stages of one lock, each with fewer mistakes than the one before. Here you see how each breaks, step by step: the real code on an embedded Redis.')),
    el('p', {}, data.lesson ? el('a', {class: 'primary', href: '#learn'}, say('Learn it, one question at a time (40 minutes)')) : null, ' ', watchFirst()),
    el('h2', {}, say('How each stage breaks')),
    el('p', {class: 'intro'}, say('Each cell is a run of a failure on a stage: ✗ broken, ✓ safe in it. Choose one to step through it.')),
    data.part ? null : el('label', {class: 'filter'}, say('Find a failure:'), ' ', el('input', {type: 'search', value: wanted, oninput: filter, onkeydown: filter}), ' ', el('span', {role: 'status'})),
    el('div', {class: 'beside'}, el('div', {class: 'box', role: 'region', 'aria-label': say('failures and stages')}, matrix()), whatNext()),
    el('ul', {class: 'key-signs'}, signed('x', wordOf('x')), signed('o', say('safe in this run')),
      signed('n', meaningOf('n')), signed('i', meaningOf('i')), signed('-', wordOf('-'))),
    el('div', {class: 'foot'}, el('p', {}, say(data.total)),
      el('p', {}, say('"safe" means that this one scripted run did not break the lock. It is no proof.'))),
    el('div', {class: 'lists'}, ...engine.isThere ? [playList(), breakList()] : [], ...promptList()), moreLocks(), elsewhere()));
  showWanted();
  const links = lastPlace ? [...main.querySelectorAll(`a${lastPlace.inMatrix ? '.cell' : ':not(.cell)'}[href="${lastPlace.href}"]`)] : [];
  const link = links.find((one) => one.checkVisibility()) || links[0];
  if (link?.closest('details')) link.closest('details').open = true;
  if (link?.closest('.matrix') && link.checkVisibility()) enterAt(link);
  link?.focus();
}

// whatNext is the first story up to its outcome, with a link to the rest.
function whatNext() {
  const view = viewOf(firstStory);
  const {run} = cellAt(view.failure, view.stages[0]);
  const outcome = run.steps.findIndex(({found = []}) => found.some((text) => text.startsWith('✗')));
  const player = new Player(run, {text: '', tone: 'g'}, null, say('timeline'));
  player.steps.replaceChildren(...[...player.steps.children].slice(0, outcome));
  player.scroll.removeAttribute('tabindex'); // it does not scroll
  return el('figure', {}, el('figcaption', {}, el('b', {}, listed([say(stageOf(view.stages[0]).name), say(view.failure.title)])), el('br'),
    say('A has worked for longer than its lease, and B got the lock. Now A calls Unlock. What happens to B?'), ' ',
    el('a', {href: hashOf(view.failure, view.stages, outcome)}, say('Step on and see'))), player.scroll);
}

// listOf returns a named list of links, which a phone shows folded.
const listOf = (title, text, items) => el('details', {class: 'list', open: !matchMedia('(max-width: 40rem)').matches},
  el('summary', {}, el('h2', {}, title)), el('p', {}, text),
  el('ol', {}, ...items.map(([href, stage, name]) => el('li', {}, el('a', {href}, el('small', {}, say(stage.name)), ' ', el('span', {}, name))))));

const locksFor = (kind) => data.locks.map((lock) => [`#${kind}/${lock.id}`, lock, say(lock.title)]);
const playList = () => listOf(say('Play'), say('You decide which command arrives when. Break the lock with as few faults as you can.'), locksFor('play'));
const breakList = () => listOf(say('Break'), say('Put a mistake into a lock, and see at once what it lets happen.'), locksFor('break'));

// promptList has the workshop's prompts: questions of the lesson, and runs.
const promptList = () => (!data.prompts ? [] : [listOf(say('The workshop’s prompts'), say('What a class is asked, in the order of docs/workshop.md.'),
  data.prompts.map(({title, hash}) => [hash, viewOf(hash) ? stageOf(viewOf(hash).stages[0]) : {name: say('lesson')}, say(title)]))]);

// moreLocks links to the runs of other locks, and to those with a guard of the resource.
function moreLocks() {
  if (data.others.length === 0) return null;
  const links = (runs) => el('dd', {}, ...runs.flatMap(([failure, id]) => [el('a', {href: hashOf(failure, [id])}, failure.id), ' ']));
  const all = [...data.failures, ...data.further];
  const guarded = data.failures.filter((failure) => failure.guard).map((failure) => [failure, data.stages[failure.cells.findIndex(({run}) => run)].id]);
  return el('details', {class: 'list more-locks'}, el('summary', {}, el('h2', {}, say('More locks'))),
    el('p', {}, ...tell('The steps to stage 6, where their outcome changes; the locks of five documents; locks over several servers. Any other run: {command}',
      {command: el('code', {}, 'go run . show renew-blip --stage 6.1')})),
    el('dl', {}, ...data.others.flatMap((lock) => [el('dt', {}, titled(stageOf(lock.id))),
      links(all.filter((failure) => lock.runs[failure.id]).map((failure) => [failure, lock.id]))]),
    el('dt', {}, say('guards of the resource')), links(guarded)));
}

// elsewhere says how to get what this copy of the page cannot do.
function elsewhere() {
  const kata = el('code', {}, 'go run . kata start'), serve = el('code', {}, 'go run . serve');
  return el('p', {class: 'intro'}, ...engine.isThere ? tell('To write a lock yourself, run {kata} in lockkata’s folder.', {kata})
    : tell('To see all failures, and to play, break and search the stages, run {serve} in lockkata’s folder. To write a lock yourself, run {kata} there.', {serve, kata}));
}

// lessons returns the failures that tell the story of the stages, by the last stage that they break.
function lessons() {
  const place = ({cells}) => cells.findLastIndex(({outcome}) => 'xi'.includes(outcome)) + 1 || cells.length + 1;
  return data.failures.filter(({lesson}) => lesson).sort((a, b) => place(a) - place(b));
}

function matrix() {
  const table = el('table', {class: 'matrix', role: 'table'}, el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, say('failure')),
    ...data.stages.map((s) => el('th', {scope: 'col', title: say(s.title)}, el('b', {}, s.id), el('span', {}, say(s.title)))))));
  for (const family of [stories, ...data.part ? [] : new Set(data.failures.map((f) => f.family))]) {
    const rows = (family === stories ? lessons() : data.failures.filter((f) => f.family === family)).map((failure) => el('tr', {role: 'row'},
      el('th', {scope: 'row', role: 'rowheader'}, el('b', {}, failure.id), ' ', el('span', {}, say(failure.title))),
      ...(failure.by && failure.cells.every(({outcome}) => 'i-'.includes(outcome)) ? [cellOfAll(failure)]
        : failure.cells.map((cell, i) => el('td', {role: 'cell'}, cellOf(failure, cell, data.stages[i]))))));
    const head = el('th', {colspan: data.stages.length + 1, scope: 'rowgroup', role: 'rowheader'}, el('button', {type: 'button',
      'aria-expanded': String(openFamilies.has(family)), onclick: fold}, family === stories ? say('The failures that teach most') : say(family), ' ', el('small', {}, String(rows.length))));
    table.append(el('tbody', {role: 'rowgroup', class: openFamilies.has(family) ? '' : 'folded', 'data-family': family},
      el('tr', {class: 'family', role: 'row'}, head), ...rows));
  }
  table.addEventListener('keydown', moveInMatrix);
  return table;
}

// fold hides or shows the rows of a family.
function fold({currentTarget: button}) {
  const group = button.closest('tbody');
  const isFolded = group.classList.toggle('folded');
  button.setAttribute('aria-expanded', String(!isFolded));
  if (isFolded) openFamilies.delete(group.dataset.family);
  else openFamilies.add(group.dataset.family);
  enterAt(null);
}

// filter handles the field above the matrix: Esc clears it, Enter leads to the first row.
function filter(event) {
  const field = event.target;
  if (event.key === 'Escape') field.value = '';
  wanted = field.value;
  showWanted();
  if (event.key !== 'Enter') return;
  event.preventDefault(); // which would open the row
  main.querySelector('.cell[tabindex="0"]')?.focus();
}

// showWanted shows the rows whose id and title have all the wanted words, each in its family, and says how many these are.
function showWanted() {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const group of main.querySelectorAll('[data-family]')) {
    const rows = [...group.rows].slice(1);
    for (const row of rows) row.hidden = words.length > 0 && group.dataset.family === stories || !words.every((word) => row.cells[0].textContent.toLowerCase().includes(word));
    const shown = rows.filter((row) => !row.hidden).length;
    const isOpen = words.length > 0 || openFamilies.has(group.dataset.family);
    group.hidden = shown === 0;
    group.classList.toggle('folded', !isOpen);
    group.querySelector('button').setAttribute('aria-expanded', String(isOpen));
    found += shown;
  }
  main.querySelector('.filter [role=status]')?.replaceChildren(words.length > 0 ? say('{n} found', {n: found}) : '');
  enterAt(null);
}

// enterAt makes one visible cell reachable by Tab: the given one, or the first.
function enterAt(cell) {
  for (const other of main.querySelectorAll('a.cell')) other.tabIndex = -1;
  cell ??= main.querySelector('tbody:not(.folded) tr:not([hidden]) a.cell');
  if (cell) cell.tabIndex = 0;
}

function cellOf(failure, cell, stage) {
  const label = say('{failure} on {stage}: {outcome}', {failure: failure.id, stage: say(stage.name), outcome: wordOf(cell.outcome)});
  if (!cell.run) return el('span', {class: 'cell cell--', 'data-stage': stage.id, title: label, role: 'img', 'aria-label': label}, signs['-']);
  return el('a', {class: 'cell cell-' + cell.outcome, href: hashOf(failure, [stage.id]), title: label, 'aria-label': label, 'data-stage': stage.id, tabindex: '-1'}, signs[cell.outcome]);
}

// cellOfAll is one cell for all stages, none of which prevents the failure: it names what can.
function cellOfAll(failure) {
  const last = failure.cells.findLastIndex(({run}) => run);
  const stage = data.stages[last].id;
  const label = say('{failure}: no stage prevents it; {who} can', {failure: failure.id, who: say(failure.by)});
  return el('td', {role: 'cell', colspan: data.stages.length}, el('a', {class: 'cell cell-i wide', href: hashOf(failure, [stage]), title: label, 'aria-label': label,
    'data-stage': stage, tabindex: '-1'}, say(failure.by)));
}

// moveInMatrix moves the focus to the next cell with a run.
function moveInMatrix(event) {
  const at = event.target.closest('a.cell');
  const rows = [...event.currentTarget.querySelectorAll('tbody:not(.folded) tr:not(.family, [hidden])')];
  if (!at) return;
  const y = rows.indexOf(at.closest('tr'));
  const x = at.closest('td').cellIndex;
  const cell = (row, column) => row?.cells[Math.min(column, row.cells.length - 1)]?.querySelector('a.cell');
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

