// Play: the visitor schedules the clients. #play/3 is the challenge of stage 3, #play/v1/stage3/…
// is a schedule, and #take/check-then-delete/3/step-7 takes a run over. After the stage or the
// schedule the name of an edit may follow.

const optionKeys = '123456789abcdefgijklmnosvwxyz'; // u, r, h, p and t have other meanings
let game = null; // {position, edit, player, hint}

const lockOf = (id) => data.locks.find((lock) => lock.id === id);

// requestOf parses a hash. It returns null if there is no such game.
function requestOf([kind, ...words]) {
  if (kind === 'take') {
    const [failure, stage, step, edit] = words;
    const number = /^step-(\d+)$/.exec(step);
    return lockOf(stage) && number ? {op: 'take', failure, stage, step: Number(number[1]), edit} : null;
  }
  if (words[0] === 'v1' && words.length >= 7) {
    const stage = words[1].split('~')[0].replace(/^stage/, '');
    return lockOf(stage) ? {op: 'replay', stage, schedule: words.slice(0, 7).join('/'), edit: words[7]} : null;
  }
  const [stage, edit] = words;
  return lockOf(stage) ? {op: 'game', stage, edit} : null;
}

pages.play = pages.take = async (words) => {
  const request = requestOf(words);
  if (!request) {
    return stay(say('Page not found'), say('There is no game at {hash}.', {hash: placeAsked()}));
  }
  if (game && game.hash === location.hash) return;
  leave();
  if (await loaded(say('Play {lock}', {lock: say(lockOf(request.stage).name)}))) await begin(request);
};

// begin begins a game.
async function begin(request) {
  const hash = location.hash;
  const position = await asked(request);
  const lock = lockOf(request.stage);
  if (!position && !game && location.hash === hash) stay(say('Play {lock}', {lock: say(lock.name)}));
  if (!position || location.hash !== hash) return;
  leave();
  game = {life: engine.lives, edit: request.edit, files: position.files, stage: request.stage, taken: position.taken};
  game.isRescue = Boolean(position.taken) && !request.goal; // the goal is that no rule breaks
  const goal = game.isRescue ? say('bring it home: end the run with no rule broken') : position.view.goal.words;
  document.title = say('play {lock}: {goal}', {lock: say(lock.name), goal});
  game.heading = el('h1', {tabindex: '-1'}, goal);
  game.place = el('div', {class: 'players one'});
  game.table = el('div', {class: 'table'});
  main.replaceChildren(el('div', {class: 'failure-view play-view'},
    el('div', {class: 'title'}, game.heading, game.isRescue ? null : el('code', {}, position.view.goal.name),
      request.edit ? el('span', {class: 'stage-title'}, say('{lock}, edited: {edit}', {lock: titled(lock), edit: request.edit})) : null),
    folded(titled(lock), settings(request, position)), explanation(position), game.table, game.place));
  showPosition(position);
  game.heading.focus({preventScroll: true});
  scrollTo(0, 0);
}

// explanation says in words what can happen, what a fault is, and what was taken over.
function explanation({taken, view, run}) {
  const isLate = taken && game.isRescue && run.steps.some((step) => step.found?.length > 0);
  return el('p', {class: 'story secondary'},
    taken ? say('You have taken over {failure}.', {failure: taken}) + gap() : null,
    isLate ? el('strong', {}, say('A rule was broken before you took over. Take over at an earlier step to save this run.'), gap()) : null,
    say('You decide what happens next, and time waits for you.'), gap(), worldOf(view.env.name).says, gap(), aboutFaults());
}

// worldOf returns an environment's label and explanation.
const worldOf = (name) => ({
  async: {label: say('anything may be late'), says: say('Commands, replies and writes may arrive as late as you like.')},
  'short-pauses': {label: say('only short delays'), says: say('Every delay is short: at most a sixtieth of a lease.')},
  crash: {label: say('a process may crash'), says: say('Delays are short, and one process may crash.')},
  pause: {label: say('a process may freeze'), says: say('Messages may arrive late, and one process may freeze.')},
  'reply-loss': {label: say('a reply may get lost'), says: say('Delays are short, and one reply may get lost. go-redis then sends the command again.')},
  refusal: {label: say('Redis may refuse a command'), says: say('Delays are short, and Redis may refuse one command, as when its memory is full.')},
  leave: {label: say('a caller may give up'), says: say('Delays are short, and one caller may give up.')},
})[name];

const aboutFaults = () => say('A fault is a delay, a pause, a crash or a loss.');

// menuOf returns a labelled select of [id, text]. The id is the title.
const menuOf = (label, all, value, chosen) => el('label', {}, label, ' ', el('select', {onchange: (event) => chosen(event.target.value)},
  ...all.map(([id, text]) => el('option', {value: id, title: id, selected: id === value}, text))));
