import { existsSync } from 'node:fs';

const FFPROBE = '/usr/bin/ffprobe';
export const HAS_FFPROBE = existsSync(FFPROBE);

export interface ProbedAudio {
  /** Names of FFmpeg. */
  readonly container: string;
  readonly codec: string;
  /** Length according to the file and an estimate of FFmpeg; undefined if it has none. */
  readonly declaredS: number | undefined;
  /** Length of the decoded samples. */
  readonly decodedS: number;
  /** Warnings of the demuxer and the decoder, without the note that a duration is an estimate. */
  readonly warnings: string;
}

/** Reads an audio file with the programs of FFmpeg. */
export async function probedAudio(path: string): Promise<ProbedAudio> {
  const entries = 'format=format_name,duration:stream=codec_name';
  const probe = Bun.spawn([FFPROBE, '-v', 'error', '-show_entries', entries, '-of', 'json', path], {
    stdout: 'pipe',
  });
  const decoding = Bun.spawn(['ffmpeg', '-v', 'warning', '-i', path, '-f', 's16le', '-ar', '24000', '-'], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [json, samples, warnings] = await Promise.all([
    new Response(probe.stdout).text(),
    new Response(decoding.stdout).arrayBuffer(),
    new Response(decoding.stderr).text(),
  ]);
  const { format, streams } = JSON.parse(json) as {
    format: { format_name: string; duration?: string };
    streams: { codec_name: string }[];
  };
  return {
    container: format.format_name,
    codec: streams[0]?.codec_name ?? '',
    declaredS: format.duration === undefined ? undefined : Number(format.duration),
    decodedS: samples.byteLength / 48_000,
    warnings: warnings.replaceAll(/^.*Estimating duration from bitrate.*\n/gm, ''),
  };
}
