// The picture over a timeline's rows, up to the current step: a line for each command from its client's lane to Redis,
// open while it is under way, a wave where time passes, and a mark on a key that is deleted wrongly and on a server that dies.

const ends = {right: 'm-5 -3.5l5 3.5l-5 3.5', left: 'm5 -3.5l-5 3.5l5 3.5', lost: 'm-4 -4l8 8m0 -8l-8 8', open: ''};

Player.prototype.draw = function () {
  const rows = [...this.steps.children];
  const now = this.at < 0 ? rows.length - 1 : this.at; // the lesson adds row by row
  if (now < 0 || !rows[now].offsetParent) return;
  const lanes = [...rows[now].querySelectorAll('.lane')].map((cell) => cell.offsetLeft + 3);
  const bars = [...rows[now].querySelectorAll('.bar')].map((bar) => bar.offsetLeft);
  const ledger = rows[now].querySelector('.orders')?.offsetLeft || bars.at(-1) + 4;
  const top = (i) => rows[i].offsetTop;
  const bottom = (i) => top(i) + rows[i].offsetHeight;
  const under = (i) => { // its text
    const said = rows[i].querySelector('.said');
    return top(i) + said.offsetTop + said.offsetHeight - 5;
  };
  const drawn = [];
  const thick = 2 * rows[now].querySelector('.bar').offsetWidth;
  // A row's keys are drawn from its line on, to the next row's.
  const begins = rows.map((row, i) => (i <= now && row.matches('.executes') ? under(i) : row.offsetTop));
  rows.slice(0, now + 1).forEach((row, i) => row.querySelectorAll('.bar').forEach((bar, n) => {
    const y = begins[i], end = i === now ? bottom(i) : begins[i + 1];
    if (!bar.matches('.none')) drawn.push(`<rect class="held-by ${bar.classList[1]}" x="${bars[n] - thick / 2}" y="${y}" width="${thick}" height="${end - y}" opacity="${bar.style.getPropertyValue('--left')}"/>`);
  }));
  const line = (kind, lane, d) => drawn.push(`<path class="line ${kind} own-${Math.max(0, lane) % 4}" d="${d}"/>`);
  const before = bars[0] - 15; // Redis
  (this.run.moves || []).forEach((move, n) => {
    const [sent, done, read, lost, over] = ['sent', 'done', 'read', 'lost', 'over'].map((end) => (move[end] <= now + 1 ? move[end] - 1 : -1));
    const x = lanes[move.lane] ?? before;
    const track = before - 5 * (n % 2);
    const goals = move.ledger ? [ledger] : (move.on || [0]).map((server) => bars[server]);
    // along returns a line from a row to another one; a line that is open ends at the current row.
    const along = (from, row, to, end, head) => {
      const [y1, y2] = [under(row), to === row ? under(row) : head === 'open' ? bottom(to) - 2 : under(to)];
      const inBetween = to === row && head === 'lost' ? (from + end) / 2 : end;
      return `M${from} ${y1}` + (to === row ? `H${inBetween}` : `H${track}V${y2}` + (head === 'open' ? '' : `H${end}`)) + ends[head];
    };
    if (sent >= 0 && done >= 0) goals.forEach((goal) => line(done > sent ? 'late' : 'short', move.lane, along(x, sent, done, goal - (move.ledger ? 0 : 7), 'right')));
    else if (sent >= 0 && lost >= 0) line('lost', move.lane, along(x, sent, lost, track, 'lost'));
    else if (sent >= 0) line('open', move.lane, along(x, sent, now, track, 'open'));
    if (done < 0 || read === done && sent >= 0 || over >= 0 && over < done) return; // a short line is for the reply, too
    const stop = lost >= 0 ? lost : over;
    goals.forEach((goal) => {
      if (read >= 0) line('reply', move.lane, along(goal - 6, done, read, x + 4, 'left'));
      else if (stop >= 0) line('lost', move.lane, along(goal - 6, done, stop, stop > done ? track : track - 60, 'lost'));
      else line('open', move.lane, along(goal - 6, done, now, track - 14, 'open'));
    });
  });
  const width = rows[now].offsetWidth;
  const wave = (y) => {
    const across = 'q7 -6 14 0t14 0'.repeat(Math.ceil(width / 28));
    drawn.push(`<g class="wave"><path d="M0 ${y - 2}${across}v5H0z"/><path d="M0 ${y - 2}${across}M0 ${y + 3}${across}"/></g>`);
  };
  for (let i = 0; i <= now; i++) {
    const {kind, ms, at, wrong, down} = this.states[i];
    if (kind === 'slept') wave(bottom(i) - 4);
    else if (i > 0 && ms - this.states[i - 1].ms >= 1000 && this.states[i - 1].kind !== 'slept' && !at.includes('…')) wave(top(i));
    (wrong || []).forEach((server) => line('wrong', 0, `M${bars[server] - 9} ${under(i)}a9 9 0 0 0 18 0a9 9 0 0 0-18 0m9 0${ends.lost}`));
    (down || []).forEach((server) => line('down', 0, `M${bars[server]} ${top(i) + 12}${ends.lost}`));
  }
  this.picture.innerHTML = drawn.join('');
  this.picture.style.height = `${bottom(now) + 2}px`;
};
