import { isIP } from 'node:net';
import { z } from 'zod';

/** The description of a variable in `--help`, in error messages and in the README's table. */
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

/** Checks the form only. The store finds out whether the servers can be reached. */
const mongodbUriPattern = /^mongodb(?:\+srv)?:\/\/[^\s/]/;

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
    const [count = 0, windowSeconds = 0] = value.split('/').map(Number);
    return { count, windowSeconds };
  });
const takesRate = 'two whole numbers from 1 to 999999999 with a slash, as 100/60';

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
    description: 'The address to listen on. `0.0.0.0`: every IPv4 address of the machine',
    takes: takesListenAddress,
  }),
  PORT: wholeNumber(0, 65_535).default(3000).register(variables, {
    description: 'The port to listen on. `0`: any free one',
  }),
  SERVER: z.enum(['auto', 'uws', 'node']).default('auto').register(variables, {
    description:
      'What serves. `uws`: uWebSockets.js. `node`: node:http. `auto`: uWebSockets.js where it has a binary for this Node and system, else node:http',
    takes: '`auto`, `uws` or `node`',
  }),
  WORKERS: wholeNumber(1, 256).default(1).register(variables, {
    description: 'How many processes serve on the port, on Linux only. More of them than cores gain nothing',
  }),
  TLS_CERT: z.string().optional().register(variables, {
    description:
      'The file of the certificate, in PEM, then those that lead to its root: with `TLS_KEY` the port speaks TLS. Read again when it changes, and on SIGHUP',
    takes: 'the path of a file, with `TLS_KEY`',
  }),
  TLS_KEY: z.string().optional().register(variables, {
    description: "The file of the certificate's private key, in PEM, without a passphrase",
    takes: 'the path of a file, with `TLS_CERT`',
  }),
  PUBLIC_URL: z
    .string()
    .refine(isPublicUrl)
    .transform((value) => value.replace(/\/+$/, ''))
    .optional()
    .register(variables, {
      description:
        'What stands before `/v1` where clients see the service, behind a proxy: in `Location`, `Link` and the OpenAPI document',
      takes: 'an http or https URL without user, query and fragment, and without /v1 at its end',
    }),
  TRUST_PROXY: listOf(isAddressOrRange).optional().register(variables, {
    description:
      "The proxies in front, whose `X-Forwarded-For` tells a client's address; that of other peers is ignored",
    takes: 'IP addresses and CIDR ranges with commas between them, as 10.0.0.0/8,::1',
  }),
  CORS_ORIGINS: listOf(isOrigin).optional().register(variables, {
    description: 'The origins whose pages may call',
    takes:
      'origins with commas between them, each a scheme, a host and a port alone, as https://pets.example',
  }),
  DATA_DIR: z.string().default('./data').register(variables, {
    description: 'The folder of the embedded store. It is created if missing',
    takes: 'a path',
  }),
  MONGODB_URI: z.string().regex(mongodbUriPattern).optional().register(variables, {
    description:
      'The MongoDB deployment that keeps the animals and the API keys, in place of the embedded store: `docs/mongodb.md`',
    takes: 'a connection string that starts with mongodb:// or mongodb+srv://',
    secret: true,
  }),
  MONGODB_DB: z.string().regex(databaseName).default('petstore').register(variables, {
    description: 'The name of the database there',
    takes: 'at most 63 letters, digits, `_` and `-`',
  }),
  MONGODB_TIMEOUT_MS: wholeNumber(100, 600_000).default(5000).register(variables, {
    description:
      'How long a call may wait for the database, in milliseconds, before it is answered 503 or 504',
  }),
  MONGODB_POOL_SIZE: wholeNumber(1, 1000).default(32).register(variables, {
    description: 'How many connections this process may have to each server of the deployment',
  }),
  API_KEY: z
    .string()
    .regex(/^(?=.{16})[A-Za-z\d._~+/-]+=*$/)
    // Rejects placeholders such as `xxxxxxxxxxxxxxxx`. Of random keys with 16 hexadecimal digits, one in a million has fewer than 5.
    .refine((value) => new Set(value).size >= minKeyCharacters)
    .optional()
    .register(variables, {
      description: 'A key that is accepted besides the stored ones. With it, a first start makes none',
      takes: `at least 16 letters, digits and \`-._~+/\`, ${minKeyCharacters} different ones, with \`=\` at the end only (RFC 6750)`,
      secret: true,
    }),
  MAX_BODY_BYTES: wholeNumber(1, 1_073_741_824)
    .default(1_048_576)
    .register(variables, {
      description: `The largest request body, in bytes; with \`MONGODB_URI\` at most ${mongodbBodyBytes}`,
    }),
  MAX_CONNECTIONS: wholeNumber(1, 10_000_000).optional().register(variables, {
    description: 'How many connections a process holds; one more is answered 503 and closed',
  }),
  MAX_IN_FLIGHT: wholeNumber(1, 1_000_000).default(1000).register(variables, {
    description: 'How many calls a process runs at once; one more is answered 503 at once',
  }),
  MAX_QUEUE_MS: wholeNumber(1, 60_000).default(50).register(variables, {
    description:
      'How long a request may wait to be read, in milliseconds: under lasting overload further ones are answered 503',
  }),
  MAX_BATCH_SIZE: wholeNumber(1, 10_000).default(100).register(variables, {
    description: 'How many calls a tRPC batch may have',
  }),
  CALL_TIMEOUT_MS: wholeNumber(1, 3_600_000).default(30_000).register(variables, {
    description: 'How long a call may take, in milliseconds, before it is answered 504',
  }),
  RATE_LIMIT: rate.optional().register(variables, {
    description:
      'How many calls each API key may make, over REST, tRPC and WebSocket together, in how many seconds. Workers count together; with `MONGODB_URI` each process counts for itself',
    takes: takesRate,
  }),
  FAILED_ATTEMPTS: rate.optional().register(variables, {
    description:
      'How many API keys that are not valid an address may send, in how many seconds: further ones are answered 429 in place of 401',
    takes: takesRate,
  }),
  ADMIN_HOST: listenAddress().default('127.0.0.1').register(variables, {
    description: 'The address of the admin listener. Anyone who reaches it can read the metrics',
    takes: takesListenAddress,
  }),
  ADMIN_PORT: wholeNumber(0, 65_535).optional().register(variables, {
    description:
      'The port of the admin listener: `/metrics` for Prometheus, `/healthz`, `/readyz`. `0`: any free one. Unset: there is none, and nothing is measured',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .register(variables, {
      description: 'The least severe lines that are logged',
      takes: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    }),
  LOG_REQUESTS: z.enum(['errors', 'all', 'none']).default('errors').register(variables, {
    description:
      'Which requests get a line. `errors`: those not answered 2xx, and those slower than 1 s, at most one of a kind a second. `all`: every request',
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
      ? `MAX_BODY_BYTES is "${MAX_BODY_BYTES}": with MONGODB_URI it takes a whole number from 1 to ${mongodbBodyBytes}, since a document of MongoDB has 16 MiB at most.`
      : undefined,
  ({ TLS_CERT, TLS_KEY }) =>
    (TLS_CERT === undefined) === (TLS_KEY === undefined)
      ? undefined
      : `${TLS_KEY === undefined ? 'TLS_CERT is set, and TLS_KEY' : 'TLS_KEY is set, and TLS_CERT'} is not: set both, or neither.`,
  ({ ADMIN_HOST, ADMIN_PORT, HOST, PORT }) =>
    ADMIN_PORT === PORT && PORT !== 0 && addressesOverlap(ADMIN_HOST, HOST)
      ? `ADMIN_PORT is "${ADMIN_PORT}", as PORT is: set it to another port.`
      : undefined,
  ({ WORKERS }) =>
    WORKERS > 1 && process.platform !== 'linux'
      ? `WORKERS is "${WORKERS}": only Linux deals the connections of a port out to several processes. Unset it.`
      : undefined,
];

/**
 * Reads the configuration from environment variables. An empty value counts as unset.
 * @throws {ConfigurationError} with one line per variable that is invalid or conflicts with another
 */
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
  return `${name} ${problem}: it takes ${takes.replaceAll('`', '')}.`;
}

export const VariableName = Configuration.keyof();
export type VariableName = z.output<typeof VariableName>;

/** Returns the description of a variable. */
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
