import { SimulatedCall } from '../../tools/simulate-call/call-simulator.ts';
import type { CallEnd } from '../report/ledger.ts';
import { type SoakClient, WITHIN_MS } from '../site/soak-client.ts';
import { keyOf, VOICE_MODEL } from '../site/soak-config.ts';
import type { Load } from './load.ts';
import type { Material, Spoken } from './material.ts';
import { transcriptViolation } from './transcription-load.ts';

/** Sample rate of the call. */
const RATE_HZ = 24_000;
const POLL_MS = 100;

/** Sends a turn and waits for its transcript. */
async function turnEnd(call: SimulatedCall, { pcm, transcript }: Spoken): Promise<[CallEnd, string?]> {
  const samples = new Int16Array(pcm.slice().buffer);
  let isClosed = false;
  void call.closed.then(() => {
    isClosed = true;
  });
  await call.customerSays(samples);
  const deadlineMs = performance.now() + WITHIN_MS;
  for (;;) {
    // The service may split an utterance into several turns.
    if (transcriptViolation(transcript, call.transcripts.join(' ')) === undefined) return ['right'];
    const [error] = call.errors;
    if (error !== undefined) return ['failed', error];
    if (isClosed) return ['cut', 'the transcriber closed the call'];
    if (performance.now() > deadlineMs) return ['late', `${call.transcripts.length} final transcripts`];
    await Bun.sleep(POLL_MS);
  }
}

async function partnerRound(client: SoakClient, { sentences }: Material, at: number): Promise<void> {
  const node = client.node();
  const { ledger, random } = client.parts;
  const spoken = sentences[at % sentences.length] as Spoken;
  const entry = ledger.begin({
    load: 'partner call',
    organization: client.account,
    node: node.name,
    rows: 'some',
  });
  let call: SimulatedCall;
  try {
    const { baseUrl } = node.service;
    call = await SimulatedCall.dial({ baseUrl, key: keyOf('partner'), rateHz: RATE_HZ });
  } catch (error) {
    entry.end('unreachable', error instanceof Error ? error.message : '');
    return;
  }
  if (at % 4 === 3) {
    await Promise.race([
      call.customerSays(new Int16Array(spoken.pcm.slice().buffer)),
      Bun.sleep(random() * 2000),
    ]);
    call.drop();
    entry.end('left');
    return;
  }
  const [end, detail] = await turnEnd(call, spoken);
  entry.end(end, detail);
  call.hangUp();
  await client.sendRequest({
    path: `/v1/voices/partner?model=${VOICE_MODEL}`,
    method: 'POST',
    rows: 'one',
    body: { message: { type: 'voice-request', text: spoken.text, sampleRate: RATE_HZ, timestamp: 0 } },
    judge: ({ bytes }) =>
      bytes.length === spoken.pcm.length
        ? undefined
        : { end: 'wrong', detail: `${bytes.length} bytes of speech instead of ${spoken.pcm.length}` },
  });
}

/** Phone calls of the partner platform with transcription and speech; some disconnect half-way. */
export const partnerLoad: Load = {
  name: 'partner',
  organization: 'partner',
  site: 'main',
  pauseMs: 5000,
  round: partnerRound,
};
