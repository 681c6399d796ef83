// What the pages do in the browser by themselves: find columns, drag cuts and values, go back. No request is made.
(() => {
  if (window.sfPages) return;
  window.sfPages = true;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // The browser names the field of an upload in its own language; screen readers shall hear what stands on it.
  // The button around it is none of its own: it is the field that is reached by keyboard.
  const nameUploads = () => all('.q-uploader[aria-label] input[type=file]').forEach((input) => {
    input.setAttribute('aria-label', input.closest('.q-uploader').getAttribute('aria-label'));
    input.tabIndex = 0;
    const around = input.closest('a.q-btn');
    if (around) ['role', 'tabindex'].forEach((name) => around.removeAttribute(name));
  });

  // On a phone, what is not promised and what was lost start folded to their headings, so that the figures are near.
  const phone = matchMedia('(max-width: 700px)');
  const foldBoxes = () => all('details.verdict:not([data-seen])').forEach((box) => {
    box.dataset.seen = '';
    box.open = !phone.matches;
  });
  phone.addEventListener('change', () => all('details.verdict').forEach((box) => { box.open = !phone.matches; }));

  // Steps are places in the history, so that the back button leads to the step before.
  window.sfStep = (step) => {
    if (location.hash.slice(1) !== step) history.pushState(null, '', '#' + step);
    document.querySelector('.q-drawer__backdrop:not(.hidden)')?.click();  // on a phone the steps lie above the page
  };
  // A page is opened at the place that its address names; where it names none, the address is told where the work stands.
  window.sfArrive = (step) => {
    const asked = decodeURIComponent(location.hash.slice(1));
    asked && asked !== step ? emitEvent('sf_back', asked) : sfStand(step);
  };
  window.sfStand = (step) => history.replaceState(null, '', step ? '#' + step : location.pathname + location.search);
  // Where what had the focus was taken away, it goes on at the head of the step: a screen reader says it.
  window.sfHead = () => {
    const head = document.querySelector('.sf-page .sf-head h2');
    if (!head || (document.activeElement && document.activeElement !== document.body)) return;
    head.tabIndex = -1;
    head.focus({preventScroll: true});
  };
  window.addEventListener('popstate', () => emitEvent('sf_back', location.hash.slice(1)));

  // What can wait until a step was seen is asked for then.
  window.sfSeen = (room) => {
    let waits = true;
    const tell = () => { if (waits) emitEvent('sf_seen', room); waits = false; };
    requestAnimationFrame(() => setTimeout(tell));
    setTimeout(tell, 300);  // in a tab that nobody looks at, nothing is drawn
  };

  // The table of columns.
  const rows = () => all('.sf-columns tbody tr');
  const find = () => {
    const text = (document.querySelector('.sf-find input')?.value || '').toLowerCase();
    const role = document.querySelector('.sf-filter select')?.value || '';
    rows().forEach((row) => {
      const fits = row.dataset.column.toLowerCase().includes(text) && (!role || row.dataset.role === role);
      row.hidden = !fits;
    });
  };
  window.sfChecked = () => rows().filter((row) => !row.hidden && row.querySelector('input:checked'))
    .map((row) => row.dataset.column);
  window.sfOpened = (name, look) => {
    rows().forEach((row) => row.setAttribute('aria-selected', row.dataset.column === name));
    const panel = document.querySelector('.sf-panel');
    if (look && panel.getBoundingClientRect().top > innerHeight - 120) panel.scrollIntoView({behavior: 'smooth'});
  };
  // The roles to choose from are put into a row when somebody comes near it: hundreds of rows stay light.
  const offer = (event) => {
    const select = event.target.closest?.('.sf-columns tbody tr')?.querySelector('select');
    if (!select || select.options.length > 1) return;
    const role = select.value;
    select.replaceChildren(document.querySelector('.sf-roles').content.cloneNode(true));
    select.value = role;
    select.dataset.help ||= select.selectedOptions[0].dataset.help;
  };
  ['pointerover', 'focusin', 'touchstart'].forEach((name) => document.addEventListener(name, offer, {passive: true}));
  window.sfRows = (fresh) => {
    const drawn = new Map(rows().map((row) => [row.dataset.column, row]));
    fresh.forEach(([name, html]) => drawn.has(name) && redraw(drawn.get(name), html));
    find();
  };
  const redraw = (row, html) => {
    const focused = row.contains(document.activeElement) ? document.activeElement.tagName : null;
    const selected = row.getAttribute('aria-selected'), checked = row.querySelector('input').checked;
    const made = document.createElement('tbody');
    made.innerHTML = html;
    const fresh = made.firstElementChild;
    fresh.setAttribute('aria-selected', selected);
    fresh.querySelector('input').checked = checked;
    row.replaceWith(fresh);
    if (focused) fresh.querySelector(focused.toLowerCase() === 'select' ? 'select' : '.open').focus();
  };
  window.sfMoreRows = (html) => {
    document.querySelector('.sf-columns tbody')?.insertAdjacentHTML('beforeend', html);
    find();
  };
  document.addEventListener('input', (event) => {
    if (event.target.closest('.sf-find, .sf-filter')) find();
  });
  document.addEventListener('change', (event) => {
    const row = event.target.closest('.sf-columns tbody tr');
    if (event.target.matches('.sf-filter select')) emitEvent('sf_filter', event.target.value);
    if (event.target.matches('.sf-columns thead input')) {
      rows().filter((row) => !row.hidden).forEach((row) => row.querySelector('input').checked = event.target.checked);
    } else if (row && event.target.matches('select')) {
      emitEvent('sf_role', {column: row.dataset.column, role: event.target.value});
    }
  });
  document.addEventListener('click', (event) => {
    const row = event.target.closest('.sf-columns tbody tr');
    if (row && !event.target.closest('select, input')) emitEvent('sf_open', row.dataset.column);
  });
  document.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || !event.target.matches('.sf-columns .open')) return;
    const shown = rows().filter((row) => !row.hidden);
    const next = shown[shown.indexOf(event.target.closest('tr')) + step];
    if (next) { next.querySelector('.open').focus(); event.preventDefault(); }
  });

  // Cuts on a histogram: dragged, or moved with the arrow keys; told when they come to rest.
  const place = (cut, value) => {
    const axis = cut.parentElement, {low, high, step} = axis.dataset;
    const span = high - low, fine = Number(step);
    const others = all('.sf-cut', axis).filter((other) => other !== cut).map((other) => Number(other.dataset.value));
    let at = Math.round((value - low) / fine) * fine + Number(low);
    at = Math.min(Math.max(at, Number(low) + fine), Number(high));
    if (others.includes(at)) return;
    cut.dataset.value = String(Number(at.toFixed(6)));
    cut.style.left = `${100 * (at - low) / span}%`;
    cut.setAttribute('aria-valuenow', cut.dataset.value);
    cut.querySelector('span').textContent = cut.dataset.value.replace('.', axis.dataset.decimal || '.');
  };
  // Their numbers stand on as many lines as they take, so that none runs into the next.
  const spread = (axis) => {
    const ends = [];
    all('.sf-cut', axis).sort((a, b) => a.dataset.value - b.dataset.value).forEach((cut) => {
      const label = cut.querySelector('span'), box = label.getBoundingClientRect();
      const free = ends.findIndex((end) => end + 6 < box.left), line = free < 0 ? ends.length : free;
      ends[line] = box.right;
      label.style.setProperty('--line', line);
    });
    axis.style.setProperty('--lines', Math.max(ends.length, 1));
  };
  const spreadAll = () => all('.sf-axis').forEach(spread);
  addEventListener('resize', spreadAll);
  const told = (axis) => emitEvent('sf_cuts', {level: Number(axis.dataset.level),
    cuts: all('.sf-cut', axis).map((cut) => Number(cut.dataset.value)).sort((a, b) => a - b)});
  document.addEventListener('pointerdown', (event) => {
    const cut = event.target.closest('.sf-cut');
    if (!cut) return;
    const axis = cut.parentElement, box = axis.getBoundingClientRect();
    const move = (moved) => place(cut, Number(axis.dataset.low) +
      (moved.clientX - box.left) / box.width * (axis.dataset.high - axis.dataset.low));
    const end = () => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', end);
      told(axis);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', end);
    cut.focus();
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (!event.target.matches('.sf-cut')) return;
    const step = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
    if (step) {
      place(event.target, Number(event.target.dataset.value) + step * event.target.parentElement.dataset.step);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      const axis = event.target.parentElement;
      event.target.remove();
      told(axis);
      event.preventDefault();
      return;
    } else return;
    event.preventDefault();
    soon(event.target.parentElement);
  });
  // Told soon after the last key, and at once when the cut is left.
  let waiting = null;
  const tellWaiting = () => { if (waiting) { clearTimeout(waiting.timer); told(waiting.axis); waiting = null; } };
  const soon = (axis) => { clearTimeout(waiting?.timer); waiting = {axis, timer: setTimeout(tellWaiting, 150)}; };
  document.addEventListener('focusout', (event) => event.target.matches('.sf-cut') && tellWaiting());

  // Settings that are typed: told when somebody types, never when a form writes them.
  let typing = null;
  const tellTyped = () => {
    if (!typing) return;
    clearTimeout(typing.timer);
    emitEvent('sf_settings', {column: typing.column, text: typing.text});
    typing = null;
  };
  document.addEventListener('input', (event) => {
    const field = event.target.closest('.sf-settings');
    if (!field) return;
    clearTimeout(typing?.timer);
    typing = {column: event.target.dataset.column, text: event.target.value, timer: setTimeout(tellTyped, 300)};
  });
  document.addEventListener('focusout', (event) => event.target.closest('.sf-settings') && tellTyped());

  // Values dragged into groups; or pressed, and then sent to a group by its button.
  let dragged = [];
  const pressed = () => all('.sf-value[aria-pressed=true]').map((value) => value.dataset.value);
  document.addEventListener('click', (event) => {
    const value = event.target.closest('.sf-value');
    if (value) value.setAttribute('aria-pressed', value.getAttribute('aria-pressed') !== 'true');
    const target = event.target.closest('.sf-send');
    if (target && pressed().length) emitEvent('sf_group', {group: target.dataset.group, values: pressed()});
  });
  document.addEventListener('dragstart', (event) => {
    const value = event.target.closest && event.target.closest('.sf-value');
    if (!value) return;
    dragged = value.getAttribute('aria-pressed') === 'true' ? pressed() : [value.dataset.value];
    event.dataTransfer.setData('text/plain', dragged.join('\n'));
    event.dataTransfer.effectAllowed = 'move';
  });
  document.addEventListener('dragover', (event) => {
    const group = event.target.closest && event.target.closest('.sf-group');
    all('.sf-group.over').forEach((other) => other !== group && other.classList.remove('over'));
    if (group && dragged.length) { group.classList.add('over'); event.preventDefault(); }
  });
  document.addEventListener('drop', (event) => {
    const group = event.target.closest && event.target.closest('.sf-group');
    if (!group || !dragged.length) return;
    event.preventDefault();
    emitEvent('sf_group', {group: group.dataset.group, values: dragged});
    dragged = [];
  });

  // What is explained on hover and focus.
  const tip = document.createElement('div');
  Object.assign(tip, {id: 'sf-tip', className: 'sf-tip', hidden: true});
  tip.setAttribute('role', 'tooltip');
  let explained = null, clicked = null;
  const explain = (target) => {
    if (target === explained || (target && target === clicked)) return;
    if (target) clicked = null;
    explained?.removeAttribute('aria-describedby');
    explained = target;
    tip.hidden = !target;
    if (!target) return;
    tip.textContent = target.dataset.help;
    target.setAttribute('aria-describedby', 'sf-tip');
    beside(target);
  };
  const beside = (target) => {
    const box = target.getBoundingClientRect(), size = tip.getBoundingClientRect();
    if (target.closest('.sf-steps')) {  // beside the steps, whose next one lies below
      Object.assign(tip.style, {left: `${box.right + 12}px`, top: `${box.top}px`});
      tip.hidden = box.right + 12 + size.width > innerWidth;
      return;
    }
    const left = Math.min(Math.max(box.left, 8), innerWidth - size.width - 8);
    const below = box.bottom + 8 + size.height < innerHeight;
    Object.assign(tip.style, {left: `${left}px`, top: `${below ? box.bottom + 8 : box.top - size.height - 8}px`});
  };
  ['pointerover', 'focusin'].forEach((name) => document.addEventListener(name, (event) =>
    explain(event.target.closest?.('[data-help]') || null)));
  ['focusout', 'input'].forEach((name) => document.addEventListener(name, () => explain(null)));
  // What was clicked needs no more explanation, until the pointer has been elsewhere.
  document.addEventListener('pointerdown', (event) => {
    clicked = event.target.closest?.('[data-help]') || null;
    explain(null);
  });
  document.addEventListener('scroll', () => explained && beside(explained), {capture: true, passive: true});
  document.addEventListener('keydown', (event) => event.key === 'Escape' && explain(null));

  // Combinations of levels in the lattice.
  document.addEventListener('click', (event) => {
    const node = event.target.closest?.('.sf-lattice [data-node]');
    if (node) emitEvent('sf_node', Number(node.dataset.node));
  });
  document.addEventListener('keydown', (event) => {
    if (event.target.matches?.('.sf-lattice [data-node]') && ['Enter', ' '].includes(event.key)) {
      emitEvent('sf_node', Number(event.target.dataset.node));
      event.preventDefault();
    }
  });

  // Parts that other steps are made of, fetched while nobody waits.
  addEventListener('load', () => setTimeout(() =>
    window.sfAhead.forEach((part) => import(`${window.path_prefix}/_nicegui/${part}`)), 200));

  const start = () => {
    document.body.append(tip);
    const watch = () => { nameUploads(); foldBoxes(); spreadAll(); };
    new MutationObserver(watch).observe(document.body, {childList: true, subtree: true});
    nameUploads();
  };
  document.body ? start() : document.addEventListener('DOMContentLoaded', start);
})();
