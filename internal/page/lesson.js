// The lesson: chapters that ask before they show. #learn asks what was missed on an earlier day, and goes on where the
// visitor was. #learn/3 opens chapter 3, #learn/3/2 its second question. A run is in the page only once its answer is
// chosen.

let lesson = null; // {again, chapter, part, tried, rest, …}: the question on the page

const progress = {
  read(name) { try { return JSON.parse(keep.get(name)) || []; } catch { return []; } },
  get done() { return this.read('lesson'); },
  add(chapter) { keep.set('lesson', JSON.stringify([...new Set([...this.done, chapter])])); },
  // missed has [chapter, part, day] of each question whose first answer was wrong.
  get missed() { return this.read('lesson-missed').filter(([n, p]) => data.lesson[n]?.parts[p]); },
  answered(n, p, right) { keep.set('lesson-missed', JSON.stringify([...this.missed.filter(([m, q]) => m !== n || q !== p), ...(right ? [] : [[n, p, today()]])])); },
  get again() { return this.missed.filter(([, , day]) => day < today()); },
  get next() { const at = data.lesson.findIndex((_, n) => !this.done.includes(n)); return at < 0 ? 0 : at; },
};

const today = () => new Date().toISOString().slice(0, 10);

const isLesson = (hash) => /^#learn(\/|$)/.test(hash) && Boolean(data.lesson);

function showLesson(hash) {
  const [, chapter, part] = hash.split('/').map(Number);
  const [again] = Number.isInteger(chapter) ? [] : progress.again;
  const n = again ? again[0] : Number.isInteger(chapter) ? chapter : progress.next;
  if (!data.lesson[n]) return stay(say('Page not found'), say('There is nothing at {hash}.', {hash: placeAsked()}));
  leave();
  const p = again ? again[1] : Math.min(Math.max(1, part || 1), data.lesson[n].parts.length) - 1;
  lesson = {again: Boolean(again), chapter: n, part: p, tried: new Set(), rest: []};
  drawQuestion();
}

function drawQuestion() {
  const chapter = data.lesson[lesson.chapter];
  const part = chapter.parts[lesson.part];
  document.title = `${lesson.chapter} · ${say(chapter.title)}`;
  const heading = el('h1', {tabindex: '-1'}, say(chapter.title));
  const press = (i) => choice(i + 1, say(part.answers[i].words), () => pick(i));
  const places = (part.code || []).map((line) => line.place - 1);
  const text = (line) => el('span', {class: 'learn-text'}, line.number ? el('span', {class: 'learn-line'}, String(line.number)) : null, codeLine(line.text));
  const code = part.code && el('ul', {class: 'learn-code'}, ...part.code.map((line) => (!line.place ? el('li', {}, text(line))
    : line.text ? choice(line.place, text(line), () => pick(line.place - 1)) : press(line.place - 1))));
  lesson.run = el('div', {class: 'learn-run'});
  lesson.says = el('p', {class: 'learn-says', role: 'status'});
  lesson.sum = el('p', {class: 'learn-sum'});
  lesson.more = el('div', {class: 'learn-more'});
  const others = el('ul', {class: 'learn-choices'}, ...(part.moves ? part.moves.map((move, i) => choice(i + 1, say(move), () => pressMove(i + 1)))
    : part.answers.flatMap((_, i) => (places.includes(i) ? [] : [press(i)]))), choice(0, say('I don’t know'), giveUp));
  lesson.choices = el('div', {class: 'learn-side'}, el('p', {class: 'learn-ask'}, ...named(part.ask)), part.path ? el('p', {class: 'learn-where'}, el('code', {}, part.path)) : null, code, others, lesson.sum);
  main.replaceChildren(el('div', {class: 'learn'},
    el('div', {class: 'learn-head'}, heading, el('div', {class: 'learn-where'}, say('Chapter {n} (0–{last})', {n: lesson.chapter, last: data.lesson.length - 1}),
      /^\d/.test(part.stage) ? ` · ${say('stage {id}', {id: part.stage})}` : '', chapters())), lesson.again ? el('p', {}, say('You missed this question the last time.')) : null,
    lesson.part === 0 || lesson.again ? prose(chapter.lead) : null, ...(part.facts || []).map(prose), el('div', {class: 'learn-sides'},
      lesson.choices, el('div', {class: 'learn-side'}, lesson.run, el('div', {class: 'learn-bar'}, lesson.says, lesson.more)))));
  drawRun(part.answers[0].run, part.known);
  countVotes();
  const hash = lesson.again ? '#learn' : `#learn/${lesson.chapter}` + (lesson.part > 0 ? `/${lesson.part + 1}` : '');
  if (location.hash !== hash) history.replaceState(null, '', hash);
  heading.focus({preventScroll: true});
  scrollTo(0, 0);
}

