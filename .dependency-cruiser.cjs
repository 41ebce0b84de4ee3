/**
 * Allowed imports per folder. Each folder of src lists the folders that it may import; all others are forbidden, also for types.
 * server is above src and plugins.
 * Tests and benchmarks may import everything.
 */

const base = ['contract', 'kit'];
const allowed = {
  contract: ['contract'],
  kit: ['contract', 'kit'],
  audio: [...base, 'audio'],
  blobs: [...base, 'blobs'],
  engines: [...base, 'audio', 'engines', 'inference', 'media', 'models', 'outbound', 'text'],
  conversation: [...base, 'audio', 'conversation', 'generate', 'listen', 'speak', 'usage'],
  generate: [...base, 'generate', 'usage'],
  guide: [...base, 'guide'],
  inference: [...base, 'inference', 'models', 'text'],
  metrics: [...base, 'metrics'],
  models: [...base, 'models'],
  outbound: [...base, 'outbound'],
  text: [...base, 'text'],
  http: [...base, 'guide', 'http', 'metrics'],
  records: [...base, 'records'],
  usage: [...base, 'http', 'usage'],
  sandbox: [...base, 'sandbox'],
  search: [...base, 'search'],
  listen: [...base, 'audio', 'usage', 'listen'],
  jobs: [...base, 'jobs', 'redis'],
  limits: [...base, 'limits', 'redis'],
  media: [...base, 'audio', 'media'],
  redis: [...base, 'redis'],
  speak: [...base, 'audio', 'usage', 'ssml', 'speak', 'text'],
  ssml: [...base, 'ssml'],
  tracing: [...base, 'tracing'],
};

const TEST = '\\.(test|cases)\\.ts$';
const PRODUCT = '^(src|server|plugins)/';
/** Folders of this repository. */
const REPOSITORY = '^(src|server|plugins|packages|scripts|tools|web|test|bench|soak)/';

