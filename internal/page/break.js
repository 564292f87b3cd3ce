// Break it: a lock with switches for its edits. #break/2 is stage 2, #break/2/nx-dropped is stage 2
// with an edit, and #break/2/nx-dropped/delete-foreign/step-3 is a run of that lock.

let broken = null; // the lock on the page: {stage, edit, column, found}

pages.break = async ([, stage, edit, failure, step]) => {
  const lock = lockOf(stage);
  if (!lock) {
    note.textContent = say('There is no lock to break at {hash}. Choose a cell.', {hash: placeAsked()});
    return showMatrix();
  }
  if (edit === '-') edit = ''; // a run of the lock without an edit
  leave();
  document.body.classList.remove('showing');
  if (!await loaded(say('Break {lock}', {lock: say(lock.name)}))) return;
  const hash = location.hash;
  if (broken?.stage !== stage || broken.edit !== (edit || '')) {
    const told = await asked({op: 'lock', stage, edit});
    if (!told && location.hash === hash) showMatrix();
    if (!told || location.hash !== hash) return;
    broken = {stage, edit: edit || '', told};
  }
  if (failure) return showBrokenRun(failure, step);
  showBroken();
  if (!broken.column) playColumn();
};

// editIn returns the active edit, if there is one.
const editIn = () => broken.told.edits.find(({id}) => id === broken.edit);

// editedName returns the name of the lock, with its edit.
const editedName = () => (broken.edit ? say('{lock}, edited: {edit}', {lock: broken.told.name, edit: editIn().name}) : broken.told.name);

// about returns the lock's fields of a request.
const about = () => ({stage: broken.stage, edit: broken.edit});

const hashOfBroken = (...words) => '#break/' + [broken.stage, broken.edit || (words.length > 0 ? '-' : ''), ...words].filter(Boolean).join('/');

// showBroken shows the lock, its edits, its results, and the form for a search.
function showBroken() {
  const {told, stage, edit} = broken;
  const chosen = editIn();
  document.title = say('Break {lock}', {lock: editedName()});
  const heading = el('h1', {tabindex: '-1'}, chosen ? chosen.name : document.title);
  broken.status = el('p', {role: 'status'});
  broken.list = el('ul', {class: 'column', 'aria-label': say('the failures on this lock')});
  broken.result = el('div', {class: 'found', role: 'status'});
  main.replaceChildren(el('div', {class: 'break-view'},
    el('div', {class: 'title'}, heading, el('span', {class: 'stage-title'}, titled(told))),
    el('p', {class: 'story'}, chosen ? say('{what}.', {what: chosen.suffers[0].toUpperCase() + chosen.suffers.slice(1)})
      : say('Each of these mistakes changes one line of the lock. Choose one: the results below change, and the search finds the shortest schedule that does harm.')),
    el('nav', {class: 'choose', 'aria-label': say('locks')}, el('span', {class: 'what'}, say('break')),
      ...data.locks.map((l) => el('a', {href: `#break/${l.id}`, 'aria-current': l.id === stage && 'page'}, l.id)),
      el('a', {href: `#play/${stage}` + (edit ? '/' + edit : '')}, edit ? say('play it, edited') : say('play it'))),
    el('div', {class: 'halves'},
      el('section', {'aria-label': say('the edits')},
        el('ul', {class: 'edits', 'aria-label': say('the edits'), tabindex: '0'}, ...told.edits.map(editSwitch)),
        codeOf(told, chosen)),
      el('section', {'aria-label': say('what breaks it')}, searchForm((chosen || told).search), broken.result, broken.status, broken.list))));
  if (broken.column) fillColumn();
  if (broken.found) showFound(broken.found);
  heading.focus({preventScroll: true});
}

// switchOf returns a button that switches an edit on or off.
const switchOf = (edit, ...says) => el('button', {type: 'button', 'aria-pressed': String(edit === editIn()),
  onclick: () => { location.hash = `#break/${broken.stage}` + (edit === editIn() ? '' : '/' + edit.id); }}, ...says);

