// The engine: the real locks as WebAssembly, in a worker of its own. It is loaded when it
// is first wanted, and by a click: opening a link runs nothing.

class Engine {
  // made is what the page has of it: {worker, url} or {worker, packed}; null for none.
  constructor(made) {
    this.made = made;
    this.wanted = false; // somebody clicked for it
    this.last = Promise.resolve();
  }

  get isThere() { return Boolean(this.made); }

  // ready is when it can be asked. tell is told what is done, and how much of it: 0 to 1.
  ready(tell) {
    this.tell = tell;
    this.loading ??= this.load().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  async load() {
    this.packed ??= this.made.url ? await this.download() : await this.unpack();
    this.say('starting', 1);
    const wasm = await unzipped(this.packed);
    await new Promise((done, fail) => {
      this.worker = new Worker(URL.createObjectURL(new Blob([this.made.worker], {type: 'text/javascript'})));
      this.fail = fail;
      this.worker.onmessage = ({data}) => (data.kind === 'ready' ? done() : this.hear(data));
      this.worker.onerror = (event) => this.end(event.message);
      this.worker.postMessage({wasm}, [wasm]);
    });
    this.isReady = true;
  }

  say(what, part) { if (this.tell) this.tell(what, part); }

  async download() {
    this.say('waiting for the server', 0);
    const response = await fetch(this.made.url);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const length = Number(response.headers.get('Content-Length'));
    const parts = [];
    let got = 0;
    for (const reader = response.body.getReader(); ;) {
      const {done, value} = await reader.read();
      if (done) return new Blob(parts);
      parts.push(value);
      got += value.length;
      this.say(`${megabytes(got)} loaded`, length ? Math.min(1, got / length) : 0);
    }
  }

  // unpack reads it out of this page.
  async unpack() {
    this.say('unpacking', 0);
    await new Promise((done) => setTimeout(done, 20)); // the browser draws that
    const text = atob(JSON.parse(document.getElementById(this.made.packed).textContent));
    return new Blob([Uint8Array.from(text, (c) => c.charCodeAt(0))]);
  }

  // ask asks, when everything asked before is answered. A request that can wait is ended.
  ask(request, {progress, canWait} = {}) {
    if (this.now?.canWait) this.stop();
    const turn = this.last.then(() => this.ready()).then(() => new Promise((done, fail) => {
      this.now = {done, progress, canWait};
      this.fail = fail;
      this.worker.postMessage({request: JSON.stringify(request)});
    }));
    this.last = turn.catch(() => {});
    return turn.then((answer) => {
      if (answer.error) throw Object.assign(new Error(answer.error), {problems: answer.problems});
      return answer;
    });
  }

  // stop ends what is under way: what is known by then is its answer.
  stop() { this.worker?.postMessage({stop: true}); }

  hear({kind, text}) {
    if (kind === 'ended') return this.end(text);
    if (kind === 'progress') return this.now.progress?.(JSON.parse(text));
    const {done} = this.now;
    this.now = null;
    return done(JSON.parse(text));
  }

  // end is after the worker has died: the next request starts another one.
  end(why) {
    this.worker.terminate();
    this.now = this.loading = null;
    this.isReady = false;
    this.fail(new Error(`The engine has ended. Load this page again to go on. ${why}`));
  }
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1) + ' MB';

// unzipped is what a blob holds. A server may have unzipped it already.
async function unzipped(blob) {
  const [first] = new Uint8Array(await blob.slice(0, 1).arrayBuffer());
  const stream = first === 0x1f ? blob.stream().pipeThrough(new DecompressionStream('gzip')) : blob.stream();
  return new Response(stream).arrayBuffer();
}

const engine = new Engine(JSON.parse(document.getElementById('engine').textContent));

// Pages of the playground want the engine, and a click on a link to one is a click for it.
const pages = {};
const isPage = (hash) => Object.hasOwn(pages, hash.slice(1).split('/')[0]);
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && isPage(link.getAttribute('href'))) engine.wanted = true;
}, true);

// loaded shows what is loaded until the engine is ready. It gives false where somebody has
// to click first.
async function loaded(what) {
  if (!engine.wanted) {
    const start = el('button', {type: 'button', class: 'start', onclick: () => { engine.wanted = true; route(); }}, 'Start');
    main.replaceChildren(el('div', {class: 'loading'}, el('h1', {tabindex: '-1'}, what),
      el('p', {}, 'The real locks run in this page, as WebAssembly of about 6 MB. Nothing runs before you click.'), start));
    start.focus();
    return false;
  }
  if (engine.loading) {
    await engine.loading.catch(() => {}); // told where it was begun
    if (engine.isReady) return true;
  }
  const bar = el('progress', {max: 1, value: 0, 'aria-label': 'loading'});
  const says = el('p', {role: 'status'});
  main.replaceChildren(el('div', {class: 'loading'}, el('h1', {tabindex: '-1'}, what), bar, says));
  const hash = location.hash;
  try {
    await engine.ready((text, part) => { says.textContent = text; bar.value = part; });
  } catch (error) {
    if (location.hash === hash) showMatrix();
    note.textContent = error.message;
    return false;
  }
  return location.hash === hash; // nobody has left meanwhile
}