// names are those of Go and of Redis in the lesson's sentences.
const names = /\b(SET K NX|SET NX|SETNX|SET|GET|DEL|NX|PEXPIRE|SUBSCRIBE|WATCH|EXEC|WAIT|INSERT|UPDATE … WHERE stock > 0|MaxRetries: -1|TryLock|Unlock|Lock|m\.value|woken)\b/;

// named returns a text in the page's language in parts: its names are code.
const named = (text) => say(text).split(names).map((part, i) => (i % 2 === 0 ? part : el('code', {}, part)));
const prose = (text) => el('p', {}, ...named(text));

// choice is an answer. On a wall the teacher enters how many fingers voted for it.
const choice = (n, words, act) => el('li', {class: 'choice'}, el('button', {type: 'button', 'data-n': n, onclick: act}, el('kbd', {class: 'number'}, String(n)), ' ', words),
  el('input', {type: 'number', min: '0', class: 'learn-votes', 'data-n': n, value: keepInTab.get(votesFor(n)), 'aria-label': say('votes for {n}', {n}), oninput: countVotes}));

// votesFor names the votes for an answer of this question.
const votesFor = (n) => `votes ${lesson.chapter}/${lesson.part}/${n}`;

// countVotes keeps the votes, draws a bar for each answer, and says the sum.
function countVotes() {
  const boxes = [...lesson.choices.querySelectorAll('.learn-votes')];
  const all = boxes.map(({value}) => Math.max(0, value)), sum = all.reduce((one, more) => one + more);
  boxes.forEach((box, i) => box.parentElement.style.setProperty('--votes', all[i] / (sum || 1)));
  boxes.forEach(({dataset, value}) => keepInTab.set(votesFor(dataset.n), value));
  lesson.sum.textContent = sum > 0 ? say('Votes: {n}. A bar is an answer’s share of them.', {n: sum}) : say('Enter how many vote for each answer.');
}

// chapters links to all chapters, and marks those that are done.
const chapters = () => el('nav', {class: 'learn-chapters', 'aria-label': say('chapters')}, ...data.lesson.map(({title}, n) => el('a', {
  href: `#learn/${n}`, title: say(title), 'aria-current': n === lesson.chapter && 'page', class: progress.done.includes(n) ? 'done' : ''}, String(n))));

// drawRun shows the first steps of a run, and keeps the others.
function drawRun(run, known) {
  const player = new Player(run, {text: '', tone: 'g'}, null, say('timeline'));
  lesson.rows = player.steps;
  lesson.rest = [...player.steps.children];
  lesson.states = player.states;
  player.steps.replaceChildren(...lesson.rest.splice(0, known));
  lesson.run.replaceChildren(known > 0 || lesson.playing ? player.scroll : el('p', {class: 'learn-empty'}, say('The run of your answer is drawn here.')));
}

function pick(i) {
  const part = data.lesson[lesson.chapter].parts[lesson.part];
  const answer = part.answers[i];
  if (lesson.playing) return;
  lesson.playing = answer;
  lesson.queue = answer.play.map((n) => part.answers[n]);
  if (lesson.tried.size === 0) progress.answered(lesson.chapter, lesson.part, Boolean(answer.right));
  lesson.tried.add(i);
  lesson.choices.classList.add('answered'); // a phone hides the other answers
  lesson.choices.querySelectorAll('button').forEach((b) => { b.disabled = true; b.classList.toggle('chosen', !part.moves && Number(b.dataset.n) === i + 1); });
  playNext();
}

// playNext plays the next run of the answer.
function playNext() {
  const next = lesson.queue.shift();
  lesson.says.textContent = '';
  lesson.says.className = 'learn-says';
  const part = data.lesson[lesson.chapter].parts[lesson.part];
  drawRun(next.run, part.known);
  if (part.moves) lesson.run.prepend(el('p', {}, movesOf(next.order)));
  if (next !== lesson.playing) lesson.run.prepend(el('p', {}, say('{n} is played:', {n: part.answers.indexOf(next) + 1})));
  lesson.now = next;
  lesson.more.replaceChildren(el('button', {type: 'button', class: 'primary', onclick: beat}, say('Go on'), ' ', el('kbd', {}, say('space'))));
  lesson.more.firstChild.focus({preventScroll: true});
  beat();
}

// beat shows the next steps, up to where another client acts or a finding comes.
function beat() {
  do {
    lesson.rows.append(lesson.rest.shift());
  } while (lesson.rest.length > 0 && !endsBeat(lesson.states.length - lesson.rest.length));
  if (lesson.rest.length === 0) endRun();
  follow();
}

// follow scrolls to the end of the run, with what is below it.
function follow() {
  const box = lesson.rows.parentElement; // which scrolls on a wide screen
  box.scrollTop = box.scrollHeight;
  lesson.run.style.scrollMarginBottom = `${lesson.more.parentElement.offsetHeight + 8}px`;
  lesson.run.scrollIntoView({block: 'end'});
}

