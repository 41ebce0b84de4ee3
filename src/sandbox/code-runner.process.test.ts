import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../server/config.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { CodeContainer } from '../contract/engines/code-runner.ts';
import { type CodeRunnerOptions, codeRunner, type OpenCodeRunner } from './code-runner.ts';

const never = new AbortController().signal;
const { modelsDir } = loadConfig(process.env);

function runner(options: Partial<CodeRunnerOptions> = {}): OpenCodeRunner {
  const log = new RecordingLogger();
  const limits = { maxConcurrent: 2, timeMs: 60_000, heapBytes: 256 * 2 ** 20 };
  return codeRunner({ ...limits, modelsDir, log, ...options });
}

function ownRunner(options: Partial<CodeRunnerOptions> = {}): OpenCodeRunner {
  const own = runner(options);
  onTestFinished(() => own.close());
  return own;
}

/** Ids of the processes that run an entry file. */
function processesOf(entry: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(entry);
    } catch {
      return false;
    }
  });
}

describe('interpreters', () => {
  // Shared by the tests, since the start of an interpreter takes seconds of processor time.
  let all: OpenCodeRunner;
  let container: CodeContainer;
  beforeAll(() => {
    all = runner();
    container = all.openContainer('org');
  });
  afterAll(() => all.close());
  const run = (code: string) => container.runProgram(code, never);

  test('returns the printed output in order, and the value of the last line', async () => {
    const run1 = await run('import sys\nprint("a")\nprint("b", file=sys.stderr)\nprint("c")\n1 + 1');
    expect(run1).toEqual({ status: 'done', logs: 'a\nb\nc\n', result: '2', restarted: false });
    expect(await run('x = 5')).toEqual({ status: 'done', logs: '', restarted: false });
    expect(await run('x * 2')).toMatchObject({ result: '10' });
  });

  test('reports an exception with only the frames of the program', async () => {
    expect(await run('def f():\n    return 1 / 0\nf()')).toMatchObject({
      status: 'raised',
      error: expect.stringMatching(
        /^Traceback \(most recent call last\):\n {2}File "<program \d+>", line 3, in <module>\n[\s\S]*return 1 \/ 0[\s\S]*ZeroDivisionError: division by zero\n$/,
      ),
    });
    expect(await run('1 +')).toMatchObject({ error: expect.stringContaining('SyntaxError') });
    expect(await run('raise SystemExit(3)')).toMatchObject({
      error: expect.stringContaining('SystemExit: 3'),
    });
    expect(await run('class E(Exception):\n    __str__ = None\nraise E()')).toMatchObject({
      status: 'raised',
    });
    expect(await run('input()')).toMatchObject({ error: expect.stringContaining('EOFError') });
  });

  test('supports top-level await, and explains that asyncio.run is not supported', async () => {
    expect(await run('import asyncio\nawait asyncio.sleep(0.01)\n"slept"')).toMatchObject({
      result: "'slept'",
    });
    const { error } = await run('import asyncio\nasyncio.run(asyncio.sleep(0))');
    expect(error).toContain("use 'await main()' at the top level");
    expect(await run('import time\ntime.sleep(0.01)\n"slept"')).toMatchObject({ result: "'slept'" });
  });

  test('has the standard library and a private file system', async () => {
    const code = `
import csv, datetime, decimal, fractions, hashlib, io, json, math, random, re, statistics, zlib
open("/tmp/own", "w").write("kept")
statistics.mean([1, 2]), json.dumps({"a": math.comb(40, 20)}), open("/tmp/own").read()`;
    expect(await run(code)).toMatchObject({ result: `(1.5, '{"a": 137846528820}', 'kept')` });
  });

  test('truncates output after 64 KiB, and long values', async () => {
    const { logs, status } = await run('print("é" * 40000)\nprint("more")');
    expect(status).toBe('done');
    expect(logs).toBe(`${'é'.repeat(32_768)}\n[output truncated after 65536 bytes]\n`);
    expect((await run('print(1)')).logs).toBe('1\n');
    expect((await run('"x" * 100000')).result).toHaveLength(8192);
    expect((await run('raise Exception("x" * 100000)')).error).toHaveLength(8192);
  });

  test('a program that needs too much memory gets a MemoryError and the next one runs', async () => {
    const { error } = await run('blocks = [bytes(10 ** 6) for _ in range(400)]');
    expect(error).toContain('MemoryError');
    expect(await run('"still there", x')).toMatchObject({ result: "('still there', 5)", restarted: false });
  });

  test.each([
    'import js',
    'import pyodide_js',
    'import pyodide_js._api',
    'from pyodide.code import run_js\nrun_js("1 + 1")',
    'import importlib\nimportlib.import_module("js")',
    'import sys\nsys.modules["pyodide_js"]',
    'import _pyodide._importhook as h\nh.jsfinder.jsproxies["js"]',
    'from pyodide.http import pyfetch\nawait pyfetch("http://127.0.0.1/")',
    'import pyodide.http\npyodide.http.open_url("http://127.0.0.1/")',
    'from pyodide.ffi import to_js\nto_js([1]).constructor.constructor("return process")()',
    'from pyodide.ffi import to_js\nto_js({"a": 1}).constructor.constructor("return Bun")()',
    'import pyodide.webloop as w\nw.scheduleCallback.constructor("return globalThis")()',
    'import pyodide.webloop as w\nw.scheduleCallback.constructor.constructor("return globalThis")()',
    'from pyodide.ffi import create_proxy\ncreate_proxy(print).constructor.constructor("return 1")()',
    'import micropip',
    'import pyodide_js\npyodide_js.loadPackage("numpy")',
    'import socket\ns = socket.socket()\ns.settimeout(1)\ns.connect(("127.0.0.1", 80))',
    'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:80/", timeout=1)',
    'import http.client\nhttp.client.HTTPConnection("127.0.0.1", 80, timeout=1).request("GET", "/")',
    'import subprocess\nsubprocess.run(["ls"])',
    'import os\nos.system("ls")',
    'import os\nos.fork()',
    'import os\nos.execv("/bin/sh", ["sh"])',
    'open("/etc/passwd")',
    'open("/proc/self/environ")',
    'open("/proc/1/cmdline")',
    'import os\nos.listdir("/etc")',
    'import os\nos.listdir("/root")',
    'import ctypes\nctypes.CDLL("libc.so.6")',
  ])('cannot access the host with %j', async (code) => {
    const { status, error } = await run(code);
    expect([status, error]).toEqual([
      'raised',
      expect.stringMatching(/Error|refused|not found|cannot|unavailable/i),
    ]);
  });

  test('has a synthetic environment, a private file system and no shell', async () => {
    const code = 'import os\nsorted(os.environ), sorted(os.listdir("/"))';
    const { result } = await run(code);
    expect(result).toMatch(
      /^\(\['HOME', 'LANG', 'LD_LIBRARY_PATH', 'LOGNAME', 'PATH', 'PWD', 'PYTHONINSPECT', 'USER', '_'\], \['dev', 'home', 'lib', 'proc', 'tmp'\]\)$/,
    );
    expect(
      (await run('import os\n[v for v in os.environ.values() if "sandbox" in v and "src" in v]')).result,
    ).toBe('[]');
  });

  test('no object gives access to executable JavaScript', async () => {
    const code = `
import gc
from pyodide.ffi import JsProxy, to_js, create_proxy
import pyodide.webloop, pyodide._package_loader
found = [o for o in gc.get_objects() if isinstance(o, JsProxy)]
found += [v for m in (pyodide.webloop, pyodide._package_loader) for v in vars(m).values() if isinstance(v, JsProxy)]
found += [to_js([]), to_js({}), to_js(b""), create_proxy(len)]
bad = []
for o in found:
    for name in dir(o):
        try:
            value = getattr(o, name)
        except BaseException:
            continue
        if isinstance(value, JsProxy) and getattr(value, "constructor", None) is not None:
            if str(getattr(value.constructor, "name", "")) in ("Function", "process"):
                bad.append(name)
bad`;
    expect(await run(code)).toMatchObject({ status: 'done', result: '[]' });
  });

  test('a program that is too long is not run', async () => {
    const code = `x = ${'1'.repeat(200_000)}`;
    expect(await run(code)).toMatchObject({
      status: 'cut',
      error: 'The program was not run: it has 200004 characters; at most 200000 are allowed.',
    });
  });

  test('containers are isolated from each other, and a crashed interpreter is reported and replaced', async () => {
    const other = all.openContainer('other');
    await run('import builtins\nbuiltins.leak = 1\nopen("/tmp/leak", "w").write("x")');
    const found = await other.runProgram(
      'import builtins, os\nhasattr(builtins, "leak"), os.listdir("/tmp")',
      never,
    );
    expect(found).toMatchObject({ result: '(False, [])' });
    const broken = 'import ctypes\nctypes.CDLL(None).emscripten_run_script(b"1")\nctypes.string_at(2 ** 31)';
    expect(await other.runProgram(broken, never)).toMatchObject({
      status: 'cut',
      error: 'The interpreter crashed while it ran the program.',
    });
    expect(await other.runProgram('2', never)).toMatchObject({ result: '2', restarted: true });
    expect(await run('builtins.leak')).toMatchObject({ result: '1', restarted: false });
  });
});

