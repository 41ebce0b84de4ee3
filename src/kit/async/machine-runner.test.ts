import { describe, expect, it } from 'vitest';
import { MachineRunner } from './machine-runner.ts';

interface Rules {
  /** Effects of each event. The state is the list of applied events. */
  readonly effects?: Readonly<Record<string, readonly string[]>>;
  /** Called for each effect. */
  readonly perform?: (effect: string, dispatch: (event: string) => void) => void;
  readonly failed?: (error: unknown) => string | undefined;
}

function runner({ effects = {}, perform = () => undefined, failed = () => undefined }: Rules) {
  const performed: string[] = [];
  const machine = new MachineRunner<readonly string[], string, string>({
    initial: [],
    next(state, event) {
      if (event === 'impossible') throw new Error('no transition');
      return { state: [...state, event], effects: effects[event] ?? [] };
    },
    perform(effect) {
      performed.push(effect);
      perform(effect, (event) => machine.dispatch(event));
    },
    failed,
  });
  return { machine, performed };
}

describe('an event', () => {
  it('changes the state before its effects are performed in order', () => {
    const seen: (readonly string[])[] = [];
    const { machine, performed } = runner({
      effects: { open: ['one', 'two'] },
      perform: () => seen.push(machine.state),
    });
    expect(machine.state).toEqual([]);
    machine.dispatch('open');
    expect(performed).toEqual(['one', 'two']);
    expect(seen).toEqual([['open'], ['open']]);
  });

  it('that an effect dispatches is applied after the other effects', () => {
    const { machine, performed } = runner({
      effects: { a: ['to b', 'to c', 'last of a'], b: ['of b'], c: ['of c'] },
      perform: (effect, dispatch) => {
        if (effect.startsWith('to ')) dispatch(effect.slice(3));
      },
    });
    machine.dispatch('a');
    expect(performed).toEqual(['to b', 'to c', 'last of a', 'of b', 'of c']);
    expect(machine.state).toEqual(['a', 'b', 'c']);
  });
});

describe('an error', () => {
  const broken = { a: ['to b', 'throw', 'never'] };
  const perform = (effect: string, dispatch: (event: string) => void) => {
    if (effect === 'throw') throw new Error('broken');
    if (effect === 'to b') dispatch('b');
  };

  it('skips the rest of the effects; its event precedes the queued events, which are kept', () => {
    const errors: unknown[] = [];
    const failed = (error: unknown) => {
      errors.push(error);
      return 'failure';
    };
    const { machine, performed } = runner({ effects: broken, perform, failed });
    machine.dispatch('a');
    expect(machine.state).toEqual(['a', 'failure', 'b']);
    expect(performed).toEqual(['to b', 'throw']);
    expect(errors).toEqual([new Error('broken')]);
  });

  it('of a transition leaves the state unchanged', () => {
    const { machine } = runner({ failed: () => 'failure' });
    machine.dispatch('impossible');
    expect(machine.state).toEqual(['failure']);
  });

  it('without an event is only reported, and later events are applied', () => {
    const { machine } = runner({ effects: broken, perform });
    machine.dispatch('a');
    machine.dispatch('c');
    expect(machine.state).toEqual(['a', 'b', 'c']);
  });

  it('that is thrown again leaves a runner that works, and the queued events', () => {
    const failed = (error: unknown) => {
      throw error;
    };
    const { machine } = runner({ effects: broken, perform, failed });
    expect(() => machine.dispatch('a')).toThrow('broken');
    expect(machine.state).toEqual(['a']);
    machine.dispatch('c');
    expect(machine.state).toEqual(['a', 'b', 'c']);
  });

  it('of its own event is reported again', () => {
    const errors: unknown[] = [];
    const { machine } = runner({
      effects: { failure: ['throw'], a: ['throw'] },
      perform,
      failed: (error) => (errors.push(error) === 1 ? 'failure' : undefined),
    });
    machine.dispatch('a');
    expect(errors).toHaveLength(2);
    expect(machine.state).toEqual(['a', 'failure']);
  });
});
