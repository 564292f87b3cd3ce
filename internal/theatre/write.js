// Write it: a lock of the visitor's own, begun with a stage or a step. #write/3 is the editor,
// #write/3/delete-foreign/step-2 a run of what was written. It is run as soon as somebody
// asks for it, by a click; it is kept while the page is open.

const written = new Map(); // stage → what is shown of it, as broken is

pages.write = async ([, stage, failure, step]) => {
  const lock = lockOf(stage);
  if (!lock) {
    note.textContent = `There is nothing to write at ${location.hash}. Choose a cell.`;
    return showMatrix();
  }
  if (game && game.hash === location.hash) return;
  leave();
  document.body.classList.remove('showing');
  if (!await loaded(`Write ${lock.name}`)) return;
  const hash = location.hash;
  if (!written.has(stage)) {
    const told = await asked({op: 'lock', stage});
    if (!told || location.hash !== hash) return;
    written.set(stage, {stage, edit: '', told, files: filesOf(told.files), file: told.files[0].name});
  }
  broken = written.get(stage);
  if (failure && failureOf(failure)) return showBrokenRun(failure, step);
  showWriting();
};

const filesOf = (list) => Object.fromEntries(list.map((file) => [file.name, file.text]));

// showWriting shows the editor, and what is known of the lock.
function showWriting() {
  const {told, stage} = broken;
  document.title = `write ${told.name}`;
  const heading = el('h1', {tabindex: '-1'}, `Write ${told.name}`);
  broken.status = el('p', {role: 'status'});
  broken.list = el('ul', {class: 'column', 'aria-label': 'the catalogue on this lock'});
  broken.result = el('div', {class: 'found', role: 'status'});
  broken.wrong = el('ul', {class: 'wrong', role: 'alert', 'aria-label': 'what is wrong'});
  const run = (text, act) => el('button', {type: 'button', onclick: act}, text);
  main.replaceChildren(el('div', {class: 'break-view write-view'},
    el('div', {class: 'title'}, heading, el('span', {class: 'stage-title'}, `it begins with ${told.name}, ${told.title}`)),
    el('nav', {class: 'choose', 'aria-label': 'locks'}, el('span', {class: 'what'}, 'write'),
      ...data.locks.map((l) => el('a', {href: `#write/${l.id}`, 'aria-current': l.id === stage && 'page'}, l.id))),
    el('div', {class: 'halves'},
      el('section', {'aria-label': 'your lock'},
        el('div', {class: 'turns', role: 'group', 'aria-label': 'what to do with it'},
          run('Grade', () => playColumn()), run('Play', () => playWritten({op: 'game'})), run('Begin again', beginAgain)),
        broken.wrong, editor()),
      el('section', {'aria-label': 'what breaks it'}, searchForm(told.search), broken.result, broken.status, confirmation(), broken.list))));
  if (broken.column) fillColumn();
  if (broken.found) showFound(broken.found);
  heading.focus({preventScroll: true});
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
    broken.status.textContent = '';
    showProblems([]);
    count();
  };
  text.value = broken.files[broken.file];
  count();
  const tabs = Object.keys(broken.files).map((name) => el('button', {type: 'button', 'aria-pressed': String(name === broken.file), onclick: () => open(name)}, name));
  const element = el('div', {class: 'editor'}, el('div', {class: 'tabs', role: 'group', 'aria-label': 'files'}, ...tabs), el('div', {class: 'typing'}, numbers, text),
    el('small', {}, 'Tab indents; Esc, then Tab, leaves the text.'));
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
  written.delete(broken.stage);
  route();
}

// playWritten begins a game on what was written.
async function playWritten(request) {
  showProblems([]);
  await begin({...request, ...about()});
}

// showProblems lists what is wrong; each opens its line.
function showProblems(problems) {
  if (!broken?.wrong) return;
  broken.wrong.replaceChildren(...problems.map(({file, line, column, text}) => el('li', {},
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
function confirmation() {
  const has = broken.told.has.length > 0 ? ` --has ${broken.told.has.join(',')}` : '';
  return el('p', {class: 'confirm', id: 'confirm', tabindex: '-1'}, 'Here the lock is interpreted. Confirm a ✗ on your machine: save ', el('code', {}, Object.keys(broken.files).join(', ')), ' in a folder of lockkata named ', el('code', {}, 'mine'),
    ', then ', broken.told.graded ? el('code', {}, `go run . grade mine${has}`)
      : el('span', {}, 'give it a func Subject, as docs/grade.md shows for a lock that returns holds, and ', el('code', {}, 'go run . grade mine')), '.');
}

// confirmLink leads from a ✗ there.
const confirmLink = () => el('button', {type: 'button', class: 'sure', title: 'how to confirm it on your machine', onclick: () => {
  document.getElementById('confirm').scrollIntoView({block: 'center'});
  document.getElementById('confirm').focus();
}}, 'confirm');
