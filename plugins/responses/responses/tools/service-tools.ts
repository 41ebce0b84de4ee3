import { invalidRequest } from '../../../../src/contract/core/error.ts';
import type { CodeRunner } from '../../../../src/contract/engines/code-runner.ts';
import type { WebSearch } from '../../../../src/contract/engines/web-search.ts';
import type { BuiltInTools } from '../items/built-in-tools.ts';
import { codeInterpreter } from './code-interpreter.ts';
import { webSearch } from './web-search.ts';

const NO_SEARCH =
  "This service has no web search. Its operator can set one up: '[web_search]' with the 'url' of a SearXNG server in the file that CONFIG names.";

/** The tools that the service runs by itself. */
export function serviceTools(slots: {
  readonly codeRunner: CodeRunner;
  readonly webSearch: WebSearch;
}): BuiltInTools {
  return {
    open(type, settings, owner) {
      if (type === 'code_interpreter') return codeInterpreter(slots.codeRunner.openContainer(owner));
      if (slots.webSearch.available) return webSearch(slots.webSearch, settings);
      throw invalidRequest(NO_SEARCH, undefined, 'unsupported_value');
    },
  };
}
