// Break it: a lock with switches for its edits. #break/2 is stage 2, #break/2/nx-dropped is stage 2
// with an edit, and #break/2/nx-dropped/delete-foreign/step-3 is a run of that lock.

let broken = null; // the lock on the page: {stage, edit, column, found}

pages.break = async ([, stage, edit, failure, step]) => {
  const lock = lockOf(stage);
  if (!lock) {
    return stay(say('Page not found'), say('There is no lock to break at {hash}.', {hash: placeAsked()}));
  }
  if (edit === '-') edit = ''; // a run of the lock without an edit
  leave();
  if (!await loaded(say('Break {lock}', {lock: say(lock.name)}))) return;
  const hash = location.hash;
  if (broken?.stage !== stage || broken.edit !== (edit || '')) {
    const told = await asked({op: 'lock', stage, edit});
    if (!told && location.hash === hash) stay(say('Break {lock}', {lock: say(lock.name)}));
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
  broken.status = el('p', {class: 'status', role: 'status'});
  broken.turned = el('ul', {class: 'column', 'aria-label': say('results that changed')});
  broken.list = el('ul', {class: 'column', 'aria-label': say('the failures on this lock')});
  broken.result = el('div', {class: 'found', role: 'status'});
  main.replaceChildren(el('div', {class: 'break-view'},
    el('div', {class: 'title'}, heading, el('span', {class: 'stage-title'}, titled(told))),
    el('p', {class: 'story'}, chosen ? say('{what}.', {what: chosen.suffers[0].toUpperCase() + chosen.suffers.slice(1)})
      : say('Each of these edits changes one line of the lock, and nearly all are mistakes. Choose one: every failure is played again, and the search finds the shortest schedule that does harm.')),
    el('nav', {class: 'choose', 'aria-label': say('locks')}, lockMenu('break', stage),
      el('a', {href: `#play/${stage}` + (edit ? '/' + edit : '')}, edit ? say('play it, edited') : say('play it'))),
    el('div', {class: 'halves'},
      el('section', {class: 'mistakes', 'aria-label': say('the edits')}, editMenu(told, edit),
        el('ul', {class: 'edits', 'aria-label': say('the edits'), tabindex: '0'}, ...told.edits.map(editSwitch))),
      el('section', {class: 'answers', 'aria-label': say('what breaks it')},
        searchForm((chosen || told).search), broken.result, broken.status, broken.turned, broken.list),
      codeOf(told, chosen))));
  if (broken.column) fillColumn();
  if (broken.found) showFound(broken.found);
  heading.focus({preventScroll: true});
  if (edit) reveal(broken.status);
}

// reveal scrolls to an answer that is not in the upper part of the window.
function reveal(answer) {
  const {top} = answer.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) answer.scrollIntoView({block: innerWidth < 1088 ? 'start' : 'nearest'});
}

// editMenu has the edits as a select, for a phone.
const editMenu = ({edits}, edit) => el('div', {class: 'edit-menu'},
  menuOf(say('mistake'), [['', say('none')], ...edits.map(({id, name}) => [id, name])], edit,
    (id) => { location.hash = `#break/${broken.stage}` + (id ? '/' + id : ''); }),
  edit ? changeOf(editIn()) : null);

// switchOf returns a button that switches an edit on or off.
const switchOf = (edit, ...says) => el('button', {type: 'button', 'aria-pressed': String(edit === editIn()),
  onclick: () => { location.hash = `#break/${broken.stage}` + (edit === editIn() ? '' : '/' + edit.id); }}, ...says);

const editSwitch = (edit) => el('li', {}, switchOf(edit, el('strong', {}, edit.name), changeOf(edit), el('small', {}, `${edit.file}:${edit.line}`)));
const changeOf = (edit) => el('code', {}, el('del', {}, edit.old), ' → ', el('ins', {}, edit.new || say('nothing')));

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
  here.status.replaceChildren(say('The failures are tried on this lock …'), ' ', stop);
  const column = await asked({op: 'catalogue', ...about()},
    {progress: ({done, of}) => { here.status.firstChild.textContent = say('The failures are tried on this lock: {n}% …', {n: Math.round(100 * done / of)}); },
      canWait: true});
  if (!column && broken === here) here.status.replaceChildren();
  if (!column) return;
  if (!column.stopped) here.column = column;
  if (broken === here && here.list.isConnected) fillColumn(column);
}

