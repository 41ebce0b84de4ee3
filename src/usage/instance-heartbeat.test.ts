import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callerOf, sharedAccounts, speechCall } from '../../tools/harness/doubles/usage-parts.ts';
import { INSTANCE_TIMEOUT_S, type InstanceHeartbeat } from './instance-heartbeat.ts';

let shared: ReturnType<typeof sharedAccounts>;
beforeEach(async () => {
  shared = sharedAccounts();
  await shared.credits.grant('a', 1000, 0);
});
afterEach(() => shared.close());

/** Heartbeats every 10 s, for longer than the instance timeout. */
async function listen(watch: InstanceHeartbeat): Promise<void> {
  for (let seconds = 0; seconds <= INSTANCE_TIMEOUT_S; seconds += 10) {
    await watch.beat();
    shared.clock.advance(10_000);
  }
}

const names = async () => (await shared.journal.listInstances()).map(({ id }) => id);

describe('the calls of a crashed process', () => {
  it('become failed rows at the next start, without usage or charge', async () => {
    const dead = shared.process();
    await dead.watch.start();
    const opening = speechCall(50);
    await dead.accounts.openCall(opening);
    await dead.accounts.openCall(speechCall(0, { model: 'free', caller: callerOf('b') }));
    shared.running.delete(dead.self.pid);
    shared.clock.advance(4000);

    const next = shared.process();
    await next.watch.start();
    const { endpoint, model, caller } = opening;
    const { organization, requestId } = caller;
    expect(await shared.rows()).toEqual([
      {
        id: expect.stringMatching(/^usage_/),
        createdAt: 1_767_323_045,
        endpoint,
        model,
        organization,
        requestId,
        status: 'failed',
        inputTokens: 0,
        outputTokens: 0,
      },
    ]);
    expect(await shared.rows('b')).toMatchObject([{ status: 'failed', model: 'free' }]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 1000, reserved: 0, revenue: 0 });
    expect(await names()).toEqual([next.self.id]);
    expect(shared.log.lines).toMatchObject([{ level: 'warn', fields: { calls: 2 } }]);
    await next.watch.stop();
    await dead.watch.stop();
  });

  it('whose work is repeated are discarded: no row, reservation released', async () => {
    const dead = shared.process();
    await dead.watch.beat();
    const { calls } = dead.lines.forLine();
    await calls.openCall(speechCall(50));
    const closed = await calls.openCall(speechCall(40));
    await closed.close({ status: 'completed', inputTokens: 1, outputTokens: 1, characters: 40 });
    expect(await shared.credits.balance('a')).toMatchObject({ available: 906, reserved: 94 });
    shared.running.delete(dead.self.pid);
    await shared.process().watch.beat();
    expect(await shared.rows()).toEqual([]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 1000, reserved: 0 });
  });

  it('stay open while it runs, on this and other hosts', async () => {
    const here = shared.process();
    const there = shared.process({ host: 'there' });
    for (const { watch, accounts } of [here, there]) {
      await watch.beat();
      await accounts.openCall(speechCall(10));
    }
    // Its process id has no meaning on another host.
    shared.running.delete(there.self.pid);
    const next = shared.process();
    await next.watch.beat();
    expect(await shared.rows()).toEqual([]);
    shared.clock.advance(INSTANCE_TIMEOUT_S * 1000);
    await next.watch.beat();
    expect(await shared.rows()).toEqual([]);
  });

  it('are recovered after the heartbeat timeout, on any host', async () => {
    const dead = shared.process({ host: 'there' });
    const lives = shared.process({ host: 'there' });
    for (const { watch, accounts } of [dead, lives]) {
      await watch.beat();
      await accounts.openCall(speechCall(10));
    }
    await listen(lives.watch);
    expect(await shared.rows()).toHaveLength(1);
    expect(await names()).toEqual([lives.self.id]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 988, reserved: 12 });
  });

  it('stay open after a period in which no heartbeat was possible', async () => {
    const first = shared.process({ host: 'there' });
    const second = shared.process();
    for (const { watch, accounts } of [first, second]) {
      await watch.beat();
      await accounts.openCall(speechCall(10));
    }
    // The database was unavailable. The first process to return, and one that starts then, have no recent
    // heartbeats of the others.
    shared.clock.advance(INSTANCE_TIMEOUT_S * 2000);
    for (const { watch } of [second, shared.process({ host: 'elsewhere' }), first]) await watch.beat();
    expect(await shared.rows()).toEqual([]);
    await listen(first.watch);
    expect(await shared.rows()).toHaveLength(1);
  });

  it('stay open when a clock is set forward', async () => {
    const there = shared.process({ host: 'there' });
    const here = shared.process();
    await there.watch.beat();
    await there.accounts.openCall(speechCall(10));
    for (let beat = 0; beat < 3; beat += 1) {
      for (const { watch } of [there, here]) await watch.beat();
      shared.clock.advance(10_000);
    }
    shared.clock.step(INSTANCE_TIMEOUT_S * 2000);
    await here.watch.beat();
    expect(await shared.rows()).toEqual([]);
  });

  it('are recovered when its process id is reused', async () => {
    const dead = shared.process();
    await dead.watch.beat();
    await dead.accounts.openCall(speechCall(10));
    const next = shared.process();
    // As in a container, where the first process always has the same id.
    Object.assign(next.self, { pid: dead.self.pid });
    await next.watch.beat();
    expect(await shared.rows()).toHaveLength(1);
  });

  it('are recovered once by concurrent processes', async () => {
    const dead = shared.process();
    await dead.watch.beat();
    for (let call = 0; call < 30; call += 1) await dead.accounts.openCall(speechCall(10));
    shared.running.delete(dead.self.pid);
    await Promise.all(
      [shared.process(), shared.process(), shared.process()].map(({ watch }) => watch.beat()),
    );
    expect(await shared.rows()).toHaveLength(30);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 1000, reserved: 0 });
  });

  it('of a process wrongly considered crashed close once, with a warning', async () => {
    const paused = shared.process({ host: 'there' });
    await paused.watch.beat();
    const call = await paused.accounts.openCall(speechCall(10));
    await listen(shared.process().watch);
    await call.close({ status: 'completed', inputTokens: 1, outputTokens: 1, characters: 10 });
    expect(await shared.rows()).toMatchObject([{ status: 'failed' }]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 1000, revenue: 0 });
    expect(shared.log.lines.at(-1)).toMatchObject({ message: 'call already had a usage row' });
    await paused.watch.beat();
    expect(await names()).toContain(paused.self.id);
  });
});

describe('shutdown', () => {
  it('unregisters the process after its calls are closed', async () => {
    const { accounts, watch } = shared.process();
    await watch.start();
    const call = await accounts.openCall(speechCall(10));
    await call.discard();
    await watch.stop();
    expect(await names()).toEqual([]);
  });

  it('keeps the process registered while calls are open', async () => {
    const ended = shared.process();
    await ended.watch.start();
    await ended.accounts.openCall(speechCall(10));
    await ended.watch.stop();
    expect(await names()).toEqual([ended.self.id]);
    shared.running.delete(ended.self.pid);
    await shared.process().watch.beat();
    expect(await shared.rows()).toHaveLength(1);
  });
});
