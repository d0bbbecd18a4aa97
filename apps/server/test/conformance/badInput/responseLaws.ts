import { Animal } from '@petstore/core';
import {
  type TestResponse,
  type ResponseProblems,
  responseProblems,
  type OpenApiDocument,
} from 'trpc-gateway-test';
import type { BadRequest } from './badRequest.ts';

/** The problems of a response, and the animals that it reports as created. */
interface Verdict {
  readonly problems: readonly string[];
  readonly created: readonly Animal[];
}

/** Checks a response to invalid input, on each protocol. */
export type ResponseLaws = (request: BadRequest, response: TestResponse) => Verdict;

/**
 * Creates the checks of the responses to invalid input: the document, no 5xx, a valid `X-Request-Id`, no secrets.
 * @param secrets strings that no response may contain
 */
export function responseLaws(document: OpenApiDocument, secrets: readonly string[]): ResponseLaws {
  const problemsOf: ResponseProblems = responseProblems(document);

  return ({ method, target }, received) => {
    if (isParserResponse(received)) return { problems: [], created: [] };
    const isRpc = /^\/trpc(?:[/?]|$)/.test(target);
    const problems = problemsOf(method, target, isRpc ? asJson(received) : received);
    if (received.status >= 500) problems.push('Bad input must not cause a server error.');
    const id = received.header('x-request-id') ?? '';
    if (!/^[A-Za-z0-9._~:+/=-]{1,128}$/.test(id)) problems.push(`X-Request-Id is ${JSON.stringify(id)}.`);
    const responseText = `${JSON.stringify(received.headers)}\n${received.body.toString('latin1')}`;
    for (const secret of secrets) if (responseText.includes(secret)) problems.push(`It shows ${secret}.`);
    const isCreate = method === 'POST' && received.status < 300;
    return { problems, created: isCreate ? animalsIn(received.body.toString()) : [] };
  };
}

/**
 * Returns whether uWebSockets.js's parser sent the response before it called a handler: HTML, without a request id.
 * JavaScript can neither see nor change these responses.
 */
const isParserResponse = (response: TestResponse): boolean =>
  [400, 431, 505].includes(response.status) &&
  response.header('x-request-id') === undefined &&
  !response.header('content-type')?.startsWith('application/');

/**
 * Returns a tRPC response in the form of a single JSON document. The official adapter labels errors that occur before it looks
 * for a procedure as text/plain, although they are JSON. JSON lines become an array.
 */
function asJson(response: TestResponse): TestResponse {
  const { status, body } = response;
  const type = response.header('content-type');
  const isEarlyError = type === 'text/plain;charset=UTF-8' && status >= 400 && status < 500;
  const isLines = type === 'application/json' && body.at(-1) === newline;
  const lines = body
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return {
    ...response,
    header: (name) => (isEarlyError && name === 'content-type' ? 'application/json' : response.header(name)),
    body: isLines && lines.every(isJson) ? Buffer.from(`[${lines.join()}]`) : body,
  };
}

/** The byte of a line feed. */
const newline = 10;

/** Returns the animals in the response to a create, at any depth of its envelope. */
function animalsIn(text: string): Animal[] {
  const lines = isJson(text) ? [text] : text.split('\n').filter(isJson);
  return lines.flatMap((line) => findAnimals(JSON.parse(line)));
}

function findAnimals(value: unknown): Animal[] {
  if (typeof value !== 'object' || value === null) return [];
  const animal = Animal.safeParse(value);
  return animal.success ? [animal.data] : Object.values(value).flatMap(findAnimals);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
