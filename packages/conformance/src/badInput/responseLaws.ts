import { Animal } from '@petstore/core';
import {
  type TestResponse,
  type ResponseProblems,
  responseProblems,
  type OpenApiDocument,
} from '@petstore/gateway-test';
import type { BadRequest } from './badRequest.ts';

/** Who formed an answer, what is wrong with it, and which animals it says were created. */
interface Verdict {
  readonly from: 'us' | 'parser';
  readonly faults: readonly string[];
  readonly created: readonly Animal[];
}

/** What every answer to bad input must hold, on each protocol. */
export type ResponseLaws = (request: BadRequest, response: TestResponse) => Verdict;

/** @param secrets texts that no answer may hold */
export function responseLaws(document: OpenApiDocument, secrets: readonly string[]): ResponseLaws {
  const faultsOf: ResponseProblems = responseProblems(document);

  return ({ method, target }, received) => {
    if (isOfTheParser(received)) return { from: 'parser', faults: [], created: [] };
    const isRpc = /^\/trpc(?:[/?]|$)/.test(target);
    const faults = faultsOf(method, target, isRpc ? asJson(received) : received);
    if (received.status >= 500) faults.push('Bad input is never a fault of the server.');
    const id = received.header('x-request-id') ?? '';
    if (!/^[A-Za-z0-9._~:+/=-]{1,128}$/.test(id)) faults.push(`X-Request-Id is ${JSON.stringify(id)}.`);
    const all = `${JSON.stringify(received.headers)}\n${received.body.toString('latin1')}`;
    for (const secret of secrets) if (all.includes(secret)) faults.push(`It shows ${secret}.`);
    const isCreate = method === 'POST' && received.status < 300;
    return { from: 'us', faults, created: isCreate ? animalsIn(received.body.toString()) : [] };
  };
}

/**
 * What uWebSockets.js answers before a handler is called: HTML, and no request id. JavaScript can neither see nor mend it.
 */
export const isOfTheParser = ({ status, header }: Pick<TestResponse, 'status' | 'header'>): boolean =>
  [400, 431, 505].includes(status) &&
  header('x-request-id') === undefined &&
  !header('content-type')?.startsWith('application/');

/**
 * An answer of the tRPC protocol as if it were in JSON alone. What the official adapter refuses before it looks for a procedure
 * it calls plain text, though it is JSON too; and of JSON lines each is a JSON of its own.
 */
function asJson(response: TestResponse): TestResponse {
  const { status, body } = response;
  const type = response.header('content-type');
  const isRefusal = type === 'text/plain;charset=UTF-8' && status >= 400 && status < 500;
  const isLines = type === 'application/json' && body.at(-1) === newline;
  const lines = body
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return {
    ...response,
    header: (name) => (isRefusal && name === 'content-type' ? 'application/json' : response.header(name)),
    body: isLines && lines.every(isJson) ? Buffer.from(`[${lines.join()}]`) : body,
  };
}

const newline = 10;

/** The animals in an answer to a create, wherever its envelope has them. */
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
