// Break it: a lock with its edits as switches. #break/2 is stage 2, #break/2/nx-dropped the
// same with an edit, and #break/2/nx-dropped/delete-foreign/step-3 a run of that.

let broken = null; // the lock that is shown: {stage, edit, column, found}

pages.break = async ([, stage, edit, failure, step]) => {
  const lock = lockOf(stage);
  if (!lock) {
    note.textContent = `There is nothing to break at ${location.hash}. Choose a cell.`;
    return showMatrix();
  }
  if (edit === '-') edit = ''; // a run of the lock as it stands
  leave();
  document.body.classList.remove('showing');
  if (!await loaded(`Break ${lock.name}`)) return;
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

// about is which lock it is, in a request.
const about = () => ({stage: broken.stage, edit: broken.edit, files: broken.files});

const hashOfBroken = (...words) => broken.files ? ['#' + broken.place, ...words].join('/') : '#break/' + [broken.stage, broken.edit || (words.length > 0 ? '-' : ''), ...words].filter(Boolean).join('/');

// showBroken shows the lock, its edits, its column and what can be searched for.
function showBroken() {
  if (broken.files) return showWriting();
  const {told, stage, edit} = broken;
  const chosen = told.edits.find((e) => e.id === edit);
  document.title = `break ${told.name}` + (chosen ? `: ${chosen.name}` : '');
  const heading = el('h1', {tabindex: '-1'}, chosen ? chosen.name : `Break ${told.name}`);
  broken.status = el('p', {role: 'status'});
  broken.list = el('ul', {class: 'column', 'aria-label': 'the catalogue on this lock'});
  broken.result = el('div', {class: 'found', role: 'status'});
  main.replaceChildren(el('div', {class: 'break-view'},
    el('div', {class: 'title'}, heading, el('span', {class: 'stage-title'}, `${told.name}, ${told.title}`)),
    el('p', {class: 'story'}, chosen ? `${chosen.suffers[0].toUpperCase()}${chosen.suffers.slice(1)}.` : 'Each of these mistakes damages one line of the lock. Choose one: its column changes colour, and the search finds the shortest schedule that does harm.'),
    el('nav', {class: 'choose', 'aria-label': 'locks'}, el('span', {class: 'what'}, 'break'),
      ...data.locks.map((l) => el('a', {href: `#break/${l.id}`, 'aria-current': l.id === stage && 'page'}, l.id)),
      el('a', {href: `#play/${stage}` + (edit ? '/' + edit : '')}, edit ? 'play it, edited' : 'play it')),
    el('div', {class: 'halves'},
      el('section', {'aria-label': 'the edits'}, el('ul', {class: 'edits', 'aria-label': 'edits', tabindex: '0'}, ...told.edits.map(editSwitch)), codeOf(told, chosen)),
      el('section', {'aria-label': 'what breaks it'}, searchForm(chosen ? chosen.search : told.search), broken.result, broken.status, broken.list))));
  if (broken.column) fillColumn();
  if (broken.found) showFound(broken.found);
  heading.focus({preventScroll: true});
}

// turnOver puts an edit into the lock, or takes it out again.
function turnOver(edit) {
  location.hash = `#break/${broken.stage}` + (edit.id === broken.edit ? '' : '/' + edit.id);
}

// switchOf is a button that turns an edit over, and says whether it is in the lock.
const switchOf = (edit, ...says) => el('button', {type: 'button', 'aria-pressed': String(edit.id === broken.edit), onclick: () => turnOver(edit)}, ...says);

const editSwitch = (edit) => el('li', {}, switchOf(edit, el('strong', {}, edit.name),
  el('code', {}, el('del', {}, edit.old), ' → ', el('ins', {}, edit.new || 'nothing')), el('small', {}, `${edit.file}:${edit.line}`)));

// EditedCode is the code of the lock with the switches of its edits, each at its line.
class EditedCode extends Code {
  sheet(file) {
    const sheet = super.sheet(file);
    for (const edit of broken.told.edits.filter((e) => e.file === file.name)) {
      const line = sheet.children[edit.line - 1];
      line.append(switchOf(edit, edit.name));
      if (edit.id === broken.edit) line.classList.add('edited');
    }
    return sheet;
  }
}

// codeOf is the lock's code, open at the line of the edit.
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
  const stop = el('button', {type: 'button', onclick: () => engine.stop()}, 'Stop');
  here.status.replaceChildren('The catalogue is played on this lock … ', stop);
  const column = await asked({op: 'column', ...about(), required: here.exercise?.required},
    {progress: ({done, of}) => { here.status.firstChild.textContent = `${done} of ${of} failures are played … `; }, canWait: true});
  if (!column && broken === here) here.status.replaceChildren();
  if (!column) return;
  if (!column.stopped) here.column = column;
  if (broken === here && here.list.isConnected) fillColumn(column);
}

function fillColumn(column = broken.column) {
  const turned = column.cells.filter((cell) => cell.was).length;
  broken.status.replaceChildren(...broken.exercise ? checked(column) : [broken.edit ? `${turned} of ${column.cells.length} failures end otherwise than on ${broken.told.name} as it stands.`
    : `${column.cells.length} failures on ${broken.files ? 'your lock' : broken.told.name}.`],
    column.stopped ? ' It was stopped. ' : '', column.stopped ? el('button', {type: 'button', onclick: playColumn}, 'Go on') : '');
  broken.list.replaceChildren(...column.cells.filter((cell) => cell.outcome !== '-').sort((a, b) => Boolean(b.was) - Boolean(a.was)).map(columnRow));
}

