import { useEffect, useRef, useState } from 'react';
import { type SpokenWord, wordAt } from '../../audio/playback/spoken-words.ts';
import classes from './speech.module.css';

/** The words of the speech. The one that is heard is marked and kept in view. */
export function SpokenText(props: {
  readonly words: readonly SpokenWord[];
  /** Position of the playback in seconds; undefined when nothing was played. Read for each frame. */
  readonly position: () => number | undefined;
}) {
  const { words, position } = props;
  const box = useRef<HTMLElement>(null);
  const current = useRef<HTMLElement>(null);
  const [heard, setHeard] = useState<number>();
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      const seconds = position();
      setHeard(seconds === undefined ? undefined : wordAt(words, seconds));
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, [words, position]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the word at `current` changes with `heard`
  useEffect(() => {
    const [shown, word] = [box.current, current.current];
    if (shown === null || word === null) return;
    const isVisible =
      word.offsetTop >= shown.scrollTop &&
      word.offsetTop + word.offsetHeight <= shown.scrollTop + shown.clientHeight;
    // Not scrollIntoView: it would also scroll the page.
    if (!isVisible) shown.scrollTop = word.offsetTop - shown.clientHeight / 2;
  }, [heard]);
  return (
    <section
      ref={box}
      className={classes.words}
      aria-label="Words of the speech"
      dir="auto"
      // A scrollable region must be focusable (WCAG 2.1.1).
      // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
      tabIndex={0}
    >
      {words.map(({ word, start }, index) => [
        index > 0 && ' ',
        index === heard ? (
          <mark key={start} ref={current}>
            {word}
          </mark>
        ) : (
          <span key={start}>{word}</span>
        ),
      ])}
    </section>
  );
}
