import { EventLog } from './event-log.js';
import { base64, Microphone } from './microphone.js';
import { $, apiKey, authorization, failure, say, seconds } from './page.js';
import { PcmReader, Player } from './player.js';
import { RealtimeSocket } from './realtime-socket.js';
import { Timeline } from './timeline.js';
import { Turns } from './turns.js';

/** The third part of the page: a conversation over `/v1/realtime`. */

/** What is asked of the browser; the service is told what it gave. */
const WANTED_RATE_HZ = 24000;
const SPOKEN_RATE_HZ = 24000;

const turns = new Turns();
const log = new EventLog();
let talk;

/** One conversation, from Connect to Disconnect. */
class Talk {
  constructor() {
    // First, as it throws for a key that cannot be sent, and nothing may be left open then.
    this.socket = new RealtimeSocket(apiKey(), {
      onFrame: (from, frame) => log.add(from, frame),
      onEvent: (event) => this.on[event.type]?.(event),
      onEnd: (words) => end(this, words),
    });
    this.audio = new AudioContext({ sampleRate: WANTED_RATE_HZ });
    this.timeline = new Timeline($('talk-level'), this.audio.sampleRate);
    this.player = new Player(this.audio, { onSilent: () => this.spokenToEnd() });
    /** Milliseconds of sound that were sent. */
    this.sentMs = 0;
    /** Turns that end by hand: the one that is held, the one whose last block is still to come, those sent. */
    this.held = undefined;
    this.ending = undefined;
    this.sent = [];
    this.response = undefined;
  }

  /** The microphone, as soon as the service listens. */
  async listen() {
    try {
      await this.audio.resume();
      const microphone = await Microphone.open(this.audio, (block) => this.heard(block));
      if (talk !== this) return microphone.close();
      this.microphone = microphone;
      $('talk-hold').disabled = false;
      this.sayState();
    } catch (error) {
      if (talk === this) say(`${error.message} The service can still speak.`, true, 'talk-message');
    }
  }

  heard(block) {
    if (!this.ready || (holds() && !this.held && !this.ending)) return;
    if (this.socket.clogged) return end(this, 'The network is too slow for sound.');
    this.socket.send({ type: 'input_audio_buffer.append', audio: base64(block) });
    this.sentMs += (block.length / this.audio.sampleRate) * 1000;
    this.timeline.add(block);
    if (this.ending) this.commit();
  }

  /** Sends what the controls say. */
  configure() {
    this.socket.send({ type: 'session.update', session: this.session() });
  }

