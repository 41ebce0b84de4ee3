import { MAX_REPR_CHARACTERS } from './sandbox-protocol.ts';

/** Python code that imports the modules of {@link PROGRAM_RUNNER}. */
export const PRELOADED_MODULES = `
import asyncio, linecache, os, random, sys, traceback
from pyodide.code import eval_code_async
`;

/**
 * Python code whose value is the function that runs programs. Programs share one namespace. The result of a program is a
 * pair: `repr()` of its last expression or None, and the traceback or None. Tracebacks contain only the frames of the
 * program. The function binds everything it needs in advance, so that a program cannot replace it.
 *
 * The code also removes the modules that give access to JavaScript, so that `import js` fails, and seeds the random numbers: all
 * interpreters that start from a snapshot have the same state, and the source of entropy cannot be opened later.
 */
export const PROGRAM_RUNNER = `${PRELOADED_MODULES}
random.seed()

def make():
    names = {"__name__": "__main__"}
    limit = ${MAX_REPR_CHARACTERS}
    shown, flush_out, flush_err = repr, sys.stdout.flush, sys.stderr.flush
    text_of, evaluate, count = traceback.format_exception, eval_code_async, [0]

    def truncate(text):
        return text if len(text) <= limit else text[: limit - 3] + "..."

    def traceback_of(error):
        here = error.__traceback__
        while here is not None and not here.tb_frame.f_code.co_filename.startswith("<program"):
            here = here.tb_next
        text = "".join(text_of(type(error), error, here))
        return text if len(text) <= limit else "..." + text[3 - limit :]

    async def run(code):
        count[0] += 1
        filename = f"<program {count[0]}>"
        linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
        try:
            value = await evaluate(code, names, filename=filename)
            result = (None if value is None else truncate(shown(value)), None)
        except BaseException as error:
            result = (None, traceback_of(error))
        flush_out()
        flush_err()
        return result

    return run

def rejecting(error):
    def rejected(*_, **__):
        raise error
    return rejected

# Without these replacements, both would crash the interpreter instead of raising an exception.
asyncio.run = rejecting(RuntimeError("asyncio.run() is not supported: use 'await main()' at the top level instead"))
os.system = os.popen = rejecting(OSError("running other programs is not supported"))
for name in [name for name in sys.modules if name.split(".")[0] in ("js", "pyodide_js")]:
    del sys.modules[name]
make()
`;
