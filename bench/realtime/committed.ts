/** Latency from commit to transcript over the WebSocket, compared with the engine alone. */

import type { TimedClip } from '../corpus/clip.ts';
import { readWav } from '../corpus/wav-file.ts';
import { type TurnSegmenter, transcribe } from '../listening.ts';
import type { Row } from '../report.ts';
import type { Service } from '../service.ts';
import { mean, median } from '../statistics.ts';
import { appendFrames, atSocketRate } from './appends.ts';
import { TimedClient } from './client.ts';
import type { Measured } from './measured.ts';

const GROUPS: readonly { readonly group: string; readonly target?: number }[] = [
  { group: '3 s', target: 1.15 },
  { group: '8 s' },
];
const RUNS = 15;
const CHUNK_MS = 100;
/** Pause before the commit, so that all frames are read, as with a live client. */
const SETTLE_MS = 60;

/** Latency from commit to `completed`, alternating with the engine alone. */
export async function committedRows(
  service: Service,
  engine: TurnSegmenter,
  clips: readonly TimedClip[],
): Promise<Measured> {
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ audio: { input: { transcription: { language: 'en' } } } });
  const rows: Row[] = [];
  let [same, all] = [0, 0];
  for (const { group, target } of GROUPS) {
    const ours: number[] = [];
    const alone: number[] = [];
    for (const clip of clips.filter((each) => each.group === group)) {
      const samples = await readWav(clip.audio);
      const frames = appendFrames(atSocketRate(samples), CHUNK_MS);
      const times: { ours: number; alone: number }[] = [];
      for (let run = 0; run < RUNS; run++) {
        const result = await commit(client, frames);
        const direct = await transcribe(engine, samples);
        times.push({ ours: result.ms, alone: direct.seconds * 1000 });
        all += 1;
        if (result.text === direct.text) same += 1;
      }
      ours.push(median(times.map((time) => time.ours)));
      alone.push(median(times.map((time) => time.alone)));
    }
    rows.push({
      measure: `commit → completed, ${group} over the socket; peer: the engine alone`,
      ours: mean(ours),
      peer: mean(alone),
      unit: 'ms',
      ...(target === undefined ? {} : { target }),
    });
  }
  await client.close();
  return {
    rows,
    notes: [
      `Commits: median of ${RUNS} runs per clip, alternating between the socket and the engine alone (whisper base, audio in memory), then the mean of the clips. ${same} of ${all} transcripts are identical.`,
    ],
  };
}

async function commit(client: TimedClient, frames: readonly string[]) {
  for (const frame of frames) client.sendFrame(frame);
  await Bun.sleep(SETTLE_MS);
  const startMs = client.send({ type: 'input_audio_buffer.commit' });
  const { atMs, transcript } = await client.until('conversation.item.input_audio_transcription.completed');
  return { ms: atMs - startMs, text: transcript };
}
