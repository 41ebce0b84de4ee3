/** What the service hears while the assistant speaks: sounds that are not an interruption, and words that are. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { amplitude, noise, rms, scaled, seededRandom } from '../noise.ts';
import { soundsWithoutSpeech } from '../sounds.ts';
import { spokenLines } from './callers.ts';

/** Kind of a clip. Only `words` are an interruption. */
export type InterruptionKind = 'cough' | 'noise or music' | 'echo' | 'back-channel' | 'words';

export interface InterruptionClip {
  readonly kind: InterruptionKind;
  /** Mono, 16 kHz. It starts with the speech of the assistant. */
  readonly samples: Float32Samples;
  /** Number of the reply that the assistant speaks. */
  readonly reply: number;
}

const CLIPS_PER_KIND = 50;
/** The user makes a sound after this time, in s. */
const START_S = 0.8;
const CLIP_S = 4;
const LEVEL = 0.07;
const ECHO_DB = -12;
/** Delays of an echo in ms, as of a loudspeaker and network. */
const ECHO_DELAYS_MS = [60, 120, 200, 300];
const BACK_CHANNELS = [
  ...['Mhm.', 'Uh-huh.', 'Okay.', 'Yeah.', 'Right.', 'Yes.', 'Sure.', 'I see.', 'Oh.', 'Hmm.'],
  ...['All right.', 'Okay, okay.', 'Yeah, yeah.'],
];
const INTERRUPTIONS = [
  ...[
    'Wait a moment.',
    'No, not that one.',
    'Stop, please.',
    'Sorry, can you repeat that?',
    'Actually, make it five.',
  ],
  ...['How much does it cost?', 'No, on Friday.', 'Excuse me, I have another question.', 'That is wrong.'],
  ...['Can I speak to a person?', 'Hold on.', 'What about tomorrow?', 'I do not need that.'],
];

/** 50 clips of each kind. @param replies speech of the assistant at 16 kHz, each at least as long as a clip. */
export async function interruptionClips(replies: readonly Float32Samples[]): Promise<InterruptionClip[]> {
  const sounds = [...soundsWithoutSpeech()].filter(({ name }) => !name.startsWith('silence'));
  const spoken = async (texts: readonly string[]) =>
    await spokenLines(
      Array.from({ length: CLIPS_PER_KIND }, (_, i) => ({ text: texts[i % texts.length] ?? '', voice: i })),
    );
  const backChannels = await spoken(BACK_CHANNELS);
  const words = await spoken(INTERRUPTIONS);
  const clip = (kind: InterruptionKind, i: number, sound: Float32Samples): InterruptionClip => ({
    kind,
    reply: i % replies.length,
    samples: atOffset(sound, START_S, i),
  });
  return Array.from({ length: CLIPS_PER_KIND }, (_, i) => [
    clip('cough', i, cough(i)),
    clip('noise or music', i, sounds[(i * 7) % sounds.length]?.samples ?? new Float32Array()),
    {
      kind: 'echo' as const,
      reply: i % replies.length,
      samples: atOffset(
        scaled(replies[i % replies.length] ?? new Float32Array(), amplitude(ECHO_DB)),
        (ECHO_DELAYS_MS[i % ECHO_DELAYS_MS.length] ?? 0) / 1000,
        i,
      ),
    },
    clip('back-channel', i, backChannels[i]?.samples ?? new Float32Array()),
    clip('words', i, words[i]?.samples ?? new Float32Array()),
  ]).flat();
}

/** Puts a sound into a clip with the noise of a quiet room. */
function atOffset(sound: Float32Samples, startS: number, seed: number): Float32Samples {
  const length = CLIP_S * LISTEN_RATE_HZ;
  const room = scaled(noise('pink', length, 300 + seed), amplitude(-62));
  const start = Math.round(startS * LISTEN_RATE_HZ);
  return room.map((sample, i) => sample + (sound[i - start] ?? 0));
}

/** One to three bursts of noise with the resonances of a vocal tract, each with a sharp start. */
function cough(seed: number): Float32Samples {
  const random = seededRandom(11_000 + seed);
  const bursts = 1 + Math.floor(random() * 3);
  const spacing = Math.round((0.28 + 0.15 * random()) * LISTEN_RATE_HZ);
  const samples = new Float32Array(bursts * spacing + LISTEN_RATE_HZ / 2);
  const [first, second] = [500 + 300 * random(), 1400 + 700 * random()];
  for (let burst = 0; burst < bursts; burst++) {
    const source = noise('pink', Math.round(0.3 * LISTEN_RATE_HZ), 12_000 + 10 * seed + burst);
    const [low, high] = [resonator(first, 180), resonator(second, 260)];
    source.forEach((value, i) => {
      const t = i / LISTEN_RATE_HZ;
      const envelope = Math.min(1, t / 0.01) * (Math.exp(-t / 0.05) + 0.35 * Math.exp(-t / 0.12));
      const at = burst * spacing + i;
      samples[at] = (samples[at] ?? 0) + envelope * (low(value) + 0.6 * high(value));
    });
  }
  return scaled(samples, (1.5 * LEVEL) / rms(samples));
}

/** A two-pole filter with a resonance. @param widthHz bandwidth. */
function resonator(hz: number, widthHz: number): (value: number) => number {
  const radius = Math.exp((-Math.PI * widthHz) / LISTEN_RATE_HZ);
  const angle = (2 * Math.PI * hz) / LISTEN_RATE_HZ;
  let [last, before] = [0, 0];
  return (value) => {
    const next = (1 - radius) * value + 2 * radius * Math.cos(angle) * last - radius * radius * before;
    [last, before] = [next, last];
    return next;
  };
}
