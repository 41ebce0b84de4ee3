import { describe, expect, test } from 'vitest';
import { EXAMPLE_TOOLS, findExampleTool, runExampleTool } from './example-tools.ts';

function run(name: string, args: string): unknown {
  const tool = findExampleTool(name);
  if (tool === undefined) throw new Error(`no function '${name}'`);
  let draws = 0;
  const environment = {
    now: () => new Date('2026-03-01T12:00:00Z'),
    random: () => {
      draws += 1;
      return (draws % 2) * 0.999;
    },
  };
  return JSON.parse(runExampleTool(tool, args, environment));
}

test('all functions run without arguments', () => {
  for (const { definition } of EXAMPLE_TOOLS) expect(run(definition.name, '{}')).not.toHaveProperty('error');
});

test('the current time is that of the time zone', () => {
  expect(run('get_current_time', '{"time_zone":"Asia/Tokyo"}')).toEqual({
    time: expect.stringMatching(/^Sunday,? 1 March 2026 at 21:00$/),
    time_zone: 'Asia/Tokyo',
  });
});

test('dice have the requested number of sides', () => {
  expect(run('roll_dice', '{"count":3,"sides":20}')).toEqual({ rolls: [20, 1, 20], total: 41 });
  expect(run('roll_dice', '{"count":null}')).toEqual({ rolls: [6], total: 6 });
});

describe('errors are part of the output', () => {
  test.each([
    ['get_current_time', '{"time_zone":"Nowhere"}', /time zone/i],
    ['roll_dice', '{"count":0}', /integer from 1 to 20/],
    ['roll_dice', '{"sides":2.5}', /integer from 2 to 1000/],
    ['roll_dice', '{"sides":', /./],
  ])('%s(%s)', (name, args, message) => {
    expect(run(name, args)).toEqual({ error: expect.stringMatching(message) });
  });
});