  session() {
    const detection = {
      type: 'server_vad',
      threshold: Number($('talk-threshold').value),
      silence_duration_ms: Number($('talk-silence').value),
    };
    return {
      type: $('talk-task').value,
      output_modalities: ['audio'],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: this.audio.sampleRate },
          transcription: { model: 'svc-stt', language: $('talk-language').value || null },
          turn_detection: holds() ? null : detection,
        },
        output: { format: { type: 'audio/pcm', rate: SPOKEN_RATE_HZ } },
      },
    };
  }

  hold() {
    if (this.held || !this.microphone) return;
    if (!this.ending) this.timeline.begin(this.sentMs);
    this.held = this.ending ?? { startMs: this.sentMs };
    this.ending = undefined;
    $('talk-hold').setAttribute('aria-pressed', 'true');
    this.sayState();
  }

  /** Ends the turn that is held, with the block that is being filled. */
  letGo() {
    if (!this.held) return;
    this.ending = { ...this.held, endedMs: performance.now() };
    this.held = undefined;
    $('talk-hold').setAttribute('aria-pressed', 'false');
    this.sayState();
  }

  /** Has the turn written down that was let go. */
  commit() {
    if (!this.ending) return;
    const turn = { ...this.ending, endMs: this.sentMs };
    this.ending = undefined;
    this.timeline.end(turn.endMs);
    if (turn.endMs === turn.startMs) return;
    this.sent.push(turn);
    this.socket.send({ type: 'input_audio_buffer.commit' });
  }

  /** What the service says, by the type of the event. */
  on = {
    'session.created': () => this.configure(),
    'session.updated': () => {
      if (this.ready) return;
      this.ready = true;
      $('say-speak').disabled = false;
      this.sayState();
      void this.listen();
    },
    'input_audio_buffer.speech_started': ({ item_id, audio_start_ms }) => {
      this.speaking = true;
      this.timeline.begin(audio_start_ms);
      const turn = turns.at(item_id);
      turn.span(audio_start_ms);
      turn.say('speaking …');
      this.sayState();
    },
    'input_audio_buffer.speech_stopped': ({ item_id, audio_end_ms }) => {
      this.speaking = false;
      this.timeline.end(audio_end_ms);
      const turn = turns.at(item_id);
      turn.endedMs = performance.now();
      turn.span(turn.startMs, audio_end_ms);
      this.sayState();
    },
    'input_audio_buffer.committed': ({ item_id }) => {
      const turn = turns.at(item_id);
      const { startMs, endMs, endedMs } = (turn.startMs === undefined && this.sent.shift()) || turn;
      turn.endedMs = endedMs;
      if (endMs !== undefined) turn.span(startMs, endMs);
      turn.say('writing …');
    },
    'conversation.item.input_audio_transcription.delta': ({ item_id, delta }) => {
      const turn = turns.at(item_id);
      turn.firstMs ??= performance.now();
      turn.add(delta);
    },
    'conversation.item.input_audio_transcription.completed': ({ item_id, transcript }) => {
      const turn = turns.at(item_id);
      const allS = (performance.now() - turn.endedMs) / 1000;
      $('talk-words').textContent = seconds(allS);
      turn.finish(transcript || '(no words)', `words after ${seconds(allS)}`);
      $('talk-heard').textContent = transcript;
    },
    'conversation.item.input_audio_transcription.failed': ({ item_id, error }) => {
      turns.at(item_id).finish(error?.message ?? 'This turn could not be written down.', 'failed', true);
    },
    'response.created': ({ response }) => {
      this.response = response.id;
      this.player.lengthS = 0;
      this.pcm = new PcmReader();
      sayControls();
    },
    'response.output_item.added': ({ item }) => {
      this.spoken = turns.at(item.id, 'spoken');
      this.spoken.add(this.text);
      this.spoken.say('speaking …');
    },
    'response.audio.delta': ({ delta }) => {
      if (this.firstAudioS === undefined) {
        this.firstAudioS = (performance.now() - this.askedMs) / 1000;
        $('talk-first').textContent = seconds(this.firstAudioS);
      }
      if (this.cancelled) return;
      this.player.play(
        this.pcm.read(Uint8Array.from(atob(delta), (char) => char.charCodeAt(0))),
        SPOKEN_RATE_HZ,
      );
      $('talk-length').textContent = seconds(this.player.lengthS);
      say('Speaking …', false, 'say-message');
    },
    'response.done': ({ response }) => {
      this.response = undefined;
      const { status, status_details } = response;
      if (status === 'failed') {
        this.spoken?.finish(this.text, 'failed', true);
        say(status_details?.error?.message ?? 'The text could not be spoken.', true, 'say-message');
      } else {
        const length = `${seconds(this.player.lengthS)} of audio`;
        this.spoken?.finish(
          this.text,
          status === 'cancelled'
            ? 'cancelled'
            : `${length}, the first after ${seconds(this.firstAudioS ?? 0)}`,
        );
      }
      if (status !== 'failed' && !this.player.playing)
        say(status === 'cancelled' ? 'Cancelled.' : '', false, 'say-message');
      sayControls();
    },
    error: ({ error }) => {
      if (error.event_id === null || error.event_id !== this.asked) {
        say(error.message, true, 'talk-message');
        return;
      }
      this.response = undefined;
      say(error.message, true, 'say-message');
      sayControls();
    },
  };

  speak(text) {
    this.text = text;
    this.cancelled = false;
    this.firstAudioS = undefined;
    this.spoken = undefined;
    for (const id of ['talk-first', 'talk-length']) $(id).textContent = '–';
    say('', false, 'say-message');
    this.socket.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    this.askedMs = performance.now();
    /** The id by which an error tells that there will be no response. */
    this.asked = this.socket.send({ type: 'response.create' });
    this.response = 'asked';
    sayControls();
  }

  cancel() {
    if (this.response !== undefined && !this.cancelled) this.socket.send({ type: 'response.cancel' });
    this.cancelled = true;
    this.player.stop();
    say('Cancelled.', false, 'say-message');
    sayControls();
  }

  spokenToEnd() {
    if (this.response === undefined && $('say-message').textContent === 'Speaking …')
      say('', false, 'say-message');
    sayControls();
  }

  sayState() {
    if (!this.ready) say('Connecting …', false, 'talk-message');
    else if (!this.microphone) say('Connected.', false, 'talk-message');
    else if (this.speaking || this.held) say('Hearing you …', false, 'talk-message');
    else
      say(
        holds() ? 'Hold the button, or the space bar on it, while you speak.' : 'Listening …',
        false,
        'talk-message',
      );
  }

  close() {
    this.ready = false;
    this.microphone?.close();
    this.player.stop();
    this.timeline.close();
    this.socket.close();
    void this.audio.close();
  }
}

