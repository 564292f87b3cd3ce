// Write it: a lock of the visitor's own. #write/3 is the editor, begun with stage 3;
// #exercise/r3 the same, begun with the start of kata's exercise, with its task; behind both
// …/delete-foreign/step-2 is a run of what was written, and …/play/v1/stage3~… a game. It is
// run as soon as somebody asks for it, by a click; it is kept while the page is open.

const written = new Map(); // place → what is shown of it, as broken is

const exerciseTitle = ({id, title}) => say('Exercise {id}: {title}', {id, title: say(title)});

pages.write = pages.exercise = async ([kind, id, ...rest]) => {
  const exercise = kind === 'exercise' ? data.exercises.find((one) => one.id === id) : null;
  const lock = exercise ? baseOf(exercise.base) : kind === 'write' ? lockOf(id) : null;
  const link = rest[0]?.startsWith('v1.') ? rest.shift() : null;
  if (!lock || rest[0] && rest[0] !== 'play' && !failureOf(rest[0])) { // such as a link of a later form
    note.textContent = say('There is nothing to write at {hash}. Choose a cell.', {hash: placeAsked()});
    return showMatrix();
  }
  if (game && game.hash === location.hash) return;
  leave();
  document.body.classList.remove('showing');
  if (exercise && !exercise.files) return showCompiled(exercise);
  const root = `${kind}/${id}`, what = exercise ? exerciseTitle(exercise) : say('Write {lock}', {lock: say(lock.name)});
  const place = link ? `${root}/${link}` : root;
  const begun = (files) => written.set(place, {root, place, stage: lock.id, exercise, hints: 0, edit: '', files, file: Object.keys(files)[0]});
  if (link && !written.has(place)) return showShared(link, what, (files) => { begun(files); route(); });
  if (!await loaded(what)) return;
  const hash = location.hash, start = exercise ? filesOf(exercise.files) : undefined;
  const told = written.get(place)?.told || await asked({op: 'lock', stage: lock.id, files: start});
  if (!told || location.hash !== hash) return;
  if (!written.has(place)) begun(start || filesOf(told.files));
  broken = Object.assign(written.get(place), {told});
  const [failure, step] = rest;
  if (failureOf(failure)) return showBrokenRun(failure, step);
  showWriting();
  if (failure === 'play' && rest.length > 1) playWritten({op: 'replay', schedule: rest.slice(1).join('/')});
};

const filesOf = (list) => Object.fromEntries(list.map((file) => [file.name, file.text]));

// showWriting shows the editor, and what is known of the lock.
function showWriting() {
  const {told, exercise, root} = broken;
  document.title = exercise ? exerciseTitle(exercise) : say('Write {lock}', {lock: told.name});
  const heading = el('h1', {tabindex: '-1'}, document.title);
  broken.status = el('div', {class: 'status', role: 'status'});
  broken.list = el('ul', {class: 'column', 'aria-label': say('the failures on this lock')});
  broken.result = el('div', {class: 'found', role: 'status'});
  broken.wrong = el('ul', {class: 'wrong', role: 'alert', 'aria-label': say('what is wrong')});
  broken.shared = el('p', {class: 'shared', role: 'status'});
  const run = (text, act) => el('button', {type: 'button', onclick: act}, text);
  main.replaceChildren(el('div', {class: 'break-view write-view'},
    el('div', {class: 'title'}, heading, exercise ? null
      : el('span', {class: 'stage-title'}, say('it begins with {lock}', {lock: titled(told)}))),
    toWrite(root), exercise ? task() : null,
    el('div', {class: 'halves'},
      el('section', {'aria-label': say('your lock')},
        el('div', {class: 'turns', role: 'group', 'aria-label': say('what to do with it')},
          run(exercise ? say('Check') : say('Grade'), () => playColumn()), run(say('Play'), () => playWritten({op: 'game'})),
            run(say('Begin again'), beginAgain), run(say('Share'), () => share(broken.shared))),
        broken.shared,
        broken.wrong, editor()),
      el('section', {'aria-label': say('what breaks it')}, searchForm(exercise?.search || told.search), broken.result, broken.status, printedBox(),
        confirmation(broken.files), broken.list))));
  if (broken.column) fillColumn();
  if (broken.found) showFound(broken.found);
  showProblems(broken.problems || []);
  heading.focus({preventScroll: true});
}

