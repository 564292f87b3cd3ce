// The page in two languages. The language comes from the link (?lang=zh), else from the last choice,
// else from the browser. A new choice draws everything again.

const languages = {en: {tag: 'en', name: 'English'}, zh: {tag: 'zh-CN', name: '中文 (zh)'}};
const dictionaries = JSON.parse(document.getElementById('dictionaries').textContent);
const help = document.getElementById('help');
let language;

function languageAsked() {
  const asked = [new URLSearchParams(location.search).get('lang'), keep.get('language'), ...navigator.languages];
  return asked.map((name) => (name || '').slice(0, 2).toLowerCase()).find((name) => Object.hasOwn(languages, name)) || 'en';
}

// speak sets the language, before anything is drawn.
function speak(name) {
  language = name;
  dictionary = new Map(Object.entries(dictionaries[name] || {}));
  document.documentElement.lang = languages[name].tag;
  const other = otherLanguage();
  const tool = (id, title, act, ...label) => el('button', {type: 'button', id: 'tool-' + id, title, onclick: act}, ...label);
  const key = (name) => el('kbd', {}, name);
  document.querySelector('.top .tools').replaceChildren(
    tool('projector', say('large type, for a wall'), toggleProjector, say('projector'), ' ', key('p')),
    tool('theme', say('light or dark'), toggleTheme, say('theme'), ' ', key('t')),
    tool('help', say('the keys'), showKeys, say('keys'), ' ', key('?')),
    el('button', {type: 'button', id: 'tool-language', lang: languages[other].tag, onclick: changeLanguage}, languages[other].name));
  project(keep.get('projector') === 'on');
  help.replaceChildren(el('h2', {id: 'help-title'}, say('Keys')),
    el('dl', {}, ...keyTable().flatMap(([names, does]) => [el('dt', {}, ...names.split(' ').flatMap((name) => [key(name), ' '])),
      el('dd', {}, does)])),
    el('form', {method: 'dialog'}, el('button', {}, say('Close'))));
}

const otherLanguage = () => (language === 'en' ? 'zh' : 'en');

const keyTable = () => [
  ['← →', say('one step back or on')],
  ['← → ↑ ↓', say('in the matrix, the next cell')],
  ['Enter', say('open the cell')],
  ['Home End', say('the first and the last step')],
  [say('Space'), say('auto: go on by itself, or pause')],
  ['b', say('before and after: next to the following stage, and back')],
  ['v n', say('the same failure on the stage before, on the next')],
  ['d', say('what the stage changed in the code')],
  ['o', say('take over from here: decide yourself what comes next')],
  ['1 … u r h', say('in a game: what happens next, undo, restart, hint')],
  ['p', say('projector: large type, only what matters')],
  ['t', say('light or dark')],
  ['Esc', say('out of the projector mode; else back to the first screen')],
];

function showKeys() { help.showModal(); }

// changeLanguage keeps the visitor's place, and repeats the engine's requests in the new language.
function changeLanguage() {
  const link = new URL(location.href);
  speak(otherLanguage());
  keep.set('language', language);
  if (link.searchParams.has('lang')) {
    link.searchParams.set('lang', language);
    try { history.replaceState(null, '', link); } catch { /* a page from disk may have to keep its address */ }
  }
  leave();
  broken = null;
  route();
  document.getElementById('tool-language').focus();
}
