import type { ServiceClient } from '../../client/service-client.ts';
import type { Turn } from './conversation.ts';

/** Maximum number of previous turns that are sent to the language model. */
const MAX_HISTORY_TURNS = 12;
/** Maximum length of a reply; long replies are tedious when spoken. */
const MAX_TOKENS = 120;
const INSTRUCTIONS =
  'You take part in a spoken conversation. Answer in one or two short sentences of plain text, without lists or markup.';

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Converts the turns to chat messages, newest last. */
export function messagesOf(turns: readonly Turn[]): readonly Message[] {
  return turns
    .filter(({ state, text }) => state === 'done' && text.trim() !== '')
    .map(({ side, text }): Message => ({ role: side === 'user' ? 'user' : 'assistant', content: text }))
    .slice(-MAX_HISTORY_TURNS);
}

/**
 * Requests the language model's reply to the last turn.
 * @throws ServiceError, or the reason of `signal`.
 */
export async function requestReply(
  client: ServiceClient,
  model: string | undefined,
  turns: readonly Turn[],
  signal: AbortSignal,
): Promise<string> {
  const body = {
    ...(model !== undefined && { model }),
    messages: [{ role: 'system', content: INSTRUCTIONS }, ...messagesOf(turns)],
    max_completion_tokens: MAX_TOKENS,
  };
  const completion = await client.post<ChatCompletion>('v1/chat/completions', body, { signal });
  return completion.choices[0]?.message.content?.trim() ?? '';
}

interface ChatCompletion {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[];
}
