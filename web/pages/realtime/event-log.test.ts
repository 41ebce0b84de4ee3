import { describe, expect, it } from 'vitest';
import { EventLog, type LogFilter, MAX_ENTRIES, rowsOf, shownFrame } from './event-log.ts';

const ALL: LogFilter = { from: 'both', type: '' };
const append = (audio: string) => ({ type: 'input_audio_buffer.append', event_id: 'page_1', audio });

describe('EventLog', () => {
  it('stores frames without audio and records its size', () => {
    const log = new EventLog();
    log.add('client', append('A'.repeat(5120)), 12.6);
    log.add('server', { type: 'response.audio.delta', delta: 'BBBBBBBB' }, 20);
    log.add('server', { type: 'response.audio_transcript.delta', delta: 'words' }, 21);
    expect(log.entries).toEqual([
      { from: 'client', frame: append('AAAA'), elided_characters: 5120, at_ms: 13 },
      {
        from: 'server',
        frame: { type: 'response.audio.delta', delta: 'AAAA' },
        elided_characters: 8,
        at_ms: 20,
      },
      { from: 'server', frame: { type: 'response.audio_transcript.delta', delta: 'words' }, at_ms: 21 },
    ]);
    expect(shownFrame(log.entries[0] as never)).toContain('"audio": "(5120 characters of base64)"');
    expect(shownFrame(log.entries[2] as never)).toContain('"delta": "words"');
  });

  it('serializes to a trace with one entry per line', () => {
    const log = new EventLog();
    log.add('server', { type: 'session.created', event_id: 'event_1' }, 0);
    log.add('client', { type: 'input_audio_buffer.clear', event_id: 'page_1' }, 1);
    expect(log.lines()).toMatch(/}\n$/);
    const entries = log
      .lines()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries).toEqual(log.entries);
  });

  it('stops at its limit and counts dropped frames', () => {
    const log = new EventLog();
    for (let i = 0; i < MAX_ENTRIES + 2; i += 1) log.add('client', append('AAAA'), i);
    expect(log.entries).toHaveLength(MAX_ENTRIES);
    expect(log.droppedCount).toBe(2);
  });
});

describe('rowsOf', () => {
  const log = new EventLog();
  log.add('server', { type: 'session.created' }, 0);
  for (const at of [1, 2, 3]) log.add('client', append('AAAA'), at);
  log.add('server', { type: 'error', error: { message: 'one' } }, 4);
  log.add('server', { type: 'error', error: { message: 'two' } }, 5);
  log.add('client', append('AAAA'), 6);
  const kinds = (filter: LogFilter, maxRows = 100) =>
    rowsOf(log.entries, filter, maxRows).map(({ at, times, last }) => [
      at,
      last.frame.type,
      times,
      last.at_ms,
    ]);

  it('groups consecutive frames of the same type, except errors', () => {
    expect(kinds(ALL)).toEqual([
      [0, 'session.created', 1, 0],
      [1, 'input_audio_buffer.append', 3, 3],
      [4, 'error', 1, 4],
      [5, 'error', 1, 5],
      [6, 'input_audio_buffer.append', 1, 6],
    ]);
  });

  it('applies the filter', () => {
    expect(kinds({ from: 'client', type: '' })).toEqual([[1, 'input_audio_buffer.append', 4, 6]]);
    expect(kinds({ from: 'both', type: ' ERR' })).toHaveLength(2);
    expect(kinds({ from: 'client', type: 'error' })).toEqual([]);
  });

  it('returns the newest rows up to the limit', () => {
    expect(kinds(ALL, 2)).toEqual([
      [5, 'error', 1, 5],
      [6, 'input_audio_buffer.append', 1, 6],
    ]);
  });
});
