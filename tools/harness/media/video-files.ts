/** Video clips for tests and benchmarks, encoded in a separate process. */

import { join } from 'node:path';
import type { SceneName } from './clip-scenes.ts';
import { cachedFiles } from './fixture-cache.ts';

const ENCODER = join(import.meta.dirname, 'encode-clips.ts');
const SCENES = join(import.meta.dirname, 'clip-scenes.ts');

/** Parameters of a clip. */
export interface ClipRecipe {
  /** File name. The extension selects MP4 or QuickTime. */
  readonly name: string;
  readonly scene: SceneName;
  readonly videoCodec: 'avc' | 'hevc';
  readonly audioCodec?: 'aac' | 'mp3';
  /** Default: 44,100 Hz. */
  readonly rateHz?: number;
  readonly channels?: number;
  /** Coded width, before rotation. */
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly seconds: number;
  /** Clockwise rotation by the player in degrees. */
  readonly rotation?: 0 | 90 | 180 | 270;
  /** Interval of key frames in seconds. Default: two seconds. */
  readonly keyFrameS?: number;
  /** Position of the index. Default: `front`. */
  readonly index?: 'front' | 'back' | 'fragments';
  /** Omits every third frame. */
  readonly uneven?: boolean;
}

/** Ten clips with different kinds of motion. */
export const TEN_CLIPS: readonly ClipRecipe[] = [
  {
    name: 'pan.mp4',
    scene: 'pan',
    videoCodec: 'avc',
    audioCodec: 'aac',
    width: 640,
    height: 360,
    fps: 24,
    seconds: 4,
  },
  {
    name: 'zoom.mp4',
    scene: 'zoom',
    videoCodec: 'avc',
    audioCodec: 'mp3',
    width: 640,
    height: 480,
    fps: 30,
    seconds: 3,
  },
  {
    name: 'turning.mov',
    scene: 'turning',
    videoCodec: 'hevc',
    audioCodec: 'aac',
    width: 854,
    height: 480,
    fps: 25,
    seconds: 3,
  },
  {
    name: 'talking.mp4',
    scene: 'talking',
    videoCodec: 'avc',
    audioCodec: 'aac',
    width: 360,
    height: 640,
    fps: 30,
    seconds: 5,
  },
  { name: 'still.mp4', scene: 'still', videoCodec: 'avc', width: 640, height: 360, fps: 24, seconds: 2 },
  {
    name: 'cut.mp4',
    scene: 'cut',
    videoCodec: 'avc',
    audioCodec: 'aac',
    width: 640,
    height: 360,
    fps: 24,
    seconds: 3,
  },
  { name: 'fade.mp4', scene: 'fade', videoCodec: 'hevc', width: 640, height: 360, fps: 24, seconds: 3 },
  {
    name: 'grain.mp4',
    scene: 'grain',
    videoCodec: 'avc',
    audioCodec: 'aac',
    width: 1280,
    height: 720,
    fps: 24,
    seconds: 2,
  },
  {
    name: 'fast.mp4',
    scene: 'fast',
    videoCodec: 'avc',
    audioCodec: 'mp3',
    width: 480,
    height: 360,
    fps: 60,
    seconds: 2,
  },
  {
    name: 'text.mov',
    scene: 'text',
    videoCodec: 'avc',
    audioCodec: 'aac',
    width: 640,
    height: 360,
    fps: 30,
    seconds: 15,
  },
];

/**
 * Writes clips into a folder. The same recipes give the same clips.
 * @returns their paths, in the order of the recipes.
 */
export async function makeClips(
  folder: string,
  recipes: readonly ClipRecipe[] = TEN_CLIPS,
): Promise<string[]> {
  for (const recipe of recipes) {
    const inputs = { parameters: recipe, sources: [ENCODER, SCENES] };
    await cachedFiles(folder, inputs, [recipe.name], (cache) => encodeClip(cache, recipe));
  }
  return recipes.map(({ name }) => join(folder, name));
}

async function encodeClip(folder: string, recipe: ClipRecipe): Promise<void> {
  const encoder = Bun.spawn([process.execPath, ENCODER, folder, JSON.stringify([recipe])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors = await new Response(encoder.stderr).text();
  if ((await encoder.exited) !== 0) throw new Error(`${recipe.name} could not be encoded: ${errors}`);
}