// showCompiled shows an exercise that is for a compiler.
function showCompiled(exercise) {
  document.title = exerciseTitle(exercise);
  const code = (text) => el('code', {}, text), heading = el('h1', {tabindex: '-1'}, document.title);
  main.replaceChildren(el('div', {class: 'break-view write-view'}, el('div', {class: 'title'}, heading), toWrite(`exercise/${exercise.id}`),
    el('section', {class: 'task', 'aria-label': say('the task')}, el('p', {class: 'story'}, say(exercise.story)),
      el('p', {}, ...tell('The page cannot run this lock: it has to be compiled. Go on with {start} and {check} in a folder of lockkata.',
        {start: code(`go run . kata start ${exercise.id}`), check: code('go run . kata check')})))));
  heading.focus({preventScroll: true});
}

const kindOf = (kind) => ({play: say('play'), break: say('break'), write: say('write'), exercise: say('exercise')})[kind];

// linksTo are links to all of a kind.
const linksTo = (kind, all, root) => [el('span', {class: 'what'}, kindOf(kind)), ...all.map(({id, name, title}) =>
  el('a', {href: `#${kind}/${id}`, title: say(title), 'aria-label': say('{kind} {lock}', {kind: kindOf(kind), lock: say(name || id)}),
    'aria-current': `${kind}/${id}` === root && 'page'}, id))];

// toWrite are the links to all that can be written.
const toWrite = (root) => el('nav', {class: 'choose', 'aria-label': say('locks')},
  ...linksTo('write', data.locks, root), ...linksTo('exercise', data.exercises, root));

// task is what the exercise asks for, with its hints one by one.
function task() {
  const {story, hints} = broken.exercise;
  const seen = el('ol', {class: 'hints', 'aria-live': 'polite'}), more = el('button', {type: 'button', class: 'more', onclick: () => show(broken.hints + 1)});
  const show = (n) => {
    broken.hints = n;
    seen.replaceChildren(...hints.slice(0, n).map((hint) => el('li', {}, say(hint))));
    more.textContent = n === 0 ? say('Hint') : say('Hint {n} of {all}', {n: n + 1, all: hints.length});
    more.hidden = n === hints.length;
  };
  show(broken.hints);
  return el('section', {class: 'task', 'aria-label': say('the task')}, el('p', {class: 'story'}, say(story)), seen, more);
}

// checked says whether the exercise is passed, else what is red first.
function checked({cells, stopped, red}) {
  const {id, required, fixed, question, blind} = broken.exercise;
  if (red) {
    return [el('p', {class: 'verdict ' + toneClass('r')},
      ...tell('Not passed: the lock survives {n} of the {all} failures that are asked for, and then comes {failure}.',
      {n: cells.filter(({outcome}) => 'on-'.includes(outcome)).length, all: required.length, failure: el('a', {href: hashOfBroken(red)}, red)}),
      gap(), cells.find(({failure}) => failure === red).verdict)];
  }
  if (stopped) return [];
  const next = data.exercises[data.exercises.findIndex((e) => e.id === id) + 1];
  return [el('p', {class: 'verdict ' + toneClass('g')}, say('Passed: the lock survives all {n} failures that are asked for.', {n: required.length}),
    gap(), say(fixed)),
    blind ? el('p', {}, say('Why the search does not see it: {why}', {why: say(blind)})) : '',
    el('p', {}, say('On your machine kata check asks for more: an ordinary day, and a search of the schedules.'), gap(),
      say('The interviewer’s next question: {question}', {question: say(question)})),
    next ? el('a', {href: `#exercise/${next.id}`}, exerciseTitle(next)) : ''];
}

// editor is the file that is open, with the numbers of its lines.
function editor() {
  const numbers = el('pre', {class: 'numbers', 'aria-hidden': 'true'});
  const text = el('textarea', {spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', rows: 32, 'aria-label': broken.file,
    oninput: () => change(text.value), onscroll: () => { numbers.scrollTop = text.scrollTop; }, onkeydown: typed});
  const count = () => { numbers.textContent = text.value.split('\n').map((_, i) => i + 1).join('\n'); };
  const change = (value) => {
    broken.files = {...broken.files, [broken.file]: value};
    broken.column = broken.found = null;
    broken.list.replaceChildren();
    broken.result.replaceChildren();
    broken.status.textContent = broken.shared.textContent = '';
    showProblems([]);
    count();
  };
  text.value = broken.files[broken.file];
  count();
  const tabs = Object.keys(broken.files).map((name) => el('button', {type: 'button', 'aria-pressed': String(name === broken.file), onclick: () => open(name)}, name));
  const element = el('div', {class: 'editor'}, el('div', {class: 'tabs', role: 'group', 'aria-label': say('files')}, ...tabs),
    el('div', {class: 'typing'}, numbers, text),
    el('small', {}, say('Tab indents; Esc, then Tab, leaves the text.')));
  const open = (name) => {
    broken.file = name;
    element.replaceWith(editor());
  };
  return element;
}

