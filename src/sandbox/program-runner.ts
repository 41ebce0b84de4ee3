import { MAX_REPR_CHARACTERS } from './sandbox-protocol.ts';

/**
 * Python that makes the function which runs programs. Programs share one module's names; what one returns is a pair
 * of `repr()` of its last expression or None, and traceback or None. Of a traceback only the program's own frames
 * are shown. Everything it needs is held from the start, so that no program can take its place in another's way.
 *
 * The modules that lead to JavaScript are taken away first: with them gone, `import js` finds nothing.
 */
export const PROGRAM_RUNNER = `
import asyncio, linecache, os, sys, traceback
from pyodide.code import eval_code_async

def make():
    names = {"__name__": "__main__"}
    most = ${MAX_REPR_CHARACTERS}
    shown, flush_out, flush_err = repr, sys.stdout.flush, sys.stderr.flush
    text_of, evaluate, count = traceback.format_exception, eval_code_async, [0]

    def cut(text):
        return text if len(text) <= most else text[: most - 3] + "..."

    def told(error):
        here = error.__traceback__
        while here is not None and not here.tb_frame.f_code.co_filename.startswith("<program"):
            here = here.tb_next
        text = "".join(text_of(type(error), error, here))
        return text if len(text) <= most else "..." + text[3 - most :]

    async def run(code):
        count[0] += 1
        filename = f"<program {count[0]}>"
        linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
        try:
            value = await evaluate(code, names, filename=filename)
            result = (None if value is None else cut(shown(value)), None)
        except BaseException as error:
            result = (None, told(error))
        flush_out()
        flush_err()
        return result

    return run

def refuse(error):
    def refused(*_, **__):
        raise error
    return refused

# Both would break the interpreter instead of telling.
asyncio.run = refuse(RuntimeError("asyncio.run() cannot be used here: write 'await main()' outside of functions instead"))
os.system = os.popen = refuse(OSError("there are no other programs here"))
for name in [name for name in sys.modules if name.split(".")[0] in ("js", "pyodide_js")]:
    del sys.modules[name]
make()
`;
