// The engine: the real locks as WebAssembly in a worker. A click loads it when it is first needed;
// opening a link runs nothing.

class Engine {
  // made is {worker, url, size} or {worker, packed}; null for none. The size is 0 while "go run . serve" builds the engine.
  constructor(made) {
    this.made = made;
    this.wanted = false; // the visitor has clicked for it
    this.last = Promise.resolve();
    this.lives = 1; // workers so far: a new one does not know the games of the one before
  }

  get isThere() { return Boolean(this.made); }

  // ready resolves when the engine can be asked. tell gets the progress in words and from 0 to 1; null means unknown.
  ready(tell) {
    this.tell = tell;
    this.loading ??= this.load().catch((error) => {
      this.loading = this.packed = null;
      throw error;
    });
    return this.loading;
  }

  async load() {
    this.packed ??= this.made.url ? await this.download() : await this.unpack();
    this.report(say('starting'), null);
    const wasm = await unzipped(this.packed);
    await new Promise((done, fail) => {
      const worker = new Worker(URL.createObjectURL(new Blob([this.made.worker], {type: 'text/javascript'})));
      this.worker = worker;
      this.fail = fail;
      worker.onmessage = ({data}) => {
        if (worker === this.worker) data.kind === 'ready' ? done() : this.hear(data);
      };
      worker.onerror = ({message}) => worker.onmessage({data: {kind: 'ended', text: message}});
      worker.postMessage({wasm}, [wasm]);
    });
    this.isReady = true;
  }

  report(what, part) { if (this.tell) this.tell(what, part); }

  async download() {
    const {url, size} = this.made;
    if (!size) this.report(say('The engine is being built on your machine. The first time this takes a minute or two, more on a busy machine.'), null);
    const failed = (text) => { throw new Error(text); };
    const lost = ({message: error}) => failed(size ? say('The engine did not arrive: {error}. It is the file engine.wasm.gz next to this page, on a web server.', {error})
      : say('The engine did not arrive: {error}. Is “go run . serve” still running?', {error}));
    const response = await fetch(url).catch(lost);
    if (!response.ok && size) lost({message: `${response.status} ${response.statusText}`});
    if (!response.ok) failed(say('The engine could not be built: {error}', {error: await response.text()}));
    return this.receive(response).catch(lost);
  }

  // receive reads the engine and reports the progress. A server that sends it unzipped sends more than the file's size.
  async receive({headers, body}) {
    const all = headers.get('Content-Encoding') ? 0 : this.made.size || Number(headers.get('Content-Length'));
    for (let got = 0, parts = [], reader = body.getReader(); ;) {
      const sizes = {size: megabytes(got), all: megabytes(all)};
      if (0 < all && got <= all) this.report(say('{size} of {all} loaded', sizes), got / all);
      else this.report(say('{size} loaded', sizes), null);
      const {done, value} = await reader.read();
      if (done) return new Blob(parts);
      parts.push(value);
      got += value.length;
    }
  }

  // unpack reads the engine out of this page.
  async unpack() {
    this.report(say('unpacking'), null);
    await new Promise((done) => setTimeout(done, 20)); // time for the browser to draw
    const text = atob(JSON.parse(document.getElementById(this.made.packed).textContent));
    return new Blob([Uint8Array.from(text, (c) => c.charCodeAt(0))]);
  }

  // ask sends a request once all earlier ones are answered. It ends a request in progress that may be interrupted.
  ask(request, {progress, canWait} = {}) {
    if (this.now?.canWait) this.stop();
    const turn = this.last.then(() => this.ready()).then(() => new Promise((done, fail) => {
      this.now = {done, progress, canWait};
      this.fail = fail;
      this.worker.postMessage({request: JSON.stringify({lang: language, ...request})});
    }));
    this.last = turn.catch(() => {});
    return turn.then((answer) => {
      if (answer.error) throw Object.assign(new Error(answer.error), {isRefusal: true});
      return answer;
    });
  }

  // stop ends the request in progress, whose answer is then what is known so far.
  stop() { this.worker?.postMessage({stop: true}); }

  hear({kind, text}) {
    if (kind === 'ended') return this.end(text || say('it has stopped'));
    if (!this.now) return;
    if (kind === 'progress') return this.now.progress?.(JSON.parse(text));
    const {done} = this.now;
    this.now = null;
    done(JSON.parse(text));
  }

  // end handles a dead worker: it fails the open requests and starts another worker for later ones.
  end(error) {
    const {worker, fail, isReady} = this;
    worker.terminate();
    this.worker = this.now = this.loading = null;
    this.isReady = false;
    this.lives++;
    fail(new Error(isReady ? say('The engine was started again: {error}.', {error}) : say('The engine could not be started: {error}.', {error})));
    if (isReady) this.ready().catch(() => {}); // the next request reports the error
  }
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1) + ' MB';

// unzipped returns the contents of a blob. A server may have unzipped it already.
async function unzipped(blob) {
  const [first] = new Uint8Array(await blob.slice(0, 1).arrayBuffer());
  const stream = first === 0x1f ? blob.stream().pipeThrough(new DecompressionStream('gzip')) : blob.stream();
  return new Response(stream).arrayBuffer();
}

const engine = new Engine(JSON.parse(document.getElementById('engine').textContent));

// Some pages need the engine, and a click on a link to one counts as a click for it.
const pages = {};
const isPage = (hash) => Object.hasOwn(pages, hash.slice(1).split('/')[0]);
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && isPage(link.getAttribute('href'))) engine.wanted = true;
}, true);

// loaded shows the progress until the engine is ready. It returns false if the visitor must click
// first.
async function loaded(what) {
  if (!engine.wanted) {
    const start = el('button', {type: 'button', class: 'start', onclick: () => { engine.wanted = true; route(); }}, say('Start'));
    main.replaceChildren(el('div', {class: 'loading'}, el('h1', {tabindex: '-1'}, what),
      el('p', {}, say('The real locks run in this page, as WebAssembly of about 6 MB. Nothing runs before you click.')), start));
    start.focus();
    return false;
  }
  if (engine.loading) {
    await engine.loading.catch(() => {}); // reported where loading began
    if (engine.isReady) return true;
  }
  const bar = el('progress', {max: 1, 'aria-label': say('loading')});
  const says = el('p', {role: 'status'});
  main.replaceChildren(el('div', {class: 'loading'}, el('h1', {tabindex: '-1'}, what), bar, says,
    el('p', {class: 'meanwhile'}, say('Meanwhile:'), ' ', watchFirst())));
  const hash = location.hash;
  try {
    await engine.ready((text, part) => {
      says.textContent = text;
      if (part === null) bar.removeAttribute('value');
      else bar.value = part;
    });
  } catch (error) {
    if (location.hash === hash) stay(what, error.message, again());
    else report(error.message);
    return false;
  }
  return location.hash === hash; // false if the visitor has left meanwhile
}
