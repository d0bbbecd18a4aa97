import { isObject } from './http/isObject.ts';
import { formatValue } from './http/formatValue.ts';
import { unknownOptions } from './http/unknownOptions.ts';
import { gatewayOptions, nestedOptions, type Expected } from './options.ts';
import { GatewayError } from './procedures/gatewayError.ts';

/** What a required option may look like. */
const required: Readonly<Record<string, string>> = {
  router: 'router: t.router({ … })',
  createContext: 'createContext: () => ({})',
  document: "document: { title: 'Pets', version: '1.0.0' }",
};

const articles: Readonly<Record<Expected, string>> = {
  checked: '',
  function: 'a function',
  object: 'an object',
  string: 'a string',
};

/**
 * Checks what plain JavaScript, a cast or a spread can pass in spite of the types.
 * @throws {GatewayError} a line for each option that is unknown, missing or not what it must be
 */
export function requireOptions(given: unknown): void {
  if (!isObject(given)) {
    throw new GatewayError(
      `createGateway takes an object of options, not ${formatValue(given)}: createGateway({ router, createContext, document }).`,
    );
  }
  const options = given as Readonly<Record<string, unknown>>;
  const problems = [...unknownOptions('createGateway', options, Object.keys(gatewayOptions))];
  for (const [name, expected] of Object.entries(gatewayOptions)) {
    const value = options[name];
    if (value === undefined) {
      const example = required[name];
      if (example !== undefined) problems.push(`${name} is missing: add ${example}`);
    } else if (expected !== 'checked' && !isExpected(value, expected)) {
      problems.push(`${name} is ${formatValue(value)}; it must be ${articles[expected]}${exampleOf(name)}`);
    }
  }
  for (const [name, known] of Object.entries(nestedOptions)) {
    const value = name.split('.').reduce<unknown>((of, key) => isObject(of) && of[key], options);
    if (isObject(value)) problems.push(...unknownOptions(name, value, known));
  }
  problems.push(...problemsOfMembers(options));
  if (problems.length > 0) throw new GatewayError(problems.map(sentence).join('\n'));
}

function problemsOfMembers({
  router,
  document,
  cors,
  trustProxy,
}: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = [];
  if (router !== undefined && !isRouter(router)) {
    problems.push(`router is ${formatValue(router)}; it must be a router of tRPC: ${required['router']}`);
  }
  if (isObject(document)) {
    for (const name of ['title', 'version']) {
      const value = document[name];
      if (typeof value !== 'string') {
        problems.push(
          `document.${name} is ${formatValue(value)}; it must be a string: ${required['document']}`,
        );
      }
    }
    const { openapi } = document;
    if (openapi !== undefined && openapi !== '3.1' && openapi !== '3.2') {
      problems.push(`document.openapi is ${formatValue(openapi)}; it must be '3.1' or '3.2'`);
    }
  }
  if (isObject(cors) && typeof cors['origins'] !== 'function' && !isStrings(cors['origins'])) {
    problems.push(
      `cors.origins is ${formatValue(cors['origins'])}; it must be an array of origins or a function${exampleOf('cors')}`,
    );
  }
  if (trustProxy !== undefined && !isStrings(trustProxy)) {
    problems.push(
      `trustProxy is ${formatValue(trustProxy)}; it must be an array of the addresses of your proxies, such as trustProxy: ['10.0.0.0/8']`,
    );
  }
  return problems;
}

const examples: Readonly<Record<string, string>> = {
  ...required,
  cors: "cors: { origins: ['https://pets.example'] }",
  rateLimit: 'rateLimit: { requests: 100, windowSeconds: 60 }',
  idempotency: 'idempotency: { ttlMs: 3_600_000 }',
  failedAttempts: 'failedAttempts: { attempts: 10, windowSeconds: 60 }',
  errorFormat: 'errorFormat: problemDetails, which @petstore/gateway exports',
  jsonSchema: 'jsonSchema: { valibot: toStandardJsonSchema }',
};

const exampleOf = (name: string) => (examples[name] === undefined ? '' : `, such as ${examples[name]}`);

const isExpected = (value: unknown, expected: Exclude<Expected, 'checked'>) =>
  expected === 'object' ? isObject(value) : typeof value === expected;

const isStrings = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');

const isRouter = (value: unknown) =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  '_def' in value &&
  isObject(value._def) &&
  isObject(value._def['procedures']);

const sentence = (problem: string) => (/[.?]$/.test(problem) ? problem : `${problem}.`);
