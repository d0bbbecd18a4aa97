import ajvFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type OpenApiDocument, operations, pointer, resolve, type Response } from '../openApi.ts';

/** A response as a client receives it. */
export interface ReceivedResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

/** Statuses with which the adapter rejects a request before it is routed. The document does not list them. */
const rejectedByAdapter = new Set([414, 417, 431]);

/** By docs/decisions.md#http-behaviour-of-the-pet-store and the document; returns a sentence per problem. */
export type ResponseProblems = (method: string, target: string, received: ReceivedResponse) => string[];

export function responseProblems(document: OpenApiDocument): ResponseProblems {
  // Not strict, because OpenAPI has keywords that JSON Schema does not know.
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // `.default`, because ajv-formats 3.0.1 is CommonJS and its declarations are of an ES module.
  ajvFormats.default(ajv);
  ajv.addSchema({ ...document }, DOCUMENT);
  const compiled = new Map<string, ValidateFunction>();
  const documentedOperations = operations(document);

  function schemaProblems(at: string, value: unknown, what: string): string[] {
    let validate = compiled.get(at);
    if (!validate) compiled.set(at, (validate = ajv.compile({ $ref: DOCUMENT + at })));
    return validate(value)
      ? []
      : [`${what} is not as documented at ${at}: ${ajv.errorsText(validate.errors)}.`];
  }

  function findOperation(method: string, path: string) {
    if (!path.startsWith('/v1/')) return undefined;
    const segments = path.slice('/v1'.length).split('/');
    return documentedOperations.find(
      (candidate) =>
        candidate.method === method &&
        candidate.segments.length === segments.length &&
        candidate.segments.every((segment, at) =>
          segment.startsWith('{') ? segments[at] !== '' : segment === segments[at],
        ),
    );
  }

  function operationProblems(
    method: string,
    path: string,
    received: ReceivedResponse,
    body: Body | undefined,
  ): string[] {
    const entry = findOperation(method === 'HEAD' ? 'GET' : method, path);
    if (!entry) {
      return received.status < 400 && method !== 'OPTIONS' ? ['No documented operation answers.'] : [];
    }
    const { operation, pointer: at } = entry;
    const unresolved = operation.responses[received.status];
    if (!unresolved && rejectedByAdapter.has(received.status)) return [];
    if (!unresolved) {
      return [`The document does not say that ${operation.operationId} answers ${received.status}.`];
    }
    const response = resolve<Response>(document, unresolved);
    const problems: string[] = [];

    for (const [name, unresolvedHeader] of Object.entries(response.headers ?? {})) {
      const header = resolve(document, unresolvedHeader);
      if (header.required && received.header(name) === undefined) {
        problems.push(`The documented ${name} is missing.`);
      }
    }
    const names = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
    for (const name of DOCUMENTED_HEADERS) {
      if (received.header(name) !== undefined && !names.has(name))
        problems.push(`${name} is not documented.`);
    }

    if (!body) return problems;
    if (!response.content?.[body.mediaType]) return [...problems, `${body.mediaType} is not documented.`];
    // The pointer of a referenced response is that of its target, so that ajv can resolve its schemas.
    const responseAt = unresolved.$ref ?? at + pointer('responses', String(received.status)).slice(1);
    const schemaAt = responseAt + pointer('content', body.mediaType, 'schema').slice(1);
    return [...problems, ...schemaProblems(schemaAt, body.value, 'The body')];
  }

  function errorProblems(response: ReceivedResponse, body: Body | undefined): string[] {
    if (!body) return [];
    if (body.mediaType !== 'application/json') return [`An error in ${body.mediaType}.`];
    const problems = schemaProblems(pointer('components', 'schemas', 'Error'), body.value, 'The error');
    // The schema says that it is an object.
    const value = Object(body.value) as Record<string, unknown>;
    if (Object.keys(value).toSorted().join() !== 'code,message,status') {
      problems.push(`An error has exactly code, message and status, not ${Object.keys(value).join()}.`);
    }
    if (value['status'] !== response.status)
      problems.push(`The body says status ${String(value['status'])}.`);
    return problems;
  }

  return (method, target, response) => {
    const [path = ''] = target.split('?', 1);
    const { status } = response;
    const problems: string[] = [];
    if (!response.header('x-request-id')) problems.push('X-Request-Id is missing.');
    if (status === 204 && response.header('content-length') !== undefined) {
      problems.push('204 with Content-Length (RFC 9110 §8.6).');
    }
    for (const [at, name] of NEEDED_HEADERS) {
      if (status === at && response.header(name) === undefined) problems.push(`${at} without ${name}.`);
    }

    const isEmpty = method === 'HEAD' || status === 204 || (status >= 300 && status <= 399);
    const read = isEmpty ? undefined : readBody(response);
    if (typeof read === 'string') return [...problems, read];
    if (status >= 400 && LEAK.test(Buffer.from(response.body).toString())) {
      problems.push('The error shows a stack or a path.');
    }
    if (isBelow(path, '/trpc')) {
      if (read && hasKey(read.value, 'stack')) problems.push('The tRPC response has a stack.');
    } else {
      if (status >= 400) problems.push(...errorProblems(response, read));
      if (isBelow(path, '/v1')) problems.push(...operationProblems(method, path, response, read));
    }
    return problems;
  };
}

const DOCUMENT = 'https://petstore.test/openapi.json';

/** Headers that clients act on. The document must list them for each response that has one. */
const DOCUMENTED_HEADERS = ['link', 'location', 'www-authenticate', 'deprecation', 'sunset', 'retry-after'];

/** RFC 9110 §11.6.1 and §15.5.6; docs/decisions.md#other-statuses for the others. */
const NEEDED_HEADERS = [
  [401, 'www-authenticate'],
  [405, 'allow'],
  [429, 'retry-after'],
  [503, 'retry-after'],
] as const;

const LEAK = /\bat \S+ \(|node_modules|file:\/\/|\.[cm]?[jt]s:\d+|(?:^|[\s"'(])\/(?:home|root|tmp|usr|var)\//;

interface Body {
  readonly mediaType: string;
  readonly value: unknown;
}

/** Parses the JSON body. Returns a problem as a string if it is not JSON. */
function readBody(response: ReceivedResponse): Body | string {
  const mediaType = (response.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/json') return `The content type is ${JSON.stringify(mediaType)}.`;
  try {
    return { mediaType, value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(response.body)) };
  } catch (error) {
    return `The body is not JSON: ${String(error)}`;
  }
}

const isBelow = (path: string, base: string) => path === base || path.startsWith(`${base}/`);

function hasKey(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, key) || Object.values(value).some((inner) => hasKey(inner, key));
}
