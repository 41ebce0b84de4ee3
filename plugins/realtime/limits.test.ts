import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as limits from './limits.ts';

const page = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const audio = limits.mebibytes(limits.MAX_BUFFERED_BYTES);
const { WINDOW_ITEMS, MAX_ITEM_BYTES, MAX_QUEUED_FRAMES, MAX_QUEUED_CHARACTERS, MAX_PENDING_TURNS } = limits;

it.each([
  `Audio between commits: ${audio} as sent`,
  `Another ${audio} may be committed`,
  `A \`server_vad\` turn that reaches ${audio}`,
  `an append beyond ${audio}`,
  `${audio} between commits, ${audio} waiting for transcription`,
  `the last ${WINDOW_ITEMS} items, each with at most ${MAX_ITEM_BYTES / 1024} KiB of JSON`,
  `supported for the last ${WINDOW_ITEMS} items`,
  `at most ${MAX_QUEUED_FRAMES} frames and ${limits.mebibytes(MAX_QUEUED_CHARACTERS)}`,
  `${limits.mebibytes(MAX_QUEUED_CHARACTERS)} waiting for a voice lookup`,
  `at most ${MAX_PENDING_TURNS} can wait`,
  `${MAX_PENDING_TURNS} waiting commits`,
  `a rate other than ${limits.G711_RATE_HZ} Hz`,
])('the reference page states: %s', (text) => {
  expect(page('./README.md')).toContain(text);
});

it('the guide of conversations states the limit of the audio', () => {
  expect(page('../../docs/guide/conversations.md')).toContain(`| audio between commits | ${audio} |`);
});
