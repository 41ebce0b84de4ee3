import { describe, expect, it } from 'vitest';
import type { ChatTemplateMessage, ChatTemplateTool } from './conversation.ts';
import { learnToolCallSyntax } from './tool-call-syntax.ts';

type Render = Parameters<typeof learnToolCallSyntax>[0];

/** A template that encloses messages in markers and renders calls with the given function. */
function template(callsOf: (calls: readonly { id: string; name: string; args: string }[]) => string): Render {
  return (messages: readonly ChatTemplateMessage[], tools: readonly ChatTemplateTool[]) => {
    const text = messages.map(({ role, content, tool_calls }) => {
      const calls = tool_calls?.map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
      return `[${role}]${content}${calls ? callsOf(calls) : ''}[end]\n`;
    });
    return `tools: ${JSON.stringify(tools)}\n${text.join('')}`;
  };
}

describe('the syntax is derived from two rendered calls', () => {
  it('with tags', () => {
    const render = template((calls) =>
      calls.map(({ name, args }) => `<call>\n{"name": "${name}", "arguments": ${args}}\n</call>`).join('\n'),
    );
    expect(learnToolCallSyntax(render)).toEqual({
      opens: '<call>\n{"name": "',
      nameEnds: '", "arguments": ',
      between: '}\n</call>\n<call>\n{"name": "',
      closes: '}\n</call>',
    });
  });

  it('with a list', () => {
    const spaced = (args: string) => args.replace('{"probe":1}', '{ "probe": 1 }');
    const render = template(
      (calls) =>
        `[CALLS][${calls.map(({ name, args }) => `{"n": "${name}", "a": ${spaced(args)}}`).join(', ')}]`,
    );
    expect(learnToolCallSyntax(render)).toEqual({
      opens: '[CALLS][{"n": "',
      nameEnds: '", "a": ',
      between: '}, {"n": "',
      closes: '}]',
    });
  });
});

describe('no syntax is derived', () => {
  it.each<[string, Render]>([
    ['from a template that ignores tools', (messages) => messages.map(({ content }) => content).join('\n')],
    ['from a template that omits calls', template(() => '')],
    [
      'from a template that renders one call',
      template(([first]) => `{"name": "${first?.name}", "a": ${first?.args}}`),
    ],
    [
      'from a template without JSON arguments',
      template((calls) => calls.map(({ name }) => `<${name} probe=1/>`).join('')),
    ],
    [
      'from a template that renders call ids',
      template((calls) =>
        calls.map(({ id, name, args }) => `{"f": "${name}", "a": ${args}, "id": "${id}"}`).join(''),
      ),
    ],
    [
      'from a template that throws',
      () => {
        throw new Error('no tools');
      },
    ],
  ])('%s', (_, render) => {
    expect(learnToolCallSyntax(render)).toBeUndefined();
  });
});
