import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceClient } from '../client/service-client.ts';
import type { Samples } from './pcm.ts';
import { charactersOf, type SpeechAsk, speak } from './speech-request.ts';
import { wavFile } from './wav.ts';

const ASK: SpeechAsk = { model: 'svc-tts', input: 'Hello.', voice: undefined, speed: 1, format: 'pcm' };

let answer: (request: Request) => Response | Promise<Response>;
let server: Bun.Server<undefined>;
beforeEach(() => {
  server = Bun.serve({ port: 0, fetch: (request) => answer(request) });
});
afterEach(() => server.stop(true));

/** Collects the output of a request. */
async function heard(ask: SpeechAsk, signal = new AbortController().signal, maxSeconds?: number) {
  const pieces: [Samples, number][] = [];
  let requestId: string | null = null;
  const listener = {
    onAnswer: (id: string | null) => {
      requestId = id;
    },
    onSamples: (samples: Samples, rateHz: number) => pieces.push([samples, rateHz]),
  };
  const client = new ServiceClient('a-key', `${server.url}`);
  await speak(client, ask, listener, signal, maxSeconds);
  return {
    samples: pieces.flatMap(([samples]) => [...samples]),
    rates: pieces.map(([, rate]) => rate),
    requestId,
  };
}

describe('speak', () => {
  it('sends the chosen options and omits the others', async () => {
    const asked: unknown[] = [];
    answer = async (request) => {
      asked.push([new URL(request.url).pathname, request.headers.get('authorization'), await request.json()]);
      return new Response(new Uint8Array([1, 0]));
    };
    await heard(ASK);
    await heard({ ...ASK, voice: 'tts-vc-1', speed: 1.5 });
    const body = { model: 'svc-tts', input: 'Hello.', speed: 1, response_format: 'pcm' };
    expect(asked).toEqual([
      ['/v1/audio/speech', 'Bearer a-key', body],
      ['/v1/audio/speech', 'Bearer a-key', { ...body, voice: 'tts-vc-1', speed: 1.5 }],
    ]);
  });

  it('emits PCM as it arrives, with any chunk boundaries', async () => {
    answer = () => {
      const pieces = [[1], [0, 2, 0, 3], [0]].map((bytes) => new Uint8Array(bytes));
      const body = new ReadableStream({
        async pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      });
      return new Response(body, { headers: { 'x-request-id': 'req_7' } });
    };
    expect(await heard(ASK)).toMatchObject({ samples: [1, 2, 3], requestId: 'req_7' });
  });

  it('reads a WAV file with its sample rate', async () => {
    answer = () => new Response(wavFile([Int16Array.of(4, 5)], 22_050));
    expect(await heard({ ...ASK, format: 'wav' })).toMatchObject({ samples: [4, 5], rates: [22_050] });
  });

  it('throws the error of the service', async () => {
    answer = () =>
      Response.json({ error: { message: 'Too long.', param: 'input', code: 'x' } }, { status: 400 });
    await expect(heard(ASK)).rejects.toMatchObject({ message: 'Too long.', param: 'input', status: 400 });
  });

  it('throws if the audio exceeds the maximum duration', async () => {
    answer = () => new Response(new Uint8Array(48_000 * 3));
    await expect(heard(ASK, undefined, 2)).rejects.toThrow('maximum of this page');
  });

  it('ends with its signal', async () => {
    const abort = new AbortController();
    answer = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new Uint8Array(2));
            abort.abort(new DOMException('Stopped.', 'AbortError'));
          },
        }),
      );
    await expect(heard(ASK, abort.signal)).rejects.toThrow('Stopped.');
  });
});

it('characters are code points', () => {
  expect(charactersOf('a€😀')).toBe(3);
});
