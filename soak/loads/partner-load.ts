import { SimulatedCall } from '../../tools/simulate-call/call-simulator.ts';
import type { CallEnd } from '../ledger.ts';
import { type SoakClient, WITHIN_MS } from '../soak-client.ts';
import { keyOf, VOICE_MODEL } from '../soak-config.ts';
import type { Load } from './load.ts';
import type { Material, Spoken } from './material.ts';
import { transcriptViolation } from './transcription-load.ts';

/** Of the call; the length of a sample here is that of two there. */
const RATE_HZ = 24_000;
const POLL_MS = 100;

/** The end of a turn that a call was asked to hear. */
async function turnEnd(call: SimulatedCall, { pcm, heard }: Spoken): Promise<[CallEnd, string?]> {
  const samples = new Int16Array(pcm.slice().buffer);
  let isClosed = false;
  void call.closed.then(() => {
    isClosed = true;
  });
  await call.customerSays(samples);
  const latest = performance.now() + WITHIN_MS;
  for (;;) {
    // The service may cut what was said into several turns.
    if (transcriptViolation(heard, call.transcripts.join(' ')) === undefined) return ['right'];
    const [error] = call.errors;
    if (error !== undefined) return ['failed', error];
    if (isClosed) return ['cut', 'the transcriber closed the call'];
    if (performance.now() > latest) return ['late', `heard '${call.transcripts.length}' finals`];
    await Bun.sleep(POLL_MS);
  }
}

async function partnerRound(client: SoakClient, { sentences }: Material, at: number): Promise<void> {
  const node = client.node();
  const { ledger, random } = client.parts;
  const said = sentences[at % sentences.length] as Spoken;
  const entry = ledger.begin({
    ...{ load: 'partner call', organization: client.account },
    ...{ node: node.name, rows: 'some' },
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
      call.customerSays(new Int16Array(said.pcm.slice().buffer)),
      Bun.sleep(random() * 2000),
    ]);
    call.drop();
    entry.end('left');
    return;
  }
  const [end, detail] = await turnEnd(call, said);
  entry.end(end, detail);
  call.hangUp();
  await client.ask({
    ...{ path: `/v1/voices/partner?model=${VOICE_MODEL}`, method: 'POST', rows: 'one' },
    body: { message: { type: 'voice-request', text: said.text, sampleRate: RATE_HZ, timestamp: 0 } },
    judge: ({ bytes }) =>
      bytes.length === said.pcm.length
        ? undefined
        : { end: 'wrong', detail: `${bytes.length} bytes of speech and not ${said.pcm.length}` },
  });
}

/** Phone calls of the partner platform, heard in real time and answered; some are gone in the middle of it. */
export const partnerLoad: Load = {
  ...{ name: 'partner', organization: 'partner', site: 'main', pauseMs: 5000, round: partnerRound },
};
