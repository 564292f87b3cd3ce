// The code of a lock next to its run, with the lines that clients run.

// Patterns of Go and their colours.
const goToken = /(\/\/.*$)|("(?:[^"\\]|\\.)*"|`[^`]*`?|'(?:[^'\\]|\\.)+')|\b(break|case|chan|const|continue|default|defer|else|for|func|go|if|import|interface|map|nil|package|range|return|select|struct|switch|type|var|true|false)\b/g;

// withoutStage returns a line without the stage's name, which changes from stage to stage.
const withoutStage = (line) => line.replace(/stage\d/g, 'stage');

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

// codeLine returns a line of code. Where it is too long for its box, it goes on further to the right than it begins.
const codeLine = (line) => el('code', {class: 'go', '--tabs': line.match(/^\t*/)[0].length}, ...goLine(line));

// Code shows the files of a lock and the stage's changes, one at a time. The lines that clients run
// are marked with their names. Files that the run does not visit are in a separate list.
class Code {
  constructor(files, diffs, run, old) {
    this.lanes = run.lanes;
    this.old = old; // the lines of another lock: others are marked
    this.texts = new Map(files.map((file) => [file.name, file.text.split('\n')]));
    this.visited = run.steps.flatMap((step) => (step.lines || []).flatMap(places));
    this.sheets = new Map();
    this.tabs = el('div', {class: 'tabs', role: 'group', 'aria-label': say('files')});
    this.others = el('select', {'aria-label': say('other files'), onchange: () => this.choose(this.others.value)},
      el('option', {value: ''}, say('other files')));
    this.body = el('div', {class: 'sheet', tabindex: '0', role: 'group', 'aria-label': say('the code of the lock')});
    this.element = el('div', {class: 'code'}, this.tabs, this.body);
    const isVisited = (file) => files.length <= 3 || this.visited.some((place) => place.file === file.name);
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

  // choose opens what the reader has chosen.
  choose(name) {
    this.chosen = name;
    this.open(name);
  }

  sheet(file) {
    const lines = file.text.replace(/\n$/, '').split('\n');
    return el('ol', {class: 'lines'}, ...lines.map((line) => el('li', {'data-changed': this.isNew(line)},
      el('span', {class: 'who'}), codeLine(line))));
  }

  isNew(line) { return Boolean(this.old) && !/^\s*(\/\/|package )/.test(line) && !this.old.has(withoutStage(line)); }

  // open shows a file, and creates its element the first time.
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

  // show marks the lines of all lanes and the line of a finding, if there is one. It scrolls to that line, at the end of
  // a run without one to the last that was run and that the other lock does not have, else to the acting client's.
  show(state, reported, isEnd) {
    this.marked = [state.lines, state.inside, reported];
    const changed = isEnd && this.visited.findLast(({file, line}) => this.isNew(this.texts.get(file)[line - 1]));
    this.goal = reported || changed || state.last;
    if (this.goal && !this.stays()) this.open(this.goal.file);
    this.mark(...this.marked);
    this.follow();
  }

  // follow scrolls to the line that was run last.
  follow() {
    if (this.goal && this.goal.file === this.current) this.scrollTo(this.goal.line);
  }

  // stays returns whether the reader chose something other than a file of the run.
  stays() { return this.chosen !== undefined && this.chosen.startsWith('diff '); }

  mark(lines, inside, reported) {
    for (const old of this.body.querySelectorAll('li:is(.runs, .reported)')) {
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
        line.firstChild.append(el('span', {class: 'badge own-' + (lane % 4), title: place.background ? say('in the background') : null},
          this.lanes[lane] + (place.background ? '°' : '')));
      }
    });
    if (reported?.file !== this.current) return;
    const line = this.body.querySelector('.lines').children[reported.line - 1];
    line.classList.add('reported');
    line.firstChild.prepend(el('b', {class: 'reported-sign', role: 'img', 'aria-label': say('the line of the finding')}, '✗'));
  }

  // scrollTo scrolls a line to two fifths of the height at most, with a whole line at the top.
  scrollTo(number) {
    const lines = this.body.querySelector('.lines').children;
    const line = lines[number - 1];
    if (!line || line.offsetHeight === 0) return;
    const {clientHeight} = this.body;
    const {offsetTop, offsetHeight} = lines[number] ?? line; // the next line is seen, too
    const from = Math.max(line.offsetTop - clientHeight * 0.4, offsetTop + offsetHeight - clientHeight);
    this.body.scrollTop = [...lines].find((other) => other.offsetTop >= Math.min(from, line.offsetTop)).offsetTop;
  }
}

// places returns the lines that a lane runs: "mutex.go:64 ~watchdog.go:84".
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
  return el('div', {class: 'diff'}, el('p', {class: 'lesson'}, say(diff.lesson)),
    el('pre', {}, ...diff.text.replace(/\n$/, '').split('\n').map((line) => el('span', {class: style(line)}, line + '\n'))));
}
