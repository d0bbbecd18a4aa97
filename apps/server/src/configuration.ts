import { isIP } from 'node:net';
import { z } from 'zod';

/** What people are told about a variable: in `--help`, in error messages and in the README's table. */
interface Variable {
  readonly description: string;
  /** Goes on after "it takes". */
  readonly takes: string;
  /** Its value is never shown. */
  readonly secret?: true;
}

const variables = z.registry<Variable>();

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** What names the servers of a deployment; whether they are there the store finds out. */
const mongodbUri = /^mongodb(?:\+srv)?:\/\/[^\s/]/;

/** A document may have 16 MiB in MongoDB, and an animal is one. */
const mongodbBodyBytes = 15 * 1_048_576;

/** What MongoDB takes on every system, in at most 63 bytes. */
const databaseName = /^[\w-]{1,63}$/;

const hostName = /^(?!-)[a-z\d-]{1,63}(\.[a-z\d-]{1,63})*\.?$/i;

function isPublicUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    !value.includes('?') &&
    !value.includes('#')
  );
}

/** The process's configuration: environment variables by their own names. */
export const Configuration = z.object({
  HOST: z
    .string()
    .refine((value) => isIP(value) !== 0 || hostName.test(value))
    .default('127.0.0.1')
    .register(variables, {
      description: 'The address to listen on. `0.0.0.0`: every IPv4 address of the machine',
      takes: 'an IP address or a host name of this machine',
    }),
  PORT: wholeNumber(0, 65_535).default(3000).register(variables, {
    description: 'The port to listen on. `0`: any free one',
    takes: 'a whole number from 0 to 65535',
  }),
  PUBLIC_URL: z
    .string()
    .refine(isPublicUrl)
    .transform((value) => value.replace(/\/+$/, ''))
    .optional()
    .register(variables, {
      description:
        'What stands before `/v1` where clients see the service, behind a proxy: in `Location`, `Link` and the OpenAPI document',
      takes: 'an http or https URL without user, query and fragment',
    }),
  DATA_DIR: z.string().default('./data').register(variables, {
    description: 'The folder of the embedded store. It is made when it is not there',
    takes: 'a path',
  }),
  MONGODB_URI: z.string().regex(mongodbUri).optional().register(variables, {
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
    takes: 'a whole number from 100 to 600000',
  }),
  MONGODB_POOL_SIZE: wholeNumber(1, 1000).default(32).register(variables, {
    description: 'How many connections this process may have to each server of the deployment',
    takes: 'a whole number from 1 to 1000',
  }),
  API_KEY: z
    .string()
    .regex(/^(?=.{16})[A-Za-z\d._~+/-]+=*$/)
    .optional()
    .register(variables, {
      description: 'A key that is accepted besides the stored ones. With it, a first start makes none',
      takes: 'at least 16 letters, digits and `-._~+/`, with `=` at the end only (RFC 6750)',
      secret: true,
    }),
  MAX_BODY_BYTES: wholeNumber(1, 1_073_741_824)
    .default(1_048_576)
    .register(variables, {
      description: `The largest request body, in bytes; with \`MONGODB_URI\` at most ${mongodbBodyBytes}`,
      takes: 'a whole number from 1 to 1073741824',
    }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .register(variables, {
      description: 'The least severe lines that are logged',
      takes: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    }),
  LOG_REQUESTS: z.enum(['errors', 'all', 'none']).default('errors').register(variables, {
    description: 'Which requests get a line: `errors` are those not answered 2xx, and those slower than 1 s',
    takes: '`errors`, `all` or `none`',
  }),
});
export type Configuration = z.output<typeof Configuration>;

/** Known to the design, not built yet. A setting that nobody heeds is worse than one that is refused. */
export const notServed = [
  'ADMIN_HOST',
  'ADMIN_PORT',
  'CORS_ORIGINS',
  'RATE_LIMIT',
  'TLS_CERT',
  'TLS_KEY',
  'WORKERS',
  'TRUST_PROXY',
] as const;

/** A setting that cannot be used. The message is one sentence for whoever set it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads the configuration. A variable that is empty counts as unset.
 * @throws {ConfigurationError} for the first variable that is not valid, or that this version does not serve
 */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  for (const name of notServed) {
    if (set[name] !== undefined) {
      throw new ConfigurationError(`${name} is set, but this version does not serve it: unset it.`);
    }
  }
  const result = Configuration.safeParse(set);
  if (result.success) {
    const { MAX_BODY_BYTES, MONGODB_URI } = result.data;
    if (MONGODB_URI === undefined || MAX_BODY_BYTES <= mongodbBodyBytes) return result.data;
    throw new ConfigurationError(
      `MAX_BODY_BYTES is "${MAX_BODY_BYTES}": with MONGODB_URI it takes a whole number from 1 to ${mongodbBodyBytes}, since a document of MongoDB has 16 MiB at most.`,
    );
  }
  const name = VariableName.parse(result.error.issues[0]?.path[0]);
  const { takes, secret } = described(name);
  const got = secret ? 'is not valid (its value is not shown)' : `is ${JSON.stringify(set[name])}`;
  throw new ConfigurationError(`${name} ${got}: it takes ${takes.replaceAll('`', '')}.`);
}

const VariableName = Configuration.keyof();
type VariableName = z.output<typeof VariableName>;

function described(name: VariableName): Variable {
  const variable = variables.get(Configuration.shape[name]);
  if (variable === undefined) throw new Error(`${name} has no description.`);
  return variable;
}

/** Every variable with its default as text: what the table and `--help` are printed from. */
function rows() {
  const defaults = Configuration.parse({});
  return VariableName.options.map((name) => {
    const { description, takes } = described(name);
    return { name, description, takes, standard: defaults[name] };
  });
}

/** The README's table, in Markdown. */
export function configurationTable(): string {
  const lines = rows().map(
    ({ name, standard, description, takes }) =>
      `| \`${name}\` | ${standard === undefined ? 'unset' : `\`${standard}\``} | ${description}. | ${takes} |`,
  );
  return ['| variable | default | what it does | takes |', '|---|---|---|---|', ...lines].join('\n');
}

/** The variables as `--help` shows them. */
export function configurationHelp(): string {
  return rows()
    .map(({ name, standard, description, takes }) =>
      `  ${name} (${standard ?? 'unset'})\n      ${description}.\n      Takes ${takes}.`.replaceAll('`', ''),
    )
    .join('\n');
}
