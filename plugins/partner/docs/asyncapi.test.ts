import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { TranscriberErrorSchema, TranscriberResponseSchema } from '../transcriber/platform-messages.ts';
import { readTextFrame, USUAL_AUDIO } from '../transcriber/start-message.ts';
import { asyncApiDocument } from './asyncapi.ts';

const document = asyncApiDocument('1.2.3');
const { messages } = document.components;

/** As a reader gets it: JSON. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('the document', () => {
  it('is AsyncAPI 3 and of the version of the service', () => {
    expect(document).toMatchObject({ asyncapi: '3.0.0', info: { version: '1.2.3' } });
  });

  it('says of each side what it sends, and of nothing else', () => {
    const { receiveCall, sendWords } = document.operations;
    const named = [...receiveCall.messages, ...sendWords.messages].map(({ $ref }) => $ref.split('/').at(-1));
    expect(named).toEqual(Object.keys(messages));
    expect(Object.keys(document.channels.transcriber?.messages ?? {})).toEqual(named);
  });

  it('has an example of a start that is read as one', () => {
    for (const { payload } of messages.start.examples) {
      expect(readTextFrame(JSON.stringify(payload))).toMatchObject({ kind: 'start' });
    }
  });

  it('tells what is meant by a start without fields', () => {
    const { sampleRate, channels } = asJson(messages.start.payload).properties;
    expect({ rateHz: sampleRate.default, channels: channels.default }).toEqual({
      rateHz: USUAL_AUDIO.rateHz,
      channels: USUAL_AUDIO.channels,
    });
  });

  it.each([
    ['transcriber-response', TranscriberResponseSchema],
    ['error', TranscriberErrorSchema],
  ] as const)('has examples of %s that hold to its schema', (name, schema) => {
    const { payload, examples } = messages[name];
    expect(payload).toEqual(asJson(schema));
    for (const example of examples) expect([...Value.Errors(schema, example.payload)]).toEqual([]);
  });
});
