import { describe, expect, it } from 'vitest';
import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { OpenConnections } from './open-connections.ts';

const USER: LimitedUser = { organization: 'a', keyId: 'key' };

/** A connection that notes what it is told, and is released when the test says so. */
function noting(connections: OpenConnections<Noting>, user = USER) {
  return connections.openConnection(user, (released) => new Noting(released));
}

class Noting {
  readonly told: string[] = [];
  readonly #released: (connection: Noting) => void;

  constructor(released: (connection: Noting) => void) {
    this.#released = released;
  }

  drain() {
    this.told.push('drain');
  }

  stop() {
    this.told.push('stop');
    this.release();
  }

  release() {
    this.#released(this);
  }
}

describe('open connections', () => {
  it('are at most so many of an organization; a released one makes room', () => {
    const connections = new OpenConnections<Noting>('phone calls', 2);
    const first = noting(connections);
    noting(connections);
    expect(() => noting(connections)).toThrow(
      'Concurrency limit per organization reached: 2 of 2 phone calls',
    );
    expect(noting(connections, { organization: 'b', keyId: 'other key' }).told).toEqual([]);
    expect(connections.count).toBe(3);
    first.release();
    expect(connections.count).toBe(2);
    noting(connections);
  });

  it('keep no place for one that could not be made', () => {
    const connections = new OpenConnections<Noting>('phone calls', 1);
    const make = () => {
      throw new Error('why');
    };
    expect(() => connections.openConnection(USER, make)).toThrow('why');
    expect(connections.count).toBe(0);
    noting(connections);
  });

  it('are drained together: it is over when the last is released', async () => {
    const connections = new OpenConnections<Noting>('phone calls', 9);
    const [one, other] = [noting(connections), noting(connections)];
    let drained = false;
    const draining = connections.drain(new AbortController().signal).then(() => {
      drained = true;
    });
    expect([one.told, other.told]).toEqual([['drain'], ['drain']]);
    one.release();
    await Promise.resolve();
    expect(drained).toBe(false);
    other.release();
    await draining;
  });

  it.each(['before', 'while'])('are stopped when there is no more time %s they drain', async (when) => {
    const connections = new OpenConnections<Noting>('phone calls', 9);
    const one = noting(connections);
    const late = new AbortController();
    if (when === 'before') late.abort();
    const draining = connections.drain(late.signal);
    late.abort();
    await draining;
    expect(one.told).toEqual(['drain', 'stop']);
    await connections.close();
  });
});
