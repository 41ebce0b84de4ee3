/** Speakers for the stored voice benchmark: synthetic voices, real recordings, and both with shifted pitch and formants. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Resampler } from '../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { rms, scaled } from '../corpus/noise.ts';
import { recordings } from '../corpus/recordings.ts';
import { readWav, toListenRate } from '../corpus/wav-file.ts';
import { runPeer } from '../python.ts';

export interface Speaker {
  readonly id: string;
  /** Mono at {@link LISTEN_RATE_HZ}, 5 to 15 s. */
  readonly samples: Float32Samples;
  /** Spoken text. */
  readonly text: string;
}

const SPEAKERS = 10;

const TEXT =
  'The north wind and the sun were arguing about which of them was stronger, when a traveller came along wrapped in a warm cloak. ' +
  'They agreed that the one who first made the traveller take off his cloak should be considered stronger.';
/** The first three are used with recordings, the others only without them. */
const ESPEAK_VOICES = ['en-us+f2', 'en-us+m3', 'en+m7', 'en-us+f4', 'en', 'en-us+m1', 'en+f3'];
const WORDS_PER_MINUTE = 160;
const MAX_S = 14;
const LEVEL = 0.07;
const RECORDED = ['jfk', 'wizard', 'licence', 'lizenz'];
/** Clips with pitch and formants shifted by a factor, as by a different vocal tract length. */
const SHIFTED = [
  { of: 'joe', factor: 1.15 },
  { of: 'licence', factor: 1.2 },
];

/** @param piper synthesizes with piper at {@link LISTEN_RATE_HZ}. */
export async function benchSpeakers(piper: (text: string) => Promise<Float32Samples>): Promise<Speaker[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const joe = { id: 'joe', samples: cut(await piper(TEXT)), text: TEXT };
    const recorded = (await recordings(folder)).filter(({ id }) => RECORDED.includes(id));
    const read = recorded.map(async ({ id, audio, text }) => ({
      id,
      samples: cut(await readWav(join(folder, audio))),
      text,
    }));
    const natural = [joe, ...(await Promise.all(read))];
    const shifted = SHIFTED.flatMap(({ of, factor }) => {
      const from = natural.find(({ id }) => id === of);
      return from ? [{ ...from, id: `${of} x ${factor}`, samples: shiftedBy(from.samples, factor) }] : [];
    });
    const espeak = await spokenByEspeak(folder, SPEAKERS - natural.length - shifted.length);
    return [...natural, ...shifted, ...espeak].map((speaker) => ({
      ...speaker,
      samples: scaled(speaker.samples, LEVEL / rms(speaker.samples)),
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function cut(samples: Float32Samples): Float32Samples {
  return samples.slice(0, MAX_S * LISTEN_RATE_HZ);
}

/** Shifts pitch and speed by resampling. */
function shiftedBy(samples: Float32Samples, factor: number): Float32Samples {
  const resampler = new Resampler({
    fromHz: Math.round(LISTEN_RATE_HZ * factor),
    toHz: LISTEN_RATE_HZ,
    format: 'float32',
  });
  const shifted = joined([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return shifted;
}

async function spokenByEspeak(folder: string, count: number): Promise<Speaker[]> {
  const requests = ESPEAK_VOICES.slice(0, count).map((voice, i) => ({
    path: join(folder, `espeak-${i}.wav`),
    text: TEXT,
    voice,
    wordsPerMinute: WORDS_PER_MINUTE,
  }));
  const results = await runPeer<{ path: string; rateHz: number }>(
    'espeak_speech.py',
    [],
    requests.map((line) => JSON.stringify(line)).join('\n'),
  );
  return await Promise.all(
    results.map(async ({ path, rateHz }, i) => ({
      id: `eSpeak ${ESPEAK_VOICES[i]}`,
      samples: cut(toListenRate(await readWav(path), rateHz)),
      text: TEXT,
    })),
  );
}
