import type { Reporter, TestModule } from 'vitest/node';
import { loadOfMachine } from './machine-load.ts';
import { PROGRESS_FILE, type ProgressEvent, type TestResult, writeProgress } from './progress.ts';

/** vitest reporter that writes the progress of the tests to the file of {@link PROGRESS_FILE}. */
export default class ProgressReporter implements Reporter {
  readonly #path = process.env[PROGRESS_FILE];

  // Before the file is loaded, so that a file that crashes the process is named.
  onTestModuleQueued(module: TestModule): void {
    this.#write({ type: 'start', file: module.relativeModuleId });
  }

  onTestCaseResult(test: { readonly module: TestModule }): void {
    this.#write({ type: 'test', file: test.module.relativeModuleId });
  }

  onTestModuleEnd(module: TestModule): void {
    const suites = [...module.children.allSuites()];
    this.#write({
      type: 'end',
      file: module.relativeModuleId,
      durationMs: Math.round(module.diagnostic().duration),
      tests: [...module.children.allTests()].map((test) => {
        const { state, errors } = test.result();
        const result = { name: test.fullName, state: state === 'pending' ? 'skipped' : state };
        return (errors?.[0] ? { ...result, error: firstLine(errors[0].message) } : result) as TestResult;
      }),
      errors: [...module.errors(), ...suites.flatMap((suite) => suite.errors())].map(({ message }) =>
        firstLine(message),
      ),
      load: loadOfMachine(),
    });
  }

  onTestRunEnd(_modules: unknown, errors: readonly { readonly message: string }[]): void {
    this.#write({ type: 'finish', errors: errors.map(({ message }) => firstLine(message)) });
  }

  #write(event: ProgressEvent): void {
    if (this.#path !== undefined) writeProgress(this.#path, event);
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
