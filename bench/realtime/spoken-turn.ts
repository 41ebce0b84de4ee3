/** Latency of the transcript of a detected turn, compared with faster-whisper on the whole clip. */

import { withNoise } from '../../tools/harness/media/sample-runs.ts';
import type { TimedClip } from '../corpus/clip.ts';
import { readWav } from '../corpus/wav-file.ts';
import type { LineProcess } from '../line-process.ts';
import type { Row } from '../report.ts';
import type { Service } from '../service.ts';
import { mean, median } from '../statistics.ts';
import { appendFrames, atSocketRate, SOCKET_RATE_HZ, thenSilence } from './appends.ts';
import { TimedClient } from './client.ts';
import type { Measured } from './measured.ts';
import { isOneTurn, openDetector, speechEndMs } from './turns.ts';

/** Maximum ratio to the time of the peer, for both lengths. */
const TARGET = 0.35;
const GROUPS = ['3 s', '8 s'];
const RUNS = 3;
const CHUNK_MS = 20;
const SILENCE_MS = 1000;
/** Room noise, so that the gate of the detector for muted lines has no effect. */
const NOISE_DB = -60;
const SESSION = {
  audio: {
    input: {
      transcription: { language: 'en' },
      turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
    },
  },
};

interface Turn {
  readonly endToStoppedMs: number;
  readonly stoppedToCompletedMs: number;
}

/** Latency from the end of speech of clips in real time, alternating with the peer. */
export async function spokenTurnRows(
  service: Service,
  peer: LineProcess,
  clips: readonly TimedClip[],
): Promise<Measured> {
  const detector = await openDetector();
  const rows: Row[] = [];
  const counts: string[] = [];
  try {
    for (const group of GROUPS) {
      const turns: Turn[] = [];
      const theirs: number[] = [];
      for (const clip of clips.filter((each) => each.group === group)) {
        const speech = atSocketRate(await readWav(clip.audio));
        const samples = withNoise(thenSilence(speech, SILENCE_MS), NOISE_DB);
        // The peer transcribes the whole clip, so the clip must be one turn.
        if (!(await isOneTurn(detector, samples))) continue;
        const frames = appendFrames(samples, CHUNK_MS);
        const endMs = speechEndMs(speech, SOCKET_RATE_HZ);
        const runsOfClip: Turn[] = [];
        const peerMs: number[] = [];
        for (let run = 0; run < RUNS; run++) {
          runsOfClip.push(await talk(service, frames, endMs));
          const request = { audio: clip.audio, runs: 1, language: clip.language, task: 'transcribe' };
          peerMs.push((await peer.sendRequest<{ seconds: number }>(request)).seconds * 1000);
        }
        turns.push({
          endToStoppedMs: median(runsOfClip.map((turn) => turn.endToStoppedMs)),
          stoppedToCompletedMs: median(runsOfClip.map((turn) => turn.stoppedToCompletedMs)),
        });
        theirs.push(median(peerMs));
      }
      const stopped = mean(turns.map((turn) => turn.endToStoppedMs));
      const completed = mean(turns.map((turn) => turn.stoppedToCompletedMs));
      counts.push(`${turns.length} of ${group}`);
      rows.push(
        {
          measure: `${group} live, speech_stopped → completed; peer: faster-whisper's time for the clip`,
          ours: completed,
          peer: mean(theirs),
          unit: 'ms',
          target: TARGET,
        },
        { measure: `${group} live, real end of speech → speech_stopped`, ours: stopped, unit: 'ms' },
        { measure: `${group} live, real end of speech → completed`, ours: stopped + completed, unit: 'ms' },
      );
    }
  } finally {
    await detector.close();
  }
  return {
    rows,
    notes: [
      `Live turns: server_vad with 500 ms of silence, appends of ${CHUNK_MS} ms in real time, noise at ${NOISE_DB} dB. Median of ${RUNS} runs per clip that is one turn (${counts.join(', ')}), alternating with faster-whisper 1.2.1 (int8, 2 threads, greedy, the clip in memory), then the mean of the clips.`,
    ],
  };
}

/** Sends a clip in real time and waits for its transcript. */
async function talk(service: Service, frames: readonly string[], speechEndMs: number): Promise<Turn> {
  const client = await TimedClient.open(service.baseUrl);
  await client.configure(SESSION);
  let talking = true;
  const startMs = performance.now();
  const speaking = (async () => {
    for (const [i, frame] of frames.entries()) {
      // A chunk is sent at the time of its last sample.
      await Bun.sleep(Math.max(0, startMs + (i + 1) * CHUNK_MS - performance.now()));
      if (!talking) return;
      client.sendFrame(frame);
    }
  })();
  const stopped = await client.until('input_audio_buffer.speech_stopped');
  const completed = await client.until('conversation.item.input_audio_transcription.completed');
  talking = false;
  await speaking;
  await client.close();
  return {
    endToStoppedMs: stopped.atMs - startMs - speechEndMs,
    stoppedToCompletedMs: completed.atMs - stopped.atMs,
  };
}