const goalMenu = (lock) => lock.goals.map((name) => [name, say(data.goals[name])]);
const worldMenu = () => data.envs.map((name) => [name, worldOf(name).label]);
const lockMenu = (kind, value) => menuOf(say('lock'), data.locks.map((lock) => [lock.id, titled(lock)]), value, (id) => { location.hash = `#${kind}/${id}`; });

// asked sends a request, and shows its error in the bar.
async function asked(request, options) {
  report();
  try {
    return await engine.ask(request, options);
  } catch (error) {
    report(error.message, ...(error.isRefusal || game ? [] : [again()]));
    return null;
  }
}

// askedInGame sends a request about the game. It first sends the game to a new engine.
async function askedInGame(request, options) {
  const {stage, edit, position} = game;
  if (game.life !== engine.lives) {
    const here = game, life = engine.lives;
    if (!await asked({op: 'replay', stage, edit, schedule: position.view.schedule})) return null;
    here.life = life;
  }
  return asked(request, options);
}

// settings returns links to other games of the lock and to other locks.
function settings(request, {view, taken}) {
  const goal = game.isRescue ? '' : view.goal.name;
  const choose = (label, value, all, field) => menuOf(label, all, value, (chosen) => {
    begin({...request, op: taken ? 'take' : 'game', goal, env: view.env.name, [field]: chosen});
  });
  const rescue = taken ? [['', say('bring it home safely')]] : [];
  const isFixed = taken && request.op === 'replay'; // the address does not say at which step it was taken over
  return el('nav', {class: 'choose secondary', 'aria-label': say('games')}, lockMenu('play', request.stage),
    isFixed ? null : choose(say('goal'), goal, [...rescue, ...goalMenu(lockOf(request.stage))], 'goal'),
    isFixed ? null : choose(say('what may go wrong'), view.env.name, worldMenu(), 'env'),
    el('a', {href: `#break/${request.stage}` + (request.edit ? '/' + request.edit : '')}, say('put a mistake into it')));
}

const hashOfGame = ({view}, edit) => '#play/' + view.schedule + (edit ? '/' + edit : '');

// showPosition shows the position of the game.
function showPosition(position) {
  const chosen = game.player?.code?.chosen;
  game.position = position;
  game.hash = hashOfGame(position, game.edit);
  history.replaceState(null, '', game.hash);
  game.player = new Player(position.run, {text: '', line: position.line}, {files: game.files}, say('the game'));
  game.place.replaceChildren(el('div', {class: 'half'}, game.player.element));
  if (game.player.length > 0) game.player.show(game.player.length - 1, true);
  if (chosen) game.player.code?.choose(chosen);
  showTable(position);
  game.table.scrollIntoView();
}

// showTable shows the options, or how the game ended.
function showTable(position, says) {
  const {view} = position;
  const isOver = view.options.length === 0;
  game.says = el('p', {class: 'just-now', role: 'status'}, says || view.happened.join(gap()));
  const tool = (text, key, act) => el('button', {type: 'button', onclick: act, title: `${text} (${key})`}, text, ' ', el('kbd', {}, key));
  game.table.replaceChildren(...[game.says,
    isOver ? ending(position) : el('ol', {class: 'options', 'aria-label': say('what can happen next')}, ...view.options.map(optionOf)),
    el('div', {class: 'turns', role: 'group', 'aria-label': say('the game')}, tool(say('Undo'), 'u', undo),
      tool(say('Restart'), 'r', restart),
      isOver || game.isRescue ? null : tool(say('Hint'), 'h', hint),
      el('span', {class: 'count'}, view.length), isOver ? null : el('span', {class: 'count'}, view.par),
      game.isRescue || view.par || isOver && view.findings.length === 0 ? null
        : el('button', {type: 'button', onclick: par}, say('Show the best possible')))].filter(Boolean));
}

const stepsOf = (n) => (n === 1 ? say('{n} step', {n}) : say('{n} steps', {n}));

function optionOf(option, i) {
  return el('li', {}, el('button', {type: 'button', class: 'option' + (game.hint === i ? ' hinted' : ''), onclick: () => choose(i)},
    el('kbd', {}, optionKeys[i] || ''), el('span', {}, option.text),
      option.fault ? el('small', {}, say('a fault')) : null));
}

const copyButton = (text) => el('button', {type: 'button', 'aria-label': say('copy {what}', {what: text}),
  onclick: (event) => navigator.clipboard?.writeText(text)
  .then(() => { event.target.textContent = say('copied'); }, () => {})}, say('copy'));

