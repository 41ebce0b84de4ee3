import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvents, ServerEventParser } from './event-reader.ts';

const TEXT = [
  ': a comment\n\n',
  'data: {"a":1}\n\n',
  'event: response.created\ndata: {"b":2}\n\n',
  'data: two\ndata:  lines\r\n\r\n',
  'event: nothing\n\n',
  'id: 7\nretry: 3\ndata\n\n',
  'data: [DONE]\n\n',
  'data: cut off',
].join('');
const EVENTS = [
  { event: 'message', data: '{"a":1}' },
  { event: 'response.created', data: '{"b":2}' },
  { event: 'message', data: 'two\n lines' },
  { event: 'message', data: '' },
  { event: 'message', data: '[DONE]' },
];

test('EventCutter parses the same events wherever the input is split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 12 }), (places) => {
      const cuts = [0, ...places.sort((a, b) => a - b), TEXT.length];
      const parser = new ServerEventParser();
      const events = cuts.slice(1).flatMap((end, index) => parser.read(TEXT.slice(cuts[index], end)));
      expect(events).toEqual(EVENTS);
    }),
  );
});

test('readEvents yields events as bytes arrive and cancels the response when the consumer stops early', async () => {
  let cancelled = false;
  const bytes = new TextEncoder().encode('data: ä\n\ndata: 2\n\n');
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Splits a multi-byte character.
      controller.enqueue(bytes.slice(0, 7));
      controller.enqueue(bytes.slice(7));
    },
    cancel() {
      cancelled = true;
    },
  });
  const seen: string[] = [];
  for await (const { data } of readEvents(new Response(body))) {
    seen.push(data);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(['ä', '2']);
  expect(cancelled).toBe(true);
});