const holds = () => $('talk-turns').value === 'hold';

/** Brings the buttons in line with what goes on. */
function sayControls() {
  const busy = talk?.response !== undefined;
  $('say-speak').disabled = !talk?.ready || busy;
  $('say-cancel').disabled = !(busy || talk?.player.playing);
}

function sayMode() {
  $('talk-pause').hidden = holds();
  $('talk-hold').hidden = !holds();
  $('talk-hold').disabled = !talk?.microphone;
}

function saySliders() {
  $('talk-threshold-now').textContent = Number($('talk-threshold').value).toFixed(2);
  $('talk-silence-now').textContent = `${$('talk-silence').value} ms`;
}

/** Ends a conversation. @param words why, for the person; '' when the person ended it. */
function end(ended, words) {
  if (talk !== ended) return;
  talk = undefined;
  const wasReady = ended.ready;
  ended.close();
  $('talk-connect').textContent = 'Connect';
  $('talk-hold').setAttribute('aria-pressed', 'false');
  sayMode();
  sayControls();
  say(words, words !== '', 'talk-message');
  if (words !== '' && !wasReady) void explain();
}

/** A page is not told why a socket was refused; the same key over HTTP is. */
async function explain() {
  const response = await fetch('v1/models', { headers: authorization() }).catch(() => undefined);
  if (response && !response.ok) say((await failure(response)).message, true, 'talk-message');
}

$('talk').addEventListener('submit', (event) => {
  event.preventDefault();
  if (talk) return end(talk, '');
  if (!$('key').reportValidity()) return;
  turns.clear();
  log.clear();
  for (const id of ['talk-words', 'talk-first', 'talk-length']) $(id).textContent = '–';
  say('', false, 'say-message');
  try {
    talk = new Talk();
  } catch (error) {
    say(error.name === 'SyntaxError' ? 'This is not an API key.' : error.message, true, 'talk-message');
    return;
  }
  $('talk-connect').textContent = 'Disconnect';
  talk.sayState();
});

$('say').addEventListener('submit', (event) => {
  event.preventDefault();
  if (talk?.ready && talk.response === undefined) talk.speak($('say-text').value);
});
$('say-cancel').addEventListener('click', () => talk?.cancel());

for (const id of ['talk-task', 'talk-language', 'talk-turns', 'talk-threshold', 'talk-silence']) {
  $(id).addEventListener('change', (event) => {
    if (id === 'talk-turns') {
      talk?.letGo();
      talk?.commit();
      sayMode();
    }
    if (talk?.ready && event.target.checkValidity()) {
      talk.configure();
      talk.sayState();
    }
  });
}
for (const id of ['talk-threshold', 'talk-silence']) $(id).addEventListener('input', saySliders);

const hold = $('talk-hold');
hold.addEventListener('pointerdown', (event) => {
  if (event.button !== 0) return;
  hold.setPointerCapture(event.pointerId);
  talk?.hold();
});
for (const type of ['pointerup', 'pointercancel', 'blur']) hold.addEventListener(type, () => talk?.letGo());
hold.addEventListener('contextmenu', (event) => event.preventDefault());
hold.addEventListener('keydown', (event) => {
  if (event.key !== ' ' && event.key !== 'Enter') return;
  event.preventDefault();
  if (!event.repeat) talk?.hold();
});
hold.addEventListener('keyup', (event) => {
  if (event.key === ' ' || event.key === 'Enter') talk?.letGo();
});

sayMode();
saySliders();
