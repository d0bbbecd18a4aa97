import { isObject } from './http/isObject.ts';
import { formatValue } from './http/formatValue.ts';
import { unknownOptions } from './http/unknownOptions.ts';
import { gatewayOptions, nestedOptions, type OptionType } from './options.ts';
import { GatewayError } from './procedures/gatewayError.ts';

/** Examples of the required options. */
const requiredOptions: Readonly<Record<string, string>> = {
  router: 'router: t.router({ … })',
  createContext: 'createContext: () => ({})',
  document: "document: { title: 'Pets', version: '1.0.0' }",
};

const typeNames: Readonly<Record<OptionType, string>> = {
  boolean: 'true or false',
  checked: '',
  function: 'a function',
  object: 'an object',
  string: 'a string',
};

/**
 * Checks the options of `createGateway` at run time: JavaScript, a cast or a spread can pass values that the types
 * reject.
 * @throws {GatewayError} with one line for each option that is unknown, missing or of the wrong type
 */
export function requireOptions(value: unknown): void {
  if (!isObject(value)) {
    throw new GatewayError(
      `createGateway takes an object of options, not ${formatValue(value)}: createGateway({ router, createContext, document }).`,
    );
  }
  const options = value as Readonly<Record<string, unknown>>;
  const problems = [...unknownOptions('createGateway', options, Object.keys(gatewayOptions))];
  for (const [name, type] of Object.entries(gatewayOptions)) {
    const option = options[name];
    if (option === undefined) {
      const example = requiredOptions[name];
      if (example !== undefined) problems.push(`${name} is missing: add ${example}`);
    } else if (type !== 'checked' && !hasType(option, type)) {
      problems.push(`${name} is ${formatValue(option)}; it must be ${typeNames[type]}${exampleOf(name)}`);
    }
  }
  for (const [name, known] of Object.entries(nestedOptions)) {
    const option = name.split('.').reduce<unknown>((parent, key) => isObject(parent) && parent[key], options);
    if (isObject(option)) problems.push(...unknownOptions(name, option, known));
  }
  problems.push(...memberProblems(options));
  if (problems.length > 0) throw new GatewayError(problems.map(toSentence).join('\n'));
}

function memberProblems({
  router,
  document,
  cors,
  trustProxy,
}: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = [];
  if (router !== undefined && !isTrpcRouter(router)) {
    problems.push(
      `router is ${formatValue(router)}; it must be a router of tRPC: ${requiredOptions['router']}`,
    );
  }
  if (isObject(document)) {
    for (const name of ['title', 'version']) {
      const value = document[name];
      if (typeof value !== 'string') {
        problems.push(
          `document.${name} is ${formatValue(value)}; it must be a string: ${requiredOptions['document']}`,
        );
      }
    }
    const { openapi } = document;
    if (openapi !== undefined && openapi !== '3.1' && openapi !== '3.2') {
      problems.push(`document.openapi is ${formatValue(openapi)}; it must be '3.1' or '3.2'`);
    }
  }
  if (isObject(cors) && typeof cors['origins'] !== 'function' && !isStringArray(cors['origins'])) {
    problems.push(
      `cors.origins is ${formatValue(cors['origins'])}; it must be an array of origins or a function${exampleOf('cors')}`,
    );
  }
  if (trustProxy !== undefined && !isStringArray(trustProxy)) {
    problems.push(
      `trustProxy is ${formatValue(trustProxy)}; it must be an array of the addresses of your proxies, such as trustProxy: ['10.0.0.0/8']`,
    );
  }
  return problems;
}

const examples: Readonly<Record<string, string>> = {
  ...requiredOptions,
  cors: "cors: { origins: ['https://pets.example'] }",
  rateLimit: 'rateLimit: { calls: 100, windowSeconds: 60 }',
  idempotency: 'idempotency: { ttlMs: 3_600_000 }',
  failedAttempts: 'failedAttempts: { attempts: 10, windowSeconds: 60 }',
  errorFormat: 'errorFormat: problemDetails, which @petstore/gateway exports',
  jsonSchema: 'jsonSchema: { valibot: toStandardJsonSchema }',
};

const exampleOf = (name: string) => (examples[name] === undefined ? '' : `, such as ${examples[name]}`);

const hasType = (value: unknown, type: Exclude<OptionType, 'checked'>) =>
  type === 'object' ? isObject(value) : typeof value === type;

const isStringArray = (value: unknown) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isTrpcRouter = (value: unknown) =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  '_def' in value &&
  isObject(value._def) &&
  isObject(value._def['procedures']);

const toSentence = (problem: string) => (/[.?]$/.test(problem) ? problem : `${problem}.`);