const editSwitch = (edit) => el('li', {}, switchOf(edit, el('strong', {}, edit.name),
  el('code', {}, el('del', {}, edit.old), ' → ', el('ins', {}, edit.new || say('nothing'))), el('small', {}, `${edit.file}:${edit.line}`)));

// EditedCode is the lock's code with a switch at the line of each edit.
class EditedCode extends Code {
  sheet(file) {
    const sheet = super.sheet(file);
    for (const edit of broken.told.edits.filter((e) => e.file === file.name)) {
      const line = sheet.children[edit.line - 1];
      line.append(switchOf(edit, edit.name));
      if (edit === editIn()) line.classList.add('edited');
    }
    return sheet;
  }
}

// codeOf returns the lock's code, open at the line of the edit.
function codeOf(told, chosen) {
  const code = new EditedCode(told.files, [], {lanes: [], steps: []});
  code.element.classList.add('broken-code');
  const at = chosen || told.edits[0];
  if (at && code.sheets.has(at.file)) {
    code.open(at.file);
    requestAnimationFrame(() => code.scrollTo(at.line));
  }
  return code.element;
}

// playColumn plays the catalogue on the lock.
async function playColumn() {
  const here = broken;
  const stop = el('button', {type: 'button', onclick: () => engine.stop()}, say('Stop'));
  here.status.replaceChildren(say('The failures are played on this lock …'), ' ', stop);
  const column = await asked({op: 'catalogue', ...about()},
    {progress: ({done, of}) => { here.status.firstChild.textContent = say('{n} of {all} failures are played …', {n: done, all: of}); },
      canWait: true});
  if (!column && broken === here) here.status.replaceChildren();
  if (!column) return;
  if (!column.stopped) here.column = column;
  if (broken === here && here.list.isConnected) fillColumn(column);
}

function fillColumn(column = broken.column) {
  const turned = column.cells.filter((cell) => cell.was).length;
  broken.status.replaceChildren(broken.edit ? say('This mistake changed {n} of {all} results on {lock}; they come first.',
    {n: turned, all: column.cells.length, lock: broken.told.name})
    : say('{n} failures on {lock}.', {n: column.cells.length, lock: broken.told.name}),
    ...column.stopped ? [gap(), say('It was stopped.'), ' ', el('button', {type: 'button', onclick: playColumn}, say('Go on'))] : []);
  broken.list.replaceChildren(...column.cells.filter((cell) => cell.outcome !== '-').sort((a, b) => Boolean(b.was) - Boolean(a.was)).map(columnRow));
}

function columnRow(cell) {
  const says = cell.was ? say('{failure}: {outcome}, without the edit {was}',
    {failure: cell.failure, outcome: wordOf(cell.outcome), was: wordOf(cell.was)})
    : say('{failure}: {outcome}', {failure: cell.failure, outcome: wordOf(cell.outcome)});
  return el('li', {class: cell.was ? 'turned' : ''}, el('a', {class: 'cell cell-' + cell.outcome, href: hashOfBroken(cell.failure), title: cell.verdict, 'aria-label': says},
    signs[cell.outcome] || cell.outcome), el('span', {},
      cell.was ? say('{failure} was {sign}', {failure: cell.failure, sign: signs[cell.was] || cell.was}) : cell.failure));
}

// searchForm returns a form that starts a search.
function searchForm(first) {
  const {told} = broken;
  const select = (label, all, value) => el('select', {'aria-label': label}, ...all.map((one) => el('option', {value: one.name, selected: one.name === value}, one.name)));
  const property = select(say('rule'), told.goals, first.property), env = select(say('environment'), told.envs, first.env);
  return el('form', {class: 'asked', onsubmit: (event) => {
    event.preventDefault();
    search(property.value, env.value);
  }}, ...tell('Find the fewest faults that break {rule} in {world}', {rule: property, world: env}),
    el('button', {type: 'submit', class: 'search'}, say('Search')));
}

