/**
 * Writes compressed test files: `bun encode-media.ts FOLDER SECONDS`. Runs in a separate process.
 * Each is a sine of 440 Hz, stereo, 48 kHz, named as in {@link ENCODED}.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerMediabunnyServer } from '@mediabunny/server';
import {
  AdtsOutputFormat,
  type AudioCodec,
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  FlacOutputFormat,
  MkvOutputFormat,
  MovOutputFormat,
  Mp3OutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny';
import { sine } from '../../tools/harness/media/wav-files.ts';

const RATE_HZ = 48_000;
const CHANNELS = 2;

const FORMATS: Readonly<Record<string, readonly [OutputFormat, AudioCodec]>> = {
  'tone.mp3': [new Mp3OutputFormat(), 'mp3'],
  'tone.m4a': [new Mp4OutputFormat({ fastStart: 'in-memory' }), 'aac'],
  'tone.moov-last.m4a': [new Mp4OutputFormat({ fastStart: false }), 'aac'],
  'tone.fragmented.mp4': [new Mp4OutputFormat({ fastStart: 'fragmented' }), 'aac'],
  'tone.mov': [new MovOutputFormat(), 'pcm-s24'],
  'tone.flac': [new FlacOutputFormat(), 'flac'],
  'tone.opus.ogg': [new OggOutputFormat(), 'opus'],
  'tone.vorbis.ogg': [new OggOutputFormat(), 'vorbis'],
  'tone.webm': [new WebMOutputFormat(), 'opus'],
  'tone.mkv': [new MkvOutputFormat(), 'aac'],
  'tone.aac': [new AdtsOutputFormat(), 'aac'],
};

async function encode(format: OutputFormat, codec: AudioCodec, seconds: number): Promise<Uint8Array> {
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const source = new AudioSampleSource({ codec, bitrate: 128_000 });
  output.addAudioTrack(source);
  await output.start();
  const tone = sine(seconds, RATE_HZ);
  const sample = new AudioSample({
    format: 'f32',
    data: Float32Array.from(
      { length: tone.length * CHANNELS },
      (_, i) => tone[Math.floor(i / CHANNELS)] ?? 0,
    ),
    numberOfChannels: CHANNELS,
    sampleRate: RATE_HZ,
    timestamp: 0,
  });
  await source.add(sample);
  sample.close();
  await output.finalize();
  if (target.buffer === null) throw new Error('the encoder returned no data');
  return new Uint8Array(target.buffer);
}

const [folder = '.', seconds = '1'] = process.argv.slice(2);
registerMediabunnyServer();
for (const [name, [format, codec]] of Object.entries(FORMATS)) {
  writeFileSync(join(folder, name), await encode(format, codec, Number(seconds)));
}
