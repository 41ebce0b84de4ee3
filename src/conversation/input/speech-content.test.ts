import { expect, test } from 'vitest';
import { speechContent } from './speech-content.ts';

test.each([
  ['', 'none'],
  [' [Music] ', 'none'],
  ['(coughs)', 'none'],
  ['♪ la la ♪', 'none'],
  ['...', 'none'],
  ['Mm-hmm.', 'back_channel'],
  ['Uh-huh, okay.', 'back_channel'],
  ['Oh, I see.', 'back_channel'],
  ['That makes sense. Right.', 'back_channel'],
  ['Thank you.', 'back_channel'],
  ['No.', 'words'],
  ['Stop', 'words'],
  ['Okay, but what about tomorrow?', 'words'],
  ['I see a problem.', 'words'],
  ['Yes please.', 'words'],
])('%j is %s', (transcript, expected) => {
  expect(speechContent(transcript)).toBe(expected);
});
