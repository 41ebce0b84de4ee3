import { ServiceError } from '../../../../src/contract/core/error.ts';
import type { CodeContainer, ProgramResult } from '../../../../src/contract/engines/code-runner.ts';
import type { BuiltInResult, BuiltInTool, CodeOutput } from '../items/built-in-tools.ts';

const DESCRIPTION =
  'Runs a Python 3 program and returns what it prints and the value of its last line. Use it for arithmetic, data ' +
  'and text. Names that one call defines are available in later calls. Only the standard library is available: no network, ' +
  "no user files, no package installation. Use 'await' at the top level instead of asyncio.run().";

/** Runs programs of the model in a container, which lives as long as the response. */
export function codeInterpreter(container: CodeContainer): BuiltInTool {
  return {
    type: 'code_interpreter',
    tool: {
      name: 'code_interpreter',
      description: DESCRIPTION,
      parameters: {
        type: 'object',
        properties: { code: { type: 'string', description: 'The program.' } },
        required: ['code'],
        additionalProperties: false,
      },
      strict: true,
    },
    async run(code, signal) {
      try {
        return toResult(await container.runProgram(code, signal));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ServiceError) return { status: 'failed', text: error.message, outputs: [] };
        throw error;
      }
    },
    close: () => container.close(),
  };
}

function toResult({ status, logs, result, error, restarted }: ProgramResult): BuiltInResult {
  const outputs = [logs, result, error].filter((text) => text !== undefined && text !== '');
  const said = outputs.length === 0 ? ['The program ended and printed nothing.'] : outputs;
  const note = restarted ? ['[The interpreter was restarted: names defined by earlier calls are lost.]'] : [];
  return {
    status: status === 'cut' ? 'incomplete' : 'completed',
    text: [...note, ...said].join('\n'),
    outputs: outputs.map((text): CodeOutput => ({ type: 'logs', logs: text ?? '' })),
  };
}
