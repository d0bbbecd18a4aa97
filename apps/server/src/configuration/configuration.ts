import { isIP } from 'node:net';
import { z } from 'zod';

/** The description of a variable in `--help`, in error messages and in `docs/configuration.md`. */
interface Variable {
  readonly description: string;
  /** The accepted values, phrased to follow "it takes". Default: the range of a whole number. */
  readonly takes?: string;
  /** The value is never printed. */
  readonly secret?: true;
}

const variables = z.registry<Variable>();

/** Descriptions of the ranges of whole numbers, by schema. */
const numberRanges = new WeakMap<z.ZodType, string>();

function wholeNumber(min: number, max: number) {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
  numberRanges.set(schema, `a whole number from ${min} to ${max}`);
  return schema;
}

/** Matches the form of a URI, with its database. The store finds out whether the servers can be reached. */
export const mongodbUriPattern = /^mongodb(?:\+srv)?:\/\/[^\s/?]+(?:\/([\w-]{0,63}))?(?:\?\S*)?$/;

/** MongoDB limits a document to 16 MiB, and an animal is stored as one document. */
const mongodbBodyBytes = 15 * 1_048_576;

const comma = /\s*,\s*/;

/** A comma-separated list. */
const listOf = (isPart: (part: string) => boolean) =>
  z
    .string()
    .transform((value) => value.trim().split(comma))
    .pipe(z.array(z.string().refine(isPart)));

/** A rate such as `100/60`: 100 in 60 seconds. */
const rate = z
  .string()
  .regex(/^[1-9]\d{0,8}\/[1-9]\d{0,8}$/)
  .transform((value) => {
    const [count = 0, seconds = 0] = value.split('/').map(Number);
    return { count, windowMs: seconds * 1000 };
  });
const takesRate = 'two whole numbers from 1 to 999999999 separated by a slash, such as 100/60';

/** Accepts an origin exactly as browsers send it in `Origin`. */
const isOrigin = (value: string) => {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value && !value.includes('*');
};

