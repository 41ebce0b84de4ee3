import type { ServiceClient } from '../client/service-client.ts';
import { ServiceFault, toFault } from '../client/service-fault.ts';
import { PcmReader, type Samples } from './pcm.ts';
import { readWav } from './wav.ts';

/** What is to be spoken, and how. */
export interface SpeechAsk {
  readonly model: string | undefined;
  readonly input: string;
  /** Id of a stored voice; undefined for the model's own. */
  readonly voice: string | undefined;
  /** 0.25 to 4. */
  readonly speed: number;
  /** `pcm` comes while it is made, `wav` when all of it is. */
  readonly format: 'pcm' | 'wav';
}

/** Rate of the service's speech. */
export const SPEECH_RATE_HZ = 24_000;
/** Sound that is taken: what a page can hold. */
const MAX_SECONDS = 3600;

export interface SpeechListener {
  /** Told when the answer begins, with the request's id. */
  onAnswer(requestId: string | null): void;
  /** Takes each piece; all have one rate. */
  onSamples(samples: Samples, rateHz: number): void;
}

/**
 * Has a text spoken and hands the sound on as it comes.
 * @throws ServiceFault for a refusal, an answer that breaks off or one that is too long; the reason of `signal`.
 */
export async function speak(
  client: ServiceClient,
  ask: SpeechAsk,
  listener: SpeechListener,
  signal: AbortSignal,
  maxSeconds: number = MAX_SECONDS,
): Promise<void> {
  const { format, model, input, voice, speed } = ask;
  const body = { model, input, voice, speed, response_format: format };
  const answer = await client.send('POST', 'v1/audio/speech', body, { signal });
  listener.onAnswer(answer.headers.get('x-request-id'));
  try {
    if (format === 'wav') {
      const { samples, rateHz } = readWav(await answer.arrayBuffer());
      return listener.onSamples(samples, rateHz);
    }
    const pcm = new PcmReader();
    let room = maxSeconds * SPEECH_RATE_HZ;
    for await (const bytes of piecesOf(answer)) {
      const samples = pcm.read(bytes);
      room -= samples.length;
      if (room < 0) throw tooLong(maxSeconds);
      listener.onSamples(samples, SPEECH_RATE_HZ);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : toFault(error);
  }
}

async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function tooLong(maxSeconds: number): ServiceFault {
  const message = `The speech has more than ${Math.round(maxSeconds / 60)} minutes, which is all that this page can hold.`;
  return new ServiceFault(message, { status: 0 });
}

/** Unicode code points of a text: what the service counts as its characters. */
export function charactersOf(text: string): number {
  return [...text].length;
}
