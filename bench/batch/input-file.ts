/** Input files of batches. */

import { open } from 'node:fs/promises';

export const MODEL = 'm';
export const ENDPOINT = '/v1/chat/completions';
const SENTENCE = 'Say in one sentence how you would explain this to a child of six years. ';
/** Characters per write. */
const PIECE_CHARACTERS = 2 ** 20;

/**
 * Writes a file of chat requests.
 * @param characters length of each prompt.
 */
export async function writeInput(path: string, lines: number, characters: number): Promise<void> {
  const content = SENTENCE.repeat(Math.ceil(characters / SENTENCE.length)).slice(0, characters);
  const messages = [{ role: 'user', content }];
  const file = await open(path, 'w');
  let text = '';
  for (let line = 0; line < lines; line += 1) {
    const body = { model: MODEL, messages, max_tokens: 100 };
    text += `${JSON.stringify({ custom_id: `request-${line}`, method: 'POST', url: ENDPOINT, body })}\n`;
    if (text.length < PIECE_CHARACTERS && line < lines - 1) continue;
    await file.write(text);
    text = '';
  }
  await file.sync();
  await file.close();
}
