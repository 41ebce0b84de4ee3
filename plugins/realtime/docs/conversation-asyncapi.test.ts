import { describe, expect, it } from 'vitest';
import { CONVERSATION_CLIENT_EVENT_SCHEMAS } from '../conversation/client-events.ts';
import { CONVERSATION_SERVER_EVENT_SCHEMAS } from '../conversation/server-event-schemas.ts';
import { conversationAsyncApiDocument } from './conversation-asyncapi.ts';

const document = JSON.parse(JSON.stringify(conversationAsyncApiDocument('1.2.3')));

function referred($ref: string) {
  const names = $ref.replace(/^#\//, '').split('/');
  return names.reduce((value, name) => value?.[name], document);
}

function messagesOf(operation: string) {
  const { messages } = document.operations[operation];
  return messages.map(({ $ref }: { $ref: string }) => referred(referred($ref).$ref));
}

describe.each([
  ['receiveEvents', CONVERSATION_CLIENT_EVENT_SCHEMAS],
  ['sendEvents', CONVERSATION_SERVER_EVENT_SCHEMAS.ga],
  ['sendBetaEvents', CONVERSATION_SERVER_EVENT_SCHEMAS.spec],
] as const)('%s', (operation, schemas) => {
  it('contains every event once with a description', () => {
    const messages = messagesOf(operation);
    expect(messages.map(({ name }: { name: string }) => name).sort()).toEqual([...schemas.keys()].sort());
    for (const { summary } of messages) expect(summary).toMatch(/^\S[^\n]*\.$/);
  });
});

it('shares the session', () => {
  const [created] = messagesOf('sendEvents');
  expect(referred(created.payload.properties.session.$ref).properties.id.pattern).toBe('^sess_.');
});

it('describes updates of the session and of one response as optional fields', () => {
  const propertiesOf = (event: string) =>
    messagesOf('receiveEvents').find(({ name }: { name: string }) => name === event).payload.properties;
  const { session } = propertiesOf('session.update');
  expect(session.required).toBeUndefined();
  expect(session.properties.audio.properties.input.required).toBeUndefined();
  const [response] = propertiesOf('response.create').response.anyOf;
  expect(Object.keys(response.properties)).toEqual([
    ...['conversation', 'input', 'metadata', 'output_modalities', 'instructions', 'tools', 'tool_choice'],
    ...['max_output_tokens', 'audio'],
  ]);
});
