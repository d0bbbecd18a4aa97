import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { Configuration, ConfigurationError, readConfiguration } from './configuration.ts';
import { configurationHelp, configurationList, configurationText } from './configurationText.ts';

const publicUrl = 'an http or https URL without user, query and fragment, and without /v1 at its end';
const configurationError = (environment: Record<string, string>): string => {
  try {
    readConfiguration(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return 'accepted';
};

// What they are: docs/configuration.md, which is compared below.
test.each([
  ['all variables are empty', Object.fromEntries(Object.keys(Configuration.shape).map((name) => [name, '']))],
  ['other variables are set', { PATH: '/usr/bin', port: '1' }],
])('the defaults apply if %s', (_, environment) => {
  expect(readConfiguration(environment)).toEqual(Configuration.parse({}));
});

describe('valid values', () => {
  test.each([
    ['HOST', 'pets.example.org', 'pets.example.org'],
    ['PORT', '0', 0],
    ['PUBLIC_URL', 'http://example.org:8080/pets/', 'http://example.org:8080/pets'],
    ['MONGODB_URI', 'mongodb://u:p@a:1,b:2/?replicaSet=r', 'mongodb://u:p@a:1,b:2/?replicaSet=r'],
    ['MONGODB_URI', 'mongodb+srv://u:p@example.org/', 'mongodb+srv://u:p@example.org/'],
    ['API_KEY', 'AZaz09-._~+/0123==', 'AZaz09-._~+/0123=='],
    ['API_KEY', 'abcdeabcdeabcdea', 'abcdeabcdeabcdea'],
    ['MAX_BODY_BYTES', '1073741824', 1_073_741_824],
    ['TRUST_PROXY', '10.0.0.0/8, ::1,192.0.2.1', ['10.0.0.0/8', '::1', '192.0.2.1']],
    ['TRUST_PROXY', '10.0.0.1/32,::1/128,0.0.0.0/0', ['10.0.0.1/32', '::1/128', '0.0.0.0/0']],
    ['CORS_ORIGINS', ' https://pets.example , http://[::1]:1 ', ['https://pets.example', 'http://[::1]:1']],
    ['RATE_LIMIT', '100/60', { count: 100, windowMs: 60_000 }],
  ])('%s=%s is accepted', (name, value, read) => {
    expect(readConfiguration({ [name]: value })).toHaveProperty(name, read);
  });
});

describe('invalid values', () => {
  test.each([
    ['HOST', 'two words', 'an IP address or a host name of this machine'],
    ['PORT', '65536', 'a whole number from 0 to 65535'],
    ['PUBLIC_URL', 'ftp://example.org', publicUrl],
    ['PUBLIC_URL', 'https://example.org/?a', publicUrl],
    ['PUBLIC_URL', 'https://anna@example.org', publicUrl],
    ['PUBLIC_URL', 'https://example.org/v1', publicUrl],
    ['MONGODB_DB', 'pets.2', 'at most 63 letters, digits, _ and -'],
    ['MAX_BODY_BYTES', '1073741825', 'a whole number from 1 to 1073741824'],
    ['SERVER', 'http', 'auto, uws, node or bun'],
    ...['10.0.0.0/33', '0x7f.0.0.1', '10.0.0.0/8,', 'proxy.example', '10.0.0.0/8/8', '::/129'].map(
      (value): [string, string, string] => [
        'TRUST_PROXY',
        value,
        'IP addresses and CIDR ranges separated by commas, such as 10.0.0.0/8,::1',
      ],
    ),
    ...['*', 'https://*.example', 'https://pets.example/', 'HTTPS://pets.example'].map(
      (value): [string, string, string] => [
        'CORS_ORIGINS',
        value,
        'origins separated by commas, each only a scheme, a host and a port, such as https://pets.example',
      ],
    ),
    ...['100', '0/60', '100/0', '100/1m', '1000000000/1'].map((value): [string, string, string] => [
      'RATE_LIMIT',
      value,
      'two whole numbers from 1 to 999999999 separated by a slash, such as 100/60',
    ]),
    ['FAILED_ATTEMPTS', 'few', 'two whole numbers from 1 to 999999999 separated by a slash, such as 100/60'],
    ['MAX_BATCH_SIZE', '0', 'a whole number from 1 to 10000'],
  ])('%s=%s is rejected with the variable, its value and the accepted values', (name, value, takes) => {
    expect(configurationError({ [name]: value })).toBe(
      `${name} is ${JSON.stringify(value)}; it must be ${takes}.`,
    );
  });

  test.each(['fifteen-letters', 'a key with blanks in it', '=================', 'a'.repeat(16)])(
    'API_KEY=%s is rejected without its value',
    (value) => {
      expect(configurationError({ API_KEY: value })).toBe(
        'API_KEY is not valid (its value is not shown); it must be at least 16 letters, digits and -._~+/, at least 5 of them different, with = only at the end (RFC 6750).',
      );
    },
  );
});

test.each([
  'user:secret@example.org',
  'postgres://user:secret@example.org',
  'mongodb://',
  'mongodb:///user:secret',
  'mongodb://user:secret@example.org/pet%2Dstore',
])('MONGODB_URI=%s is rejected without its value', (value) => {
  expect(configurationError({ MONGODB_URI: value })).toBe(
    'MONGODB_URI is not valid (its value is not shown); it must be a connection string that starts with mongodb:// or mongodb+srv://, and whose path, if any, is a name as of MONGODB_DB.',
  );
});

test('MAX_BODY_BYTES over 15 MiB is rejected only with MONGODB_URI', () => {
  const MONGODB_URI = 'mongodb://127.0.0.1';
  expect(configurationError({ MAX_BODY_BYTES: '15728641' })).toBe('accepted');
  expect(configurationError({ MAX_BODY_BYTES: '15728640', MONGODB_URI })).toBe('accepted');
  expect(configurationError({ MAX_BODY_BYTES: '15728641', MONGODB_URI })).toBe(
    'MAX_BODY_BYTES is "15728641"; with MONGODB_URI it must be a whole number from 1 to 15728640, since a MongoDB document has at most 16 MiB.',
  );
});

test.each([
  [{ TLS_CERT: 'cert.pem' }, 'TLS_CERT is set, but TLS_KEY is not. Set both, or neither.'],
  [{ TLS_KEY: 'key.pem' }, 'TLS_KEY is set, but TLS_CERT is not. Set both, or neither.'],
])('%o is rejected, because TLS_CERT and TLS_KEY must be set together', (environment, sentence) => {
  expect(configurationError(environment)).toBe(sentence);
  expect(configurationError({ TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' })).toBe('accepted');
});

test('ADMIN_PORT is rejected if it equals PORT on the same address', () => {
  const sentence = 'ADMIN_PORT is "3000", the same as PORT. Set it to another port.';
  expect(configurationError({ ADMIN_PORT: '3000' })).toBe(sentence);
  expect(configurationError({ ADMIN_PORT: '3000', HOST: '0.0.0.0' })).toBe(sentence);
  expect(configurationError({ ADMIN_PORT: '3000', ADMIN_HOST: '::' })).toBe(sentence);
  expect(configurationError({ ADMIN_PORT: '3000', HOST: '192.0.2.1' })).toBe('accepted');
  expect(configurationError({ ADMIN_PORT: '0', PORT: '0' })).toBe('accepted');
});

test('all problems are reported together, one per line, in the order of the schema', () => {
  const environment = { WORKERS: 'x', PORT: 'x', TLS_KEY: 'key.pem', API_KEY: 'short', HOST: '::1' };
  expect(configurationError(environment).split('\n')).toEqual([
    expect.stringMatching(/^PORT is "x"/),
    expect.stringMatching(/^WORKERS is "x"/),
    expect.stringMatching(/^API_KEY is not valid/),
    expect.stringMatching(/^TLS_KEY is set/),
  ]);
});

test('configurationText has set values and defaults, and no secrets', () => {
  const text = configurationText({ API_KEY: 'secret-0123456789', RATE_LIMIT: '5/1', PATH: '/usr/bin' });
  expect(text.split('\n')).toEqual(
    expect.arrayContaining(['API_KEY=(set, not shown)', 'RATE_LIMIT=5/1', 'PORT=3000', 'MONGODB_URI=']),
  );
  expect(text).not.toMatch(/secret-|PATH/);
});

test.each([
  ['the list', configurationList],
  ['the help', configurationHelp],
])('%s has every variable and its default', (_, print) => {
  const text = print();
  for (const [name, schema] of Object.entries(Configuration.shape)) {
    expect(text).toContain(name);
    expect(text).toContain(JSON.stringify(schema.parse(undefined) ?? 'unset').replaceAll('"', ''));
  }
});

test('docs/configuration.md has the list of variables that the schema prints', async () => {
  const page = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  const [, list = ''] = /<!-- configuration -->\n(.*)<!-- \/configuration -->/s.exec(page) ?? [];
  expect(list.trim()).toBe(configurationList());
});
