import { describe, expect, it } from 'vitest';
import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { OpenConnections } from './open-connections.ts';

const USER: LimitedUser = { organization: 'a', keyId: 'key' };

/** A connection that records its calls and is released by the test. */
function openRecording(connections: OpenConnections<RecordingConnection>, user = USER) {
  return connections.openConnection(user, (released) => new RecordingConnection(released));
}

class RecordingConnection {
  readonly calls: string[] = [];
  readonly #released: (connection: RecordingConnection) => void;

  constructor(released: (connection: RecordingConnection) => void) {
    this.#released = released;
  }

  drain() {
    this.calls.push('drain');
  }

  stop() {
    this.calls.push('stop');
    this.release();
  }

  release() {
    this.#released(this);
  }
}

describe('OpenConnections', () => {
  it('limits the connections per organization, and frees a slot on release', () => {
    const connections = new OpenConnections<RecordingConnection>('phone calls', 2);
    const first = openRecording(connections);
    openRecording(connections);
    expect(() => openRecording(connections)).toThrow(
      'Concurrency limit per organization reached: 2 of 2 phone calls',
    );
    expect(openRecording(connections, { organization: 'b', keyId: 'other key' }).calls).toEqual([]);
    expect(connections.count).toBe(3);
    first.release();
    expect(connections.count).toBe(2);
    openRecording(connections);
  });

  it('frees the slot if the connection cannot be created', () => {
    const connections = new OpenConnections<RecordingConnection>('phone calls', 1);
    const make = () => {
      throw new Error('why');
    };
    expect(() => connections.openConnection(USER, make)).toThrow('why');
    expect(connections.count).toBe(0);
    openRecording(connections);
  });

  it('reserves a place for a connection that is prepared, until it is released', () => {
    const connections = new OpenConnections<RecordingConnection>('phone calls', 1);
    const place = connections.reserve(USER);
    expect(() => openRecording(connections)).toThrow('1 of 1 phone calls');
    expect(connections.count).toBe(0);
    place.release();
    place.release();
    const opened = connections.reserve(USER).open((released) => new RecordingConnection(released));
    expect(() => connections.reserve(USER)).toThrow('1 of 1 phone calls');
    opened.release();
    openRecording(connections);
  });

  it.each(['drain', 'close'] as const)(
    'opens no connection after %s, also one that was reserved',
    async (end) => {
      const connections = new OpenConnections<RecordingConnection>('phone calls', 1);
      const place = connections.reserve(USER);
      await connections[end](new AbortController().signal);
      const make = (released: (connection: RecordingConnection) => void) => new RecordingConnection(released);
      expect(() => place.open(make)).toThrow('shutting down');
      expect(() => openRecording(connections)).toThrow('shutting down');
      expect(connections.count).toBe(0);
    },
  );

  it('drains all connections and resolves after the last release', async () => {
    const connections = new OpenConnections<RecordingConnection>('phone calls', 9);
    const [one, other] = [openRecording(connections), openRecording(connections)];
    let drained = false;
    const draining = connections.drain(new AbortController().signal).then(() => {
      drained = true;
    });
    expect([one.calls, other.calls]).toEqual([['drain'], ['drain']]);
    one.release();
    await Promise.resolve();
    expect(drained).toBe(false);
    other.release();
    await draining;
  });

  it.each(['before', 'during'])('stops connections if the deadline passes %s the drain', async (when) => {
    const connections = new OpenConnections<RecordingConnection>('phone calls', 9);
    const one = openRecording(connections);
    const late = new AbortController();
    if (when === 'before') late.abort();
    const draining = connections.drain(late.signal);
    late.abort();
    await draining;
    expect(one.calls).toEqual(['drain', 'stop']);
    await connections.close();
  });
});
