/** Audio for transcription tests: recordings and sounds without speech, mono at 16 kHz. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import { audioFileReader } from '../../src/media/audio/audio-file-reader.ts';
import { type RecordingName, recording } from '../../tools/harness/media/recordings.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** Whole recordings, decoded once for all tests of a file, because each decoding starts a process. */
const decoded = new Map<RecordingName, Promise<Float32Samples>>();

/** A section of a recording, mixed to mono at 16 kHz. The caller may change the samples. */
export async function recorded(
  name: RecordingName,
  fromS = 0,
  toS = Number.POSITIVE_INFINITY,
): Promise<Float32Samples> {
  const samples = decoded.get(name) ?? decode(name);
  decoded.set(name, samples);
  return (await samples).slice(fromS * LISTEN_RATE_HZ, toS * LISTEN_RATE_HZ);
}

async function decode(name: RecordingName): Promise<Float32Samples> {
  const { PATH = '', HOME = '' } = process.env;
  const reader = audioFileReader({ environment: { PATH, HOME } });
  try {
    const never = new AbortController().signal;
    const { samples } = await reader.openFile(recording(name), LISTEN_RATE_HZ, 'file', never);
    return joined(await Array.fromAsync(samples));
  } finally {
    await reader.close();
  }
}

/** One channel of a 16-bit stereo WAV file at 16 kHz. */
export async function channelOf(name: RecordingName, channel: 0 | 1): Promise<Float32Samples> {
  const HEADER_BYTES = 44;
  const bytes = await Bun.file(recording(name)).arrayBuffer();
  const samples = new Int16Array(bytes.slice(HEADER_BYTES));
  return Float32Array.from(
    { length: samples.length / 2 },
    (_, i) => (samples[2 * i + channel] ?? 0) / 32_768,
  );
}

/** Sounds without speech, 2 s each. */
export function soundsWithoutSpeech(): Readonly<Record<string, Float32Samples>> {
  const sound = (sampleAt: (timeS: number) => number) =>
    Float32Array.from({ length: 2 * LISTEN_RATE_HZ }, (_, i) => sampleAt(i / LISTEN_RATE_HZ));
  const random = seededRandom(9);
  const tone = (hz: number, timeS: number) => Math.sin(2 * Math.PI * hz * timeS);
  let brown = 0;
  return {
    silence: sound(() => 0),
    'a faint hiss': sound(() => 0.004 * (random() - 0.5)),
    'loud noise': sound(() => 0.6 * (random() - 0.5)),
    'a rumble': sound(() => {
      brown = 0.995 * brown + 0.02 * (random() - 0.5);
      return brown;
    }),
    'a tone': sound((timeS) => 0.3 * tone(440, timeS)),
    'a chord': sound((timeS) => 0.1 * (tone(262, timeS) + tone(330, timeS) + tone(392, timeS))),
    hum: sound((timeS) => 0.2 * tone(50, timeS) + 0.05 * tone(150, timeS)),
    clicks: sound((timeS) => (timeS % 0.5 < 0.002 ? 0.8 : 0)),
  };
}
