/** Command that encodes clips: `bun encode-clips.ts FOLDER RECIPES`, with recipes as JSON. */

import { join } from 'node:path';
import { registerMediabunnyServer } from '@mediabunny/server';
import {
  AudioSample,
  AudioSampleSource,
  FilePathTarget,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  VideoSample,
  VideoSampleSource,
} from 'mediabunny';
import { drawScene, sceneOf } from './clip-scenes.ts';
import type { ClipRecipe } from './video-files.ts';

const VIDEO_BITS_PER_PIXEL = 0.15;

async function encode(folder: string, recipe: ClipRecipe): Promise<void> {
  const { width, height, fps, rotation = 0, keyFrameS = 2 } = recipe;
  const fastStart = ({ front: 'in-memory', back: false, fragments: 'fragmented' } as const)[
    recipe.index ?? 'front'
  ];
  const format = recipe.name.endsWith('.mov')
    ? new MovOutputFormat({ fastStart })
    : new Mp4OutputFormat({ fastStart });
  const output = new Output({ format, target: new FilePathTarget(join(folder, recipe.name)) });
  const video = new VideoSampleSource({
    codec: recipe.videoCodec,
    bitrate: Math.round(VIDEO_BITS_PER_PIXEL * width * height * fps),
    keyFrameInterval: keyFrameS,
  });
  output.addVideoTrack(video, { rotation, frameRate: fps });
  const audio = recipe.audioCodec && new AudioSampleSource({ codec: recipe.audioCodec, bitrate: 128_000 });
  if (audio) output.addAudioTrack(audio);
  await output.start();
  const [framesDone, soundDone] = [addFrames(video, recipe), audio && addSound(audio, recipe)];
  await Promise.all([framesDone, soundDone]);
  await output.finalize();
}

async function addFrames(video: VideoSampleSource, recipe: ClipRecipe): Promise<void> {
  const { width, height, fps, seconds } = recipe;
  const scene = sceneOf(recipe.scene, seconds);
  const frames = Math.round(seconds * fps);
  const left = Array.from({ length: frames }, (_, index) => index).filter(
    (index) => !(recipe.uneven && index % 3 === 1),
  );
  for (const [position, index] of left.entries()) {
    const sample = new VideoSample(drawScene(scene, width, height, index / fps), {
      format: 'I420',
      codedWidth: width,
      codedHeight: height,
      timestamp: index / fps,
      duration: ((left[position + 1] ?? frames) - index) / fps,
      colorSpace: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709', fullRange: false },
    });
    await video.add(sample);
    sample.close();
  }
  video.close();
}

/** Adds a tremolo chord and noise: a continuous and a non-repeating sound. */
async function addSound(audio: AudioSampleSource, recipe: ClipRecipe): Promise<void> {
  const { seconds, rateHz = 44_100, channels = 2 } = recipe;
  const frames = Math.round(seconds * rateHz);
  const data = new Float32Array(frames * channels);
  let noise = 1;
  for (let i = 0; i < frames; i++) {
    const t = i / rateHz;
    noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0;
    const chord =
      Math.sin(2 * Math.PI * 220 * t) + Math.sin(2 * Math.PI * 330 * t) + Math.sin(2 * Math.PI * 440 * t);
    const value = 0.08 * chord * (1 + 0.5 * Math.sin(2 * Math.PI * 1.5 * t)) + 0.02 * (noise / 2 ** 31);
    for (let channel = 0; channel < channels; channel++) data[i * channels + channel] = value;
  }
  const sample = new AudioSample({
    format: 'f32',
    data,
    numberOfChannels: channels,
    sampleRate: rateHz,
    timestamp: 0,
  });
  await audio.add(sample);
  sample.close();
  audio.close();
}

const [folder = '.', recipes = '[]'] = process.argv.slice(2);
registerMediabunnyServer({ hardwareContext: null });
for (const recipe of JSON.parse(recipes) as ClipRecipe[]) await encode(folder, recipe);