function isAddressOrRange(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Names that MongoDB accepts on every platform, of at most 63 bytes. */
const databaseName = /^[\w-]{1,63}$/;

const hostName = /^(?!-)[a-z\d-]{1,63}(\.[a-z\d-]{1,63})*\.?$/i;

/** An address on which this machine can listen. */
const listenAddress = () => z.string().refine((value) => isIP(value) !== 0 || hostName.test(value));
const takesListenAddress = 'an IP address or a host name of this machine';

function isPublicUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    !value.includes('?') &&
    !value.includes('#') &&
    !/\/v1\/*$/.test(url.pathname)
  );
}

/** Minimum number of different characters in an API key. */
const minKeyCharacters = 5;

/** The configuration of the process: environment variables by name. */
export const Configuration = z.object({
  HOST: listenAddress().default('127.0.0.1').register(variables, {
    description: 'The address to listen on. `0.0.0.0` is every IPv4 address of the machine',
    takes: takesListenAddress,
  }),
  PORT: wholeNumber(0, 65_535).default(3000).register(variables, {
    description: 'The port to listen on. `0` is any free port',
  }),
  SERVER: z.enum(['auto', 'uws', 'node', 'bun']).default('auto').register(variables, {
    description:
      'The HTTP server. `uws` is uWebSockets.js, `node` is node:http, `bun` is `Bun.serve`, and `auto` is `bun` on Bun, elsewhere uWebSockets.js if an installed package of it has a binary for this Node and system, otherwise node:http',
    takes: '`auto`, `uws`, `node` or `bun`',
  }),
  WORKERS: wholeNumber(1, 256).default(1).register(variables, {
    description:
      'The number of processes that serve the port, on Linux only. More than one per core has no benefit',
  }),
  TLS_CERT: z.string().optional().register(variables, {
    description:
      'The file of the certificate and its chain, in PEM format. With `TLS_KEY`, the port serves TLS. On node:http, reloaded when it changes, and on SIGHUP; uWebSockets.js reads it at start',
    takes: 'the path of a file, with `TLS_KEY`',
  }),
  TLS_KEY: z.string().optional().register(variables, {
    description: "The file of the certificate's private key, in PEM format, without a passphrase",
    takes: 'the path of a file, with `TLS_CERT`',
  }),
  PUBLIC_URL: z
    .string()
    .refine(isPublicUrl)
    .transform((value) => value.replace(/\/+$/, ''))
    .optional()
    .register(variables, {
      description:
        'The public URL of the service behind a proxy, without `/v1`. Used in `Location`, `Link` and the OpenAPI document',
      takes: 'an http or https URL without user, query and fragment, and without /v1 at its end',
    }),
  TRUST_PROXY: listOf(isAddressOrRange).optional().register(variables, {
    description:
      "The proxies whose `X-Forwarded-For` is trusted as the client's address. `X-Forwarded-For` of other peers is ignored",
    takes: 'IP addresses and CIDR ranges separated by commas, such as 10.0.0.0/8,::1',
  }),
  CORS_ORIGINS: listOf(isOrigin).optional().register(variables, {
    description: 'The origins whose pages can call the service (CORS)',
    takes: 'origins separated by commas, each only a scheme, a host and a port, such as https://pets.example',
  }),
  COMPRESSION: z.enum(['on', 'off']).default('off').register(variables, {
    description:
      'Whether responses are compressed (zstd, br or gzip) for clients that accept it. Leave it off if a proxy does it',
    takes: '`on` or `off`',
  }),
  DATA_DIR: z.string().default('./data').register(variables, {
    description:
      'The folder of the embedded store. It is created if missing, unless `CREATE_STORE` is `never`',
    takes: 'a path',
  }),
  CREATE_STORE: z.enum(['auto', 'never']).default('auto').register(variables, {
    description:
      'Whether a start or `keys add` creates a missing store. With `never` only `init` does: a start without its store ends with an error',
    takes: '`auto` or `never`',
  }),
  MONGODB_URI: z.string().regex(mongodbUriPattern).optional().register(variables, {
    description:
      'The MongoDB deployment that stores the animals and the API keys, instead of the embedded store. See `docs/mongodb.md`',
    takes:
      'a connection string that starts with mongodb:// or mongodb+srv://, and whose path, if any, is a name as of MONGODB_DB',
    secret: true,
  }),
  MONGODB_DB: z.string().regex(databaseName).optional().register(variables, {
    description:
      'The name of the MongoDB database. Without it, that in the path of the URI, unless it is `admin`, otherwise `petstore`',
    takes: 'at most 63 letters, digits, `_` and `-`',
  }),
  MONGODB_TIMEOUT_MS: wholeNumber(100, 600_000).default(5000).register(variables, {
    description: 'How long a call waits for the database, in milliseconds, before it fails with 503 or 504',
  }),
  MONGODB_POOL_SIZE: wholeNumber(1, 1000).default(32).register(variables, {
    description: 'The maximum number of connections of this process to each server of the MongoDB deployment',
  }),
  API_KEY: z
    .string()
    .regex(/^(?=.{16})[A-Za-z\d._~+/-]+=*$/)
    // Rejects placeholders such as `xxxxxxxxxxxxxxxx`. Of random keys with 16 hexadecimal digits, one in a million has fewer than 5.
    .refine((value) => new Set(value).size >= minKeyCharacters)
    .optional()
    .register(variables, {
      description:
        'An API key that is accepted in addition to the stored ones. With it, a first start creates no key',
      takes: `at least 16 letters, digits and \`-._~+/\`, at least ${minKeyCharacters} of them different, with \`=\` only at the end (RFC 6750)`,
      secret: true,
    }),
  MAX_BODY_BYTES: wholeNumber(1, 1_073_741_824)
    .default(1_048_576)
    .register(variables, {
      description: `The maximum size of a request body, in bytes. With \`MONGODB_URI\` at most ${mongodbBodyBytes}`,
    }),
  MAX_CONNECTIONS: wholeNumber(1, 10_000_000).optional().register(variables, {
    description:
      'The maximum number of open connections of a process. Further ones get a 503 response and are closed',
  }),
  MAX_IN_FLIGHT: wholeNumber(1, 1_000_000).default(1000).register(variables, {
    description:
      'The maximum number of concurrent calls of a process. Further ones get a 503 response immediately',
  }),
  MAX_QUEUE_MS: wholeNumber(1, 60_000).default(50).register(variables, {
    description:
      'How long a request waits to be read, in milliseconds, before the process is overloaded. Under lasting overload, further requests get a 503 response',
  }),
  MAX_BATCH_SIZE: wholeNumber(1, 10_000).default(1000).register(variables, {
    description: 'The maximum number of calls in a tRPC batch',
  }),
  CALL_TIMEOUT_MS: wholeNumber(1, 3_600_000).default(30_000).register(variables, {
    description: 'How long a call runs, in milliseconds, before it fails with 504',
  }),
  RATE_LIMIT: rate.optional().register(variables, {
    description:
      'The maximum number of calls of each API key, over REST, tRPC and WebSocket together, and the window in seconds. Workers count together, and so do all processes on the database of `MONGODB_URI`',
    takes: takesRate,
  }),
  FAILED_ATTEMPTS: rate.optional().register(variables, {
    description:
      'The maximum number of invalid API keys from one address, and the window in seconds. Further ones get 429 instead of 401',
    takes: takesRate,
  }),
  ADMIN_HOST: listenAddress().default('127.0.0.1').register(variables, {
    description: 'The address of the admin listener. Every client that reaches it can read the metrics',
    takes: takesListenAddress,
  }),
  ADMIN_PORT: wholeNumber(0, 65_535).optional().register(variables, {
    description:
      'The port of the admin listener, with `/metrics` for Prometheus, `/healthz` and `/readyz`. `0` is any free port. If unset, there is no listener, and nothing is measured',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .register(variables, {
      description: 'The lowest level of the log lines that are written',
      takes: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    }),
  LOG_REQUESTS: z.enum(['errors', 'all', 'none']).default('errors').register(variables, {
    description:
      'Which requests are logged. `errors` is requests without a 2xx response, with a failed call or slower than 1 s, at most one of a kind per second. `all` is every request',
    takes: '`errors`, `all` or `none`',
  }),
});
export type Configuration = z.output<typeof Configuration>;

/** Thrown for invalid settings. Its message has one line per setting. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const wildcardAddresses = new Set(['0.0.0.0', '::']);

/** Returns true if a listener on one address also occupies the other. */
const addressesOverlap = (one: string, other: string) =>
  one === other || wildcardAddresses.has(one) || wildcardAddresses.has(other);

/** Checks between variables. Each returns a message if it fails. */
const crossChecks: readonly ((configuration: Configuration) => string | undefined)[] = [
  ({ MAX_BODY_BYTES, MONGODB_URI }) =>
    MONGODB_URI !== undefined && MAX_BODY_BYTES > mongodbBodyBytes
      ? `MAX_BODY_BYTES is "${MAX_BODY_BYTES}"; with MONGODB_URI it must be a whole number from 1 to ${mongodbBodyBytes}, since a MongoDB document has at most 16 MiB.`
      : undefined,
  ({ TLS_CERT, TLS_KEY }) =>
    (TLS_CERT === undefined) === (TLS_KEY === undefined)
      ? undefined
      : `${TLS_KEY === undefined ? 'TLS_CERT is set, but TLS_KEY' : 'TLS_KEY is set, but TLS_CERT'} is not. Set both, or neither.`,
  ({ ADMIN_HOST, ADMIN_PORT, HOST, PORT }) =>
    ADMIN_PORT === PORT && PORT !== 0 && addressesOverlap(ADMIN_HOST, HOST)
      ? `ADMIN_PORT is "${ADMIN_PORT}", the same as PORT. Set it to another port.`
      : undefined,
  ({ WORKERS }) =>
    WORKERS > 1 && process.platform !== 'linux'
      ? `WORKERS is "${WORKERS}", but only Linux distributes the connections of a port to several processes. Unset it.`
      : undefined,
];

/** Reads variables; empty is unset. @throws {ConfigurationError} a line per invalid or conflicting one */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const set = withoutEmptyValues(environment);
  const invalidNames = VariableName.options.filter(
    (name) => !Configuration.shape[name].safeParse(set[name]).success,
  );
  // Every variable is optional, so the valid ones can be checked against each other and all problems reported at once.
  const configuration = Configuration.parse({
    ...set,
    ...Object.fromEntries(invalidNames.map((name) => [name, undefined])),
  });
  const sentences = [
    ...invalidNames.map((name) => invalidValueMessage(name, set[name])),
    ...crossChecks.map((check) => check(configuration)),
  ].filter((sentence) => sentence !== undefined);
  if (sentences.length === 0) return configuration;
  throw new ConfigurationError(sentences.join('\n'));
}

function invalidValueMessage(name: VariableName, value: string | undefined): string {
  const { takes, secret } = describeVariable(name);
  const problem = secret ? 'is not valid (its value is not shown)' : `is ${JSON.stringify(value)}`;
  return `${name} ${problem}; it must be ${takes.replaceAll('`', '')}.`;
}

export const VariableName = Configuration.keyof();
export type VariableName = z.output<typeof VariableName>;

export function describeVariable(
  name: VariableName,
): Required<Omit<Variable, 'secret'>> & Pick<Variable, 'secret'> {
  const schema = Configuration.shape[name];
  const variable = variables.get(schema);
  const takes = variable?.takes ?? ('unwrap' in schema ? numberRanges.get(schema.unwrap()) : undefined);
  if (variable === undefined || takes === undefined) throw new Error(`${name} has no description.`);
  return { ...variable, takes };
}

/** Returns the environment without empty values, which count as unset. */
export const withoutEmptyValues = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
