import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { TranscriberErrorSchema, TranscriberResponseSchema } from '../transcriber/platform-messages.ts';
import { DEFAULT_AUDIO, readTextFrame } from '../transcriber/start-message.ts';
import { asyncApiDocument } from './asyncapi.ts';

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** The document after a JSON round trip, as a reader receives it. */
const document = asJson(asyncApiDocument('1.2.3'));
const { messages } = document.components;

describe('the document', () => {
  it('is AsyncAPI 3.0 and has the version of the service', () => {
    expect(document).toMatchObject({ asyncapi: '3.0.0', info: { version: '1.2.3' } });
  });

  it('lists exactly the messages of each direction', () => {
    const { receiveCall, sendWords } = document.operations;
    const all: { $ref: string }[] = [...receiveCall.messages, ...sendWords.messages];
    const named = all.map(({ $ref }) => $ref.split('/').at(-1));
    expect(named).toEqual(Object.keys(messages));
    expect(Object.keys(document.channels.transcriber.messages)).toEqual(named);
  });

  it('has a valid example of a start message', () => {
    for (const { payload } of messages.start.examples) {
      expect(readTextFrame(JSON.stringify(payload))).toMatchObject({ kind: 'start' });
    }
  });

  it('documents the defaults of the start message', () => {
    const { sampleRate, channels } = messages.start.payload.properties;
    expect({ rateHz: sampleRate.default, channels: channels.default }).toEqual({
      rateHz: DEFAULT_AUDIO.rateHz,
      channels: DEFAULT_AUDIO.channels,
    });
  });

  it.each([
    ['transcriber-response', TranscriberResponseSchema],
    ['error', TranscriberErrorSchema],
  ] as const)('has valid examples of %s', (name, schema) => {
    const { payload, examples } = messages[name];
    expect(payload).toEqual(asJson(schema));
    for (const example of examples) expect([...Value.Errors(schema, example.payload)]).toEqual([]);
  });
});
