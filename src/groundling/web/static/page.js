// One page, no library: forms go to /api/NAME as JSON, answers come back as sentences, pictures, tables and data.
'use strict';

const panels = [...document.querySelectorAll('.panel')];
const answers = new Map(); // panel id -> last answer

const make = (tag, text = '', attributes = {}) => {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};
// Text with `code` in it.
const prose = (tag, text, attributes = {}) => {
  const node = make(tag, '', attributes);
  text.split('`').forEach((piece, i) => node.append(i % 2 ? make('code', piece) : piece));
  return node;
};
const button = (text, act) => {
  const node = make('button', text, {type: 'button'});
  node.onclick = () => act(node);
  return node;
};
const part = (panel, name) => panel.querySelector('.' + name);

// --- what a form says -------------------------------------------------------------------------------------------
function fields(form) {
  return [...form.elements].filter((one) => one.name && one.type !== 'file');
}

function asked(form) {
  const found = {};
  for (const one of fields(form)) found[one.name] = one.type === 'checkbox' ? one.checked : one.value;
  return found;
}

async function withSound(form, body) {
  const file = form.elements.sound && form.elements.sound.files[0];
  if (!file) return body;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return {...body, sound: btoa(text)};
}

// --- the address keeps the state: #trees?gold=...&pred=... ------------------------------------------------------
function readHash() {
  const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
  return [panels.find((panel) => panel.id === name) || panels[0], new URLSearchParams(query || '')];
}

function link(panel) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(asked(panel.querySelector('form')))) query.set(key, value);
  return '#' + panel.id + '?' + query;
}

function restore(form, query) {
  for (const one of fields(form)) {
    if (!query.has(one.name)) continue;
    if (one.type === 'checkbox') one.checked = query.get(one.name) === 'true';
    else one.value = query.get(one.name);
  }
}

function show() {
  const [chosen, query] = readHash();
  for (const panel of panels) panel.hidden = panel !== chosen;
  for (const anchor of document.querySelectorAll('nav a'))
    if (anchor.hash === '#' + chosen.id) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  document.title = chosen.querySelector('h2').textContent + ' · groundling';
  if ([...query].length) {
    restore(chosen.querySelector('form'), query);
    run(chosen);
  }
}

// --- asking -----------------------------------------------------------------------------------------------------
async function run(panel) {
  const form = panel.querySelector('form'), submit = form.querySelector('.main'), busy = part(panel, 'busy');
  if (submit.disabled) return;
  complain(panel, null);
  history.replaceState(null, '', link(panel));
  submit.disabled = true;
  busy.hidden = false;
  busy.textContent = 'Working…';
  try {
    const body = JSON.stringify(await withSound(form, asked(form)));
    const reply = await fetch('api/' + panel.id, {method: 'POST', headers: {'Content-Type': 'application/json'}, body});
    const found = await reply.json();
    if (reply.ok) {
      present(panel, found);
      if (found.data.model === false) await offerLearning(panel, part(panel, 'summary'));
    } else {
      complain(panel, found.error);
      if (reply.status === 503 && panel.dataset.model) await offerLearning(panel, part(panel, 'fault'));
    }
  } catch {
    complain(panel, {what: 'The server does not answer.', where: '', next: 'Is `groundling web` still running?'});
  }
  busy.hidden = true;
  busy.textContent = '';
  submit.disabled = false;
}

function complain(panel, error) {
  const fault = part(panel, 'fault');
  for (const one of panel.querySelectorAll('[aria-invalid]')) one.removeAttribute('aria-invalid');
  fault.hidden = !error;
  fault.replaceChildren();
  if (!error) return;
  part(panel, 'answer').hidden = true;
  const at = panel.querySelector('form').elements[error.where];
  const place = at && at.labels && at.labels[0] ? at.labels[0].firstChild.textContent.trim() + ': ' : '';
  fault.append(prose('b', place + error.what), ' ', prose('span', error.next));
  if (at) {
    at.setAttribute('aria-invalid', 'true');
    at.focus();
  }
}

// --- a model that is not here can be learned, where there is built-in data for it ------------------------------
async function offerLearning(panel, place) {
  const name = panel.dataset.model, found = (await (await fetch('api/models')).json())[name];
  if (found.state === 'learning') return waitForModel(panel, name);
  if (!found.learnable || found.state === 'here') return;
  const offer = make('span', '', {class: 'offer'});
  offer.append(button('Learn one now', async () => {
    const headers = {'Content-Type': 'application/json'};
    const reply = await fetch('api/learn', {method: 'POST', headers, body: JSON.stringify({model: name})});
    if (reply.ok) waitForModel(panel, name);
    else complain(panel, (await reply.json()).error);
  }), prose('span', ' from ' + found.source + ' (less than a minute, more where the machine is busy). It is kept in `runs/' + name + '`.'));
  place.append(offer);
}

