import { element } from './event-log.js';
import { $ } from './page.js';

const MOST_TURNS = 100;

/** The conversation: what was heard and what was spoken, each with its times. */
export class Turns {
  constructor() {
    this.clear();
  }

  clear() {
    this.byItem = new Map();
    $('turns').replaceChildren();
  }

  /** The turn of an item; made when it is new. */
  at(itemId, kind = 'heard') {
    const known = this.byItem.get(itemId);
    if (known) return known;
    const turn = new Turn(kind);
    this.byItem.set(itemId, turn);
    stayAtEnd(() => $('turns').append(turn.element));
    if (this.byItem.size > MOST_TURNS) {
      const [[oldest, { element }]] = this.byItem;
      this.byItem.delete(oldest);
      element.remove();
    }
    return turn;
  }
}

class Turn {
  constructor(kind) {
    this.element = element('li', `turn ${kind} open`);
    this.time = element('time', '');
    this.state = element('span', 'state');
    const about = element('p', 'about');
    about.append(element('strong', '', kind === 'heard' ? 'You' : 'Voice'), this.time, this.state);
    this.words = element('p', 'text');
    this.element.append(about, this.words);
  }

  /** Where the turn lies in what was sent. */
  span(startMs, endMs) {
    this.startMs = startMs;
    this.time.textContent =
      endMs === undefined ? `from ${clock(startMs)}` : `${clock(startMs)} – ${clock(endMs)}`;
  }

  say(state) {
    this.state.textContent = state;
  }

  add(delta) {
    stayAtEnd(() => {
      this.words.textContent += delta;
    });
  }

  /** The last word on this turn. */
  finish(text, state, failed = false) {
    stayAtEnd(() => {
      this.words.textContent = text;
      this.say(state);
    });
    this.element.classList.remove('open');
    this.element.classList.toggle('failed', failed);
  }
}

/** Changes the list, and keeps its end in view when it was. */
function stayAtEnd(change) {
  const list = $('turns');
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  change();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

const clock = (ms) => `${Math.floor(ms / 60_000)}:${((ms % 60_000) / 1000).toFixed(1).padStart(4, '0')}`;