function fillColumn(column = broken.column) {
  const all = column.cells.filter((cell) => cell.outcome !== '-' || cell.was);
  const turned = all.filter((cell) => cell.was);
  const parts = {n: turned.length, all: all.length, lock: broken.told.name, broken: all.filter(({outcome}) => outcome === 'x').length};
  broken.status.replaceChildren(!broken.edit ? say('{all} failures can happen to {lock}; {broken} of them break it.', parts)
    : turned.length === 0 ? say('The edit changed none of the {all} results. A search may still find what it breaks.', parts)
    : el('strong', {}, say('Your mistake changed {n} of {all} results; they come first.', parts)),
    ...column.stopped ? [gap(), say('It was stopped.'), ' ', el('button', {type: 'button', onclick: playColumn}, say('Go on'))] : []);
  broken.turned.replaceChildren(...turned.map(columnRow));
  broken.list.replaceChildren(...all.filter((cell) => !cell.was).map(columnRow));
  if (broken.edit) reveal(broken.status);
}

function columnRow(cell) {
  const says = cell.was ? say('{failure}: {outcome}, without the edit {was}',
    {failure: cell.failure, outcome: wordOf(cell.outcome), was: wordOf(cell.was)})
    : say('{failure}: {outcome}', {failure: cell.failure, outcome: wordOf(cell.outcome)});
  return el('li', {class: cell.was ? 'turned' : ''}, el('a', {class: 'cell cell-' + cell.outcome, href: hashOfBroken(cell.failure), title: cell.verdict, 'aria-label': says},
    signs[cell.outcome] || cell.outcome), el('span', {}, say(failureOf(cell.failure)?.title || ''), ' ',
      el('small', {}, cell.was ? say('{failure} was {sign}', {failure: cell.failure, sign: signs[cell.was] || cell.was}) : cell.failure)));
}

// searchForm returns a form that starts a search.
function searchForm(first) {
  const asked = {goal: first.property, env: first.env};
  const says = el('small', {});
  const explain = () => says.replaceChildren(worldOf(asked.env).says, gap(), aboutFaults());
  explain();
  return el('form', {class: 'asked', onsubmit: (event) => {
    event.preventDefault();
    search(asked.goal, asked.env);
  }}, menuOf(say('Find the fewest faults that'), goalMenu(lockOf(broken.stage)), asked.goal, (chosen) => { asked.goal = chosen; }),
    menuOf(say('if'), worldMenu(), asked.env, (chosen) => { asked.env = chosen; explain(); }),
    el('button', {type: 'submit', class: 'search'}, say('Search')), says);
}

async function search(goal, env) {
  const here = broken;
  const says = el('span', {}, say('Searching …'));
  here.result.replaceChildren(el('p', {}, says, ' ', el('button', {type: 'button', onclick: () => engine.stop()}, say('Stop'))));
  const begun = performance.now();
  const found = await asked({op: 'search', ...about(), goal, env, bound: 4},
    {progress: ({done, cost}) => { says.textContent = say('Trying every order of events with up to {faults} faults: {n} so far …',
      {faults: cost, n: done}); }, canWait: true});
  if (!found && broken === here) here.result.replaceChildren();
  if (!found) return;
  here.found = {...found, took: (performance.now() - begun) / 1000};
  if (broken === here && here.result.isConnected) showFound(here.found);
}

function showFound(found) {
  broken.result.replaceChildren(el('p', {class: 'verdict ' + toneClass(found.found ? 'r' : 'g')},
    answerOf(found)), el('p', {class: 'commands'},
    found.found ? el('a', {class: 'see', href: '#play/' + found.schedule + (broken.edit ? '/' + broken.edit : '')}, say('See it step by step')) : null,
    say('It tried {n} orders of events in {time} s: {goal} ({world}).', {n: found.schedules, time: found.took.toFixed(1),
      goal: say(data.goals[found.property]), world: worldOf(found.env).label})));
  reveal(broken.result);
}

// answerOf returns the result of a search in words.
function answerOf({found, text, cost, steps, exhausted, bound}) {
  const put = {what: text, faults: cost === 1 ? say('1 fault') : say('{n} faults', {n: cost}), steps: stepsOf(steps), bound};
  if (found) return exhausted ? say('Broken: {what}. It takes {steps}, {faults}; nothing shorter exists.', put)
    : say('Broken: {what}. It takes {steps}, {faults}.', put);
  if (bound < 0) return say('Stopped before every order of events without faults was tried.');
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
    return stay(say('Page not found'), cell === null ? '' : say('There is no run at {hash}.', {hash: placeAsked()}));
  }
  document.title = listed([say(failure.title), editedName()]);
  const player = new Player(cell.run, {text: cell.verdict, tone: cell.tone, line: cell.line}, {files: broken.told.files}, broken.told.name);
  stepper = new Stepper([player], alone(player));
  stepper.story = storyOf(say(failure.story));
  const heading = el('h1', {tabindex: '-1'}, say(failure.title));
  main.replaceChildren(el('div', {class: 'failure-view'},
    el('div', {class: 'title'}, heading, el('code', {class: 'told'}, id), el('span', {class: 'stage-title'}, editedName())),
    stepper.story,
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
