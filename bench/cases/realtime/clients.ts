/**
 * Unmodified Python clients: the `openai` package and the voice frameworks LiveKit and Pipecat. They transcribe a clip and
 * synthesize a text over realtime. The results are compared word by word.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pcmToWav } from '../../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import { type LaunchedService, SERVICE_KEY } from '../../../tools/harness/services/launcher.ts';
import { launchRealtimeService, spokenPcm } from '../../../tools/harness/services/realtime-service.ts';
import { pinned, runPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';

const CLIP_TEXT = 'Please book a table for two people on Friday evening.';
const TEXT = 'Your train leaves from platform three in ten minutes.';

/** The flows that each script reports, in order. */
const FLOWS: Readonly<Record<string, readonly string[]>> = {
  'openai_client.py': ['commit', 'turn', 'speak'],
  'livekit_client.py': ['livekit-stt', 'livekit-turn', 'livekit-speak'],
  'pipecat_client.py': ['pipecat-stt'],
};

const MEASURES: Readonly<Record<string, string>> = {
  commit: 'openai, clip and commit: wrong words',
  turn: 'openai, turn found by the service: wrong words',
  speak: 'openai, spoken text',
  'livekit-stt': 'livekit STT: wrong words',
  'livekit-turn': 'livekit realtime model, turn: wrong words',
  'livekit-speak': 'livekit realtime model, spoken text',
  'pipecat-stt': 'pipecat STT: wrong words',
};

interface FlowResult {
  readonly flow: string;
  readonly transcript: string;
  /** For synthesis: base64 of 16-bit samples at 24 kHz. */
  readonly audio?: string;
  /** Errors that the client reports and ignores. */
  readonly errors?: readonly string[];
}

export async function benchClients(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'realtime-clients-'));
  const service = await launchRealtimeService();
  const rows: Row[] = [];
  const notes: string[] = [];
  try {
    const pcm = join(folder, 'clip.pcm');
    await Bun.write(pcm, await spokenPcm(service, CLIP_TEXT));
    const input = { base_url: `${service.baseUrl}/v1`, key: SERVICE_KEY, pcm, text: TEXT };
    for (const [script, flows] of Object.entries(FLOWS)) {
      const results = await runPeer<FlowResult>(
        `realtime_clients/${script}`,
        [],
        `${JSON.stringify(input)}\n`,
      );
      for (const flow of flows) {
        const result = results.find((line) => line.flow === flow);
        if (result === undefined) throw new Error(`${script} reported no result for ${flow}`);
        rows.push(...(await resultRows(service, result)));
        for (const error of result.errors ?? []) notes.push(`${flow} reports: ${error}`);
      }
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
  notes.push(`Unmodified: ${await pinned('realtime_clients')}; only the base URL is set.`);
  await report('clients', 'Realtime clients in Python', rows, notes);
}

async function resultRows(service: LaunchedService, { flow, transcript, audio }: FlowResult): Promise<Row[]> {
  const measure = MEASURES[flow] ?? flow;
  const none = { unit: '', target: 0 };
  if (audio === undefined) return [{ measure, ours: wordErrors(CLIP_TEXT, transcript).errors, ...none }];
  const transcribedText = await transcribed(service, Buffer.from(audio, 'base64'));
  return [
    {
      measure: `${measure}: words that its transcript has wrong`,
      ours: wordErrors(TEXT, transcript).errors,
      ...none,
    },
    {
      measure: `${measure}: words that its audio has wrong`,
      ours: wordErrors(TEXT, transcribedText).errors,
      ...none,
    },
  ];
}

/** The transcript of the service for audio. */
async function transcribed(service: LaunchedService, pcm: Buffer): Promise<string> {
  const body = new FormData();
  body.append('model', 'svc-stt');
  body.append('file', new File([pcmToWav(pcm, SPEECH_RATE_HZ)], 'spoken.wav'));
  const headers = { 'x-api-key': SERVICE_KEY };
  const response = await service.fetch('/v1/audio/transcriptions', { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { text: string }).text;
}
