import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Whether this machine runs containers; `needs(context, HAS_PODMAN, 'podman')` says so. */
export const HAS_PODMAN = Bun.which('podman') !== null && Bun.spawnSync(['podman', 'info']).success;

/** What a command printed, and how it ended. */
export interface CommandResult {
  readonly code: number;
  /** Of its standard output. */
  readonly output: string;
  /** Of its standard error. */
  readonly errors: string;
}

/** Runs podman and returns what it printed and its exit code. */
export async function podman(...args: readonly string[]): Promise<CommandResult> {
  const child = Bun.spawn(['podman', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, output, errors };
}

/** Runs podman. @returns its standard output. @throws Error with its output when it fails. */
export async function podmanOutput(...args: readonly string[]): Promise<string> {
  const { code, output, errors } = await podman(...args);
  if (code !== 0) throw new Error(`podman ${args.join(' ')} ended with code ${code}:\n${output}${errors}`);
  return output.trim();
}

/** Whether an image is on this machine. */
export async function hasImage(name: string): Promise<boolean> {
  return (await podman('image', 'exists', name)).code === 0;
}

/** A service of a compose file, as far as the files of docker/ use the format. */
export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: { readonly nofile: number };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly restart?: string;
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: Condition }>>;
  readonly profiles?: readonly string[];
}

type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

export interface ComposeOptions {
  /** Values of the variables of the file, instead of their defaults. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Changes the text of a mounted file, by the path that the compose file has for it. */
  readonly mounted?: Readonly<Record<string, (text: string) => string>>;
}

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...['image', 'build', 'command', 'environment', 'ports', 'volumes', 'tmpfs', 'read_only', 'cap_drop'],
  ...['security_opt', 'ulimits', 'healthcheck', 'stop_grace_period', 'restart', 'depends_on', 'profiles'],
]);

const HEALTHY_TIMEOUT_MS = 600_000;
const HEALTH_INTERVAL_MS = 2000;
const REPORTED_LINES = 20;

/**
 * The services of a compose file as podman containers, in a network of their own. Ports are published on free ports of
 * 127.0.0.1. Health checks run by `podman exec`: podman itself needs systemd for them, and podman-compose waits for
 * healthy services only with podman 4.6. Profiles are not started.
 */
export class ComposeProject implements AsyncDisposable {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly #project: string;
  readonly #directory: string;
  readonly #volumes: readonly string[];
  readonly #mounted: NonNullable<ComposeOptions['mounted']>;
  readonly #files: string;
  readonly #started = new Map<string, Promise<void>>();

  private constructor(file: string, text: string, files: string, options: ComposeOptions) {
    const content = Bun.YAML.parse(interpolated(text, options.variables ?? {})) as {
      readonly name: string;
      readonly services: Readonly<Record<string, ComposeService>>;
      readonly volumes?: Readonly<Record<string, null>>;
    };
    for (const [name, service] of Object.entries(content.services)) {
      const unknown = Object.keys(service).filter((key) => !KNOWN_KEYS.has(key));
      if (unknown.length > 0) throw new Error(`${name} has keys that are not translated: ${unknown}`);
    }
    this.services = content.services;
    this.#project = `${content.name}-test-${process.pid}`;
    this.#directory = dirname(file);
    this.#volumes = Object.keys(content.volumes ?? {});
    this.#mounted = options.mounted ?? {};
    this.#files = files;
  }