// typed is a key in the text: Tab indents.
function typed(event) {
  const text = event.target;
  if (event.key === 'Escape') text.leaving = true;
  const indents = event.key === 'Tab' && !event.shiftKey && !text.leaving;
  if (event.key !== 'Escape') text.leaving = false;
  if (!indents) return;
  event.preventDefault();
  text.setRangeText('\t', text.selectionStart, text.selectionEnd, 'end');
  text.dispatchEvent(new Event('input'));
}

function beginAgain() {
  written.delete(broken.place);
  route();
}

// playWritten begins a game on what was written.
async function playWritten(request) {
  showProblems([]);
  await begin({...request, ...about()});
}

// showProblems lists what is wrong; each opens its line.
function showProblems(problems) {
  broken.problems = problems;
  broken.wrong?.replaceChildren(...problems.map(({file, line, column, text}) => el('li', {},
    file ? el('button', {type: 'button', onclick: () => toLine(file, line)}, `${file}:${line}:${column}`) : null, ' ', text)));
}

// toLine shows and selects a line of the lock.
function toLine(file, line) {
  broken.file = file;
  document.querySelector('.editor').replaceWith(editor());
  const text = document.querySelector('.editor textarea');
  const before = text.value.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  const end = text.value.indexOf('\n', before);
  text.focus();
  text.setSelectionRange(before, end < 0 ? text.value.length : end);
  text.scrollTop = Math.max(0, (line - 8) * parseFloat(getComputedStyle(text).lineHeight));
}

// confirmation is how the same verdicts come from a compiler.
function confirmation(files) {
  const {told, exercise} = broken;
  const has = told.has.length > 0 ? ` --has ${told.has.join(',')}` : '';
  const code = (text) => el('code', {}, text);
  const put = {files: saved(files), folder: code('mine'), start: code(`go run . kata start ${exercise?.id}`),
    check: code('go run . kata check'), grade: code(`go run . grade mine${told.graded ? has : ''}`)};
  return el('p', {class: 'confirm', id: 'confirm', tabindex: '-1'}, say('Here the lock is interpreted.'), gap(),
    ...exercise ? tell('Confirm a ✗ on your machine: {start}, save {files} in the folder that it makes, then {check}.', put)
      : told.graded ? tell('Confirm a ✗ on your machine: save {files} in a folder of lockkata named {folder}, then {grade}.', put)
        : tell('Confirm a ✗ on your machine: save {files} in a folder of lockkata named {folder}, give it a func Subject, as docs/grade.md shows for a lock that returns holds, and {grade}.', put));
}

// saved are links that save the files as they are then.
const saved = (files) => el('span', {}, ...Object.keys(files).flatMap((name, i) => [i > 0 ? ', ' : '',
  el('a', {href: '#', download: name, onclick: (event) => {
  event.currentTarget.href = URL.createObjectURL(new Blob([(broken.files || files)[name]], {type: 'text/plain'}));
}}, name)]));

// printedBox shows what the lock has printed in its runs. A game has none: it looks ahead, and that prints too.
const printedBox = () => el('div', {class: 'printed'}, ...broken?.files && broken.printed
  ? [el('p', {}, say('Your lock has printed:')), el('pre', {tabindex: '0', 'aria-label': say('Your lock has printed:')}, broken.printed)] : []);

engine.printed = (text) => {
  if (broken) broken.printed = text;
  document.querySelector('.printed')?.replaceWith(printedBox());
};

// confirmLink leads from a ✗ there.
const confirmLink = () => el('button', {type: 'button', class: 'sure', title: say('how to confirm it on your machine'), onclick: () => {
  document.getElementById('confirm').scrollIntoView({block: 'center'});
  document.getElementById('confirm').focus();
}}, say('confirm'));
