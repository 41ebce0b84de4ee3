import { $, authorization, failure, say, seconds } from './page.js';

/** The second part of the page: a file, written down by `POST /v1/audio/transcriptions` or `/translations`. */

/** The values of server-sent events. */
async function* events(response) {
  let rest = '';
  for (let reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const records = (rest + value).split('\n\n');
    rest = records.pop();
    for (const record of records) yield JSON.parse(record.slice(record.indexOf('data: ') + 6));
  }
}

async function listen(signal) {
  const startMs = performance.now();
  const elapsed = () => (performance.now() - startMs) / 1000;
  const task = $('task').value;
  const body = new FormData();
  body.append('model', $('hear-model').value);
  if (task === 'transcriptions' && $('language').value) body.append('language', $('language').value);
  body.append('stream', 'true');
  body.append('file', $('file').files[0]);
  const response = await fetch(`v1/audio/${task}`, {
    method: 'POST',
    signal,
    headers: authorization(),
    body,
  });
  if (!response.ok) throw await failure(response);
  for await (const { type, delta, usage, error } of events(response)) {
    if (error) throw new Error(error.message);
    if (type === 'transcript.text.delta') {
      if ($('heard').textContent === '') $('hear-first').textContent = seconds(elapsed());
      $('heard').textContent += delta;
    } else if (type === 'transcript.text.done') {
      $('hear-tokens').textContent = `${usage.input_tokens}, ${usage.output_tokens}`;
      if ($('heard').textContent === '') say('Nothing was said.', false, 'hear-message');
    }
  }
  $('hear-total').textContent = seconds(elapsed());
}

let listening;
$('hear').addEventListener('submit', async (event) => {
  event.preventDefault();
  if (!$('key').reportValidity()) return;
  for (const id of ['hear-first', 'hear-total', 'hear-tokens']) $(id).textContent = '–';
  $('heard').textContent = '';
  listening = new AbortController();
  $('listen').disabled = true;
  $('hear-stop').disabled = false;
  say('Listening …', false, 'hear-message');
  try {
    await listen(listening.signal);
    if ($('hear-message').textContent === 'Listening …') say('', false, 'hear-message');
  } catch (error) {
    if (error.name === 'AbortError') say('Stopped.', false, 'hear-message');
    else say(error.message, true, 'hear-message');
  }
  $('listen').disabled = false;
  $('hear-stop').disabled = true;
});

$('hear-stop').addEventListener('click', () => listening?.abort());
