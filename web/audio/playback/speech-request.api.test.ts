import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceClient } from '../../client/service-client.ts';
import type { Samples } from '../pcm.ts';
import { wavFile } from '../wav.ts';
import { charactersOf, type SpeechParams, speak } from './speech-request.ts';

const ASK: SpeechParams = { model: 'svc-tts', input: 'Hello.', voice: undefined, speed: 1, format: 'pcm' };

let response: (request: Request) => Response | Promise<Response>;
let server: Bun.Server<undefined>;
beforeEach(() => {
  server = Bun.serve({ port: 0, fetch: (request) => response(request) });
});
afterEach(() => server.stop(true));

/** Collects the output of a request. */
async function collect(params: SpeechParams, signal = new AbortController().signal, maxSeconds?: number) {
  const chunks: [Samples, number][] = [];
  const files: Blob[] = [];
  let requestId: string | null = null;
  const listener = {
    onResponse: (id: string | null) => {
      requestId = id;
    },
    onSamples: (samples: Samples, rateHz: number) => chunks.push([samples, rateHz]),
    onFile: (file: Blob) => void files.push(file),
  };
  const client = new ServiceClient('a-key', `${server.url}`);
  await speak(client, params, listener, signal, maxSeconds);
  return {
    samples: chunks.flatMap(([samples]) => [...samples]),
    rates: chunks.map(([, rate]) => rate),
    requestId,
    files,
  };
}

describe('speak', () => {
  it('sends the chosen options and omits the others', async () => {
    const asked: unknown[] = [];
    response = async (request) => {
      asked.push([new URL(request.url).pathname, request.headers.get('authorization'), await request.json()]);
      return new Response(new Uint8Array([1, 0]));
    };
    await collect(ASK);
    await collect({ ...ASK, voice: 'tts-vc-1', speed: 1.5 });
    const body = { model: 'svc-tts', input: 'Hello.', speed: 1, response_format: 'pcm' };
    expect(asked).toEqual([
      ['/v1/audio/speech', 'Bearer a-key', body],
      ['/v1/audio/speech', 'Bearer a-key', { ...body, voice: 'tts-vc-1', speed: 1.5 }],
    ]);
  });

  it('emits PCM as it arrives, with any chunk boundaries', async () => {
    response = () => {
      const chunks = [[1], [0, 2, 0, 3], [0]].map((bytes) => new Uint8Array(bytes));
      const body = new ReadableStream({
        async pull(controller) {
          const chunk = chunks.shift();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        },
      });
      return new Response(body, { headers: { 'x-request-id': 'req_7' } });
    };
    expect(await collect(ASK)).toMatchObject({ samples: [1, 2, 3], requestId: 'req_7' });
  });

  it('reads a WAV file with its sample rate', async () => {
    response = () => new Response(wavFile([Int16Array.of(4, 5)], 22_050));
    const { files, ...read } = await collect({ ...ASK, format: 'wav' });
    expect(read).toMatchObject({ samples: [4, 5], rates: [22_050] });
    expect(files.map(({ size }) => size)).toEqual([48]);
  });

  it('throws the error of the service', async () => {
    response = () =>
      Response.json({ error: { message: 'Too long.', param: 'input', code: 'x' } }, { status: 400 });
    await expect(collect(ASK)).rejects.toMatchObject({ message: 'Too long.', param: 'input', status: 400 });
  });

  it('throws if the audio exceeds the maximum duration', async () => {
    response = () => new Response(new Uint8Array(48_000 * 3));
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