const folderRules = Object.entries(allowed).map(([folder, targets]) => ({
  name: `${folder}-uses-${targets.join('-')}`,
  comment: `src/${folder} may import only: ${targets.join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: TEST },
  to: { path: PRODUCT, pathNot: `^src/(${targets.join('|')})/` },
}));

/** The console, which runs in a browser: the folders that each of its folders may import. */
const consoleRules = Object.entries({
  client: ['client'],
  components: ['client', 'components'],
  audio: ['client', 'components', 'audio'],
  pages: ['client', 'components', 'audio', 'pages'],
}).map(([folder, targets]) => ({
  name: `console-${folder}-use-${targets.join('-')}`,
  severity: 'error',
  from: { path: `^web/${folder}/` },
  to: { path: '^web/', pathNot: `^web/(${targets.join('|')})/` },
}));

/** The module or folder that may import a library. Other code uses the library through it. */
const importers = [
  ['sqlite', '^bun:sqlite$', '^src/records/'],
  ['postgres', 'node_modules/pg/', '^src/records/'],
  ['sql', 'node_modules/kysely/', '^src/records/'],
  ['onnxruntime', 'node_modules/onnxruntime-node/', '^src/inference/runtime/runtime\\.ts$'],
  ['llama', 'node_modules/@node-llama-cpp/', '^src/engines/llama/worker/native\\.ts$'],
  ['protobuf', 'node_modules/protobufjs/', '^src/(engines|inference)/'],
  ['mediabunny', 'node_modules/(@mediabunny/server|mediabunny|node-av)/', '^src/media/'],
  ['pyodide', 'node_modules/pyodide/', '^src/sandbox/memory-snapshot\\.ts$'],
  [
    'ffi',
    '^bun:ffi$',
    '^src/(sandbox/syscall-filter|kit/process/libc|engines/llama/worker/cuda-driver|engines/espeak/worker/library)\\.ts$',
  ],
  ['toml', 'node_modules/smol-toml/', '^src/config/config-file\\.ts$'],
  ['pino', 'node_modules/pino/', '^src/kit/logging/json-logger\\.ts$'],
  ['prometheus', 'node_modules/prom-client/', '^src/metrics/registry\\.ts$'],
  ['markdown', 'node_modules/marked/', '^src/guide/markdown-page\\.ts$'],
  ['highlighting', 'node_modules/highlight\\.js/', '^src/guide/highlight-code\\.ts$'],
  ['opentelemetry', 'node_modules/@opentelemetry/', '^src/tracing/'],
  ['multipart', 'node_modules/@fastify/busboy/', '^src/http/request/multipart\\.ts$'],
  [
    'addresses',
    'node_modules/ipaddr\\.js/',
    '^src/(outbound/public-url|kit/validation/network-address)\\.ts$',
  ],
  ['redis', 'node_modules/ioredis/', '^src/redis/'],
  ['rate-limiter', 'node_modules/rate-limiter-flexible/', '^src/limits/'],
  ['bullmq', 'node_modules/bullmq/', '^src/jobs/'],
  ['s3', 'node_modules/(@aws-sdk|@smithy)/', '^src/blobs/'],
  [
    'framework',
    'node_modules/elysia/',
    // Features describe their paths with route(); only these files know the framework.
    '^(src/http/(mount|server/request-(hooks|spans)|routes/metrics|response/error-body)|server/(app|front))\\.ts$',
  ],
];

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-missing', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^bun' } },
    ...folderRules,
    ...consoleRules,
    {
      name: 'console-imports-only-types-of-the-service',
      comment: 'The console uses the service over HTTP, and imports only types of it',
      severity: 'error',
      from: { path: '^web/', pathNot: TEST },
      to: {
        path: '^(src|server|plugins|scripts|tools|test|bench)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'console-pages-must-not-import-each-other',
      severity: 'error',
      from: { path: '^web/pages/([^/]+)/' },
      to: { path: '^web/pages/[^/]+/', pathNot: '^web/pages/$1/' },
    },
    {
      name: 'nothing-imports-the-console',
      severity: 'error',
      from: { path: '^(src|server|plugins|scripts)/' },
      to: { path: '^web/' },
    },
    {
      name: 'front-ends-have-one-door',
      comment: 'Engines, plugins and scripts use a language only through src/text/front-end.ts',
      severity: 'error',
      from: { path: '^(src|server|plugins|scripts)/', pathNot: ['^src/text/', TEST] },
      to: {
        path: '^src/text/',
        pathNot: '^src/text/(front-end|detected-language|espeak|word-alignment)\\.ts$',
      },
    },
    {
      name: 'languages-stand-alone',
      comment: 'A folder of a language imports nothing of another language',
      severity: 'error',
      from: { path: '^src/text/([^/]+)/', pathNot: TEST },
      to: { path: '^src/text/[^/]+/', pathNot: '^src/text/($1|rules)/' },
    },
    {
      name: 'plugin-uses',
      comment:
        'A plugin may import only itself and contract, kit, audio, http, usage, generate, listen, speak, ssml, conversation, text/front-end and config/section',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/', pathNot: TEST },
      to: {
        path: PRODUCT,
        pathNot: [
          '^src/(contract|kit|audio|http|outbound|usage|generate|listen|speak|ssml|conversation)/',
          '^src/text/front-end\\.ts$',
          '^src/(config/section|plugin-host/define-plugin)\\.ts$',
          '^plugins/$1/',
        ],
      },
    },
    {
      name: 'packages-import-only-themselves',
      comment: 'A package of packages/ may import only its own files and libraries',
      severity: 'error',
      from: { path: '^packages/([^/]+)/', pathNot: TEST },
      to: { path: REPOSITORY, pathNot: '^packages/$1/' },
    },
    {
      name: 'packages-are-imported-by-their-index',
      comment:
        'Only engines import packages, through src/index.ts; tests and benchmarks also import testing/',
      severity: 'error',
      from: { path: '^(src|server|plugins|web|scripts)/', pathNot: TEST },
      to: { path: '^packages/', pathNot: '^packages/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'only-engines-import-packages',
      severity: 'error',
      from: { path: '^(src|server|plugins|web|scripts)/', pathNot: ['^src/engines/', TEST] },
      to: { path: '^packages/' },
    },
    {
      name: 'only-build-imports-plugins',
      comment: 'Exceptions: one script documents the events of a plugin, one checks a trace of them',
      severity: 'error',
      from: {
        path: '^(src|scripts)/',
        pathNot: ['^scripts/(asyncapi|trace-check)\\.ts$', TEST],
      },
      to: { path: '^plugins/' },
    },
    {
      name: 'plugin-host-and-app-must-not-import-engines-or-stores',
      severity: 'error',
      from: { path: '^(src/plugin-host/|server/app\\.ts$)', pathNot: TEST },
      to: {
        path: '^(src/(blobs|engines|inference|media|models|records|sandbox|search|config)|server)/',
        pathNot: '^src/config/section\\.ts$',
      },
    },
    {
      name: 'only-tests-and-scripts-import-the-server',
      comment: 'server is above the plugins: it connects the parts of the service, which do not know it',
      severity: 'error',
      from: { path: '^(src|plugins|packages|web)/', pathNot: TEST },
      to: { path: '^server/' },
    },
    {
      name: 'config-uses-contract-kit-models-and-families',
      comment: 'The families of engines parse their tables; they load no engine before it is opened',
      severity: 'error',
      from: { path: '^src/config/', pathNot: TEST },
      to: {
        path: PRODUCT,
        pathNot: ['^src/(contract|kit|config|models)/', '^src/engines/(families|family)\\.ts$'],
      },
    },
    {
      name: 'only-build-imports-features',
      comment: 'server/main.ts passes the plugins (server/plugins.ts) and the engines (server/build.ts)',
      severity: 'error',
      from: { path: '^server/', pathNot: ['^server/(main|build|plugins)\\.ts$', TEST] },
      to: {
        path: ['^src/(engines|inference|media|models|sandbox|search)/', '^server/build\\.ts$', '^plugins/'],
      },
    },
    {
      name: 'nothing-imports-main',
      severity: 'error',
      from: { pathNot: '^soak/' },
      to: { path: '^server/main\\.ts$' },
    },
    {
      name: 'only-main-runs-the-process',
      severity: 'error',
      from: { path: PRODUCT, pathNot: ['^server/main\\.ts$', TEST] },
      to: { path: '^server/process\\.ts$' },
    },
    {
      name: 'only-the-server-imports-config',
      comment:
        'A plugin declares its settings with src/config/section.ts, and receives their values in setup',
      severity: 'error',
      from: { path: PRODUCT, pathNot: ['^server/config\\.ts$', '^src/config/', TEST] },
      to: { path: '^src/config/', pathNot: '^src/config/section\\.ts$' },
    },
    {
      name: 'product-must-not-import-tests',
      severity: 'error',
      from: { path: PRODUCT, pathNot: TEST },
      to: { path: ['^(test|tools|bench|soak)/', TEST] },
    },
    {
      name: 'tools-must-not-import-tests',
      comment: 'Tests, benchmarks and the soak test share tools, which import only the product',
      severity: 'error',
      from: { path: '^(tools|bench|soak)/' },
      to: { path: '^test/' },
    },
    {
      name: 'tools-must-not-import-benchmarks',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: '^(bench|soak)/' },
    },
    ...importers.map(([library, to, from]) => ({
      name: `one-importer-of-${library}`,
      severity: 'error',
      from: { path: PRODUCT, pathNot: [from, TEST] },
      to: { path: to },
    })),
  ],
  options: {
    // TypeScript 7 has no parser that a library could call.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'node_modules/.*/node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json', '.css'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
