/** Latency of a caller's transcript under cross-talk, compared with faster-whisper on the whole clip. */

import { join } from 'node:path';
import { encodeWav } from '../../src/audio/wav.ts';
import { transcriptWords, wordErrors } from '../../tools/harness/media/transcript-normalizer.ts';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { SimulatedCall } from '../../tools/simulate-call/call-simulator.ts';
import { CallPlatform } from '../../tools/simulate-call/call-simulator-platform.ts';
import type { LineProcess } from '../line-process.ts';
import type { Measured } from '../realtime/measured.ts';
import type { Service } from '../service.ts';
import { mean, median, quantile } from '../statistics.ts';

/** Number of different clips. */
const CLIPS = 20;
const MIN_S = 2.5;
const MAX_S = 3.5;
const RATE_HZ = 16_000;
/** Maximum latency of a final transcript after the silence, relative to the time of the peer. */
const TARGET = 0.4;
const PLATFORM_TIMEOUT_MS = 30_000;
/** Text of the assistant, with words that no caller uses. */
const ASSISTANT =
  'Purple elephants juggle seventeen bananas. Gracious penguins whistle beneath velvet umbrellas.';
/** Words that both may use. */
const COMMON = new Set(['beneath']);
/** Time without messages that ends a turn. A long pause in a clip can cause two final transcripts. */
const SETTLE_MS = 700;

export interface CallerClip {
  readonly text: string;
  readonly samples: Int16Array;
  /** Path of the WAV file. */
  readonly audio: string;
}

/** Clips of callers of about 3 s, synthesized by piper. */
export async function callerClips(
  service: Service,
  texts: readonly string[],
  scratch: string,
): Promise<CallerClip[]> {
  const platform = new CallPlatform({
    baseUrl: service.baseUrl,
    key: SERVICE_KEY,
    voiceModel: 'svc-tts-fast',
  });
  const clips: CallerClip[] = [];
  for (const text of texts) {
    if (clips.length === CLIPS) break;
    const samples = await platform.sound(text, RATE_HZ);
    const seconds = samples.length / RATE_HZ;
    if (seconds < MIN_S || seconds > MAX_S) continue;
    const audio = join(scratch, `caller-${clips.length}.wav`);
    await Bun.write(audio, encodeWav(samples, RATE_HZ));
    clips.push({ text, samples, audio });
  }
  return clips;
}

/** One call with many turns, alternating with the peer. */
export async function crossTalkRows(
  service: Service,
  peer: LineProcess,
  clips: readonly CallerClip[],
  { turns, silenceMs }: { readonly turns: number; readonly silenceMs: number },
): Promise<Measured> {
  const call = await SimulatedCall.dial({
    baseUrl: service.baseUrl,
    key: SERVICE_KEY,
    query: '?model=svc-stt&language=en',
  });
  const assistant = await call.voiceOf(ASSISTANT);
  const foreign = new Set(transcriptWords(ASSISTANT).filter((word) => word.length > 4 && !COMMON.has(word)));
  const finals: number[] = [];
  const firsts: number[] = [];
  const theirs: number[] = [];
  let split = 0;
  let assistantWords = 0;
  let [errors, expectedWords] = [0, 0];
  let partials = 0;
  for (let turn = 0; turn < turns; turn++) {
    const clip = clips[turn % clips.length];
    if (clip === undefined) throw new Error('no clip has a length of about 3 s');
    const before = call.messages.length;
    void call.assistantSays(assistant);
    const { startMs, endMs } = await call.customerSays(clip.samples);
    await call.settled(before, endMs, SETTLE_MS);
    call.interruptAssistant();
    const received = call.messages.slice(before);
    const texts = received.filter(({ transcriptType }) => transcriptType === 'final');
    const transcript = texts.map(({ transcription }) => transcription).join(' ');
    partials += received.length - texts.length;
    const words = received.flatMap(({ transcription = '' }) => transcriptWords(transcription));
    assistantWords += words.filter((word) => foreign.has(word)).length;
    const compared = wordErrors(clip.text, transcript);
    errors += compared.errors;
    expectedWords += compared.words;
    firsts.push((received[0]?.atMs ?? Number.NaN) - startMs);
    if (texts.length === 1) finals.push((texts[0]?.atMs ?? Number.NaN) - endMs - silenceMs);
    else split += 1;
    const request = { audio: clip.audio, runs: 1, language: 'en', task: 'transcribe' };
    theirs.push((await peer.sendRequest<{ seconds: number }>(request)).seconds * 1000);
  }
  call.hangUp();
  return {
    rows: [
      {
        measure: `end of speech → final, beyond ${silenceMs} ms of silence, median; peer: faster-whisper's time for the clip`,
        ours: median(finals),
        peer: median(theirs),
        unit: 'ms',
        target: TARGET,
      },
      { measure: 'the same, mean', ours: mean(finals), peer: mean(theirs), unit: 'ms' },
      { measure: 'the same, 95 %', ours: quantile(finals, 0.95), peer: quantile(theirs, 0.95), unit: 'ms' },
      {
        measure: 'end of speech → final, all of it, most',
        ours: Math.max(...finals) + silenceMs,
        unit: 'ms',
        target: PLATFORM_TIMEOUT_MS,
      },
      { measure: 'first word → first text, median', ours: median(firsts), unit: 'ms' },
      { measure: 'partials of a turn', ours: partials / turns, unit: '' },
      { measure: `words of the assistant in ${turns} turns`, ours: assistantWords, unit: '', target: 0 },
      { measure: 'errors that the service reported', ours: call.errors.length, unit: '', target: 0 },
      { measure: 'words of the caller that are wrong', ours: (100 * errors) / expectedWords, unit: '%' },
    ],
    notes: [
      `One call of ${turns} turns: ${clips.length} texts of ${MIN_S}–${MAX_S} s by piper on the customer channel in odd frames in real time, with continuous speech on the assistant channel. ${split} turns were split by a pause and count only for the word error rate.`,
      'Baseline: faster-whisper 1.2.1 (int8, 2 threads, greedy, the clip in memory), run after each turn.',
    ],
  };
}
