import { $, say } from './page.js';

/** Frames that are kept, and rows that are shown. */
const MOST_FRAMES = 20_000;
const MOST_ROWS = 300;
/** Where events carry audio. */
const AUDIO = new Map([
  ['input_audio_buffer.append', 'audio'],
  ['response.audio.delta', 'delta'],
  ['response.output_audio.delta', 'delta'],
]);

/** The frames of a connection, without their audio: to read, to copy, to keep as a trace (JSON lines). */
export class EventLog {
  constructor() {
    $('talk-copy').onclick = () => this.copy();
    $('talk-download').onclick = () => this.download();
    $('talk-log').ontoggle = () => this.show();
    this.clear();
  }

  clear() {
    this.entries = [];
    this.left = 0;
    this.startMs = performance.now();
    this.last = undefined;
    $('talk-frames').replaceChildren();
    $('talk-count').textContent = '0';
    say('', false, 'talk-log-message');
  }

  add(from, event) {
    if (this.entries.length === MOST_FRAMES) {
      this.left += 1;
      say(`The log is full: ${this.left} later events are not in it.`, true, 'talk-log-message');
      return;
    }
    const entry = { from, ...withoutAudio(event), at_ms: Math.round(performance.now() - this.startMs) };
    this.entries.push(entry);
    $('talk-count').textContent = this.entries.length;
    if ($('talk-log').open) this.row(entry);
  }

  /** Rows of what came before the log was opened. */
  show() {
    $('talk-frames').replaceChildren();
    this.last = undefined;
    if ($('talk-log').open) for (const entry of this.entries.slice(-MOST_ROWS * 4)) this.row(entry);
  }

  /** One row; further events of the same kind share it. */
  row(entry) {
    const list = $('talk-frames');
    const { from, frame, at_ms } = entry;
    if (this.last?.from === from && this.last.type === frame.type && frame.type !== 'error') {
      this.last.times += 1;
      this.last.title.textContent = `${frame.type} × ${this.last.times}`;
      this.last.body.textContent = shown(entry);
      return;
    }
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    const item = element('li', from);
    const details = document.createElement('details');
    const title = element(
      'summary',
      frame.type === 'error' ? 'refusal' : '',
      frame.type === 'error' ? `error: ${frame.error?.message}` : frame.type,
    );
    const body = element('pre', '', shown(entry));
    details.append(title, body);
    const way = element('span', 'way', from === 'client' ? '→' : '←');
    way.title = from === 'client' ? 'sent' : 'received';
    item.append(element('span', 'at', (at_ms / 1000).toFixed(3)), way, details);
    list.append(item);
    if (list.children.length > MOST_ROWS) list.firstChild.remove();
    if (atEnd) list.scrollTop = list.scrollHeight;
    this.last = { from, type: frame.type, times: 1, title, body };
  }

  /** One entry a line. */
  get lines() {
    return this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.lines);
      say('Copied.', false, 'talk-log-message');
    } catch {
      say('The browser does not let this page copy; download the events instead.', true, 'talk-log-message');
    }
  }

  download() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([this.lines], { type: 'application/jsonl' }));
    link.download = 'realtime-trace.jsonl';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}

/** Stands for audio: a sample and a half, so that whoever checks a trace sees that there was some. */
const ELIDED = 'AAAA';

/** A frame as it is kept, and the characters of its audio if that was left out. */
function withoutAudio(event) {
  const field = AUDIO.get(event.type);
  if (field === undefined) return { frame: event };
  return { frame: { ...event, [field]: ELIDED }, elided_characters: event[field].length };
}

/** A frame as it is shown. */
function shown({ frame, elided_characters }) {
  const field = AUDIO.get(frame.type);
  const note = `(${elided_characters} characters of base64)`;
  return JSON.stringify(field === undefined ? frame : { ...frame, [field]: note }, undefined, 2);
}

export function element(tag, name, text = '') {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}
