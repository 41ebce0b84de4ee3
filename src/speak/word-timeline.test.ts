import { expect, test } from 'vitest';
import type { SpokenWord } from '../contract/engines/engine.ts';
import { WordTimeline } from './word-timeline.ts';

function recorded() {
  const reported: [words: readonly SpokenWord[], isEstimated: boolean][] = [];
  const retimed: (readonly SpokenWord[])[] = [];
  const timeline = new WordTimeline({
    onWords: (words, isEstimated) => reported.push([words, isEstimated]),
    onRetimed: (words) => retimed.push(words),
  });
  return { timeline, reported, retimed };
}

const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });

test('times of the engine are relative to the clause, and are not changed', () => {
  const { timeline, reported, retimed } = recorded();
  timeline.startClause('One two. ');
  timeline.addWords([word('One ', 10, 300)]);
  timeline.addAudio(400);
  timeline.addWords([word('two. ', 410, 700)]);
  timeline.addAudio(500);
  timeline.startClause('Three.');
  timeline.addWords([word('Three.', 20, 400)]);
  timeline.addAudio(500);
  timeline.endClause();
  expect(reported).toEqual([
    [[word('One ', 10, 300)], false],
    [[word('two. ', 410, 700)], false],
    [[word('Three.', 920, 1300)], false],
  ]);
  expect(retimed).toEqual([]);
});

test('times are estimated before the audio, and interpolated at the end of the clause', () => {
  const { timeline, reported, retimed } = recorded();
  timeline.startClause('One two.');
  expect(reported).toEqual([]);
  timeline.addAudio(200);
  timeline.addAudio(600);
  timeline.startClause('Three.');
  timeline.addAudio(100);
  expect(reported).toEqual([
    [[word('One ', 0, 260), word('two.', 260, 520)], true],
    [[word('Three.', 800, 1190)], true],
  ]);
  expect(retimed).toEqual([[word('One ', 0, 400), word('two.', 400, 800)]]);
});

test('text without sound is a part of the transcript', () => {
  const { timeline, reported, retimed } = recorded();
  timeline.startClause('— ');
  timeline.endClause();
  expect([reported, retimed]).toEqual([[[[word('— ', 0, 0)], false]], []]);
});
