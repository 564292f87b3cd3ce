// Share it: a lock that somebody wrote, in a link: #write/3/v1.LOCK, and behind that what
// there is of it to be seen. LOCK is its files as JSON, compressed by gzip, whose checksum
// tells a damaged link, in base64url.

const longestLink = 8000; // behind the #: chats and mails shorten longer ones

// linkOf is the part of a link that has the files in it; null where it is too long.
async function linkOf(files) {
  const stream = new Blob([JSON.stringify(files)]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (bytes.length > longestLink) return null;
  return 'v1.' + btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

// filesIn are the files in that part of a link; null where it is damaged.
async function filesIn(link) {
  if (link.length > longestLink) return null;
  try {
    const bytes = atob(link.slice(3).replaceAll('-', '+').replaceAll('_', '/'));
    const stream = new Blob([Uint8Array.from(bytes, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'));
    const files = JSON.parse(await new Response(stream).text());
    const all = Object.entries(files);
    return all.length > 0 && all.every(([name, text]) => /^\w[\w.-]*\.(go|lua)$/.test(name) && typeof text === 'string') ? files : null;
  } catch {
    return null;
  }
}

// share puts a link to the lock as it is now there. words are what is to be seen of it.
async function share(where, ...words) {
  const {root, files} = broken;
  const link = await linkOf(files);
  const hash = ['#' + root, link, ...words].join('/');
  where.replaceChildren(...!link || hash.length > longestLink
    ? tell('It is too long for a link, which has {n} characters at the most: save {files} and send that.',
      {n: longestLink, files: saved(files)})
    : [say('For a friend:'), ' ', el('a', {href: hash, class: 'share'}, words.length > 0 ? say('this game') : say('this lock')), ' ',
      copyButton(location.href.split('#')[0] + hash)]);
}

// showShared says what a link brings. Nothing of it runs before a click, also where the
// engine is there.
async function showShared(link, what, open) {
  const hash = location.hash;
  const files = await filesIn(link);
  if (location.hash !== hash) return;
  if (!files) {
    note.textContent = say('This link to a lock is damaged: ask for it again.');
    return showMatrix();
  }
  const start = el('button', {type: 'button', class: 'start', onclick: () => {
    engine.wanted = true;
    open(files);
  }}, say('Start'));
  main.replaceChildren(el('div', {class: 'loading'}, el('h1', {tabindex: '-1'}, what),
    el('p', {}, say('Somebody has written a lock and shares it: {files}. Nothing of it runs before you click.',
      {files: listed(Object.keys(files))})), start));
  start.focus();
}
