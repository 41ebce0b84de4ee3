/** Latency of realtime transcription while the embedded language model generates. */

import { launchService, SERVICE_KEY } from '../../../tools/harness/services/launcher.ts';
import { transcriptionCorpus } from '../../corpus/transcription-corpus.ts';
import { readWav } from '../../corpus/wav-file.ts';
import { streamChat } from '../../llm/chat-client.ts';
import { appendFrames, atSocketRate } from '../../realtime/appends.ts';
import { TimedClient } from '../../realtime/client.ts';
import { type Row, report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { quantile } from '../../statistics.ts';

/** A small model, and the one of conversations. */
const MODELS = ['smollm2-135m-instruct', 'qwen2.5-1.5b-instruct'];
const config = (model: string) => `
[models."svc-tts"]
kind = "piper"

[models."svc-stt"]
kind = "whisper"
weights = "base"

[models."${model}"]
kind = "llama"
weights = "${model}"
`;
const GROUP = '3 s';
const ROUNDS = 40;
const CHUNK_MS = 100;
/** Pause before the commit, so that all frames are read, as with a live client. */
const SETTLE_MS = 60;

export async function benchLlmRealtime(): Promise<void> {
  const { timed } = await transcriptionCorpus();
  const clips = timed.filter(({ group }) => group === GROUP);
  const frames = await Promise.all(
    clips.map(async ({ audio }) => appendFrames(atSocketRate(await readWav(audio)), CHUNK_MS)),
  );
  const rows: Row[] = [];
  for (const model of MODELS) rows.push(...(await measure(model, frames)));
  await report('llm-realtime', 'Realtime transcription while the embedded language model generates', rows, [
    `${clips.length} clips, ${ROUNDS} rounds, alternating with and without chat. whisper base.`,
  ]);
}

/** @param clips frames of `input_audio_buffer.append` of each. */
async function measure(model: string, clips: readonly (readonly string[])[]): Promise<readonly Row[]> {
  const service = await launchService({ config: config(model) });
  try {
    const client = await TimedClient.open(service.baseUrl);
    await client.configure({ audio: { input: { transcription: { language: 'en' } } } });
    const [alone, during, tokens]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const frames of clips) {
        alone.push(await commitMs(client, frames));
        const chat = await startChat(service, model, round);
        during.push(await commitMs(client, frames));
        tokens.push(await chat.stop());
      }
    }
    await client.close();
    return [
      {
        measure: `${model}: commit → completed, 3 s, p95, while a chat streams; baseline: without chat`,
        ours: quantile(during, 0.95),
        peer: quantile(alone, 0.95),
        unit: 'ms',
        target: 1.35,
      },
      {
        measure: 'the same, median',
        ours: quantile(during, 0.5),
        peer: quantile(alone, 0.5),
        unit: 'ms',
      },
      {
        measure: 'pieces of the chat during one transcription, median',
        ours: quantile(tokens, 0.5),
        unit: '',
      },
    ];
  } finally {
    await service.stop();
  }
}

/** Starts a long response and waits for its first piece. */
async function startChat(service: Service, model: string, round: number) {
  const controller = new AbortController();
  let pieces = 0;
  const first = Promise.withResolvers<void>();
  const content = `Request ${round}. Tell me a long story about a lighthouse, a storm and ten ships.`;
  const ended = streamChat(
    service,
    SERVICE_KEY,
    { model, messages: [{ role: 'user', content }], max_tokens: 700, frequency_penalty: 0.5 },
    controller.signal,
    () => {
      pieces += 1;
      first.resolve();
    },
  ).catch(() => undefined);
  await first.promise;
  pieces = 0;
  return {
    /** Cancels the response. Returns the number of pieces since its first one. */
    async stop(): Promise<number> {
      const count = pieces;
      controller.abort();
      await ended;
      return count;
    },
  };
}

async function commitMs(client: TimedClient, frames: readonly string[]): Promise<number> {
  for (const frame of frames) client.sendFrame(frame);
  await Bun.sleep(SETTLE_MS);
  const startMs = client.send({ type: 'input_audio_buffer.commit' });
  const { atMs } = await client.until('conversation.item.input_audio_transcription.completed');
  return atMs - startMs;
}