// ending returns the result, and how to share it.
function ending({view, verdict, line, tone, taken}) {
  const command = `go run . replay '${view.schedule}'`;
  const friend = el('span', {}, ...tell('For a friend: {game}. It goes to the end of the address of any page that “go run . serve” opens or writes.',
    {game: el('span', {}, el('a', {href: game.hash, class: 'share'}, say('this game')), ' ', copyButton(game.hash))}));
  return el('div', {class: 'ending'},
    el('div', {class: 'result'}, result(view, tone), next(taken)),
    game.isRescue && tone === 'g' ? null : el('p', {class: 'verdict ' + toneClass(tone)}, ...game.player.linked(verdict, line)),
    el('p', {class: 'commands'}, friend,
      game.edit ? el('span', {}, say('This lock is edited: its schedule replays in a page only.'))
        : el('span', {}, el('code', {class: 'replay'}, command), ' ', copyButton(command))));
}

// result returns whether the goal is reached: praise, or what to do. A perfect way is as short as possible, without hints.
function result({findings, score, length}, tone) {
  const isWon = game.isRescue ? tone === 'g' : findings.length > 0;
  if (!isWon) return el('p', {}, say('The run has ended, and the goal is not reached. Undo steps, or restart.'));
  const isPerfect = score === say('You did it in {length}.', {length}) + gap() + say('The best way takes {length}.', {length});
  return el('p', {class: 'won'}, el('strong', {}, isPerfect ? say('Perfect!') : say('Well done!')), gap(),
    game.isRescue ? say('You brought it home: no rule is broken.') : score);
}

// next returns links to what comes after a game: the next lock's challenge, another mistake, or the run that was taken over.
function next(taken) {
  const lock = data.locks[data.locks.findIndex(({id}) => id === game.stage) + 1];
  const link = (href, ...text) => el('a', {class: 'primary', href}, ...text);
  if (game.edit) return link(`#break/${game.stage}`, say('Try another mistake'));
  if (taken) return link(`#${taken}/${game.stage}`, say('Back to {failure}', {failure: taken}));
  return lock ? link(`#play/${lock.id}`, say('Next challenge: {lock}', {lock: titled(lock)})) : link('#', say('That was the last lock. To the first screen'));
}

// turn makes a move, one at a time.
async function turn(request) {
  if (!game || game.busy) return;
  const here = game;
  here.busy = askedInGame(request);
  const position = await here.busy;
  here.busy = null;
  if (!position || game !== here) return;
  game.hint = position.hint?.option;
  showPosition(position);
  return position;
}

async function choose(option) {
  if (option < 0 || option >= game.position.view.options.length) return;
  const had = game.table.contains(document.activeElement);
  await turn({op: 'choose', option});
  if (had) (game.table.querySelector('.option') || game.table.querySelector('button')).focus(); // keep the focus for keyboard users
}

const undo = () => turn({op: 'undo'});
const restart = () => turn({op: 'restart'});

// looking shows the progress of a search, with a button to stop it.
function looking(text) {
  const count = el('span', {}, '');
  game.says.replaceChildren(text + ' ', count, ' ', el('button', {type: 'button', onclick: () => engine.stop()}, say('Stop')));
  return {progress: ({done}) => { count.textContent = say('{n} schedules so far', {n: done}); }};
}

async function hint() {
  if (!game || game.busy || game.isRescue || game.position.view.options.length === 0) return;
  const here = game;
  here.busy = askedInGame({op: 'hint'}, looking(say('Looking for a way …')));
  const position = await here.busy;
  here.busy = null;
  if (!position || game !== here) return;
  const {option, away, why} = position.hint;
  game.hint = option;
  showTable(position, option < 0 ? say('Hint: undo, or restart. {why}', {why})
    : say('Hint: {key}. The goal is {steps} away. {why}', {key: optionKeys[option], steps: stepsOf(away), why}));
}

async function par() {
  const here = game;
  const position = await askedInGame({op: 'par'}, {...looking(say('Looking for the shortest way …')), canWait: true});
  if (position && game === here && position.view.schedule === game.position.view.schedule) {
    game.position = position;
    showTable(position, position.view.par);
  }
}

// keyOfGame handles a key, and returns whether it did. A key that comes during a turn waits for its end.
function keyOfGame({key, target}) {
  if (target.closest('input, select') || key.length > 1 || !('urh' + optionKeys).includes(key)) return false;
  const here = game;
  here.typed = Promise.resolve(here.typed).then(async () => {
    await here.busy;
    if (game === here) await ({u: undo, r: restart, h: hint}[key] || (() => choose(optionKeys.indexOf(key))))();
  });
  return true;
}