function waitForModel(panel, name) {
  complain(panel, null);
  const busy = part(panel, 'busy'), start = Date.now();
  const timer = setInterval(async () => {
    busy.hidden = false;
    busy.textContent = 'Learning… ' + Math.round((Date.now() - start) / 1000) + ' s';
    let found;
    try {
      found = (await (await fetch('api/models')).json())[name];
    } catch {
      found = {state: 'failed', error: 'The server does not answer.'};
    }
    if (found.state === 'learning') return;
    clearInterval(timer);
    busy.hidden = true;
    if (found.state === 'here') run(panel);
    else complain(panel, {what: found.error, where: '', next: ''});
  }, 2000);
}

// --- showing ----------------------------------------------------------------------------------------------------
function present(panel, found) {
  answers.set(panel.id, found);
  const box = part(panel, 'answer');
  box.replaceChildren(prose('p', found.summary, {class: 'summary'}));
  if (found.code) box.append(make('pre', found.code));
  for (const one of found.pictures) box.append(picture(panel, one));
  for (const one of found.tables) box.append(table(one));
  if (found.command) box.append(command(found.command));
  const row = make('div', '', {class: 'buttons'});
  row.append(
    button('Save JSON', () => save(new Blob([JSON.stringify(found.data, null, 1)], {type: 'application/json'}), panel.id + '.json')),
    button('Copy link', (self) => copy(self, new URL(link(panel), location.href).href)),
  );
  box.append(row);
  box.hidden = false;
}

function picture(panel, one) {
  const figure = make('figure'), scroll = make('div', '', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': one.caption});
  const parsed = new DOMParser().parseFromString(one.svg, 'image/svg+xml').documentElement;
  scroll.append(document.importNode(parsed, true));
  const caption = make('figcaption'), name = panel.id + '-' + one.name;
  caption.append(
    make('span', one.caption),
    button('SVG', () => save(new Blob([one.svg], {type: 'image/svg+xml'}), name + '.svg')),
    button('PNG', () => savePng(one.svg, name + '.png')),
  );
  caption.children[1].setAttribute('aria-label', 'Save ' + one.name + ' as SVG');
  caption.children[2].setAttribute('aria-label', 'Save ' + one.name + ' as PNG');
  figure.append(scroll, caption);
  return figure;
}

function table(one) {
  const scroll = make('div', '', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': one.caption});
  const node = make('table'), head = make('tr'), body = make('tbody'), top = make('thead');
  for (const name of one.header) head.append(make('th', name, {scope: 'col'}));
  one.rows.forEach((cells, number) => {
    const row = make('tr', '', number === one.marked ? {class: 'marked', 'aria-label': 'chosen'} : {});
    for (const cell of cells) row.append(make('td', cell === null ? '–' : cell));
    body.append(row);
  });
  top.append(head);
  node.append(make('caption', one.caption), top, body);
  scroll.append(node);
  return scroll;
}

function command(text) {
  const row = make('div', '', {class: 'command'});
  row.append(make('span', 'As command'), make('code', text), button('Copy', (self) => copy(self, text)));
  return row;
}

// --- taking it away ---------------------------------------------------------------------------------------------
function save(blob, name) {
  const anchor = make('a', '', {href: URL.createObjectURL(blob), download: name});
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

async function savePng(svg, name) {
  const image = new Image(), scale = 2;
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
  await image.decode();
  const canvas = make('canvas', '', {width: image.width * scale, height: image.height * scale});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, name));
}

async function copy(self, text) {
  const before = self.textContent;
  try {
    await navigator.clipboard.writeText(text);
    self.textContent = 'Copied';
  } catch {
    self.textContent = 'Not allowed';
  }
  setTimeout(() => { self.textContent = before; }, 1500);
}

// --- matched nodes light up together ----------------------------------------------------------------------------
function light(event) {
  const node = event.target.closest && event.target.closest('[data-node]');
  for (const lit of document.querySelectorAll('.gl-lit')) lit.classList.remove('gl-lit');
  if (!node || !node.dataset.match) return;
  node.classList.add('gl-lit');
  for (const other of node.closest('svg').querySelectorAll('[data-node]'))
    if (other.dataset.node === node.dataset.match) other.classList.add('gl-lit');
}

// --- wiring -----------------------------------------------------------------------------------------------------
for (const panel of panels) {
  const form = panel.querySelector('form');
  form.append(document.getElementById('panel-parts').content.cloneNode(true));
  panel.append(document.getElementById('answer-parts').content.cloneNode(true));
  form.onsubmit = (event) => { event.preventDefault(); run(panel); };
  form.onreset = () => setTimeout(() => run(panel));
  form.onkeydown = (event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit(); };
}
for (const drop of document.querySelectorAll('.drop')) {
  drop.ondragover = (event) => { event.preventDefault(); drop.classList.add('over'); };
  drop.ondragleave = () => drop.classList.remove('over');
  drop.ondrop = (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    drop.querySelector('input').files = event.dataTransfer.files;
  };
}
document.querySelector('[data-skip]').onclick = (event) => {
  event.preventDefault();
  document.getElementById('main').focus();
};
document.addEventListener('mouseover', light);
document.addEventListener('click', light);
addEventListener('hashchange', show);
show();
