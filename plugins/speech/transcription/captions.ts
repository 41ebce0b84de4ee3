/** Formats transcripts as captions: SubRip (`srt`) and WebVTT (`vtt`). */

import type { TranscriptSegment } from '../../../src/contract/engines/engine.ts';

/** Maximum characters per line, a common broadcast limit. */
const LINE_CHARACTERS = 42;

/** SubRip: numbered cues, times with a comma. Empty without cues. */
export function srtText(segments: readonly TranscriptSegment[]): string {
  return cuesOf(segments)
    .map(({ start, end, lines }, index) => {
      const times = `${timeText(start, ',')} --> ${timeText(end, ',')}`;
      return `${index + 1}\n${times}\n${lines.join('\n')}\n\n`;
    })
    .join('');
}

/** WebVTT. The grammar requires `&` and `<` to be escaped. */
export function vttText(segments: readonly TranscriptSegment[]): string {
  const cues = cuesOf(segments).map(({ start, end, lines }) => {
    const text = lines.join('\n').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `${timeText(start, '.')} --> ${timeText(end, '.')}\n${text}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

interface Cue {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Non-empty segments. Whitespace is collapsed, because a blank line would end the cue. */
function cuesOf(segments: readonly TranscriptSegment[]): Cue[] {
  return segments.flatMap(({ startS, endS, text }) => {
    const words = text.split(/\s+/).filter((word) => word !== '');
    if (words.length === 0) return [];
    return [{ start: startS, end: endS, lines: wrapped(words) }];
  });
}

/** Wraps words into the minimum number of lines, of about equal length. */
function wrapped(words: readonly string[]): string[] {
  const widest = linesWithin(words, LINE_CHARACTERS);
  const minWidth = Math.ceil(words.join(' ').length / widest.length);
  for (let width = minWidth; width < LINE_CHARACTERS; width += 1) {
    const lines = linesWithin(words, width);
    if (lines.length === widest.length) return lines;
  }
  return widest;
}

/** Greedy line breaking. A word longer than a line has its own line. */
function linesWithin(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Formats a time as `01:02:03,004` or `01:02:03.004`. Hours have at least two digits. */
function timeText(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(Math.max(0, seconds) * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
