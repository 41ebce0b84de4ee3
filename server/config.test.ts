import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { hashApiKey } from '../src/kit/keys/api-key.ts';
import { ConfigError, ENVIRONMENT, loadConfig } from './config.ts';

const VIDEO_IDS = ['vid-2.0-mini', 'vid-2.0-fast', 'vid-2.0', 'vid-2.5'];
const OPENAI_SPEECH = [
  'tts-1',
  'tts-1-1106',
  'tts-1-hd',
  'tts-1-hd-1106',
  'gpt-4o-mini-tts',
  'gpt-4o-mini-tts-2025-03-20',
  'gpt-4o-mini-tts-2025-12-15',
  'kokoro',
];
const OPENAI_TRANSCRIPTION = [
  'whisper-1',
  'gpt-4o-transcribe',
  'gpt-4o-mini-transcribe',
  'gpt-4o-mini-transcribe-2025-12-15',
  'gpt-transcribe',
];
const OPENAI_REALTIME = [
  'gpt-realtime',
  'gpt-realtime-2025-08-28',
  'gpt-realtime-1.5',
  'gpt-realtime-2',
  'gpt-realtime-2.1',
  'gpt-realtime-mini',
  'gpt-realtime-mini-2025-10-06',
  'gpt-realtime-mini-2025-12-15',
  'gpt-realtime-2.1-mini',
];
const OPENAI_IDS = [...OPENAI_SPEECH, ...OPENAI_TRANSCRIPTION, ...OPENAI_REALTIME];
const LAST_IDS = [...VIDEO_IDS, 'svc-voice', ...OPENAI_IDS];
const PRESETS = { voices: 'presets', compatibility: 'openai' } as const;

