import { invalidRequest } from '../../../../src/contract/core/error.ts';
import type { CodeRunner } from '../../../../src/contract/engines/code-runner.ts';
import type { WebSearch } from '../../../../src/contract/engines/web-search.ts';
import type { BuiltInTools } from '../items/built-in-tools.ts';
import { codeInterpreter } from './code-interpreter.ts';
import { webSearch } from './web-search.ts';

const NO_SEARCH =
  "Web search is not configured. The operator can configure it with '[web_search]' and the 'url' of a SearXNG server in the CONFIG file.";

/** Creates the built-in tools. */
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