function columnRow(cell) {
  const says = `${cell.failure}: ${words[cell.outcome] || 'not played'}` + (cell.was ? `, without the edit ${words[cell.was]}` : '');
  return el('li', {class: cell.was ? 'turned' : ''}, el('a', {class: 'cell cell-' + cell.outcome, href: hashOfBroken(cell.failure), title: cell.verdict, 'aria-label': says},
    signs[cell.outcome] || cell.outcome), el('span', {}, cell.failure, cell.was ? ` was ${signs[cell.was] || cell.was}` : ''),
    broken.files && cell.outcome === 'x' ? confirmLink() : null);
}

// searchForm asks the search.
function searchForm(first) {
  const {told} = broken;
  const select = (label, all, value) => el('select', {'aria-label': label}, ...all.map((one) => el('option', {value: one.name, selected: one.name === value}, one.name)));
  const property = select('rule', told.goals, first.property), env = select('world', told.envs, first.env);
  return el('form', {class: 'asked', onsubmit: (event) => {
    event.preventDefault();
    search(property.value, env.value);
  }}, 'Search the shortest schedule that breaks', property, 'in', env, el('button', {type: 'submit', class: 'search'}, 'Search'));
}

async function search(goal, env) {
  const here = broken;
  const says = el('span', {}, 'Searching … ');
  here.result.replaceChildren(el('p', {}, says, el('button', {type: 'button', onclick: () => engine.stop()}, 'Stop')));
  const begun = performance.now();
  const found = await asked({op: 'search', ...about(), goal, env, bound: 4},
    {progress: ({done, states, cost}) => { says.textContent = `Cost ${cost}: ${done} schedules, ${states} states so far … `; }});
  if (!found && broken === here) here.result.replaceChildren();
  if (!found) return;
  here.found = {...found, took: (performance.now() - begun) / 1000};
  if (broken === here && here.result.isConnected) showFound(here.found);
}

function showFound(found) {
  broken.result.replaceChildren(el('p', {class: 'verdict ' + toneClass(found.found ? 'r' : 'g')},
    `${found.property} in ${found.env}: ` + (found.found ? `broken: ${found.text}. It costs ${found.cost}, in ${counted(found.steps, 'step')}` + (found.exhausted ? '; nothing shorter exists.' : '.')
      : found.bound < 0 ? 'stopped before all schedules of cost 0 were looked at.' : `nothing up to cost ${found.bound}${found.exhausted ? '' : ', where it was stopped'}. That is no proof.`)),
    el('p', {class: 'commands'}, `${found.schedules} schedules and ${found.states} states, in ${found.took.toFixed(1)} s. `,
      found.found && broken.files ? el('button', {type: 'button', class: 'see', onclick: () => playWritten({op: 'replay', schedule: found.schedule})}, 'See it step by step') : null,
      found.found && !broken.files ? el('a', {class: 'see', href: '#play/' + found.schedule + (broken.edit ? '/' + broken.edit : '')}, 'See it step by step') : null));
}

// showBrokenRun shows how one failure goes on the lock, as the theatre does.
async function showBrokenRun(id, step) {
  const failure = failureOf(id);
  const hash = location.hash;
  const cell = failure && await asked({op: 'run', ...about(), failure: id});
  if (location.hash !== hash) return;
  if (!cell?.run) {
    note.textContent ||= `There is no run at ${hash}.`;
    return showBroken();
  }
  document.body.classList.add('showing');
  document.title = `${id}, ${broken.told.name}` + (broken.edit ? `, ${broken.edit}` : '');
  const files = broken.files ? Object.entries(broken.files).map(([name, text]) => ({name, text})) : broken.told.files;
  const player = new Player(cell.run, {text: cell.verdict, tone: cell.tone}, {files}, broken.told.name);
  stepper = new Stepper([player], alone(player));
  const heading = el('h1', {tabindex: '-1'}, failure.title);
  const chosen = broken.told.edits.find((e) => e.id === broken.edit);
  main.replaceChildren(el('div', {class: 'failure-view'},
    el('div', {class: 'title'}, heading, el('code', {}, id), el('span', {class: 'stage-title'}, broken.told.name + (chosen ? `, edited: ${chosen.name}` : ''))),
    el('p', {class: 'story secondary'}, failure.story), el('nav', {class: 'choose'}, el('a', {href: hashOfBroken()}, 'back to the lock')),
    el('div', {class: 'players one'}, el('div', {class: 'half'}, player.element)), stepper.element));
  let at = 1;
  stepper.element.append(el('a', {class: 'take', href: '#', onclick: (event) => {
    if (!broken.files) return;
    event.preventDefault();
    playWritten({op: 'take', failure: id, step: at});
  }}, 'Take over from here'));
  stepper.moved = (position) => {
    at = position + 1;
    history.replaceState(null, '', hashOfBroken(id, `step-${position + 1}`));
    stepper.element.querySelector('.take').href = `#take/${id}/${broken.stage}/step-${position + 1}` + (broken.edit ? '/' + broken.edit : '');
  };
  stepper.go(step ? Number(step.slice(5)) - 1 : 0);
  heading.focus({preventScroll: true});
  scrollTo(0, 0);
}
