import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceClient } from '../../client/service-client.ts';
import type { Samples } from '../pcm.ts';
import { wavFile } from '../wav.ts';
import { charactersOf, type SpeechParams, speak } from './speech-request.ts';
import type { SpokenWord } from './spoken-words.ts';

const ASK: SpeechParams = { model: 'svc-tts', input: 'Hello.', voice: undefined, speed: 1, format: 'pcm' };

let response: (request: Request) => Response | Promise<Response>;
let server: Bun.Server<undefined>;
beforeEach(() => {
  server = Bun.serve({ port: 0, fetch: (request) => response(request) });
});
afterEach(() => server.stop(true));

const delta = (bytes: Uint8Array) => ({
  type: 'speech.audio.delta',
  audio: Buffer.from(bytes).toString('base64'),
});
const words = (...all: SpokenWord[]) => ({ type: 'speech.audio.words', words: all });
const DONE = { type: 'speech.audio.done', usage: {} };

/** A response of events. */
function events(...all: object[]): Response {
  const text = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_7' } });
}

/** Collects the output of a request. */
async function collect(params: SpeechParams, signal = new AbortController().signal, maxSeconds?: number) {
  const chunks: [Samples, number][] = [];
  const files: Blob[] = [];
  const spoken: SpokenWord[] = [];
  let requestId: string | null = null;
  const listener = {
    onResponse: (id: string | null) => {
      requestId = id;
    },
    onSamples: (samples: Samples, rateHz: number) => chunks.push([samples, rateHz]),
    onWords: (some: readonly SpokenWord[]) => spoken.push(...some),
    onFile: (file: Blob) => void files.push(file),
  };
  const client = new ServiceClient('a-key', `${server.url}`);
  await speak(client, params, listener, signal, maxSeconds);
  return {
    samples: chunks.flatMap(([samples]) => [...samples]),
    rates: chunks.map(([, rate]) => rate),
    words: spoken,
    requestId,
    files,
  };
}

describe('speak', () => {
  it('sends the chosen options and omits the others', async () => {
    const asked: unknown[] = [];
    response = async (request) => {
      asked.push([new URL(request.url).pathname, request.headers.get('authorization'), await request.json()]);
      return events(delta(new Uint8Array([1, 0])), DONE);
    };
    await collect(ASK);
    await collect({ ...ASK, voice: 'tts-vc-1', speed: 1.5, language: 'es', isSsml: true });
    const body = {
      model: 'svc-tts',
      input: 'Hello.',
      speed: 1,
      response_format: 'pcm',
      stream_format: 'sse',
      timestamps: ['word'],
    };
    expect(asked).toEqual([
      ['/v1/audio/speech', 'Bearer a-key', body],
      [
        '/v1/audio/speech',
        'Bearer a-key',
        { ...body, voice: 'tts-vc-1', speed: 1.5, language: 'es', input_type: 'ssml' },
      ],
    ]);
  });

  it('emits PCM and words as they arrive, with any boundaries', async () => {
    const [one, two] = [
      { word: 'One', start: 0, end: 0.1 },
      { word: 'two.', start: 0.1, end: 0.2 },
    ];
    const parts = [[1], [0, 2, 0, 3], [0]].map((bytes) => delta(new Uint8Array(bytes)));
    response = () => events(words(one), ...parts, { type: 'speech.audio.marks' }, words(two), DONE);
    expect(await collect(ASK)).toMatchObject({ samples: [1, 2, 3], words: [one, two], requestId: 'req_7' });
  });

  it('joins a WAV file, which has its own sample rate', async () => {
    const wav = new Uint8Array(await wavFile([Int16Array.of(4, 5)], 22_050).arrayBuffer());
    response = () => events(delta(wav.slice(0, 7)), delta(wav.slice(7)), DONE);
    const { files, ...read } = await collect({ ...ASK, format: 'wav' });
    expect(read).toMatchObject({ samples: [4, 5], rates: [22_050] });
    expect(files.map(({ size, type }) => [size, type])).toEqual([[48, 'audio/wav']]);
  });

  it('throws the error of the service, also during the stream', async () => {
    const error = { error: { message: 'Too long.', param: 'input', code: 'x' } };
    response = () => Response.json(error, { status: 400 });
    await expect(collect(ASK)).rejects.toMatchObject({ message: 'Too long.', param: 'input', status: 400 });
    response = () => events(delta(new Uint8Array(2)), error);
    await expect(collect(ASK)).rejects.toMatchObject({ message: 'Too long.', param: 'input' });
  });

  it('throws if the stream has no end', async () => {
    response = () => events(delta(new Uint8Array(2)));
    await expect(collect(ASK)).rejects.toThrow('The response ended before the end of the speech.');
  });

  it('throws if the audio exceeds the maximum duration', async () => {
    response = () => events(delta(new Uint8Array(48_000 * 3)), DONE);
    await expect(collect(ASK, undefined, 2)).rejects.toThrow('maximum of this page');
  });

  it('ends with its signal', async () => {
    const abort = new AbortController();
    response = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new Uint8Array(2));
            abort.abort(new DOMException('Stopped.', 'AbortError'));
          },
        }),
      );
    await expect(collect(ASK, abort.signal)).rejects.toThrow('Stopped.');
  });
});

it('characters are code points', () => {
  expect(charactersOf('a€😀')).toBe(3);
});