describe('scheduling', () => {
  // A process without Python, since only the assignment of processes matters here.
  const entry = join(import.meta.dirname, '../../test/harness/escaped-python.ts');

  test('a spare process is started before the first program, and again when it is in use', async () => {
    const ownEntry = join(await tempDir(), 'python.ts');
    await writeFile(ownEntry, `import ${JSON.stringify(entry)};`);
    const running = () => processesOf(ownEntry);
    const all = ownRunner({ entry: ownEntry });
    const container = all.openContainer('org');
    await expect.poll(running).toHaveLength(1);
    const [spare] = running();
    expect(await container.runProgram('open', never)).toMatchObject({ result: '-1' });
    await expect.poll(running).toHaveLength(2);
    expect(running()).toContain(spare);
    await all.close();
    expect(running()).toEqual([]);
  });

  test('an abort ends the program, and the next call has a new interpreter', async () => {
    const container = ownRunner({ entry }).openContainer('org');
    expect(await container.runProgram('open', never)).toMatchObject({ result: '-1', restarted: false });
    const early = new AbortController();
    const started = container.runProgram('spin', early.signal);
    early.abort(new Error('aborted early'));
    await expect(started).rejects.toThrow('aborted early');
    expect(await container.runProgram('open', never)).toMatchObject({ result: '-1', restarted: false });
    const controller = new AbortController();
    const running = container.runProgram('spin', controller.signal);
    // The program has been sent once all pending microtasks have run.
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    await expect(container.runProgram('open', controller.signal)).rejects.toThrow('left');
    expect(await container.runProgram('open', never)).toMatchObject({ result: '-1', restarted: true });
  });

  test('a container waits until another one is closed, and keys are served round-robin', async () => {
    const all = ownRunner({ entry, maxConcurrent: 1 });
    const order: string[] = [];
    const first = all.openContainer('a');
    await first.runProgram('open', never);
    const others = ['a', 'a', 'b'].map(async (fairnessKey, index) => {
      const container = all.openContainer(fairnessKey);
      await container.runProgram('open', never);
      order.push(`${fairnessKey}${index}`);
      await container.close();
    });
    await first.runProgram('open', never);
    expect(order).toEqual([]);
    await first.close();
    await Promise.all(others);
    expect(order).toEqual(['a0', 'b2', 'a1']);
  });

  test('an idle container releases its interpreter, and gets a new one later', async () => {
    const all = ownRunner({ entry, maxConcurrent: 1, idleTimeoutMs: 20 });
    const first = all.openContainer('a');
    await first.runProgram('open', never);
    const other = all.openContainer('b');
    await other.runProgram('open', never);
    await other.close();
    expect(await first.runProgram('open', never)).toMatchObject({ result: '-1', restarted: true });
  });

  test('one key can have at most half of the queue', async () => {
    const all = ownRunner({ entry, maxConcurrent: 1 });
    const overloaded = { kind: 'overloaded' };
    const running = expect(all.openContainer('a').runProgram('spin', never)).rejects.toMatchObject(
      overloaded,
    );
    const waiting = Array.from({ length: 32 }, () => all.openContainer('b').runProgram('open', never));
    const rejected = Promise.all(waiting.map((one) => expect(one).rejects.toMatchObject(overloaded)));
    await expect(all.openContainer('b').runProgram('open', never)).rejects.toMatchObject({
      kind: 'rate_limited',
      message: expect.stringContaining('Queue limit per API key reached (32)'),
    });
    const other = expect(all.openContainer('c').runProgram('open', never)).rejects.toMatchObject(overloaded);
    await all.close();
    await Promise.all([running, rejected, other]);
  });

  test('rejects the 65th queued container; close() rejects all', async () => {
    const all = ownRunner({ entry, maxConcurrent: 1 });
    const running = expect(all.openContainer('a').runProgram('spin', never)).rejects.toMatchObject({
      kind: 'overloaded',
    });
    const waiting = Array.from({ length: 64 }, (_, i) =>
      all.openContainer(i % 2 === 0 ? 'b' : 'd').runProgram('open', never),
    );
    const rejected = Promise.all(
      waiting.map((one) => expect(one).rejects.toMatchObject({ kind: 'overloaded' })),
    );
    await expect(all.openContainer('c').runProgram('open', never)).rejects.toMatchObject({
      kind: 'overloaded',
      message: expect.stringContaining('queue for requests of this kind is full (64)'),
    });
    await all.close();
    await Promise.all([running, rejected]);
    await expect(all.openContainer('c').runProgram('open', never)).rejects.toThrow(
      'Python interpreter failed to start',
    );
  });

  test('a failed start is returned and logged, and releases its slot', async () => {
    const log = new RecordingLogger();
    const container = ownRunner({ entry: '/nowhere/worker.ts', maxConcurrent: 1, log }).openContainer('org');
    for (const _ of [1, 2]) {
      await expect(container.runProgram('open', never)).rejects.toMatchObject({ kind: 'overloaded' });
    }
    expect(log.lines.map(({ message }) => message)).toEqual(
      Array(2).fill('Python interpreter failed to start'),
    );
  });
});

describe('limits', () => {
  test('the time limit terminates the interpreter, and the output is returned', async () => {
    // Also enough for the short programs on a busy machine.
    const container = ownRunner({ timeMs: 3000 }).openContainer('org');
    expect(await container.runProgram('x = 1', never)).toMatchObject({ status: 'done' });
    expect(await container.runProgram('print("begun", flush=True)\nwhile True: pass', never)).toEqual({
      status: 'cut',
      logs: 'begun\n',
      error: 'The program was terminated: it exceeded the time limit of 3 s.',
      restarted: false,
    });
    expect(await container.runProgram('x', never)).toMatchObject({
      status: 'raised',
      error: expect.stringContaining('NameError'),
      restarted: true,
    });
    expect(await container.runProgram('1', never)).toMatchObject({ restarted: false });
  });
});
