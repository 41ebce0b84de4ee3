/**
 * Writes segments, reads their ends and prints the differences as a JSON list: `bun write-segment.ts JSON`, with a list of
 * paths and segments. Runs in a separate process.
 */

import { readClipTail } from '../../src/media/clips/clip-tail.ts';
import { type SegmentAudio, SegmentWriter } from '../../src/media/encode/segment-writer.ts';
import { loadCodecs } from '../../src/media/process/codecs.ts';
import { drawScene, type SceneName, sceneOf } from '../../tools/harness/media/clip-scenes.ts';
import { sine } from '../../tools/harness/media/wav-files.ts';

export interface TestSegment {
  readonly scene: SceneName;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly frames: number;
  readonly audio?: SegmentAudio;
}

export interface NewSegment {
  readonly path: string;
  readonly segment: TestSegment;
}

/** Facts of the written segment and of its end as read. */
export interface ReadSegment {
  readonly frames: number;
  readonly seconds: number;
  /** Times of the last three frames, and their mean absolute difference from the drawn pixels. */
  readonly tail: readonly { readonly timeS: number; readonly difference: number }[];
  readonly audio?: { readonly channels: number; readonly samples: number; readonly loudness: number };
}

/** Code points of BT.709 (ITU-T H.273). */
const BT709 = 1;

async function write(path: string, segment: TestSegment): Promise<{ frames: number; seconds: number }> {
  const { width, height, fps, frames, audio } = segment;
  const colour = { primaries: BT709, transfer: BT709, matrix: BT709 } as Parameters<
    typeof SegmentWriter.open
  >[1]['colour'];
  const writer = await SegmentWriter.open(path, { width, height, fps, colour, audio });
  const scene = sceneOf(segment.scene, frames / fps);
  const tone = audio && sine(frames / fps, audio.rateHz);
  const pixels = new Uint8Array((width * height * 3) / 2);
  for (let index = 0; index < frames; index++) {
    // Reuses the memory of the frame, as the contract allows.
    pixels.set(drawScene(scene, width, height, index / fps));
    await writer.addFrame(pixels);
    if (!audio || !tone) continue;
    const run = tone.slice(
      Math.round((index / fps) * audio.rateHz),
      Math.round(((index + 1) / fps) * audio.rateHz),
    );
    await writer.addAudio(Array.from({ length: audio.channels }, () => run));
  }
  return await writer.finish();
}

async function read(path: string, segment: TestSegment): Promise<Pick<ReadSegment, 'tail' | 'audio'>> {
  const { width, height, fps, frames } = segment;
  const { frames: last, audio } = await readClipTail(path, { frames: 3, width, height, audioS: 0.5 });
  const scene = sceneOf(segment.scene, frames / fps);
  const tail = last.map(({ timeS, pixels }) => {
    const drawn = drawScene(scene, width, height, timeS);
    const sum = pixels.reduce((total, value, index) => total + Math.abs(value - (drawn[index] as number)), 0);
    return { timeS, difference: sum / pixels.length };
  });
  if (audio === undefined) return { tail };
  const [first = new Float32Array()] = audio.channels;
  const loudness = Math.sqrt(first.reduce((total, value) => total + value * value, 0) / first.length);
  return { tail, audio: { channels: audio.channels.length, samples: first.length, loudness } };
}

const [list = '[]'] = process.argv.slice(2);
loadCodecs();
const results: ReadSegment[] = [];
for (const { path, segment } of JSON.parse(list) as readonly NewSegment[]) {
  results.push({ ...(await write(path, segment)), ...(await read(path, segment)) });
}
process.stdout.write(JSON.stringify(results));