const folder = mkdtempSync(join(tmpdir(), 'config-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(toml: string): string {
  files += 1;
  const path = join(folder, `${files}.toml`);
  writeFileSync(path, toml);
  return path;
}

/** All bucket settings without a default. */
const S3 = {
  S3_ENDPOINT: 'https://blobs.example:9000/',
  S3_BUCKET: 'files-of-service',
  S3_ACCESS_KEY_ID: 'AKIA1',
  S3_SECRET_ACCESS_KEY: 'hunter2',
};

/** Returns the error message of an invalid configuration. */
function refusal(environment: Record<string, string>): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const COLLECTED = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('the model hub', () => {
  test('is the public one without a token, or the configured one', () => {
    expect(loadConfig({}).hub).toEqual({ endpoint: 'https://huggingface.co', token: undefined });
    const { hub } = loadConfig({ HF_ENDPOINT: 'https://mirror.example/hub/', HF_TOKEN: 'hf_secret' });
    expect(hub.endpoint).toBe('https://mirror.example/hub');
    expect(hub.token?.reveal()).toBe('hf_secret');
    expect(JSON.stringify(hub)).not.toContain('hf_secret');
  });

  test.each(['mirror.example', 'ftp://mirror.example', 'https://user:secret@mirror.example', 'https://a/?b'])(
    'must have an address: %s',
    (HF_ENDPOINT) => {
      expect(() => loadConfig({ HF_ENDPOINT })).toThrow('HF_ENDPOINT must be https://host');
    },
  );
});

describe('defaults', () => {
  test('match the contract', () => {
    const config = loadConfig({ HOME: '/home/user' });
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, apiKeys: [], plugins: undefined });
    expect(config.metricsPort).toBeUndefined();
    expect(config.dataDir).toBe(resolve('data'));
    expect(config.database).toEqual({ kind: 'sqlite', path: resolve('data/service.sqlite') });
    expect(config.modelsDir).toMatch(/\/voice-service\/models$/);
    expect(config.inference.provider).toBe('cpu');
    expect(config.modelIds).toEqual([
      'svc-tts',
      'svc-stt',
      'smollm2-135m-instruct',
      'qwen2.5-0.5b-instruct',
      'qwen2.5-1.5b-instruct',
      'all-minilm-l6-v2',
      ...LAST_IDS,
    ]);
    const kokoro = { kind: 'kokoro', voice: 'af_heart' };
    expect([...config.models.speech]).toEqual([
      ['svc-tts', kokoro],
      ...OPENAI_SPEECH.map((id) => [id, { ...kokoro, ...PRESETS }]),
    ]);
    expect([...config.models.transcription]).toEqual(
      ['svc-stt', ...OPENAI_TRANSCRIPTION].map((id) => [id, { kind: 'whisper', weights: 'base' }]),
    );
    const llama = {
      kind: 'llama',
      weights: 'smollm2-135m-instruct',
      slots: 4,
      contextTokens: 2048,
      defaultMaxTokens: 768,
    };
    const qwen = (weights: string) => [weights, { ...llama, weights, contextTokens: 8192 }];
    expect([...config.models.chat]).toEqual([
      ['smollm2-135m-instruct', llama],
      qwen('qwen2.5-0.5b-instruct'),
      qwen('qwen2.5-1.5b-instruct'),
    ]);
    expect(config.modelIdleMs).toBe(1_800_000);
    expect([...config.models.embeddings]).toEqual([['all-minilm-l6-v2', { kind: 'minilm' }]]);
    expect([...config.models.video]).toEqual(VIDEO_IDS.map((id) => [id, { kind: 'continuation' }]));
    const parts = { stt: 'svc-stt', llm: 'qwen2.5-1.5b-instruct', tts: 'svc-tts' };
    expect([...config.models.conversation]).toMatchObject(
      ['svc-voice', ...OPENAI_REALTIME].map((id) => [id, { ...parts, turnDetection: 'semantic_vad' }]),
    );
    expect(config.partner).toEqual({ silenceMs: 350, partialMs: 700 });
    expect(config.ignoredKeys).toEqual([]);
    expect(config.video).toEqual({ maxConcurrentJobs: 1 });
    expect(config.batch).toEqual({ maxConcurrentLines: 64, maxConcurrentBatches: 8 });
    expect(config.limits).toEqual({
      requestBytes: 8_388_608,
      bodies: { bytesPerKey: 67_108_864, totalBytes: 268_435_456 },
      speechCharacters: 5000,
      speechRequestsPerOrganization: 128,
      transcriptionBytes: 26_214_400,
      transcriptionSeconds: 7200,
      transcriptionRequestsPerOrganization: 128,
      textRequestsPerOrganization: 128,
      uploadsPerOrganization: 32,
      storedBytesPerOrganization: 10_737_418_240,
      batchesPerOrganization: 100,
      realtimeConnectionsPerOrganization: 10_000,
      partnerCallsPerOrganization: 1000,
      voiceClipBytes: 20_971_520,
      voicesPerOrganization: 100,
      videoRequestsPerOrganization: 16,
      videosPerOrganization: 100,
      storedVideoBytesPerOrganization: 10_737_418_240,
    });
  });

  test('the result is frozen', () => {
    const config = loadConfig({});
    expect(
      Object.isFrozen(config) && Object.isFrozen(config.limits) && Object.isFrozen(config.inference),
    ).toBe(true);
  });

  test('inference processes receive the variables of libraries, and no keys', () => {
    const forLibraries = {
      PATH: '/bin',
      HOME: '/home/user',
      LD_LIBRARY_PATH: '/lib',
      CUDA_VISIBLE_DEVICES: '0',
      OMP_NUM_THREADS: '2',
      LC_ALL: 'C',
    };
    const config = loadConfig({
      ...forLibraries,
      API_KEYS: 'k1:acme',
      TTS_KEY: 'private',
      NVIDIA_API_KEY: 'private',
      BUN_AUTH_TOKEN: 'private',
      AWS_SECRET_ACCESS_KEY: 'private',
      HTTP_PROXY: 'http://user:private@proxy',
    });
    expect(config.inference.environment).toEqual({ ...forLibraries, ORT_DISABLE_TELEMETRY: '1' });
  });

  test('inference processes never report to the vendor of the runtime', () => {
    const { inference } = loadConfig({ ORT_DISABLE_TELEMETRY: '0' });
    expect(inference.environment).toEqual({ ORT_DISABLE_TELEMETRY: '1' });
  });

  test('an empty variable counts as not set', () => {
    const empty = Object.fromEntries(ENVIRONMENT.map(({ name }) => [name, ' ']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });
});

describe('rate limits', () => {
  test('are off by default', () => {
    const none = { key: undefined, organization: undefined };
    expect(loadConfig({}).rateLimits).toEqual({ requestsPerMinute: none, concurrentCalls: none });
  });

  test('use Redis if it is configured, and its address is a secret', () => {
    expect(loadConfig({}).redisUrl).toBeUndefined();
    const { redisUrl } = loadConfig({ REDIS_URL: 'rediss://:hunter2@redis:6380' });
    expect(redisUrl?.reveal()).toBe('rediss://:hunter2@redis:6380');
    expect(JSON.stringify(redisUrl)).not.toContain('hunter2');
  });
});

test('jobs run in this process unless other machines share the database', () => {
  expect(loadConfig({}).runsJobs).toBe(true);
  expect(loadConfig({ RUN_JOBS: 'off', DATABASE_URL: 'postgres://u@h/d' }).runsJobs).toBe(false);
});

describe('files', () => {
  test('are stored under DATA_DIR by default', () => {
    const { blobs } = loadConfig({ DATA_DIR: '/srv/data' });
    expect(blobs).toEqual({ kind: 'disk', folder: '/srv/data/blobs' });
  });

  test('are stored in a bucket, whose secret is never printed', () => {
    const { blobs } = loadConfig(S3);
    expect(blobs).toMatchObject({
      kind: 's3',
      endpoint: 'https://blobs.example:9000',
      bucket: 'files-of-service',
      region: 'us-east-1',
      accessKeyId: 'AKIA1',
    });
    expect(inspect(blobs, { depth: 9 })).not.toContain('hunter2');
    expect(loadConfig({ ...S3, S3_REGION: 'eu-west-9' }).blobs).toMatchObject({ region: 'eu-west-9' });
  });
});

describe('TLS', () => {
  test('requires a certificate and its key', () => {
    expect(loadConfig({}).tls).toBeUndefined();
    expect(loadConfig({ TLS_CERT_FILE: '/a.pem', TLS_KEY_FILE: '/b.pem' }).tls).toEqual({
      port: 8443,
      certFile: '/a.pem',
      keyFile: '/b.pem',
    });
    expect(loadConfig({ TLS_CERT_FILE: '/a.pem', TLS_KEY_FILE: '/b.pem', TLS_PORT: '0' }).tls).toMatchObject({
      port: 0,
    });
  });

  test.each([{ TLS_CERT_FILE: '/a.pem' }, { TLS_KEY_FILE: '/b.pem' }, { TLS_PORT: '1' }])(
    'one of them alone is rejected: %o',
    (environment) => {
      const [name] = Object.keys(environment);
      expect(() => loadConfig(environment)).toThrow(
        `Environment variable ${name} is set, but TLS requires both TLS_CERT_FILE and TLS_KEY_FILE.`,
      );
    },
  );
});

describe('traces', () => {
  test('are disabled without a collector', () => {
    expect(loadConfig({ OTEL_SERVICE_NAME: 'voice' }).tracing).toBeUndefined();
  });

  test('are sent to a collector, whose headers are never printed', () => {
    const { tracing } = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=hunter%202, x-tenant = a=b ',
      OTEL_SERVICE_NAME: 'voice-eu',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    expect(tracing).toMatchObject({
      url: 'https://collector.example/otlp/v1/traces',
      serviceName: 'voice-eu',
      ratio: 0.25,
    });
    const headers = [...(tracing?.headers ?? [])].map(([name, value]) => [name, value.reveal()]);
    expect(headers).toEqual([
      ['api-key', 'hunter 2'],
      ['x-tenant', 'a=b'],
    ]);
    expect(inspect(tracing, { depth: 9 })).not.toContain('hunter');
  });

  test('are all sampled, with the default service name', () => {
    expect(loadConfig(COLLECTED).tracing).toMatchObject({
      url: 'http://collector:4318/v1/traces',
      serviceName: 'voice-service',
      ratio: 1,
    });
    expect(loadConfig({ ...COLLECTED, OTEL_TRACES_SAMPLER_ARG: '0' }).tracing?.ratio).toBe(0);
  });
});

describe('environment', () => {
  test('is read', () => {
    const config = loadConfig({
      HOST: '0.0.0.0',
      PORT: '0',
      METRICS_PORT: '9100',
      SHUTDOWN_DRAIN_MS: '5000',
      SHUTDOWN_GRACE_MS: '50',
      LOG_LEVEL: 'error',
      DATA_DIR: '/data',
      MODELS_DIR: '/models',
      PLUGINS: 'speech, voices',
      ORT_PROVIDER: 'cuda',
      API_KEYS: 'k1:acme, k:2:acme ,k3:Other.Org_1-x',
    });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      metricsPort: 9100,
      shutdownDrainMs: 5000,
      shutdownGraceMs: 50,
      logLevel: 'error',
      dataDir: '/data',
      modelsDir: '/models',
      plugins: ['speech', 'voices'],
      inference: { provider: 'cuda' },
    });
    expect(config.apiKeys).toEqual([
      { keyHash: hashApiKey('k1'), organization: 'acme', isShort: true },
      { keyHash: hashApiKey('k:2'), organization: 'acme', isShort: true },
      { keyHash: hashApiKey('k3'), organization: 'Other.Org_1-x', isShort: true },
    ]);
    expect(loadConfig({ PLUGINS: 'all' }).plugins).toBeUndefined();
    expect(loadConfig({ XDG_CACHE_HOME: '/cache' }).modelsDir).toBe('/cache/voice-service/models');
  });

  test.each([
    [{ PORT: '80 80' }, 'PORT must be an integer from 0 to 65535'],
    [{ PORT: '-1' }, 'PORT'],
    [{ PORT: '65536' }, 'PORT'],
    [{ PORT: '1e3' }, 'PORT'],
    [{ PORT: '0x50' }, 'PORT'],
    [{ METRICS_PORT: 'yes' }, 'METRICS_PORT'],
    [{ SHUTDOWN_GRACE_MS: '1.5' }, 'SHUTDOWN_GRACE_MS'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of debug, info, warn, error, silent'],
    [{ ORT_PROVIDER: 'CUDA' }, 'ORT_PROVIDER must be one of cpu, cuda'],
    [{ API_KEYS: 'nokey' }, 'API_KEYS, entry 1: must be key:organization'],
    [{ API_KEYS: 'a:b,:org' }, 'API_KEYS, entry 2'],
    [{ API_KEYS: 'a:b,' }, 'API_KEYS, entry 2'],
    [{ API_KEYS: 'a:o/g' }, 'API_KEYS, entry 1'],
    [{ API_KEYS: 'a:b,ключ:c' }, 'API_KEYS, entry 2: must be key:organization, where the key is 1 to 512'],
    [{ API_KEYS: 'a\u0001b:c' }, 'API_KEYS, entry 1'],
    [{ API_KEYS: 'a:b,a:c' }, 'API_KEYS, entry 2: duplicate key'],
    [{ DATABASE_URL: 'mysql://u:hunter2@db/x' }, 'DATABASE_URL must be a URL such as postgres://'],
    [{ DATABASE_URL: 'postgres://:hunter2@db/x' }, 'DATABASE_URL must name a user'],
    [{ RUN_JOBS: 'off' }, 'RUN_JOBS=off requires DATABASE_URL'],
    [{ RUN_JOBS: 'no', DATABASE_URL: 'postgres://u@h/d' }, 'RUN_JOBS must be'],
    [{ REDIS_URL: 'http://:hunter2@r' }, 'REDIS_URL must be redis://host:port'],
    [
      { S3_SECRET_ACCESS_KEY: 'hunter2' },
      'S3_ENDPOINT and S3_BUCKET and S3_ACCESS_KEY_ID is missing: required for S3 storage',
    ],
    [{ S3_REGION: 'eu' }, 'S3_SECRET_ACCESS_KEY is missing'],
    [{ ...S3, S3_BUCKET: '' }, 'variable S3_BUCKET is missing'],
    [{ ...S3, S3_ENDPOINT: 'blobs.example' }, 'S3_ENDPOINT must be https://host'],
    [{ ...S3, S3_ENDPOINT: 'https://k:hunter2@blobs.example' }, 'S3_ENDPOINT must be https://host'],
    [{ ...S3, S3_ENDPOINT: 'https://blobs.example/bucket' }, 'S3_ENDPOINT must be https://host'],
    [{ ...S3, S3_BUCKET: 'My_Bucket' }, 'S3_BUCKET must be 3 to 63 of'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be http://host:port',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://k:hunter2@c' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be http://host:port',
    ],
    [{ ...COLLECTED, OTEL_EXPORTER_OTLP_HEADERS: 'a=b,hunter2' }, 'OTEL_EXPORTER_OTLP_HEADERS, entry 2'],
    [{ ...COLLECTED, OTEL_EXPORTER_OTLP_HEADERS: 'a=hunter2%' }, 'OTEL_EXPORTER_OTLP_HEADERS, entry 1'],
    [
      { ...COLLECTED, OTEL_TRACES_SAMPLER_ARG: '1.5' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
    ],
    [
      { ...COLLECTED, OTEL_TRACES_SAMPLER_ARG: 'all' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
    ],
    [{ CONFIG: '/no/such/file.toml' }, 'CONFIG names a file that does not exist: /no/such/file.toml'],
  ])('%j is rejected: %s', (environment, words) => {
    const message = refusal(environment as Record<string, string>);
    expect(message).toContain(words);
    expect(message).not.toContain('hunter2');
  });
});

test('a key in API_KEYS is short below 22 characters', () => {
  const keys = loadConfig({ API_KEYS: `${'k'.repeat(21)}:a,${'k'.repeat(22)}:a` }).apiKeys;
  expect(keys.map(({ isShort }) => isShort)).toEqual([true, false]);
});

test('a key in API_KEYS has at most the maximum key length', () => {
  const longest = 'k'.repeat(512);
  expect(loadConfig({ API_KEYS: `${longest}:a` }).apiKeys).toHaveLength(1);
  expect(() => loadConfig({ API_KEYS: `${longest}k:a` })).toThrow(
    'API_KEYS, entry 1: must be key:organization',
  );
});

describe('file', () => {
  const load = (toml: string, environment: Record<string, string> = {}) =>
    loadConfig({ ...environment, CONFIG: file(toml) });

  test('maps models, extends the defaults, and keeps its order', () => {
    const config = load(
      `
      [models."svc-tts-fast"]
      kind = "piper"
      [models."remote"]
      kind = "upstream"
      base_url = "https://tts.example/v1/"
      api_key_env = "TTS_KEY"
      model = "big"
      voice = "anna"
      voices = "register"
      [models.open]
      kind = "upstream"
      base_url = "http://127.0.0.1:1/v1"
      model = "small"
    `,
      { TTS_KEY: 'hunter2' },
    );
    expect(config.modelIds).toEqual([
      'svc-tts',
      'svc-stt',
      'smollm2-135m-instruct',
      'qwen2.5-0.5b-instruct',
      'qwen2.5-1.5b-instruct',
      'all-minilm-l6-v2',
      ...LAST_IDS,
      'svc-tts-fast',
      'remote',
      'open',
    ]);
    expect([...config.models.speech.keys()]).toEqual([
      'svc-tts',
      ...OPENAI_SPEECH,
      'svc-tts-fast',
      'remote',
      'open',
    ]);
    expect(config.models.speech.get('svc-tts-fast')).toEqual({ kind: 'piper', voice: 'en_US-joe-medium' });
    const remote = config.models.speech.get('remote');
    expect(remote).toMatchObject({
      baseUrl: 'https://tts.example/v1',
      model: 'big',
      voice: 'anna',
      voices: 'register',
    });
    expect(remote?.kind === 'upstream' && remote.apiKey?.reveal()).toBe('hunter2');
    expect(config.models.speech.get('open')).toMatchObject({
      apiKey: undefined,
      voice: undefined,
      voices: 'none',
    });
  });

  test('selects the vocabulary of token ids of embedding models', () => {
    const {
      models: { embeddings: embedModels },
    } = load(`
      [models.own]
      kind = "minilm"
      token_ids = "model"
      [models.remote]
      kind = "upstream"
      task = "embeddings"
      base_url = "http://127.0.0.1:1/v1"
      model = "any"
      token_ids = "model"
    `);
    const vocabularies = ['own', 'remote', 'all-minilm-l6-v2'].map((id) => embedModels.get(id)?.tokenIds);
    expect(vocabularies).toEqual(['model', 'model', undefined]);
    expect(() => load(`[models.own]\nkind = "minilm"\ntoken_ids = "gpt2"`)).toThrow(
      /models\."own"\.token_ids.*cl100k_base/,
    );
  });

  test('marks models of any kind as required', () => {
    const config = load(`
      [models."svc-tts"]
      kind = "piper"
      required = true
      [models."svc-stt"]
      kind = "whisper"
      required = false
      [models."all-minilm-l6-v2"]
      kind = "minilm"
      required = true
      [models."vid-2.0"]
      kind = "continuation"
      required = true
      [models."smollm2-135m-instruct"]
      kind = "llama"
      required = true
      [models.remote]
      kind = "upstream"
      base_url = "http://127.0.0.1:1/v1"
      model = "any"
      required = true
    `);
    expect([...config.requiredModels].sort()).toEqual(
      ['all-minilm-l6-v2', 'remote', 'smollm2-135m-instruct', 'svc-tts', 'vid-2.0'].sort(),
    );
    expect(config.models.embeddings.get('all-minilm-l6-v2')).toEqual({ kind: 'minilm' });
    expect(loadConfig({}).requiredModels.size).toBe(0);
  });

  test('a required conversation model requires its parts', () => {
    const config = load('[models."svc-voice"]\nkind = "conversation"\nrequired = true');
    expect([...config.requiredModels].sort()).toEqual(
      ['qwen2.5-1.5b-instruct', 'svc-stt', 'svc-tts', 'svc-voice'].sort(),
    );
  });

  test('can remap svc-tts to another engine', () => {
    expect(load('[models.svc-tts]\nkind = "piper"\nvoice = "x"').models.speech.get('svc-tts')).toEqual({
      kind: 'piper',
      voice: 'x',
    });
  });

  test('maps transcription models', () => {
    const config = load(
      `
      [models.english]
      kind = "whisper"
      weights = "tiny.en"
      [models.own]
      kind = "whisper"
      weights = "/srv/whisper-small"
      [models.svc-stt]
      kind = "upstream"
      base_url = "https://stt.example/v1"
      api_key_env = "STT_KEY"
      model = "large"
      [models.other]
      kind = "upstream"
      task = "transcription"
      base_url = "https://stt.example/v1"
      model = "small"
      [models.voice]
      kind = "upstream"
      task = "speech"
      base_url = "https://tts.example/v1"
      model = "tts"
    `,
      { STT_KEY: 'hunter2' },
    );
    expect(config.modelIds).toEqual([
      'svc-tts',
      'svc-stt',
      'smollm2-135m-instruct',
      'qwen2.5-0.5b-instruct',
      'qwen2.5-1.5b-instruct',
      'all-minilm-l6-v2',
      ...LAST_IDS,
      'english',
      'own',
      'other',
      'voice',
    ]);
    expect([...config.models.speech.keys()]).toEqual(['svc-tts', ...OPENAI_SPEECH, 'voice']);
    expect([...config.models.transcription.keys()]).toEqual([
      'svc-stt',
      ...OPENAI_TRANSCRIPTION,
      'english',
      'own',
      'other',
    ]);
    expect(config.models.transcription.get('english')).toEqual({ kind: 'whisper', weights: 'tiny.en' });
    expect(config.models.transcription.get('own')).toEqual({
      kind: 'whisper',
      weights: '/srv/whisper-small',
    });
    expect(config.models.transcription.get('svc-stt')).toMatchObject({
      kind: 'upstream',
      baseUrl: 'https://stt.example/v1',
      model: 'large',
    });
  });

  describe('languages of a speech model', () => {
    const MODELS = `
      [models.piper-de]
      kind = "piper"
      voice = "de_DE-thorsten_emotional-medium"
      speaker = "amused"
    `;

    test('are canonical tags, inherited by names that follow it, and shown with the engine', () => {
      const languages =
        '[models.svc-tts]\nkind = "kokoro"\nlanguages = { de = "piper-de", DE_at = "piper-de" }';
      const {
        models: { speech: ttsModels },
        modelEngines,
      } = load(MODELS + languages);
      const mapped = new Map([
        ['de', 'piper-de'],
        ['de-AT', 'piper-de'],
      ]);
      expect(ttsModels.get('svc-tts')?.languages).toEqual(mapped);
      expect(ttsModels.get('tts-1')?.languages).toEqual(mapped);
      expect(modelEngines.get('tts-1')).toMatchObject({ languages: { de: 'piper-de', 'de-AT': 'piper-de' } });
      expect(ttsModels.get('piper-de')).toMatchObject({ speaker: 'amused' });
    });

    test.each([
      [
        '{ de = "piper-nl" }',
        `'models."svc-tts".languages.de' must be a model id of this task; allowed: svc-tts, `,
      ],
      ['{ de = "svc-stt" }', `'models."svc-tts".languages.de' must be a model id of this task`],
      ['{ fr = "svc-tts" }', 'must not lead back to its own model: svc-tts → svc-tts.'],
      ['{ fr = "back" }', 'must not lead back to its own model: svc-tts → back → svc-tts.'],
      [
        '{ "a b" = "piper-de" }',
        `'models."svc-tts".languages.a b' must be a BCP 47 tag, such as de or de-AT.`,
      ],
      ['{ de = "piper-de", DE = "piper-de" }', 'is the same language as another key'],
      ['["de"]', `'models."svc-tts".languages' must be`],
    ])('are rejected: %s', (languages, message) => {
      const back = '[models.back]\nkind = "kokoro"\nlanguages = { de = "svc-tts" }\n';
      const toml = `${MODELS}${languages.includes('back') ? back : ''}[models.svc-tts]\nkind = "kokoro"\nlanguages = ${languages}`;
      expect(refusal({ CONFIG: file(toml) })).toContain(message);
    });
  });

  describe("OpenAI's names", () => {
    test('follow svc-tts and svc-stt to other engines, without their `required`', () => {
      const config = load(`
        [models.svc-tts]
        kind = "upstream"
        base_url = "http://tts:8000/v1"
        model = "big"
        voices = "inline"
        required = true
        [models.svc-stt]
        kind = "whisper"
        weights = "tiny.en"
      `);
      const {
        models: { speech: ttsModels, transcription: sttModels },
      } = config;
      expect(ttsModels.get('tts-1')).toEqual({ ...ttsModels.get('svc-tts'), compatibility: 'openai' });
      expect(ttsModels.get('tts-1')).toMatchObject({ kind: 'upstream', model: 'big', voices: 'inline' });
      expect(ttsModels.get('svc-tts')).not.toHaveProperty('compatibility', 'openai');
      expect(sttModels.get('whisper-1')).toEqual({ kind: 'whisper', weights: 'tiny.en' });
      expect([...config.requiredModels]).toEqual(['svc-tts']);
      const followed = ['tts-1', 'whisper-1', 'svc-tts'].map((id) => config.modelFollowers.get(id));
      expect(followed).toEqual(['svc-tts', 'svc-stt', undefined]);
      const engines = ['svc-tts', 'tts-1', 'whisper-1', 'svc-voice'].map((id) => config.modelEngines.get(id));
      expect(engines).toEqual([
        { kind: 'upstream' },
        { kind: 'upstream', compatibility: 'openai' },
        { kind: 'whisper', weights: 'tiny.en' },
        { kind: 'conversation' },
      ]);
    });

    test('do not show the paths of own files', () => {
      const { modelEngines } = load('[models.svc-stt]\nkind = "whisper"\nweights = "/srv/secret"');
      expect(modelEngines.get('whisper-1')).toEqual({ kind: 'whisper' });
    });

    test('without a kind add keys to those of the model that they follow', () => {
      const tables =
        '[models.piper-de]\nkind = "piper"\nvoice = "de_DE-thorsten-medium"\n[models.tts-1.languages]\nde = "piper-de"';
      const byDefault = load(tables);
      expect(byDefault.models.speech.get('tts-1')).toEqual({
        kind: 'kokoro',
        voice: 'af_heart',
        ...PRESETS,
        languages: new Map([['de', 'piper-de']]),
      });
      const changed = load(`[models.svc-tts]\nkind = "kokoro"\nvoice = "am_adam"\n${tables}`);
      expect(changed.models.speech.get('tts-1')).toMatchObject({ voice: 'am_adam' });
      const ruled = load(
        `[models.svc-tts]\nkind = "kokoro"\nrequired = true\nvoices = "none"\ncompatibility = "none"\n${tables}\n[[prices]]\nendpoint = "/v1/audio/speech"\nmodel = "svc-tts"\nrequest = 3`,
      );
      expect(ruled.models.speech.get('tts-1')).toMatchObject(PRESETS);
      expect([...ruled.requiredModels]).toEqual(['svc-tts']);
      expect(ruled.prices.map(({ model }) => model)).toContain('tts-1');
      expect(ruled.modelFollowers.has('tts-1')).toBe(false);
      expect(refusal({ CONFIG: file('[models.own]\nvoice = "af_heart"') })).toContain('models."own".kind');
    });

    test('are removed by `openai_names`, except those that the file defines', () => {
      const config = load('[models]\nopenai_names = false\n[models.tts-1]\nkind = "piper"');
      expect([...config.models.speech.keys()]).toEqual(['svc-tts', 'tts-1']);
      expect([...config.models.transcription.keys()]).toEqual(['svc-stt']);
      expect(config.models.speech.get('tts-1')).toEqual({
        kind: 'piper',
        voice: 'en_US-joe-medium',
        ...PRESETS,
      });
      expect(load('[models]\nopenai_names = true').modelIds).toEqual(loadConfig({}).modelIds);
    });

    test('can be defined in the file, with the rules of their names', () => {
      const {
        models: { speech: ttsModels, transcription: sttModels },
        modelIds,
      } = load(`
        [models.tts-1]
        kind = "kokoro"
        voice = "am_adam"
        [models.tts-1-hd]
        kind = "kokoro"
        voices = "none"
        compatibility = "none"
        [models.gpt-4o-mini-tts]
        kind = "upstream"
        base_url = "http://tts:8000/v1"
        model = "x"
        [models.whisper-1]
        kind = "upstream"
        base_url = "http://stt:8000/v1"
        model = "x"
      `);
      expect(ttsModels.get('tts-1')).toEqual({ kind: 'kokoro', voice: 'am_adam', ...PRESETS });
      expect(ttsModels.get('tts-1-hd')).toEqual({ kind: 'kokoro', voice: 'af_heart' });
      expect(ttsModels.get('gpt-4o-mini-tts')).toMatchObject({ voices: 'none', compatibility: 'openai' });
      expect(sttModels.get('whisper-1')).toMatchObject({ kind: 'upstream', model: 'x' });
      expect(modelIds.filter((id) => id === 'tts-1')).toHaveLength(1);
    });

    test('have the prices of the models that they follow, unless they have their own', () => {
      const price = (model: string, endpoint: string, request: number) =>
        `[[prices]]\nmodel = "${model}"\nendpoint = "${endpoint}"\nrequest = ${request}\n`;
      const { prices } = load(
        [
          price('svc-tts', '/v1/audio/speech', 2),
          price('svc-tts', 'POST /v1/voices/partner', 3),
          price('tts-1', '/v1/audio/speech', 5),
          price('kokoro', '/v1/audio/speech', 0),
          '[models.tts-1-hd]\nkind = "piper"',
        ].join(''),
      );
      const pricesOf = (id: string) =>
        prices.filter(({ model }) => model === id).map(({ request }) => Number(request / 10n ** 12n));
      expect(pricesOf('gpt-4o-mini-tts')).toEqual([2, 3]);
      expect(pricesOf('tts-1')).toEqual([5, 3]);
      expect(pricesOf('kokoro')).toEqual([0, 3]);
      expect(pricesOf('tts-1-hd')).toEqual([]);
      expect(pricesOf('whisper-1')).toEqual([]);
    });

    test('have no model to follow if CONFIG maps it to another task', () => {
      const {
        models: { transcription: sttModels },
        modelIds,
      } = load(`
        [models.svc-stt]
        kind = "upstream"
        task = "chat"
        base_url = "http://llm:8000/v1"
        model = "x"
        [models.svc-voice]
        kind = "conversation"
        stt = "own"
        [models.own]
        kind = "whisper"
      `);
      expect([...sttModels.keys()]).toEqual(['own']);
      expect(modelIds).not.toContain('whisper-1');
    });

    test.each([
      ['[models]\nopenai_names = "no"', "'models.openai_names' must be true or false"],
      ['[models.openai_names]\nkind = "kokoro"', "'models.openai_names' must be true or false"],
      ['[models.own]\nkind = "kokoro"\ncompatibility = "azure"', 'models."own".compatibility'],
      ['[models.own]\nkind = "kokoro"\nvoices = "register"', 'models."own".voices'],
      ['[models.own]\nkind = "whisper"\ncompatibility = "openai"', 'models."own".compatibility'],
    ])('%j is an error', (toml, message) => {
      expect(() => load(toml)).toThrow(message);
    });
  });

  test('gives any speech model the rules of OpenAI', () => {
    const {
      models: { speech: ttsModels },
    } = load(`
      [models.presets]
      kind = "kokoro"
      voices = "presets"
      [models.compatible]
      kind = "piper"
      compatibility = "openai"
      [models.remote]
      kind = "upstream"
      base_url = "http://tts:8000/v1"
      model = "x"
      compatibility = "openai"
      voices = "register"
    `);
    expect(ttsModels.get('presets')).toEqual({ kind: 'kokoro', voice: 'af_heart', voices: 'presets' });
    expect(ttsModels.get('compatible')).toEqual({
      kind: 'piper',
      voice: 'en_US-joe-medium',
      compatibility: 'openai',
    });
    expect(ttsModels.get('remote')).toMatchObject({ voices: 'register', compatibility: 'openai' });
  });

  test('maps conversation models', () => {
    const config = load(`
      [models.reception]
      kind = "conversation"
      llm = "smollm2-135m-instruct"
      instructions = "You are a receptionist."
      turn_detection = "server_vad"
      fallback_message = "Sorry, please say that again."
      max_session_seconds = 600
    `);
    expect(config.models.conversation.get('reception')).toMatchObject({
      stt: 'svc-stt',
      llm: 'smollm2-135m-instruct',
      tts: 'svc-tts',
      instructions: 'You are a receptionist.',
      turnDetection: 'server_vad',
      fallbackMessage: 'Sorry, please say that again.',
      maxSessionS: 600,
    });
    const languageOf = (language: string) =>
      load(`[models.x]\nkind = "conversation"\nlanguage = "${language}"`).models.conversation.get('x')
        ?.language;
    expect(['de', 'de-AT', 'de_DE', 'German'].map(languageOf)).toEqual(['de', 'de', 'de', 'de']);
    expect(() => languageOf('klingon')).toThrow(`'models."x".language' must be an ISO 639-1 code.`);
    expect(() => load('[models.x]\nkind = "conversation"\nllm = "svc-stt"')).toThrow(
      /'models\."x"\.llm' must be a model id of this task; allowed: smollm2-135m-instruct, qwen2\.5-0\.5b/,
    );
  });

  test.each([
    ['without a key, if it is Kokoro', '', '', true],
    ['not with the key', '', 'tts = "svc-tts"', false],
    ['not if it is Piper', '[models.svc-tts]\nkind = "piper"', '', false],
    [
      'not on another server',
      '[models.svc-tts]\nkind = "upstream"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "x"',
      '',
      false,
    ],
  ])('a faster model may replace the speech of a conversation: %s', (_, speech, key, expected) => {
    const config = load(`${speech}\n[models.reception]\nkind = "conversation"\n${key}`);
    expect(config.models.conversation.get('reception')?.choosesSpeech).toBe(expected);
  });

  test('maps video models', () => {
    const config = load(`
      [models."vid-2.0"]
      kind = "upstream"
      base_url = "http://127.0.0.1:8000/v1/"
      model = "nvidia/Cosmos3-Nano"
      audio = true
      fields = { extra_params = '{"condition_video_keep":"last"}' }
      [models.stills]
      kind = "upstream"
      task = "video"
      base_url = "http://127.0.0.1:8000/v1"
      model = "wan"
      tail_seconds = 0
    `);
    const server = { kind: 'upstream', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: undefined };
    expect(config.models.video.get('vid-2.5')).toEqual({ kind: 'continuation' });
    expect(config.models.video.get('vid-2.0')).toEqual({
      ...server,
      model: 'nvidia/Cosmos3-Nano',
      tailSeconds: 2,
      contextFrames: 5,
      audio: true,
      fields: { extra_params: '{"condition_video_keep":"last"}' },
    });
    expect(config.models.video.get('stills')).toEqual({
      ...server,
      model: 'wan',
      tailSeconds: 0,
      contextFrames: 1,
      audio: false,
      fields: {},
    });
    expect(() => load(`[models."vid-2.5"]\nkind = "continuation"\nfps = 24`)).toThrow(
      /models\."vid-2.5"\.fps/,
    );
  });

  test('maps embedding models', () => {
    const config = load(`
      [models.vectors]
      kind = "upstream"
      task = "embeddings"
      base_url = "http://127.0.0.1:8000/v1/"
      model = "bge"
      [models.all-minilm-l6-v2]
      kind = "upstream"
      base_url = "http://127.0.0.1:8000/v1"
      model = "minilm"
    `);
    const server = { kind: 'upstream', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: undefined };
    expect([...config.models.embeddings]).toEqual([
      ['all-minilm-l6-v2', { ...server, model: 'minilm' }],
      ['vectors', { ...server, model: 'bge' }],
    ]);
    expect(() => load(`[models.own]\nkind = "minilm"\nvoice = "x"`)).toThrow(/models\."own"\.voice/);
  });

  test('maps text models', () => {
    const config = load(`
      [models.own]
      kind = "llama"
      weights = "/srv/own.gguf"
      slots = 2
      context_tokens = 8192
      [models.smollm2-135m-instruct]
      kind = "upstream"
      base_url = "https://llm.example/v1"
      model = "large"
      [models.other]
      kind = "upstream"
      task = "chat"
      base_url = "https://llm.example/v1"
      model = "small"
      context_tokens = 32768
    `);
    expect([...config.models.speech.keys(), ...config.models.transcription.keys()]).toEqual([
      'svc-tts',
      ...OPENAI_SPEECH,
      'svc-stt',
      ...OPENAI_TRANSCRIPTION,
    ]);
    expect([...config.models.chat.keys()]).toEqual([
      'smollm2-135m-instruct',
      'qwen2.5-0.5b-instruct',
      'qwen2.5-1.5b-instruct',
      'own',
      'other',
    ]);
    expect(config.models.chat.get('own')).toEqual({
      kind: 'llama',
      weights: '/srv/own.gguf',
      slots: 2,
      contextTokens: 8192,
      defaultMaxTokens: 768,
    });
    expect(config.models.chat.get('smollm2-135m-instruct')).toMatchObject({
      kind: 'upstream',
      model: 'large',
      contextTokens: undefined,
    });
    expect(config.models.chat.get('other')).toMatchObject({
      kind: 'upstream',
      model: 'small',
      contextTokens: 32_768,
    });
    for (const wrong of ['weights = "folder/own.gguf"', 'slots = 0', 'context_tokens = 12', 'voice = "x"']) {
      expect(() => load(`[models.own]\nkind = "llama"\n${wrong}`)).toThrow(/models\."own"/);
    }
  });

  test('sets rate limits', () => {
    const { rateLimits } = load(`
      [rate_limits]
      requests_per_minute_per_key = 600
      concurrent_calls_per_organization = 20
    `);
    expect(rateLimits).toEqual({
      requestsPerMinute: { key: 600, organization: undefined },
      concurrentCalls: { key: undefined, organization: 20 },
    });
  });

  test('sets HTTP client rules', () => {
    expect(load('').http).toEqual({
      allowedOrigins: undefined,
      securityContact: undefined,
      strictTransportSeconds: 0,
      invalidKeysPerMinute: 600,
      trustedProxies: [],
    });
    const { http } = load(`
      [http]
      allowed_origins = ["https://voice.example", "http://[::1]:5173", "capacitor://localhost"]
      security_contact = "mailto:security@voice.example"
      strict_transport_seconds = 31536000
      invalid_keys_per_minute = 5
      trusted_proxies = ["10.0.0.0/8", "2001:db8::1"]
    `);
    expect(http).toMatchObject({ strictTransportSeconds: 31_536_000, invalidKeysPerMinute: 5 });
    expect(http.allowedOrigins).toHaveLength(3);
    expect(http.securityContact).toBe('mailto:security@voice.example');
    expect(http.trustedProxies.map(([start, bits]) => `${start}/${bits}`)).toEqual([
      '10.0.0.0/8',
      '2001:db8::1/128',
    ]);
    for (const wrong of [
      ...['*', 'null', '', 'voice.example', 'https://', 'file://', 'https://voice.example/'],
      ...['https://Voice.example', 'https://voice.example:443', 'http://voice.example:80'],
      ...['https://*.voice.example', 'https://me@voice.example', 'https://voice.example:99999'],
      ...['https://vöice.example', 'http://[0:0:0:0:0:0:0:1]', 'https://voice.example?', 'https://a b'],
    ]) {
      expect(() => load(`[http]\nallowed_origins = ["https://a.example", "${wrong}"]`)).toThrow(
        "'http.allowed_origins.1' must be an origin as sent by browsers",
      );
    }
    for (const wrong of ['', 'security@voice.example', 'http://voice.example', 'mailto:a@b\\nExpires: x']) {
      expect(() => load(`[http]\nsecurity_contact = "${wrong}"`)).toThrow("'http.security_contact' must be");
    }
    expect(() => load('[http]\ntrusted_proxies = ["10.0.0.1", "proxy"]')).toThrow(
      `'http.trusted_proxies.1' must be an address or a range such as "10.0.0.0/8"`,
    );
  });

  test('sets inference and limits', () => {
    const config = load(`
      [inference]
      workers = 3
      threads = 5
      queue_limit = 7
      [limits]
      max_request_bytes = 2048
      body_bytes_per_key = 1024
      body_bytes_total = 9000
      speech_max_characters = 100
      transcription_max_bytes = 4096
      transcription_max_seconds = 60
      transcription_requests_per_organization = 2
      text_requests_per_organization = 6
      uploads_per_organization = 4
      stored_bytes_per_organization = 1000
      batches_per_organization = 5
      realtime_connections_per_organization = 3
      partner_calls_per_organization = 8
      voice_clip_max_bytes = 8192
      voices_per_organization = 7
      video_requests_per_organization = 3
      videos_per_organization = 9
      stored_video_bytes_per_organization = 2000
      [partner]
      silence_ms = 400
      partial_ms = 0
      [voices]
      fit_seconds = 0
      [video]
      max_concurrent_jobs = 2
      [batch]
      max_concurrent_lines = 9
      max_concurrent_batches = 2
    `);
    expect(config.partner).toEqual({ silenceMs: 400, partialMs: 0 });
    expect(config.ignoredKeys).toEqual(['voices.fit_seconds']);
    expect(config.video).toEqual({ maxConcurrentJobs: 2 });
    expect(config.batch).toEqual({ maxConcurrentLines: 9, maxConcurrentBatches: 2 });
    expect(config.inference).toMatchObject({ provider: 'cpu', workers: 3, threads: 5, queueLimit: 7 });
    expect(config.limits).toEqual({
      requestBytes: 2048,
      // At least a body of the maximum size.
      bodies: { bytesPerKey: 2048, totalBytes: 9000 },
      speechCharacters: 100,
      speechRequestsPerOrganization: 4,
      transcriptionBytes: 4096,
      transcriptionSeconds: 60,
      transcriptionRequestsPerOrganization: 2,
      textRequestsPerOrganization: 6,
      uploadsPerOrganization: 4,
      storedBytesPerOrganization: 1000,
      batchesPerOrganization: 5,
      realtimeConnectionsPerOrganization: 3,
      partnerCallsPerOrganization: 8,
      voiceClipBytes: 8192,
      voicesPerOrganization: 7,
      videoRequestsPerOrganization: 3,
      videosPerOrganization: 9,
      storedVideoBytesPerOrganization: 2000,
    });
  });

  test('sets the operator organizations', () => {
    expect(load('').operators).toEqual(['default']);
    expect(load('operators = ["house", "night.shift"]').operators).toEqual(['house', 'night.shift']);
    expect(load('operators = []').operators).toEqual([]);
  });

  test('sets prices, exactly', () => {
    expect(load('').prices).toEqual([]);
    const { prices } = load(`
      [models]
      openai_names = false
      [[prices]]
      endpoint = "/v1/audio/speech"
      model = "svc-tts"
      request = 2
      character = 0.1
      [[prices]]
      endpoint = "/v1/audio/transcriptions"
      model = "svc-stt"
      input_token = 0.00000015
      output_token = 6e-7
      audio_second = 0.000_000_000_001
    `);
    const none = { request: 0n, inputToken: 0n, outputToken: 0n, character: 0n, audioSecond: 0n };
    expect(prices).toEqual([
      {
        ...none,
        endpoint: '/v1/audio/speech',
        model: 'svc-tts',
        request: 2_000_000_000_000n,
        character: 100_000_000_000n,
      },
      {
        ...none,
        endpoint: '/v1/audio/transcriptions',
        model: 'svc-stt',
        inputToken: 150_000n,
        outputToken: 600_000n,
        audioSecond: 1n,
      },
    ]);
  });

  test('sets up the code interpreter and web search', () => {
    const standard = { maxConcurrent: 2, timeMs: 10_000, heapBytes: 256 * 2 ** 20 };
    expect(load('')).toMatchObject({ codeInterpreter: standard, webSearch: undefined });
    const set = '[code_interpreter]\nmax_concurrent_interpreters = 4\ntime_limit_s = 30\nmemory_mb = 512';
    expect(load(set).codeInterpreter).toEqual({ maxConcurrent: 4, timeMs: 30_000, heapBytes: 2 ** 29 });
    const searching = '[web_search]\nurl = "http://searxng:8080/"';
    expect(load(searching).webSearch).toEqual({
      url: 'http://searxng:8080',
      apiKey: undefined,
      timeoutMs: 10_000,
      maxResults: 10,
    });
    const more = `${searching}\napi_key_env = "SEARCH_KEY"\ntimeout_s = 3\nmax_results = 4`;
    const { webSearch } = loadConfig({ CONFIG: file(more), SEARCH_KEY: 's3cret' });
    expect(webSearch).toMatchObject({ timeoutMs: 3000, maxResults: 4 });
    expect(webSearch?.apiKey?.reveal()).toBe('s3cret');
  });

  test.each([
    [
      '[code_interpreter]\nmax_concurrent_interpreters = 0',
      "'code_interpreter.max_concurrent_interpreters' must be an integer from 1 to 64",
    ],
    ['[code_interpreter]\ntime = 1', 'allowed: max_concurrent_interpreters, time_limit_s, memory_mb'],
    ['[web_search]\nmax_results = 3', "'web_search.url' is required"],
    ['[web_search]\nurl = "searxng:8080"', "'web_search.url' must be a string of the form ^https?://"],
    ['[web_search]\nurl = "http://h/?q=1"', "'web_search.url' must be a URL without a query"],
    ['[web_search]\nurl = "http://"', "'web_search.url' must be"],
    [
      '[web_search]\nurl = "http://h"\napi_key_env = "NO_SUCH"',
      "'web_search.api_key_env' names the environment variable NO_SUCH, which is not set",
    ],
  ])('%j is rejected: %s', (toml, words) => {
    expect(refusal({ CONFIG: file(toml) })).toContain(words);
  });

  const price = '[[prices]]\nendpoint = "/v1/audio/speech"\nmodel = "svc-tts"\n';
  test.each([
    ['[[prices]]\nmodel = "svc-tts"', "'prices.0.endpoint' is required"],
    ['[[prices]]\nendpoint = "/v1/audio/speech"', "'prices.0.model' is required"],
    [`${price}[[prices]]\nendpoint = "/v1/speech"\nmodel = "m"`, `'prices.1.endpoint' must be one of`],
    [`${price}token = 1`, "'prices.0.token' is unknown; allowed: endpoint, model, request, input_token"],
    [`${price}request = -1`, "'prices.0.request' must be a number from 0 to 1000000"],
    [`${price}request = "1"`, "'prices.0.request' must be a number"],
    [`${price}request = inf`, "'prices.0.request' must be a number"],
    [`${price}character = 1e-13`, "'prices.0.character' must have at most 12 decimal places"],
    [`${price}${price}`, "'prices.1' is a duplicate price of '/v1/audio/speech' with 'svc-tts'"],
    [
      price.replace('svc-tts', 'svc-tss'),
      "'prices.0.model' is not a configured model; allowed: svc-tts, svc-stt",
    ],
    ['prices = 3', "'prices' must be a list"],
  ])('%j is rejected: %s', (toml, words) => {
    expect(refusal({ CONFIG: file(toml) })).toContain(words);
  });

  test.each([
    ['model = 1', "'model' is unknown; allowed: models, inference"],
    ['[limits]\nspeech = 1', "'limits.speech' is unknown; allowed: max_request_bytes, body_bytes_per_key"],
    [
      '[limits]\nspeech_max_characters = 5001',
      "'limits.speech_max_characters' must be an integer from 1 to 5000",
    ],
    ['[limits]\nspeech_max_characters = "5"', "'limits.speech_max_characters' must be an integer"],
    ['[limits]\nmax_request_bytes = 1.5', "'limits.max_request_bytes' must be an integer"],
    ['[partner]\nsilence_ms = 99', "'partner.silence_ms' must be an integer from 100 to 2000"],
    ['[partner]\npartial_ms = -1', "'partner.partial_ms' must be an integer from 0 to 10000"],
    ['[voices]\nfit_seconds = 3601', "'voices.fit_seconds' must be an integer from 0 to 3600"],
    ['[video]\nmax_concurrent_jobs = 0', "'video.max_concurrent_jobs' must be an integer from 1 to 64"],
    ['[inference]\nworkers = 0', "'inference.workers' must be an integer from 1 to 64"],
    ['inference = 3', "'inference' must be an object"],
    ['models = []', "'models' must be an object"],
    [
      '[models.x]\nkind = "cocoro"',
      `'models."x".kind' must be one of "kokoro", "piper", "whisper", "llama", "minilm", "continuation", "conversation", "upstream"`,
    ],
    ['[models.x]\nvoice = "a"', `'models."x".kind' is required`],
    ['[models]\nx = 1', `'models."x"' must be an object`],
    [
      '[models.x]\nkind = "kokoro"\nbase_url = "y"',
      `'models."x".base_url' is unknown; allowed: kind, voice, voices, languages, compatibility, required`,
    ],
    ['[models.x]\nkind = "kokoro"\nvoice = 3', `'models."x".voice' must be a string`],
    ['[models.x]\nkind = "kokoro"\nvoice = ""', `'models."x".voice' must be a string of 1 to 200 characters`],
    ['[models.x]\nkind = "upstream"\nmodel = "m"', `'models."x".base_url' is required`],
    [
      '[models.x]\nkind = "upstream"\nmodel = "m"\nbase_url = "ftp://x"',
      `'models."x".base_url' must be a string of the form ^https?://`,
    ],
    [
      '[models.x]\nkind = "llama"\nweights = "hf:owner/model"',
      '\'models."x".weights\' must be hf:owner/repository/file.gguf',
    ],
    [
      '[models.x]\nkind = "whisper"\nweights = "../base"',
      `'models."x".weights' must be the name of built-in weights, a reference hf:…, or the absolute path of a folder`,
    ],
    [
      '[models.x]\nkind = "whisper"\nvoice = "a"',
      `'models."x".voice' is unknown; allowed: kind, weights, required`,
    ],
    [
      '[models.x]\nkind = "piper"\ntask = "speech"',
      `'models."x".task' is unknown; allowed: kind, voice, speaker, voices, languages, compatibility, required`,
    ],
    [
      '[models.x]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h"\ntask = "song"',
      `'models."x".task' must be one of "speech", "transcription"`,
    ],
    [
      '[models.svc-stt]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h"\nvoice = "anna"',
      `'models."svc-stt".voice' is unknown; allowed: kind, task, base_url, api_key_env, model, required`,
    ],
    [
      '[models.x]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h"\nvoices = "all"',
      `'models."x".voices' must be one of "register", "inline", "none"`,
    ],
    [
      '[models.x]\nkind = "kokoro"\nvoices = "inline"',
      `'models."x".voices' must be one of "presets", "none".`,
    ],
    [
      '[models.svc-stt]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h"\ncontext_tokens = 4096',
      `'models."svc-stt".context_tokens' is unknown`,
    ],
    [
      '[limits]\ntranscription_max_seconds = 0',
      "'limits.transcription_max_seconds' must be an integer from 1 to 86400",
    ],
    ['[models."a b"]\nkind = "kokoro"', 'a model id must be 1 to 64 of'],
    ['operators = ["hunter2, x"]', "'operators.0'"],
    [
      '[http]\nwrong_keys_per_minute = 5',
      "'http.wrong_keys_per_minute' has been renamed to 'http.invalid_keys_per_minute'.",
    ],
    ['[batch]\nlines_at_once = 5', "'batch.lines_at_once' has been renamed to 'batch.max_concurrent_lines'."],
    [
      '[batch]\nbatches_at_once = 5',
      "'batch.batches_at_once' has been renamed to 'batch.max_concurrent_batches'.",
    ],
    ['[video]\njobs_at_once = 5', "'video.jobs_at_once' has been renamed to 'video.max_concurrent_jobs'."],
    [
      '[code_interpreter]\nat_once = 5',
      "'code_interpreter.at_once' has been renamed to 'code_interpreter.max_concurrent_interpreters'.",
    ],
    ['[models.x\nkind = "hunter2"', 'line 1'],
    ['api_key = "hunter2', 'invalid TOML'],
  ])('%j is rejected: %s', (toml, words) => {
    const message = refusal({ CONFIG: file(toml) });
    expect(message).toContain(words);
    expect(message).toContain('.toml');
    expect(message).not.toContain('hunter2');
  });

  test('a key variable that is not set is named', () => {
    const toml =
      '[models.x]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h/v1"\napi_key_env = "NO_SUCH"';
    expect(refusal({ CONFIG: file(toml) })).toContain('NO_SUCH, which is not set');
  });

  test('secrets cannot be printed by accident', () => {
    const toml = '[models.x]\nkind = "upstream"\nmodel = "m"\nbase_url = "http://h/v1"\napi_key_env = "K"';
    const config = loadConfig({ CONFIG: file(toml), K: 'hunter2', API_KEYS: 'hunter2:org' });
    const model = config.models.speech.get('x');
    for (const text of [
      JSON.stringify([model, config]),
      inspect(config, { depth: 9 }),
      inspect(model),
      `${model?.kind === 'upstream' && model.apiKey}`,
    ]) {
      expect(text).not.toContain('hunter2');
    }
  });
});

describe('the pronunciation lexicon', () => {
  const load = (toml: string) => loadConfig({ CONFIG: file(toml) }).lexicon;

  test('is empty by default', () => {
    expect(loadConfig({}).lexicon).toEqual([]);
    expect(load('[lexicon]')).toEqual([]);
  });

  test('has normalized entries', () => {
    const toml = `
      [[lexicon.entries]]
      word = " Nguyen "
      language = "EN"
      phonemes = "/wɪn/"
      [[lexicon.entries]]
      word = "SQL"
      respelling = "sequel"`;
    expect(load(toml)).toEqual([
      { word: 'Nguyen', language: 'en', phonemes: 'wɪn', respelling: undefined },
      { word: 'SQL', language: undefined, phonemes: undefined, respelling: 'sequel' },
    ]);
  });

  test.each([
    ['{ word = "a" }', "'lexicon.entries.0.phonemes' is required, unless 'respelling' is set"],
    ['{ word = "a", phonemes = "K AH0" }', "'lexicon.entries.0.phonemes' must be in the International"],
    ['{ word = "a", phonemes = "a", language = "xx" }', "'lexicon.entries.0.language' must be a BCP 47 tag"],
    ['{ word = "a", phoneme = "a" }', 'phoneme'],
    ['{ word = "a", phonemes = "a" }, { word = "A", respelling = "b" }', "'lexicon.entries.1' repeats"],
  ])('refuses %s', (entries, message) => {
    expect(refusal({ CONFIG: file(`[lexicon]\nentries = [${entries}]`) })).toContain(message);
  });
});
