// Stepping: one run or two together, and the page's theme and size.

const hasRoom = matchMedia('(min-height: 50rem), (max-width: 59.99rem)');

// Stepper steps one or more players together. together lists the steps of each
// player at every position.
class Stepper {
  constructor(players, together) {
    this.players = players;
    this.together = together;
    this.position = -1;
    this.story = null; // a details element, which is open at the last step where there is room
    this.playing = null;
    players.forEach((player, n) => {
      player.chosen = (i) => this.go(this.together.findIndex((steps) => steps[n] === i));
    });
    this.build();
  }

  build() {
    const button = (text, label, key, act) => el('button', {type: 'button', title: `${label} (${key})`, 'aria-label': label, onclick: act}, ...[text].flat());
    this.playButton = button(say('▶ Auto'), say('auto: go on by itself, or pause'), say('space'), () => this.play());
    this.slider = el('input', {type: 'range', min: '1', max: String(this.together.length), value: '1', 'aria-label': say('step'),
      oninput: () => this.go(Number(this.slider.value) - 1)});
    this.count = el('span', {class: 'count'});
    this.nextButton = button(say('Next ▶'), say('next step'), '→', () => this.go(this.position + 1));
    this.element = el('div', {class: 'controls', role: 'group', 'aria-label': say('steps')},
      button('|◀', say('first step'), 'Home', () => this.go(0)),
        button(['◀', el('span', {class: 'word'}, ' ', say('Back'))], say('one step back'), '←', () => this.go(this.position - 1)),
      this.nextButton,
        button('▶|', say('last step'), 'End', () => this.go(this.together.length - 1)),
      this.playButton, this.slider, this.count);
  }

  get isAtEnd() { return this.position === this.together.length - 1; }

  // go shows a position, or the nearest valid one.
  go(position) {
    const wasAtEnd = this.isAtEnd;
    this.position = Math.max(0, Math.min(this.together.length - 1, position));
    if (this.story && this.isAtEnd !== wasAtEnd) this.story.open = this.isAtEnd && hasRoom.matches;
    this.together[this.position].forEach((step, n) => this.players[n].show(step, this.isAtEnd));
    this.slider.value = String(this.position + 1);
    this.count.textContent = say('step {n} of {all}', {n: this.position + 1, all: this.together.length});
    this.nextButton.classList.toggle('primary', !this.isAtEnd);
    this.nextButton.setAttribute('aria-disabled', String(this.isAtEnd));
    if (this.isAtEnd) this.pause();
    this.players[0].element.closest('.players')?.scrollIntoView(); // where the page scrolls
    if (this.moved) this.moved(this.position);
  }

  play() {
    if (this.playing) return this.pause();
    if (this.isAtEnd) this.go(0);
    this.playButton.textContent = say('⏸ Pause');
    this.wait();
  }

  // wait goes on by itself: to the next step once there was time to read this one, and no further than a finding.
  wait() {
    const said = this.players.map((player) => player.says.textContent).join('');
    this.playing = setTimeout(() => {
      const before = this.together[this.position];
      this.go(this.position + 1);
      if (!this.playing) return;
      const isFound = this.together[this.position].some((step, n) => step !== before[n] && this.players[n].states[step].found);
      if (isFound) this.pause();
      else this.wait();
    }, 800 + 35 * new TextEncoder().encode(said).length); // a Chinese character is three bytes, and is read more slowly
  }

  pause() {
    clearTimeout(this.playing);
    this.playing = null;
    this.playButton.textContent = say('▶ Auto');
  }

  // key handles a key, and returns whether it did.
  key(event) {
    const onControl = event.target.closest('button, a, input, select, summary');
    const goals = {ArrowRight: this.position + 1, ArrowLeft: this.position - 1, Home: 0, End: this.together.length - 1};
    if (event.key in goals && !event.target.closest('input, select')) {
      this.pause();
      this.go(goals[event.key]);
      return true;
    }
    if (event.key === ' ' && !(onControl && onControl !== this.slider)) {
      this.play();
      return true;
    }
    return false;
  }
}

// alone returns the positions of one player.
const alone = (player) => player.states.map((_, i) => [i]);

// Side by side: events that are alike in both runs share a position. Between two such events both
// runs advance together, and the shorter one waits.
function sideBySide(before, after) {
  const told = ['called', 'slept', 'stored', 'server', 'delayed']; // whose texts must be alike, too
  const alike = (a, b) => a.lane === b.lane && a.kind === b.kind && (!told.includes(a.kind) || a.text === b.text);
  const [m, n] = [before.length, after.length];
  const best = Array.from({length: m + 1}, () => new Uint16Array(n + 1));
  for (let i = m - 1; i >= 0; i--) {
    for (let j = n - 1; j >= 0; j--) {
      best[i][j] = alike(before.states[i], after.states[j]) ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const positions = [];
  let [i, j] = [0, 0];
  const meet = (nextI, nextJ) => {
    for (; i < nextI || j < nextJ;) {
      if (i < nextI) i++;
      if (j < nextJ) j++;
      positions.push([Math.max(0, i - 1), Math.max(0, j - 1)]);
    }
  };
  for (let [x, y] = [0, 0]; x < m && y < n;) {
    if (alike(before.states[x], after.states[y])) {
      meet(x, y);
      i = ++x;
      j = ++y;
      positions.push([i - 1, j - 1]);
    } else if (best[x + 1][y] >= best[x][y + 1]) x++;
    else y++;
  }
  meet(m, n);
  return positions;
}

// keep stores a choice, and keepInTab one as long as the tab is open, if the browser allows it.
const storage = (area) => ({
  get(name) { try { return area().getItem(name); } catch { return null; } },
  set(name, value) { try { area().setItem(name, value); } catch { /* a page from disk may have no storage */ } },
});
const [keep, keepInTab] = [storage(() => localStorage), storage(() => sessionStorage)];

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  keep.set('theme', root.dataset.theme);
}

function startTheme() {
  const kept = keep.get('theme');
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
}