  /** Reads a compose file and creates the project's network; the caller disposes of the project. */
  static async open(file: string, options: ComposeOptions = {}): Promise<ComposeProject> {
    const files = await mkdtemp(join(tmpdir(), 'compose-test-'));
    const project = new ComposeProject(file, await Bun.file(file).text(), files, options);
    await podmanOutput('network', 'create', project.#project);
    return project;
  }

  /** Builds the images that the file says how to build. */
  async build(): Promise<void> {
    for (const image of new Set(Object.values(this.services).map((service) => service.image))) {
      const built = Object.values(this.services).find((service) => service.image === image)?.build;
      if (built === undefined) continue;
      const context = resolve(this.#directory, built.context);
      const file = join(context, built.dockerfile);
      await podmanOutput(...buildArguments, '--file', file, '--tag', image, context);
    }
  }

  /** The name of one of the project's volumes. */
  volume(name: string): string {
    if (!this.#volumes.includes(name)) throw new Error(`the compose file has no volume '${name}'`);
    return `${this.#project}_${name}`;
  }

  /** The name of a service's container. */
  container(service: string): string {
    return `${this.#project}-${service}`;
  }

  /** Starts services and those that they depend on, and waits until they are healthy, if they have a check for it. */
  async up(...services: readonly string[]): Promise<void> {
    await Promise.all(
      services.map(async (name) => {
        await this.#start(name);
        await this.#reached(name, this.#service(name).healthcheck ? 'service_healthy' : 'service_started');
      }),
    );
  }

  /** The base URL of a published port. */
  async baseUrl(service: string, port: number): Promise<string> {
    const address = await podmanOutput('port', this.container(service), `${port}/tcp`);
    return `http://${address}`;
  }

  /** Runs a command in the container of a service. */
  exec(service: string, ...command: readonly string[]): Promise<CommandResult> {
    return podman('exec', this.container(service), ...command);
  }

  /** What a service has printed. */
  async logs(service: string): Promise<string> {
    const { output, errors } = await podman('logs', this.container(service));
    return output + errors;
  }

  /** The state of every container and the last lines that it printed, for the message of a failed test. */
  async report(): Promise<string> {
    const parts = [...this.#started.keys()].map(async (name) => {
      const { output: state } = await podman('inspect', '--format={{json .State}}', this.container(name));
      return `${name}: ${state}${(await this.logs(name)).split('\n').slice(-REPORTED_LINES).join('\n')}`;
    });
    return (await Promise.all(parts)).join('\n');
  }

  /** Stops a container as `docker compose stop` does. @returns its exit code. */
  async stop(service: string): Promise<number> {
    await podmanOutput('stop', this.container(service));
    return Number(await podmanOutput('inspect', '--format={{.State.ExitCode}}', this.container(service)));
  }

  /** Starts a stopped container and waits until it is healthy. */
  async restart(service: string): Promise<void> {
    await podmanOutput('start', this.container(service));
    await this.#reached(service, 'service_healthy');
  }

  /** Removes the containers, the network and the volumes. */
  async [Symbol.asyncDispose](): Promise<void> {
    const containers = [...this.#started.keys()].map((name) => this.container(name));
    if (containers.length > 0) await podman('rm', '--force', '--volumes', '--time=0', ...containers);
    await podman('network', 'rm', '--force', this.#project);
    await podman('volume', 'rm', '--force', ...this.#volumes.map((name) => this.volume(name)));
    await rm(this.#files, { recursive: true, force: true });
  }

  #service(name: string): ComposeService {
    const service = this.services[name];
    if (service === undefined) throw new Error(`the compose file has no service '${name}'`);
    return service;
  }

  #start(name: string): Promise<void> {
    const started = this.#started.get(name) ?? this.#run(name, this.#service(name));
    this.#started.set(name, started);
    return started;
  }

  async #run(name: string, service: ComposeService): Promise<void> {
    const dependencies = Array.isArray(service.depends_on)
      ? service.depends_on.map((other) => [other, { condition: 'service_started' }] as const)
      : Object.entries(service.depends_on ?? {});
    await Promise.all(
      dependencies.map(async ([other, { condition }]) => {
        await this.#start(other);
        await this.#reached(other, condition);
      }),
    );
    await podmanOutput('run', '--detach', ...(await this.#runArguments(name, service)));
  }

  async #runArguments(name: string, service: ComposeService): Promise<string[]> {
    const each = (option: string, values: readonly string[] = []) => values.map((it) => `--${option}=${it}`);
    const { nofile } = service.ulimits ?? {};
    return [
      ...[`--name=${this.container(name)}`, `--network=${this.#project}`, `--network-alias=${name}`],
      '--no-healthcheck',
      ...each(
        'env',
        Object.entries(service.environment ?? {}).map((pair) => pair.join('=')),
      ),
      ...each(
        'publish',
        service.ports?.map((it) => `127.0.0.1::${it.split(':')[1]}`),
      ),
      ...each('volume', await Promise.all((service.volumes ?? []).map((it) => this.#mount(it)))),
      ...each('tmpfs', service.tmpfs),
      ...(service.read_only ? ['--read-only'] : []),
      ...each('cap-drop', service.cap_drop),
      // podman has this option without a value.
      ...each(
        'security-opt',
        service.security_opt?.map((it) => it.replace(/^no-new-privileges:true$/, 'no-new-privileges')),
      ),
      // A limit that this process may not set is left at the machine's default.
      ...(nofile === undefined || nofile > MAX_OPEN_FILES ? [] : [`--ulimit=nofile=${nofile}`]),
      ...(service.stop_grace_period ? [`--stop-timeout=${seconds(service.stop_grace_period)}`] : []),
      ...(service.restart ? [`--restart=${service.restart}`] : []),
      service.image,
      ...(service.command ?? []),
    ];
  }

  /** A mount of the compose file with the volume's full name or the file's absolute path. */
  async #mount(mount: string): Promise<string> {
    const [source = '', ...rest] = mount.split(':');
    if (!source.startsWith('.')) return [this.volume(source), ...rest].join(':');
    const path = resolve(this.#directory, source);
    const change = this.#mounted[source];
    if (change === undefined) return [path, ...rest].join(':');
    const changed = join(this.#files, source.replaceAll('/', '_'));
    await Bun.write(changed, change(await Bun.file(path).text()));
    return [changed, ...rest].join(':');
  }

  async #reached(name: string, condition: Condition): Promise<void> {
    const container = this.container(name);
    if (condition === 'service_completed_successfully') {
      const code = await podmanOutput('wait', container);
      if (code !== '0') throw new Error(`${name} ended with code ${code}:\n${await this.logs(name)}`);
      return;
    }
    const [kind, ...check] = condition === 'service_healthy' ? this.#healthcheckOf(name) : ['CMD', 'true'];
    if (kind !== 'CMD') throw new Error(`the health check of ${name} is not a command`);
    const deadline = AbortSignal.timeout(HEALTHY_TIMEOUT_MS);
    for (;;) {
      if ((await podman('exec', container, ...check)).code === 0) return;
      const state = await podmanOutput('inspect', '--format={{.State.Status}}', container);
      if (state === 'exited' || deadline.aborted) {
        throw new Error(`${name} is ${state} and not healthy:\n${await this.logs(name)}`);
      }
      await Bun.sleep(HEALTH_INTERVAL_MS);
    }
  }

  #healthcheckOf(name: string): readonly string[] {
    const { healthcheck } = this.#service(name);
    if (healthcheck === undefined) throw new Error(`${name} has no health check`);
    return healthcheck.test;
  }
}

/** What `podman build` needs to build an image of docker/: the format that has health checks, and the machine's network. */
export const buildArguments = ['build', '--format=docker', '--network=host'] as const;

/** What this process may raise the limit of open files to. */
export const MAX_OPEN_FILES = Number(Bun.spawnSync(['sh', '-c', 'ulimit -Hn']).stdout.toString()) || Infinity;

/** The text of a compose file with `${NAME:-default}` replaced. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, value: string) => variables[name] ?? value,
  );
}

function seconds(duration: string): number {
  const [, count] = /^(\d+)s$/.exec(duration) ?? [];
  if (count === undefined) throw new Error(`'${duration}' is not a number of seconds`);
  return Number(count);
}
