import { expect, it } from 'vitest';
import type { Turn } from './conversation.ts';
import { messagesOf } from './model-reply.ts';

const turn = (side: Turn['side'], text: string, state: Turn['state'] = 'done'): Turn => ({
  id: text,
  side,
  text,
  state,
});

it('sends completed turns to the language model and omits incomplete ones', () => {
  const turns = [
    turn('user', 'Hello.'),
    turn('service', 'Hello to you.'),
    turn('user', ' '),
    turn('service', 'This was', 'cancelled'),
    turn('user', 'The model failed.', 'failed'),
    turn('user', 'What time is it?'),
  ];
  expect(messagesOf(turns)).toEqual([
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hello to you.' },
    { role: 'user', content: 'What time is it?' },
  ]);
});

it('sends only the newest turns of a long conversation', () => {
  const turns = Array.from({ length: 30 }, (_, at) => turn('user', `Turn ${at}.`));
  expect(messagesOf(turns).map(({ content }) => content)).toEqual(
    Array.from({ length: 12 }, (_, at) => `Turn ${at + 18}.`),
  );
});