async function search(goal, env) {
  const here = broken;
  const says = el('span', {}, say('Searching …'));
  here.result.replaceChildren(el('p', {}, says, ' ', el('button', {type: 'button', onclick: () => engine.stop()}, say('Stop'))));
  const begun = performance.now();
  const found = await asked({op: 'search', ...about(), goal, env, bound: 4},
    {progress: ({done, states, cost}) => { says.textContent = say('Faults {faults}: {n} schedules, {states} states so far …',
      {faults: cost, n: done, states}); }, canWait: true});
  if (!found && broken === here) here.result.replaceChildren();
  if (!found) return;
  here.found = {...found, took: (performance.now() - begun) / 1000};
  if (broken === here && here.result.isConnected) showFound(here.found);
}

function showFound(found) {
  broken.result.replaceChildren(el('p', {class: 'verdict ' + toneClass(found.found ? 'r' : 'g')},
    say('{rule} in {world}: {answer}', {rule: found.property, world: found.env, answer: answerOf(found)})),
    el('p', {class: 'commands'}, say('{n} schedules and {states} states, in {time} s.',
      {n: found.schedules, states: found.states, time: found.took.toFixed(1)}), gap(),
      found.found ? el('a', {class: 'see', href: '#play/' + found.schedule + (broken.edit ? '/' + broken.edit : '')},
        say('See it step by step')) : null));
}

// answerOf returns the result of a search in words.
function answerOf({found, text, cost, steps, exhausted, bound}) {
  const put = {what: text, faults: cost, steps: stepsOf(steps), bound};
  if (found) return exhausted ? say('broken: {what}. {steps}, faults: {faults}; nothing shorter exists.', put)
    : say('broken: {what}. {steps}, faults: {faults}.', put);
  if (bound < 0) return say('stopped before all schedules without faults were run.');
  return exhausted ? say('Not broken by any order of events with up to {bound} faults. More faults might still break it.', put)
    : say('Not broken by any order of events with up to {bound} faults; then the search was stopped.', put);
}

// showBrokenRun shows the run of one failure on the lock.
async function showBrokenRun(id, step) {
  const failure = failureOf(id);
  const hash = location.hash;
  const cell = failure && await asked({op: 'run', ...about(), failure: id});
  if (location.hash !== hash) return;
  if (!cell?.run) {
    note.textContent ||= say('There is no run at {hash}.', {hash: placeAsked()});
    return showBroken();
  }
  document.body.classList.add('showing');
  document.title = listed([id, editedName()]);
  const player = new Player(cell.run, {text: cell.verdict, tone: cell.tone}, {files: broken.told.files}, broken.told.name);
  stepper = new Stepper([player], alone(player));
  const heading = el('h1', {tabindex: '-1'}, say(failure.title));
  main.replaceChildren(el('div', {class: 'failure-view'},
    el('div', {class: 'title'}, heading, el('code', {}, id), el('span', {class: 'stage-title'}, editedName())),
    el('p', {class: 'story secondary'}, say(failure.story)),
      el('nav', {class: 'choose'}, el('a', {href: hashOfBroken()}, say('back to the lock'))),
    el('div', {class: 'players one'}, el('div', {class: 'half'}, player.element)), stepper.element));
  stepper.element.append(el('a', {class: 'take', href: '#'}, say('Take over from here')));
  stepper.moved = (position) => {
    history.replaceState(null, '', hashOfBroken(id, `step-${position + 1}`));
    stepper.element.querySelector('.take').href = `#take/${id}/${broken.stage}/step-${position + 1}` + (broken.edit ? '/' + broken.edit : '');
  };
  stepper.go(step ? Number(step.slice(5)) - 1 : 0);
  heading.focus({preventScroll: true});
  scrollTo(0, 0);
}
