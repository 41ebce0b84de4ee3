/** Accuracy of the end of turns: complete sentences, and sentences that break off. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { detectTurns, type ListeningModels, openListeningModels } from '../../conversations/detected-turn.ts';
import {
  completeSentences,
  type DictatedLine,
  dictatedLines,
  type SpokenLine,
} from '../../corpus/conversations/callers.ts';
import { conditionOf, underCondition } from '../../corpus/conversations/conditions.ts';
import { amplitude, noise, scaled } from '../../corpus/noise.ts';
import { type Row, report } from '../../report.ts';
import { quantile } from '../../statistics.ts';

const CLIPS = 200;
const VOICES = 2;
/** Clips that are sent concurrently, as by several callers. */
const CONCURRENT = 2;
const CUT_SILENCE_S = 0.7;
const COMPLETE_SILENCE_S = 1.2;
/** Pause between the parts of a dictated value. */
const DICTATION_PAUSE_S = 0.8;
const MAX_END_MS = 500;
/** Noise of a silent line. */
const LINE_NOISE_DB = -66;
const SPEECH_LEVEL = 0.005;
/** A speaker who hesitates after one of these words has not finished. */
const FUNCTION_WORD =
  /^(?:an?|the|my|our|your|his|their|to|of|in|on|at|for|with|from|by|about|between|and|or|but|that|if|when|because|than|is|are|was|were|will|would|can|could|should|have|has|do|does|did|i|we|you|he|she|they|very|any|some|this|into|before|after|as|be)$/i;
const MIN_WORDS = 5;

interface Clip {
  readonly speech: Float32Samples;
  readonly endMs: number;
}

export async function benchConversationTurns(): Promise<void> {
  const sentences = (await completeSentences(VOICES)).filter(({ words }) => words.length >= MIN_WORDS);
  const complete = sentences.slice(0, CLIPS).map(completeClip);
  const cut = sentences.flatMap((sentence) => cutClip(sentence) ?? []).slice(0, CLIPS);
  const dictated = (await dictatedLines()).map(dictatedClip);
  const models = await openListeningModels();
  try {
    const ends = await endsOf(models, complete, COMPLETE_SILENCE_S);
    const cutIns = await endsOf(models, cut, CUT_SILENCE_S);
    const values = await endsOf(models, dictated, COMPLETE_SILENCE_S);
    const inTime = ends.filter((ms) => ms !== undefined && ms <= MAX_END_MS);
    const early = ends.filter((ms) => ms !== undefined && ms < 0);
    const ended = ends.filter((ms): ms is number => ms !== undefined && ms >= 0);
    const rows: Row[] = [
      {
        measure: `${cut.length} sentences that break off, ${CUT_SILENCE_S} s of silence: ended`,
        ours: (100 * cutIns.filter((ms) => ms !== undefined && ms >= 0).length) / cut.length,
        unit: '%',
        target: 10,
      },
      {
        measure: `${complete.length} complete sentences: not ended within ${MAX_END_MS} ms of the end of speech`,
        ours: (100 * (complete.length - inTime.length)) / complete.length,
        unit: '%',
        target: 10,
      },
      {
        measure: 'complete sentences: ended at a pause inside the sentence',
        ours: (100 * early.length) / complete.length,
        unit: '%',
      },
      {
        measure: 'complete sentences: end of speech → decision, median',
        ours: quantile(ended, 0.5),
        unit: 'ms',
      },
      { measure: 'the same, p95', ours: quantile(ended, 0.95), unit: 'ms' },
      {
        measure: `${dictated.length} callers who dictate a number or an address with pauses of ${DICTATION_PAUSE_S} s: cut off`,
        ours: (100 * values.filter((ms) => ms !== undefined && ms < 0).length) / values.length,
        unit: '%',
        target: 10,
      },
    ];
    await report('conversation-turns', 'Conversations: end of turn', rows, [
      `Synthetic speech of seven voices; a half clean, a half with pink noise (10 dB), over the telephone (G.711), or both. ${CONCURRENT} callers at a time, in real time.`,
      'The sentences break off after a function word, such as "I would like to". Only ends after this word count; pauses inside a sentence are counted for the complete sentences.',
    ]);
  } finally {
    await models.close();
  }
}

function completeClip({ samples }: Pick<SpokenLine, 'samples'>): Clip {
  const last = samples.findLastIndex((sample) => Math.abs(sample) > SPEECH_LEVEL);
  const speech = samples.slice(0, last + 1);
  return { speech, endMs: (speech.length * 1000) / LISTEN_RATE_HZ };
}

/** Inserts the pauses of a speaker who dictates. */
function dictatedClip({ samples, words, pausesAfter }: DictatedLine): Clip {
  const pause = new Float32Array(DICTATION_PAUSE_S * LISTEN_RATE_HZ);
  const cuts = pausesAfter.map((at) => Math.round(((words[at]?.endMs ?? 0) * LISTEN_RATE_HZ) / 1000));
  const pieces = [0, ...cuts].map((from, i) => samples.slice(from, cuts[i]));
  const speech = joined(pieces.flatMap((piece, i) => (i === 0 ? [piece] : [pause, piece])));
  return completeClip({ samples: speech });
}

/** Cuts a sentence after the function word next to its middle; undefined without such a word. */
function cutClip({ samples, words }: SpokenLine): Clip | undefined {
  const middle = words.length / 2;
  const positions = words.keys().filter((at) => {
    const text = words[at]?.text.trim() ?? '';
    return at > 0 && at < words.length - 1 && FUNCTION_WORD.test(text);
  });
  const [at] = [...positions].sort((a, b) => Math.abs(a + 1 - middle) - Math.abs(b + 1 - middle));
  if (at === undefined) return undefined;
  const endMs = words[at]?.endMs ?? 0;
  return { speech: samples.slice(0, Math.round((endMs * LISTEN_RATE_HZ) / 1000)), endMs };
}

/** For each clip, the time from the end of its speech to the decision that its turn has ended; undefined: none. */
async function endsOf(
  models: ListeningModels,
  clips: readonly Clip[],
  silenceS: number,
): Promise<(number | undefined)[]> {
  const ends: (number | undefined)[] = new Array(clips.length).fill(undefined);
  const waiting = [...clips.entries()];
  const run = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, { speech, endMs }] = next;
      const samples = new Float32Array(speech.length + silenceS * LISTEN_RATE_HZ);
      samples.set(speech);
      const line = scaled(noise('white', samples.length, at), amplitude(LINE_NOISE_DB));
      const received = underCondition(
        samples.map((sample, i) => sample + (line[i] ?? 0)),
        conditionOf(at),
        at,
      );
      const { events } = await detectTurns(models, received, 'semantic_vad');
      const stopped = events.find(({ kind }) => kind === 'speech_stopped');
      // The end of the clip also ends its turn.
      const isInClip = stopped !== undefined && stopped.atMs < (samples.length * 1000) / LISTEN_RATE_HZ;
      ends[at] = isInClip ? stopped.atMs - endMs : undefined;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
  return ends;
}
