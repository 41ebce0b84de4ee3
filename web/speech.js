import { $, authorization, failure, say, seconds } from './page.js';
import { PcmReader, Player } from './player.js';

/** The first part of the page: a text, spoken by `POST /v1/audio/speech`. */

const RATE_HZ = 24000;
let context;
let running;

/** Draws what is spoken. One bar for 20 ms; the bars share the width. */
function waveform() {
  const levels = [];
  return (samples, rateHz) => {
    const step = Math.round(rateHz / 50);
    for (let at = 0; at < samples.length; at += step) {
      let peak = 0;
      for (const sample of samples.subarray(at, at + step)) peak = Math.max(peak, Math.abs(sample));
      levels.push(peak);
    }
    const canvas = $('wave');
    const paint = canvas.getContext('2d');
    const { width, height } = canvas;
    paint.clearRect(0, 0, width, height);
    paint.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent');
    const bar = width / Math.max(levels.length, 250);
    levels.forEach((level, index) => {
      const tall = Math.max(2, level * height);
      paint.fillRect(index * bar, (height - tall) / 2, Math.max(1, bar * 0.7), tall);
    });
  };
}

async function speak(signal, player) {
  const startMs = performance.now();
  const elapsed = () => (performance.now() - startMs) / 1000;
  const format = $('format').value;
  const response = await fetch('v1/audio/speech', {
    method: 'POST',
    signal,
    headers: { ...authorization(), 'content-type': 'application/json' },
    body: JSON.stringify({
      model: $('model').value,
      input: $('input').value,
      response_format: format,
      speed: Number($('speed').value),
    }),
  });
  if (!response.ok) throw await failure(response);
  if (format === 'wav') {
    const audio = await player.audio.decodeAudioData(await response.arrayBuffer());
    $('first').textContent = seconds(elapsed());
    player.play(audio.getChannelData(0), audio.sampleRate);
  } else {
    const pcm = new PcmReader();
    for (let reader = response.body.getReader(), first = true; ; first = false) {
      const { done, value } = await reader.read();
      if (done) break;
      if (first) $('first').textContent = seconds(elapsed());
      player.play(pcm.read(value), RATE_HZ);
      $('length').textContent = seconds(player.lengthS);
    }
  }
  $('total').textContent = seconds(elapsed());
  $('length').textContent = seconds(player.lengthS);
}

$('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  for (const id of ['first', 'total', 'length']) $(id).textContent = '–';
  context ??= new AudioContext();
  await context.resume();
  running = { abort: new AbortController(), player: new Player(context, { onPiece: waveform() }) };
  $('speak').disabled = true;
  $('stop').disabled = false;
  say('Speaking …');
  try {
    await speak(running.abort.signal, running.player);
    say('');
  } catch (error) {
    if (error.name === 'AbortError') say('Stopped.');
    else say(error.message, true);
  }
  $('speak').disabled = false;
});

$('stop').addEventListener('click', () => {
  running?.abort.abort();
  running?.player.stop();
  $('stop').disabled = true;
});

/** Fills the lists of models as soon as there is a key that works. */
$('key').addEventListener('change', async () => {
  const response = await fetch('v1/models', { headers: authorization() });
  if (!response.ok) return say((await failure(response)).message, true);
  say('');
  const { data } = await response.json();
  for (const [select, usual] of [
    ['model', 'svc-tts'],
    ['hear-model', 'svc-stt'],
  ]) {
    $(select).replaceChildren(...data.map(({ id }) => new Option(id, id, id === usual, id === usual)));
  }
});
