import OpenAI, { toFile } from 'openai';
import { expect } from 'vitest';
import { RealtimeClient } from '../../../tools/harness/clients/realtime-client.ts';
import { transcriptWords } from '../../../tools/harness/media/transcript-normalizer.ts';

/** A service of which only the address and a key are known. */
export interface RemoteService {
  readonly baseUrl: string;
  readonly key: string;
  /** A short clip with sound, as MP4. */
  readonly clip: Uint8Array<ArrayBuffer>;
}

const CHAT_MODEL = 'smollm2-135m-instruct';
const EMBED_MODEL = 'all-minilm-l6-v2';
const TEXT = 'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them.';
const PATIENCE = { timeout: 240_000, interval: 500 };
const SOCKET_TIMEOUT_MS = 120_000;

/** One call for each plugin, against real models, which fails unless the plugin did its work. */
export const PLUGIN_CALLS: Readonly<Record<string, (service: RemoteService) => Promise<void>>> = {
  async speech(service) {
    const client = clientOf(service);
    const file = await speak(client);
    const { text } = await client.audio.transcriptions.create({ model: 'svc-stt', file });
    expect(transcriptWords(text)).toContain('morning');
  },

  async voices(service) {
    const client = clientOf(service);
    // The SDK's type has no `ref_text`.
    const fields = { name: 'Joe', consent: 'I agree.', audio_sample: await speak(client), ref_text: TEXT };
    const { id } = await client.audio.voices.create(fields as OpenAI.Audio.VoiceCreateParams);
    const spoken = await client.audio.speech.create({
      model: 'svc-tts',
      voice: id,
      input: 'Good morning.',
      response_format: 'pcm',
    });
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(20_000);
    await client.audio.voices.delete(id);
  },

  async realtime(service) {
    const client = await RealtimeClient.connect(`${service.baseUrl.replace('http', 'ws')}/v1/realtime`, {
      headers: { authorization: `Bearer ${service.key}` },
      timeoutMs: SOCKET_TIMEOUT_MS,
    });
    client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
    const content = [{ type: 'input_text', text: 'Good morning.' }];
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
    client.send({ type: 'response.create' });
    expect(await client.next('response.done')).toMatchObject({ response: { status: 'completed' } });
    await client.close();
  },

  async partner(service) {
    const answer = await fetch(`${service.baseUrl}/v1/voices/partner?model=svc-tts`, {
      method: 'POST',
      headers: { 'x-partner-secret': service.key, 'content-type': 'application/json' },
      body: JSON.stringify({ message: { type: 'voice-request', text: 'Good evening.', sampleRate: 16_000 } }),
    });
    expect(answer.status).toBe(200);
    // More than half a second of 16-bit samples.
    expect((await answer.bytes()).length).toBeGreaterThan(16_000);
  },

  async responses(service) {
    const answer = await clientOf(service).responses.create({
      model: CHAT_MODEL,
      input: 'Name three birds.',
      max_output_tokens: 16,
    });
    expect(answer.output_text).not.toBe('');
  },

  async batch(service) {
    const client = clientOf(service);
    const lines = ['The cat sat.', 'Shares fell.'].map((input, index) => ({
      custom_id: `line-${index}`,
      method: 'POST',
      url: '/v1/embeddings',
      body: { model: EMBED_MODEL, input },
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const file = await client.files.create({
      purpose: 'batch',
      file: await toFile(Buffer.from(text), 'lines.jsonl'),
    });
    const { id } = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    });
    await expect
      .poll(async () => (await client.batches.retrieve(id)).status, PATIENCE)
      .toMatch(/^(completed|failed)$/);
    const batch = await client.batches.retrieve(id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: lines.length } });
    const results = await (await client.files.content(batch.output_file_id ?? '')).text();
    expect(results.match(/"embedding":/g)).toHaveLength(lines.length);
  },

  async video(service) {
    const client = clientOf(service);
    const video = await toFile(service.clip, 'clip.mp4');
    // The SDK's type has no `model`.
    const fields = { model: 'vid-2.0', prompt: 'The camera pans on.', seconds: '4', video };
    const { id } = await client.videos.extend(fields as OpenAI.VideoExtendParams);
    await expect
      .poll(async () => (await client.videos.retrieve(id)).status, PATIENCE)
      .toMatch(/^(completed|failed)$/);
    expect((await client.videos.retrieve(id)).status).toBe('completed');
    const content = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer());
    expect(content.subarray(4, 8).toString()).toBe('ftyp');
  },
};

const clientOf = ({ baseUrl, key }: RemoteService) =>
  new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 });

/** {@link TEXT}, spoken in the default voice, as a WAV file. */
async function speak(client: OpenAI): Promise<File> {
  // The SDK's type asks for a voice.
  const fields = { model: 'svc-tts', input: TEXT } as OpenAI.Audio.SpeechCreateParams;
  const spoken = await client.audio.speech.create(fields);
  return new File([await spoken.arrayBuffer()], 'spoken.wav', { type: 'audio/wav' });
}
