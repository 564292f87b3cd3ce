// The worker, which runs below Go's own runner: it starts the engine, hands it one request at a
// time, and posts the answers.

globalThis.post = (kind, text) => postMessage({kind, text});

async function run(wasm) {
  const go = new Go();
  const {instance} = await WebAssembly.instantiate(wasm, go.importObject);
  await go.run(instance);
  post('ended', '');
}

onmessage = ({data}) => {
  if (data.wasm) run(data.wasm).catch((error) => post('ended', String(error)));
  else if (data.stop) globalThis.stop();
  else globalThis.ask(data.request);
};
