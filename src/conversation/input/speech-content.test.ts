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
  ['M H M', 'back_channel'],
  ['M-hm, hmmmm.', 'back_channel'],
  ['Yes, sir.', 'back_channel'],
  ['Israel', 'back_channel'],
  ['うん', 'back_channel'],
  ['No.', 'words'],
  ['Okay, stop.', 'words'],
  ['Warte!', 'words'],
  ['¿Cómo?', 'words'],
  ['ちょっと待って', 'words'],
  ['等一下', 'words'],
  ['Next Friday', 'words'],
  ['Sorry, Ken.', 'back_channel'],
  ['Sorry, can you', 'words'],
  ['Stop', 'words'],
  ['Okay, but what about tomorrow?', 'words'],
  ['I see a problem.', 'words'],
  ['Yes please.', 'words'],
])('%j is %s', (transcript, expected) => {
  expect(speechContent(transcript)).toBe(expected);
});