function endsBeat(i) {
  const [was, now] = [lesson.states[i - 1], lesson.states[i]];
  return was.found || now.lane !== was.lane && now.lane >= 0 || now.kind === 'thawed';
}

// endRun says what the run has shown, and lets the visitor go on or try another answer.
function endRun() {
  const chapter = data.lesson[lesson.chapter];
  const part = chapter.parts[lesson.part];
  if (lesson.queue.length > 0) {
    lesson.says.replaceChildren(...named(lesson.now.then));
    return goOn(say('Go on'), playNext);
  }
  const {then, right} = lesson.playing;
  lesson.says.replaceChildren(...(lesson.now === lesson.playing ? [] : [...named(lesson.now.then), el('br')]),
    el('strong', {}, right ? say('✓ right') : say('✗ not this one')), ' ', ...named(then));
  lesson.says.classList.add(right ? 'is-right' : 'is-wrong');
  if (right) lesson.choices.querySelector('.chosen')?.classList.add('is-right');
  lesson.playing = null;
  if (!right) return askAgain();
  if (lesson.again) return goOn(say('Go on'), () => showLesson('#learn'));
  if (lesson.part + 1 < chapter.parts.length) return goOn(say('Next question'), () => { lesson = {...lesson, part: lesson.part + 1, tried: new Set()}; drawQuestion(); });
  progress.add(lesson.chapter);
  const next = lesson.chapter + 1;
  goOn(data.lesson[next] ? say('Next chapter') : say('To the first screen'), () => { location.hash = data.lesson[next] ? `#learn/${next}` : ''; },
    el('p', {class: 'learn-remember'}, el('b', {}, say('Remember:')), ' ', ...named(chapter.remember)),
    chapter.entry ? el('details', {}, el('summary', {}, ...tell('Say it in an interview: {where}', {where: entryOf(chapter.entry)})), el('p', {}, say(chapter.spoken))) : null,
    data.lesson[next] ? null : el('p', {}, say('Questions that you missed are asked again on another day: {n}.', {n: progress.missed.length})),
    prose(chapter.next));
}

const entryOf = (id) => el('code', {}, `docs/${language === 'zh' ? 'zh-CN/' : ''}interview/must.md#${id}`);

function goOn(label, act, ...before) {
  lesson.more.replaceChildren(...before.filter(Boolean), el('button', {type: 'button', class: 'primary', onclick: act}, label, ' ', el('kbd', {}, say('space'))));
  lesson.more.lastChild.focus({preventScroll: true});
}

// askAgain lets the visitor choose another answer.
function askAgain() {
  const misses = [...lesson.tried].filter((n) => n >= 0).length; // -1 is "I don't know"
  lesson.more.replaceChildren(el('p', {}, say('Not yet. Choose another answer.')),
    ...(misses < 3 ? [] : [el('p', {}, say('Hint: {hint}', {hint: say(data.lesson[lesson.chapter].remember)}))]));
  lesson.moves = '';
  lesson.choices.classList.remove('answered');
  lesson.choices.querySelectorAll('button').forEach((b) => { b.disabled = lesson.tried.has(Number(b.dataset.n) - 1) && !data.lesson[lesson.chapter].parts[lesson.part].moves; });
  main.querySelector('h1').focus({preventScroll: true}); // space must not choose
}

function giveUp() {
  lesson.tried.add(-1); // so that the next answer is not the first one
  progress.answered(lesson.chapter, lesson.part, false);
  lesson.says.textContent = say('Then try each answer: its run takes ten seconds to read. The question comes again on another day.');
}

const movesOf = (order) => [...order].map((m) => say(data.lesson[lesson.chapter].parts[lesson.part].moves[m - 1])).join(' · ');

// pressMove adds a move to the order. Each server asks before it writes. With the last move the run is shown.
function pressMove(n) {
  const part = data.lesson[lesson.chapter].parts[lesson.part];
  const order = (lesson.moves || '') + n;
  const fits = part.answers.filter((answer) => answer.order.startsWith(order));
  if (fits.length === 0) return;
  lesson.moves = order;
  lesson.says.textContent = movesOf(order);
  lesson.choices.querySelectorAll('button').forEach((b) => { b.disabled = !part.answers.some((answer) => answer.order.startsWith(order + b.dataset.n)); });
  if (fits.length === 1 && fits[0].order === order) pick(part.answers.indexOf(fits[0]));
}

// keyOfLesson handles a key, and returns whether it did.
function keyOfLesson(event) {
  if (event.target.closest('input')) return false;
  const button = /^\d$/.test(event.key) && lesson.choices.querySelector(`button[data-n="${event.key}"]:enabled`);
  const on = event.key === ' ' && !event.target.closest('button, a, summary') && lesson.more.querySelector('button');
  if (button) button.click();
  else if (on) on.click();
  return Boolean(button || on);
}
